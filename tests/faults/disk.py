"""Disk: a file system that fails when it is told to, and that remembers what would be lost with the power.

It stands in front of the system's own, as the one that SQLite takes by default. What SQLite shares between processes
(the ``-shm`` file) goes past it: that is memory, made anew from the log after every loss.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import apsw

BASE: Final = "unix"
SECTOR: Final = 512
"""Bytes that a disk writes whole or not at all."""
LOSSES: Final = ("all", "none", "first", "some", "torn", "garbage")
"""What a loss of power leaves of what was not synced: all of it, none, the first of it, some writes, some sectors, or
some sectors and rubbish in place of the others where the file was growing."""
DURABLE_NAMES: Final = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL
"""Files with whose first sync SQLite's own file system syncs the folder."""


@dataclass(frozen=True)
class Event:
    """One thing that was asked of the disk, or told by whoever uses it.

    Attributes:
        kind: ``make``, ``write``, ``cut``, ``sync``, ``folder`` (its names are synced), ``remove`` or ``told``.
        name: The file; of ``told`` what was told.
        at: Offset of a write, length after a cut, and a number of ``told``.
        data: What was written.
    """

    kind: str
    name: str
    at: int = 0
    data: bytes = b""


@dataclass
class Fault:
    """What is to fail, and when.

    Attributes:
        kind: ``read``, ``write``, ``sync``, ``truncate``, ``open`` or ``delete``.
        after: Calls of that kind that succeed before.
        full: Whether the disk says that it is full; else that it failed.
        torn: Whether half of what is written gets there.
        lasting: Whether every later call of the kind fails too.
    """

    kind: str
    after: int
    full: bool = False
    torn: bool = False
    lasting: bool = False
    seen: int = 0
    struck: int = 0

    def due(self, kind: str) -> bool:
        """Count a call, and return whether it is to fail."""
        if kind != self.kind:
            return False
        self.seen += 1
        if self.seen - 1 != self.after and not (self.lasting and self.seen > self.after):
            return False
        self.struck += 1
        return True

    def error(self) -> apsw.Error:
        """Return what the disk says."""
        if self.full:
            return apsw.FullError("the disk is full")
        codes = {
            "read": apsw.SQLITE_IOERR_READ,
            "write": apsw.SQLITE_IOERR_WRITE,
            "sync": apsw.SQLITE_IOERR_FSYNC,
            "truncate": apsw.SQLITE_IOERR_TRUNCATE,
            "delete": apsw.SQLITE_IOERR_DELETE,
        }
        if self.kind not in codes:
            return apsw.CantOpenError("the disk does not open it")
        error = apsw.IOError("the disk failed")
        error.extendedresult = codes[self.kind]
        return error


class Disk(apsw.VFS):
    """The file system. ``events`` is all that happened, ``fault`` what is to fail."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.fault: Fault | None = None
        self.calls: dict[str, int] = {}
        super().__init__("faulty", BASE, makedefault=True)

    def told(self, what: str, number: int) -> None:
        """Note what whoever uses the disk was told."""
        self.events.append(Event("told", what, number))

    def strike(self, kind: str) -> None:
        """Fail if that is due."""
        self.calls[kind] = self.calls.get(kind, 0) + 1
        if self.fault is not None and self.fault.due(kind):
            raise self.fault.error()

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        self.strike("open")
        return _File(self, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        self.strike("delete")
        super().xDelete(name, syncdir)
        self.events.append(Event("remove", Path(name).name))
        if syncdir:
            self.events.append(Event("folder", ""))


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        path = None if name is None else Path(name.filename() if isinstance(name, apsw.URIFilename) else name)
        self._disk, self._name = disk, None if path is None else path.name
        self._unnamed = bool(flags[0] & DURABLE_NAMES)
        if path is not None and (not path.exists() or not path.stat().st_size):
            disk.events.append(Event("make", path.name))
        super().__init__(BASE, name, flags)

    def _note(self, kind: str, at: int = 0, data: bytes = b"") -> None:
        if self._name is not None:
            self._disk.events.append(Event(kind, self._name, at, data))

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.strike("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        try:
            self._disk.strike("write")
        except apsw.Error:
            assert self._disk.fault is not None
            if self._disk.fault.torn:
                self._written(bytes(data)[: len(data) // 2], offset)
            raise
        self._written(bytes(data), offset)

    def _written(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._note("write", offset, data)

    def xTruncate(self, size: int) -> None:
        self._disk.strike("truncate")
        super().xTruncate(size)
        self._note("cut", size)

    def xSync(self, flags: int) -> None:
        self._disk.strike("sync")  # the events are what counts: a true sync would only take time
        self._note("sync")
        if self._unnamed:
            self._disk.events.append(Event("folder", ""))
            self._unnamed = False


@contextmanager
def faulty(pages: int = 1_000) -> Iterator[Disk]:
    """Let everything that is opened in the block be on such a disk.

    Args:
        pages: Pages of the log after which SQLite copies it into the file.
    """
    disk = Disk()

    def often(connection: apsw.Connection) -> None:
        connection.wal_autocheckpoint(pages)

    apsw.connection_hooks.append(often)
    try:
        yield disk
    finally:
        apsw.connection_hooks.remove(often)
        disk.unregister()


@dataclass
class _Kept:
    """A file: what is on the disk for sure, and what may be."""

    sure: bytearray = field(default_factory=bytearray)
    maybe: list[Event] = field(default_factory=list)


def survived(events: Sequence[Event], loss: str, chance: random.Random) -> dict[str, bytes]:
    """Return what is in the folder once power was lost after these events: name to bytes.

    A name that was made or removed is so for sure when the folder was synced after it; of the others the first few are,
    as file systems with a journal have it.
    """
    now: dict[str, _Kept] = {}
    names: list[tuple[str, _Kept | None]] = []
    sure: dict[str, _Kept] = {}
    for event in events:
        match event.kind:
            case "make":
                if event.name not in now:
                    now[event.name] = _Kept()
                    names.append((event.name, now[event.name]))
            case "remove":
                now.pop(event.name, None)
                names.append((event.name, None))
            case "write" | "cut":
                now[event.name].maybe.append(event)
            case "sync":
                file = now[event.name]
                for done in file.maybe:
                    _apply(file.sure, done, b"\xff" * _sectors(done))
                file.maybe.clear()
            case "folder":
                _named(sure, names)
                names.clear()
    _named(sure, names[: {"all": len(names), "none": 0}.get(loss, chance.randint(0, len(names)))])
    return {name: _left(file, loss, chance) for name, file in sure.items()}


def _named(folder: dict[str, _Kept], names: Sequence[tuple[str, _Kept | None]]) -> None:
    for name, file in names:
        if file is None:
            folder.pop(name, None)
        else:
            folder[name] = file


def _left(file: _Kept, loss: str, chance: random.Random) -> bytes:
    """Return what is left of a file."""
    held = bytearray(file.sure)
    first = chance.randint(0, len(file.maybe))
    for number, event in enumerate(file.maybe):
        count = _sectors(event)
        match loss:
            case "all":
                there = b"\xff" * count
            case "none":
                there = b"\x00" * count
            case "first":
                there = (b"\xff" if number < first else b"\x00") * count
            case "some":
                there = chance.choice((b"\xff", b"\x00")) * count
            case _:
                there = bytes(chance.choice((0xFF, 0)) for _ in range(count))
        if loss == "garbage" and event.kind == "write" and event.at + len(event.data) > len(held):
            grown = event.at + len(event.data) - len(held)
            held += chance.randbytes(grown)
        _apply(held, event, there)
    return bytes(held)


def _sectors(event: Event) -> int:
    """Return how many sectors a write touches; a cut is one."""
    return 1 if event.kind == "cut" else (event.at + len(event.data) - 1) // SECTOR - event.at // SECTOR + 1


def _apply(held: bytearray, event: Event, there: bytes) -> None:
    """Do to a file what an event did, as far as its sectors are there."""
    if event.kind == "cut":
        if there[0]:
            del held[event.at :]
        return
    if all(there):
        held.extend(bytes(max(event.at - len(held), 0)))
        held[event.at : event.at + len(event.data)] = event.data
        return
    for number, got in enumerate(there):
        if got:
            start = max((event.at // SECTOR + number) * SECTOR, event.at)
            end = min((event.at // SECTOR + number + 1) * SECTOR, event.at + len(event.data))
            held.extend(bytes(max(start - len(held), 0)))
            held[start:end] = event.data[start - event.at : end - event.at]
