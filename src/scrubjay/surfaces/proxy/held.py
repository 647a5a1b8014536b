"""Held: a place for a SQLite file -> the file, open; one that is found damaged is put aside, and another one begun.

What lay in a damaged file stays in it, for whoever can read it. The new one has another name, with a number: another
server that finds the same damage a moment later cannot put that one aside instead, and goes on with it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

BUSY: Final = 2.0
"""Seconds to wait for another process that writes."""
DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite calls a file that is not as it was written, https://www.sqlite.org/rescode.html."""
BESIDE: Final = ("-wal", "-shm")
"""What SQLite keeps beside a file; whoever reads the file needs the first."""

Value = TypeVar("Value")
Work = Callable[[sqlite3.Connection, str], Value]
"""What is done with a file, given its name besides, in one transaction."""


class DamagedError(Exception):
    """Work found in a file what was never written into it."""


class Held:
    """One file, for all threads of a process and beside other processes.

    Args:
        first: Where it is, as long as none was damaged.
        tables: What it holds, as SQL that changes nothing where it is there.
        damaged: Told SQLite's name of the damage, and the name of the file that was put aside.
    """

    def __init__(self, first: Path, tables: str, damaged: Callable[[str, str], None]) -> None:
        self._first = first
        self._tables = tables
        self._damaged = damaged
        self._guard = threading.Lock()
        self._base: sqlite3.Connection | None = None
        self._open: tuple[Path, tuple[int, int]] | None = None

    @property
    def path(self) -> Path:
        """Where it is now: the first, or the last that was begun after one that was damaged."""
        later = self._first.parent.glob(f"{self._first.stem}-*.db")
        return max((one for one in later if _number(one)), key=_number, default=self._first)

    def do(self, work: Work[Value]) -> Value:
        """Return what comes of work on the file, of a new one where it is found damaged.

        Raises:
            OSError: It cannot be opened, or put aside.
            sqlite3.Error: It cannot be read or written now.
        """
        with self._guard:
            path = self.path
            try:
                return self._done(path, work)
            except DamagedError as error:
                self._put_aside(path, str(error))
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGED:
                    raise
                self._put_aside(path, error.sqlite_errorname)
            return self._done(self.path, work)

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            self._let_go()

    def _done(self, path: Path, work: Work[Value]) -> Value:
        if self._base is not None and self._open != (path, _identity(path)):
            self._let_go()  # another server has put it aside, or somebody has removed it
        if self._base is None:
            self._base, self._open = self._opened(path), (path, _identity(path))
        with self._base:
            return work(self._base, path.name)

    def _opened(self, path: Path) -> sqlite3.Connection:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        base = sqlite3.connect(path, BUSY, isolation_level=None, check_same_thread=False)
        try:
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = FULL")
            base.execute("PRAGMA secure_delete = ON")
            base.executescript(self._tables)
        except BaseException:
            base.close()
            raise
        return base

    def _put_aside(self, path: Path, damage: str) -> None:
        self._let_go()
        following = self._first.with_name(f"{self._first.stem}-{_number(path) + 1}.db")
        os.close(os.open(following, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        aside = f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        for end in BESIDE:
            with suppress(FileNotFoundError):
                os.rename(f"{path}{end}", path.with_name(f"{aside}{end}"))
        try:
            os.rename(path, path.with_name(aside))
        except FileNotFoundError:  # another server was first, and tells of it
            return
        self._damaged(damage, aside)

    def _let_go(self) -> None:
        if self._base is not None:
            self._base.close()
        self._base = self._open = None


def _identity(path: Path) -> tuple[int, int]:
    """Return what a file is, whatever it is called; of one that is not there, nothing that a file is."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _number(path: Path) -> int:
    """Return how many files were begun before one.

    >>> [_number(Path(name)) for name in ("0a1b.db", "0a1b-1.db", "0a1b-12.db", "0a1b-x.db")]
    [0, 1, 12, 0]
    """
    tail = path.stem.partition("-")[2]
    return int(tail) if tail.isdecimal() else 0
