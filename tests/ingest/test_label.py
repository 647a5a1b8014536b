from __future__ import annotations

from dataclasses import replace
from typing import Any

from scrubjay.ingest.alignment import DocumentTraits, DraftPassage, IdFactory, PreparedDocument, plan_document
from scrubjay.ingest.embedder import prepare_memory
from scrubjay.models.dates import parse_when
from scrubjay.models.records import Document, Record, SourcePlace, StageVersions

SECRET = b"secret"
DOCUMENT = Document("src_1", "notes/sea.md", "h", 0, 0, "sea.md", StageVersions("1", "1", "1", "1", "1"))
TRAITS = DocumentTraits("user:ann", "ann", ("sea",), None, False, 10, 20)


def drafts(*texts: str, path: str = "notes/sea.md", heading: str = "Sea") -> list[DraftPassage]:
    return [
        DraftPassage(
            text,
            SourcePlace("src_1", path, n, 0, len(text), n + 1, n + 1),
            (heading,) if heading else (),
            heading,
        )
        for n, text in enumerate(texts)
    ]


def labelled(
    passages: list[DraftPassage],
    old: list[Record] | None = None,
    *,
    elsewhere: dict[str, Record] | None = None,
    **traits: Any,
) -> PreparedDocument:
    others = elsewhere or {}
    known = {record.id: record for record in old or []} | others
    return plan_document(
        DOCUMENT,
        passages,
        replace(TRAITS, **traits),
        old or [],
        IdFactory(SECRET, others.__contains__, known.get),
    )


def records(found: PreparedDocument) -> list[Record]:
    return [one.record for one in found.fresh]


def addition(memory: str = "les_00000000000000aa", **fields: Any) -> Record:
    return Record(
        memory, "lesson", "Tide.", "h", "Tide", "public", "ann", 1, 2, tags=("own",), pinned=True,
        event=parse_when("2020"), **fields,
    )  # fmt: skip


def mark(record: Record) -> str:
    return f"## 10:00 Tide\n<!-- scrubjay:{record.id} -->\n\nTide.\n"


def test_a_new_passage_has_an_id_of_its_place_and_what_the_document_gives_it() -> None:
    (record,) = records(labelled(drafts("The tide turns."), event=parse_when("2026-03-01"), pinned=True))
    assert record.id.startswith("obs_")
    assert (record.tier, record.key, record.owner, record.tags) == (
        "observation",
        "user:ann",
        "ann",
        ("sea",),
    )
    assert (record.heading_path, record.title, record.pinned) == (("Sea",), "Sea", True)
    assert (record.recorded_at, record.updated_at) == (10, 20)
    assert record.event == parse_when("2026-03-01")


def test_ids_follow_source_path_headings_and_order_not_the_text() -> None:
    def one(passages: list[DraftPassage], **document: Any) -> str:
        found = plan_document(
            replace(DOCUMENT, **document), passages, TRAITS, [], IdFactory(SECRET, lambda _: False, {}.get)
        )
        return records(found)[-1].id

    first = one(drafts("a"))
    assert first == one(drafts("wholly different"))
    others = {
        one(drafts("b", "a")),
        one(drafts("a", heading="Land")),
        one(drafts("a"), path="other.md"),
        one(drafts("a"), source="src_2"),
    }
    assert len(others | {first}) == 5


def test_an_id_that_another_documents_memory_bears_is_not_given_again() -> None:
    (taken,) = records(labelled(drafts("a")))
    (other,) = records(labelled(drafts("a"), elsewhere={taken.id: taken}))
    assert other.id != taken.id


def test_an_id_that_was_inserted_before_is_not_given_to_the_new_first() -> None:
    old = records(labelled(drafts("first old words here")))
    found = labelled(drafts("entirely new and other", "first old words here"), old)
    assert [kept.id for kept in found.kept] == [old[0].id]
    assert records(found)[0].id != old[0].id


def test_what_stays_is_kept_what_changed_is_fresh_under_its_id_and_what_went_is_dropped() -> None:
    old = records(labelled(drafts("one stays as it is", "two will change a little", "alpha beta gamma")))
    found = labelled(drafts("one stays as it is", "two did change a little"), old, updated_at=99)
    assert [kept.id for kept in found.kept] == [old[0].id]
    assert [(r.id, r.content, r.recorded_at, r.updated_at) for r in records(found)] == [
        (old[1].id, "two did change a little", 10, 99)
    ]
    assert found.dropped == (old[2].id,)


def test_a_passage_that_only_moved_is_kept_with_its_new_place() -> None:
    old = records(labelled(drafts("one", "two")))
    found = labelled(drafts("zero zero zero", "one", "two"), old)
    assert [(kept.id, kept.place.ordinal) for kept in found.kept] == [(old[0].id, 1), (old[1].id, 2)]


def test_what_a_document_says_of_itself_anew_reaches_every_passage() -> None:
    old = records(labelled(drafts("one", "two")))
    for change in ({"tags": ("land",)}, {"event": parse_when("2026")}, {"pinned": True}, {"key": "public"}):
        found = labelled(drafts("one", "two"), old, **change)
        assert [record.id for record in records(found)] == [record.id for record in old], change
        for name, value in change.items():
            assert {getattr(record, name) for record in records(found)} == {value}


def test_a_new_file_name_is_indexed_and_a_new_folder_is_not_worth_it() -> None:
    old = records(labelled(drafts("one")))
    assert len(labelled(drafts("one", path="moved/sea.md"), old).kept) == 1
    renamed = labelled(drafts("one", path="notes/harbour.md"), old)
    assert [record.id for record in records(renamed)] == [old[0].id]
    assert "harbour" in prepare_memory(renamed.fresh[0].record).terms.counts


def test_headings_and_file_name_are_words_of_a_passage() -> None:
    (passage,) = labelled(drafts("It turns at six.", heading="Tide tables")).fresh
    memory = prepare_memory(passage.record)
    assert {"turns", "tide", "tables", "sea"} <= set(memory.terms.counts)


def test_a_section_that_bears_an_additions_mark_is_that_addition() -> None:
    added = addition()
    found = labelled(drafts(mark(added), "other"), elsewhere={added.id: added})
    first, second = records(found)
    assert (first.id, first.tier, first.key, first.pinned, first.event) == (
        added.id,
        "lesson",
        "public",
        True,
        added.event,
    )
    assert (first.tags, second.tags) == (("own", "sea"), ("sea",))
    assert first.place is not None
    assert (second.tier, second.key, second.pinned) == ("observation", "user:ann", False)


def test_a_mark_is_honoured_once_and_where_it_stands_on_a_line_of_its_own() -> None:
    added = addition()
    found = records(labelled(drafts(mark(added), mark(added) + "more"), elsewhere={added.id: added}))
    assert [record.id == added.id for record in found] == [True, False]
    quoted = f"See `<!-- scrubjay:{added.id} -->` in the note."
    assert records(labelled(drafts(quoted), elsewhere={added.id: added}))[0].id != added.id


def test_an_addition_that_stands_in_another_document_stays_there() -> None:
    added = addition(place=SourcePlace("src_1", "notes/day.md", 0, 0, 5, 1, 1))
    assert records(labelled(drafts(mark(added)), elsewhere={added.id: added}))[0].id != added.id
    assert records(labelled(drafts(mark(added)), [added]))[0].id == added.id


def test_a_mark_of_somebody_else_or_of_nothing_is_text() -> None:
    added = replace(addition(), owner="bob")
    assert records(labelled(drafts(mark(added)), elsewhere={added.id: added}))[0].id != added.id
    assert records(labelled(drafts(mark(addition()))))[0].tier == "observation"


def test_an_addition_keeps_its_id_though_another_section_has_its_old_words() -> None:
    added = addition(place=SourcePlace("src_1", "notes/sea.md", 0, 0, 5, 1, 1))
    stored = replace(added, content=mark(added))
    edited = mark(added).replace("Tide.", "Ebb.")
    found = labelled([*drafts(mark(added).replace("<!-- ", "<!-- was "), edited)], [stored])
    assert [record.id == added.id for record in records(found)] == [False, True]
