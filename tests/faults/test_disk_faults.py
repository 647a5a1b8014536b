"""A disk that fails at any call: a clear error of ours, all that was told is there, and it works once it is well."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import pytest
from disk import Disk, Fault, faulty
from test_power_lost import ANN, MINE, State, changes, held

from scrubjay.errors import StoreError
from scrubjay.storage.changes import Forget, PutMemory, PutModel
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import SMALL_MODEL, sample_id, sample_memory
from store_contract.sqlite_check import disagreements

STEPS = 9
POINTS = 6
"""Calls that are let fail, of each kind, unless `--rounds` is given: then every one."""
FAULTS = ("write", "torn", "full", "sync", "truncate", "read", "open", "delete")


@functools.cache
def states() -> list[State]:
    """Return what is to be held after each step, from a disk that is well."""
    made: list[State] = [frozenset()]
    for step in range(STEPS):
        now = set(made[-1]) | {
            str(put.memory.record.content)[:9] for put in changes(step) if isinstance(put, PutMemory)
        }
        made.append(frozenset(now - gone(step)))
    return made


def gone(step: int) -> set[str]:
    """Return the beginnings of the texts that a step takes away."""
    lost = [step - 3] * (step % 5 == 4) + [step - 2] * (step % 8 == 6)
    return {
        put.memory.record.content[:9]
        for one in lost
        for put in changes(one)[:1]
        if isinstance(put, PutMemory)
    }


class Life:
    """A store on a disk that may fail: goes on over every fault, and looks whether it was told well."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path, self._disk = path, disk
        self._wanted = states()
        self._store: SQLiteStore | None = None
        self.told: list[StoreError] = []
        self.done = 0

    def live(self) -> None:
        """Do every step, again where it failed."""
        while self.done < STEPS:
            try:
                self._step()
            except StoreError as error:
                self._look(error)
                self._disk.fault = None
                assert len(self.told) == 1, "it does not get well"
        self._close()

    def _step(self) -> None:
        if self._store is None:
            self._store = SQLiteStore(self._path, b"secret")
        made = changes(self.done) if self.done else [PutModel(SMALL_MODEL), *changes(0)]
        self._store.write(ANN, made, durable=self.done % 2 == 0)
        self.done += 1
        assert held(self._store) == self._wanted[self.done]
        if self.done == 5:  # a process that ends, and another that begins
            self._close()

    def _close(self) -> None:
        if self._store is not None:
            store, self._store = self._store, None
            try:
                store.close()
            except (
                StoreError
            ) as error:  # what SQLite itself would pass over: the log stays, and is read again
                self.told.append(error)
                self._disk.fault = None
                store.close()

    def _look(self, error: StoreError) -> None:
        """What a person reads is ours and true, for this process and for one that begins after it was killed."""
        self.told.append(error)
        fault, self._disk.fault = self._disk.fault, None
        assert fault is not None
        assert error.hint
        assert str(self._path) in str(error)
        before, after = self._wanted[self.done], self._wanted[min(self.done + 1, STEPS)]
        forgotten = "are forgotten" in str(error)
        assert forgotten or "othing" in str(error)
        if self._store is not None:
            assert held(self._store) == (after if forgotten else before)
        copy = self._path.parent / "copy" / self._path.name
        copy.parent.mkdir()
        for file in self._path.parent.glob("memory.db*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, copy.parent)
        assert disagreements(copy) == []
        other = SQLiteStore(copy, b"secret")
        # The log may be whole though its sync failed: then a process that begins anew finds what was not promised.
        assert held(other) in (
            [after] if forgotten else [before, after] if fault.kind == "sync" else [before]
        )
        other.close()


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("kind", FAULTS)
def test_a_disk_that_fails_at_any_call_is_told_and_nothing_told_before_is_lost(
    quick: Path, kind: str, lasting: bool, rounds: int | None, seed: int
) -> None:
    counted = {"torn": "write", "full": "write"}.get(kind, kind)
    with faulty(0) as disk:
        life = Life(quick / "memory.db", disk)
        life.live()
        calls = disk.calls.get(counted, 0)
    assert calls, f"{kind} is never called"
    struck = heard = 0
    stride = 1 if rounds else max(calls // POINTS, 1)
    for after in range(seed % stride, calls, stride):
        folder = quick / f"{after}"
        folder.mkdir()
        fault = Fault(counted, after, full=kind == "full", torn=kind in ("torn", "full"), lasting=lasting)
        with faulty(0) as disk:
            disk.fault = fault
            life = Life(folder / "memory.db", disk)
            life.live()
            disk.fault = None
        struck += fault.struck
        heard += len(life.told)
        assert disagreements(folder / "memory.db") == []
        store = SQLiteStore(folder / "memory.db", b"secret")
        assert held(store) == states()[STEPS], f"{kind} at call {after}"
        store.close()
        shutil.rmtree(folder)
    assert struck
    assert heard or kind in ("read",), "nobody was told"


@pytest.mark.parametrize("kind", ["truncate", "sync"])
def test_a_forget_that_cannot_be_wiped_says_that_it_is_forgotten_and_the_next_write_wipes_it(
    quick: Path, kind: str
) -> None:
    """The commit is made by then: to say that nothing was written would be untrue."""
    path = quick / "memory.db"
    with faulty(0) as disk:
        store = SQLiteStore(path, b"secret")
        store.write(ANN, [PutMemory(sample_memory(f"zygomaticus {name}", MINE, name=name)) for name in "abc"])
        disk.fault = Fault(kind, 0, lasting=True)
        with pytest.raises(StoreError, match="are forgotten and in no answer") as told:
            store.write(ANN, [Forget((sample_id("a"),))])
        assert "next write" in told.value.hint
        assert held(store) == {"zygomatic"}
        with store.reader(ANN) as reader:
            assert sample_id("a") not in reader.ids_with_prefix("", 9)
        store.write(ANN, [])  # does what it is asked, though the disk is no better
        disk.fault = None
        store.write(ANN, [Forget((sample_id("b"), sample_id("c")))])
        assert [file.name for file in quick.glob("memory.db*") if b"zygomat" in file.read_bytes()] == []
        store.close()
