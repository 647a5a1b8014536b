"""Many queries at once find what one query after the other finds, however they and the rows are cut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.models.results import Hit
from scrubjay.storage.changes import Forget, PutMemory, PutModel, QuantizedVectors
from scrubjay.storage.sqlite import vectors
from scrubjay.storage.sqlite.reader import SQLiteReader
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import quantized_windows, sample_memory, write_changes

ANN = Scope("t", "ann")
MODEL = EmbeddingModel("test", "medium", "1", 24, "mean")
MEMORIES = 900


def rows(count: int, seed: int) -> NDArray[np.float32]:
    """Return unit rows, a third of them alike to others to the last bit."""
    dice = np.random.default_rng(seed)
    found = dice.standard_normal((count, MODEL.dimensions)).astype(np.float32)
    found[count // 3 * 2 :] = found[: count - count // 3 * 2]
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def windows(number: int, found: NDArray[np.float32]) -> QuantizedVectors:
    """Return one to three windows; those of some memories are all the same."""
    if number % 7 == 0:
        return quantized_windows([found[number]] * 3)
    return quantized_windows([found[(number + step) % MEMORIES] for step in range(1 + number % 3)])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStore]:
    """Memories of every status and of others, some without vectors, some forgotten."""
    found = rows(MEMORIES, 1)
    with closing(SQLiteStore(tmp_path_factory.mktemp("alike") / "memories.db", b"k")) as store:
        write_changes(store, ANN, PutModel(MODEL))
        for first in range(0, MEMORIES, 150):
            fresh = [
                PutMemory(
                    sample_memory(
                        f"m{number}",
                        "public" if number % 5 else "user:ann",
                        status="archived" if number % 11 == 0 else "active",
                        tier=("observation", "semantic", "crystal")[number % 3],
                        vectors={} if number % 13 == 0 else {MODEL.fingerprint: windows(number, found)},
                    )
                )
                for number in range(first, first + 150)
            ]
            write_changes(store, ANN, *fresh)
        with store.reader(ANN) as reader:
            gone = reader.ids_with_prefix("", MEMORIES)[::17]
        write_changes(store, ANN, Forget(tuple(gone)))
        foreign = sample_memory("foreign", "user:bob", vectors={MODEL.fingerprint: windows(3, found)})
        write_changes(store, Scope("t", "bob"), PutMemory(foreign))
        yield store


def asked() -> NDArray[np.float32]:
    return np.concatenate([rows(MEMORIES, 1)[::19], np.zeros((1, MODEL.dimensions), np.float32), rows(20, 2)])


def one_by_one(
    reader: SQLiteReader, queries: NDArray[np.float32], limit: int, floor: float
) -> list[list[Hit]]:
    found = [reader.nearest(MODEL.fingerprint, query, RecordFilter()).top(limit) for query in queries]
    return [[hit for hit in hits if hit.score >= floor] for hits in found]


@pytest.mark.parametrize("floor", [-1.0, 0.0, 0.3, 1.1])
@pytest.mark.parametrize("limit", [0, 1, 10, MEMORIES])
def test_all_at_once_is_as_one_by_one(store: SQLiteStore, limit: int, floor: float) -> None:
    with store.reader(ANN) as reader:
        wanted = one_by_one(reader, asked(), limit, floor)
        assert reader.nearest_batch(MODEL.fingerprint, asked(), limit, floor) == wanted
        assert any(wanted) == (limit > 0 and floor < 1)


@pytest.mark.parametrize(("queries", "first", "most"), [(2, 1, 9), (7, 3, 50), (10_000, 5_000, 5_000)])
def test_how_queries_and_rows_are_cut_changes_nothing(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, queries: int, first: int, most: int
) -> None:
    with store.reader(ANN) as reader:
        wanted = reader.nearest_batch(MODEL.fingerprint, asked(), 10, 0.2)
        for name, value in (("QUERIES_AT_ONCE", queries), ("FIRST_BLOCK", first), ("LARGEST_BLOCK", most)):
            monkeypatch.setattr(vectors, name, value)
        assert reader.nearest_batch(MODEL.fingerprint, asked(), 10, 0.2) == wanted
        assert sum(map(len, wanted)) > 300


def test_a_large_store_answers_from_its_files(store: SQLiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.reader(ANN) as reader:
        ids = reader.ids_with_prefix("", MEMORIES)
        wanted = reader.nearest_batch(MODEL.fingerprint, asked(), 10, 0.2)
        small = reader.vectors(MODEL.fingerprint, ids)
        monkeypatch.setattr(vectors, "LARGE_TABLE", 100)
        assert reader.nearest_batch(MODEL.fingerprint, asked(), 10, 0.2) == wanted
        large = reader.vectors(MODEL.fingerprint, ids)
    assert list(large) == list(small)
    assert len(large) > 700
    for one in small:
        assert large[one].data.tolist() == small[one].data.tolist()
        assert large[one].scales.tolist() == small[one].scales.tolist()


def test_many_questions_of_a_large_store_miss_nothing_that_nominating_would(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.reader(ANN) as reader:
        wanted = reader.nearest_batch(MODEL.fingerprint, asked(), 10, 0.2)
        for module, name, value in (
            (vectors, "LARGE_TABLE", 100),
            (vectors, "NOMINATED", 3),
            (vectors, "FEW_SHARE", 0.0),
        ):
            monkeypatch.setattr(module, name, value)
        few = vectors.MANY_QUERIES - 1
        assert reader.nearest_batch(MODEL.fingerprint, asked()[:few], 10, 0.2) != wanted[:few]
        assert reader.nearest_batch(MODEL.fingerprint, asked(), 10, 0.2) == wanted


def test_no_queries_have_no_answers(store: SQLiteStore) -> None:
    with store.reader(ANN) as reader:
        assert (
            reader.nearest_batch(MODEL.fingerprint, np.zeros((0, MODEL.dimensions), np.float32), 5, 0.0) == []
        )
