"""Plan the file changes of an agent, show the diff, write all or none, record them and revert them exactly.

Everything is planned before anything is written. Files are written beside their place and renamed, so an agent never
reads half of one; symbolic links, permissions and owner stay. A file that no longer matches the plan stops everything.

The record holds each file's previous bytes (which may include a token: it is readable by its owner alone and removed
with the installation) and a checksum of what was written. `uninstall` restores those bytes where the file is unchanged
since, and else cuts out only scrubjay's parts.
"""

from __future__ import annotations

import base64
import contextlib
import difflib
import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from scrubjay import atomic_files
from scrubjay.agents.base import Agent, Change, Home, Options, read_if_exists
from scrubjay.errors import InputError
from scrubjay.frozen import frozen


@contextmanager
def installation_lock(path: Path) -> Iterator[None]:
    """Hold the lock of all installations; waits for another one.

    Raises:
        InputError: The lock file cannot be created.
    """
    with contextlib.ExitStack() as stack:
        try:
            atomic_files.make_folder(path.parent)
            stack.enter_context(atomic_files.hold_lock(path, seconds=None))
        except OSError as error:
            raise InputError(
                f"{path} cannot be created ({error.strerror}). Nothing was changed.",
                hint="check that the folder is yours and writable",
            ) from error
        yield


def check_writable(changes: Sequence[Change]) -> None:
    """Check that all changes can be written.

    Raises:
        InputError: A file is not writable, is not a regular file, or changed since it was planned.
    """
    for change in changes:
        target = _link_target(change.path)
        if read_if_exists(target) != change.old:
            raise InputError(
                f"{change.path} was changed meanwhile. Nothing was written.", hint="run the command again"
            )
        try:
            mode = target.stat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise InputError(f"{change.path} is not a file. Nothing was changed.")
        if not mode & 0o222 or not os.access(target, os.W_OK):
            link = f" (it leads to {target})" if change.path.is_symlink() else ""
            raise InputError(
                f"{change.path} is read-only{link}. Nothing was changed.",
                hint="make it writable, or add what `--dry-run` shows where the file is made",
            )


def write_changes(changes: Sequence[Change]) -> list[Path]:
    """Write all changes and return the folders created for them, outermost first.

    Raises:
        InputError: As `check_writable`, or the system refused; everything written was reverted.
    """
    check_writable(changes)
    created: list[Path] = []
    staged: list[tuple[Change, Path | None]] = []
    done: list[Change] = []
    try:
        for change in changes:
            created += atomic_files.make_folder(_link_target(change.path).parent, 0o777)
            staged.append((change, _stage(change, change.new)))
        check_writable(changes)
        for change, temporary in staged:
            _replace(_link_target(change.path), temporary)
            done.append(change)
    except (OSError, InputError) as error:
        for change in reversed(done):
            _replace(_link_target(change.path), _stage(change, change.old))
        for _, temporary in staged:
            if temporary:
                temporary.unlink(missing_ok=True)
        remove_folders(created)
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{error.filename or 'A file'} cannot be written ({error.strerror}). Nothing was changed.",
            hint="check that the folder exists and is writable, and that the disk is not full",
        ) from error
    return created


def remove_folders(folders: Sequence[Path]) -> None:
    """Remove empty folders, innermost first."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _link_target(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _stage(change: Change, data: bytes | None) -> Path | None:
    """Write the new content beside the file, with its permissions; None for a deletion."""
    if data is None:
        return None
    target = _link_target(change.path)
    temporary = target.with_name(f".{target.name}.scrubjay-{os.getpid()}")
    temporary.unlink(missing_ok=True)
    try:
        status: os.stat_result | None = target.stat()
    except FileNotFoundError:
        status = None
    mode = stat.S_IMODE(status.st_mode) if status else change.mode
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | atomic_files.BINARY
        with open(os.open(temporary, flags, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if status:
            temporary.chmod(mode)
            if sys.platform != "win32" and (status.st_uid != os.getuid() or status.st_gid != os.getgid()):
                with contextlib.suppress(PermissionError):
                    os.chown(temporary, status.st_uid, status.st_gid)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _replace(target: Path, temporary: Path | None) -> None:
    if temporary is None:
        target.unlink(missing_ok=True)
        atomic_files.fsync_folder(target.parent)
    else:
        atomic_files.replace_file(temporary, target)


RECORD_VERSION: Final = 1


@frozen
class FileRecord:
    """Record of one file.

    Attributes:
        before: Its content without scrubjay; None for no file.
        after: Checksum of what was written; None where no file was left.
    """

    before: bytes | None
    after: str | None


@frozen
class InstallRecord:
    """Record of one installation.

    Attributes:
        files: Record of each file by path.
        folders: Folders created, in that order.
    """

    files: Mapping[Path, FileRecord] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()


def record_path(agent: str, home: Home, options: Options) -> Path:
    suffix = ""
    if options.project:
        suffix = "-" + hashlib.sha256(str(options.project).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return home.data / "agents" / f"{agent}{suffix}.json"


def checksum(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def load_record(path: Path) -> InstallRecord:
    """Return a record; an empty one where there is none.

    Raises:
        InputError: It is damaged, or of a newer scrubjay.
    """
    data = read_if_exists(path)
    if data is None:
        return InstallRecord()
    try:
        content = json.loads(data)
        if content["version"] != RECORD_VERSION:
            raise ValueError(f"version {content['version']}")
        files = {
            Path(name): FileRecord(_decode(file["before"]), file["after"])
            for name, file in content["files"].items()
        }
        return InstallRecord(files, tuple(map(Path, content["folders"])))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} (the record of the files before installation) is damaged ({error}). Nothing was changed.",
            hint="move it away and try again: scrubjay's parts are then cut out of the current files",
        ) from error


def save_record(path: Path, record: InstallRecord) -> None:
    """Write a record, readable by its owner alone."""
    content = {
        "version": RECORD_VERSION,
        "files": {
            str(name): {"before": _encode(file.before), "after": file.after}
            for name, file in record.files.items()
        },
        "folders": [str(folder) for folder in record.folders],
    }
    atomic_files.make_folder(path.parent)
    atomic_files.write_file(path, json.dumps(content).encode("ascii"))


def _encode(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _decode(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)


DIFF_CONTEXT: Final = 2
"""Lines that a difference shows before and after what changes."""

_HUNK_HEADER = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")
_EMPTY_DOCUMENTS = frozenset((b"", b"{}", b"\xef\xbb\xbf", b"\xef\xbb\xbf{}"))
"""Files without content, stripped of whitespace."""


@frozen
class InstallPlan:
    """Planned changes of an installation or its removal.

    Attributes:
        record: The record afterwards; None to delete it.
        folders: Folders to remove if empty afterwards, outermost first.
        left: Files that somebody has changed and that stay as they are: of an installation, texts that are no
            version of ours; of its removal, files that the installer no longer manages, with our parts in them.
    """

    changes: tuple[Change, ...]
    record: InstallRecord | None
    record_path: Path
    folders: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()


def _other_installations(home: Home, *own: Path) -> dict[Path, FileRecord]:
    """Files of other installations, by real path: a link may make one file of two agents'."""
    files: dict[Path, FileRecord] = {}
    for path in sorted((home.data / "agents").glob("*.json")):
        with contextlib.suppress(InputError):  # damaged, or that of `scrubjay setup`
            if path not in own:
                files |= {_link_target(name): file for name, file in load_record(path).files.items()}
    return files


def plan_install(agent: Agent, home: Home, options: Options) -> InstallPlan:
    """Plan an installation, also over an earlier one; nothing is written."""
    path = record_path(agent.name, home, options)
    record, others = load_record(path), _other_installations(home, path)
    uninstalled = {change.path: change.new for change in agent.uninstall(home, options)}
    files: dict[Path, FileRecord] = dict(record.files)
    changes, left = [], []
    for change in agent.install(home, options):
        file = record.files.get(change.path) or others.get(_link_target(change.path))
        if file and file.after == checksum(change.old):
            before = file.before
        elif change.is_text and uninstalled[change.path] is not None:
            left.append(change.path)
            continue
        else:
            before = _without_scrubjay(uninstalled.get(change.path, change.old), file)
        new = None if before is None and _is_blank(change.new) else change.new
        changes.append(replace(change, new=new))
        files[change.path] = FileRecord(before, checksum(new))
    return InstallPlan(
        _effective_changes(changes), InstallRecord(files, record.folders), path, left=tuple(left)
    )


def plan_uninstall(agent: Agent, home: Home, options: Options, together: Sequence[Agent] = ()) -> InstallPlan:
    """Plan to revert an installation; nothing is written.

    Parts in a file that another agent reads, too, stay until that agent's installation is reverted, as those of
    ``together`` will be.
    """
    record_file = record_path(agent.name, home, options)
    record = load_record(record_file)
    ending = [record_path(other.name, home, options) for other in together]
    others = _other_installations(home, record_file, *ending)
    changes = {
        change.path: change
        for change in agent.uninstall(home, options, lambda path: _link_target(path) in others)
    }
    unmanaged = []
    for path, file in record.files.items():
        change = changes.get(path) or Change(path, old := read_if_exists(path), old)
        intact = file.after == checksum(change.old) and _link_target(path) not in others
        if not intact and path not in changes and change.old is not None:
            unmanaged.append(path)
        changes[path] = replace(change, new=file.before if intact else _without_scrubjay(change.new, file))
    effective = _effective_changes(changes.values())
    return InstallPlan(effective, None, record_file, record.folders, tuple(unmanaged))


def apply_plan(plan: InstallPlan, home: Home) -> None:
    """Write a plan, all of it or nothing.

    Raises:
        InputError: A file is not writable or changed since; nothing was changed.
    """
    if not plan.changes and plan.record:
        return
    with installation_lock(home.data / "agents" / "lock"):
        before = read_if_exists(plan.record_path)
        check_writable(plan.changes)
        if plan.record:
            # First, so that a process that dies in between leaves nothing that cannot be undone.
            save_record(plan.record_path, plan.record)
        try:
            created = write_changes(plan.changes)
        except BaseException:
            if before is None:
                plan.record_path.unlink(missing_ok=True)
            else:
                plan.record_path.write_bytes(before)
            raise
        if plan.record is None:
            plan.record_path.unlink(missing_ok=True)
            remove_folders(plan.folders)
        elif created:
            save_record(plan.record_path, replace(plan.record, folders=(*plan.record.folders, *created)))


def unified_diff(change: Change) -> str:
    old, new = _lines(change.old), _lines(change.new)
    # The common beginning and end are most of a large file, and comparing them takes seconds.
    first = _common_prefix(old, new)
    last = _common_prefix(old[first:][::-1], new[first:][::-1])
    start, end = max(0, first - DIFF_CONTEXT), max(0, last - DIFF_CONTEXT)
    from_name = str(change.path) if change.old is not None else "(no file)"
    to_name = str(change.path) if change.new is not None else "(no file)"
    lines = difflib.unified_diff(
        old[start : len(old) - end], new[start : len(new) - end], from_name, to_name, n=DIFF_CONTEXT
    )
    return "".join(_HUNK_HEADER.sub(lambda at: _shift_hunk(at, start), text) for text in lines)


def _common_prefix(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (line, other) in pairs if line != other), min(len(old), len(new)))


def _shift_hunk(header: re.Match[str], offset: int) -> str:
    old, old_count, new, new_count = header.groups(default="")
    return f"@@ -{int(old) + offset}{old_count} +{int(new) + offset}{new_count} @@"


def _lines(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines


def _effective_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(change for change in changes if change.old != change.new)


def _without_scrubjay(data: bytes | None, record: FileRecord | None) -> bytes | None:
    """The file without our parts; None where we created it and nothing else is in it."""
    return None if record and record.before is None and _is_blank(data) else data


def _is_blank(data: bytes | None) -> bool:
    return data is None or data.strip() in _EMPTY_DOCUMENTS


def change_summary(changes: Iterable[Change]) -> Mapping[Path, str]:
    """Return one line for each file: created, changed or removed."""
    words = {(True, False): "created", (False, True): "removed"}
    return {change.path: words.get((change.old is None, change.new is None), "changed") for change in changes}
