"""Heads: ids -> what ranking asks of these memories without reading their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.store.base import Head
from scrubjay.store.sqlite import rows

if TYPE_CHECKING:
    from scrubjay.store.sqlite.seen import Seen
    from scrubjay.store.table import Table


def heads(seen: Seen, table: Table, ids: Sequence[str]) -> dict[str, Head]:
    """Return the heads of those that are seen."""
    places = {memory: row for memory, row in zip(ids, table.find(ids), strict=True) if row is not None}
    found: dict[str, Head] = {}
    for batch in rows.batches(list(places)):
        held = seen.db.execute(
            "SELECT m.tier, m.hash, m.title, m.turn, m.role, coalesce(m.event_start, m.recorded_at), m.last_used, "
            "m.pinned, m.strength, m.confidence, m.session, m.project FROM memory m "
            f"WHERE {seen.among()} AND m.hash IN ({','.join('?' * len(batch))})",
            (*seen.own, *map(rows.sort_hash, batch)),
        ).fetchall()
        for tier, number, title, turn, role, at, used, pinned, *sure in held:
            memory = rows.from_hash(tier, number)
            if memory in places:
                words = int(table.lengths[places[memory]])
                found[memory] = Head(title, words, turn is not None, role, at, used, bool(pinned), *sure)
    return found
