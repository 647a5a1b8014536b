"""Output: text and values -> what is safe and pleasant to see in a terminal, or one line of JSON.

A memory's words are data, and go through `text.display` wherever they are shown; besides, whatever is printed keeps no
control but our own colours. A pipe gets the text that a terminal does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from scrubjay.config import plain_output
from scrubjay.text.display import clean as clean
from scrubjay.text.display import escaped
from scrubjay.text.display import line as line

if TYPE_CHECKING:
    from scrubjay.memory.answers import Result

BOLD, DIM, MATCH, RED = "1", "2", "1;33", "1;31"
_COLOUR = re.compile(r"(\x1b\[(?:0|1|2|32|33|1;33|1;31)m)")
"""The colours that commands paint with, and their end."""


def write(text: str = "") -> None:
    """Print to standard output."""
    print(_safe(text, sys.stdout))


def tell(text: str) -> None:
    """Print to standard error, where news that is no answer goes."""
    print(_safe(text, sys.stderr), file=sys.stderr)


def _safe(text: str, stream: TextIO) -> str:
    if not colourful(stream):
        return clean(text)
    return "".join(each if _COLOUR.fullmatch(each) else clean(each) for each in _COLOUR.split(text))


def write_json(payload: Any) -> None:
    """Print a value as one line of JSON.

    Letters of every script stay readable; whatever a terminal might obey is an escape.
    """
    import json

    text = json.dumps(payload, ensure_ascii=False, allow_nan=False)
    print(escaped(text))


def colourful(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that may be sent colours."""
    return stream.isatty() and not plain_output()


def paint(text: str, style: str, *, on: bool) -> str:
    """Return a text in a style (one of the constants above), or as it is."""
    return f"\x1b[{style}m{text}\x1b[0m" if on and text else text


def emphasised(text: str, query: str, *, on: bool) -> str:
    """Return a cleaned text with the words that match a query in colour."""
    if not on:
        return text
    from scrubjay.text.tokens import find, groups

    asked = groups(query)
    # Short words are nearly always "the", "is" and "of"; they light up half of the text.
    kept = [group for group in asked if len(group.word) > 3 or not group.word.isascii()] or asked
    wanted = {form for group in kept for form in group.forms}
    parts, last = [], 0
    for start, end, _ in find(text, wanted):
        if start >= last:
            parts += [text[last:start], paint(text[start:end], MATCH, on=True)]
            last = end
    return "".join([*parts, text[last:]])


def indent(text: str, by: str = "   ") -> str:
    """Return a text with every line moved in."""
    return "\n".join(f"{by}{each}".rstrip() for each in text.split("\n"))


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines whose columns stand under one another; cells are cleaned.

    >>> table([("a", "long", "x"), ("bbb", "s", "y")])
    ['a    long  x', 'bbb  s     y']
    """
    safe = [[line(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*safe, strict=True)]
    padded = (zip(row, widths, strict=True) for row in safe)
    return ["  ".join(f"{cell:<{width}}" for cell, width in row).rstrip() for row in padded]


def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> duration(0.234), duration(42), duration(200), duration(7300)
    ('0.23 s', '42 s', '3 min', '2.0 h')
    """
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def counted(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> counted(1, "passage"), counted(1200, "memory")
    ('1 passage', '1,200 memories')
    """
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def headed(number: int, result: Result, marks: Sequence[str], *, on: bool) -> list[str]:
    """Return the lines above a snippet: what it is called, where it stands, what is known of it; its id once."""
    titled = [result.id] if result.title else []
    return [
        f"{number}. {paint(line(result.title) or result.id, BOLD, on=on)}",
        *([indent(line(result.citation))] if result.citation != result.id else []),
        indent(paint(line(" · ".join([*marks, *titled])), DIM, on=on)),
    ]
