"""Overwrite: a file of a source, as it was read -> the same file with another text, whole or not at all.

The new text is written beside its place and renamed over it, so that whoever reads the file, and whoever loses power,
finds the one text or the other. What another program wrote meanwhile is never written over: the bytes are compared
once more just before. Its encoding, byte order mark and mode stay. A file that cannot keep what it is by that way is
refused: a read-only one, one that belongs to somebody else, one that has a second name (a hard link).
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest.sources.read import MARKS, MOST_BYTES, WALKS_BY_DESCRIPTOR, decode, opened, place

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Held:
    """A file as it is.

    Attributes:
        text: Its text, without byte order mark.
        data: Its bytes.
        mark: Its byte order mark, may be empty.
        encoding: How the text behind the mark is written.
    """

    text: str
    data: bytes
    mark: bytes
    encoding: str

    def coded(self, text: str) -> bytes:
        """Return the bytes of another text, written as this one is."""
        return self.mark + text.encode(self.encoding)


def held(root: Path, path: str) -> Held:
    """Read a file of a source so that it can be written again.

    Raises:
        SourceError: It cannot be read, lies outside the root, is no regular file or no text.
        InputError: It holds bytes that would not be written again as they are.
    """
    try:
        with opened(root, path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SourceError(
            f"{path} cannot be read: {error.strerror or error}. Nothing was written."
        ) from error
    mark, encoding = next(((mark, name) for mark, name in MARKS if data.startswith(mark)), (b"", "utf-8"))
    found = Held(decode(data, path), data, mark, encoding)
    if len(data) > MOST_BYTES or found.coded(found.text) != data:
        raise InputError(
            f"{path} holds bytes that are no text, and would not stay as they are. Nothing was written.",
            hint=f"edit {path} with a program of yours",
        )
    return found


def overwrite(root: Path, path: str, before: Held, text: str) -> None:
    """Put another text in the place of the one that was read.

    Args:
        root: The source's folder.
        path: POSIX path relative to it.
        before: The file as it was read.
        text: What it shall say.

    Raises:
        InputError: The file is another by now, is read-only, is somebody else's or has a second name.
        SourceError: It cannot be written; it is as it was.
    """
    full = Path(root) / path
    try:
        folder, name = place(root, path)
        try:
            _replace(folder, name, full, before, before.coded(text))
        finally:
            if isinstance(folder, int):
                os.close(folder)
    except OSError as error:
        raise SourceError(
            f"{full} cannot be written: {error.strerror or error}. It is as it was.",
            hint="look at whose it and its folder are, and whether the disk is full",
        ) from error


def _replace(folder: int | str, name: str, full: Path, before: Held, data: bytes) -> None:
    at = folder if isinstance(folder, int) else None
    # Where the system has no names relative to a folder, the name holds the folder.
    named = name if isinstance(folder, int) else os.path.join(folder, name)
    info = os.stat(named, dir_fd=at, follow_symlinks=False)
    _allowed(info, named, at, full)
    new = os.path.join(os.path.dirname(named), f".{os.path.basename(name)}.{secrets.token_hex(4)}.part")
    try:
        descriptor = os.open(new, _NEW, 0o600, dir_fd=at)
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            if WALKS_BY_DESCRIPTOR:
                _as_it_was(descriptor, info, full)
            os.fsync(descriptor)
        with os.fdopen(os.open(named, os.O_RDONLY, dir_fd=at), "rb") as now:
            if os.fstat(now.fileno()).st_ino != info.st_ino or now.read(MOST_BYTES + 1) != before.data:
                raise InputError(
                    f"{full} was changed by another program meanwhile. Nothing was written.",
                    hint="look at what it says now, and try again",
                )
        if at is not None:
            os.rename(new, named, src_dir_fd=at, dst_dir_fd=at)
            os.fsync(at)
        else:
            os.replace(new, named)
    finally:
        _gone(new, at)


def _allowed(info: os.stat_result, named: str, at: int | None, full: Path) -> None:
    reason = None
    if not info.st_mode & 0o222 or not os.access(named, os.W_OK, dir_fd=at):
        reason = "is read-only"
    elif info.st_nlink > 1:
        reason = "has a second name (a hard link), which would keep the old text"
    if reason is not None:
        raise InputError(
            f"{full} {reason}. Nothing was written.", hint=f"edit {full} with a program of yours"
        )


def _as_it_was(descriptor: int, info: os.stat_result, full: Path) -> None:
    """Give the new file the mode and the owner of the old one."""
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (info.st_uid, info.st_gid):
        try:
            os.fchown(descriptor, info.st_uid, info.st_gid)
        except PermissionError as error:
            raise InputError(
                f"{full} belongs to somebody else, and would be yours afterwards. Nothing was written.",
                hint=f"edit {full} with a program of yours",
            ) from error
    os.fchmod(descriptor, info.st_mode & 0o7777)


def _gone(new: str, at: int | None) -> None:
    try:
        os.unlink(new, dir_fd=at)
    except FileNotFoundError:  # it has its place
        return
