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
from scrubjay.ingest.freshness import head_log
from scrubjay.ingest.gitignore import IncludePatterns, is_skipped_name
from scrubjay.ingest.scanner import DEFAULT_INCLUDE, IGNORE_FILES, include_patterns
from scrubjay.models.records import Source
from scrubjay.models.reports import FileError, SyncReport
from scrubjay.models.sources import repository_of

# Editors write, rename and touch within this time.
DEBOUNCE = 1.5
# Debounces after which a tree that is never quiet is reported.
MAX_DEBOUNCES = 10
# Linux queues 16,384 events, four or five a new file, and drops the rest silently: a larger batch may have lost some.
MAX_NAMES = 2_000
# Milliseconds.
_TICK_MS, _STEP_MS = 200, 50
_MAX_FAILURES = 3
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
    rewatch: bool = False
    failures: int = 0

    def touch(self, now: float) -> None:
        self.first = now if self.first is None else self.first
        self.last = now

    def mark_incomplete(self, reason: str, now: float) -> None:
        self.reason = self.reason or reason
        self.touch(now)

    def is_due(self, now: float, debounce: float) -> bool:
        if self.first is None:
            return False
        return now - self.last >= debounce or now - self.first >= MAX_DEBOUNCES * debounce

    def take_changes(self, missing: tuple[Path, ...]) -> FileChanges:
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
    """Yield changes, each time nothing has changed for ``debounce`` seconds.

    The first report comes once the watch is armed, and is not complete. Roots that disappear are watched again when
    they are back.

    Raises:
        SourceError: The system refuses the watch.
    """
    watched = [_Root(Path(os.path.abspath(root))) for root in roots]
    event_filter = _EventFilter(watched, IncludePatterns(include))
    pending = _PendingChanges()
    pending.mark_incomplete("the watch has just begun", time.monotonic() - debounce)
    while not stop.is_set():
        for root in watched:
            root.resolve()
        try:
            yield from _listen(watched, event_filter, pending, debounce, stop)
        except FileNotFoundError as error:
            pending.mark_incomplete(f"a root went away: {error}", time.monotonic())
        except OSError as error:
            raise _watch_error(watched, error) from error
        except RuntimeError as error:
            from watchfiles._rust_notify import WatchfilesRustInternalError

            pending.failures += 1
            if not isinstance(error, WatchfilesRustInternalError):
                raise
            if pending.failures > _MAX_FAILURES:
                raise _watch_error(watched, error) from error
            pending.mark_incomplete(f"the watcher began anew: {error}", time.monotonic())


def _listen(
    watched: list[_Root],
    event_filter: _EventFilter,
    pending: _PendingChanges,
    debounce: float,
    stop: threading.Event,
) -> Iterator[FileChanges]:
    missing = tuple(root.path for root in watched if not root.real)
    with closing(_batches([root.real for root in watched if root.real], debounce, stop)) as batches:
        for batch in batches:
            now = time.monotonic()
            pending.failures = 0
            event_filter.add_events(batch, pending, now)
            moved = [root.has_moved(batch, pending, now) for root in watched]  # each notes its change
            if any(moved):
                return
            if pending.is_due(now, debounce):
                if pending.rewatch:
                    pending.rewatch = False
                    return
                yield pending.take_changes(missing)


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


def _watch_error(watched: list[_Root], error: Exception) -> SourceError:
    names = ", ".join(str(root.path) for root in watched)
    message = f"The watch of {names} has stopped: {error}. Files are still read at each sync."
    return SourceError(message, hint="on Linux, raise fs.inotify.max_user_watches, or leave folders out")


class _Root:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.real = ""
        self.is_file = False
        self.identity: tuple[str, int, int] | None = None

    def resolve(self) -> None:
        self.identity = self._current_identity()
        self.real = self.identity[0] if self.identity else ""
        self.is_file = bool(self.real) and not os.path.isdir(self.real)

    def has_moved(self, batch: Iterable[tuple[int, str]], pending: _PendingChanges, now: float) -> bool:
        """Return whether the root was replaced; a deletion event counts too, since inode numbers are soon reused."""
        if self._current_identity() == self.identity and (_DELETED, self.real) not in batch:
            return False
        if self.is_file:
            pending.names.add(str(self.path))
            pending.touch(now)
        else:
            pending.mark_incomplete(f"{self.path} went away, came or was replaced", now)
        return True

    def _current_identity(self) -> tuple[str, int, int] | None:
        try:
            real = os.path.realpath(self.path, strict=True)
            info = os.stat(real)
        except OSError:
            return None  # missing
        return real, info.st_dev, info.st_ino


class _EventFilter:
    def __init__(self, watched: list[_Root], include: IncludePatterns) -> None:
        self.watched, self.include = watched, include

    def add_events(self, batch: Iterable[tuple[int, str]], pending: _PendingChanges, now: float) -> None:
        for change, name in batch:
            for root in self.watched:
                if root.real and (name == root.real or name.startswith(root.real + os.sep)):
                    below = name[len(root.real) + 1 :]
                    self._add_event(
                        change, str(root.path / below) if below else str(root.path), below, pending, now
                    )
                    break
        if len(pending.names) > MAX_NAMES:
            pending.names.clear()
            pending.mark_incomplete(f"more than {MAX_NAMES:,} files changed at once", now)
            pending.rewatch = True

    def _add_event(self, change: int, path: str, below: str, pending: _PendingChanges, now: float) -> None:
        *folders, last = below.split(os.sep)
        if last in IGNORE_FILES:
            pending.mark_incomplete(f"{path} changed", now)
        elif any(
            is_skipped_name(part) and not self.include.names(part)
            for part in [*folders, *filter(None, [last])]
        ):
            return
        elif change == _ADDED and os.path.isdir(path):
            # Files put into it before it was watched sent no event.
            pending.mark_incomplete(f"the folder {path} appeared", now)
        elif not below or self.include.matches(below.replace(os.sep, "/")):
            if below or not os.path.isdir(path):
                pending.names.add(path)
                pending.touch(now)
        elif change == _DELETED and not os.path.lexists(path):
            pending.mark_incomplete(f"{path}, which may have been a folder, went away", now)


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
    histories = [source for source in sources if repository_of(source) is not None]
    folders = [source for source in sources if source not in histories]
    # A history's file comes first: it may lie in a folder that is watched for its notes.
    watched = (*map(head_log, histories), *(source.root for source in folders))
    roots = [Path(root) for root in dict.fromkeys(watched)]
    include = tuple(
        dict.fromkeys((*DEFAULT_INCLUDE, *(p for source in folders for p in include_patterns(source))))
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
