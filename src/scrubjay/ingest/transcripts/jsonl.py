"""JSON in pieces: the lines of a growing log, or the elements of one large file.

Only the line or element at hand is in memory, and a malformed one costs only itself. A last line without its line end
is read only if it is a whole object: anything else is still being written. Rows before the cursor are replayed: all of
them up to 33 MB, of a larger file those of the first 1 MB and of the last 32 MB. (ijson gives no byte offsets and ends
at the first malformed byte.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, BinaryIO

from scrubjay.ingest.transcripts.base import BYTE_ORDER_MARK, HEAD_BYTES, BrokenRow, LogRow

MAX_LINE_BYTES = 32 * 1024 * 1024
"""A pasted screenshot has 5 MB in base64."""

REPLAY_BYTES = 32 * 1024 * 1024
"""What is read again before the cursor: a quarter of a second of a log with its tools' output (one of words
alone takes ten times that), and more than all but a few logs have."""

HEAD_REPLAY_BYTES = 1024 * 1024

_BLOCK = 1 << 20
_EDGES = b"\0 \t\r\n"  # JSON's white space, and NUL


def read_rows(file: BinaryIO, cursor: int) -> Iterator[LogRow | BrokenRow]:
    """Yield the lines of a log, with those before the cursor that a reader must see again."""
    start, line = 0, 1
    if cursor > HEAD_REPLAY_BYTES + REPLAY_BYTES:
        for row in _rows_from(file, 0, 1):
            if row.end > HEAD_REPLAY_BYTES:
                break
            yield row
        start, line = _line_start(file, cursor - REPLAY_BYTES)
    yield from _rows_from(file, start, line)


@lru_cache(maxsize=2)  # each format reads the same head
def peek_objects(head: bytes) -> tuple[dict[str, Any] | None, ...]:
    r"""Return the objects on the whole lines of a file's first bytes, None for a line that is not one.

    >>> peek_objects(b'{"a": 1}\nnonsense\n{"b"')
    ({'a': 1}, None)
    """
    lines = head.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if len(head) >= HEAD_BYTES or _object(lines[-1]) is None:
        lines.pop()  # cut off, or empty after the last line end
    return tuple(_object(line) for line in lines if line.strip(_EDGES))


def _rows_from(file: BinaryIO, start: int, line: int) -> Iterator[LogRow | BrokenRow]:
    file.seek(start)
    while data := file.readline(MAX_LINE_BYTES + 1):
        complete = data.endswith(b"\n")
        end = start + len(data)
        if not complete and len(data) > MAX_LINE_BYTES:
            end, complete = _line_end(file, end)
            if not complete:
                return
            message = f"has {end - start:,} bytes, more than the {MAX_LINE_BYTES:,} that are read"
            yield BrokenRow(line, start, end, message)
        else:
            found = _row(data.removeprefix(BYTE_ORDER_MARK) if start == 0 else data, line, start, end)
            if not complete and not isinstance(found, LogRow):
                return
            if found is not None:
                yield found
        start, line = end, line + 1


def _row(data: bytes, line: int, start: int, end: int) -> LogRow | BrokenRow | None:
    data = data.strip(_EDGES)
    return _parsed(data, line, start, end) if data else None


def _parsed(data: bytes, line: int, start: int, end: int) -> LogRow | BrokenRow:
    try:
        value = json.loads(data.decode())
    except UnicodeDecodeError as error:
        return BrokenRow(line, start, end, f"is not UTF-8 (byte 0x{data[error.start]:02x})")
    except json.JSONDecodeError as error:
        return BrokenRow(line, start, end, f"is not JSON ({error.msg} at character {error.pos + 1})")
    except ValueError:
        return BrokenRow(line, start, end, "holds a number with more digits than are read")
    except RecursionError:
        return BrokenRow(line, start, end, "is nested too deep")
    if not isinstance(value, dict):
        return BrokenRow(line, start, end, "is not a JSON object")
    return LogRow(line, start, end, value)


def _object(data: bytes) -> dict[str, Any] | None:
    found = _row(data, 1, 0, 0)
    return found.value if isinstance(found, LogRow) else None


def _line_end(file: BinaryIO, position: int) -> tuple[int, bool]:
    while data := file.readline(_BLOCK):
        position += len(data)
        if data.endswith(b"\n"):
            return position, True
    return position, False


def _line_start(file: BinaryIO, place: int) -> tuple[int, int]:
    file.seek(0)
    line, position = 1, 0
    while position < place - 1:
        block = file.read(min(_BLOCK, place - 1 - position))
        if not block:
            break
        line += block.count(b"\n")
        position += len(block)
    # Start at the byte before: if that is a line end, a line starts at the place itself.
    position, _ = _line_end(file, position)
    return position, line + 1


# A long conversation with its tool results has a few megabytes; parsed it takes several times that.
MAX_ELEMENT_BYTES = 64 * 1024 * 1024

_STREAM_BLOCK = 1 << 18
_GAP = re.compile(rb"[\s,]*")
# Whole strings and everything else but brackets; possessive, so that time is linear.
_RUN = re.compile(rb'(?>(?:[^"{}\[\]]++|"(?>(?:[^"\\]++|\\.)*)")*)', re.DOTALL)
_IN_STRING = re.compile(rb"(?>(?:[^\"\\]++|\\.)*)", re.DOTALL)
_SCALAR = re.compile(rb'(?>(?:[^",{}\[\]\s]++|"(?>(?:[^"\\]++|\\.)*)")+)', re.DOTALL)


def read_elements(
    file: BinaryIO, cursor: int = 0, most: int = MAX_ELEMENT_BYTES
) -> Iterator[LogRow | BrokenRow]:
    """Yield a file's top-level elements; ``line`` is an element's place from 1.

    An element that is too large, cut off, malformed or not an object is a `BrokenRow`. A top-level object is one
    element. ``cursor`` is ignored: such files are rewritten whole.
    """
    for place, (start, end, data, message) in enumerate(_ElementSplitter(file, most).spans(), 1):
        yield BrokenRow(place, start, end, message) if message else _parsed(data, place, start, end)


@dataclass(slots=True)
class _ElementSplitter:
    """``at`` is a position in ``held``, which begins at byte ``base``."""

    file: BinaryIO
    most: int
    held: bytearray = field(default_factory=bytearray)
    base: int = 0
    at: int = 0
    torn: bool = False

    def spans(self) -> Iterator[tuple[int, int, bytes, str]]:
        """Yield first byte, byte after it, bytes, and what is wrong (then without bytes)."""
        self._more()
        if self.held.startswith(BYTE_ORDER_MARK):
            self.at = len(BYTE_ORDER_MARK)
        first = self._next()
        if first == b"{":
            yield self._element()
            return
        if first != b"[":
            if first:
                yield (
                    self._here(),
                    self._here() + 1,
                    b"",
                    f"begins with {first!r}, which begins no JSON record",
                )
            return
        self.at += 1
        while (sign := self._next()) not in (b"]", b""):
            yield self._element() if sign in (b"{", b"[") else self._scalar()
        if not sign and not self.torn:
            yield self._here(), self._here(), b"", "is missing: the file ends within its array"

    def _here(self) -> int:
        return self.base + self.at

    def _more(self) -> bool:
        block = self.file.read(_STREAM_BLOCK)
        self.held += block
        return bool(block)

    def _drop(self) -> None:
        self.base += self.at
        del self.held[: self.at]
        self.at = 0

    def _next(self) -> bytes:
        while True:
            found = _GAP.match(self.held, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.held):
                return bytes(self.held[self.at : self.at + 1])
            self._drop()
            if not self._more():
                return b""

    def _scalar(self) -> tuple[int, int, bytes, str]:
        start = self._here()
        while True:
            found = _SCALAR.match(self.held, self.at)
            # An open quote or a stray bracket is skipped byte by byte.
            self.at = found.end() if found else self.at + 1
            if self.at < len(self.held):
                return start, self._here(), b"", "is not a JSON object"
            self._drop()
            if not self._more():
                return start, self._here(), b"", "is not a JSON object"

    def _element(self) -> tuple[int, int, bytes, str]:
        self._drop()
        start, depth, quoted, large = self.base, 0, False, False
        while True:
            depth, quoted = self._scan(depth, quoted)
            if depth == 0 and not quoted and self.at:
                break
            if large or len(self.held) > self.most:
                large = True
                self._drop()
            if not self._more():
                self.at, self.torn = len(self.held), True
                return start, self._here(), b"", "is cut off: the file ends within it"
        end = self._here()
        if large or end - start > self.most:
            return start, end, b"", f"has {end - start:,} bytes, more than the {self.most:,} that are read"
        return start, end, bytes(self.held[: self.at]), ""

    def _scan(self, depth: int, quoted: bool) -> tuple[int, bool]:
        """Go on to the end of the element or of the buffer; return the depth there and whether inside a string."""
        buffer, at, size = self.held, self.at, len(self.held)
        while at < size:
            if quoted:
                found = _IN_STRING.match(buffer, at)
                at = found.end() if found else at
                if at >= size or buffer[at] == 0x5C:  # an escape at the end of the buffer
                    break
                at, quoted = at + 1, False
            found = _RUN.match(buffer, at)
            at = found.end() if found else at
            if at >= size:
                break
            sign = buffer[at]
            at += 1
            if sign == 0x22:  # a string that goes on after the buffer
                quoted = True
            elif sign in b"{[":
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    break
        self.at = at
        return depth, quoted
