"""Chains: what follows what in a session, a document and a project, read off the memories' own rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from scrubjay.memory.edges import Edge
from scrubjay.store.sqlite import rows
from scrubjay.store.sqlite.seen import Seen

AT: Final = "coalesce({0}.event_start, {0}.recorded_at)"
ROW: Final = "{0}.tier, {0}.hash, {0}.key, " + AT
SESSION: Final = "n.session = m.session AND n.turn = m.turn + {0}"
DOCUMENT: Final = (
    "n.document = m.document AND n.ordinal = m.ordinal + {0} AND m.session IS NULL AND n.session IS NULL"
)
HEAD: Final = (
    "project IS NOT NULL AND ((session IS NOT NULL AND turn = 0) OR "
    "(session IS NULL AND turn IS NULL AND coalesce(ordinal, 0) = 0))"
)
"""What makes a memory a head of its project, word for word as the index `memory_head` asks it."""


def follows(seen: Seen, ids: Sequence[str]) -> list[Edge]:
    """Return the edges, later to earlier, that begin or end in these memories."""
    wanted = {memory for memory in ids if rows.is_id(memory)}
    found: dict[tuple[str, str, str], Edge] = {}
    for batch in rows.batches(sorted(wanted)):
        hashes = [rows.sort_hash(memory) for memory in batch]
        for rule, near in (("session", SESSION), ("document", DOCUMENT)):
            for step in (-1, 1):
                pairs = _pairs(seen, near.format(step), hashes)
                for edge in _edges(rule, pairs, step, wanted):
                    found[edge.rule, edge.src, edge.dst] = edge
        for edge in _projects(seen, hashes, wanted):
            found[edge.rule, edge.src, edge.dst] = edge
    return [found[name] for name in sorted(found)]


def _pairs(seen: Seen, near: str, hashes: Sequence[int]) -> list[Any]:
    return seen.db.execute(
        f"SELECT {ROW.format('m')}, {ROW.format('n')} FROM memory m CROSS JOIN memory n ON {near} "
        f"WHERE {seen.among()} AND {seen.among('n')} AND m.hash IN ({','.join('?' * len(hashes))})",
        (*seen.own, *seen.own, *hashes),
    ).fetchall()


def _edges(rule: str, pairs: Sequence[Any], step: int, wanted: set[str]) -> Iterator[Edge]:
    """Yield the edges of pairs of a wanted memory and the one that stands ``step`` from it."""
    for *one, tier, number, key, at in pairs:
        asked, other = rows.from_hash(one[0], one[1]), rows.from_hash(tier, number)
        if asked not in wanted:
            continue
        if step < 0:
            yield Edge(asked, "follows", other, one[2], at=at, rule=rule)
        else:
            yield Edge(other, "follows", asked, key, at=one[3], rule=rule)


def _projects(seen: Seen, hashes: Sequence[int], wanted: set[str]) -> Iterator[Edge]:
    heads = seen.db.execute(
        f"SELECT m.project, {ROW.format('m')} FROM memory m INDEXED BY memory_hash WHERE {seen.among()} "
        f"AND m.hash IN ({','.join('?' * len(hashes))}) AND {HEAD}",
        (*seen.own, *hashes),
    ).fetchall()
    for project, *head in heads:
        for step, (sign, order) in ((-1, ("<", "DESC")), (1, (">", "ASC"))):
            near = seen.db.execute(
                f"SELECT {ROW.format('m')} FROM memory m WHERE {seen.among()} AND project = ? AND {HEAD} "
                f"AND {AT.format('m')} {sign}= ? AND ({AT.format('m')}, m.tier, m.hash) {sign} (?, ?, ?) "
                f"ORDER BY {AT.format('m')} {order}, m.tier {order}, m.hash {order} LIMIT 1",
                (*seen.own, project, head[3], head[3], head[0], head[1]),
            ).fetchone()
            if near is not None:
                yield from _edges("project", [(*head, *near)], step, wanted)


def adjacent(seen: Seen, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the turns just before and after each turn of a session."""
    found: dict[str, tuple[str, ...]] = {}
    for batch in rows.batches([memory for memory in ids if rows.is_id(memory)]):
        held = seen.db.execute(
            "SELECT m.tier, m.hash, n.tier, n.hash FROM memory m JOIN memory n ON n.session = m.session "
            f"AND n.turn BETWEEN m.turn - 1 AND m.turn + 1 AND n.turn <> m.turn WHERE {seen.among()} "
            f"AND {seen.among('n')} AND m.hash IN ({','.join('?' * len(batch))}) "
            "ORDER BY m.hash, n.turn, n.tier, n.hash",
            (*seen.own, *seen.own, *map(rows.sort_hash, batch)),
        ).fetchall()
        for tier, number, other_tier, other in held:
            memory = rows.from_hash(tier, number)
            found[memory] = (*found.get(memory, ()), rows.from_hash(other_tier, other))
    return {memory: found[memory] for memory in ids if memory in found}


def last_turn(seen: Seen, session: str) -> int | None:
    """Return the greatest turn of a session."""
    row = seen.db.execute(
        f"SELECT m.turn FROM memory m WHERE {seen.among()} AND m.session = ? AND m.turn IS NOT NULL "
        "ORDER BY m.turn DESC LIMIT 1",
        (*seen.own, session),
    ).fetchone()
    return None if row is None else int(row[0])
