"""Rows: memories -> the lines of a list, each with its beginning, date and place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from scrubjay.memory.looks import Stretch
from scrubjay.memory.records import Record
from scrubjay.surfaces.viewer.words import dated, few
from scrubjay.verbs.shape import citation

_HEADINGS: Final = re.compile(r"\A(?:\s*#{1,6}[ \t][^\n]*\n?)+")
"""What a passage begins with; its title says it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list.

    Attributes:
        record: The memory.
        title: What it is called, may be empty.
        text: How it begins, on one line.
        date: ISO date, as precise as it is known; empty where a file names none.
        where: ``path:first-last``, or its id.
    """

    record: Record
    title: str
    text: str
    date: str
    where: str


def body(text: str) -> str:
    r"""Return what stands below the headings that a passage or snippet begins with; a text of headings alone as it is.

    >>> body("# Berth\n\n## Costs\n\nForty euros."), body("# Berth"), body("…forty # euros")
    ('Forty euros.', '# Berth', '…forty # euros')
    """
    return _HEADINGS.sub("", text).lstrip() or text


def row(record: Record, path: str | None) -> Row:
    """Return one line."""
    text = few(record.abstract or body(record.content))
    return Row(record, record.title, text, dated(record), citation(record, path))


def rows(found: Stretch) -> list[Row]:
    """Return a line each."""
    return [row(record, found.paths.get(record.id)) for record in found.memories]
