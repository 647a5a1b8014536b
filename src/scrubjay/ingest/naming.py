"""Naming: what a memory stands under, for the stages that index and embed it."""

from __future__ import annotations

from typing import Final

from scrubjay.memory.records import Record

HEAD: Final = 500
"""Characters at the beginning of a passage in which its own headings stand."""


def above(record: Record) -> tuple[str, ...]:
    """Return the headings or the title that a memory stands under and does not itself begin with.

    A passage holds the heading it stands under; one that is added with a title holds it only as its first line.
    """
    if record.place is not None:
        head = record.content[:HEAD]
        return tuple(name for name in dict.fromkeys(record.heading_path) if name and name not in head)
    first = record.content.lstrip("#\n ").partition("\n")[0].strip()
    return (record.title,) if record.title and first != record.title else ()
