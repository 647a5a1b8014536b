"""Adding: new memories into the store and, where settings ask for it, into the day's note."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest import add as store_path
from scrubjay.ingest.noted import marked
from scrubjay.memory.new import NewMemory
from scrubjay.memory.records import Record
from scrubjay.memory.reports import Added
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.learning import learning
from scrubjay.wiring.places import resolved
from scrubjay.wiring.weaving import organise_due, weaving

MOST_AT_ONCE = 1_024
"""Memories above which an addition does not wait for topics to be found anew; the next sync does it."""
TITLE = 60
"""Characters of a memory's first line that stand in for a title in the note's heading."""


def add_one(desk: Desk, memory: NewMemory) -> Added:
    """Add one memory.

    Raises:
        InputError: A field has a value it cannot have, or it is a turn that says nothing of its own.
    """
    (added,) = add(desk, [memory])
    if added.passed:
        raise InputError(f"{added.passed} Nothing was written.", hint="leave it out")
    return added


def add(desk: Desk, memories: Iterable[NewMemory]) -> list[Added]:
    """Add memories; those that are new are appended to today's note when settings name a notes folder."""
    wanted = [
        replace(item, project=resolved(desk, [item.project])[0]) if item.project else item
        for item in memories
    ]
    base = desk.lineup.writing()
    weaver = weaving(desk, base)
    allow = desk.settings.redaction.allow
    added = store_path.add(desk.store, desk.scope, base, wanted, weaver, learning(desk, base), allow)
    organise_due(desk, base, weaver, MOST_AT_ONCE)
    folder = desk.settings.notes.dir
    if folder is None:
        return added
    with desk.store.reader(desk.scope) as reader:
        records = reader.get([item.id for item in added if not item.existed])
    return [
        item if item.existed or item.passed else replace(item, note=_append(folder, records[item.id]))
        for item in added
    ]


def _append(folder: Path, record: Record) -> str:
    """Append a memory to today's note, under a heading and the mark that makes the two one memory.

    Raises:
        SourceError: The note cannot be written; the memory is in the store all the same.
    """
    now = datetime.now().astimezone()
    file = folder.expanduser() / f"{now:%Y-%m-%d}.md"
    first = record.content.strip().splitlines()[0]
    heading = " ".join((record.title or first.lstrip("#-* ")).split())[:TITLE].strip()
    block = f"\n## {now:%H:%M} {heading}\n{marked(record)}\n"
    try:
        folder.expanduser().mkdir(parents=True, exist_ok=True)
        before = file.read_text("utf-8").count("\n") if file.exists() else 0
        with file.open("a", encoding="utf-8") as note:
            note.write(block)
    except OSError as error:
        raise SourceError(
            f"The memory {record.id} is stored, but {file} cannot be written: {error.strerror}.",
            hint="correct [notes] dir in the settings, or its rights",
        ) from error
    return f"{file}:{before + 2}-{before + block.count(chr(10))}"
