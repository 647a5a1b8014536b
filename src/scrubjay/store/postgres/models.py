"""Models: the registered models, vectors, and the cache of embedded texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.memory.models import Model
from scrubjay.store.changes import CACHE_BYTES, Codes

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered model with its number."""

    number: int
    model: Model
    state: str


def registered(db: Database, tenant: int) -> dict[str, Registered]:
    """Return a tenant's registered models by fingerprint."""
    found = db.execute(
        "SELECT fingerprint, id, state, provider, name, revision, dimensions, pooling, most_tokens "
        "FROM model WHERE tenant = %s",
        (tenant,),
    ).fetchall()
    return {row[0]: Registered(row[1], Model(*row[3:]), row[2]) for row in found}


def put(db: Database, tenant: int, model: Model, state: str) -> None:
    """Register a model, or change the state of one."""
    values = (
        tenant, model.fingerprint, model.provider, model.name, model.revision, model.dimensions,
        model.pooling, model.window, state,
    )  # fmt: skip
    db.execute(
        "INSERT INTO model (tenant, fingerprint, provider, name, revision, dimensions, pooling, most_tokens, "
        "state) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) "
        "ON CONFLICT (tenant, fingerprint) DO UPDATE SET state = excluded.state",
        values,
    )


def drop(db: Database, tenant: int, fingerprint: str) -> None:
    """Remove a model with its vectors and cached texts."""
    db.execute("DELETE FROM model WHERE tenant = %s AND fingerprint = %s", (tenant, fingerprint))


def put_vectors(db: Database, tenant: int, num: int, model: int, codes: Codes) -> None:
    """Store the windows of a memory that has none of this model."""
    for place, (scale, row) in enumerate(zip(codes.scales.tolist(), codes.data, strict=True)):
        db.execute(
            "INSERT INTO vector VALUES (%s, %s, %s, %s, %s, %s)",
            (tenant, num, model, place, scale, row.tobytes()),
        )


def waits(db: Database, tenant: int, num: int, model: int, content_hash: str) -> bool:
    """Return whether a memory still has this text and no vectors of a model."""
    found = db.execute(
        "SELECT 1 FROM memory m WHERE tenant = %s AND num = %s AND content_hash = %s AND NOT EXISTS "
        "(SELECT FROM vector v WHERE v.tenant = m.tenant AND v.memory = m.num AND v.model = %s)",
        (tenant, num, content_hash, model),
    ).fetchone()
    return found is not None


def put_texts(db: Database, tenant: int, model: int, texts: Mapping[str, Codes]) -> None:
    """Cache the windows of texts; when they are more than a tenant may have, an eighth goes, oldest first."""
    for text, codes in texts.items():
        db.execute(
            "INSERT INTO cache (tenant, model, hash, scales, data) VALUES (%s, %s, %s, %s, %s) ON CONFLICT "
            "(tenant, model, hash) DO UPDATE SET scales = excluded.scales, data = excluded.data",
            (tenant, model, text, codes.scales.tolist(), codes.data.tobytes()),
        )
    row = db.execute(
        "SELECT coalesce(sum(length(data)), 0), count(*) FROM cache WHERE tenant = %s", (tenant,)
    ).fetchone()
    if row is not None and row[0] > CACHE_BYTES:
        db.execute(
            "DELETE FROM cache WHERE tenant = %s AND seq IN "
            "(SELECT seq FROM cache WHERE tenant = %s ORDER BY seq LIMIT %s)",
            (tenant, tenant, row[1] // 8 + 1),
        )
