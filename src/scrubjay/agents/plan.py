"""Plan: an agent and what was asked -> the files that would change, as a difference; then written, or taken back.

Everything is planned before anything is written. What a file held before is recorded: `uninstall` puts those bytes back
where the file still is as it was left, and cuts out what is scrubjay's where somebody has changed it since.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from scrubjay.agents import record, write
from scrubjay.agents.agent import Agent, Change, Home, Options, read
from scrubjay.agents.record import Kept, Record

AROUND: Final = 2
"""Lines that a difference shows before and after what changes."""

_PLACE = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")
_BLANK = frozenset((b"", b"{}", b"\xef\xbb\xbf", b"\xef\xbb\xbf{}"))
"""What is left of a file in which nothing is left."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done.

    Attributes:
        changes: The files that would change, and no others.
        record: What is to be remembered of it; None where nothing is any more.
        at: Where that is kept.
        folders: Folders to remove where they are empty afterwards, outermost first.
        left: Files that an earlier installation wrote, that somebody has changed, and in which the agent's
            installer does not look any more: what is scrubjay's in them stays.
    """

    changes: tuple[Change, ...]
    record: Record | None
    at: Path
    folders: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()


def to_install(agent: Agent, home: Home, options: Options) -> Plan:
    """Plan an installation, also one over an earlier one; nothing is written.

    Raises:
        InputError: A file is broken or cannot be read.
    """
    at = record.path_of(agent.name, home, options)
    known = record.load(at)
    without = {change.path: change.new for change in agent.uninstall(home, options)}
    files: dict[Path, Kept] = dict(known.files)
    changes = []
    for change in agent.install(home, options):
        kept = known.files.get(change.path)
        if kept and kept.after == record.checksum(change.old):
            before = kept.before
        else:
            before = _left(without.get(change.path, change.old), kept)
        new = None if before is None and _is_blank(change.new) else change.new
        changes.append(replace(change, new=new))
        files[change.path] = Kept(before, record.checksum(new))
    return Plan(_real(changes), Record(files, known.folders), at)


def to_uninstall(agent: Agent, home: Home, options: Options) -> Plan:
    """Plan to take an installation back; nothing is written.

    Raises:
        InputError: A file is broken or cannot be read, or the record of the installation is damaged.
    """
    at = record.path_of(agent.name, home, options)
    known = record.load(at)
    changes = {change.path: change for change in agent.uninstall(home, options)}
    left = []
    for path, kept in known.files.items():
        change = changes.get(path) or Change(path, old := read(path), old)
        as_left = kept.after == record.checksum(change.old)
        if not as_left and path not in changes and change.old is not None:
            left.append(path)
        changes[path] = replace(change, new=kept.before if as_left else _left(change.new, kept))
    return Plan(_real(changes.values()), None, at, known.folders, tuple(left))


def carry_out(plan: Plan, home: Home) -> None:
    """Write what was planned, all of it or nothing.

    Raises:
        InputError: A file may not be written or was changed since; nothing was changed then.
    """
    if not plan.changes and plan.record:
        return
    with write.alone(home.data / "agents" / "lock"):
        before = read(plan.at)
        write.check(plan.changes)
        if plan.record:
            # First, so that a process that dies in between leaves nothing that cannot be taken back.
            record.save(plan.at, plan.record)
        try:
            made = write.write(plan.changes)
        except BaseException:
            _put_back(plan.at, before)
            raise
        if plan.record is None:
            plan.at.unlink(missing_ok=True)
            write.remove(plan.folders)
        elif made:
            record.save(plan.at, replace(plan.record, folders=(*plan.record.folders, *made)))


def difference(change: Change) -> str:
    """Return a change as a unified diff, with two lines around it."""
    old, new = _lines(change.old), _lines(change.new)
    # What both begin and end with is most of a large file, and comparing it takes seconds.
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    start, end = max(0, first - AROUND), max(0, last - AROUND)
    from_name = str(change.path) if change.old is not None else "(no file)"
    to_name = str(change.path) if change.new is not None else "(no file)"
    changed = difflib.unified_diff(
        old[start : len(old) - end], new[start : len(new) - end], from_name, to_name, n=AROUND
    )
    return "".join(_PLACE.sub(lambda at: _moved(at, start), text) for text in changed)


def _alike(old: list[str], new: list[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _moved(found: re.Match[str], by: int) -> str:
    old, old_count, new, new_count = found.groups(default="")
    return f"@@ -{int(old) + by}{old_count} +{int(new) + by}{new_count} @@"


def _lines(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines


def _real(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(change for change in changes if change.old != change.new)


def _left(data: bytes | None, kept: Kept | None) -> bytes | None:
    """What is left of a file without ours: nothing, where it was not there before and nobody put anything in."""
    return None if kept and kept.before is None and _is_blank(data) else data


def _is_blank(data: bytes | None) -> bool:
    return data is None or data.strip() in _BLANK


def _put_back(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(data)


def summary(changes: Iterable[Change]) -> Mapping[Path, str]:
    """Return for each file whether it is made, changed or removed."""
    words = {(True, False): "made", (False, True): "removed"}
    return {change.path: words.get((change.old is None, change.new is None), "changed") for change in changes}
