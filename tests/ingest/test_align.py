from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.ingest.alignment import MAX_COMPARISONS, DraftPassage, align_passages
from scrubjay.models.ids import text_hash
from scrubjay.models.records import Record, SourcePlace


def old(memory: str, content: str, *path: str) -> Record:
    digest = text_hash(content)
    return Record(memory, "observation", content, digest, "", "user:ann", "ann", 0, 0, heading_path=path)


def new(content: str, *path: str) -> DraftPassage:
    return DraftPassage(content, SourcePlace("s", "a.md", 0, 0, len(content), 1, 1), path, "")


def ids(found: list[Record | None]) -> list[str | None]:
    return [record.id if record is not None else None for record in found]


def test_equal_texts_are_matched_in_order_wherever_they_stand() -> None:
    before = [old("a", "same", "X"), old("b", "same", "Y"), old("c", "other")]
    assert ids(align_passages(before, [new("other", "Z"), new("same"), new("same"), new("same")])) == [
        "c",
        "a",
        "b",
        None,
    ]


def test_an_edited_section_is_known_by_its_heading_though_most_words_changed() -> None:
    before = [old("a", "the kettle is blue and old", "Kitchen"), old("b", "the boat is red", "Harbour")]
    after = [new("the bus leaves early", "Harbour"), new("the stove burns gas and wood", "Kitchen")]
    assert ids(align_passages(before, after)) == ["b", "a"]


def test_a_heading_alone_does_not_make_two_texts_one() -> None:
    assert ids(align_passages([old("a", "alpha beta gamma", "Log")], [new("delta epsilon zeta", "Log")])) == [
        None
    ]


def test_a_renamed_section_is_known_by_its_text() -> None:
    before = [old("a", "the kettle is blue and stands by the stove", "Kitchen")]
    assert ids(align_passages(before, [new("the kettle is green and stands by the stove", "Cooking")])) == [
        "a"
    ]
    assert ids(align_passages(before, [new("the kettle was sold last week at a market", "Cooking")])) == [
        None
    ]


def test_of_several_candidates_the_most_alike_is_taken_then_the_nearest_in_order() -> None:
    before = [old("a", "one two three four", "S"), old("b", "one two three nine", "S")]
    after = [new("one two three nine ten", "S"), new("one two three four five", "S")]
    assert ids(align_passages(before, after)) == ["b", "a"]
    twins = [old("b", "one two", "S"), old("a", "two one", "S")]
    assert ids(align_passages(twins, [new("one two!", "S"), new("two one!", "S")])) == ["b", "a"]


def test_equal_text_wins_over_equal_heading() -> None:
    before = [old("a", "first text here", "One"), old("b", "second text here", "Two")]
    assert ids(align_passages(before, [new("second text here", "One"), new("first text here", "Two")])) == [
        "b",
        "a",
    ]


def test_nothing_old_or_nothing_new_matches_nothing() -> None:
    assert align_passages([], [new("a")]) == [None]
    assert align_passages([old("a", "x")], []) == []


def test_of_very_many_changed_passages_only_headings_are_compared() -> None:
    count = MAX_COMPARISONS + 2
    before = [old(f"{n:04}", f"kept words alike {n}", f"Old {n}") for n in range(count)]
    after = [new(f"kept words alike {n} now", f"Old {n}" if n == 7 else f"New {n}") for n in range(count)]
    assert [memory for memory in ids(align_passages(before, after)) if memory] == ["0007"]


WORDS = st.lists(st.sampled_from("red blue old new kettle boat".split()), max_size=4).map(" ".join)
PATHS = st.sampled_from([(), ("A",), ("B",)])


@settings(max_examples=120)
@given(st.lists(st.tuples(WORDS, PATHS), max_size=7), st.lists(st.tuples(WORDS, PATHS), max_size=7))
def test_no_memory_is_given_twice_and_every_equal_text_is_found(before: list, after: list) -> None:
    records = [old(f"m{n}", text, *path) for n, (text, path) in enumerate(before)]
    texts = [new(text, *path) for text, path in after]
    found = align_passages(records, texts)
    given_ids = [record.id for record in found if record is not None]
    assert len(found) == len(texts)
    assert len(given_ids) == len(set(given_ids))
    assert ids(found) == ids(align_passages(records, texts))
    for text in {t.content for t in texts}:
        most = min(sum(r.content == text for r in records), sum(t.content == text for t in texts))
        equal = [f for f, t in zip(found, texts, strict=True) if f and t.content == text == f.content]
        assert len(equal) == most


@settings(max_examples=60)
@given(st.lists(st.tuples(WORDS, PATHS), max_size=7))
def test_an_unchanged_document_keeps_every_id_in_place(passages: list) -> None:
    records = [old(f"m{n}", text, *path) for n, (text, path) in enumerate(passages)]
    assert align_passages(records, [new(text, *path) for text, path in passages]) == records
