r"""Stream: open file -> Row | Broken, one top-level element of a JSON file at a time.

For exports that are one array of conversations and may have a gigabyte. Strings, escapes and the depth of
brackets are followed over blocks, so that only the element at hand is in memory; it is then parsed on its own,
which is why a torn or malformed one costs itself and not the rest. A file whose top level is an object is one
element. It knows no tool.

Why not ijson, the library for this: it gives values as they are parsed but not the bytes they stand on, which
a turn's place is made of, and it ends at the first malformed byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from scrubjay.ingest.sources.transcripts.format import Broken, Row

# A conversation of a whole book with its tool results has a few megabytes; parsed it takes some times that.
MOST_ELEMENT_BYTES = 64 * 1024 * 1024

_BLOCK = 1 << 18
_BOM = b"\xef\xbb\xbf"
_GAP = re.compile(rb"[\s,]*")
# What moves no bracket: whole strings and everything between them. Possessive, so a long run costs its length.
_RUN = re.compile(rb'(?>(?:[^"{}\[\]]++|"(?>(?:[^"\\]++|\\.)*)")*)', re.DOTALL)
_IN_STRING = re.compile(rb"(?>(?:[^\"\\]++|\\.)*)", re.DOTALL)
_SCALAR = re.compile(rb'(?>(?:[^",{}\[\]\s]++|"(?>(?:[^"\\]++|\\.)*)")+)', re.DOTALL)


def elements(file: BinaryIO, cursor: int = 0, most: int = MOST_ELEMENT_BYTES) -> Iterator[Row | Broken]:
    """Yield the file's top-level elements; ``line`` is an element's place from 1.

    An element that is too large, cut off, malformed or no object comes as `Broken`; the ones after it follow.

    Args:
        file: Opened for reading bytes, at its start.
        cursor: Not read: such a file is written whole each time.
        most: Bytes of an element above which it is passed over.
    """
    for place, (start, end, data, message) in enumerate(_Split(file, most).spans(), 1):
        yield Broken(place, start, end, message) if message else _parsed(place, start, end, data)


def _parsed(place: int, start: int, end: int, data: bytes) -> Row | Broken:
    try:
        value = json.loads(data)
    except RecursionError:
        return Broken(place, start, end, "is nested too deeply")
    except UnicodeDecodeError as error:
        return Broken(place, start, end, f"is not UTF-8 (byte {data[error.start]:#04x})")
    except ValueError as error:
        return Broken(place, start, end, f"is not JSON ({str(error)[:80]})")
    if isinstance(value, dict):
        return Row(place, start, end, value)
    return Broken(place, start, end, "is not an object")


@dataclass(slots=True)
class _Split:
    """Where the elements begin and end: ``at`` is a position in ``held``, which begins at byte ``base``."""

    file: BinaryIO
    most: int
    held: bytearray = field(default_factory=bytearray)
    base: int = 0
    at: int = 0
    torn: bool = False

    def spans(self) -> Iterator[tuple[int, int, bytes, str]]:
        """Yield (first byte, byte after it, bytes, what is wrong); the bytes are empty where something is."""
        self._more()
        if self.held.startswith(_BOM):
            self.at = len(_BOM)
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
        """Read a block on, after dropping what was passed."""
        block = self.file.read(_BLOCK)
        self.held += block
        return bool(block)

    def _drop(self) -> None:
        self.base += self.at
        del self.held[: self.at]
        self.at = 0

    def _next(self) -> bytes:
        """Pass gaps; the byte that follows, or nothing at the end of the file."""
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
            # A quote that does not end, or a bracket that closes nothing, is passed byte by byte.
            self.at = found.end() if found else self.at + 1
            if self.at < len(self.held):
                return start, self._here(), b"", "is not an object"
            self._drop()
            if not self._more():
                return start, self._here(), b"", "is not an object"

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
        """Go on to the end of the element or of what is held; the depth there, and whether within a string."""
        held, at, size = self.held, self.at, len(self.held)
        while at < size:
            if quoted:
                found = _IN_STRING.match(held, at)
                at = found.end() if found else at
                if at >= size or held[at] == 0x5C:  # an escape whose second byte is not here yet
                    break
                at, quoted = at + 1, False
            found = _RUN.match(held, at)
            at = found.end() if found else at
            if at >= size:
                break
            sign = held[at]
            at += 1
            if sign == 0x22:  # a string that does not end in what is held
                quoted = True
            elif sign in b"{[":
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    break
        self.at = at
        return depth, quoted
