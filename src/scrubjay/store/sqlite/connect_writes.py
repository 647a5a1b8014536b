"""Connect: what each change of the graph does to the tables, inside the writer's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from scrubjay.errors import InputError
from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import Edge
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.kept import Tenant
from scrubjay.store.scope_check import UNTOUCHED, connectable, encodable, fileable, nameable, writable
from scrubjay.store.sqlite import sights
from scrubjay.store.sqlite.sights import BETWEEN_MEMORIES, KIND_CODE, LEADS_TO, Sight
from scrubjay.store.table import TIER_CODE

if TYPE_CHECKING:
    from scrubjay.memory.categories import Category
    from scrubjay.store.sqlite.database import Database

GraphChange = (
    c.PutConcept | c.DropConcept | c.PutCategory | c.DropCategory | c.PutEdges | c.DropEdges | c.PutProject
)

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
        self._generation = tenant.generation
        self._scope = scope
        self._keys = scope.keys
        self._makers: dict[tuple[str, str, str | None], int] = {}
        self._sights: dict[sights.Name, int] = {}

    def apply(self, change: GraphChange) -> None:
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
            "DELETE FROM edge WHERE tenant = ? AND kind = ? AND dst = ? AND sight IN "
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
            self._db.execute("DELETE FROM edge WHERE tenant = ? AND kind = ? AND dst = ?", own)

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
        for edge in change.edges:
            writable(self._scope, edge.key, f"The edge from {edge.src} to {edge.dst}")
            connectable(edge)
        self._take_away(change)
        ends: dict[str, End | None] = {}
        fresh = []
        for edge in change.edges:
            for node in (edge.src, edge.dst):
                if node not in ends:
                    ends[node] = self._end(node)
            src, dst = ends[edge.src], ends[edge.dst]
            if src is not None and dst is not None:
                numbers = (src.number, KIND_CODE[edge.kind], dst.number, self._sight(edge.key, src, dst))
                fresh.append((self._tenant, *numbers, *sights.kept(edge), self._maker(edge)))
        fresh.sort(key=lambda row: row[:4])  # a stable sort: of two of one name the later one counts
        self._db.executemany(PUT, fresh)

    def _take_away(self, change: c.PutEdges) -> None:
        kinds = [kind for kind in dict.fromkeys(change.kinds) if kind in KIND_CODE]
        seen = sights.visible(self._db, self._tenant, self._keys) if change.of and kinds else []
        if not seen:
            return
        for node in dict.fromkeys(change.of):
            end = self._end(node)
            for kind in kinds if end is not None else ():
                self._remove(seen, kind, {"src": end}, FOUND.format("e"))
                if change.inward:
                    self._remove(seen, kind, {"dst": end}, FOUND.format("e"))

    def _drop_edges(self, edges: Iterable[tuple[str, str, str]]) -> None:
        seen = sights.visible(self._db, self._tenant, self._keys)
        for src, kind, dst in edges:
            if kind in KIND_CODE:
                self._remove(seen, kind, {"src": self._end(src), "dst": self._end(dst)}, "1")

    def _remove(self, seen: Iterable[Sight], kind: str, ends: Mapping[str, End | None], only: str) -> None:
        """Remove the visible edges of a kind that have these ends; ``only`` is a further condition."""
        to = LEADS_TO.get(kind)
        conditions, values = [only], [self._tenant, KIND_CODE[kind]]
        for name, end in ends.items():
            if end is None or (end.tier < 0) != (name == "dst" and to is not None):
                return
            conditions.append(f"e.{name} = ?")
            values.append(end.number)
        if to is not None:
            conditions.append(sights.known(to, self._keys))
        self._db.execute(
            f"DELETE FROM edge AS e WHERE e.tenant = ? AND e.kind = ? AND e.sight IN ({sights.codes(seen)}) "
            f"AND {' AND '.join(conditions)}",
            (*values, *(self._keys if to is not None else ())),
        )

    def _end(self, node: str) -> End | None:
        """Return what an edge knows a visible memory, concept or category by, None where there is none."""
        found = sights.parsed(node)
        if found is None:
            return None
        of, tier, number = found
        if of == "memory":
            row = self._memory(number)
            return End(number, row[1], tier) if row and row[0] == tier and row[1] in self._keys else None
        row = self._db.execute(
            "SELECT e.num FROM node e WHERE e.tenant = ? AND e.kind = ? AND e.hash = ? "
            f"AND {sights.known(of, self._keys, 'e.num')}",
            (self._tenant, of, number, *self._keys),
        ).fetchone()
        return None if row is None else End(row[0], "", -1)

    def _memory(self, number: int) -> tuple[int, str] | None:
        """Return tier and key of the memory of a hash."""
        row = self._db.execute(
            "SELECT tier, key FROM memory WHERE tenant = ? AND hash = ? AND generation = ?",
            (self._tenant, number, self._generation),
        ).fetchone()
        return None if row is None else (TIER_CODE[row[0]], row[1])

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


def settle(db: Database, tenant: Tenant, before: Mapping[int, tuple[str, str]]) -> None:
    """Put the edges of memories right that were removed or replaced.

    Args:
        db: Inside a transaction.
        tenant: The tenant, with the generation that counts.
        before: Hash of a memory to the tier and key that it had. One that is not there any more loses its
            edges on both sides; those of one that has another key now are seen by others.
    """
    for number, (tier, key) in before.items():
        row = db.execute(
            "SELECT tier, key FROM memory WHERE tenant = ? AND hash = ? AND generation = ?",
            (tenant.number, number, tenant.generation),
        ).fetchone()
        sides = ("src = ?", f"kind IN ({BETWEEN_MEMORIES}) AND dst = ?")
        if row is None or row[0] != tier:
            for side in sides:
                db.execute(f"DELETE FROM edge WHERE tenant = ? AND {side}", (tenant.number, number))
        elif row[1] != key:
            for side, column in zip(sides, ("src_key", "dst_key"), strict=True):
                _show(db, tenant.number, (side, number), column, row[1])


def _show(db: Database, tenant: int, side: tuple[str, int], column: str, key: str) -> None:
    """Renumber the sights of the edges at one side of a memory, whose key is another now."""
    where, number = side
    found = db.execute(
        f"SELECT id, key, src_key, src_tier, dst_key, dst_tier FROM sight WHERE id IN "
        f"(SELECT sight FROM edge WHERE tenant = ? AND {where})",
        (tenant, number),
    ).fetchall()
    for code, *name in found:
        name[1 if column == "src_key" else 3] = key
        db.execute(
            f"UPDATE edge SET sight = ? WHERE tenant = ? AND {where} AND sight = ?",
            (sights.obtain(db, tenant, tuple(name)), tenant, number, code),
        )


def any_edges(db: Database, tenant: int) -> bool:
    """Return whether a tenant has edges at all: where there are none, removing a memory costs nothing more."""
    return db.execute("SELECT 1 FROM edge WHERE tenant = ? LIMIT 1", (tenant,)).fetchone() is not None
