"""Connect: what each change of the graph does to the tables, inside the writer's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from scrubjay.errors import InputError
from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import Edge
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.kept import Tenant
from scrubjay.store.scope_check import UNTOUCHED, connectable, encodable, fileable, nameable, writable
from scrubjay.store.sqlite import rows, sights
from scrubjay.store.sqlite.seen import Seen
from scrubjay.store.sqlite.sights import INWARD, KIND_CODE, LEADS_TO, Sight
from scrubjay.store.table import TIER_CODE

if TYPE_CHECKING:
    from scrubjay.memory.categories import Category
    from scrubjay.store.sqlite.database import Database

FOUND: Final = "EXISTS (SELECT 1 FROM maker k WHERE k.id = {0}.maker AND k.origin = 'found')"
# A found edge leaves a given one as it is; any other edge is replaced.
PUT: Final = (
    "INSERT INTO edge VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET weight = excluded.weight, "
    f"at = excluded.at, maker = excluded.maker WHERE {FOUND.format('edge')} OR NOT {FOUND.format('excluded')}"
)
PUT_CONCEPT: Final = "INSERT OR REPLACE INTO concept VALUES (?, ?, ?, ?, ?, ?, ?)"
PUT_CATEGORY: Final = "INSERT OR REPLACE INTO category VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
CHANGED: Final = "INSERT INTO concept_mark VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET changes = changes + 1"


class End(NamedTuple):
    """One end of an edge: its number, its key and its tier's code. A concept or category has no key, and tier -1."""

    number: int
    key: str
    tier: int


class Connections:
    """One transaction's work on the graph of a tenant, for one scope."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        self._db = db
        self._tenant = tenant.number
        self._scope = scope
        self._keys = scope.keys
        self._seen = Seen(db, tenant.number, tenant.generation, self._keys)
        self._makers: dict[tuple[str, str, str | None], int] = {}
        self._sights: dict[sights.Name, int] = {}

    def apply(self, change: c.GraphChange) -> None:
        """Do one change."""
        match change:
            case c.PutConcept(concept):
                self._put_concept(concept)
            case c.DropConcept(concept_id, key) if key in self._keys:
                self._drop_concept(concept_id, key)
            case c.PutCategory(category):
                self._put_category(category)
            case c.DropCategory(category_id):
                self._drop_category(category_id)
            case c.PutEdges():
                self._put_edges(change)
            case c.DropEdges(edges):
                self._drop_edges(edges)
            case c.PutProject(place, name, key):
                writable(self._scope, key, f"Project {name}")
                encodable(place, name, key)
                values = (self._tenant, key, place, name)
                self._db.execute("INSERT OR REPLACE INTO project VALUES (?, ?, ?, ?)", values)

    def _put_concept(self, concept: Concept) -> None:
        writable(self._scope, concept.key, f"Concept {concept.id}")
        nameable(concept)
        values = (
            self._tenant, concept.key, self._obtained("concept", concept.id), concept.name,
            json.dumps(concept.aliases, ensure_ascii=False), concept.kind, concept.at,
        )  # fmt: skip
        self._db.execute(PUT_CONCEPT, values)
        self._db.execute(CHANGED, (self._tenant, concept.key))

    def _drop_concept(self, concept: str, key: str) -> None:
        node = self._node("concept", concept)
        if node is None:
            return
        own = (self._tenant, key, node)
        self._db.execute("DELETE FROM concept WHERE tenant = ? AND key = ? AND node = ?", own)
        if self._db.changes():
            self._db.execute(CHANGED, own[:2])
        self._db.execute(
            f"DELETE FROM edge {INWARD} WHERE tenant = ? AND kind = ? AND dst = ? AND sight IN "
            "(SELECT id FROM sight WHERE tenant = ? AND key = ?)",
            (self._tenant, KIND_CODE["references"], node, *own[:2]),
        )

    def _put_category(self, category: Category) -> None:
        writable(self._scope, category.key, f"Category {category.id}")
        fileable(category)
        node = self._obtained("category", category.id)
        if self._key_of(node) not in (None, category.key):
            raise InputError(f"Category id {category.id} belongs to another key's category. {UNTOUCHED}")
        values = (
            node, self._tenant, category.key, category.kind, category.name, category.parent, category.abstract,
            category.overview, category.model, category.centroid, category.at, category.built,
        )  # fmt: skip
        self._db.execute(PUT_CATEGORY, values)

    def _key_of(self, category: int) -> str | None:
        row = self._db.execute("SELECT key FROM category WHERE node = ?", (category,)).fetchone()
        return None if row is None else str(row[0])

    def _drop_category(self, category: str) -> None:
        node = self._node("category", category)
        if node is not None and self._key_of(node) in self._keys:
            self._db.execute("DELETE FROM category WHERE node = ?", (node,))
            own = (self._tenant, KIND_CODE["belongs"], node)
            self._db.execute(f"DELETE FROM edge {INWARD} WHERE tenant = ? AND kind = ? AND dst = ?", own)

    def _node(self, kind: str, node: str) -> int | None:
        found = sights.parsed(node)
        if found is None or found[0] != kind:
            return None
        row = self._db.execute(
            "SELECT num FROM node WHERE tenant = ? AND kind = ? AND hash = ?", (self._tenant, kind, found[2])
        ).fetchone()
        return None if row is None else int(row[0])

    def _obtained(self, kind: str, node: str) -> int:
        """Return the number of a concept or category, given now to one that is new."""
        number = self._node(kind, node)
        if number is None:
            (of,) = sights.hashes(kind, [node])
            self._db.execute(
                "INSERT INTO node (tenant, kind, hash) VALUES (?, ?, ?)", (self._tenant, kind, of)
            )
            number = self._db.last_insert_rowid()
        return number

    def _put_edges(self, change: c.PutEdges) -> None:
        first = {edge.key: edge for edge in reversed(change.edges)}
        for edge in first.values():
            writable(self._scope, edge.key, f"The edge from {edge.src} to {edge.dst}")
        for edge in change.edges:
            connectable(edge)
        self._take_away(change)
        ends = self._ends(node for edge in change.edges for node in (edge.src, edge.dst))
        fresh = []
        for edge in change.edges:
            src, dst = ends.get(edge.src), ends.get(edge.dst)
            if src is not None and dst is not None:
                name = (src.number, KIND_CODE[edge.kind], dst.number, self._sight(edge.key, src, dst))
                fresh.append((self._tenant, *name, *sights.kept(edge), self._maker(edge)))
        fresh.sort(key=lambda row: row[:4])  # a stable sort: of two of one name the later one counts
        self._db.executemany(PUT, fresh)

    def _take_away(self, change: c.PutEdges) -> None:
        kinds = [kind for kind in dict.fromkeys(change.kinds) if kind in KIND_CODE]
        seen = sights.visible(self._db, self._tenant, self._keys) if change.of and kinds else []
        if not seen:
            return
        ends = list(self._ends(change.of).values())
        for batch in rows.batches([end.number for end in ends if end.tier >= 0]):
            for kind in kinds:
                self._remove(seen, kind, {"src": batch}, FOUND.format("e"))
        for kind in kinds if change.inward else ():
            of_kind = [end.number for end in ends if (end.tier < 0) == (kind in LEADS_TO)]
            for batch in rows.batches(of_kind):
                self._remove(seen, kind, {"dst": batch}, FOUND.format("e"))

    def _drop_edges(self, edges: Iterable[tuple[str, str, str]]) -> None:
        edges = [edge for edge in edges if edge[1] in KIND_CODE]
        seen = sights.visible(self._db, self._tenant, self._keys)
        ends = self._ends(node for src, _, dst in edges for node in (src, dst))
        for src, kind, dst in edges:
            if src in ends and dst in ends and (ends[dst].tier < 0) == (kind in LEADS_TO):
                self._remove(seen, kind, {"src": [ends[src].number], "dst": [ends[dst].number]}, "1")

    def _remove(self, seen: Iterable[Sight], kind: str, ends: Mapping[str, Sequence[int]], only: str) -> None:
        """Remove the visible edges of a kind that have any of these sources, of these ends; and ``only``."""
        to = LEADS_TO.get(kind)
        known = f"AND {sights.known(to, self._keys)}" if to is not None else ""
        among = " AND ".join(f"e.{name} IN ({','.join('?' * len(held))})" for name, held in ends.items())
        self._db.execute(
            f"DELETE FROM edge AS e {'' if 'src' in ends else INWARD} WHERE e.tenant = ? AND e.kind = ? "
            f"AND {among} {known} AND e.sight IN ({sights.codes(seen)}) AND {only}",
            (
                self._tenant,
                KIND_CODE[kind],
                *chain(*ends.values()),
                *(self._seen.bound if to is not None else ()),
            ),
        )

    def _ends(self, nodes: Iterable[str]) -> dict[str, End]:
        """Return what edges know those of these memories, concepts and categories by that are visible."""
        wanted = set(nodes)
        found: dict[str, End] = {}
        asked = sights.by_kind(wanted)
        for batch in rows.batches(asked["memory"]):
            held = self._db.execute(
                f"SELECT m.tier, m.hash, m.key FROM memory m WHERE {self._seen.among()} AND m.hash IN "
                f"({','.join('?' * len(batch))})",
                (*self._seen.own, *batch),
            ).fetchall()
            found |= {rows.from_hash(tier, n): End(n, key, TIER_CODE[tier]) for tier, n, key in held}
        for kind in LEADS_TO.values():
            nodes_seen = sights.nodes(self._seen, kind, asked[kind])
            found |= {node: End(number, "", -1) for number, node in nodes_seen.items()}
        return {node: end for node, end in found.items() if node in wanted}

    def _sight(self, key: str, src: End, dst: End) -> int:
        name = (key, src.key, src.tier, dst.key, dst.tier)
        if name not in self._sights:
            self._sights[name] = sights.obtain(self._db, self._tenant, name)
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
