"""A passage keeps its life: what was archived stays so, whatever becomes of its file, while it says the same."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from notes_folder import Notes

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.models.lifecycle import Event, LifecycleChange, changed_fields
from scrubjay.models.records import Record, Scope
from scrubjay.models.views import MemoryHistory
from scrubjay.storage.changes import PutEvents, PutLifecycle
from scrubjay.storage.sqlite.store import SQLiteStore

GARDEN = "# Garden\n\nAll of it.\n\n## Apples\n\nThe apple tree bears red fruit.\n\n## Pears\n\nThe pear tree is old.\n"
ANN = Scope("default", "ann")
LIFE = LifecycleChange("archived", strength=0.25, confidence=0.5, valid_from=1, valid_until=2, last_used=3)
"""Whether a passage is pinned, its note says."""


def pears(memory: Memory, file: Path) -> Record:
    return next(record for record in memory.get(path=file).records if "pear tree" in record.content)


def archive(settings: Settings, *records: Record) -> list[Event]:
    """Archive some memories, with an event each, and return the events as they are read."""
    store = SQLiteStore(Path(settings.store))
    told = [Event(one.id, "archived", at, one.key, before="active") for at, one in enumerate(records)]
    store.write(ANN, [PutLifecycle({one.id: LIFE for one in records}), PutEvents(tuple(told))])
    store.close()
    return told[::-1]


def events(settings: Settings) -> list[Event]:
    store = SQLiteStore(Path(settings.store))
    with store.reader(ANN) as reader:
        found = reader.events()
    store.close()
    return [event for event in found if event.op == "archived"]


def test_an_archived_passage_stays_archived_while_its_text_does(
    memory: Memory, notes: Notes, settings: Settings
) -> None:
    """After a rebuild, a touch, an edit beside it, and a rename."""
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    before = pears(memory, file)
    told = archive(settings, before)
    memory.rebuild()
    assert pears(memory, file) == replace(before, **changed_fields(LIFE))
    notes.write("garden.md", GARDEN)
    memory.sync()
    assert pears(memory, file) == replace(before, **changed_fields(LIFE))
    notes.write("garden.md", GARDEN.replace("red fruit", "red and yellow fruit"))
    memory.sync()
    found = pears(memory, file)
    assert (found.id, found.status, found.strength, found.valid_until) == (before.id, "archived", 0.25, 2)
    moved = file.rename(file.with_name("orchard.md"))
    memory.sync()
    memory.rebuild()
    assert (pears(memory, moved).status, pears(memory, moved).last_used) == ("archived", 3)
    assert memory.search("pear tree", channels=["bm25"]).results[0].id != before.id
    assert memory.search("pear tree", channels=["bm25"], statuses=["archived"]).results[0].id == before.id
    assert events(settings) == told


def test_an_archived_addition_stays_archived_over_a_rebuild(memory: Memory, settings: Settings) -> None:
    added = memory.get(memory.add("Deploys happen on Thursday.").id).records[0]
    told = archive(settings, added)
    memory.rebuild()
    assert memory.get(added.id).records[0] == replace(added, **changed_fields(LIFE))
    assert events(settings) == told
    memory.forget(added.id)
    assert events(settings) == []


GARDEN_WITHOUT_PEARS = GARDEN.partition("## Pears")[0]


def judge(memory: Memory, one: Record) -> MemoryHistory:
    memory.feedback(one.id, "never-inject")
    memory.feedback(one.id, "wrong")
    memory.update(one.id, confidence=0.5)
    memory.archive(one.id)
    return memory.history(one.id)


@pytest.mark.parametrize("away", ["file", "section"])
def test_verdicts_return_with_a_text_that_was_away(memory: Memory, notes: Notes, away: str) -> None:
    file = notes.write("garden.md", GARDEN)
    notes.write("shed.md", "# Shed\n\nThe ladder is here.\n")
    memory.sync(notes.root)
    before = judge(memory, pears(memory, file))
    if away == "file":
        file.unlink()
    else:
        notes.write("garden.md", GARDEN_WITHOUT_PEARS)
    found = memory.search("pear tree", channels=["bm25"], statuses=["active", "archived"]).results
    assert before.memory.id not in [one.id for one in found]
    notes.write("garden.md", GARDEN)
    memory.sync()
    one = pears(memory, file)
    assert (one.id, one.tags, one.strength) == (before.memory.id, ("never-inject",), 0.5)
    assert (one.status, one.confidence) == ("archived", 0.5)
    assert memory.history(one.id).events == before.events
    notes.write("garden.md", GARDEN.replace("red fruit", "yellow fruit"))
    memory.sync()
    memory.rebuild()
    assert memory.history(one.id).events == before.events


def test_verdicts_return_over_a_rebuild_and_when_the_passage_gets_another_id(
    memory: Memory, notes: Notes
) -> None:
    file = notes.write("garden.md", GARDEN.replace("## Pears", "## Trees"))
    memory.sync(notes.root)
    notes.write("garden.md", GARDEN)
    notes.write("shed.md", "# Shed\n\nThe ladder is here.\n")
    memory.sync()
    before = judge(memory, pears(memory, file))
    file.unlink()
    memory.sync()
    memory.rebuild()
    notes.write("garden.md", GARDEN)
    memory.sync()
    one = pears(memory, file)
    assert one.id != before.memory.id
    assert (one.tags, one.strength, one.status) == (("never-inject",), 0.5, "archived")
    assert [event.op for event in memory.history(one.id).events] == [event.op for event in before.events]


def test_verdicts_never_pass_to_another_text_in_the_place_of_one_that_is_away(
    memory: Memory, notes: Notes
) -> None:
    file = notes.write("garden.md", GARDEN)
    notes.write("shed.md", "# Shed\n\nThe ladder is here.\n")
    memory.sync(notes.root)
    before = judge(memory, pears(memory, file))
    file.unlink()
    memory.sync()
    notes.write("garden.md", GARDEN.replace("tree is old", "tree is young"))
    memory.sync()
    one = pears(memory, file)
    assert one.id == before.memory.id
    assert (one.tags, one.strength, one.status) == ((), 1.0, "active")
    assert memory.history(one.id).events == ()
    notes.write("copy.md", GARDEN)
    memory.sync()
    assert pears(memory, notes.root / "copy.md").status == "active"


def test_a_passage_that_is_forgotten_while_its_file_is_away_does_not_return(
    memory: Memory, notes: Notes
) -> None:
    file = notes.write("garden.md", GARDEN)
    notes.write("shed.md", "# Shed\n\nThe ladder is here.\n")
    memory.sync(notes.root)
    before = judge(memory, pears(memory, file))
    file.unlink()
    memory.sync()
    assert memory.forget(before.memory.id).unknown == (before.memory.id,)
    notes.write("garden.md", GARDEN)
    memory.sync()
    assert not any("pear tree" in one.content for one in memory.get(path=file).records)


@pytest.mark.parametrize("gone", ["source", "everything"])
def test_verdicts_of_a_file_that_is_away_go_with_its_source(
    memory: Memory, notes: Notes, settings: Settings, gone: str
) -> None:
    file = notes.write("garden.md", GARDEN)
    notes.write("shed.md", "# Shed\n\nThe ladder is here.\n")
    memory.sync(notes.root)
    judge(memory, pears(memory, file))
    file.unlink()
    memory.sync()
    if gone == "source":
        memory.remove_source(str(notes.root))
    else:
        memory.forget_everything()
    db = sqlite3.connect(settings.store)
    assert db.execute("SELECT count(*) FROM event").fetchone() == (0,)
    db.close()
    notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    assert (pears(memory, file).status, memory.history(pears(memory, file).id).events) == ("active", ())
