"""Read: a file -> Header, then its lines with their numbers. Whole, unchanged and of this version, or refused.

The file is read through once before anything is taken from it: its last line tells how many lines stand above and
what they hash to, so a file that was cut short or edited is known before the first memory is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest.porting.fields import Fields
from scrubjay.ingest.porting.layout import FORMAT, LINES, MOST_LINE, VERSION
from scrubjay.memory.records import Versions

UNTOUCHED: Final = "Nothing was imported."
AGAIN: Final = "export it again, with `scrubjay export`"


@dataclass(frozen=True, slots=True)
class Header:
    """What the first line says.

    Attributes:
        store: What tells the principal's store that it came from.
        versions: Versions of the stages that made its memories, or None.
        lines: Lines in all, the header and the footer included.
        memories: Memories that follow.
    """

    store: str
    versions: Versions | None
    lines: int
    memories: int


def check(file: Path) -> Header:
    """Read a file through and return its header.

    Raises:
        SourceError: It cannot be read.
        InputError: It is no export, is cut short, was changed, has too long a line, or is of a later version.
    """
    digest, number, last, header = hashlib.sha256(), 0, b"", None
    with opened(file) as stream:
        for number, line in _raw(file, stream):
            if number == 1:
                header = _header(file, line)
            else:
                digest.update(last)
            last = line
    if header is None:
        raise InputError(f"{file} is empty. {UNTOUCHED}", hint=AGAIN)
    footer = Fields(_footer(file, number, last))
    lines, found = footer.number("lines", least=2), digest.hexdigest()
    if lines != number or footer.text("sha256") != found:
        raise InputError(
            f"{file} is not as it was written: its last line tells of {lines:,} lines with the hash "
            f"{footer.text('sha256')[:12]}…; there are {number:,} with {found[:12]}…. {UNTOUCHED}",
            hint=AGAIN,
        )
    return Header(header.store, header.versions, lines, footer.counts("counts").get("memory", 0))


def lines(file: Path) -> Iterator[tuple[int, str, Fields]]:
    """Yield number, kind and fields of every line between header and footer.

    Raises:
        InputError: A line is none of an export.
    """
    with opened(file) as stream:
        for number, raw in _raw(file, stream):
            given = _object(file, number, raw)
            kind = given.get("line")
            if kind not in LINES:
                raise InputError(f"Line {number:,} of {file} holds {kind!r}, which no export has.")
            if kind not in ("header", "footer"):
                yield number, kind, Fields(given)


def opened(file: Path) -> BinaryIO:
    """Open a file to be imported.

    Raises:
        SourceError: It cannot be read.
    """
    try:
        return file.open("rb")
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}. {UNTOUCHED}") from error


def is_export(first: bytes) -> bool:
    """Tell whether a file whose first line this is calls itself an export."""
    return f'"{FORMAT}"'.encode() in first[:200]


def _raw(file: Path, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        while line := stream.readline(MOST_LINE + 1):
            number += 1
            if len(line) > MOST_LINE:
                raise InputError(
                    f"Line {number:,} of {file} is longer than {MOST_LINE:,} bytes. {UNTOUCHED}", hint=AGAIN
                )
            yield number, line
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}. {UNTOUCHED}") from error


def _object(file: Path, number: int, raw: bytes) -> dict[str, Any]:
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError(f"Line {number:,} of {file} is not JSON: {error}.", hint=AGAIN) from error
    if not isinstance(given, dict):
        raise InputError(f"Line {number:,} of {file} is no JSON object.", hint=AGAIN)
    return given


def _header(file: Path, raw: bytes) -> Header:
    given = Fields(_object(file, 1, raw.removeprefix(b"\xef\xbb\xbf")))
    if given.text("format", "") != FORMAT:
        raise InputError(f"{file} is no export of scrubjay. {UNTOUCHED}")
    version = given.number("version")
    if version != VERSION:
        raise InputError(
            f"{file} has version {version} of the format ({given.text('made_by', 'unknown')}); this scrubjay "
            f"reads {VERSION}. {UNTOUCHED}",
            hint="upgrade scrubjay, or export it again with this version",
        )
    inner = given.inner("versions")
    names = ("chunker", "tokenizer", "scrubber", "extractor", "labeller")
    stamped = None if inner is None else Versions(*(inner.text(name) for name in names))
    return Header(given.text("store"), stamped, 0, 0)


def _footer(file: Path, number: int, raw: bytes) -> dict[str, Any]:
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or given.get("line") != "footer":
        raise InputError(
            f"{file} was cut short: line {number:,}, its last, is not the footer of an export. {UNTOUCHED}",
            hint=AGAIN,
        )
    return given
