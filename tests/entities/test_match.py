"""Matching: which names of a dictionary a text refers to."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.entities.dictionary import EntityDictionary, Mention, NameIndex, _owner_of, name_owners
from scrubjay.entities.normalization import (
    level_text,
    number_stem,
    other_number,
    search_pattern,
    spread_text,
    text_offset,
    text_offset_after,
)
from scrubjay.models.graph import ENTITY_KINDS, Entity, merge_entities

WORDS = st.sampled_from(
    ("test", "latest", "Docker", "Compose", "IT", "it", "Go", "C++", "C", "foo_bar()", "README.md", "a.b", "--flag",
     "crate", "crates", "memory", "memories", "class", "classes", "yes", "eye",
     "한국", "É", "東京", "都", "テスト", "学교", "ß", "s", "'s", ".", ",", "(", "[[", "*", "\n",
     "\\", "e\u0301", "\0", "http://x.test/Docker")
)  # fmt: skip
TEXT = st.one_of(
    st.text(max_size=30), st.lists(WORDS, max_size=12).map(" ".join), st.lists(WORDS).map("".join)
)


def concepts(*names: str | tuple[str, ...], kind: str = "given") -> list[Entity]:
    rows = [(name,) if isinstance(name, str) else name for name in names]
    return [Entity(f"con_{at}", "public", row[0], tuple(row[1:]), kind) for at, row in enumerate(rows)]


def found(text: str, *names: str | tuple[str, ...], kind: str = "given") -> list[str]:
    return [text[m.start : m.end] for m in EntityDictionary(concepts(*names, kind=kind)).match(text)]


@pytest.mark.parametrize(
    "text", ["the latest", "testing", "my_test", "test_it", "test.py", "a.test", "--test", "contest's"]
)
def test_a_name_is_found_as_a_whole_word_only(text):
    assert found(text, "test") == []


@pytest.mark.parametrize(
    "text",
    ["a test.", "(test)", "test-driven", "**test**", "`test`", "std::test", "#test", "test's", "[[test]]"],
)
def test_a_name_is_found_between_marks(text):
    assert found(text, "test") == ["test"]


def test_case_accents_width_and_dashes_do_not_tell_names_apart():
    assert found("a RÉSUMÉ", "resume") == ["RÉSUMÉ"]
    assert found("Ｄｏｃｋｅｒ", "docker") == ["Ｄｏｃｋｅｒ"]
    assert found("docker-compose", "Docker Compose") == ["docker-compose"]
    assert found("cafe\u0301 noir", "Café") == ["cafe\u0301"]


def test_a_name_may_go_over_a_line_but_over_no_mark():
    assert found("the vector\nstore", "vector store") == ["vector\nstore"]
    for text in ("the vector. Store it", "vector, store", "vector\n\nstore", "vector (store)"):
        assert found(text, "vector store") == []


def test_nested_and_neighbouring_names_are_all_found():
    names = ("Docker", "Docker Compose", "Compose File", "Kubernetes")
    assert found("Docker Compose", *names) == ["Docker", "Docker Compose"]
    assert found("Kubernetes Docker Compose File", *names) == [
        "Kubernetes",
        "Docker",
        "Docker Compose",
        "Compose File",
    ]


def test_plurals_possessives_and_singulars_are_the_same_name():
    assert found(
        "two crates, Docker's, the memory; traits of boxes", "crate", "Docker", "Memories", "box"
    ) == [
        "crates",
        "Docker",
        "memory",
        "boxes",
    ]
    assert found("a window, the new, an os", "Windows", "News", "OSs") == []


def test_capitals_that_fold_to_a_common_word_are_meant_only_as_written():
    assert found("it is IT", "IT") == ["IT"]
    assert found("the who saw THE WHO", "THE WHO") == ["THE WHO"]
    assert found("Go on. Then we go with Go", "Go") == ["Go"]
    assert EntityDictionary(concepts("Go")).match("- Go away") == ()
    assert found("c and C and C++", "C") == ["C"]


def test_a_capitalised_code_name_is_not_the_everyday_word():
    assert found("an option, Option and two Options", "Option", kind="code") == ["Option"]
    assert found("an option", "Option") == ["option"]


def test_in_unspaced_text_han_is_found_anywhere_and_katakana_and_hangul_as_words():
    assert found("私は東京大学へ", "東京大学") == ["東京大学"]
    assert found("使用Docker部署", "docker", "部署") == ["Docker", "部署"]
    assert found("ラテスト、テスト", "テスト") == ["テスト"]
    assert [m.start for m in EntityDictionary(concepts("テスト")).match("ラテスト、テスト")] == [5]
    assert found("학교에서 중학교", "학교") == ["학교"]


def test_names_in_urls_are_no_mentions():
    assert found("see https://docs.docker.com/compose for more", "docker", "compose") == []
    assert found("[Docker](https://docker.com/x)", "docker") == ["Docker"]


def test_a_mention_counts_and_says_where_it_first_stands():
    (mention,) = EntityDictionary(concepts(("Docker", "container engine"))).match(
        "A container engine — “Docker”, docker's"
    )
    assert (mention.concept, mention.count, mention.start, mention.end) == ("con_0", 3, 2, 18)


def test_a_spelling_claimed_twice_means_the_one_whose_name_it_is():
    matcher = EntityDictionary(
        concepts(("Container", "docker"), "Docker", ("Moby", "docker"), ("Engine", "moby engine"))
    )
    assert [m.concept for m in matcher.match("docker")] == ["con_1"]


def test_duplicates_blanks_and_regex_characters_are_harmless():
    names = ("(", "", "a|b", "a|b", ".*", "[x]+?", "C++", "\\d", "$^", "IT", "it")
    assert found("C++ and d. a|b anything", *names) == ["C++", "d", "a|b"]


def test_an_empty_dictionary_finds_nothing():
    assert EntityDictionary(()).match("anything") == ()


@given(st.lists(TEXT, max_size=6), TEXT)
@settings(max_examples=200, deadline=None)
def test_any_dictionary_over_any_text_gives_whole_words_in_order(names, text):
    mentions = EntityDictionary(concepts(*names)).match(text)
    starts = [mention.start for mention in mentions]
    assert starts == sorted(starts)
    for mention in mentions:
        assert 0 <= mention.start < mention.end <= len(text)
        if text.isascii():
            around = f" {text} "[mention.start : mention.end + 2]
            assert not re.fullmatch(r"\w\w", around[:2])
            assert not re.fullmatch(r"\w\w", around[-2:])


SOME = st.builds(
    lambda name, aliases, kind: (name, aliases, kind),
    TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
    st.sampled_from(ENTITY_KINDS),
)


def plainly(rows: list[Entity], text: str) -> tuple[Mention, ...]:
    """Return the mentions as the whole dictionary's claims give them, looked for one by one in all of the text."""
    whole = name_owners(merge_entities(rows))
    spaced, origins = spread_text(text)
    hits = []
    for key in whole.loose.keys() | whole.written.keys():
        starts = [at for at in range(len(spaced)) if spaced.startswith(key, at)]
        hits += [(at + len(key), at, key) for at in starts]
    found: dict[str, list[int]] = {}
    for end, start, key in sorted(hits):
        first, last = start + (key[0] == " "), end - 1 - (key[-1] == " ")
        span = (text_offset(first, origins), text_offset_after(last, origins))
        meant = _owner_of(whole.written[key], text, *span) if key in whole.written else ""
        if concept := meant or whole.loose.get(key):
            found.setdefault(concept, [0, *span])[0] += 1
    mentions = [Mention(concept, *counted) for concept, counted in found.items()]
    return tuple(sorted(mentions, key=lambda mention: (mention.start, mention.end, mention.concept)))


@given(st.lists(SOME, max_size=8), TEXT)
@settings(max_examples=300, deadline=None)
def test_mentions_equal_those_of_a_search_name_by_name(some, text):
    rows = [Entity(f"con_{at}", "public", *one) for at, one in enumerate(some)]
    for said in (text, " ".join((text, *(name for name, _, _ in some)))):
        assert EntityDictionary(rows).match(said) == plainly(rows, said)


@given(st.text("aesiyxch ", max_size=8))
def test_a_form_and_its_other_number_have_one_stem(form):
    assert number_stem(other_number(form)) == number_stem(form)


@given(st.lists(st.lists(TEXT, min_size=1, max_size=3).map(tuple), max_size=6), TEXT, st.randoms())
@settings(max_examples=100, deadline=None)
def test_the_order_of_the_dictionary_makes_no_difference(names, text, random):
    rows = concepts(*names)
    shuffled = random.sample(rows, len(rows))
    first, second = EntityDictionary(rows), EntityDictionary(shuffled)
    assert first.match(text) == second.match(text)


@given(st.text("aB1 ", max_size=8))
def test_the_pattern_of_a_plain_name_equals_its_level_text(name):
    assert search_pattern(name).strip() == level_text(name).strip()


@given(TEXT)
def test_a_level_text_keeps_every_character_in_its_place(text):
    assert len(level_text(text)) == len(text)


def test_code_that_is_an_everyday_word_is_meant_in_backticks_only():
    assert found("a match is not `match`, nor `matches`", "match", kind="code") == ["match"]
    assert found("if let it be, else `if let`", "if let", kind="code") == ["if let"]
    assert found("they match", "match", kind="code") == []


def test_a_generic_page_is_meant_only_by_a_link_or_a_tag():
    for text in ("[[notes]]", "[Notes](a.md)", "#notes", "[[notes|mine]]", "notes"):
        assert len(found(text, "notes", kind="page")) == 1
    for text in ("[[notes of May]]", "[notes of it](a.md)", "#notes-channel", "my notes"):
        assert found(text, "notes", kind="page") == []


def test_a_name_learnt_after_a_text_was_read_is_found():
    names, text = NameIndex(), " docker compose starts redis "
    names.learn([("Docker", "con_1")])
    other = names.copy()
    assert [text[start:end] for start, end, _, _ in names.places(text)] == ["docker"]
    names.learn([("Redis", "con_2"), ("Docker Compose", "con_3"), ("compose starts", "con_4")])
    assert {text[start:end] for start, end, _, _ in names.places(text)} == {
        "docker", "docker compose", "compose starts", "redis",
    }  # fmt: skip
    assert [text[start:end] for start, end, _, _ in other.places(text)] == ["docker"]


def test_a_full_word_cache_changes_no_result(monkeypatch):
    words = [f"word{at}" for at in range(60)]
    names = NameIndex()
    names.learn((word, "con_1") for word in words[::3])
    text = f" {' '.join(words + words)} "
    whole = names.places(text)
    monkeypatch.setattr("scrubjay.entities.dictionary.MAX_CACHED_WORDS", 4)
    monkeypatch.setattr("scrubjay.entities.dictionary.MAX_CACHED_WORD", 5)
    assert len(whole) == 40
    assert names.copy().places(text) == whole
