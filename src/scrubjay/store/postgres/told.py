"""Told: what happened to the memories that one scope sees, read in the transaction of its reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.memory.events import Event
from scrubjay.memory.ids import parse_id
from scrubjay.memory.readings import Reading
from scrubjay.memory.runs import Run
from scrubjay.store.kept import run_of
from scrubjay.store.postgres import edges, rows
from scrubjay.store.postgres.scores import SCOPE

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own

TIER: Final = (
    "(SELECT m.tier FROM memory m WHERE m.tenant = e.tenant AND m.generation = %(generation)s "
    "AND m.hash = e.{0} AND m.key = ANY(%(keys)s))"
)
"""The tier of a visible memory that an event knows by its number; none of any other. As `edges.SEEN` looks."""
NEWEST: Final = f"""
SELECT tier, memory, op, at, key, run, other_tier, other, count, before, actor FROM (
    SELECT e.*, {TIER.format("memory")} AS tier, {TIER.format("other")} AS other_tier FROM event e
    WHERE e.tenant = %(tenant)s AND e.key = ANY(%(keys)s)
) seen WHERE tier IS NOT NULL {{condition}} ORDER BY at DESC, seq DESC LIMIT %(limit)s
"""
AMONG: Final = "AND (memory, tier) IN (SELECT * FROM unnest(%(numbers)s::bigint[], %(tiers)s::text[])) "


class Told:
    """Events and runs that one scope sees."""

    _db: Database
    _own: Own

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        """Return events, newest first."""
        asked = [pair for one in ids or () if (pair := parse_id(one)) is not None]
        condition = (AMONG if ids is not None else "") + ("AND run = %(run)s" if run is not None else "")
        values = edges.bound(
            self._own,
            numbers=[number - rows.SIGN for _, number in asked],
            tiers=[tier for tier, _ in asked],
            run=run,
            limit=limit,
        )
        found = self._db.execute(NEWEST.format(condition=condition), values).fetchall()
        return [
            Event(
                rows.id_of(tier, number), op, at, key, by,
                None if other_tier is None else rows.id_of(other_tier, other), count, before, actor,
            )
            for tier, number, op, at, key, by, other_tier, other, count, before, actor in found
        ]  # fmt: skip

    def readings(self, ids: Sequence[str]) -> dict[str, Reading]:
        """Return what was read from memories."""
        wanted = set(ids)
        found = self._db.execute(
            "SELECT m.tier, m.hash, r.mark, r.data FROM memory m JOIN reading r ON r.tenant = m.tenant "
            f"AND r.memory = m.num WHERE {SCOPE} AND m.hash = ANY(%s::bigint[])",
            (*self._own, rows.hashes(wanted)),
        ).fetchall()
        held = {rows.id_of(tier, number): (mark, bytes(data)) for tier, number, mark, data in found}
        return {memory: Reading(memory, *one) for memory, one in held.items() if memory in wanted}

    def runs(self, limit: int = 20) -> list[Run]:
        """Return runs, started last first."""
        found = self._db.execute(
            "SELECT id, key, state, rules, started, ended, counts FROM run WHERE tenant = %(tenant)s "
            'AND key = ANY(%(keys)s) ORDER BY started DESC, id COLLATE "C", key COLLATE "C" LIMIT %(limit)s',
            edges.bound(self._own, limit=limit),
        ).fetchall()
        return [run_of(row) for row in found]
