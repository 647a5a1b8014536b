"""Watcher: turn file-system events into syncs.

System notifications (inotify, FSEvents, ReadDirectoryChangesW, through watchfiles) lose events when a queue overflows,
a folder fills before it is watched or a root is replaced. Each such case sets ``complete = False``: list everything.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from scrubjay.errors import SourceError
from scrubjay.ingest.scanner import (
    DEFAULT_INCLUDE,
    IGNORE_FILES,
    IncludePatterns,
    include_patterns,
    is_skipped_name,
)
from scrubjay.models.records import Source
from scrubjay.models.reports import FileError, SyncReport

# Editors write, rename and touch within this time.
DEBOUNCE = 1.5
# A tree that is never quiet is reported after this many debounces.
LONGEST_WAIT = 10
# Linux queues 16,384 events, four or five a new file, and drops the rest silently: a larger batch may have lost some.
MAX_NAMES = 2_000
# Milliseconds.
_TICK_MS, _STEP_MS = 200, 50
_MOST_FAILURES = 3
_ADDED, _DELETED = 1, 3


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Changes since the last report.

    Attributes:
        paths: Files that appeared, changed or went away, absolute and sorted.
        complete: Nothing else changed. False: list every root again.
        missing: Roots that do not exist now.
        reason: Why it is not complete.
    """

    paths: tuple[Path, ...]
    complete: bool
    missing: tuple[Path, ...]
    reason: str


@dataclass(slots=True)
class _PendingChanges:
    names: set[str] = field(default_factory=set)
    reason: str = ""
    first: float | None = None
    last: float = 0.0
    rearm: bool = False
    failures: int = 0

    def touch(self, now: float) -> None:
        self.first = now if self.first is None else self.first
        self.last = now

    def lose(self, reason: str, now: float) -> None:
        self.reason = self.reason or reason
        self.touch(now)

    def due(self, now: float, debounce: float) -> bool:
        if self.first is None:
            return False
        return now - self.last >= debounce or now - self.first >= LONGEST_WAIT * debounce

    def take(self, missing: tuple[Path, ...]) -> FileChanges:
        changes = FileChanges(
            tuple(Path(name) for name in sorted(self.names)), not self.reason, missing, self.reason
        )
        self.names, self.reason, self.first = set(), "", None
        return changes


def watch_roots(
    roots: Sequence[Path],
    *,
    stop: threading.Event,
    debounce: float = DEBOUNCE,
    include: Sequence[str] = DEFAULT_INCLUDE,
) -> Iterator[FileChanges]:
    """Yield what changed, each time it has been quiet for ``debounce`` seconds.

    The first report comes once the watch is armed, and is not complete. Roots that disappear are watched again when
    they are back.

    Raises:
        SourceError: The system refuses the watch.
    """
    places = [_Root(Path(os.path.abspath(root))) for root in roots]
    sieve = _Sieve(places, IncludePatterns(include))
    pending = _PendingChanges()
    pending.lose("the watch has just begun", time.monotonic() - debounce)
    while not stop.is_set():
        for place in places:
            place.look()
        try:
            yield from _listen(places, sieve, pending, debounce, stop)
        except FileNotFoundError as error:
            pending.lose(f"a root went away: {error}", time.monotonic())
        except OSError as error:
            raise _refused(places, error) from error
        except RuntimeError as error:
            from watchfiles._rust_notify import WatchfilesRustInternalError

            pending.failures += 1
            if not isinstance(error, WatchfilesRustInternalError):
                raise
            if pending.failures > _MOST_FAILURES:
                raise _refused(places, error) from error
            pending.lose(f"the watcher began anew: {error}", time.monotonic())


def _listen(
    places: list[_Root], sieve: _Sieve, pending: _PendingChanges, debounce: float, stop: threading.Event
) -> Iterator[FileChanges]:
    missing = tuple(place.path for place in places if not place.real)
    with closing(_batches([place.real for place in places if place.real], debounce, stop)) as batches:
        for batch in batches:
            now = time.monotonic()
            pending.failures = 0
            sieve.pour(batch, pending, now)
            moved = [place.moved(batch, pending, now) for place in places]  # each notes its change
            if any(moved):
                return
            if pending.due(now, debounce):
                if pending.rearm:
                    pending.rearm = False
                    return
                yield pending.take(missing)


def _batches(
    reals: list[str], debounce: float, stop: threading.Event
) -> Generator[set[tuple[int, str]], None, None]:
    import watchfiles

    step = max(5, min(_STEP_MS, int(debounce * 1000 / 4)))
    for batch in watchfiles.watch(
        *reals,
        watch_filter=None,
        debounce=step,
        step=step,
        stop_event=stop,
        rust_timeout=min(_TICK_MS, 4 * step),
        yield_on_timeout=True,
        debug=False,
        ignore_permission_denied=True,
    ):
        yield {(int(change), name) for change, name in batch}


def _refused(places: list[_Root], error: Exception) -> SourceError:
    names = ", ".join(str(place.path) for place in places)
    message = f"The watch of {names} has stopped: {error}. Files are still read at each sync."
    return SourceError(message, hint="on Linux, raise fs.inotify.max_user_watches, or leave folders out")


class _Root:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.real = ""
        self.is_file = False
        self.identity: tuple[str, int, int] | None = None

    def look(self) -> None:
        self.identity = self._now()
        self.real = self.identity[0] if self.identity else ""
        self.is_file = bool(self.real) and not os.path.isdir(self.real)

    def moved(self, batch: Iterable[tuple[int, str]], pending: _PendingChanges, now: float) -> bool:
        """A deleted folder's inode number is soon reused, so its deletion event counts too."""
        if self._now() == self.identity and (_DELETED, self.real) not in batch:
            return False
        if self.is_file:
            pending.names.add(str(self.path))
            pending.touch(now)
        else:
            pending.lose(f"{self.path} went away, came or was replaced", now)
        return True

    def _now(self) -> tuple[str, int, int] | None:
        try:
            real = os.path.realpath(self.path, strict=True)
            info = os.stat(real)
        except OSError:
            return None  # missing
        return real, info.st_dev, info.st_ino


class _Sieve:
    def __init__(self, places: list[_Root], include: IncludePatterns) -> None:
        self.places, self.include = places, include

    def pour(self, batch: Iterable[tuple[int, str]], pending: _PendingChanges, now: float) -> None:
        for change, name in batch:
            for place in self.places:
                if place.real and (name == place.real or name.startswith(place.real + os.sep)):
                    below = name[len(place.real) + 1 :]
                    self._one(
                        change, str(place.path / below) if below else str(place.path), below, pending, now
                    )
                    break
        if len(pending.names) > MAX_NAMES:
            pending.names.clear()
            pending.lose(f"more than {MAX_NAMES:,} files changed at once", now)
            pending.rearm = True

    def _one(self, change: int, path: str, below: str, pending: _PendingChanges, now: float) -> None:
        *folders, last = below.split(os.sep)
        if last in IGNORE_FILES:
            pending.lose(f"{path} changed", now)
        elif any(
            is_skipped_name(part) and not self.include.names(part)
            for part in [*folders, *filter(None, [last])]
        ):
            return
        elif change == _ADDED and os.path.isdir(path):
            # Files put into it before it was watched sent no event.
            pending.lose(f"the folder {path} appeared", now)
        elif not below or self.include.takes(last, below.replace(os.sep, "/")):
            if below or not os.path.isdir(path):
                pending.names.add(path)
                pending.touch(now)
        elif change == _DELETED and not os.path.lexists(path):
            pending.lose(f"{path}, which may have been a folder, went away", now)


def sync_on_change(
    sources: Sequence[Source],
    sync: Callable[[], SyncReport],
    report: Callable[[SyncReport], None],
    *,
    debounce: float,
    stop: threading.Event,
) -> None:
    """Sync once the watch is armed, then after every quiet moment that follows a change.

    A sync compares all files, so a lost event loses nothing; where the watch lost events, the report says so.

    Raises:
        SourceError: The watch ended although nobody stopped it.
    """
    roots = [Path(root) for root in dict.fromkeys(source.root for source in sources)]
    include = tuple(
        dict.fromkeys((*DEFAULT_INCLUDE, *(p for source in sources for p in include_patterns(source))))
    )
    armed = False
    for changes in watch_roots(roots, debounce=debounce, stop=stop, include=include):
        summary = sync()
        if armed and not changes.complete:
            behind = FileError(
                ", ".join(map(str, roots)), f"The watch was behind: {changes.reason}.", "all was compared"
            )
            summary = replace(summary, problems=(*summary.problems, behind))
        armed = True
        report(summary)
