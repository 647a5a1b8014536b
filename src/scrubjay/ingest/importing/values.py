"""Values: files of other tools -> JSON values, dates and names of which nothing is sure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest.sources.transcripts.fields import array, at, string
from scrubjay.memory.dates import moment
from scrubjay.memory.moves import Broken

MOST_LINE: Final = 64 * 1024 * 1024
"""Bytes of a line, as of an export of ours."""
MOST_FILE: Final = 256 * 1024 * 1024
"""Bytes of a file that is one JSON value: it is parsed whole, and takes some times that."""
MARK: Final = b"\xef\xbb\xbf"
UNTOUCHED: Final = "Nothing was imported."


def lines(file: Path) -> Iterator[tuple[str, dict[str, Any]] | Broken]:
    """Yield the objects of a JSONL file with where they stand, and what is none; byte order mark and CRLF are fine.

    Raises:
        SourceError: The file cannot be read.
    """
    try:
        with file.open("rb") as stream:
            number = 0
            while raw := stream.readline(MOST_LINE + 1):
                number += 1
                where = f"line {number:,}"
                if len(raw) > MOST_LINE:
                    while not raw.endswith(b"\n") and raw:
                        raw = stream.readline(MOST_LINE + 1)
                    yield Broken(where, f"it is longer than {MOST_LINE:,} bytes")
                    continue
                raw = raw.removeprefix(MARK) if number == 1 else raw
                if raw.strip():
                    yield _object(where, raw)
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}. {UNTOUCHED}") from error


def _object(where: str, raw: bytes) -> tuple[str, dict[str, Any]] | Broken:
    try:
        value = json.loads(raw)
    except UnicodeDecodeError as error:
        return Broken(where, f"it is not UTF-8 at byte {error.start}")
    except (ValueError, RecursionError) as error:
        return Broken(where, f"it is not JSON: {str(error)[:100]}")
    return (where, value) if isinstance(value, dict) else Broken(where, "it is no JSON object")


def whole(file: Path) -> Any:
    """Return the one JSON value of a file.

    Raises:
        SourceError: The file cannot be read.
        InputError: It is too large, or not JSON; the line is named.
    """
    try:
        size = file.stat().st_size
        data = b"" if size > MOST_FILE else file.read_bytes()
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}. {UNTOUCHED}") from error
    if size > MOST_FILE:
        raise InputError(
            f"{file} has {size:,} bytes in one JSON value; at most {MOST_FILE:,} are read. {UNTOUCHED}",
            hint="export it in parts, or as JSONL: docs/import.md",
        )
    try:
        return json.loads(data.removeprefix(MARK))
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 at byte {error.start}. {UNTOUCHED}") from error
    except RecursionError as error:
        raise InputError(f"{file} is nested too deeply to be read. {UNTOUCHED}") from error
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        raise InputError(
            f"{file} is not JSON: {error} (line {line}). {UNTOUCHED}", hint="it may have been cut short"
        ) from error


def date(value: object) -> str | None:
    """Return a time as ISO text, from ISO text or a number since 1970; None where it is none.

    >>> date("2026-03-01T10:00:00.5Z"), date("soon"), date(None)
    ('2026-03-01T10:00:00.500000+00:00', None, None)
    """
    found = at(value)
    return None if found is None else moment(found).isoformat()


def texts(value: object) -> list[str]:
    """Return the texts of a list, or a text alone, without blank ones.

    >>> texts(["a", 7, " "]), texts("a"), texts(None)
    (['a'], ['a'], [])
    """
    found = [value] if isinstance(value, str) else map(string, array(value))
    return [one for one in found if one.strip()]


def spoken(name: str) -> str:
    """Return a name as people write it.

    >>> spoken("John_Smith"), spoken("works_at")
    ('John Smith', 'works at')
    """
    return " ".join(name.replace("_", " ").split())


def sentence(src: str, verb: str, dst: str) -> str:
    """Return a relation as a sentence.

    >>> sentence("John_Smith", "works_at", "Anthropic")
    'John Smith works at Anthropic.'
    """
    return f"{spoken(src)} {spoken(verb)} {spoken(dst)}."
