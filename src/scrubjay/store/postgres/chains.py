"""Chains: what follows what in a session, a document and a project, read off the memories' own rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from scrubjay.memory.edges import Edge
from scrubjay.store.postgres import rows
from scrubjay.store.postgres.scores import SCOPE

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own

NEAR: Final = {
    "session": "n.session = m.session AND n.turn = m.turn {0} 1",
    "document": "n.document = m.document AND n.ordinal = m.ordinal {0} 1 AND m.session IS NULL "
    "AND n.session IS NULL",
}
"""Rule to when a memory ``n`` stands one before (-) or after (+) a memory ``m``."""
HEAD: Final = (
    "((m.session IS NOT NULL AND m.turn = 0) OR "
    "(m.session IS NULL AND m.turn IS NULL AND coalesce(m.ordinal, 0) = 0))"
)
"""What makes a memory with a project a head of it."""
HEADS: Final = f"""
SELECT * FROM (
    SELECT m.tier, m.hash, m.key, m.at, lag(m.tier) OVER near, lag(m.hash) OVER near AS earlier,
        lag(m.key) OVER near, lag(m.at) OVER near
    FROM memory m WHERE {SCOPE} AND {HEAD} AND m.project IN
        (SELECT m.project FROM memory m WHERE {SCOPE} AND m.hash = ANY(%s::bigint[]))
    WINDOW near AS (PARTITION BY m.project ORDER BY m.at, m.tier COLLATE "C", m.hash)
) head WHERE earlier IS NOT NULL AND (hash = ANY(%s::bigint[]) OR earlier = ANY(%s::bigint[]))
"""
"""Neighbours among the heads of the projects that some memories have, later and earlier."""


def follows(db: Database, own: Own, ids: Sequence[str]) -> list[Edge]:
    """Return the edges, later to earlier, that begin or end in these memories, by rule, source, end."""
    found = {
        (rule, src, dst): Edge(src, "follows", dst, key, 1.0, at, rule=rule)
        for rule, later, earlier in _pairs(db, own, rows.hashes(ids))
        for src, dst, key, at in [(rows.id_of(*later[:2]), rows.id_of(*earlier[:2]), later[2], earlier[3])]
        if src in ids or dst in ids
    }
    return [found[name] for name in sorted(found)]


def _pairs(
    db: Database, own: Own, hashes: Sequence[int]
) -> Iterator[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
    """Yield rule, later and earlier memory, each as tier, number, key and time."""
    for rule, near in NEAR.items():
        for step in "-+":
            found = db.execute(
                "SELECT m.tier, m.hash, m.key, m.at, n.tier, n.hash, n.key, n.at FROM memory m "
                "JOIN memory n ON n.tenant = m.tenant AND n.generation = m.generation AND n.key = ANY(%s) "
                f"AND {near.format(step)} WHERE {SCOPE} AND m.hash = ANY(%s::bigint[])",
                (own[2], *own, hashes),
            ).fetchall()
            for row in found:
                one, other = row[:4], row[4:]
                yield (rule, one, other) if step == "-" else (rule, other, one)
    for row in db.execute(HEADS, (*own, *own, hashes, hashes, hashes)).fetchall():
        yield "project", row[:4], row[4:]
