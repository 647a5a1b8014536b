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

BETWEEN_MEMORIES: Final = [kind for kind in STORED if kind not in ("references", "belongs")]
SEEN: Final = """
WITH looked AS MATERIALIZED (
    SELECT e.*,
        (SELECT m.tier FROM memory m WHERE m.tenant = %(tenant)s AND m.generation = %(generation)s
            AND m.hash = e.src AND m.key = ANY(%(keys)s)) AS src_of,
        CASE e.kind
        WHEN 'references' THEN CASE WHEN EXISTS (SELECT FROM concept c
            WHERE c.tenant = %(tenant)s AND c.key = ANY(%(keys)s) AND c.hash = e.dst) THEN 'concept' END
        WHEN 'belongs' THEN CASE WHEN EXISTS (SELECT FROM category c
            WHERE c.tenant = %(tenant)s AND c.key = ANY(%(keys)s) AND c.hash = e.dst) THEN 'category' END
        ELSE (SELECT m.tier FROM memory m WHERE m.tenant = %(tenant)s AND m.generation = %(generation)s
            AND m.hash = e.dst AND m.key = ANY(%(keys)s)) END AS dst_of
    FROM edge e WHERE e.tenant = %(tenant)s AND e.key = ANY(%(keys)s) AND {condition}
), seen AS (SELECT * FROM looked WHERE src_of IS NOT NULL AND dst_of IS NOT NULL)
"""
"""The visible rows of edges: by their own key, their source, and their end. Values: `bound`.

Each end is looked up by its number. As a join the server would plan it by what it has learned of the tables'
sizes, and a tenant that has just written its first thousand memories would wait minutes for fifty edges.
"""
FIELDS: Final = "src_of, src, kind, dst_of, dst, key, weight, at, origin, rule, run"
ENDS: Final = "e.{near} = ANY(%(ends)s::bigint[])"
UNITED: Final = f"""
{SEEN.format(condition=ENDS + " AND e.kind = ANY(%(kinds)s)")}
SELECT {FIELDS} FROM (
    SELECT *, row_number() OVER (
        PARTITION BY {{near}}, kind ORDER BY weight DESC, {{far}}_of COLLATE "C", {{far}}
    ) AS place FROM (
        SELECT DISTINCT ON (src, kind, dst) * FROM seen
        ORDER BY src, kind, dst, origin <> 'given', weight DESC, key COLLATE "C"
    ) united
) ranked WHERE %(limit)s::bigint IS NULL OR place <= %(limit)s ORDER BY place
"""


def bound(own: Own, **values: Any) -> dict[str, Any]:
    """Return the values of a statement that is bound to tenant, generation and keys."""
    tenant, generation, keys = own
    return {"tenant": tenant, "generation": generation, "keys": keys, **values}


def to_edge(row: tuple[Any, ...]) -> Edge:
    """Return a row of `FIELDS` as an edge."""
    src_of, src, kind, dst_of, dst, *rest = row
    return Edge(rows.id_of(src_of, src), kind, rows.id_of(dst_of, dst), *rest)


def seen(db: Database, own: Own, near: str, ids: Collection[str]) -> list[Edge]:
    """Return the visible edges as they are stored, one a key, that have one of these ids as an end.

    Args:
        db: Inside a transaction.
        own: Tenant, generation and keys of who looks.
        near: Which end: ``src`` or ``dst``.
        ids: Ids of nodes.
    """
    found = db.execute(
        f"{SEEN.format(condition=ENDS.format(near=near))} SELECT {FIELDS} FROM seen",
        bound(own, ends=rows.numbers(ids)),
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


def members(db: Database, own: Own, categories: Collection[str]) -> list[int]:
    """Return the numbers of the visible memories that belong to any of these categories."""
    condition = f"e.kind = 'belongs' AND {ENDS.format(near='dst')}"
    found = db.execute(
        f"{SEEN.format(condition=condition)} SELECT DISTINCT src FROM seen",
        bound(own, ends=rows.numbers(categories, "category")),
    ).fetchall()
    return [number for (number,) in found]
