"""Amending: what a caller says anew of a memory; where its words are a file's, the file is named instead."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scrubjay.errors import InputError
from scrubjay.ingest import amend as write_path
from scrubjay.ingest.noted import MARK
from scrubjay.memory.histories import Updated
from scrubjay.memory.life import UNCHANGED
from scrubjay.memory.new import Amendment
from scrubjay.memory.records import Record
from scrubjay.recall.assemble import full_path
from scrubjay.wiring.adding import MOST_AT_ONCE
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.linking import whole
from scrubjay.wiring.permissions import check
from scrubjay.wiring.weaving import organise_due, weaving

_OF_THE_FILE: Final = frozenset(("content", "title", "tags", "date", "pinned"))
"""What a file says of its passages."""


def update(desk: Desk, memory: str, amendment: Amendment) -> Updated:
    """Change a memory.

    Raises:
        NotFoundError: No memory's id begins so, or several do.
        InputError: Its words are a file's, or a field has a value it cannot have.
    """
    wanted = write_path.said(amendment)
    with desk.store.reader(desk.scope) as reader:
        one = whole(reader, memory)
        record = reader.get([one])[one]
        check(desk, [record], "change")
        path = full_path(record, {source.id: source for source in reader.sources()})
    if record.place is not None and _OF_THE_FILE & wanted.keys():
        lines = f"{record.place.line_start}-{record.place.line_end}"
        _refuse(one, f"{path or record.place.path}:{lines}")
    if amendment.content is not UNCHANGED and (noted := _noted(desk, record)) is not None:
        _refuse(one, noted)
    base = desk.lineup.writing()
    weaver = weaving(desk, base)
    done = write_path.amend(
        desk.store, desk.scope, base, weaver, one, amendment, desk.settings.redaction.allow
    )
    organise_due(desk, base, weaver, MOST_AT_ONCE)
    return done


def _refuse(memory: str, where: str) -> None:
    raise InputError(
        f"{memory} stands in {where}, and this changes no file. Nothing was written.",
        hint=f"edit {where}, then scrubjay sync",
    )


def _noted(desk: Desk, record: Record) -> str | None:
    """Return the file and lines of the notes folder in which an addition stands as well, None for none."""
    folder = desk.settings.notes.dir
    if folder is None or record.place is not None:
        return None
    for file in sorted(folder.expanduser().glob("*.md")):
        text = _read(file)
        if record.id not in text:
            continue
        for mark in MARK.finditer(text):
            if mark.group(1) == record.id:
                after = text.find("\n## ", mark.end())
                first = text.count("\n", 0, mark.start())
                rest = text[: after if after >= 0 else len(text)].rstrip("\n")
                return f"{file}:{first}-{rest.count(chr(10)) + 1}"
    return None


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace")
    except OSError:  # what cannot be read now, no sync takes in either
        return ""
