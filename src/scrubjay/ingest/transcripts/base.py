"""Transcript formats: what a reader offers, and helpers that the readers share.

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

A log is written by many versions of a program, by forks of it and by people who edit files. So a field that
has another type than it should is taken as not there, and never an error.

Agents put their own words into a person's message, as ``<system-reminder>…</system-reminder>``. Only whole
pairs are taken out: somebody who writes about such a tag without closing it loses nothing.

A conversation in which somebody went back and said something else is a tree. The path from the root to the
leaf that the tool shows is the session itself; every other path is a session of its own that begins where it
leaves (`format.branch`), so no message is lost and none is there twice. For files that are read whole; a log
that grows knows no leaf yet.

A log is a tree: going back and saying something else hangs a second branch on an older record. The rule, in
one pass and with bounded memory:

    A person's message begins a branch if its parent was already carried on, that is, if a turn was taken that
    descends from the parent. Any other record is on the branch of its parent.

Only a person's message can begin one, for tools that run side by side give one record several children too.
A parent that is not among the last 10,000 records is not known, and its child is on the main branch.

As `sources.read` it never leaves the source: a folder that lies elsewhere, by a link or by dots, is as empty.

A talk grows by a line every few seconds; reading it at each would write one memory at a time. Whoever asks
for it (`sync`, the end of a session) reads it without asking here.
"""

from __future__ import annotations

import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2s
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from scrubjay.ingest.files import is_within
from scrubjay.models.dates import DAY, SECOND, micros
from scrubjay.models.records import Turn

HEAD_BYTES = 64 * 1024
"""What `TranscriptFormat.recognise` is shown of a file."""

_BRANCH_NAME = 8  # characters of a random uuid: four billion, of which a session has a dozen


@dataclass(frozen=True, slots=True)
class LogRow:
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
class BrokenRow:
    """A record that cannot be read; the ones after it can.

    Attributes:
        line: As in `LogRow`.
        start: As in `LogRow`.
        end: As in `LogRow`.
        message: What is wrong with it, as the end of a sentence: ``is not UTF-8 (byte 0xe9)``.
    """

    line: int
    start: int
    end: int
    message: str


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """Something that was left out, to be counted.

    Attributes:
        kind: Its name in the log or in the reader's rules: ``tool result``, ``system-reminder``.
        unknown: No rule speaks of it: the tool may write something new, so a person is told.
    """

    kind: str
    unknown: bool = False


ReaderItem: TypeAlias = Turn | SkippedItem
"""What may stand on a row; a row may hold several of them, or nothing."""

TranscriptReader: TypeAlias = Callable[[LogRow], Iterable[ReaderItem]]
"""One reading of one file: called with its rows in order. ``Turn.line``, ``start`` and ``end`` are the row's."""


@dataclass(frozen=True, slots=True)
class TranscriptFormat:
    """How one tool writes its logs. A reader's module offers it as ``FORMAT``.

    Attributes:
        name: Of the tool: ``claude-code``. Also the ``agent`` of its turns.
        version: Stamped on documents: ``claude-code 1``. Raised when the same file would give other turns.
        lines: The file grows by whole lines and is read on from a cursor; else it is read whole each time.
        recognise: Called with the file's path (POSIX, absolute) and its first `HEAD_BYTES` bytes; whether
            this tool wrote it. Reads nothing else, and says no in doubt: data must not be taken for a talk.
        rows: Called with the open file and the cursor (0 where ``lines`` is false): its rows.
        reader: Called with a source's root and the file's path in it (POSIX, relative): a new `TranscriptReader`.
            Other files are read through `sources.read` alone, which never leaves the root.
    """

    name: str
    version: str
    lines: bool
    recognise: Callable[[str, bytes], bool]
    rows: Callable[[BinaryIO, int], Iterator[LogRow | BrokenRow]]
    reader: Callable[[Path, str], TranscriptReader]


def branch_session(session: str, first: str) -> str:
    """Return the session of a branch, from the key of the first message on it.

    A number would depend on how many branches were seen before; the key is the same in every copy of the log.

    >>> branch_session("s1", "0b5e7a90-12ab-4c3d-8e4f-001122334455")
    's1~0b5e7a90'
    """
    return f"{session}~{first[:_BRANCH_NAME]}"


# No tool whose logs are read is older. What lies before is a clock that was never set: year 1, 1970.
_EARLIEST = micros(datetime(2000, 1, 1, tzinfo=UTC))
# Clocks of two machines differ by less; what lies further ahead was not said then.
_AHEAD = DAY
# Seconds of the year 5138, so that a larger number counts in thousandths; the same again for millionths.
_MOST_SECONDS = 1e11
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def as_string(value: object) -> str:
    """Return the value where it is text, else nothing.

    >>> as_string("main"), as_string(7), as_string(None)
    ('main', '', '')
    """
    return value if isinstance(value, str) else ""


def as_object(value: object) -> dict[str, Any]:
    """Return the value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_array(value: object) -> list[Any]:
    """Return the value where it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def joined_text(parts: Iterable[str]) -> str:
    r"""Return the parts that hold words, joined by blank lines; nothing else of them changes.

    >>> joined_text(["one\n", "  ", "    two"])
    'one\n\n    two'
    """
    return "\n\n".join(part.strip("\r\n").rstrip() for part in parts if part and not part.isspace())


def text_digest(*texts: str) -> str:
    """Return 16 hexadecimal characters that stand for the texts, to make the key of a turn without an id.

    >>> text_digest("user", "yes") == text_digest("user", "yes") != text_digest("use", "ryes")
    True
    """
    return blake2s("\0".join(texts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def storable_text(text: str) -> str:
    r"""Return the text with U+FFFD for what no file and no database takes: NUL and half surrogate pairs.

    >>> storable_text("a\0b"), storable_text("whole")
    ('a\ufffdb', 'whole')
    """
    return _UNSTORABLE.sub("\ufffd", text)


def as_micros(value: object) -> int | None:
    """Return UTC microseconds of ISO text or of seconds, milliseconds, micro- or nanoseconds since 1970.

    Text without a zone is UTC, so that a log means the same on every machine. None for what is no time, what
    lies before 2000 and what lies more than a day ahead.

    >>> as_micros("2026-03-01T10:00:00.5Z") == as_micros(1772359200.5) == as_micros(1772359200500)
    True
    >>> as_micros("0001-01-01T00:00:00Z"), as_micros("2999-01-01"), as_micros("soon"), as_micros(True)
    (None, None, None, None)
    """
    found = _number(value) if isinstance(value, int | float) else _iso(as_string(value))
    if found is None or not _EARLIEST <= found <= time.time() * SECOND + _AHEAD:
        return None
    return found


def _iso(text: str) -> int | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _number(value: float) -> int | None:
    # Above the last power no time is left; NaN is in no range.
    if isinstance(value, bool) or not 0 < value < _MOST_SECONDS * 1_000_000_000:
        return None
    while value >= _MOST_SECONDS:
        value /= 1000
    return round(value * SECOND)


def strip_tags(text: str, names: frozenset[str]) -> str:
    """Return the text without the pairs of tags of these names and what stands in them.

    >>> strip_tags("<note>kept</note> so <hook a=1>gone</hook> far", frozenset({"hook"}))
    '<note>kept</note> so  far'
    """
    if "<" not in text:
        return text
    kept, position = [], 0
    open_only: set[str] = set()  # never closed after this place: looking again would take quadratic time
    for match in _opening(names).finditer(text):
        name = match[1]
        if match.start() < position or name in open_only:
            continue
        end = text.find(f"</{name}>", match.end())
        if end < 0:
            open_only.add(name)
            continue
        kept.append(text[position : match.start()])
        position = end + len(name) + 3
    return "".join([*kept, text[position:]])


@lru_cache(maxsize=8)
def _opening(names: Collection[str]) -> re.Pattern[str]:
    return re.compile(f"<({'|'.join(re.escape(name) for name in sorted(names))})(?: [^<>]*)?>")


def message_paths(parents: Mapping[str, str], leaf: str, session: str) -> list[tuple[str, list[str]]]:
    """Return each session with its messages in the order they were said, the main one first.

    Args:
        parents: Of each message, by key and in the order of the file; "" or a key that is not there is none.
            Parents may go in circles: a circle is cut where it was entered.
        leaf: The last message that the tool shows; one that is not there means the last of the file.
        session: The name of the main session.

    >>> message_paths({"a": "", "b": "a", "c": "a", "d": "c"}, "b", "s")
    [('s', ['a', 'b']), ('s~c', ['c', 'd'])]
    """
    if not parents:
        return []
    main = leaf if leaf in parents else next(reversed(list(parents)))
    placed: dict[str, int] = {}
    found: list[tuple[str, list[str]]] = []
    for end in (main, *parents):
        chain: dict[str, None] = {}
        at = end
        while at in parents and at not in placed and at not in chain:
            chain[at] = None
            at = parents[at]
        if not chain:
            continue
        keys = list(reversed(chain))
        place = placed.get(at, len(found))
        # A path goes on where it stopped, unless another went on there already, or it is the main one.
        if not 0 < place < len(found) or found[place][1][-1] != at:
            place = len(found)
            found.append((branch_session(session, keys[0]) if found else session, []))
        found[place][1].extend(keys)
        placed.update(dict.fromkeys(keys, place))
    return found


MAX_TRACKED_RECORDS = 10_000
"""How far back somebody goes to say it differently: a day of talk. About 3 MB."""


@dataclass(slots=True)
class _Record:
    parent: str
    branch: str
    side: bool
    carried_on: bool = False


class BranchTracker:
    """The records seen last."""

    def __init__(self, most: int = MAX_TRACKED_RECORDS) -> None:
        self._most = most
        self._seen: OrderedDict[str, _Record] = OrderedDict()

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._seen

    def carried_on(self, uuid: str) -> bool:
        """Whether a turn descends from a record."""
        return uuid in self._seen and self._seen[uuid].carried_on

    def add(self, uuid: str, parent: str, *, turn: bool, side: bool = False, prompt: bool = False) -> str:
        """Remember a record and return its branch: the uuid of the branch's first, "" for the main one.

        Args:
            uuid: Of the record; "" for one that none can name.
            parent: uuid of the record it follows; "" for none.
            turn: It was taken as a turn.
            side: It belongs to a sidechain; each of those is a branch of its own.
            prompt: A person said it.
        """
        known = self._seen.get(parent)
        begins = (known is None or not known.side) if side else prompt and self.carried_on(parent)
        branch = uuid if begins else known.branch if known else ""
        if turn:
            self._carry_on(parent)
        if uuid:
            self._seen[uuid] = _Record(parent, branch, side)
            if len(self._seen) > self._most:
                self._seen.popitem(last=False)
        return branch

    def _carry_on(self, uuid: str) -> None:
        while (record := self._seen.get(uuid)) is not None and not record.carried_on:
            record.carried_on = True  # and those above the turn before are already
            uuid = record.parent


def sibling_names(root: Path, folder: str) -> tuple[str, ...]:
    """Return the names in a folder of a source, sorted; none where it is not there or cannot be listed.

    Args:
        root: The source's folder.
        folder: POSIX path relative to it; "" is the root.
    """
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, *folder.split("/")))
    if not is_within(real, top):
        return ()
    try:
        return tuple(sorted(os.listdir(real)))
    except OSError:
        return ()


DUE_BYTES = 100 * 1024
"""What OpenClaw reads a session's log on at, as does its neighbourhood: minutes of talk with tools."""

DUE_LINES = 50
"""The same in messages, for a talk in short ones."""


def is_log_due(
    file: BinaryIO, cursor: int, *, enough_bytes: int = DUE_BYTES, enough_lines: int = DUE_LINES
) -> bool:
    """Return whether a log has grown by so many bytes or lines since it was read, or is another one now.

    Reads at most ``enough_bytes`` of it.

    Args:
        file: The log, open for reading bytes.
        cursor: How far it was read.
        enough_bytes: At least 1.
        enough_lines: At least 1; a line that is still being written is none.
    """
    if not is_cursor_valid(file, cursor):
        return True
    if _file_size(file) - cursor >= enough_bytes:
        return True
    file.seek(cursor)
    return file.read(enough_bytes).count(b"\n") >= enough_lines


def is_cursor_valid(file: BinaryIO, cursor: int) -> bool:
    """Return whether the cursor can be one of this file: it lies in it, at the end of a line.

    False for a file that was cut or written anew; then it is read from 0. A file rewritten with a line end at
    the same place is not noticed here.
    """
    if cursor == 0:
        return True
    if cursor > _file_size(file):
        return False
    file.seek(cursor - 1)
    around = file.read(2)
    # A last line without its line end was read, since it was whole: what follows it now must be the end.
    return around[:1] == b"\n" or around[1:] in {b"", b"\n", b"\r"}


def _file_size(file: BinaryIO) -> int:
    return file.seek(0, os.SEEK_END)
