"""Adding: new memories into the store and, where settings ask for it, into the day's note."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from scrubjay.errors import SourceError
from scrubjay.ingest import add as store_path
from scrubjay.memory.new import NewMemory
from scrubjay.memory.reports import Added
from scrubjay.wiring.desk import Desk

TITLE = 60
"""Characters of a memory's first line that stand in for a title in the note's heading."""


def add(desk: Desk, memories: Iterable[NewMemory]) -> list[Added]:
    """Add memories; those that are new are appended to today's note when settings name a notes folder."""
    wanted = list(memories)
    added = store_path.add(desk.store, desk.scope, desk.lineup.writing(), wanted)
    folder = desk.settings.notes.dir
    if folder is None:
        return added
    with desk.store.reader(desk.scope) as reader:
        records = reader.get([item.id for item in added if not item.existed])
    return [
        item if item.existed else replace(item, note=_append(folder, item.id, new.title, records[item.id].content))
        for item, new in zip(added, wanted, strict=True)
    ]


def _append(folder: Path, memory: str, title: str, content: str) -> str:
    """Append a memory to today's note, under a heading and the mark that makes the two one memory.

    Raises:
        SourceError: The note cannot be written; the memory is in the store all the same.
    """
    now = datetime.now().astimezone()
    file = folder.expanduser() / f"{now:%Y-%m-%d}.md"
    first = content.strip().splitlines()[0] if content.strip() else ""
    heading = (title or first.lstrip("#-* "))[:TITLE].strip()
    # A heading inside the content would end the note's section; a deeper level keeps it within.
    body = "\n".join("##" + line if line.startswith("#") else line for line in content.rstrip().splitlines())
    block = f"\n## {now:%H:%M} {heading}\n<!-- scrubjay:{memory} -->\n\n{body}\n"
    try:
        folder.expanduser().mkdir(parents=True, exist_ok=True)
        before = file.read_text("utf-8").count("\n") if file.exists() else 0
        with file.open("a", encoding="utf-8") as note:
            note.write(block)
    except OSError as error:
        raise SourceError(
            f"The memory {memory} is stored, but {file} cannot be written: {error.strerror}.",
            hint="correct [notes] dir in the settings, or its rights",
        ) from error
    return f"{file}:{before + 2}-{before + block.count(chr(10))}"
