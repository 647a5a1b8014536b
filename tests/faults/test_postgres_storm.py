"""A server that is restarted, crashed and robbed of its sessions while work goes on: nothing told is lost or doubled.

What failed has failed with an error of scrubjay's, and the same process goes on as soon as the server is back.
"""

from __future__ import annotations

import multiprocessing
import random
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from served import NOW, Databases, answers, held, opened, records, refusal, sound, written
from storm import FAULTS

from scrubjay import Memory, NewMemory
from store_contract.postgres_server import PostgresServer

FEW = 4
"""Faults; a fiftieth of ``--kills``, if that is more."""
PATIENCE_S = 60.0
"""Seconds after which a step that was not done is a failure: a restart takes one."""


class Away:
    """A server whose programs another process starts: one with threads that multiply matrices cannot be forked soundly.

    Attributes:
        url: Of its database.
    """

    def __init__(self, server: PostgresServer, pool: ProcessPoolExecutor) -> None:
        self._server, self._pool, self.url = server, pool, server.url
        pool.submit(int).result()  # begun before there are threads

    def restart(self, how: str) -> None:
        self._pool.submit(self._server.restart, how).result()

    def stop(self) -> None:
        self._pool.submit(self._server.stop).result()

    def start(self) -> None:
        self._pool.submit(self._server.start).result()


class Working:
    """Threads that work until they are told to stop, each step as often as it takes.

    Attributes:
        errors: What was said, to how often.
    """

    def __init__(self) -> None:
        self.errors: Counter[str] = Counter()
        self._steps: Counter[str] = Counter()
        self._moved = threading.Condition()
        self._failed: list[BaseException] = []
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, name: str, step: Callable[[int], None]) -> None:
        def work() -> None:
            try:
                number = 0
                while not self._stopping.is_set():
                    said = refusal(lambda number=number: step(number))  # type: ignore[misc]
                    if said is not None:
                        self.errors[said[-40:]] += 1
                        continue
                    number += 1
                    with self._moved:
                        self._steps[name] += 1
                        self._moved.notify_all()
            except BaseException as error:  # noqa: BLE001 - raised by whoever waits
                with self._moved:
                    self._failed.append(error)
                    self._moved.notify_all()

        self._threads.append(threading.Thread(target=work, name=name))
        self._threads[-1].start()

    def wait(self, more: int) -> None:
        """Wait until each has done so many steps more."""
        with self._moved:
            wanted = {thread.name: self._steps[thread.name] + more for thread in self._threads}

            def moved() -> bool:
                return bool(self._failed) or all(self._steps[name] >= n for name, n in wanted.items())

            assert self._moved.wait_for(moved, PATIENCE_S), (wanted, self._steps)
        self.raise_()

    def raise_(self) -> None:
        for error in self._failed:
            raise error

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)
        assert not any(thread.is_alive() for thread in self._threads)


class Writer:
    """Writes in every way, and remembers what it was told.

    Attributes:
        added: Texts that it was told are there.
        gone: Texts that it was told are forgotten.
    """

    def __init__(self, memory: Memory, notes: Path) -> None:
        self._memory, self._notes = memory, notes
        self.added: set[str] = set()
        self.gone: set[str] = set()

    def step(self, number: int) -> None:
        kind = ("add", "add", "forget", "add", "sync", "embed", "add", "night", "rebuild")[number % 9]
        getattr(self, kind)(number)

    def add(self, number: int) -> None:
        texts = [f"Buoy {number} {n} of the storm lies at pier {number * 3 + n}." for n in range(3)]
        self._memory.add_many([NewMemory(text, session=f"s{number}") for text in texts])
        self.added |= set(texts)

    def forget(self, number: int) -> None:
        text = f"Buoy {number - 1} 1 of the storm lies at pier {(number - 1) * 3 + 1}."
        found = [one.id for one in records(self._memory) if one.content == text]
        if found:  # else an earlier try, whose end nobody heard of, has done it
            self._memory.forget(found)
        self.added.discard(text)
        self.gone.add(text)

    def sync(self, number: int) -> None:
        written(self._notes, number % 2)
        self._memory.sync(self._notes)

    def embed(self, _: int) -> None:
        self._memory.embed()

    def night(self, _: int) -> None:
        self._memory.consolidate(now=NOW)

    def rebuild(self, _: int) -> None:
        self._memory.rebuild()


def asked(memory: Memory, mine: str) -> Callable[[int], None]:
    """Return a step that searches, and finds nothing that is another tenant's."""

    def step(number: int) -> None:
        found = memory.search("who lies at the pier of the storm, kayak and buoy?").results
        assert all(mine in hit.snippet for hit in found) or not mine
        if not mine:
            assert not any("Eve" in hit.snippet for hit in found)
        assert found, "what was there is not found"

    return step


def test_nothing_told_is_lost_while_the_server_is_restarted_and_crashes(
    lazy: PostgresServer, tmp_path: Path, kills: int | None, seed: int
) -> None:
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(1, spawn) as pool:
        server = Away(lazy, pool)
        databases = Databases.make(lazy.url, Path(scratch))
        url = databases.fresh()
        with opened(url, Path(scratch), tenant="other", user="eve") as eve, opened(url, Path(scratch)) as ann:
            eve.add_many([NewMemory(f"Eve's buoy {n} lies at the pier of the storm.") for n in range(4)])
            chance = random.Random(f"{seed} storm")
            writer, working = Writer(ann, databases.notes), Working()
            working.start("writer", writer.step)
            working.start("ann", asked(ann, ""))
            working.start("eve", asked(eve, "Eve"))
            told = []
            try:
                working.wait(1)
                for _ in range(max(kills // 50, FEW) if kills else FEW):
                    fault = chance.choice(sorted(FAULTS))
                    told.append(fault)
                    threading.Event().wait(chance.random() * 0.2)
                    FAULTS[fault](server, chance)
                    working.wait(1)
            finally:
                working.stop()
            working.raise_()
            written(databases.notes, 1)
            ann.sync(databases.notes)
            contents = Counter(one.content for one in records(ann) if one.tier == "observation")
            assert writer.added <= contents.keys(), "what was told is lost"
            assert not writer.gone & contents.keys(), "what was forgotten is back"
            assert max(contents[text] for text in writer.added) == 1, "there twice"
            assert working.errors, f"nobody felt any of {told}"
            sound(url)
            assert len(held(url)["documents"]) == len(list(databases.notes.glob("*.md")))
            for mine, options in ((ann, {}), (eve, {"tenant": "other", "user": "eve"})):
                with opened(url, Path(scratch), **options) as fresh:
                    assert answers(mine) == answers(fresh)
