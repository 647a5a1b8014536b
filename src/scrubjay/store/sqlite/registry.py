"""Registry: the registered models and the cache of embedded texts, as a reader sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrubjay.memory.models import Model

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
