r"""JSONL: (open file, cursor) -> Iterator[Row | Broken].

One line is in memory at a time, whatever the size of the file. A line that cannot be read is told and passed
over; the ones after it are read as if it were not there.

Line ends
    ``\n``; a ``\r`` before it, a byte order mark at the start of the file, and NUL bytes around a line (what a
    crash leaves on some file systems) belong to no line. Empty lines are none.
The last line
    Without its line end it is read only if it is a whole object, for a closed object can grow no more; its
    ``end`` is then the end of the file. Anything else is being written: it is neither read nor told, and the
    cursor stands before it until it is whole.
Again from the cursor
    Rows before the cursor are given too, so that a reader learns what it must know (`format`): all of them up
    to a cursor of 33 MB, of a larger file those of the first 1 MB and of the last 32 MB before the cursor. The
    bytes between are only searched for line ends, so line numbers are right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, BinaryIO

from scrubjay.ingest.sources.transcripts.format import HEAD_BYTES, Broken, Row

MOST_LINE_BYTES = 32 * 1024 * 1024
"""A pasted screenshot has 5 MB in base64, and no message that was typed comes near."""

REPLAY_BYTES = 32 * 1024 * 1024
"""What is read again before the cursor: a quarter of a second of a log with its tools' output (one of words
alone takes ten times that), and more than all but a few logs have."""

HEAD_REPLAY_BYTES = 1024 * 1024
"""Where a log says what it is about: its first lines."""

_BLOCK = 1 << 20
_MARK = b"\xef\xbb\xbf"
_EDGES = b"\0 \t\r\n"  # JSON's white space, and NUL


def rows(file: BinaryIO, cursor: int) -> Iterator[Row | Broken]:
    """Read the lines of a log, with those before the cursor that a reader must see again.

    Args:
        file: Open for reading bytes, buffered, and seekable.
        cursor: Where an earlier reading ended: the ``end`` of its last row, or 0.
    """
    start, line = 0, 1
    if cursor > HEAD_REPLAY_BYTES + REPLAY_BYTES:
        for row in _from(file, 0, 1):
            if row.end > HEAD_REPLAY_BYTES:
                break
            yield row
        start, line = _line_start(file, cursor - REPLAY_BYTES)
    yield from _from(file, start, line)


@lru_cache(maxsize=2)  # every format asks of the same head
def peek(head: bytes) -> tuple[dict[str, Any] | None, ...]:
    r"""Return the objects on the whole lines of a file's first bytes, with None for a line that is none.

    >>> peek(b'{"a": 1}\nnonsense\n{"b"')
    ({'a': 1}, None)
    """
    lines = head.removeprefix(_MARK).split(b"\n")
    if len(head) >= HEAD_BYTES or _object(lines[-1]) is None:
        lines.pop()  # cut off, or empty after the last line end
    return tuple(_object(line) for line in lines if line.strip(_EDGES))


def _from(file: BinaryIO, start: int, line: int) -> Iterator[Row | Broken]:
    """Rows from the start of a line on."""
    file.seek(start)
    while data := file.readline(MOST_LINE_BYTES + 1):
        whole = data.endswith(b"\n")
        end = start + len(data)
        if not whole and len(data) > MOST_LINE_BYTES:
            end, whole = _line_end(file, end)
            if not whole:
                return
            message = f"has {end - start:,} bytes, more than the {MOST_LINE_BYTES:,} that are read"
            yield Broken(line, start, end, message)
        else:
            found = _row(data.removeprefix(_MARK) if start == 0 else data, line, start, end)
            if not whole and not isinstance(found, Row):
                return
            if found is not None:
                yield found
        start, line = end, line + 1


def _row(data: bytes, line: int, start: int, end: int) -> Row | Broken | None:
    """What stands on a line, or nothing on an empty one."""
    data = data.strip(_EDGES)
    if not data:
        return None
    try:
        value = json.loads(data.decode())
    except UnicodeDecodeError as error:
        return Broken(line, start, end, f"is not UTF-8 (byte 0x{data[error.start]:02x})")
    except json.JSONDecodeError as error:
        return Broken(line, start, end, f"is not JSON ({error.msg} at character {error.pos + 1})")
    except ValueError:
        return Broken(line, start, end, "holds a number with more digits than are read")
    except RecursionError:
        return Broken(line, start, end, "is nested too deep")
    if not isinstance(value, dict):
        return Broken(line, start, end, "is not a JSON object")
    return Row(line, start, end, value)


def _object(data: bytes) -> dict[str, Any] | None:
    found = _row(data, 1, 0, 0)
    return found.value if isinstance(found, Row) else None


def _line_end(file: BinaryIO, position: int) -> tuple[int, bool]:
    """Where the line ends that goes on here, and whether it does end."""
    while data := file.readline(_BLOCK):
        position += len(data)
        if data.endswith(b"\n"):
            return position, True
    return position, False


def _line_start(file: BinaryIO, place: int) -> tuple[int, int]:
    """Start and number of the first line that starts at a place or after it."""
    file.seek(0)
    line, position = 1, 0
    while position < place - 1:
        block = file.read(min(_BLOCK, place - 1 - position))
        if not block:
            break
        line += block.count(b"\n")
        position += len(block)
    # From the byte before the place: if that is a line end, the line starts at the place itself.
    position, _ = _line_end(file, position)
    return position, line + 1
