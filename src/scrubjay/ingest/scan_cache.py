"""Scan cache: tell without looking at each file that nothing changed since a source was scanned.

Linux puts an event into an inotify queue before the call that changed a file returns, so an empty queue proves that a
scan still holds. Where that is not certain (another system, a network's file system, links into a folder, no room
for watches) nothing is kept and each search lists the files again. Writes through a memory map alone make no event
(inotify(7)); databases, editors and agents do not write so. `watcher` reports changes later, and on all systems.
"""

from __future__ import annotations

import errno
import math
import os
import sys
import threading
from typing import TYPE_CHECKING, Final

from scrubjay.frozen import frozen

if TYPE_CHECKING:
    from scrubjay.ingest.scanner import ScanResult
    from scrubjay.models.records import Source

MIN_FILES: Final = 300
"""Files of a source below which listing them takes less than a millisecond or two."""
MAX_FILES: Final = 100_000
"""Files of a source above which its scan, 250 bytes a file, is not kept."""
MAX_SOURCES: Final = 8
"""Scans that a process keeps: a user has 128 queues."""
MAX_STATES: Final = 64
"""States of the store, one per thread, for which a scan is known to show no change."""
LOCAL_SYSTEMS: Final = frozenset(
    {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"}
)
"""File systems whose files only this machine changes."""

# sys/inotify.h: modify, attrib, moved from and to, create, delete, delete self, move self.
_EVENT_MASK: Final = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
_QUEUE_FLAGS: Final = 0o4000 | 0o2000000  # not blocking, closed on exec


class FolderWatch:
    """An inotify queue for the folders of one source.

    Raises:
        OSError: The system has none.
    """

    def __init__(self, root: str) -> None:
        import ctypes
        import weakref

        if sys.platform != "linux" or file_system(root) not in LOCAL_SYSTEMS:
            raise OSError(errno.ENOSYS, "no events of all changes")
        self._libc = ctypes.CDLL(None)
        self._root = root
        self._identity = _identity(root)
        self._queue = self._libc.inotify_init1(_QUEUE_FLAGS)
        if self._queue < 0:
            raise OSError("no inotify")
        self.close = weakref.finalize(self, os.close, self._queue)
        self.complete = True

    def add(self, folder: str, device: int) -> None:
        """Watch a folder that is about to be listed."""
        added = self._libc.inotify_add_watch(self._queue, os.fsencode(folder), _EVENT_MASK) >= 0
        self.complete = self.complete and added and device == self._identity[0]

    def mark_incomplete(self) -> None:
        """Note a file that can change without an event in a watched folder: a link."""
        self.complete = False

    def is_quiet(self) -> bool:
        """Return whether nothing has happened since the watch began; once False, it stays so."""
        try:
            self.complete = self.complete and _identity(self._root) == self._identity
            self.complete = self.complete and not os.read(self._queue, 4096)
        except BlockingIOError:
            pass  # the queue is empty
        except OSError:
            self.complete = False
        return self.complete


def _identity(path: str) -> tuple[int, int]:
    info = os.stat(path)
    return info.st_dev, info.st_ino


def file_system(path: str, mounts: str = "/proc/self/mountinfo") -> str:
    """Return the type of the file system of a path, an empty string where it is unknown."""
    real, kind, longest = os.path.join(os.path.realpath(path), ""), "", -1
    with open(mounts, "rb") as lines:
        for line in lines:
            before, _, after = os.fsdecode(line).partition(" - ")
            place = before.split(" ")[4].replace("\\040", " ")
            if real.startswith(os.path.join(place, "")) and len(place) >= longest:  # the last one is on top
                kind, longest = after.partition(" ")[0], len(place)
    return kind


@frozen
class _CacheEntry:
    key: tuple[object, ...]
    scan: ScanResult
    watch: FolderWatch
    unchanged: set[object]


class ScanCache:
    """Scans that a process keeps, by source. The first scan is not kept: most commands need only one."""

    def __init__(self) -> None:
        self._large_sources: set[str] = set()
        self._entries: dict[str, _CacheEntry] = {}
        self._lock = threading.Lock()

    def list_files(self, source: Source, until: float = math.inf) -> ScanResult:
        """List the files of a source as `scanner.list_files` does, or return its scan if it still holds."""
        from scrubjay.ingest.scanner import list_files

        entry = self._valid_entry(source)
        if entry is not None:
            return entry.scan
        watch = self._new_watch(source)
        scan = list_files(source, until, watch)
        worth = MIN_FILES <= len(scan.files) <= MAX_FILES
        with self._lock:
            if watch is None:
                if worth:
                    self._large_sources.add(source.id)
            elif (
                worth
                and watch.is_quiet()
                and source.id not in self._entries
                and len(self._entries) < MAX_SOURCES
            ):
                self._entries[source.id] = _CacheEntry(_cache_key(source), scan, watch, set())
            else:
                watch.close()
        return scan

    def is_unchanged(self, source: Source, state: object) -> bool:
        """Return whether a source's files are still those that were compared with this state of the store."""
        entry = self._valid_entry(source)
        return entry is not None and state in entry.unchanged

    def mark_unchanged(self, source: Source, scan: ScanResult, state: object) -> None:
        """Note that a scan shows no change against a state of the store."""
        with self._lock:
            entry = self._entries.get(source.id)
            if entry is not None and entry.scan is scan:
                if len(entry.unchanged) >= MAX_STATES:
                    entry.unchanged.clear()
                entry.unchanged.add(state)

    def close(self) -> None:
        with self._lock:
            for entry in self._entries.values():
                entry.watch.close()
            self._entries.clear()

    def _valid_entry(self, source: Source) -> _CacheEntry | None:
        with self._lock:
            entry = self._entries.get(source.id)
            if entry is None or (entry.key == _cache_key(source) and entry.watch.is_quiet()):
                return entry
            self._entries.pop(source.id).watch.close()
            return None

    def _new_watch(self, source: Source) -> FolderWatch | None:
        if source.id not in self._large_sources:
            return None
        try:
            return FolderWatch(source.root)
        except OSError:
            return None


def _cache_key(source: Source) -> tuple[object, ...]:
    """Return what a scan depends on, with the process: a forked one must not read the events of its parent."""
    return os.getpid(), source.root, source.include, source.exclude
