"""Told: what happened to the memories that one scope sees, read in the transaction of its reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scrubjay.memory.events import Event
from scrubjay.memory.readings import Reading
from scrubjay.memory.runs import Run
from scrubjay.store.kept import run_of
from scrubjay.store.sqlite import rows
from scrubjay.store.sqlite.seen import Seen


class Told:
    """Events and runs that the holder of some keys sees.

    Attributes:
        seen: The memories they see.
    """

    seen: Seen

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        """Return events, newest first."""
        asked, values = ("", []) if run is None else (" AND e.run = ?", [run])
        if ids is None:
            return [event for _, event in self._events(asked, values, limit)]
        wanted = sorted({one for one in ids if rows.is_id(one)})
        found: list[tuple[int, Event]] = []
        for batch in rows.batches(wanted):
            numbers = [rows.sort_hash(one) for one in batch]
            # The tier, too: an id of another one has the number of a memory and none of its events.
            named = [value for one in batch for value in (rows.sort_hash(one), rows.tier_of(one))]
            among = (
                f"{asked} AND e.memory IN ({','.join('?' * len(batch))}) "
                f"AND (e.memory, m.tier) IN (VALUES {','.join(['(?, ?)'] * len(batch))})"
            )
            found += self._events(among, [*values, *numbers, *named], limit)
        found.sort(key=lambda one: (one[1].at, one[0]), reverse=True)
        return [event for _, event in found[:limit]]

    def _events(self, asked: str, values: Sequence[object], limit: int) -> list[tuple[int, Event]]:
        """Return the order of writing and itself of each of the newest events that a condition is true of."""
        # CROSS JOIN: newest first through the events, each memory by its number; never through all memories.
        found = self.seen.db.execute(
            "SELECT e.seq, m.tier, e.memory, e.op, e.at, e.key, e.run, o.tier, o.hash, e.count, e.before, e.actor "
            "FROM event e CROSS JOIN memory m ON m.tenant = e.tenant AND m.hash = e.memory "
            f"AND {self.seen.among()} LEFT JOIN memory o ON o.hash = e.other AND {self.seen.among('o')} "
            f"WHERE e.tenant = ? AND e.key IN ({self.seen.marks}){asked} ORDER BY e.at DESC, e.seq DESC LIMIT ?",
            (*self.seen.own, *self.seen.own, self.seen.tenant, *self.seen.bound, *values, limit),
        ).fetchall()
        return [_event(row) for row in found]

    def readings(self, ids: Sequence[str]) -> dict[str, Reading]:
        """Return what was read from memories."""
        found: dict[str, Reading] = {}
        wanted = {one for one in ids if rows.is_id(one)}
        for batch in rows.batches([rows.sort_hash(one) for one in wanted]):
            held = self.seen.db.execute(
                "SELECT m.tier, m.hash, r.mark, r.data FROM memory m JOIN reading r ON r.num = m.num "
                f"WHERE {self.seen.among()} AND m.hash IN ({','.join('?' * len(batch))})",
                (*self.seen.own, *batch),
            ).fetchall()
            for tier, number, mark, data in held:
                memory = rows.from_hash(tier, number)
                if memory in wanted:
                    found[memory] = Reading(memory, mark, data)
        return found

    def runs(self, limit: int = 20) -> list[Run]:
        """Return runs, started last first."""
        found = self.seen.db.execute(
            f"SELECT id, key, state, rules, started, ended, counts FROM run WHERE tenant = ? "
            f"AND key IN ({self.seen.marks}) ORDER BY started DESC, id, key LIMIT ?",
            (self.seen.tenant, *self.seen.bound, limit),
        ).fetchall()
        return [run_of(row) for row in found]


def _event(row: tuple[Any, ...]) -> tuple[int, Event]:
    seq, tier, number, op, at, key, run, other_tier, other, count, before, actor = row
    named = None if other is None else rows.from_hash(other_tier, other)
    return seq, Event(rows.from_hash(tier, number), op, at, key, run, named, count, before, actor)
