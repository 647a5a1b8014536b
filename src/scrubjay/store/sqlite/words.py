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
    first = {part.segment: part.first for part in table.parts}
    found = db.execute(
        "SELECT p.segment, p.data FROM term t CROSS JOIN posting p ON p.term = t.id AND p.segment IN "
        f"({','.join('?' * len(first))}) WHERE t.tenant = ? AND t.text = ? ORDER BY p.segment",
        (*first, tenant, form),
    ).fetchall()
    slots, counts = [], []
    for segment, data in found:
        places, frequencies = unpack_postings(data)
        slots.append(places.astype(np.int64) + first[segment])
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
