"""Words: BM25 over the postings of a table's segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scrubjay.store.scored import NOTHING, Found, Held, held
from scrubjay.store.sqlite.pack import unpack_postings
from scrubjay.store.table import Table
from scrubjay.text.tokens import TermGroup

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database


def postings(db: Database, tenant: int, table: Table, group: TermGroup) -> Held:
    """Return the rows that hold a group, ascending."""
    return held([_postings(db, tenant, table, form) for form in group.forms])


def _postings(db: Database, tenant: int, table: Table, form: str) -> Found:
    row = db.execute("SELECT id FROM term WHERE tenant = ? AND text = ?", (tenant, form)).fetchone()
    if row is None:
        return NOTHING
    slots, counts = [], []
    for part in table.parts:
        blob = db.execute(
            "SELECT data FROM posting WHERE segment = ? AND term = ?", (part.segment, row[0])
        ).fetchone()
        if blob is not None:
            places, frequencies = unpack_postings(blob[0])
            slots.append(places.astype(np.int64) + part.first)
            counts.append(frequencies)
    if not slots:
        return NOTHING
    return np.concatenate(slots), np.concatenate(counts).astype(np.float64)


def holds(db: Database, tenant: int, table: Table, term: str) -> bool:
    """Return whether any visible memory holds a term."""
    row = db.execute("SELECT id FROM term WHERE tenant = ? AND text = ?", (tenant, term)).fetchone()
    return row is not None and any(
        db.execute("SELECT 1 FROM posting WHERE segment = ? AND term = ?", (part.segment, row[0])).fetchone()
        for part in table.parts
    )
