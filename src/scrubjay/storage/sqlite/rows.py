"""Rows of the tenant, memory, document, source and model tables, read and written for one scope."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence, Sized
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from scrubjay.models.ids import EmbeddingModel, parse_id
from scrubjay.models.records import Record
from scrubjay.storage.rows import (
    RECORD_COLUMNS,
    SELECTED_COLUMNS,
    SIGN,
    RegisteredModel,
    Tenant,
    insert_sql,
    record_from_row,
    record_to_row,
)

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database


def find_tenant(db: Database, name: str) -> Tenant | None:
    row = db.execute("SELECT id, secret, generation FROM tenant WHERE name = ?", (name,)).fetchone()
    return None if row is None else Tenant(*row)


def count_by_key(db: Database, tenant: Tenant) -> dict[str, int]:
    """Return visibility key to number of memories, from the segments: a row for thousands of memories."""
    found = db.execute(
        "SELECT key, sum(live) FROM segment WHERE tenant = ? AND generation = ? GROUP BY key",
        (tenant.number, tenant.generation),
    ).fetchall()
    return dict(found)


def get_or_create_tenant(db: Database, name: str, secret: bytes | None = None) -> Tenant:
    """Return a tenant, created with this or a random secret if new. Call it inside a transaction."""
    found = find_tenant(db, name)
    if found is None:
        db.execute("INSERT INTO tenant (name, secret) VALUES (?, ?)", (name, secret or os.urandom(32)))
        found = find_tenant(db, name)
    assert found is not None
    return found


T = TypeVar("T", str, int)

INSERT_MEMORY: Final = insert_sql("memory", ("tenant", "generation", *RECORD_COLUMNS))
SELECT_MEMORY: Final = f"SELECT {SELECTED_COLUMNS} FROM memory m LEFT JOIN document d ON d.id = m.document "


def sort_hash(memory: str) -> int:
    """Return an id's number as SQLite stores it, which sorts as the id's digits do."""
    parsed = parse_id(memory)
    assert parsed is not None, memory
    return parsed[1] - SIGN


def tier_of(memory: str) -> str:
    parsed = parse_id(memory)
    assert parsed is not None, memory
    return parsed[0]


def memory_to_row(record: Record, tenant: int, generation: int, document: int | None) -> tuple[Any, ...]:
    return (tenant, generation, *record_to_row(record, sort_hash(record.id), document, encode_strings))


def memory_from_row(row: tuple[Any, ...]) -> Record:
    return record_from_row(row, _decode_strings)


# Cached: the passages of a section share their headings, and most have no tags.
@lru_cache(maxsize=4_096)
def encode_strings(texts: tuple[str, ...]) -> str:
    return json.dumps(texts, ensure_ascii=False)


@lru_cache(maxsize=4_096)
def _decode_strings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def is_memory_id(memory: str) -> bool:
    return parse_id(memory) is not None


BATCH_IDS: Final = 500
"""Most ids of one statement."""


def id_batches(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(ids), BATCH_IDS):
        yield ids[first : first + BATCH_IDS]


def placeholders(values: Sized) -> str:
    return ",".join("?" * len(values))


MANY_KEYS: Final = 1_000
"""Keys above which a statement is given them as one value: SQLite takes 32,766 values, and whoever copies a tenant
sees the keys of all of its users."""


def bind_keys(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(keys) if len(keys) <= MANY_KEYS else (json.dumps(list(keys)),)


def keys_sql(keys: Sequence[str]) -> str:
    return placeholders(keys) if len(keys) <= MANY_KEYS else "SELECT value FROM json_each(?)"


class VisibleMemories(NamedTuple):
    """The memories of some visibility keys in the current generation; ``db`` is inside a transaction."""

    db: Database
    tenant: int
    generation: int
    keys: tuple[str, ...]

    @property
    def own(self) -> tuple[int | str, ...]:
        """Values of `among`."""
        return (self.tenant, self.generation, *self.bound)

    @property
    def bound(self) -> tuple[str, ...]:
        """Values of `keys_sql`."""
        return bind_keys(self.keys)

    @property
    def marks(self) -> str:
        return keys_sql(self.keys)

    def among(self, name: str = "m") -> str:
        return f"{name}.tenant = ? AND {name}.generation = ? AND {name}.key IN ({self.marks})"

    def records(self, condition: str, values: Sequence[object], tail: str = "") -> list[Record]:
        found = self.db.execute(
            f"{SELECT_MEMORY} WHERE {self.among()} AND {condition} {tail}", (*self.own, *values)
        ).fetchall()
        return [memory_from_row(row) for row in found]

    def by_id(self, ids: Iterable[str]) -> dict[str, Record]:
        wanted = [memory for memory in ids if is_memory_id(memory)]
        records: dict[str, Record] = {}
        for batch in id_batches(wanted):
            hashes = [sort_hash(memory) for memory in batch]
            marks = placeholders(hashes)
            records |= {record.id: record for record in self.records(f"m.hash IN ({marks})", hashes)}
        return {memory: records[memory] for memory in wanted if memory in records}


_SELECT_MODELS: Final = (
    "SELECT id, provider, name, revision, dimensions, pooling, window, state FROM model WHERE tenant = ?"
)


def registered_models(db: Database, tenant: int) -> dict[str, RegisteredModel]:
    """Return a tenant's registered models by fingerprint."""
    found = {}
    for number, *identity, state in db.execute(_SELECT_MODELS, (tenant,)).fetchall():
        model = EmbeddingModel(*identity)
        found[model.fingerprint] = RegisteredModel(number, model, state)
    return found
