"""Runs: what runs did, who is alone in doing it, and who waits for whom."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from scrubjay.errors import InputError, StoreBusyError
from scrubjay.memory.runs import RUN_STATES, Run
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import PutMemory, PutRun
from scrubjay.testing.store_samples import memory, sample_id, write

MINE = "user:ann"


def _run(name: str, key: str, started: int = 0, **fields: Any) -> Run:
    given: dict[str, Any] = {"state": "done", "rules": "1", "ended": None, "counts": {}}
    return Run(id=name, key=key, started=started, **(given | fields))


class RunsContract:
    """What runs did, and who is alone."""

    def test_runs_come_back_the_one_started_last_first(self, store: Store, ann: Scope) -> None:
        """A row an id and key; the same again replaces it."""
        counts = {"merged": 3, "archived": 0}
        full = _run("run_b", "group:dev", 5, state="undone", rules="2 ü", ended=6, counts=counts)
        running = _run("run_b", MINE, 5, state="running")
        write(store, ann, PutRun(_run("run_a", MINE, 4)), PutRun(running), PutRun(full))
        write(store, ann, PutRun(_run("run_c", MINE, -1)))
        done = replace(running, state="done", ended=9, counts={"merged": 1})
        write(store, ann, PutRun(done))
        with store.reader(ann) as reader:
            assert reader.runs() == [full, done, _run("run_a", MINE, 4), _run("run_c", MINE, -1)]
            assert reader.runs(1) == [full]
            assert reader.runs(0) == []

    def test_a_run_is_seen_by_its_key_alone(self, store: Store, ann: Scope, bob: Scope, eve: Scope) -> None:
        """One run, told to each of what was done with theirs."""
        write(store, ann, PutRun(_run("run_a", MINE)), PutRun(_run("run_a", "public")))
        write(store, bob, PutRun(_run("run_a", "user:bob", counts={"merged": 1})))
        with store.reader(ann) as reader:
            assert [run.key for run in reader.runs()] == ["public", MINE]
        with store.reader(bob) as reader:
            assert [run.key for run in reader.runs()] == ["public", "user:bob"]
        with store.reader(eve) as reader:
            assert reader.runs() == []

    def test_a_bad_run_refuses_the_whole_write(self, store: Store, ann: Scope) -> None:
        """Another's key, an unknown state, half a character."""
        assert RUN_STATES == ("running", "done", "undone")
        bad = (
            _run("run_a", "user:bob"), _run("run_a", MINE, state="broken"), _run("run_\ud800", MINE),
            _run("run_a", MINE, counts={"\ud800": 1}), _run("run_a", MINE, rules="\ud800"),
        )  # fmt: skip
        for run in bad:
            with pytest.raises(InputError):
                write(store, ann, PutRun(_run("run_good", MINE)), PutRun(run))
        with store.reader(ann) as reader:
            assert reader.runs() == []

    def test_one_at_a_time_is_alone(self, store: Store, ann: Scope, bob: Scope, eve: Scope) -> None:
        """Of a tenant and a name, until the block ends, however it ends; writers go on."""
        with store.alone(ann, "night") as first, store.alone(bob, "night") as second:
            assert (first, second) == (True, False)
            with store.alone(bob, "day") as other, store.alone(eve, "night") as elsewhere:
                assert (other, elsewhere) == (True, True)
            with store.alone(ann, "night") as third:
                assert not third
            write(store, bob, PutMemory(memory("jay", "public")))
            assert not store.busy(ann)
        with pytest.raises(ZeroDivisionError), store.alone(bob, "night") as again:
            again / 0
        with store.alone(ann, "night") as last:
            assert last

    def test_a_write_that_waits_for_nobody_returns_while_another_writes(
        self, store: Store, ann: Scope
    ) -> None:
        """It is refused, or kept whatever the other comes to; without one it is done."""
        store.write(ann, [PutMemory(memory("jay", MINE, name="a"))], patience=0.0)
        outcome: list[str] = []

        def write_at_once() -> None:
            try:
                store.write(ann, [PutMemory(memory("nut", MINE, name="b"))], patience=0.0)
                outcome.append("kept")
            except StoreBusyError:
                outcome.append("refused")

        thread = threading.Thread(target=write_at_once)
        with store.rebuild(ann) as rebuild:
            rebuild.write([PutMemory(one) for one in rebuild.additions()])
            thread.start()
            thread.join(30)
            waited = thread.is_alive()
        thread.join(30)
        assert not waited
        with store.reader(ann) as reader:
            held = reader.get([sample_id("a"), sample_id("b")])
        assert set(held) == {sample_id("a"), *([sample_id("b")] if outcome == ["kept"] else [])}

    def test_another_thread_is_not_alone_beside_one(self, store: Store, ann: Scope) -> None:
        """Of several at once, exactly one."""
        found: list[bool] = []
        holding, told = threading.Barrier(4), threading.Barrier(4)

        def ask() -> None:
            holding.wait(30)
            with store.alone(ann, "night") as alone:
                found.append(alone)
                told.wait(30)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [False, False, False, True]
