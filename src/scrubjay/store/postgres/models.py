"""Models: the registered models, vectors, and the cache of embedded texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.memory.models import Model
from scrubjay.store.changes import CACHE_BYTES, Codes
from scrubjay.store.postgres import neighbours, rows
from scrubjay.store.postgres.scores import SCOPE

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered model with its number.

    Attributes:
        number: Its key in every table.
        model: The model.
        state: ``active`` or ``adding``.
        neighbours: How far the index of its vectors is: nothing, ``filling`` or ``ready``.
    """

    number: int
    model: Model
    state: str
    neighbours: str = ""


def registered(db: Database, tenant: int) -> dict[str, Registered]:
    """Return a tenant's registered models by fingerprint."""
    found = db.execute(
        "SELECT fingerprint, id, state, neighbours, provider, name, revision, dimensions, pooling, most_tokens "
        "FROM model WHERE tenant = %s",
        (tenant,),
    ).fetchall()
    return {row[0]: Registered(row[1], Model(*row[4:]), row[2], row[3]) for row in found}


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


def put_vectors(db: Database, tenant: int, one: Registered, windows: Mapping[int, Codes]) -> None:
    """Store the windows of memories, by the numbers of their rows, that have none of this model."""
    held = [
        (num, place, scale, row.tobytes())
        for num, codes in windows.items()
        for place, (scale, row) in enumerate(zip(codes.scales.tolist(), codes.data, strict=True))
    ]
    nums, places, scales, data = [list(column) for column in zip(*held, strict=True)] or [[]] * 4
    db.execute(
        "INSERT INTO vector (tenant, memory, model, place, scale, data) SELECT %s, memory, %s, place, scale, data "
        "FROM unnest(%s::bigint[], %s::integer[], %s::real[], %s::bytea[]) AS new (memory, place, scale, data)",
        (tenant, one.number, nums, places, scales, data),
    )
    if one.neighbours:
        neighbours.put(db, tenant, one.number, zip(nums, places, data, strict=True))


def windows(db: Database, own: Own, model: tuple[int, Model], hashes: Sequence[int]) -> dict[str, Codes]:
    """Return the windows of a model of those of these visible memories that have them, by id."""
    number, identity = model
    found = db.execute(
        "SELECT m.tier, m.hash, array_agg(v.scale ORDER BY v.place), string_agg(v.data, '' ORDER BY v.place) "
        "FROM vector v JOIN memory m ON m.tenant = v.tenant AND m.num = v.memory "
        f"WHERE v.model = %s AND {SCOPE} AND m.hash = ANY(%s::bigint[]) GROUP BY m.tier, m.hash",
        (number, *own, hashes),
    ).fetchall()
    return {
        rows.id_of(tier, number): codes(scales, data, identity.dimensions)
        for tier, number, scales, data in found
    }


def texts(db: Database, tenant: int, fingerprint: str, hashes: Sequence[str]) -> dict[str, Codes]:
    """Return windows of texts that were embedded before, by sha256 of the text."""
    found = db.execute(
        "SELECT c.hash, c.scales, c.data, m.dimensions FROM cache c JOIN model m ON m.tenant = c.tenant "
        "AND m.id = c.model WHERE c.tenant = %s AND m.fingerprint = %s AND c.hash = ANY(%s)",
        (tenant, fingerprint, list(hashes)),
    ).fetchall()
    return {text: codes(scales, data, width) for text, scales, data, width in found}


def codes(scales: Sequence[float], data: bytes, dimensions: int) -> Codes:
    """Return windows as they are kept, from the columns of their rows."""
    return Codes(np.frombuffer(data, np.int8).reshape(len(scales), dimensions), np.array(scales, np.float32))


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
