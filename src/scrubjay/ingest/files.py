"""Files of a source: read one within its root, decode it, replace it atomically.

Every folder is opened without following links, so a link swapped in after the check causes an error and never leads
out of the root. Text is UTF-8, or UTF-16/32 with a byte order mark; NUL becomes U+FFFD (CommonMark 2.3). A replacement
is written beside the file and renamed over it, and refused if the file changed meanwhile.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import shlex
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from scrubjay.errors import InputError, SourceError
from scrubjay.frozen import frozen

# Larger files are dumps or logs, whose text would be in memory several times.
MAX_FILE_BYTES = 100 * 1024 * 1024
READ_ATTEMPTS = 3
# A stray NUL is a tool's slip; more are binary data, or UTF-16 without a byte order mark.
MAX_NUL_SHARE = 0.01

_CHUNK = 1 << 20
# UTF-32's little-endian mark starts with UTF-16's, so it comes first.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# O_NONBLOCK: do not block on a pipe swapped in for the file. Windows lacks the first two.
_OPEN_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
    _OPEN_FLAGS |= getattr(os, _flag, 0)
SUPPORTS_DIR_FD = os.open in os.supports_dir_fd


@frozen
class FileText:
    """A file's text without byte order mark, line ends as they are; ``content_hash`` is the SHA-256 of its bytes.

    Attributes:
        converted: Whether the text was made from a document: its lines are not the file's.
        title: Title that a document gives itself, or an empty string.
        problems: Parts of a document that could not be read, a sentence each.
    """

    text: str
    content_hash: str
    mtime_ns: int
    size: int
    converted: bool = False
    title: str = ""
    problems: tuple[str, ...] = ()


class UnconvertibleError(SourceError):
    """A document, such as a PDF, of which no text can be made before the file changes."""


@frozen
class FileBytes:
    """A file's content; ``content_hash`` is its SHA-256, ``location`` its absolute path where known."""

    data: bytes
    content_hash: str
    mtime_ns: int
    size: int
    location: str = ""


def read_file(root: Path, path: str) -> FileText:
    """Read a file of a source as text; see `read_bytes` and `file_text`."""
    return file_text(path, read_bytes(root, path))


def file_text(path: str, file: FileBytes) -> FileText:
    """Decode a file.

    Raises:
        SourceError: It is binary.
    """
    return FileText(decode_text(file.data, path, file.location), file.content_hash, file.mtime_ns, file.size)


def read_bytes(root: Path, path: str) -> FileBytes:
    """Read a file of a source by its POSIX path relative to the root.

    Raises:
        SourceError: It cannot be read, is outside the root, not a regular file, over 100 MB, or being written.
    """
    for _ in range(READ_ATTEMPTS):
        try:
            data, before, after = _read_with_stat(root, path)
        except OSError as error:
            reason = error.strerror or str(error)
            raise SourceError(f"{path} cannot be read: {reason}. Nothing stored was changed.") from error
        if before.st_mtime_ns == after.st_mtime_ns and before.st_size == after.st_size == len(data):
            digest = hashlib.sha256(data).hexdigest()
            return FileBytes(data, digest, after.st_mtime_ns, after.st_size, os.path.abspath(root / path))
    message = f"{path} changed during each of {READ_ATTEMPTS} readings; what was stored of it before is kept."
    raise SourceError(message, hint="it will be read at the next sync")


def open_file(root: Path, path: str) -> BinaryIO:
    """Open a file of a source for reading bytes, of any size.

    Raises:
        SourceError: It is outside the root, or not a regular file.
        OSError: It cannot be opened.
    """
    return os.fdopen(_open_regular(root, path), "rb")


def is_within(real: str, top: str) -> bool:
    """Return whether ``real`` is ``top`` or below it; both are resolved paths."""
    return real == top or real.startswith(top if top.endswith(os.sep) else top + os.sep)


def _read_with_stat(root: Path, path: str) -> tuple[bytes, os.stat_result, os.stat_result]:
    descriptor = _open_regular(root, path)
    try:
        before = os.fstat(descriptor)
        data = bytearray()
        while len(data) <= MAX_FILE_BYTES:
            part = os.read(descriptor, _CHUNK)
            if not part:
                return bytes(data), before, os.fstat(descriptor)
            data += part
    finally:
        os.close(descriptor)
    message = f"{path} has more than the {MAX_FILE_BYTES:,} bytes that are read; what was stored of it before is kept."
    raise SourceError(message, hint="split it, or leave it out by a line in .scrubjayignore")


def locate_file(root: Path, path: str) -> tuple[int | str, str]:
    """Return a file's folder, links followed, and its name there.

    The folder is a descriptor inside the root, or a path where the system has no names relative to a descriptor.

    Raises:
        SourceError: The file lies outside the root.
        OSError: It does not exist.
    """
    top, inside = _resolve_inside(root, path)
    if not inside:
        return locate_file(root.parent, root.name)
    if not SUPPORTS_DIR_FD:
        return os.path.join(top, *inside[:-1]), inside[-1]
    return (_open_below(top, inside[:-1]) if inside[:-1] else os.open(top, os.O_RDONLY)), inside[-1]


def _resolve_inside(root: Path, path: str) -> tuple[str, list[str]]:
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
    if not is_within(real, top) or real == top:
        raise outside
    return top, real[len(top) :].lstrip(os.sep).split(os.sep)


def _open_regular(root: Path, path: str) -> int:
    top, inside = _resolve_inside(root, path)
    if inside and SUPPORTS_DIR_FD:
        descriptor = _open_below(top, inside)
    else:
        descriptor = os.open(os.path.join(top, *inside), _OPEN_FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SourceError(
            f"{path} is not a regular file; it was not read.", hint="leave it out in .scrubjayignore"
        )
    return descriptor


def _open_below(top: str, segments: list[str]) -> int:
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for segment in segments[:-1]:
            below = os.open(segment, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(segments[-1], _OPEN_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def decode_text(data: bytes, path: str, location: str = "") -> str:
    mark, encoding = _encoding(data)
    nuls = data.count(0) if encoding == "utf-8" else 0
    if nuls > len(data) * MAX_NUL_SHARE:
        message = f"{path} is not text: {nuls:,} of its {len(data):,} bytes are NUL. It was not read."
        hint = "leave it out by a line in .scrubjayignore; UTF-16 is read when it has a byte order mark"
        raise SourceError(message, hint=hint)
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        offset = len(mark) + error.start
        line = data[len(mark) : offset].decode(encoding, "replace").count("\n") + 1
        message = (
            f"{path} is not {encoding.upper()}: byte 0x{data[offset]:02x} at offset {offset}, line {line} "
            f"({error.reason}). Nothing stored was changed."
        )
        name = shlex.quote(location or path)
        new = shlex.quote(f"{location or path}.utf8")
        hint = f"convert it, if it is Latin-1: iconv -f LATIN1 -t UTF-8 {name} > {new} && mv {new} {name}"
        raise SourceError(message, hint=hint) from error
    return text.replace("\0", "\ufffd")


def _encoding(data: bytes) -> tuple[bytes, str]:
    return next(((mark, name) for mark, name in BYTE_ORDER_MARKS if data.startswith(mark)), (b"", "utf-8"))


_CREATE_FLAGS: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)


@frozen
class FileSnapshot:
    text: str
    data: bytes
    mark: bytes
    encoding: str

    def encode(self, text: str) -> bytes:
        return self.mark + text.encode(self.encoding)


def snapshot_file(root: Path, path: str) -> FileSnapshot:
    """Read a file of a source so that it can be rewritten.

    Raises:
        SourceError: It cannot be read, is outside the root, not a regular file, or not text.
        InputError: Its bytes would not survive a rewrite.
    """
    try:
        with open_file(root, path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise SourceError(
            f"{path} cannot be read: {error.strerror or error}. Nothing was written."
        ) from error
    mark, encoding = _encoding(data)
    snapshot = FileSnapshot(decode_text(data, path), data, mark, encoding)
    if len(data) > MAX_FILE_BYTES or snapshot.encode(snapshot.text) != data:
        raise InputError(
            f"{path} holds bytes that are no text, and would not stay as they are. Nothing was written.",
            hint=f"edit {path} with a program of yours",
        )
    return snapshot


def rewrite_file(root: Path, path: str, before: FileSnapshot, text: str) -> None:
    """Replace a file's text.

    Raises:
        InputError: It changed since it was read, is read-only, another user's, or has a hard link.
        SourceError: It cannot be written; it is as it was.
    """
    full = Path(root) / path
    try:
        folder, name = locate_file(root, path)
        try:
            _replace(folder, name, full, before, before.encode(text))
        finally:
            if isinstance(folder, int):
                os.close(folder)
    except OSError as error:
        raise SourceError(
            f"{full} cannot be written: {error.strerror or error}. It is as it was.",
            hint="look at whose it and its folder are, and whether the disk is full",
        ) from error


def _replace(folder: int | str, name: str, full: Path, before: FileSnapshot, data: bytes) -> None:
    dir_fd = folder if isinstance(folder, int) else None
    # Without names relative to a descriptor, the name includes the folder.
    target = name if isinstance(folder, int) else os.path.join(folder, name)
    info = os.stat(target, dir_fd=dir_fd, follow_symlinks=False)
    _check_writable(info, target, dir_fd, full)
    new = os.path.join(os.path.dirname(target), f".{os.path.basename(name)}.{os.urandom(4).hex()}.part")
    try:
        descriptor = os.open(new, _CREATE_FLAGS, 0o600, dir_fd=dir_fd)
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            if SUPPORTS_DIR_FD:
                _copy_mode_and_owner(descriptor, info, full)
            os.fsync(descriptor)
        with os.fdopen(os.open(target, os.O_RDONLY, dir_fd=dir_fd), "rb") as now:
            if os.fstat(now.fileno()).st_ino != info.st_ino or now.read(MAX_FILE_BYTES + 1) != before.data:
                raise InputError(
                    f"{full} was changed by another program meanwhile. Nothing was written.",
                    hint="look at what it says now, and try again",
                )
        if dir_fd is not None:
            os.rename(new, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
            os.fsync(dir_fd)
        else:
            os.replace(new, target)
    finally:
        with suppress(FileNotFoundError):  # it was renamed
            os.unlink(new, dir_fd=dir_fd)


def _check_writable(info: os.stat_result, target: str, dir_fd: int | None, full: Path) -> None:
    reason = None
    if not info.st_mode & 0o222 or not os.access(target, os.W_OK, dir_fd=dir_fd):
        reason = "is read-only"
    elif info.st_nlink > 1:
        reason = "has a second name (a hard link), which would keep the old text"
    if reason is not None:
        raise InputError(
            f"{full} {reason}. Nothing was written.", hint=f"edit {full} with a program of yours"
        )


def _copy_mode_and_owner(descriptor: int, info: os.stat_result, full: Path) -> None:
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (info.st_uid, info.st_gid):
        try:
            os.fchown(descriptor, info.st_uid, info.st_gid)
        except PermissionError as error:
            raise InputError(
                f"{full} belongs to somebody else, and would be yours afterwards. Nothing was written.",
                hint=f"edit {full} with a program of yours",
            ) from error
    os.fchmod(descriptor, info.st_mode & 0o7777)
