"""Transcript formats: the protocol, JSON lines, tags and what all readers share.

A format's ``rows`` splits a file into `LogRow`s; a `TranscriptReader` answers each row with turns and skipped items.
Rows before the cursor are replayed and their answers discarded, so an answer must depend on earlier rows only, and a
reader must tolerate a gap in very large files. A field of an unexpected type is treated as missing, never as an error.
Conversations may be trees: the path that the tool shows is the session, a branch becomes ``<session>~<name>``, and a
sidechain ``<session>/<agent id>``.

Only the line or element at hand is in memory, and a malformed one costs only itself. A last line without its line end
is read only if it is a whole object: anything else is still being written. Rows before the cursor are replayed: all of
them up to 33 MB, of a larger file those of the first 1 MB and of the last 32 MB. (ijson gives no byte offsets and ends
at the first malformed byte.)
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2s
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from scrubjay.frozen import frozen
from scrubjay.ingest.files import is_within
from scrubjay.models.dates import DAY, SECOND, micros
from scrubjay.models.records import Turn

HEAD_BYTES = 64 * 1024
"""Bytes of a file that `TranscriptFormat.recognise` gets."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BRANCH_NAME = 8  # characters of a uuid
_MAX_RECORD_ID = 64  # characters; ten thousand are remembered


@frozen
class LogRow:
    """A record of a log: its line (or place in the file) from 1, its first byte and the byte after it, and its value.

    A format that is not JSON brings its own ``rows`` and puts its text into ``value``.
    """

    line: int
    start: int
    end: int
    value: dict[str, Any]


@frozen
class BrokenRow:
    """A record that cannot be read; ``message`` ends a sentence: ``is not UTF-8 (byte 0xe9)``."""

    line: int
    start: int
    end: int
    message: str


@frozen
class SkippedItem:
    """Something that was left out, to be counted; ``unknown`` kinds are reported to the user."""

    kind: str
    unknown: bool = False


ReaderItem: TypeAlias = Turn | SkippedItem
"""A row holds any number of them."""

TranscriptReader: TypeAlias = Callable[[LogRow], Iterable[ReaderItem]]
"""One reading of one file: called with its rows in order. A turn's bytes, and its line and agent where it names none,
are set by `importer.follow_log`."""


@frozen
class TranscriptFormat:
    """How one tool writes its logs.

    Attributes:
        name: The tool, and the ``agent`` of turns that name none.
        version: Stamped on documents; raised when the same file would give other turns.
        first_version: Documents of this version keep it, and the names of their unnamed sessions.
        lines: The file grows by whole lines and is read on from a cursor; else it is read whole each time.
        recognise: Takes a POSIX path and the first `HEAD_BYTES` bytes; in doubt it says no.
        rows: Takes the open file and the cursor.
        reader: Takes a source's root and the file's path in it; other files are read through `read_file` only.
    """

    name: str
    version: str
    lines: bool
    recognise: Callable[[str, bytes], bool]
    rows: Callable[[BinaryIO, int], Iterator[LogRow | BrokenRow]]
    reader: Callable[[Path, str], TranscriptReader]
    first_version: str = ""


def skip_kind(kind: str, known: Collection[str], label: str) -> SkippedItem:
    """Return a skipped item of a kind; one that is not ``known`` is marked unknown and named with a label."""
    if kind in known:
        return SkippedItem(kind)
    return SkippedItem(f"{label} {kind}".strip(), unknown=True)


def is_json_file(path: str, head: bytes, *needles: bytes) -> bool:
    """Return whether a file is a JSON array or object whose head contains all of these."""
    start = head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1]
    return path.endswith(".json") and start in (b"[", b"{") and all(needle in head for needle in needles)


def branch_session(session: str, first: str) -> str:
    """Return the session of a branch, named by the key of its first message, which every copy of the log shares.

    >>> branch_session("s1", "0b5e7a90-12ab-4c3d-8e4f-001122334455")
    's1~0b5e7a90'
    """
    return f"{session}~{first[:_BRANCH_NAME]}"


# No such tool is older: earlier times come from clocks that were never set.
_EARLIEST = micros(datetime(2000, 1, 1, tzinfo=UTC))
# Clocks of two machines differ by less.
_MAX_AHEAD = DAY
MAX_UNIX_SECONDS = 1e11
"""Seconds of the year 5138, and milliseconds of 1973: a larger number is in milliseconds, microseconds or ns."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def as_string(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_array(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def json_object(data: object) -> dict[str, Any] | None:
    """Return the JSON object of a text or its bytes; None for anything else."""
    try:
        value = json.loads(data) if isinstance(data, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def record_id(value: object) -> str:
    """Return a record's id if it is text of a usual length, else ""."""
    return name if len(name := as_string(value)) <= _MAX_RECORD_ID else ""


def joined_text(parts: Iterable[str]) -> str:
    r"""Join the parts that are not blank by blank lines.

    >>> joined_text(["one\n", "  ", "    two"])
    'one\n\n    two'
    """
    return "\n\n".join(part.strip("\r\n").rstrip() for part in parts if part and not part.isspace())


def text_digest(*texts: str) -> str:
    """Return 16 hexadecimal digits of a hash of the texts, for the key of a turn without an id."""
    return blake2s("\0".join(texts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def storable_text(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def as_micros(value: object) -> int | None:
    """Return UTC microseconds of ISO text (UTC without a zone) or of s, ms, µs or ns since 1970.

    None for what is not a time, lies before 2000 or more than a day ahead.

    >>> as_micros("2026-03-01T10:00:00.5Z") == as_micros(1772359200.5) == as_micros(1772359200500)
    True
    >>> as_micros("0001-01-01T00:00:00Z"), as_micros("2999-01-01"), as_micros("soon"), as_micros(True)
    (None, None, None, None)
    """
    result = _number_micros(value) if isinstance(value, int | float) else _iso_micros(as_string(value))
    if result is None or not _EARLIEST <= result <= time.time() * SECOND + _MAX_AHEAD:
        return None
    return result


def micros_from_millis(value: object) -> int | None:
    return as_micros(value) if isinstance(value, int | float) and value > MAX_UNIX_SECONDS else None


def _iso_micros(text: str) -> int | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _number_micros(value: float) -> int | None:
    # NaN is in no range.
    if isinstance(value, bool) or not 0 < value < MAX_UNIX_SECONDS * 1_000_000_000:
        return None
    while value >= MAX_UNIX_SECONDS:
        value /= 1000
    return round(value * SECOND)


def strip_tags(text: str, names: frozenset[str]) -> str:
    """Remove pairs of these tags with their contents; an unclosed tag stays.

    >>> strip_tags("<note>kept</note> so <hook a=1>gone</hook> far", frozenset({"hook"}))
    '<note>kept</note> so  far'
    """
    if "<" not in text:
        return text
    pieces, position = [], 0
    open_only: set[str] = set()  # without a closing tag: searching again would be quadratic
    for match in _opening_tags(names).finditer(text):
        name = match[1]
        if match.start() < position or name in open_only:
            continue
        end = text.find(f"</{name}>", match.end())
        if end < 0:
            open_only.add(name)
            continue
        pieces.append(text[position : match.start()])
        position = end + len(name) + 3
    return "".join([*pieces, text[position:]])


def strip_wrappers(text: str, names: frozenset[str]) -> str:
    """Remove these tags like `strip_tags`, but those of one plain word only where they are the whole text.

    XML that a person pastes may have such a tag, too.

    >>> names = frozenset({"goal", "system-reminder"})
    >>> strip_wrappers("Run <goal>verify</goal>.<system-reminder>x</system-reminder>", names)
    'Run <goal>verify</goal>.'
    >>> strip_wrappers("<goal>verify</goal>", names)
    ''
    """
    if "<" not in text:
        return text
    plain = frozenset(filter(str.isalpha, names))
    text = strip_tags(text, names - plain)
    return text if strip_tags(text, plain).strip() else ""


@lru_cache(maxsize=16)
def _opening_tags(names: Collection[str]) -> re.Pattern[str]:
    return re.compile(f"<({'|'.join(re.escape(name) for name in sorted(names))})(?: [^<>]*)?>")


def message_paths(parents: Mapping[str, str], leaf: str, session: str) -> list[tuple[str, list[str]]]:
    """Return each session with its messages in order, the main one first.

    ``parents`` maps each message to its parent ("" for none) in the order of the file; cycles are cut. ``leaf`` is the
    last message that the tool shows; an unknown one means the last of the file.

    >>> message_paths({"a": "", "b": "a", "c": "a", "d": "c"}, "b", "s")
    [('s', ['a', 'b']), ('s~c', ['c', 'd'])]
    """
    if not parents:
        return []
    main = leaf if leaf in parents else next(reversed(list(parents)))
    placed: dict[str, int] = {}
    paths: list[tuple[str, list[str]]] = []
    for end in (main, *parents):
        chain: dict[str, None] = {}
        at = end
        while at in parents and at not in placed and at not in chain:
            chain[at] = None
            at = parents[at]
        if not chain:
            continue
        keys = list(reversed(chain))
        place = placed.get(at, len(paths))
        # A path continues an earlier one at its end, unless that is the main one.
        if not 0 < place < len(paths) or paths[place][1][-1] != at:
            place = len(paths)
            paths.append((branch_session(session, keys[0]) if paths else session, []))
        paths[place][1].extend(keys)
        placed.update(dict.fromkeys(keys, place))
    return paths


MAX_TRACKED_RECORDS = 10_000
"""Last records of which a branch may begin: a day of conversation, about 3 MB."""


@dataclass(slots=True)
class _Record:
    parent: str
    branch: str
    side: bool
    continued: bool = False


class BranchTracker:
    """Assigns records of a growing log to branches, in one pass over the last records.

    A person's message begins a branch if its parent was already continued, that is, if a turn descends from it; tools
    that run side by side give a record several children too. A record whose parent is unknown is on the main branch.
    """

    def __init__(self, most: int = MAX_TRACKED_RECORDS) -> None:
        self._most = most
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._records

    def add(self, uuid: str, parent: str, *, turn: bool, side: bool = False, prompt: bool = False) -> str:
        """Add a record and return its branch: the uuid of the branch's first record, "" for the main one.

        ``turn``: it is a turn; ``side``: it belongs to a sidechain, a branch of its own; ``prompt``: a person wrote it.
        """
        known = self._records.get(parent)
        begins_branch = (
            (known is None or not known.side) if side else prompt and known is not None and known.continued
        )
        branch = uuid if begins_branch else known.branch if known else ""
        if turn:
            self._mark_continued(parent)
        if uuid:
            self._records[uuid] = _Record(parent, branch, side)
            if len(self._records) > self._most:
                self._records.popitem(last=False)
        return branch

    def _mark_continued(self, uuid: str) -> None:
        while (record := self._records.get(uuid)) is not None and not record.continued:
            record.continued = True  # those above the turn before are marked already
            uuid = record.parent


def folder_names(root: Path, folder: str) -> tuple[str, ...]:
    """Return the sorted names in a folder of a source; none where it is outside the root or cannot be listed."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, *folder.split("/")))
    if not is_within(real, top):
        return ()
    try:
        return tuple(sorted(os.listdir(real)))
    except OSError:
        return ()


DUE_BYTES = 100 * 1024
"""Bytes of growth before a log is re-read, as in OpenClaw."""

DUE_LINES = 50
"""The same in messages."""


def is_log_due(
    file: BinaryIO, cursor: int, *, enough_bytes: int = DUE_BYTES, enough_lines: int = DUE_LINES
) -> bool:
    """Return whether a log grew enough since ``cursor`` to be read, or was rewritten."""
    if not is_cursor_valid(file, cursor):
        return True
    if _file_size(file) - cursor >= enough_bytes:
        return True
    file.seek(cursor)
    return file.read(enough_bytes).count(b"\n") >= enough_lines


def is_cursor_valid(file: BinaryIO, cursor: int) -> bool:
    """Return whether the cursor lies in this file at the end of a line; if not, the file was rewritten."""
    if cursor == 0:
        return True
    if cursor > _file_size(file):
        return False
    file.seek(cursor - 1)
    around = file.read(2)
    # The last line may have been read without its line end, which must follow now.
    return around[:1] == b"\n" or around[1:] in {b"", b"\n", b"\r"}


def _file_size(file: BinaryIO) -> int:
    return file.seek(0, os.SEEK_END)


MAX_LINE_BYTES = 32 * 1024 * 1024
"""A pasted screenshot has 5 MB in base64."""

REPLAY_BYTES = 32 * 1024 * 1024
"""Bytes read again before the cursor: a quarter of a second for a log with its tools' output (ten times that without),
and more than all but a few logs have."""

HEAD_REPLAY_BYTES = 1024 * 1024

_BLOCK = 1 << 20
_PADDING = b"\0 \t\r\n"  # JSON's white space, and NUL


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
    if len(head) >= HEAD_BYTES or _parse_object(lines[-1]) is None:
        lines.pop()  # cut off, or empty after the last line end
    return tuple(_parse_object(line) for line in lines if line.strip(_PADDING))


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
            row = _parse_line(data.removeprefix(BYTE_ORDER_MARK) if start == 0 else data, line, start, end)
            if not complete and not isinstance(row, LogRow):
                return
            if row is not None:
                yield row
        start, line = end, line + 1


def _parse_line(data: bytes, line: int, start: int, end: int) -> LogRow | BrokenRow | None:
    data = data.strip(_PADDING)
    return _parse_row(data, line, start, end) if data else None


def _parse_row(data: bytes, line: int, start: int, end: int) -> LogRow | BrokenRow:
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


def _parse_object(data: bytes) -> dict[str, Any] | None:
    row = _parse_line(data, 1, 0, 0)
    return row.value if isinstance(row, LogRow) else None


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
        yield BrokenRow(place, start, end, message) if message else _parse_row(data, place, start, end)


@dataclass(slots=True)
class _ElementSplitter:
    """``at`` is a position in ``buffer``, which begins at byte ``base``."""

    file: BinaryIO
    most: int
    buffer: bytearray = field(default_factory=bytearray)
    base: int = 0
    at: int = 0
    cut_off: bool = False

    def spans(self) -> Iterator[tuple[int, int, bytes, str]]:
        """Yield first byte, byte after it, bytes, and what is wrong (then without bytes)."""
        self._read_block()
        if self.buffer.startswith(BYTE_ORDER_MARK):
            self.at = len(BYTE_ORDER_MARK)
        first = self._peek()
        if first == b"{":
            yield self._read_element()
            return
        if first != b"[":
            if first:
                start = self._offset()
                yield start, start + 1, b"", f"begins with {first!r}, which begins no JSON record"
            return
        self.at += 1
        while (sign := self._peek()) not in (b"]", b""):
            yield self._read_element() if sign in (b"{", b"[") else self._skip_scalar()
        if not sign and not self.cut_off:
            yield self._offset(), self._offset(), b"", "is missing: the file ends within its array"

    def _offset(self) -> int:
        return self.base + self.at

    def _read_block(self) -> bool:
        block = self.file.read(_STREAM_BLOCK)
        self.buffer += block
        return bool(block)

    def _discard_consumed(self) -> None:
        self.base += self.at
        del self.buffer[: self.at]
        self.at = 0

    def _peek(self) -> bytes:
        while True:
            match = _GAP.match(self.buffer, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.buffer):
                return bytes(self.buffer[self.at : self.at + 1])
            self._discard_consumed()
            if not self._read_block():
                return b""

    def _skip_scalar(self) -> tuple[int, int, bytes, str]:
        start = self._offset()
        while True:
            match = _SCALAR.match(self.buffer, self.at)
            # An open quote or a stray bracket is skipped byte by byte.
            self.at = match.end() if match else self.at + 1
            if self.at < len(self.buffer):
                return start, self._offset(), b"", "is not a JSON object"
            self._discard_consumed()
            if not self._read_block():
                return start, self._offset(), b"", "is not a JSON object"

    def _read_element(self) -> tuple[int, int, bytes, str]:
        self._discard_consumed()
        start, depth, in_string, too_large = self.base, 0, False, False
        while True:
            depth, in_string = self._scan(depth, in_string)
            if depth == 0 and not in_string and self.at:
                break
            if too_large or len(self.buffer) > self.most:
                too_large = True
                self._discard_consumed()
            if not self._read_block():
                self.at, self.cut_off = len(self.buffer), True
                return start, self._offset(), b"", "is cut off: the file ends within it"
        end = self._offset()
        if too_large or end - start > self.most:
            return start, end, b"", f"has {end - start:,} bytes, more than the {self.most:,} that are read"
        return start, end, bytes(self.buffer[: self.at]), ""

    def _scan(self, depth: int, in_string: bool) -> tuple[int, bool]:
        """Go on to the end of the element or of the buffer; return the depth there and whether inside a string."""
        buffer, at, size = self.buffer, self.at, len(self.buffer)
        while at < size:
            if in_string:
                match = _IN_STRING.match(buffer, at)
                at = match.end() if match else at
                if at >= size or buffer[at] == 0x5C:  # an escape at the end of the buffer
                    break
                at, in_string = at + 1, False
            match = _RUN.match(buffer, at)
            at = match.end() if match else at
            if at >= size:
                break
            sign = buffer[at]
            at += 1
            if sign == 0x22:  # a string that goes on after the buffer
                in_string = True
            elif sign in b"{[":
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    break
        self.at = at
        return depth, in_string
