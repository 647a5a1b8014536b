"""Compare: a source and what is stored of it -> what changed.

Its own module, for a search asks it before it answers and must not load the whole write path for that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from scrubjay.ingest.sources.files import FileState, Scan, scan
from scrubjay.ingest.sources.kinds import DEFAULT_INCLUDE, TRANSCRIPT_INCLUDE
from scrubjay.memory.records import Document, Source

BESIDE: Final = ("storage/message/", "storage/part/", "storage/session_diff/")
"""Folders of OpenCode whose many files are read with the session they belong to, and are no transcripts alone."""


def look(source: Source, until: float = math.inf) -> Scan:
    """Return the files of a source; until the clock (``time.monotonic``) says stop."""
    include = source.include or DEFAULT_INCLUDE
    exclude = (*source.exclude, *BESIDE) if TRANSCRIPT_INCLUDE[0] in include else source.exclude
    return scan(Path(source.root), include=include, exclude=exclude, until=until)


def look_at(source: Source, path: Path) -> Scan:
    """Return one file of a source, or nothing where its rules leave it out; of the others nothing is told."""
    found = look(source)
    try:
        wanted = path.relative_to(source.root).as_posix()
    except ValueError:
        wanted = ""
    return replace(found, files=tuple(state for state in found.files if state.path == wanted))


def compare(
    found: Scan, known: Mapping[str, Document], *, again: bool = False
) -> tuple[list[FileState], list[str]]:
    """Return the files whose time or size is not what is stored, and the paths that are gone.

    Args:
        found: The files.
        known: What is stored.
        again: Whether files that could not be read the last time are tried though they are as they were.
    """
    changed = [
        file
        for file in found.files
        if file.path not in known
        or (known[file.path].mtime_ns, known[file.path].size) != (file.mtime_ns, file.size)
        or (again and known[file.path].trouble)
    ]
    present = {file.path for file in found.files}
    unread = {problem.path for problem in found.problems if problem.hides}
    gone = [path for path in known if path not in present and not _within(path, unread)]
    return changed, gone


def fitting(
    changed: Sequence[FileState], known: Mapping[str, Document], most: int
) -> tuple[list[FileState], list[FileState]]:
    """Return the changed files that are read before an answer, no more than so many bytes, and those that are left.

    Of a log that grew only what is new counts.
    """
    fit: list[FileState] = []
    for state in sorted(changed, key=lambda one: new_bytes(one, known)):
        most -= new_bytes(state, known)
        if most < 0:
            break
        fit.append(state)
    chosen = set(fit)
    return fit, [state for state in changed if state not in chosen]


def new_bytes(state: FileState, known: Mapping[str, Document]) -> int:
    """Return how many bytes of a changed file are to be read."""
    old = known.get(state.path)
    return max(0, state.size - old.cursor) if old is not None else state.size


def _within(path: str, folders: set[str]) -> bool:
    return "." in folders or any(
        path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders
    )
