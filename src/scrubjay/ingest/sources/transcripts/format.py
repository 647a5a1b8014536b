"""Format: what a module must offer to read one tool's logs. It knows no tool, no store and no disk.

How a log becomes turns
    `recognise` asks each format whether it wrote a file. ``Format.rows`` takes the file apart into `Row`s:
    the lines of a log that grows, or the conversations of a file that is written whole. A new `Reader`,
    made for this one reading, is given one row after the other and answers each with what stands on it.
Cursors
    Nothing but the number of bytes read is kept between two syncs. What a reader must know of earlier lines
    (directory, branches, title) it learns again: rows before the cursor are given to it too, and what it
    answers to those is thrown away (`follow`). So a reader answers a row before it sees the next one, and
    what it answers depends on the rows up to there alone: reading a file in two halves then gives what
    reading it at once gives. Of a very large file only the head and the last part before the cursor are
    given again, so a reader must stand a gap.
What a reader leaves out
    A `Left` for everything that is no turn: by rule (a tool's output, a reminder that the program wrote), or
    because the record is of a kind that the reader has never heard of. Neither is an error; both are counted.
Sessions
    A sidechain's is ``<session>/<agent id>``, and what it was asked there was asked by an agent. A branch
    that forks off, since somebody went back and said something else, is ``<session>~<name>`` (`branch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from scrubjay.memory.turns import Turn

HEAD_BYTES = 64 * 1024
"""What `Format.recognise` is shown of a file."""

_BRANCH_NAME = 8  # characters of a random uuid: four billion, of which a session has a dozen


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a log: a JSON object and where it stands.

    Attributes:
        line: Line of the file from 1; of a file without lines, the record's place from 1.
        start: Its first byte in the file.
        end: The first byte after it and its line end. Reading on from here misses and repeats nothing.
        value: The object.
    """

    line: int
    start: int
    end: int
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that cannot be read; the ones after it can.

    Attributes:
        line: As in `Row`.
        start: As in `Row`.
        end: As in `Row`.
        message: What is wrong with it, as the end of a sentence: ``is not UTF-8 (byte 0xe9)``.
    """

    line: int
    start: int
    end: int
    message: str


@dataclass(frozen=True, slots=True)
class Left:
    """Something that was left out, to be counted.

    Attributes:
        kind: Its name in the log or in the reader's rules: ``tool result``, ``system-reminder``.
        unknown: No rule speaks of it: the tool may write something new, so a person is told.
    """

    kind: str
    unknown: bool = False


Found: TypeAlias = Turn | Left
"""What may stand on a row; a row may hold several of them, or nothing."""

Reader: TypeAlias = Callable[[Row], Iterable[Found]]
"""One reading of one file: called with its rows in order. ``Turn.line``, ``start`` and ``end`` are the row's."""


@dataclass(frozen=True, slots=True)
class Format:
    """How one tool writes its logs. A reader's module offers it as ``FORMAT``.

    Attributes:
        name: Of the tool: ``claude-code``. Also the ``agent`` of its turns.
        version: Stamped on documents: ``claude-code 1``. Raised when the same file would give other turns.
        lines: The file grows by whole lines and is read on from a cursor; else it is read whole each time.
        recognise: Called with the file's path (POSIX, absolute) and its first `HEAD_BYTES` bytes; whether
            this tool wrote it. Reads nothing else, and says no in doubt: data must not be taken for a talk.
        rows: Called with the open file and the cursor (0 where ``lines`` is false): its rows.
        reader: Called with a source's root and the file's path in it (POSIX, relative): a new `Reader`.
            Other files are read through `sources.read` alone, which never leaves the root.
    """

    name: str
    version: str
    lines: bool
    recognise: Callable[[str, bytes], bool]
    rows: Callable[[BinaryIO, int], Iterator[Row | Broken]]
    reader: Callable[[Path, str], Reader]


def branch(session: str, first: str) -> str:
    """Return the session of a branch, from the key of the first message on it.

    A number would depend on how many branches were seen before; the key is the same in every copy of the log.

    >>> branch("s1", "0b5e7a90-12ab-4c3d-8e4f-001122334455")
    's1~0b5e7a90'
    """
    return f"{session}~{first[:_BRANCH_NAME]}"
