"""Terminal output: safe text, colours, tables and one-line JSON.

Control characters are escaped or removed, except our own colours.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from scrubjay.config.loader import plain_output
from scrubjay.errors import InputError
from scrubjay.models.records import MARKED_WRONG, UNTRUSTED
from scrubjay.text.display import escape_json, single_line, strip_control

if TYPE_CHECKING:
    from scrubjay.memory import Memory
    from scrubjay.models.records import Record
    from scrubjay.models.results import Result


SYNC_HINT = "scrubjay sync DIR"
BOLD, DIM, MATCH, RED = "1", "2", "1;33", "1;31"
_COLOUR = re.compile(r"(\x1b\[(?:0|1|2|32|33|1;33|1;31)m)")
"""The escape sequences that `paint` writes."""


def missing_memories(memory: Memory) -> str:
    """Return a message that the user has no memories, or an empty text if there are some."""
    status = memory.status()
    user = memory.workspace.scope.user
    return "" if status.memories else f"You have no memories in {status.store} (user {user!r})"


def write(text: str = "") -> None:
    print(_clean(text, sys.stdout))


def write_now() -> None:
    """Flush the output: a pipe would hold the lines of a process that runs for days until they fill a block."""
    sys.stdout.flush()


def write_error(text: str) -> None:
    print(_clean(text, sys.stderr), file=sys.stderr)


def _clean(text: str, stream: TextIO) -> str:
    if not supports_colour(stream):
        return strip_control(text)
    return "".join(part if _COLOUR.fullmatch(part) else strip_control(part) for part in _COLOUR.split(text))


def write_json(payload: Any) -> None:
    """Print a value as one line of JSON; letters stay readable, control characters are escaped."""
    import json

    text = json.dumps(payload, ensure_ascii=False, allow_nan=False)
    print(escape_json(text))


def supports_colour(stream: TextIO) -> bool:
    return stream.isatty() and not plain_output()


def paint(text: str, style: str) -> str:
    """Return a text in a style (one of the constants above); `write` removes it if the stream has no colours."""
    return f"\x1b[{style}m{text}\x1b[0m" if text and style else text


def highlight_matches(text: str, query: str) -> str:
    if not supports_colour(sys.stdout):
        return text
    from scrubjay.text.tokenizer import find_terms, query_groups

    groups = query_groups(query)
    # Short words are nearly always "the", "is" and "of", which would highlight half of the text.
    significant = [group for group in groups if len(group.word) > 3 or not group.word.isascii()] or groups
    forms = {form for group in significant for form in group.forms}
    parts, last = [], 0
    for start, end, _ in find_terms(text, forms):
        if start >= last:
            parts += [text[last:start], paint(text[start:end], MATCH)]
            last = end
    return "".join([*parts, text[last:]])


def indent(text: str, prefix: str = "   ") -> str:
    return "\n".join(f"{prefix}{line}".rstrip() for line in text.split("\n"))


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with aligned columns; cells are cleaned.

    >>> table([("a", "long", "x"), ("bbb", "s", "y")])
    ['a    long  x', 'bbb  s     y']
    """
    safe = [[single_line(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*safe, strict=True)]
    padded = (zip(row, widths, strict=True) for row in safe)
    return ["  ".join(f"{cell:<{width}}" for cell, width in row).rstrip() for row in padded]


def write_table(rows: Sequence[Sequence[str]], prefix: str = "") -> None:
    for line in table(rows):
        write(prefix + line)


def require_terminal(undone: str, hint: str = "add --yes", *, json: bool = False) -> None:
    """Raise `InputError` without a terminal to ask on; ``undone`` is a participle of the action, such as "changed"."""
    if json or not sys.stdin.isatty():
        raise InputError(f"Confirmation needed but stdin is not a terminal. Nothing was {undone}.", hint=hint)


def format_duration(seconds: float) -> str:
    """Return seconds in a readable unit.

    >>> format_duration(0.234), format_duration(42), format_duration(200), format_duration(7300)
    ('0.23 s', '42 s', '3 min 20 s', '2.0 h')
    """
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def format_count(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> format_count(1, "passage"), format_count(1200, "memory")
    ('1 passage', '1,200 memories')
    """
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def state_marks(memory: Result | Record) -> list[str]:
    """Return the words that warn of a memory: not trusted, not active, marked wrong."""
    marks = [UNTRUSTED] if memory.origin == UNTRUSTED else []
    marks += [memory.status] if memory.status != "active" else []
    return marks + ([MARKED_WRONG] if memory.marked_wrong else [])


def snippet_lines(snippet: str, query: str) -> str:
    return indent(highlight_matches(strip_control(snippet).strip("\n"), query))


def result_header(number: int, result: Result, marks: Sequence[str]) -> list[str]:
    """Return the lines above a snippet: title, citation, marks and id."""
    id_mark = [result.id] if result.title else []
    return [
        f"{number}. {paint(single_line(result.title) or result.id, BOLD)}",
        *([indent(single_line(result.citation))] if result.citation != result.id else []),
        indent(paint(single_line(" · ".join([*marks, *id_mark])), DIM)),
    ]
