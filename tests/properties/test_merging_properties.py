"""Two stores of one person, changed apart and merged by exports, end with the same memories, none twice or lost."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError
from scrubjay.models.records import STATUSES, Scope
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.workspace import Workspace
from scrubjay.storage.interface import Store
from scrubjay.storage.sqlite.store import SQLiteStore

STEPS = 25
OPS = ("add", "add", "update", "update", "archive", "restore", "merge")
COLOURS = ("red", "green", "blue", "white", "black", "grey")
PARTS = ("mast", "keel", "jib", "rudder")


class Stores:
    """Two stores, and the texts that somebody wrote and nobody replaced or forgot since."""

    def __init__(self, memories: tuple[Memory, Memory], folder: Path, seed: int) -> None:
        self.memories, self.folder, self.chance = memories, folder, random.Random(seed)
        self.written: set[str] = set()
        self.forgotten: set[str] = set()

    def merge(self, source: int) -> int:
        file = self.folder / "export.jsonl"
        self.memories[source].export(file, overwrite=True)
        before, most = self.said(1 - source), self.said(0) | self.said(1)
        done = self.memories[1 - source].import_(file, forget=True)
        assert self.said(1 - source) <= most
        assert (before - self.said(1 - source)).keys() <= self.forgotten
        return done.added + done.edges + done.events + len(done.forgotten_too)

    def step(self, ops: Sequence[str], *, repeat: bool) -> None:
        """Do something in one of the stores; without ``repeat`` no text is written twice into one."""
        op, memory = self.chance.choice(ops), self.chance.choice(self.memories)
        text = f"The {self.chance.choice(PARTS)} is painted {self.chance.choice(COLOURS)}."
        records = sorted(memory.page(statuses=STATUSES, limit=1000).records, key=lambda one: one.content)
        one = self.chance.choice(records) if records else None
        if op in ("add", "update") and not repeat and any(text == each.content for each in records):
            return
        if op == "merge":
            self.merge(self.chance.randrange(2))
        elif op == "add":
            memory.add(text)
            self.written.add(text)
        elif one is not None and op == "update":
            try:
                memory.update(one.id, text)
            except InputError:  # an addition says so, or it was forgotten once
                return
            self.written = self.written - {one.content} | {text}
        elif one is not None:
            getattr(memory, op)(one.id)
            if op == "forget":  # with its earlier versions
                left = {each.content for each in memory.page(statuses=STATUSES, limit=1000).records}
                gone = {each.content for each in records} - left
                self.written -= gone
                self.forgotten |= gone

    def said(self, place: int) -> Counter[str]:
        page = self.memories[place].page(statuses=STATUSES, limit=1000)
        return Counter(one.content for one in page.records)

    def texts(self, place: int) -> Counter[str]:
        page = self.memories[place].page(statuses=STATUSES, limit=1000)
        return Counter(f"{one.status} {one.content}" for one in page.records)


def opened(store: Store, settings: Settings) -> Memory:
    scope = Scope("default", "ann")
    models = ModelRegistry(store, scope, caller_catalog([HashEmbedder(16)]), cold=False, overlap=80)
    return Memory(Workspace(store, scope, models, settings))


@pytest.fixture
def stores(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stores]:
    usual = load_settings(environ={"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(tmp_path / "none")})
    settings = replace(usual, cache_dir=tmp_path / "cache", facts=replace(usual.facts, stages=()))
    with (
        closing(SQLiteStore(tmp_path / "a.db", b"a" * 32)) as one,
        closing(SQLiteStore(tmp_path / "b.db", b"b" * 32)) as two,
    ):
        yield Stores((opened(one, settings), opened(two, settings)), tmp_path, request.param)


@pytest.mark.parametrize("stores", range(8), indirect=True)
def test_merging_both_ways_converges(stores: Stores) -> None:
    for _ in range(STEPS):
        stores.step(OPS, repeat=False)
    for source in (0, 1) * 3:
        stores.merge(source)
    assert stores.texts(0) == stores.texts(1)
    assert [stores.merge(0), stores.merge(1)] == [0, 0]
    assert stores.written <= stores.said(0).keys()


@pytest.mark.parametrize("stores", range(8), indirect=True)
def test_texts_that_a_store_holds_several_times_are_not_multiplied(stores: Stores) -> None:
    for _ in range(STEPS):
        stores.step(OPS, repeat=True)
    for source in (0, 1) * 3:
        stores.merge(source)
    assert [stores.merge(0), stores.merge(1)] == [0, 0]
    assert stores.written <= stores.said(0).keys() & stores.said(1).keys()


@pytest.mark.parametrize("stores", range(8), indirect=True)
def test_forgetting_in_both_loses_nothing_else_and_comes_to_an_end(stores: Stores) -> None:
    for _ in range(STEPS):
        stores.step((*OPS, "forget"), repeat=False)
    for source in (0, 1) * 3:
        stores.merge(source)
    assert [stores.merge(0), stores.merge(1)] == [0, 0]
    assert stores.written <= stores.said(0).keys() | stores.said(1).keys()
