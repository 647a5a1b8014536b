"""Graph: concepts, categories, edges and chains, read for one scope and written in the writer's transaction.

Chains read the small columns of whole sessions, documents and projects and pair them in Python: a join would depend on
the statistics that the server has of the tables' sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrubjay.models.graph import STORED_EDGE_KINDS, Category, Edge, Entity, EntityRow
from scrubjay.models.records import Scope
from scrubjay.storage import changes as c
from scrubjay.storage.absent_passages import ABSENT
from scrubjay.storage.postgres.connection import PostgresStatements
from scrubjay.storage.postgres.rows import array_literal, make_durable
from scrubjay.storage.reader import SQLReader
from scrubjay.storage.rows import (
    MEMORY_EDGE_KINDS,
    VISIBLE,
    ScopeKeys,
    Tenant,
    id_from_hash,
    memory_hashes,
    node_hash,
    node_hashes,
)
from scrubjay.storage.writer import GraphWriter

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import Database


VISIBLE_EDGES: Final = """
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
"""The visible rows of edges: by their own key, their source, and their end. Values: `ScopedStatements._query`.

Each end is looked up by its number. The server would plan a join from its statistics of the tables' sizes, and a
tenant that has just written its first thousand memories would wait minutes for fifty edges.
"""
EDGE_COLUMNS: Final = "src_of, src, kind, dst_of, dst, key, weight, at, origin, rule, run"
HAS_END: Final = "e.{near} = ANY(%(ends)s::bigint[])"
MERGED_EDGES: Final = f"""
{VISIBLE_EDGES.format(condition=HAS_END + " AND e.kind = ANY(%(kinds)s)")}
SELECT {EDGE_COLUMNS} FROM (
    SELECT *, row_number() OVER (
        PARTITION BY {{near}}, kind ORDER BY weight DESC, {{far}}_of COLLATE "C", {{far}}
    ) AS place FROM (
        SELECT DISTINCT ON (src, kind, dst) * FROM seen
        ORDER BY src, kind, dst, origin <> 'given', weight DESC, key COLLATE "C"
    ) united WHERE %(rule)s::text IS NULL OR rule = %(rule)s
) ranked WHERE %(limit)s::bigint IS NULL OR place <= %(limit)s ORDER BY place
"""


def edge_from_row(row: tuple[Any, ...]) -> Edge:
    src_of, src, kind, dst_of, dst, *rest = row
    return Edge(id_from_hash(src_of, src), kind, id_from_hash(dst_of, dst), *rest)


CHAIN_NEIGHBOURS: Final = (
    "((m.session = ANY(%s) AND m.turn IS NOT NULL) OR (m.document = ANY(%s::bigint[]) AND m.session IS NULL) "
    "OR (m.project = ANY(%s) AND ((m.session IS NOT NULL AND m.turn = 0) "
    "OR (m.session IS NULL AND m.turn IS NULL AND coalesce(m.ordinal, 0) = 0))))"
)
"""Turns of sessions, passages of documents, heads of projects."""


class ChainLink(NamedTuple):
    id: str
    key: str
    at: int
    session: str | None
    turn: int | None
    document: int | None
    ordinal: int | None
    project: str | None

    @property
    def is_head(self) -> bool:
        if self.session is not None or self.turn is not None:
            return self.session is not None and self.turn == 0
        return not self.ordinal


def _chain_pairs(links: Sequence[ChainLink]) -> Iterator[tuple[str, ChainLink, ChainLink]]:
    """Yield rule, later and earlier of two neighbours in a chain."""
    chains: dict[tuple[str, object, int], list[ChainLink]] = defaultdict(list)
    heads = defaultdict(list)
    for link in links:
        if link.session is not None and link.turn is not None:
            chains["session", link.session, link.turn].append(link)
        elif link.session is None and link.document is not None and link.ordinal is not None:
            chains["document", link.document, link.ordinal].append(link)
        if link.project is not None and link.is_head:
            heads[link.project].append(link)
    for (rule, chain, position), links_here in chains.items():
        for earlier in chains.get((rule, chain, position - 1), ()):
            yield from ((rule, later, earlier) for later in links_here)
    for project in heads.values():
        for earlier, later in pairwise(sorted(project, key=lambda link: (link.at, link.id))):
            yield "project", later, earlier


class SessionTurns:
    """The turns of sessions: id and (session, turn) of each, in the order of their ids."""

    def __init__(self, turns: Sequence[tuple[str, tuple[str, int]]]) -> None:
        self.places = dict(turns)
        self._ids: dict[tuple[str, int], list[str]] = defaultdict(list)
        for memory, place in turns:
            self._ids[place].append(memory)

    def adjacent(self, session: str, turn: int) -> tuple[str, ...]:
        return (*self._ids.get((session, turn - 1), ()), *self._ids.get((session, turn + 1), ()))


class ScopedStatements(PostgresStatements):
    _scope_keys: ScopeKeys

    def _query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement with the tenant, generation and keys, and with other values, by their names."""
        tenant, generation, keys = self._scope_keys
        bound = {"tenant": tenant, "generation": generation, "keys": keys, **values}
        return self._db.execute(statement, bound).fetchall()


class PostgresGraph(ScopedStatements, SQLReader):
    _decode = staticmethod(tuple)

    def concepts(self, ids: Sequence[str] | None = None) -> list[Entity]:
        rows = self._query(
            "SELECT hash, key, name, aliases, kind, at FROM concept WHERE tenant = %(tenant)s "
            "AND key = ANY(%(keys)s) AND (%(all)s OR hash = ANY(%(hashes)s::bigint[])) "
            'ORDER BY hash, key COLLATE "C"',
            all=ids is None,
            hashes=node_hashes(ids or (), "concept"),
        )
        return [
            Entity(id_from_hash("concept", number), key, name, tuple(aliases), kind, at)
            for number, key, name, aliases, kind, at in rows
        ]

    def concept_rows(self) -> list[EntityRow]:
        rows = self._query(
            "SELECT hash, key, name, nullif(aliases, '{}'), kind, at FROM concept "
            "WHERE tenant = %(tenant)s AND key = ANY(%(keys)s)"
        )
        return [
            (id_from_hash("concept", number), key, name, aliases and tuple(aliases), kind, at)
            for number, key, name, aliases, kind, at in rows
        ]

    def categories(self) -> list[Category]:
        rows = self._query(
            "SELECT hash, key, kind, name, parent, abstract, overview, model, centroid, at, built "
            "FROM category WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) ORDER BY hash"
        )
        return [Category(id_from_hash("category", number), *rest) for number, *rest in rows]

    def edges(
        self,
        ids: Sequence[str],
        kinds: Sequence[str],
        *,
        inward: bool = False,
        limit: int | None = None,
        rule: str | None = None,
    ) -> list[Edge]:
        if not self._has_edges():
            return []
        near, wanted = "dst" if inward else "src", [kind for kind in STORED_EDGE_KINDS if kind in kinds]

        def read(new: list[str]) -> dict[str, list[Edge]]:
            statement = MERGED_EDGES.format(near=near, far="src" if inward else "dst")
            rows = self._query(statement, ends=node_hashes(new), kinds=wanted, limit=limit, rule=rule)
            by_kind: dict[tuple[str, str], list[Edge]] = defaultdict(list)
            for edge in map(edge_from_row, rows):
                by_kind[edge.dst if inward else edge.src, edge.kind].append(edge)
            return {node: [edge for kind in wanted for edge in by_kind.get((node, kind), ())] for node in new}

        return self._snapshot.edges_of(ids, (near, tuple(wanted), limit, rule), read)

    def _has_edges(self) -> bool:
        statement = "SELECT EXISTS (SELECT FROM edge WHERE tenant = %(tenant)s AND key = ANY(%(keys)s))"
        return self._snapshot.cached("connected", lambda: bool(self._query(statement)[0][0]))

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        if kind not in STORED_EDGE_KINDS or not self._has_edges():
            return {}
        if ids is None:
            return self._degrees(kind)
        known: dict[str, int] = self._snapshot.row_cache(("degrees", kind)).get(
            ids, lambda new: self._degrees(kind, new)
        )
        return known

    def _degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        condition = "e.kind = %(kind)s AND (%(all)s OR e.dst = ANY(%(ends)s::bigint[]))"
        rows = self._query(
            f"{VISIBLE_EDGES.format(condition=condition)} "
            "SELECT dst_of, dst, count(DISTINCT src) FROM seen GROUP BY dst_of, dst",
            kind=kind,
            all=ids is None,
            ends=node_hashes(ids or ()),
        )
        degrees = {id_from_hash(kind_of_end, end): count for kind_of_end, end, count in rows}
        return {node: count for node, count in degrees.items() if ids is None or node in ids}

    def cooccurrences(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        hashes = node_hashes([concept], "concept")
        referring = VISIBLE_EDGES.format(
            condition="e.kind = 'references' AND e.dst = ANY(%(ends)s::bigint[])"
        )
        memories = self._query(
            f"{referring} SELECT DISTINCT src FROM seen ORDER BY src DESC LIMIT %(limit)s",
            ends=hashes,
            limit=limit,
        )
        others = VISIBLE_EDGES.format(condition="e.kind = 'references' AND e.src = ANY(%(ends)s::bigint[])")
        counts = self._query(
            f"{others} SELECT dst, count(DISTINCT src) FROM seen GROUP BY dst",
            ends=[number for (number,) in memories],
        )
        return {id_from_hash("concept", end): count for end, count in counts if end not in hashes}, len(
            memories
        )

    def _members(self, categories: Sequence[str]) -> list[int]:
        """Return the hashes of the visible memories that belong to any of these categories."""
        condition = f"e.kind = 'belongs' AND {HAS_END.format(near='dst')}"
        rows = self._query(
            f"{VISIBLE_EDGES.format(condition=condition)} SELECT DISTINCT src FROM seen",
            ends=node_hashes(categories, "category"),
        )
        return [number for (number,) in rows]

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        wanted = set(ids)
        links = self._links("m.hash = ANY(%s::bigint[])", memory_hashes(wanted))
        near = self._links(
            CHAIN_NEIGHBOURS,
            list({link.session for link in links if link.session is not None}),
            list({link.document for link in links if link.document is not None}),
            list({link.project for link in links if link.project is not None}),
        )
        edges = [
            Edge(later.id, "follows", earlier.id, later.key, 1.0, earlier.at, rule=rule)
            for rule, later, earlier in _chain_pairs(near)
            if later.id in wanted or earlier.id in wanted
        ]
        return sorted(edges, key=lambda edge: (edge.rule, edge.src, edge.dst))

    def _links(self, condition: str, *values: Any) -> list[ChainLink]:
        rows = self._all(
            "SELECT m.tier, m.hash, m.key, m.at, m.session, m.turn, m.document, m.ordinal, m.project "
            f"FROM memory m WHERE {VISIBLE} AND {condition}",
            *self._scope_keys, *values,
        )  # fmt: skip
        return [ChainLink(id_from_hash(tier, number), *rest) for tier, number, *rest in rows]

    def _session_turns(self, condition: str, *values: Any) -> SessionTurns:
        rows = self._all(
            f"SELECT m.tier, m.hash, m.session, m.turn FROM memory m WHERE {VISIBLE} AND {condition} "
            'AND m.session IS NOT NULL AND m.turn IS NOT NULL ORDER BY m.tier COLLATE "C", m.hash',
            *self._scope_keys, *values,
        )  # fmt: skip
        return SessionTurns(
            [(id_from_hash(tier, number), (session, turn)) for tier, number, session, turn in rows]
        )


PUT_EDGE: Final = (
    "INSERT INTO edge (tenant, src, kind, dst, key, weight, at, origin, rule, run) "
    "SELECT %s, e.src, (%s::text[])[e.n], e.dst, (%s::text[])[e.n], e.weight, e.at, (%s::text[])[e.n], "
    "(%s::text[])[e.n], (%s::text[])[e.n] FROM unnest(%s::bigint[], %s::bigint[], %s::float8[], %s::bigint[], "
    "%s::integer[]) e(src, dst, weight, at, n) ON CONFLICT (tenant, src, kind, dst, key) DO UPDATE SET "
    "(weight, at, origin, rule, run) = "
    "(excluded.weight, excluded.at, excluded.origin, excluded.rule, excluded.run) "
    "WHERE edge.origin = 'found' OR excluded.origin = 'given'"
)
DROP_EDGE: Final = "DELETE FROM edge WHERE tenant = %s AND src = %s AND kind = %s AND dst = %s AND key = %s"


class PostgresGraphWriter(ScopedStatements, GraphWriter):
    _decode = staticmethod(tuple)
    _node = "hash"

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db

    def _bump_concept_mark(self, key: str) -> None:
        make_durable(self._db)  # others cache concepts by the mark
        super()._bump_concept_mark(key)

    def _encode(self, aliases: tuple[str, ...]) -> list[str]:
        return list(aliases)

    def _find_node(self, kind: str, node: str) -> int | None:
        return next(iter(node_hashes([node], kind)), None)

    def _get_or_create_node(self, kind: str, node: str) -> int:
        return node_hash(node)

    def _drop_references(self, concept: int, key: str) -> None:
        statement = "DELETE FROM edge WHERE tenant = %s AND kind = 'references' AND dst = %s AND key = %s"
        self._all(statement, self._tenant, concept, key)

    def _drop_memberships(self, category: int | None) -> None:
        statement = "DELETE FROM edge WHERE tenant = %s AND kind = 'belongs' AND dst = %s"
        self._all(statement, self._tenant, category)

    def _put_edges(self, change: c.PutEdges) -> None:
        for near in ("src", "dst") if change.inward else ("src",):
            stored = self._stored_edges(near, set(change.of))
            self._delete_edges(
                edge for edge in stored if edge.origin == "found" and edge.kind in change.kinds
            )
        visible = self._visible_ids({end for edge in change.edges for end in (edge.src, edge.dst)})
        fresh: dict[tuple[str, str, str, str], Edge] = {}
        # Of edges of the same identity the last one is written, but a given one before a found one.
        for edge in change.edges:
            name = edge.src, edge.kind, edge.dst, edge.key
            is_given = name in fresh and fresh[name].origin == "given"
            if edge.src in visible and edge.dst in visible and (edge.origin == "given" or not is_given):
                fresh[name] = edge
        if fresh:
            self._db.execute(PUT_EDGE, (self._tenant, *_edge_values(list(fresh.values()))))

    def _stored_edges(self, near: str, ids: Collection[str]) -> list[Edge]:
        """Return the visible edges, one a key, whose ``near`` end (``src`` or ``dst``) is one of these ids."""
        rows = self._query(
            f"{VISIBLE_EDGES.format(condition=HAS_END.format(near=near))} SELECT {EDGE_COLUMNS} FROM seen",
            ends=node_hashes(ids),
        )
        edges = map(edge_from_row, rows)
        return [edge for edge in edges if (edge.src if near == "src" else edge.dst) in ids]

    def _visible_ids(self, ids: Collection[str]) -> set[str]:
        rows = self._query(
            "SELECT tier, hash FROM memory WHERE tenant = %(tenant)s AND generation = %(generation)s "
            "AND key = ANY(%(keys)s) AND hash = ANY(%(ends)s::bigint[]) "
            "UNION SELECT 'concept', hash FROM concept WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) "
            "AND hash = ANY(%(ends)s::bigint[]) "
            "UNION SELECT 'category', hash FROM category WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) "
            "AND hash = ANY(%(ends)s::bigint[])",
            ends=node_hashes(ids),
        )
        return {id_from_hash(node_type, number) for node_type, number in rows} & set(ids)

    def _drop_edges(self, names: Sequence[tuple[str, str, str]]) -> None:
        found = self._stored_edges("src", {src for src, _, _ in names})
        self._delete_edges(edge for edge in found if (edge.src, edge.kind, edge.dst) in names)

    def _delete_edges(self, edges: Iterable[Edge]) -> None:
        names = [
            (self._tenant, node_hash(edge.src), edge.kind, node_hash(edge.dst), edge.key) for edge in edges
        ]
        self._many(DROP_EDGE, names)

    def clean_up(self, removed: Collection[tuple[str, int]]) -> None:
        """Remove edges and events of removed memories (tier and number), unless they are there again or absent."""
        if not removed:
            return
        existing = self._all(
            "SELECT tier, hash FROM memory WHERE tenant = %s AND generation = %s AND hash = ANY(%s::bigint[])",
            *self._scope_keys[:2], [number for _, number in removed],
        )  # fmt: skip
        hashes = [number for _, number in set(removed) - set(existing)]
        kinds = list(MEMORY_EDGE_KINDS)
        self._all("DELETE FROM edge WHERE tenant = ? AND src IN ?", self._tenant, hashes)
        self._all("DELETE FROM edge WHERE tenant = ? AND kind IN ? AND dst IN ?", self._tenant, kinds, hashes)
        absent = self._all(
            "SELECT memory FROM event WHERE tenant = ? AND op = ? AND memory IN ?",
            self._tenant,
            ABSENT,
            hashes,
        )
        lost = list(set(hashes) - {number for (number,) in absent})
        self._all("DELETE FROM event WHERE tenant = ? AND memory IN ?", self._tenant, lost)
        self._all("UPDATE event SET other = NULL WHERE tenant = ? AND other IN ?", self._tenant, hashes)


def _edge_values(edges: Sequence[Edge]) -> Iterator[object]:
    """Return the values of `PUT_EDGE` after the tenant.

    Many edges share few texts, so each edge refers to its texts by number: writing them out for each took three
    quarters of the time of a write.
    """
    texts: dict[tuple[str | None, ...], int] = {}
    numbers = [
        texts.setdefault((edge.kind, edge.key, edge.origin, edge.rule, edge.run), len(texts) + 1)
        for edge in edges
    ]
    yield from map(list, zip(*texts, strict=True))
    yield array_literal(node_hash(edge.src) for edge in edges)
    yield array_literal(node_hash(edge.dst) for edge in edges)
    yield array_literal(float(edge.weight) for edge in edges)
    yield array_literal(edge.at for edge in edges)
    yield array_literal(numbers)


def drop_stale_edges(db: Database, tenant: int, old: int, fresh: int) -> None:
    """Remove the edges and events of memories that the new generation lacks; absent passages keep theirs."""
    carried = (
        "EXISTS (SELECT FROM memory o JOIN memory n ON n.tenant = o.tenant AND n.hash = o.hash AND n.tier = o.tier "
        "WHERE o.tenant = %(tenant)s AND o.generation = %(old)s AND n.generation = %(fresh)s AND o.hash = e.{0})"
    )
    values = {"tenant": tenant, "old": old, "fresh": fresh, "between": list(MEMORY_EDGE_KINDS)}
    db.execute(
        f"DELETE FROM edge e WHERE e.tenant = %(tenant)s AND (NOT {carried.format('src')} "
        f"OR (e.kind = ANY(%(between)s) AND NOT {carried.format('dst')}))",
        values,
    )
    db.execute(
        f"DELETE FROM event e WHERE e.tenant = %(tenant)s AND NOT {carried.format('memory')} AND e.memory NOT IN "
        f"(SELECT a.memory FROM event a WHERE a.tenant = %(tenant)s AND a.op = '{ABSENT}')",
        values,
    )
    db.execute(
        "UPDATE event e SET other = NULL WHERE e.tenant = %(tenant)s AND e.other IS NOT NULL "
        f"AND NOT {carried.format('other')}",
        values,
    )
