"""Read: (Path, relative path) -> FileText.

Opens nothing outside the root, and nothing but a regular file: every folder on the way is opened without
following links, so a link swapped in after the check leads to an error, not out of the root.

Text is UTF-8, or UTF-16 or UTF-32 with a byte order mark. Nothing is guessed: a wrong guess is stored as
garbage and never noticed, an error is. A NUL becomes U+FFFD, as CommonMark 2.3 demands (and PostgreSQL
stores no NUL); positions and lines stay. Line ends are kept as they are.
"""

import codecs
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from scrubjay.errors import SourceError

# A day of heavy notes is 300 KB; 100 MB is a dump or a log, and would hold its text several times in memory.
MOST_BYTES = 100 * 1024 * 1024
# A file that changes during three readings in a row is being written; the next sync finds it at rest.
READ_ATTEMPTS = 3
# A stray NUL is a slip of a tool; a file with more than one byte in a hundred is data (UTF-16 without a byte
# order mark has fifty).
MOST_NUL_SHARE = 0.01

_CHUNK = 1 << 20
# UTF-32's little-endian mark starts with UTF-16's, so it is asked first.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# O_NONBLOCK: a pipe swapped in for the file must not be waited on. Windows lacks the first two.
_OPEN_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
    _OPEN_FLAGS |= getattr(os, _flag, 0)
WALKS_BY_DESCRIPTOR = os.open in os.supports_dir_fd


@dataclass(frozen=True, slots=True)
class FileText:
    """One file's text.

    Attributes:
        text: Without byte order mark; line ends as they are in the file.
        content_hash: SHA-256 of the file's bytes, hexadecimal.
        mtime_ns: Last change at the time of reading, nanoseconds since 1970.
        size: Bytes read.
    """

    text: str
    content_hash: str
    mtime_ns: int
    size: int


def read(root: Path, path: str) -> FileText:
    """Read one file of a source.

    Args:
        root: The source's folder, or the file itself where the source is one file.
        path: POSIX path relative to the root, as `scan` gives it.

    Raises:
        SourceError: The file cannot be read, lies outside the root, is no regular file, is over 100 MB, is
            no text, or is being written.
    """
    for _ in range(READ_ATTEMPTS):
        try:
            data, before, after = _load(root, path)
        except OSError as error:
            reason = error.strerror or str(error)
            raise SourceError(f"{path} cannot be read: {reason}. Nothing stored was changed.") from error
        if before.st_mtime_ns == after.st_mtime_ns and before.st_size == after.st_size == len(data):
            digest = hashlib.sha256(data).hexdigest()
            return FileText(decode(data, path), digest, after.st_mtime_ns, after.st_size)
    message = f"{path} changed during each of {READ_ATTEMPTS} readings; what was stored of it before is kept."
    raise SourceError(message, hint="it will be read at the next sync")


def opened(root: Path, path: str) -> BinaryIO:
    """Open a file of a source for reading its bytes, of whatever size.

    Raises:
        SourceError: It lies outside the root, or is no regular file.
        OSError: It cannot be opened.
    """
    descriptor = _open(root, path)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SourceError(
            f"{path} is not a regular file; it was not read.", hint="leave it out in .scrubjayignore"
        )
    return os.fdopen(descriptor, "rb")


def within(real: str, top: str) -> bool:
    """Whether ``real`` is ``top`` or lies under it; both are resolved paths."""
    return real == top or real.startswith(top if top.endswith(os.sep) else top + os.sep)


def _load(root: Path, path: str) -> tuple[bytes, os.stat_result, os.stat_result]:
    descriptor = _open(root, path)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise SourceError(
                f"{path} is not a regular file; it was not read.", hint="leave it out in .scrubjayignore"
            )
        data = bytearray()
        while len(data) <= MOST_BYTES:
            part = os.read(descriptor, _CHUNK)
            if not part:
                return bytes(data), before, os.fstat(descriptor)
            data += part
    finally:
        os.close(descriptor)
    message = (
        f"{path} has more than the {MOST_BYTES:,} bytes that are read; what was stored of it before is kept."
    )
    raise SourceError(message, hint="split it, or leave it out by a line in .scrubjayignore")


def place(root: Path, path: str) -> tuple[int | str, str]:
    """Return the folder that a file of a source stands in, and the file's name there, links followed.

    Returns:
        A descriptor of the folder, which lies inside the root whatever is swapped meanwhile; its path, where the
        system has no names relative to a descriptor.

    Raises:
        SourceError: The file lies outside the root.
        OSError: It is not there.
    """
    top, inside = _inside(root, path)
    if not inside:
        return place(root.parent, root.name)
    if not WALKS_BY_DESCRIPTOR:
        return os.path.join(top, *inside[:-1]), inside[-1]
    return (_descend(top, inside[:-1]) if inside[:-1] else os.open(top, os.O_RDONLY)), inside[-1]


def _inside(root: Path, path: str) -> tuple[str, list[str]]:
    """Return the real root and the real file's names below it; none where the root is the file."""
    segments = path.split("/")
    outside = SourceError(f"{path!r} is not a path inside {root}; it was not read.", hint="scrubjay sources")
    if not path or "\0" in path or any(part in {"", ".", ".."} for part in segments) or os.path.isabs(path):
        raise outside
    top = os.path.realpath(root, strict=True)
    if not os.path.isdir(top):
        if path != root.name:
            raise outside
        return top, []
    real = os.path.realpath(os.path.join(top, *segments), strict=True)
    if not within(real, top) or real == top:
        raise outside
    return top, real[len(top) :].lstrip(os.sep).split(os.sep)


def _open(root: Path, path: str) -> int:
    """A descriptor of the file, which lies inside the root whatever is swapped meanwhile."""
    top, inside = _inside(root, path)
    if not inside or not WALKS_BY_DESCRIPTOR:
        return os.open(os.path.join(top, *inside), _OPEN_FLAGS)
    return _descend(top, inside)


def _descend(top: str, segments: list[str]) -> int:
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for segment in segments[:-1]:
            below = os.open(segment, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(segments[-1], _OPEN_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def decode(data: bytes, path: str) -> str:
    """Return the text of a file's bytes; ``path`` is named where they are none.

    Raises:
        SourceError: They are no text.
    """
    mark, encoding = next(((mark, name) for mark, name in MARKS if data.startswith(mark)), (b"", "utf-8"))
    if encoding == "utf-8":
        _refuse_binary(data, path)
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        offset = len(mark) + error.start
        line = data[len(mark) : offset].decode(encoding, "replace").count("\n") + 1
        message = (
            f"{path} is not {encoding.upper()}: byte 0x{data[offset]:02x} at offset {offset}, line {line} "
            f"({error.reason}). What was stored of it before is kept."
        )
        hint = f"convert it, if it is Latin-1: iconv -f LATIN1 -t UTF-8 {path!r} > {path + '.utf8'!r}"
        raise SourceError(message, hint=hint) from error
    return text.replace("\0", "\ufffd")


def _refuse_binary(data: bytes, path: str) -> None:
    nuls = data.count(0)
    if nuls > len(data) * MOST_NUL_SHARE:
        message = f"{path} is not text: {nuls:,} of its {len(data):,} bytes are NUL. It was not read."
        hint = "leave it out by a line in .scrubjayignore; UTF-16 is read when it has a byte order mark"
        raise SourceError(message, hint=hint)
