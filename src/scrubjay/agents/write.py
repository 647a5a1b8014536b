"""Write: changes -> the files as they should be, all of them or none.

Each file is written beside its place and renamed, so that an agent never reads half of one; a symbolic link stays,
what it leads to changes; rights and owner are kept. A file that is no longer what was planned from stops everything.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scrubjay import durable_files
from scrubjay.agents.agent import Change, read
from scrubjay.errors import InputError

if sys.platform != "win32":
    import fcntl


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other installation writes, and hold them up until the block ends.

    Raises:
        InputError: The file that is locked cannot be made.
    """
    try:
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(
            f"{path} cannot be made ({error.strerror}). Nothing was changed.",
            hint="check that the folder is yours and writable",
        ) from error
    try:
        if sys.platform != "win32":
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def check(changes: Sequence[Change]) -> None:
    """Do nothing where all changes can be written, or raise.

    Raises:
        InputError: A file may not be written, is no file, or is not what it was when the changes were planned.
    """
    for change in changes:
        target = _target(change.path)
        if read(target) != change.old:
            raise InputError(
                f"{change.path} was changed by somebody else in the meantime. Nothing was changed.",
                hint="run the command again: it plans from what is there now",
            )
        try:
            mode = target.stat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise InputError(f"{change.path} is no file. Nothing was changed.")
        if not mode & 0o222 or not os.access(target, os.W_OK):
            raise InputError(
                f"{change.path} is read-only{_leads(change.path, target)}. Nothing was changed.",
                hint="make it writable, or add what `--dry-run` shows where the file is made",
            )


def write(changes: Sequence[Change]) -> list[Path]:
    """Write all changes and return the folders that were made for them, outermost first.

    Raises:
        InputError: As `check`, or the system refused; what had been written was put back.
    """
    check(changes)
    made: list[Path] = []
    staged: list[tuple[Change, Path | None]] = []
    done: list[Change] = []
    try:
        for change in changes:
            made += _folders(_target(change.path).parent)
            staged.append((change, _beside(change, change.new)))
        check(changes)
        for change, beside in staged:
            _place(_target(change.path), beside)
            done.append(change)
    except (OSError, InputError) as error:
        for change in reversed(done):
            _place(_target(change.path), _beside(change, change.old))
        _drop(staged)
        remove(made)
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{error.filename or 'A file'} cannot be written ({error.strerror}). Nothing was changed.",
            hint="check that the folder is there, yours and writable, and that the disk is not full",
        ) from error
    return made


def remove(folders: Sequence[Path]) -> None:
    """Remove folders, innermost first, as far as they are empty."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _drop(staged: Sequence[tuple[Change, Path | None]]) -> None:
    for _, left in staged:
        if left:
            left.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _leads(path: Path, target: Path) -> str:
    return f" (it leads to {target})" if path.is_symlink() else ""


def _folders(folder: Path) -> list[Path]:
    missing: list[Path] = []
    while not folder.exists():
        missing.insert(0, folder)
        folder = folder.parent
    for each in missing:
        each.mkdir(exist_ok=True)
    return missing


def _beside(change: Change, data: bytes | None) -> Path | None:
    """Write what a file is to hold beside it, with its rights; None where it is to go."""
    if data is None:
        return None
    target = _target(change.path)
    beside = target.with_name(f".{target.name}.scrubjay-{os.getpid()}")
    beside.unlink(missing_ok=True)
    try:
        known: os.stat_result | None = target.stat()
    except FileNotFoundError:
        known = None
    mode = stat.S_IMODE(known.st_mode) if known else change.mode
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if known:
            beside.chmod(mode)
            if (known.st_uid, known.st_gid) != (os.getuid(), os.getgid()):
                with contextlib.suppress(PermissionError):
                    os.chown(beside, known.st_uid, known.st_gid)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    return beside


def _place(target: Path, beside: Path | None) -> None:
    if beside is None:
        target.unlink(missing_ok=True)
        durable_files.sync_folder(target.parent)
    else:
        durable_files.put(beside, target)
