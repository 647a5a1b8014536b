"""Edges: which of them the holder of some keys sees, and one edge for what several of the keys say.

An end is the number of its id: a memory's as in ``memory.hash``, which stays when the memory is replaced,
moved or rebuilt. The kind tells whether the other end is a concept, a category or a memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from scrubjay.memory.edges import STORED, Edge
from scrubjay.store.postgres import rows

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own

LEADS_TO: Final = {"references": "concept", "belongs": "category"}
"""What kinds lead to that do not lead to a memory."""
BETWEEN_MEMORIES: Final = [kind for kind in STORED if kind not in LEADS_TO]
FIELDS: Final = (
    "m.tier AS src_tier, e.src, e.kind, n.tier AS dst_tier, e.dst, "
    "e.key, e.weight, e.at, e.origin, e.rule, e.run"
)
SEEN: Final = """
FROM edge e
JOIN memory m ON m.tenant = e.tenant AND m.generation = %(generation)s AND m.hash = e.src
    AND m.key = ANY(%(keys)s)
LEFT JOIN memory n ON n.tenant = e.tenant AND n.generation = %(generation)s AND n.hash = e.dst
    AND n.key = ANY(%(keys)s) AND e.kind NOT IN ('references', 'belongs')
WHERE e.tenant = %(tenant)s AND e.key = ANY(%(keys)s) AND CASE e.kind
    WHEN 'references' THEN EXISTS (SELECT FROM concept c
        WHERE c.tenant = e.tenant AND c.key = ANY(%(keys)s) AND c.hash = e.dst)
    WHEN 'belongs' THEN EXISTS (SELECT FROM category c
        WHERE c.tenant = e.tenant AND c.key = ANY(%(keys)s) AND c.hash = e.dst)
    ELSE n.num IS NOT NULL END
"""
"""The visible rows of edges: their own key, their source, and their end by its kind. Values: `bound`."""
UNITED: Final = f"""
SELECT src_tier, src, kind, dst_tier, dst, key, weight, at, origin, rule, run FROM (
    SELECT *, row_number() OVER (
        PARTITION BY {{near}}, kind ORDER BY weight DESC, {{far}}_tier COLLATE "C", {{far}}
    ) AS place FROM (
        SELECT DISTINCT ON (e.src, e.kind, e.dst) {FIELDS} {SEEN}
        AND e.{{near}} = ANY(%(ends)s::bigint[]) AND e.kind = ANY(%(kinds)s)
        ORDER BY e.src, e.kind, e.dst, e.origin <> 'given', e.weight DESC, e.key COLLATE "C"
    ) united
) ranked WHERE %(limit)s::bigint IS NULL OR place <= %(limit)s ORDER BY place
"""
MEMBER: Final = (
    "EXISTS (SELECT FROM edge e JOIN category c ON c.tenant = e.tenant AND c.hash = e.dst "
    "WHERE e.tenant = m.tenant AND e.src = m.hash AND e.kind = 'belongs' AND e.dst = ANY(%s::bigint[]) "
    "AND e.key = ANY(%s) AND c.key = ANY(%s))"
)
"""Whether a visible memory ``m`` belongs to a category. Values: their numbers, the keys, the keys."""


def bound(own: Own, **values: Any) -> dict[str, Any]:
    """Return the values of a statement that is bound to tenant, generation and keys."""
    tenant, generation, keys = own
    return {"tenant": tenant, "generation": generation, "keys": keys, **values}


def to_edge(row: tuple[Any, ...]) -> Edge:
    """Return a row of `FIELDS` as an edge."""
    src_tier, src, kind, dst_tier, dst, *rest = row
    end = rows.id_of(LEADS_TO.get(kind) or dst_tier, dst)
    return Edge(rows.id_of(src_tier, src), kind, end, *rest)


def seen(db: Database, own: Own, near: str, ids: Collection[str]) -> list[Edge]:
    """Return the visible edges as they are stored, one a key, that have one of these ids as an end.

    Args:
        db: Inside a transaction.
        own: Tenant, generation and keys of who looks.
        near: Which end: ``src`` or ``dst``.
        ids: Ids of nodes.
    """
    found = db.execute(
        f"SELECT {FIELDS} {SEEN} AND e.{near} = ANY(%(ends)s::bigint[])", bound(own, ends=rows.numbers(ids))
    ).fetchall()
    edges = map(to_edge, found)
    return [edge for edge in edges if (edge.src if near == "src" else edge.dst) in ids]


def united(
    db: Database, own: Own, near: str, ids: Sequence[str], kinds: Sequence[str], limit: int | None
) -> list[Edge]:
    """Return one visible edge for what several keys say, by the id asked for, kind, falling weight, other end.

    Args:
        db: Inside a transaction.
        own: Tenant, generation and keys of who looks.
        near: The end that is asked for: ``src`` or ``dst``.
        ids: Ids of nodes.
        kinds: Kinds of edges.
        limit: Most edges of each id and kind, None for all.
    """
    wanted = [kind for kind in STORED if kind in kinds]
    statement = UNITED.format(near=near, far="dst" if near == "src" else "src")
    found = db.execute(statement, bound(own, ends=rows.numbers(ids), kinds=wanted, limit=limit)).fetchall()
    held: dict[tuple[str, str], list[Edge]] = {}
    for edge in map(to_edge, found):
        held.setdefault((edge.src if near == "src" else edge.dst, edge.kind), []).append(edge)
    return [edge for one in dict.fromkeys(ids) for kind in wanted for edge in held.get((one, kind), ())]


def visible(db: Database, own: Own, ids: Collection[str]) -> set[str]:
    """Return those of these ids that are a visible memory's, concept's or category's."""
    found = db.execute(
        "SELECT tier, hash FROM memory WHERE tenant = %(tenant)s AND generation = %(generation)s "
        "AND key = ANY(%(keys)s) AND hash = ANY(%(ends)s::bigint[]) "
        "UNION SELECT 'concept', hash FROM concept WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) "
        "AND hash = ANY(%(ends)s::bigint[]) "
        "UNION SELECT 'category', hash FROM category WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) "
        "AND hash = ANY(%(ends)s::bigint[])",
        bound(own, ends=rows.numbers(ids)),
    ).fetchall()
    return {rows.id_of(of, number) for of, number in found} & set(ids)
