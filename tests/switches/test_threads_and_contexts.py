"""A thread and a context are the same from every store, and whoever writes beside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reference_store.store import ReferenceStore
from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.records import Scope
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.workspace import Workspace
from scrubjay.storage.interface import Store
from scrubjay.storage.sqlite.store import SQLiteStore

SECRET = bytes(range(32))
ANN, BOB = Scope("t", "ann"), Scope("t", "bob")
NOW = "2025-06-01"
BIRDS = ("Heron", "Lapwing", "Wren", "Dunlin")


def opened(store: Store, who: Scope) -> Memory:
    return Memory(
        Workspace(
            store,
            who,
            ModelRegistry(store, who, caller_catalog([HashEmbedder(32)]), cold=False),
            load_settings(environ={}),
        )
    )


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield ReferenceStore(SECRET)
    else:
        with closing(SQLiteStore(tmp_path / "memory.db", SECRET)) as made:
            yield made


def live(memory: Memory) -> None:
    """Write half a year of work on four birds."""
    for month in range(1, 7):
        for number, (one, other) in enumerate(pairwise(BIRDS)):
            memory.add(
                f"In month {month} {one} waited for {other} at gate {number}.",
                date=f"2025-0{month}-0{number + 1}",
                session=f"s{month}",
                turn=number,
                role="user" if number % 2 else "assistant",
                project="marsh" if number else None,
            )
        memory.add(
            f"Gate {month} sticks when {BIRDS[month % 4]} comes late.",
            tier="lesson",
            date=f"2025-0{month}-20",
        )
    for bird in BIRDS:
        memory.concepts.add(bird)


def told(memory: Memory) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for query in ("why did Wren wait at the gate", "Dunlin month 3 -Heron"):
        thread = memory.thread(query, hops=3, limit=20, now=NOW)
        # The last bits of a mean differ between stores; no score does.
        entries = [replace(entry, result=replace(entry.result, explanation=None)) for entry in thread.entries]
        found[query] = replace(thread, took_ms=0.0, entries=tuple(entries))
    for query in (None, "which gate sticks when Wren comes late"):
        found[f"context {query}"] = replace(memory.context(query, project="marsh", now=NOW), took_ms=0.0)
    return found


def test_every_store_tells_the_same_story(store: Store) -> None:
    reference = opened(ReferenceStore(SECRET), ANN)
    memory = opened(store, ANN)
    live(reference)
    live(memory)
    wanted = told(reference)
    assert told(memory) == wanted
    assert any(knot.reached.hops for knot in wanted["why did Wren wait at the gate"].entries)


def test_what_a_stranger_writes_changes_no_word_of_it(store: Store) -> None:
    ann, bob = opened(store, ANN), opened(store, BOB)
    live(ann)
    before = told(ann)
    live(bob)
    bob.add("Wren waits at the gate because Dunlin told her to.", pinned=True)
    bob.concepts.add("gate")
    assert told(ann) == before
