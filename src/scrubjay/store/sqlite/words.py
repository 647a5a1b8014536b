"""Words: BM25 over the postings of a table's segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.store.scored import NOTHING, Found, Weighed, weighed
from scrubjay.store.sqlite import rows
from scrubjay.store.sqlite.pack import unpack_postings
from scrubjay.store.table import Table
from scrubjay.text.tokens import TermGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.sqlite.database import Database


def postings(
    db: Database, tenant: int, table: Table, groups: Iterable[TermGroup]
) -> dict[TermGroup, Weighed]:
    """Return what each group adds to the scores of the rows that hold it; all are read together."""
    groups = list(groups)
    found = _postings(
        db, tenant, table, list(dict.fromkeys(form for group in groups for form in group.forms))
    )
    return {group: weighed(table, [found.get(form, NOTHING) for form in group.forms]) for group in groups}


def _postings(db: Database, tenant: int, table: Table, forms: Sequence[str]) -> dict[str, Found]:
    first = {part.segment: part.first for part in table.parts}
    segments = ",".join(map(str, first))
    slots: dict[str, list[NDArray[np.int64]]] = {}
    counts: dict[str, list[NDArray[np.uint8]]] = {}
    for batch in rows.batches(forms):
        read = db.execute(
            "SELECT t.text, p.segment, p.data FROM term t CROSS JOIN posting p ON p.term = t.id "
            f"AND p.segment IN ({segments}) WHERE t.tenant = ? AND t.text IN ({','.join('?' * len(batch))}) "
            "ORDER BY p.segment",
            (tenant, *batch),
        ).fetchall()
        for form, segment, data in read:
            places, frequencies = unpack_postings(data)
            slots.setdefault(form, []).append(places.astype(np.int64) + first[segment])
            counts.setdefault(form, []).append(frequencies)
    return {
        form: (np.concatenate(places), np.concatenate(counts[form]).astype(np.float64))
        for form, places in slots.items()
    }


def holds(db: Database, tenant: int, table: Table, term: str) -> bool:
    """Return whether any visible memory holds a term."""
    row = db.execute("SELECT id FROM term WHERE tenant = ? AND text = ?", (tenant, term)).fetchone()
    return row is not None and any(
        db.execute("SELECT 1 FROM posting WHERE segment = ? AND term = ?", (part.segment, row[0])).fetchone()
        for part in table.parts
    )
