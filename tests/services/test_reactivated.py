"""A superseded memory is active again when a person deletes the memory that superseded it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import NotesSettings, RetentionSettings, Settings

Open = Callable[..., Memory]
PORTO, LISBON, BERLIN = "I live in Porto.", "I moved to Lisbon.", "I moved to Berlin."


@pytest.fixture(params=["sqlite", "postgres"])
def memory(opened: Open, request: pytest.FixtureRequest) -> Memory:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return opened(url, tenant=request.node.name)


def add(memory: Memory, *texts: str) -> list[str]:
    return [memory.add(text).id for text in texts]


def status(memory: Memory, one: str) -> str:
    return memory.history(one).memory.status


def superseding(memory: Memory) -> list[str]:
    ids = add(memory, PORTO, LISBON)
    assert status(memory, ids[0]) == "superseded"
    return ids


def test_forgetting_the_later_statement_makes_the_earlier_one_active(memory: Memory) -> None:
    porto, lisbon = superseding(memory)
    done = memory.forget(lisbon)
    assert done.reactivated == (porto,)
    assert [one.id for one in memory.search("where do I live?").results] == [porto]
    told = memory.history(porto)
    assert (told.memory.valid_until, [event.op for event in told.events]) == (
        None,
        ["superseded", "restored"],
    )


@pytest.mark.parametrize("until", ["2026-06-01", "2126-06-01", None])
def test_a_statement_is_valid_as_long_as_before_it_was_superseded(memory: Memory, until: str | None) -> None:
    permit = memory.add("The parking permit number is 5512.", valid_from="2026-01-01", valid_until=until).id
    before = memory.history(permit).memory.valid_until
    later = memory.add("The parking permit number is now 7781.").id
    assert memory.history(permit).memory.valid_until != before
    assert memory.forget(later).reactivated == (permit,)
    assert memory.history(permit).memory.valid_until == before
    later = memory.add("The parking permit number is now 7782.").id
    memory.update(permit, valid_from="2026-09-01")
    assert memory.forget(later).reactivated == (permit,)


def test_forgetting_both_reactivates_neither(memory: Memory) -> None:
    assert memory.forget(superseding(memory)).reactivated == ()


@pytest.mark.parametrize("reverse", [False, True])
def test_a_chain_of_statements_is_forgotten_from_either_end(memory: Memory, reverse: bool) -> None:
    ids = porto, lisbon, berlin = add(memory, PORTO, LISBON, BERLIN)
    first, second = (berlin, lisbon) if reverse else (lisbon, berlin)
    between = memory.forget(first)
    assert between.reactivated == ((lisbon,) if reverse else ())
    assert [status(memory, one) for one in ids if one != first] == ["superseded", "active"]
    assert memory.forget(second).reactivated == (porto,)


def test_a_statement_that_another_supersedes_as_well_stays_superseded(memory: Memory) -> None:
    porto, lisbon = superseding(memory)
    other = memory.add("The flat in Porto is sold.").id
    memory.link(other, porto, "supersedes")
    assert memory.forget(lisbon).reactivated == ()
    assert status(memory, porto) == "superseded"
    assert memory.forget(other).reactivated == (porto,)


def test_an_archived_statement_goes_on_superseding(memory: Memory) -> None:
    porto, lisbon = superseding(memory)
    other = memory.add("The flat in Porto is sold.").id
    memory.link(other, porto, "supersedes")
    memory.archive(other)
    assert memory.forget(lisbon).reactivated == ()
    assert status(memory, porto) == "superseded"


def test_what_somebody_archived_stays_archived(memory: Memory) -> None:
    porto, lisbon = superseding(memory)
    memory.archive(porto)
    assert memory.forget(lisbon).reactivated == ()
    assert status(memory, porto) == "archived"


def test_the_text_before_an_edit_stays_superseded(memory: Memory) -> None:
    porto, lisbon = superseding(memory)
    before = memory.update(lisbon, "I moved to Lisbon in May.").before
    done = memory.forget(lisbon)
    assert (done.reactivated, done.derived) == ((porto,), (before,))


def test_an_edited_statement_goes_on_superseding_and_keeps_its_links(memory: Memory) -> None:
    porto, lisbon = superseding(memory)
    boat = memory.add("The boat lies in Porto.").id
    memory.link(lisbon, boat, "supersedes")
    memory.update(lisbon, "I moved to Lisbon last week and like it.")
    assert memory.search("where do I live?").results[0].id == lisbon
    assert [status(memory, one) for one in (porto, boat)] == ["superseded", "active"]
    assert [memory.history(one).superseded_by for one in (porto, boat)] == [(lisbon,), (lisbon,)]
    memory.restore(porto)
    assert status(memory, porto) == "active"


def test_a_turn_takes_the_statements_that_it_made_with_it(memory: Memory) -> None:
    first, second = (
        memory.add(text, session=f"s{n}", role="user", turn=0) for n, text in enumerate((PORTO, LISBON))
    )
    assert status(memory, first.learned[0]) == "superseded"
    assert memory.forget(second.id).reactivated == (first.learned[0],)


def test_retention_that_forgets_leaves_the_earlier_statement_superseded(
    opened: Open, settings: Settings
) -> None:
    memory = opened(settings=replace(settings, retention=RetentionSettings(most=1, action="forget")))
    porto, lisbon = superseding(memory)
    memory.feedback(porto, "used")
    memory.add("The lighthouse keeper is called Ines.")
    assert memory.retain().forgotten == (lisbon,)
    assert status(memory, porto) == "superseded"
    memory.restore(porto)
    assert status(memory, porto) == "active"


def test_forgetting_everything_of_a_user_makes_the_statements_of_others_active(opened: Open) -> None:
    ann, bob = opened(), opened(user="bob")
    porto = ann.add("The office is in Porto.", visibility="public").id
    bob.add("The office moved to Lisbon.", visibility="public")
    assert status(ann, porto) == "superseded"
    done = bob.forget_everything()
    assert done.reactivated == (porto,)
    assert status(ann, porto) == "active"


def test_importing_what_another_store_forgot_makes_the_earlier_statement_active(
    opened: Open, tmp_path: Path
) -> None:
    memory = opened()
    porto, _ = superseding(memory)
    file = tmp_path / "export.jsonl"
    memory.export(file)
    other = opened(tmp_path / "other.db")
    other.import_(file)
    other.forget(other.search("moved to Lisbon", limit=1).results[0].id)
    other.export(file, overwrite=True)
    memory.import_(file, forget=True)
    assert status(memory, porto) == "active"


def test_superseded_and_archived_additions_stay_so_when_their_note_is_synced(
    opened: Open, settings: Settings, folder: Path
) -> None:
    memory = opened(settings=replace(settings, notes=NotesSettings(dir=folder)))
    porto, lisbon = superseding(memory)
    memory.archive(lisbon)
    memory.sync(folder)
    assert (status(memory, porto), status(memory, lisbon)) == ("superseded", "archived")


@pytest.mark.parametrize("edit", ["vanishes", "is deleted with its file"])
def test_a_passage_that_leaves_its_file_leaves_the_earlier_statement_superseded(
    opened: Open, settings: Settings, folder: Path, edit: str
) -> None:
    porto = opened().add(PORTO).id
    memory = opened(settings=replace(settings, notes=NotesSettings(dir=folder)))
    memory.add("The lighthouse keeper is called Ines.")
    memory.add(LISBON)
    memory.sync(folder)
    assert status(memory, porto) == "superseded"
    (note,) = folder.glob("*.md")
    text = note.read_text()
    if edit == "vanishes":
        note.write_text(text[: text.rindex("\n## ")])
    else:
        note.rename(folder.parent / "elsewhere.md")
        (folder / "other.md").write_text("The lighthouse keeper is called Ines.\n")
    memory.sync(folder)
    assert not memory.search("moved to Lisbon", channels=["bm25"]).results
    assert status(memory, porto) == "superseded"


def test_removing_a_source_leaves_what_it_superseded_superseded(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    porto = memory.add(PORTO).id
    logs = tmp_path / "logs"
    logs.mkdir()
    row = '{"role": "user", "content": "I moved to Lisbon.", "session": "s", "id": "s0"}\n'
    (logs / "talk.jsonl").write_text(row)
    memory.sync(logs)
    assert status(memory, porto) == "superseded"
    memory.remove_source(str(logs))
    assert status(memory, porto) == "superseded"


def test_a_passage_that_a_person_archived_stays_so_when_it_is_edited(opened: Open, folder: Path) -> None:
    folder.mkdir()
    note = folder / "ferry.md"
    note.write_text("# Ferry\n\nThe ferry to the island leaves at nine.\n")
    memory = opened()
    memory.sync(folder)
    (found,) = memory.search("When does the ferry leave?").results
    memory.archive(found.id)
    note.write_text("# Ferry\n\nThe ferry to the island leaves at ten.\n")
    memory.sync(folder)
    assert [one.status for one in memory.search("When does the ferry leave?").results] == ["archived"]
    told = memory.history(found.id)
    assert "ten" in told.memory.content
    assert (told.memory.status, [event.op for event in told.events]) == ("archived", ["archived"])


def test_the_history_of_a_superseded_passage_says_that_its_edit_restored_it(
    opened: Open, settings: Settings, folder: Path
) -> None:
    memory = opened(settings=replace(settings, notes=NotesSettings(dir=folder)))
    porto, _ = superseding(memory)
    memory.sync(folder)
    (note,) = folder.glob("*.md")
    note.write_text(note.read_text().replace(PORTO, "My sister lives in Porto."))
    memory.sync(folder)
    told = memory.history(porto)
    assert (told.memory.status, [event.op for event in told.events]) == ("active", ["superseded", "restored"])
