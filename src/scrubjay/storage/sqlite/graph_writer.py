"""Graph writes: concepts, categories and edges, and the clean-up when a memory is deleted or changes its key."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from scrubjay.models.graph import Edge, Entity
from scrubjay.models.records import Scope
from scrubjay.storage import changes as c
from scrubjay.storage.rows import MEMORY_EDGE_KINDS, TARGET_KIND, Tenant, id_from_hash
from scrubjay.storage.sqlite import graph, rows
from scrubjay.storage.sqlite.graph import (
    BY_TARGET_INDEX,
    KIND_CODE,
    EdgeVisibility,
)
from scrubjay.storage.sqlite.rows import VisibleMemories
from scrubjay.storage.table import TIER_CODE
from scrubjay.storage.writer import GraphWriter

if TYPE_CHECKING:
    from scrubjay.models.graph import Category
    from scrubjay.storage.sqlite.connection import Database


_KIND_CODES: Final = ",".join(str(KIND_CODE[kind]) for kind in MEMORY_EDGE_KINDS)
EDGE_SIDES: Final = (
    ("edge", "tenant = ?1 AND src = ?2", 1),
    (f"edge {BY_TARGET_INDEX}", f"tenant = ?1 AND kind IN ({_KIND_CODES}) AND dst = ?2", 3),
)
"""SQL of the edges that leave a memory and of those that lead to it, and the index of its key in `VisibilityKeys`."""

DELETE_EVENTS: Final = (
    "DELETE FROM event WHERE tenant = ? AND memory = ?",
    "UPDATE event SET other = NULL WHERE tenant = ? AND other = ?",
)
"""Deletes the events of a memory, and its mentions in others."""


def clean_up_edges(db: Database, tenant: Tenant, before: Mapping[int, tuple[str, str]]) -> None:
    """Clean up after memories that were removed or replaced; ``before`` maps a memory's hash to its old tier and key.

    One that is gone loses its edges on both sides, and its events; edges of one that has another key now get its
    visibility.
    """
    connected, recorded = (
        db.execute(f"SELECT 1 FROM {table} WHERE tenant = ? LIMIT 1", (tenant.number,)).fetchone()
        for table in ("edge", "event")
    )
    if connected is None and recorded is None:
        return
    for number, (tier, key) in before.items():
        row = db.execute(
            "SELECT tier, key FROM memory WHERE tenant = ? AND hash = ? AND generation = ?",
            (tenant.number, number, tenant.generation),
        ).fetchone()
        if row is None or row[0] != tier:
            for edges, condition, _ in EDGE_SIDES:
                db.execute(f"DELETE FROM {edges} WHERE {condition}", (tenant.number, number))
            for statement in DELETE_EVENTS:
                db.execute(statement, (tenant.number, number))
        elif row[1] != key:
            _update_visibility(db, tenant.number, number, row[1])


def _update_visibility(db: Database, tenant: int, memory: int, key: str) -> None:
    for edges, condition, place in EDGE_SIDES:
        found = db.execute(
            "SELECT id, key, src_key, src_tier, dst_key, dst_tier FROM sight "
            f"WHERE id IN (SELECT sight FROM {edges} WHERE {condition})",
            (tenant, memory),
        ).fetchall()
        for code, *name in found:
            name[place] = key
            visibility = graph.get_or_create_visibility(db, tenant, tuple(name))
            db.execute(
                f"UPDATE {edges} SET sight = ?3 WHERE {condition} AND sight = ?4",
                (tenant, memory, visibility, code),
            )


IS_FOUND: Final = "EXISTS (SELECT 1 FROM maker k WHERE k.id = {0}.maker AND k.origin = 'found')"
# A found edge never replaces a given one.
PUT_EDGE: Final = (
    "INSERT INTO edge VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET weight = excluded.weight, "
    f"at = excluded.at, maker = excluded.maker WHERE {IS_FOUND.format('edge')} OR NOT {IS_FOUND.format('excluded')}"
)
PUT_CONCEPT: Final = "INSERT OR REPLACE INTO concept VALUES (?, ?, ?, ?, ?, ?, ?)"
PUT_CATEGORY: Final = "INSERT OR REPLACE INTO category VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
BUMP_CONCEPT_MARK: Final = (
    "INSERT INTO concept_mark VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET changes = changes + 1"
)


class EdgeEnd(NamedTuple):
    """One end of an edge. A concept or category has no key, and tier -1."""

    number: int
    key: str
    tier: int


class SQLiteGraphWriter(GraphWriter):
    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self._keys = scope.keys
        self._visible = VisibleMemories(db, tenant.number, tenant.generation, self._keys)
        self._makers: dict[tuple[str, str, str | None], int] = {}
        self._sights: dict[graph.VisibilityKeys, int] = {}

    def _write_concept(self, concept: Entity) -> None:
        values = (
            self._tenant, concept.key, self._get_or_create_node("concept", concept.id), concept.name,
            json.dumps(concept.aliases, ensure_ascii=False), concept.kind, concept.at,
        )  # fmt: skip
        self._db.execute(PUT_CONCEPT, values)
        self._db.execute(BUMP_CONCEPT_MARK, (self._tenant, concept.key))

    def _drop_concept(self, concept: str, key: str) -> None:
        node = self._node("concept", concept)
        if node is None:
            return
        own = (self._tenant, key, node)
        self._db.execute("DELETE FROM concept WHERE tenant = ? AND key = ? AND node = ?", own)
        if self._db.changes():
            self._db.execute(BUMP_CONCEPT_MARK, own[:2])
        self._db.execute(
            f"DELETE FROM edge {BY_TARGET_INDEX} WHERE tenant = ? AND kind = ? AND dst = ? AND sight IN "
            "(SELECT id FROM sight WHERE tenant = ? AND key = ?)",
            (self._tenant, KIND_CODE["references"], node, *own[:2]),
        )

    def _category_key(self, category: str) -> str | None:
        node = self._node("category", category)
        row = self._db.execute("SELECT key FROM category WHERE node = ?", (node,)).fetchone()
        return None if row is None else str(row[0])

    def _write_category(self, category: Category) -> None:
        values = (
            self._get_or_create_node("category", category.id), self._tenant, category.key, category.kind,
            category.name, category.parent, category.abstract, category.overview, category.model,
            category.centroid, category.at, category.built,
        )  # fmt: skip
        self._db.execute(PUT_CATEGORY, values)

    def _drop_category(self, category: str) -> None:
        if self._category_key(category) in self._keys:
            node = self._node("category", category)
            self._db.execute("DELETE FROM category WHERE node = ?", (node,))
            own = (self._tenant, KIND_CODE["belongs"], node)
            self._db.execute(
                f"DELETE FROM edge {BY_TARGET_INDEX} WHERE tenant = ? AND kind = ? AND dst = ?", own
            )

    def _write_project(self, place: str, name: str, key: str) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO project VALUES (?, ?, ?, ?)", (self._tenant, key, place, name)
        )

    def _node(self, kind: str, node: str) -> int | None:
        found = graph.parse_node_hash(node)
        if found is None or found[0] != kind:
            return None
        row = self._db.execute(
            "SELECT num FROM node WHERE tenant = ? AND kind = ? AND hash = ?", (self._tenant, kind, found[2])
        ).fetchone()
        return None if row is None else int(row[0])

    def _get_or_create_node(self, kind: str, node: str) -> int:
        number = self._node(kind, node)
        if number is None:
            (of,) = graph.node_hashes(kind, [node])
            self._db.execute(
                "INSERT INTO node (tenant, kind, hash) VALUES (?, ?, ?)", (self._tenant, kind, of)
            )
            number = self._db.last_insert_rowid()
        return number

    def _put_edges(self, change: c.PutEdges) -> None:
        self._remove_found(change)
        ends = self._ends(node for edge in change.edges for node in (edge.src, edge.dst))
        fresh = []
        for edge in change.edges:
            src, dst = ends.get(edge.src), ends.get(edge.dst)
            if src is not None and dst is not None:
                name = (src.number, KIND_CODE[edge.kind], dst.number, self._sight(edge.key, src, dst))
                fresh.append((self._tenant, *name, *graph.encode_weight_and_time(edge), self._maker(edge)))
        fresh.sort(key=lambda row: row[:4])  # stable: of two of one identity the later one wins
        self._db.executemany(PUT_EDGE, fresh)

    def _remove_found(self, change: c.PutEdges) -> None:
        kinds = [kind for kind in dict.fromkeys(change.kinds) if kind in KIND_CODE]
        sights = graph.load_visibilities(self._db, self._tenant, self._keys) if change.of and kinds else []
        if not sights:
            return
        ends = list(self._ends(change.of).values())
        for batch in rows.id_batches([end.number for end in ends if end.tier >= 0]):
            for kind in kinds:
                self._remove(sights, kind, {"src": batch}, IS_FOUND.format("e"))
        for kind in kinds if change.inward else ():
            of_kind = [end.number for end in ends if (end.tier < 0) == (kind in TARGET_KIND)]
            for batch in rows.id_batches(of_kind):
                self._remove(sights, kind, {"dst": batch}, IS_FOUND.format("e"))

    def _drop_edges(self, names: Sequence[tuple[str, str, str]]) -> None:
        edges = [name for name in names if name[1] in KIND_CODE]
        sights = graph.load_visibilities(self._db, self._tenant, self._keys)
        ends = self._ends(node for src, _, dst in edges for node in (src, dst))
        for src, kind, dst in edges:
            if src in ends and dst in ends and (ends[dst].tier < 0) == (kind in TARGET_KIND):
                self._remove(sights, kind, {"src": [ends[src].number], "dst": [ends[dst].number]}, "1")

    def _remove(
        self, sights: Iterable[EdgeVisibility], kind: str, ends: Mapping[str, Sequence[int]], only: str
    ) -> None:
        to = TARGET_KIND.get(kind)
        known = f"AND {graph.node_condition(to, self._keys)}" if to is not None else ""
        among = " AND ".join(f"e.{name} IN ({rows.placeholders(hashes)})" for name, hashes in ends.items())
        self._db.execute(
            f"DELETE FROM edge AS e {'' if 'src' in ends else BY_TARGET_INDEX} WHERE e.tenant = ? AND e.kind = ? "
            f"AND {among} {known} AND e.sight IN ({graph.visibility_codes_sql(sights)}) AND {only}",
            (
                self._tenant,
                KIND_CODE[kind],
                *chain(*ends.values()),
                *(self._visible.bound if to is not None else ()),
            ),
        )

    def _ends(self, nodes: Iterable[str]) -> dict[str, EdgeEnd]:
        wanted = set(nodes)
        found: dict[str, EdgeEnd] = {}
        hashes = graph.hashes_by_kind(wanted)
        for batch in rows.id_batches(hashes["memory"]):
            read = self._db.execute(
                f"SELECT m.tier, m.hash, m.key FROM memory m WHERE {self._visible.among()} AND m.hash IN "
                f"({rows.placeholders(batch)})",
                (*self._visible.own, *batch),
            ).fetchall()
            found |= {id_from_hash(tier, n): EdgeEnd(n, key, TIER_CODE[tier]) for tier, n, key in read}
        for kind in TARGET_KIND.values():
            nodes_seen = graph.visible_nodes(self._visible, kind, hashes[kind])
            found |= {node: EdgeEnd(number, "", -1) for number, node in nodes_seen.items()}
        return {node: end for node, end in found.items() if node in wanted}

    def _sight(self, key: str, src: EdgeEnd, dst: EdgeEnd) -> int:
        name = (key, src.key, src.tier, dst.key, dst.tier)
        if name not in self._sights:
            self._sights[name] = graph.get_or_create_visibility(self._db, self._tenant, name)
        return self._sights[name]

    def _maker(self, edge: Edge) -> int:
        name = (edge.origin, edge.rule, edge.run)
        if name not in self._makers:
            row = self._db.execute(
                "SELECT id FROM maker WHERE tenant = ? AND origin = ? AND rule = ? AND run IS ?",
                (self._tenant, *name),
            ).fetchone()
            if row is None:
                insert = "INSERT INTO maker (tenant, origin, rule, run) VALUES (?, ?, ?, ?)"
                self._db.execute(insert, (self._tenant, *name))
            self._makers[name] = self._db.last_insert_rowid() if row is None else int(row[0])
        return self._makers[name]
