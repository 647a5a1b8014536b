"""Tables: read Markdown tables, CSV and columns row by row, each cell as ``heading: cell``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

MAX_ROW_CHARACTERS: Final = 1_000
MAX_ROWS: Final = 5_000
"""Rows of a table that are read; longer ones are measurements."""
MAX_SHIFT: Final = 2
"""Characters by which a cell may be offset from its heading."""

_SIGNS: Final = "|;\t,"
_LINES: Final = "|".join(
    f"[^\n{sign}]{{0,48}}{sign}[^\n{sign}]{{0,48}}(?:{sign}[^\n{sign}]{{0,48}}){{0,28}}"
    for sign in map(re.escape, _SIGNS)
)
_HEADINGS: Final = re.compile(rf"^(?:{_LINES}|\S[^\n]{{0,48}}?[ ]{{2,}}\S[^\n]{{0,200}})$", re.MULTILINE)
_NAME: Final = re.compile(r"[\"'*`_]{0,2}(?:[#№] ?)?[^\W\d][^:={}<>?!]*")
_PLAIN_NAME: Final = re.compile(r"[\"'*`_]{0,2}(?:[#№] ?)?[^\W\d][^:={}<>?!@0-9|;]*+(?<!\w{4}\.)")
"""Heading between commas, tabs and spaces, which separate prose, code and lists more often than cells."""
_RULE: Final = re.compile(r"[ \t|:=+-]+\Z")
_CELLS: Final = {
    sign: re.compile(rf'\s*"(?:[^"\n]|"")*"\s*(?={re.escape(sign)}|\Z)|[^{sign}]*') for sign in _SIGNS
}
_SPACED_CELL: Final = re.compile(r"\S+(?: \S+)*")


class RowText(NamedTuple):
    """A table as text.

    Attributes:
        text: Its cells, a line each; an empty line ends a row.
        starts, ends: Span of each cell in the text that holds the table.
    """

    text: str
    offsets: Sequence[int]
    starts: Sequence[int]
    ends: Sequence[int]

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span in the text that holds the table of a span that begins in a cell."""
        cell = bisect_right(self.offsets, start) - 1
        if cell < 0:
            return None
        first, moved = (
            start + self.starts[cell] - self.offsets[cell],
            end + self.starts[cell] - self.offsets[cell],
        )
        return (first, min(self.ends[cell], moved)) if first < self.ends[cell] else None


class _Headings(NamedTuple):
    sign: str | None
    places: Sequence[tuple[int, int]]
    names: Sequence[str]

    @classmethod
    def of(cls, line: str) -> _Headings | None:
        """Parse a line of headings, if it is one."""
        sign = next((sign for sign in _SIGNS if sign in line), None)
        name = _NAME if sign in ("|", ";") else _PLAIN_NAME
        places = list(_cells(line, sign))
        names = [line[start:end] for start, end in places]
        if len(names) < 2 or not all(name.fullmatch(one) for one in names if one):
            return None
        return cls(sign, places, names)

    def over(self, row: str) -> list[tuple[str, int, int]] | None:
        """Return the cells of a row, each with its heading and span; None if it is no row of these columns."""
        cells = list(_cells(row, self.sign))
        if self.sign:
            fits = len(cells) == len(self.names)
            return [(name, *cell) for name, cell in zip(self.names, cells, strict=True)] if fits else None
        columns = [self._column(*cell) for cell in cells]
        if len(cells) < 2 or len(set(columns)) < len(columns):
            return None
        return [(self.names[column], *cell) for column, cell in zip(columns, cells, strict=True)]

    def _column(self, start: int, end: int) -> int:
        apart = [min(abs(start - first), abs(end - last)) for first, last in self.places]
        nearest = min(range(len(apart)), key=apart.__getitem__)
        if apart[nearest] <= MAX_SHIFT:
            return nearest
        return max(0, bisect_right([first for first, _ in self.places], start) - 1)


def find_tables(text: str) -> Iterator[RowText]:
    done = 0
    for line in _HEADINGS.finditer(text):
        headings = _Headings.of(line[0]) if line.start() >= done else None
        if headings:
            table, done = _rows_as_text(text, line.end() + 1, headings)
            if table.offsets:
                yield table


def _rows_as_text(text: str, at: int, headings: _Headings) -> tuple[RowText, int]:
    lines: list[str] = []
    offsets: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    size = rows = 0
    while at < len(text):
        stop = text.find("\n", at, at + MAX_ROW_CHARACTERS)
        row = text[at : stop if stop >= 0 else at + MAX_ROW_CHARACTERS]
        if not _RULE.match(row):
            cells = headings.over(row)
            if not cells:
                break
            rows += 1
            if rows <= MAX_ROWS:
                for name, start, end in cells:
                    if start < end:
                        lead = f"{name}: " if name else ""
                        lines.append(f"{lead}{row[start:end]}")
                        offsets.append(size + len(lead))
                        starts.append(at + start)
                        ends.append(at + end)
                        size += len(lines[-1]) + 1
                lines.append("")
                size += 1
        at += len(row) + 1
    return RowText("\n".join(lines), offsets, starts, ends), at


def _cells(row: str, sign: str | None) -> Iterator[tuple[int, int]]:
    if sign is None:
        yield from (cell.span() for cell in _SPACED_CELL.finditer(row))
        return
    body = row.rstrip()
    at = len(row) - len(row.lstrip()) if sign == "|" else 0
    if sign == "|":
        at, body = at + row.startswith("|", at), body.removesuffix("|")
    while at <= len(body):
        cell = _CELLS[sign].match(body, at)
        end = cell.end() if cell else at
        value = body[at:end]
        first, last = at + len(value) - len(value.lstrip()), at + len(value.rstrip())
        if last - first > 1 and body[first] == body[last - 1] == '"':
            first, last = first + 1, last - 1
        yield first, max(first, last)
        at = end + 1
