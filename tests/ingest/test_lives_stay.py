"""A passage keeps its life: what was archived stays so, whatever becomes of its file, while it says the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from notes_folder import Notes

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.models.lifecycle import Event, LifecycleChange, changed_fields
from scrubjay.models.records import Record, Scope
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
