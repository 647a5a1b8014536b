"""Codes of tokens: small, read for candidates alone, and gone when their memory is."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from scrubjay.embeddings.late_interaction import LateInteractionEmbedder
from scrubjay.ingest.embedder import encode_texts
from scrubjay.models.records import Scope
from scrubjay.storage.changes import Forget, PutMemory, PutModel
from scrubjay.storage.interface import Store
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.sqlite.connection import connect
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import ANN_KEY, TOKEN_MODEL, sample_codes, sample_id, sample_memory, write_changes

ANN = Scope("tenant", "ann")
FORTY_TOKENS = (
    "Bob said that the boat number {} lies in the eastern harbour since the storm of last week, "
    "because the old mooring near the lighthouse broke; he pays ninety euros a year for the new one."
)
MEMORIES = 40


def filled(store: Store, copies: int = 1) -> Store:
    """Write memories of forty tokens with their codes, and copies of these."""
    model = LateInteractionEmbedder()
    name = model.model.fingerprint
    texts = [FORTY_TOKENS.format(number) for number in range(MEMORIES)]
    codes = encode_texts(model, texts)
    write_changes(store, ANN, PutModel(model.model))
    for copy in range(copies):
        memories = [
            sample_memory(text, ANN_KEY, name=f"m{copy * MEMORIES + number}", vectors={name: own})
            for number, (text, own) in enumerate(zip(texts, codes, strict=True))
        ]
        write_changes(store, ANN, *map(PutMemory, memories))
    return store


def test_a_memory_of_forty_tokens_takes_less_than_a_kilobyte_in_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filled(SQLiteStore(path, b"s" * 32), 40).close()
    db = connect(path)
    (size,) = db.execute(
        "SELECT sum(pgsize) FROM dbstat WHERE name IN ('vector', 'vector_segment')"
    ).fetchone()
    assert 300 < size / MEMORIES / 40 < 1024


def test_a_memory_of_forty_tokens_takes_less_than_a_kilobyte_in_postgresql(database: str) -> None:
    import psycopg

    filled(PostgresStore(database, b"s" * 32)).close()
    with psycopg.connect(database) as db:
        row = db.execute("SELECT count(*), sum(pg_column_size(v.*)) FROM scrubjay.vector v").fetchone()
    assert row is not None
    assert row[0] == MEMORIES
    assert 300 < row[1] / MEMORIES < 1024


@pytest.mark.parametrize("count", [200, 4_000])
def test_what_a_search_reads_of_codes_does_not_grow_with_the_store(tmp_path: Path, count: int) -> None:
    store = SQLiteStore(tmp_path / "memory.db", b"s" * 32)
    name = TOKEN_MODEL.fingerprint
    write_changes(store, ANN, PutModel(TOKEN_MODEL))
    for first in range(0, count, 200):
        memories = [
            sample_memory("jay", ANN_KEY, name=f"m{n}", vectors={name: sample_codes(f"m{n}", 200)})
            for n in range(first, first + 200)
        ]
        write_changes(store, ANN, *map(PutMemory, memories))
    some = [sample_id(f"m{n}") for n in range(0, count, count // 50)]
    with store.reader(ANN) as reader:
        reader.coverage(name)  # reads the table of memories
        tracemalloc.start()
        try:
            found = reader.vectors(name, some)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert len(found) == 50
    own = sum(codes.data.nbytes + codes.scales.nbytes for codes in found.values())
    # The codes of all are 320 kB and 6.4 MB.
    assert peak < 3 * own + 100 * 1024 + 64 * count


def test_no_byte_of_the_codes_of_a_forgotten_memory_is_left(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "memory.db", b"s" * 32)
    name = TOKEN_MODEL.fingerprint
    write_changes(store, ANN, PutModel(TOKEN_MODEL))
    for number in range(30):
        memory = sample_memory(
            "jay", ANN_KEY, name=f"m{number}", vectors={name: sample_codes(f"m{number}", 40)}
        )
        write_changes(store, ANN, PutMemory(memory))

    def held(number: int) -> bool:
        store.backup(tmp_path / f"backup-{number}.db")
        row = sample_codes(f"m{number}", 40).data[7].tobytes()
        return any(row in path.read_bytes() for path in (tmp_path / f"backup-{number}.db",))

    assert held(3)
    write_changes(store, ANN, Forget((sample_id("m3"),)))
    store.close()
    row = sample_codes("m3", 40).data
    left = b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*"))
    assert not any(code.tobytes() in left for code in row)
    assert sample_codes("m4", 40).data[7].tobytes() in left


def test_both_stores_return_the_same_codes(tmp_path: Path, database: str) -> None:
    one, other = (
        filled(SQLiteStore(tmp_path / "memory.db", b"s" * 32)),
        filled(PostgresStore(database, b"s" * 32)),
    )
    name = LateInteractionEmbedder().model.fingerprint
    ids = [sample_id(f"m{n}") for n in range(MEMORIES)]
    with one.reader(ANN) as here, other.reader(ANN) as there:
        mine, theirs = here.vectors(name, ids), there.vectors(name, ids)
    one.close()
    other.close()
    assert list(mine) == list(theirs) == ids
    assert all(np.array_equal(mine[each].data, theirs[each].data) for each in ids)
