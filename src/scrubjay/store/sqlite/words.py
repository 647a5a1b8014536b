"""Words: BM25 over the postings of a table's segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scrubjay.store.score import idf, saturation
from scrubjay.store.scored import ArrayScored, spread
from scrubjay.store.sqlite.pack import unpack_postings
from scrubjay.store.sqlite.table import Table
from scrubjay.text.tokens import TermGroup

if TYPE_CHECKING:
    import apsw

Found = tuple[NDArray[np.int64], NDArray[np.float64]]
NOTHING: Found = (np.zeros(0, np.int64), np.zeros(0, np.float64))


def postings(db: apsw.Connection, tenant: int, table: Table, group: TermGroup) -> Found:
    """Return the rows that hold any form of a group, ascending, with the largest frequency of its forms."""
    found = [_postings(db, tenant, table, form) for form in group.forms]
    found = [pair for pair in found if len(pair[0])]
    if not found:
        return NOTHING
    if len(found) == 1:
        return found[0]
    rows = np.concatenate([pair[0] for pair in found])
    counts = np.concatenate([pair[1] for pair in found])
    order = np.argsort(rows, kind="stable")
    rows, counts = rows[order], counts[order]
    first = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
    return rows[first], np.maximum.reduceat(counts, first)


def _postings(db: apsw.Connection, tenant: int, table: Table, form: str) -> Found:
    row = db.execute("SELECT id FROM term WHERE tenant = ? AND text = ?", (tenant, form)).fetchone()
    if row is None:
        return NOTHING
    slots, counts = [], []
    for part in table.parts:
        held = db.execute("SELECT data FROM posting WHERE segment = ? AND term = ?", (part.segment, row[0])).fetchone()
        if held is not None:
            places, frequencies = unpack_postings(held[0])
            slots.append(places.astype(np.int64) + part.first)
            counts.append(frequencies)
    if not slots:
        return NOTHING
    return np.concatenate(slots), np.concatenate(counts).astype(np.float64)


def score(table: Table, found: Sequence[Found], passing: NDArray[np.bool_]) -> ArrayScored:
    """Score every row by BM25; groups are added in their order, as the reference adds them."""
    scores = np.zeros(table.rows, np.float64)
    parts = []
    for rows, counts in found:
        amounts = idf(table.memories, len(rows)) * saturation(counts, table.lengths[rows], table.average)
        scores[rows] += amounts
        parts.append((rows, amounts))
    mean, deviation = spread(scores[table.live])
    return ArrayScored(
        table=table,
        scores=scores,
        known=table.live,
        passing=np.flatnonzero(passing & (scores > 0)),
        mean=mean,
        deviation=deviation,
        covered=table.memories,
        groups=tuple(parts),
        frequencies=tuple(len(rows) for rows, _ in parts),
    )


def holds(db: apsw.Connection, tenant: int, table: Table, term: str) -> bool:
    """Return whether any visible memory holds a term."""
    row = db.execute("SELECT id FROM term WHERE tenant = ? AND text = ?", (tenant, term)).fetchone()
    return row is not None and any(
        db.execute("SELECT 1 FROM posting WHERE segment = ? AND term = ?", (part.segment, row[0])).fetchone()
        for part in table.parts
    )
