"""Registry: the registered models, what waits for them, the cache of embedded texts, and what was forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from scrubjay.memory.models import Model
from scrubjay.store.base import Coverage, Waiting
from scrubjay.store.sqlite.seen import Seen

if TYPE_CHECKING:
    from scrubjay.store.changes import Codes
    from scrubjay.store.sqlite.database import Database

_SELECT: Final = (
    "SELECT id, provider, name, revision, dimensions, pooling, window, state FROM model WHERE tenant = ?"
)


def registered(db: Database, tenant: int) -> dict[str, tuple[int, Model, str]]:
    """Return a tenant's registered models: fingerprint to (number, model, state)."""
    found = {}
    for number, *identity, state in db.execute(_SELECT, (tenant,)).fetchall():
        model = Model(*identity)
        found[model.fingerprint] = (number, model, state)
    return found


def cached(db: Database, tenant: int, fingerprint: str, hashes: list[str]) -> dict[str, Codes]:
    """Return windows of texts that were embedded before."""
    import numpy as np

    from scrubjay.store.changes import Codes

    known = registered(db, tenant)
    if fingerprint not in known:
        return {}
    number, model, _ = known[fingerprint]
    found = {}
    for text in hashes:
        row = db.execute(
            "SELECT rows, data FROM cache WHERE tenant = ? AND model = ? AND hash = ?", (tenant, number, text)
        ).fetchone()
        if row is not None:
            count, blob = row
            data = np.frombuffer(blob, "i1", count * model.dimensions, count * 4)
            found[text] = Codes(data.reshape(count, model.dimensions), np.frombuffer(blob, "<f4", count))
    return found


def coverage(seen: Seen, fingerprint: str, memories: int) -> Coverage:
    """Return how many of so many memories have a model's vectors, and how many wait."""
    known = registered(seen.db, seen.tenant)
    if fingerprint not in known:
        return Coverage(0, memories)
    (waits,) = seen.db.execute(
        "SELECT count(*) FROM pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? "
        f"AND {seen.among()}",
        (known[fingerprint][0], *seen.own),
    ).fetchone()
    return Coverage(memories - waits, waits)


def waiting(seen: Seen, fingerprint: str, limit: int) -> list[Waiting]:
    """Return memories without a model's vectors, in hash order."""
    known = registered(seen.db, seen.tenant)
    if fingerprint in known:
        table = "pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? AND"
        order, values = "p.hash, p.num", [known[fingerprint][0]]
    else:
        table, order, values = "memory m WHERE", "m.hash", []
    nums = seen.db.execute(
        f"SELECT m.num FROM {table} {seen.among()} ORDER BY {order} LIMIT ?", (*values, *seen.own, limit)
    ).fetchall()
    return [
        Waiting(record, _before(seen, num)) for (num,) in nums for record in seen.records("m.num = ?", (num,))
    ]


def _before(seen: Seen, num: int) -> str:
    row = seen.db.execute(
        "SELECT b.content FROM memory m JOIN memory b ON b.document = m.document AND b.ordinal = m.ordinal - 1 "
        "AND b.heading_path = m.heading_path AND b.key = m.key WHERE m.num = ? ORDER BY b.tier, b.hash LIMIT 1",
        (num,),
    ).fetchone()
    return "" if row is None else str(row[0])


def forgotten(db: Database, tenant: int, hashes: Iterable[str]) -> set[str]:
    """Return those of these tombstone hashes that were forgotten."""
    if not db.execute("SELECT 1 FROM tombstone WHERE tenant = ?", (tenant,)).fetchone():
        return set()  # every passage of a sync is asked for under each of its reader's keys
    return {
        mark
        for mark in hashes
        if db.execute("SELECT 1 FROM tombstone WHERE tenant = ? AND hash = ?", (tenant, mark)).fetchone()
    }


def bury(db: Database, tenant: int, hashes: Iterable[str]) -> None:
    """Remember hashes of what was forgotten."""
    db.executemany("INSERT OR IGNORE INTO tombstone VALUES (?, ?)", ((tenant, mark) for mark in hashes))
