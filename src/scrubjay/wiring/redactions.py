"""Redactions: the marks in what is stored -> each with its place; the secrets themselves are stored nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scrubjay.memory.records import Record
from scrubjay.memory.redactions import Redaction
from scrubjay.wiring.desk import Desk

PAGE: Final = 500
NEAR: Final = 24
_MARK: Final = re.compile(r"\[(?:secret:([a-z0-9-]{1,40})|private)\]")


def redactions(desk: Desk) -> list[Redaction]:
    """Return the marks in the memories that the caller may see, by file and line."""
    found: list[Redaction] = []
    with desk.store.reader(desk.scope) as reader:
        roots = {source.id: source.root for source in reader.sources()}
        after = ""
        while page := reader.page(after, PAGE):
            for record in page:
                found += _marks(record, roots)
            after = page[-1].id
    return sorted(found, key=lambda one: (one.path, one.line, one.memory))


def _marks(record: Record, roots: dict[str, str]) -> Iterator[Redaction]:
    text, place = record.content, record.place
    path = "" if place is None else str(Path(roots.get(place.source, "")) / place.path)
    for mark in _MARK.finditer(text):
        line = 0 if place is None else place.line_start + text.count("\n", 0, mark.start())
        before = text[max(0, mark.start() - NEAR) : mark.start()].rpartition("\n")[2]
        after = text[mark.end() : mark.end() + NEAR].partition("\n")[0]
        yield Redaction(record.id, mark[1] or "private", path, line, before, after)
