"""What is read by its id was used; no other read leaves a trace, and none waits or fails for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.config.settings import Settings
from scrubjay.models.dates import SECOND, now_micros
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import Scope
from scrubjay.storage.changes import Change, PutLifecycle, PutMemory
from scrubjay.storage.sqlite.lock import writer_turn
from scrubjay.storage.sqlite.store import SQLiteStore

Open = Callable[..., Memory]
TEXT = "The berth in Lisbon costs forty euros."
HOUR = 3_600 * SECOND


@pytest.fixture(params=["sqlite", "postgres"])
def memory(opened: Open, request: pytest.FixtureRequest) -> Memory:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return opened(url, tenant=request.node.name)


def used(memory: Memory, one: str) -> int | None:
    return memory.history(one).memory.last_used


def test_a_memory_that_is_read_by_its_id_was_used_just_now(memory: Memory) -> None:
    one, other = (memory.add(text).id for text in (TEXT, "It rains in Faro."))
    before = memory.history(one)
    assert memory.get(one[:-2]).records[0].last_used is None
    at = used(memory, one)
    assert at is not None
    assert abs(now_micros() - at) < HOUR
    assert memory.history(one) == replace(before, memory=replace(before.memory, last_used=at)), "no feedback"
    assert used(memory, other) is None
    memory.rebuild()
    assert used(memory, one) == at


def test_searches_files_and_neighbours_leave_no_trace(memory: Memory, tmp_path: Path) -> None:
    turns = [
        one.id
        for one in memory.add_many(
            NewMemory(f"Turn {n} of Lisbon.", session="s", turn=n, role="user") for n in range(3)
        )
    ]
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "x.md").write_text("# Berth\n\nforty euros in Lisbon\n")
    memory.sync(notes)
    found = [one.id for one in memory.search("Lisbon", limit=9, explain=True).results]
    assert len(found) == 4
    memory.get(path=notes / "x.md")
    memory.get(turns[1], neighbours=1)
    memory.get(["", "obs_none"])
    assert [one for one in found if used(memory, one) is not None] == [turns[1]]


def test_read_again_within_an_hour_it_is_the_same_use(memory: Memory) -> None:
    one, other = memory.add(TEXT).id, memory.add("It rains in Faro.").id
    desk, now = memory.workspace, now_micros()
    lives = {
        one: LifecycleChange(last_used=now - HOUR // 2),
        other: LifecycleChange(last_used=now - 2 * HOUR),
    }
    desk.store.write(desk.scope, [PutLifecycle(lives)])
    memory.get([one, other])
    assert used(memory, one) == now - HOUR // 2
    assert (used(memory, other) or 0) >= now


class Told(SQLiteStore):
    """A store that remembers how often it was written to, and by whom that waits for how long."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.writes: list[float | None] = []

    def write(self, scope: Scope, changes: Sequence[Change], **options: Any) -> None:
        self.writes.append(options.get("patience"))
        super().write(scope, changes, **options)


def test_many_at_once_are_one_write_that_does_not_wait(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    ids = [one.id for one in memory.add_many(NewMemory(f"{TEXT} {n}") for n in range(5))]
    with closing(Told(tmp_path / "memory.db")) as store:
        told = Memory(replace(memory.workspace, store=store))
        told.get(ids)
        told.get(ids)
        assert store.writes == [0.0]


def test_it_can_be_switched_off(opened: Open, settings: Settings) -> None:
    memory = opened(settings=replace(settings, recall=replace(settings.recall, touch=False)))
    one = memory.add(TEXT).id
    memory.get(one)
    assert used(memory, one) is None


def test_what_several_see_tells_nobody_that_it_was_read(opened: Open) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    shared = ann.add(TEXT, visibility="public").id
    for reader in (ann, bob):
        assert reader.get(shared).records[0].content == TEXT
        assert used(reader, shared) is None


def test_while_another_writes_it_is_read_at_once_and_nothing_remembered(opened: Open, tmp_path: Path) -> None:
    memory = opened(tmp_path / "memory.db")
    one = memory.add(TEXT).id
    began = time.monotonic()
    with writer_turn(tmp_path / "memory.db"):
        assert memory.get(one).records[0].content == TEXT
    assert time.monotonic() - began < 10, "a writer waits for thirty seconds"
    assert used(memory, one) is None
    memory.get(one)
    assert used(memory, one) is not None


@pytest.mark.parametrize("memory", ["sqlite", "postgres"], indirect=True)
def test_while_a_thread_of_the_same_process_writes_it_is_read_at_once(memory: Memory) -> None:
    one = memory.add(TEXT).id
    desk, found = memory.workspace, []
    reader = threading.Thread(target=lambda: found.append(memory.get(one)))
    with desk.store.rebuild(desk.scope) as rebuild:
        reader.start()
        reader.join(10)
        assert not reader.is_alive()
        rebuild.write([PutMemory(each) for each in rebuild.additions()])
    assert found[0].records[0].content == TEXT


def test_an_audit_counts_what_was_read_as_used(memory: Memory) -> None:
    one, other = memory.add(TEXT).id, memory.add("It rains in Faro.").id
    memory.get(one)

    (stale,) = (rate for rate in memory.audit(now="2099-01-01").rates if rate.kind == "stale")
    assert [example.memory.id for example in stale.examples] == [other]
