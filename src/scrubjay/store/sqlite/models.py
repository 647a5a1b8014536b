"""Models: registering and dropping models, and storing vectors that come later."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from scrubjay.memory.models import Model
from scrubjay.memory.scope import Scope
from scrubjay.store.changes import CACHE_BYTES, Codes, PutVectors
from scrubjay.store.kept import Tenant
from scrubjay.store.sqlite import index, merge, registry, rows
from scrubjay.store.sqlite.pack import NEXT_VERSION

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database


def put(db: Database, tenant: int, model: Model, state: str) -> None:
    """Register a model, with every memory of the tenant waiting for it, or change the state of one."""
    known = registry.registered(db, tenant)
    if model.fingerprint in known:
        db.execute("UPDATE model SET state = ? WHERE id = ?", (state, known[model.fingerprint][0]))
        return
    db.execute(
        "INSERT INTO model (tenant, fingerprint, provider, name, revision, dimensions, pooling, window, state) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            tenant, model.fingerprint, model.provider, model.name, model.revision, model.dimensions, model.pooling,
            model.window, state,
        ),
    )  # fmt: skip
    db.execute(
        "INSERT INTO pending SELECT ?, hash, num FROM memory WHERE tenant = ?",
        (db.last_insert_rowid(), tenant),
    )


def drop(db: Database, tenant: int, fingerprint: str) -> None:
    """Remove a tenant's model and its vectors everywhere."""
    known = registry.registered(db, tenant)
    if fingerprint in known:
        number = known[fingerprint][0]
        for table in ("vector", "pending", "cache"):
            db.execute(f"DELETE FROM {table} WHERE model = ?", (number,))
        db.execute("DELETE FROM model WHERE id = ?", (number,))
        db.execute(f"UPDATE segment SET version = {NEXT_VERSION} WHERE tenant = ?", (tenant,))


def put_vectors(db: Database, tenant: Tenant, scope: Scope | None, change: PutVectors) -> None:
    """Store late vectors where their memories still wait for them, and cache their texts."""
    number = index.model_number(db, tenant.number, change.fingerprint)
    by_segment: dict[int, list[tuple[int, Codes]]] = defaultdict(list)
    for memory, (content_hash, codes) in change.vectors.items():
        if not rows.is_id(memory):
            continue
        row = db.execute(
            "SELECT m.num, m.hash, m.key, s.segment, s.slot FROM memory m JOIN slot s ON s.num = m.num "
            "WHERE m.tenant = ? AND m.hash = ? AND m.generation = ? AND m.content_hash = ? AND m.tier = ?",
            (tenant.number, rows.sort_hash(memory), tenant.generation, content_hash, rows.tier_of(memory)),
        ).fetchone()
        if row is None or (scope is not None and row[2] not in scope.keys):
            continue
        db.execute("DELETE FROM pending WHERE model = ? AND hash = ? AND num = ?", (number, row[1], row[0]))
        if db.changes():
            by_segment[row[3]].append((row[4], codes))
    for segment, held in by_segment.items():
        index.put_vectors(db, segment, number, held)
        merge.join_vectors(db, segment, number)
        db.execute(f"UPDATE segment SET version = {NEXT_VERSION} WHERE id = ?", (segment,))
    for text, codes in change.texts.items():
        db.execute(
            "INSERT OR REPLACE INTO cache (tenant, model, hash, rows, data) VALUES (?, ?, ?, ?, ?)",
            (
                tenant.number,
                number,
                text,
                len(codes.scales),
                codes.scales.astype("<f4").tobytes() + codes.data.tobytes(),
            ),
        )
    if change.texts:
        _bound_cache(db, tenant.number)


def _bound_cache(db: Database, tenant: int) -> None:
    (held,) = db.execute("SELECT total(length(data)) FROM cache WHERE tenant = ?", (tenant,)).fetchone()
    if held > CACHE_BYTES:
        db.execute(
            "DELETE FROM cache WHERE seq IN (SELECT seq FROM cache WHERE tenant = ? ORDER BY seq LIMIT "
            "(SELECT count(*) / 8 + 1 FROM cache WHERE tenant = ?))",
            (tenant, tenant),
        )
