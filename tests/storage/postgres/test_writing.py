"""Writing many memories: the same rows as one by one, and the same refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from scrubjay.errors import InputError
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PreparedMemory, PutMemory, PutModel
from scrubjay.storage.postgres.store import PostgresStore
from store_contract.samples import SMALL_MODEL, sample_id, sample_memory, sample_windows, write_changes

MINE = "user:ann"
ROWS = """
SELECT m.hash, m.tier, m.content, m.key, m.title, m.tags, m.length, m.language, m.tfs,
    (SELECT array_agg(t.text ORDER BY place) FROM unnest(m.terms) WITH ORDINALITY AS own (id, place)
        JOIN scrubjay.term t ON t.tenant = m.tenant AND t.id = own.id),
    (SELECT array_agg((v.place, v.scale, v.data)::text ORDER BY v.place) FROM scrubjay.vector v
        WHERE v.tenant = m.tenant AND v.memory = m.num)
FROM scrubjay.memory m JOIN scrubjay.tenant n ON n.id = m.tenant WHERE n.name = %s ORDER BY m.hash
"""


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_url, b"k")) as opened:
        yield opened


def samples(count: int) -> list[PreparedMemory]:
    """Memories, some without vectors or words, some with two windows."""
    made = [
        sample_memory(
            f"jay {number} {'oak ' * (number % 4)}", MINE, name=str(number), tags=(f"t{number % 3}", "x")
        )
        for number in range(count)
    ]
    made.append(sample_memory("", MINE, name="empty"))
    return [
        replace(one, vectors={SMALL_MODEL.fingerprint: sample_windows("jay", number % 3)})
        if number % 3
        else one
        for number, one in enumerate(made)
    ]


def rows(url: str, scope: Scope) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as db:
        return db.execute(ROWS, (scope.tenant,)).fetchall()


def test_many_memories_at_once_are_the_rows_in_postgres_that_one_by_one_are(
    store: PostgresStore, postgres_url: str, tmp_path: Path
) -> None:
    once, slow = Scope(f"{tmp_path} once", "ann"), Scope(f"{tmp_path} slow", "ann")
    made = samples(40)
    write_changes(store, once, PutModel(SMALL_MODEL), *map(PutMemory, made))
    write_changes(store, slow, PutModel(SMALL_MODEL))
    for one in made:
        write_changes(store, slow, PutMemory(one))
    found = rows(postgres_url, once)
    assert found == rows(postgres_url, slow)
    assert len(found) == 41
    assert {len(row[-1] or ()) for row in found} == {0, 1, 2}


def test_of_two_with_one_id_postgres_keeps_the_last(
    store: PostgresStore, postgres_url: str, tmp_path: Path
) -> None:
    ann = Scope(str(tmp_path), "ann")
    first, last = (sample_memory(text, MINE, name="a") for text in ("jay first", "jay last"))
    write_changes(
        store, ann, PutMemory(first), PutMemory(sample_memory("b", MINE, name="b")), PutMemory(last)
    )
    with store.reader(ann) as reader:
        assert reader.get([sample_id("a")])[sample_id("a")].content == "jay last"
        assert reader.counts().memories == 2


def test_two_tiers_under_one_number_are_refused_by_postgres_in_one_write_as_in_two(
    store: PostgresStore, tmp_path: Path
) -> None:
    ann = Scope(str(tmp_path), "ann")
    first, second = (
        PutMemory(sample_memory("jay", MINE, name="a", tier=tier)) for tier in ("observation", "lesson")
    )
    with pytest.raises(InputError) as at_once:
        write_changes(store, ann, first, second)
    write_changes(store, ann, first)
    with pytest.raises(InputError) as afterwards:
        write_changes(store, ann, second)
    assert str(at_once.value) == str(afterwards.value)
    with store.reader(ann) as reader:
        assert reader.counts().memories == 1
