"""Rows of the tenant, memory, document, source and model tables, read and written for one scope."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import Record
from scrubjay.storage.rows import (
    RECORD_COLUMNS,
    RegisteredModel,
    Tenant,
    insert_sql,
    memory_hash,
    record_to_row,
)

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database


def find_tenant(db: Database, name: str) -> Tenant | None:
    row = db.execute("SELECT id, secret, generation FROM tenant WHERE name = ?", (name,)).fetchone()
    return None if row is None else Tenant(*row)


def count_by_key(db: Database, tenant: Tenant) -> dict[str, int]:
    """Return visibility key to number of memories, from the segments: a row for thousands of memories."""
    rows = db.execute(
        "SELECT key, sum(live) FROM segment WHERE tenant = ? AND generation = ? GROUP BY key",
        (tenant.number, tenant.generation),
    ).fetchall()
    return dict(rows)


def get_or_create_tenant(db: Database, name: str, secret: bytes | None = None) -> Tenant:
    """Return a tenant, created with this or a random secret if new. Call it inside a transaction."""
    tenant = find_tenant(db, name)
    if tenant is None:
        db.execute("INSERT INTO tenant (name, secret) VALUES (?, ?)", (name, secret or os.urandom(32)))
        tenant = find_tenant(db, name)
    assert tenant is not None
    return tenant


INSERT_MEMORY: Final = insert_sql("memory", ("tenant", "generation", *RECORD_COLUMNS))


def memory_to_row(record: Record, tenant: int, generation: int, document: int | None) -> tuple[Any, ...]:
    return (tenant, generation, *record_to_row(record, memory_hash(record.id), document, encode_strings))


# Cached: the passages of a section share their headings, and most have no tags.
@lru_cache(maxsize=4_096)
def encode_strings(texts: tuple[str, ...]) -> str:
    return json.dumps(texts, ensure_ascii=False)


@lru_cache(maxsize=4_096)
def decode_strings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


_SELECT_MODELS: Final = (
    "SELECT id, provider, name, revision, dimensions, pooling, window, state FROM model WHERE tenant = ?"
)


def registered_models(db: Database, tenant: int) -> dict[str, RegisteredModel]:
    models = {}
    for number, *identity, state in db.execute(_SELECT_MODELS, (tenant,)).fetchall():
        model = EmbeddingModel(*identity)
        models[model.fingerprint] = RegisteredModel(number, model, state)
    return models
