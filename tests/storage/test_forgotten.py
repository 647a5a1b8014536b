"""Tombstones of forgotten texts: what a sync pays for them where nothing was ever forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scrubjay.models.ids import tombstone_hash
from scrubjay.models.records import Scope
from scrubjay.storage.changes import Forget, PutMemory
from scrubjay.storage.urls import open_store
from store_contract.samples import sample_id, sample_memory

SECRET = b"a key of ids for this test alone"

ANN = Scope("default", "ann")


def test_a_store_that_has_forgotten_nothing_asks_for_no_mark(tmp_path: Path) -> None:
    """Marks are made as they are asked for: of each passage of a first sync none is, later they are."""
    store = open_store(str(tmp_path / "memories.db"), SECRET)
    store.write(ANN, [PutMemory(sample_memory("the lost acorn", "user:ann", name="acorn"))])
    made: list[str] = []

    def marks() -> Iterator[str]:
        for text in ("the lost acorn", "the kept acorn"):
            made.append(text)
            yield tombstone_hash(SECRET, text, "user:ann")

    with store.reader(ANN) as reader:
        assert reader.forgotten_hashes(marks()) == set()
    assert made == []
    store.write(ANN, [Forget((sample_id("acorn"),))])
    with store.reader(ANN) as reader:
        found = reader.forgotten_hashes(marks())
    assert found == {tombstone_hash(SECRET, "the lost acorn", "user:ann")}
    assert made
    store.close()
