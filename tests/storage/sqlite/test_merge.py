"""Segments are joined as they gather, so that a reader looks in few places, and no write waits for long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.storage.changes import PutMemory, PutModel
from scrubjay.storage.sqlite import blobs, segments
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import (
    SMALL_MODEL,
    sample_memory,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)
from store_contract.sqlite_check import disagreements

ANN = Scope("t", "ann")
MOST = 32


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SQLiteStore]:
    """A store whose segments are small."""
    monkeypatch.setattr(blobs, "MAX_SLOTS", MOST)
    monkeypatch.setattr(segments, "MIN_SEGMENT_LIMIT", 4)
    with closing(SQLiteStore(tmp_path / "memories.db", b"k")) as store:
        yield store


def sizes(store: SQLiteStore) -> list[int]:
    """How many memories each segment has."""
    with store.reader(ANN) as reader:
        return sorted(part.slots for part in reader._table().parts)


def fill(store: SQLiteStore, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        write_changes(store, ANN, PutMemory(sample_memory(f"m{number}", "user:ann")))


def test_however_many_memories_there_are_few_segments_are_small(store: SQLiteStore) -> None:
    for rounds in range(1, 9):
        fill(store, 64, 64 * rounds)
        held = sizes(store)
        assert sum(held) == 64 * rounds
        assert max(held) <= MOST
        # A full segment that is the oldest of its size once kept all later ones from being joined.
        assert sum(size * 2 <= MOST for size in held) < 3 * segments.FANOUT


def test_segments_of_longer_vectors_are_smaller(store: SQLiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "VECTOR_BYTES", 8 * 100)
    write_changes(store, ANN, PutModel(EmbeddingModel("test", "long", "1", 100, "mean")))
    fill(store, 200)
    assert max(sizes(store)) <= 8
    with store.reader(ANN) as reader:
        assert len(reader.latest(RecordFilter(), 500)) == 200


def test_one_write_joins_no_more_than_it_has_time_for_and_the_next_goes_on(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "FANOUT", 10**6)  # nothing is due, as in a store that older code has filled
    fill(store, 200)
    assert len(sizes(store)) == 200
    monkeypatch.setattr(segments, "FANOUT", 8)
    fill(store, 1, 200)
    assert 100 < len(sizes(store)) < 200
    fill(store, 30, 201)
    assert len(sizes(store)) < 40


def test_each_memory_is_nearest_to_its_own_vector_whatever_blob_it_lies_in(
    store: SQLiteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "VECTOR_BLOB_BYTES", 5 * SMALL_MODEL.row_bytes)
    monkeypatch.setattr(segments, "MERGED_POSTINGS", 8)
    monkeypatch.setattr(segments, "FIRST_MERGED_TERMS", 2)
    write_changes(store, ANN, PutModel(SMALL_MODEL))
    texts = [f"m{number}" for number in range(64)]
    for number, text in enumerate(texts):
        codes = sample_windows(text, 1 + number % 4)
        write_changes(
            store, ANN, PutMemory(sample_memory(text, "user:ann", vectors={SMALL_MODEL.fingerprint: codes}))
        )
    assert max(sizes(store)) == MOST
    with store.reader(ANN) as reader:
        for text in texts:
            (hit,) = reader.nearest(SMALL_MODEL.fingerprint, sample_vector(text), RecordFilter()).top(1)
            assert hit.id == sample_memory(text, "user:ann").record.id
            assert len(reader.words([term_group(text)], RecordFilter()).top(9)) == 1
    store.close()
    assert disagreements(tmp_path / "memories.db") == []
