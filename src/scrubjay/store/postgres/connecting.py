"""Connecting: what each change of the graph does to the tables, inside the writer's transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.memory.categories import Category
from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import Edge
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.kept import Tenant
from scrubjay.store.postgres import edges, rows
from scrubjay.store.postgres.edges import BETWEEN_MEMORIES
from scrubjay.store.postgres.tenant import durable
from scrubjay.store.scope_check import UNTOUCHED, connectable, encodable, fileable, nameable, writable

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own

PUT_CONCEPT: Final = (
    "INSERT INTO concept (tenant, key, hash, name, aliases, kind, at) VALUES (%s, %s, %s, %s, %s, %s, %s) "
    "ON CONFLICT (tenant, key, hash) DO UPDATE SET (name, aliases, kind, at) = "
    "(excluded.name, excluded.aliases, excluded.kind, excluded.at)"
)
MARK: Final = (
    "INSERT INTO concept_mark (tenant, key, changes) VALUES (%s, %s, 1) "
    "ON CONFLICT (tenant, key) DO UPDATE SET changes = concept_mark.changes + 1"
)
PUT_CATEGORY: Final = (
    "INSERT INTO category (tenant, hash, key, kind, name, parent, abstract, overview, model, centroid, at, built) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (tenant, hash) DO UPDATE SET "
    "(kind, name, parent, abstract, overview, model, centroid, at, built) = (excluded.kind, excluded.name, "
    "excluded.parent, excluded.abstract, excluded.overview, excluded.model, excluded.centroid, excluded.at, "
    "excluded.built)"
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


class Connecting:
    """One transaction's work on the graph of a tenant, for one scope."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        self._db = db
        self._tenant = tenant.number
        self._scope = scope
        self._own: Own = (tenant.number, tenant.generation, list(scope.keys))

    def apply(self, change: c.GraphChange) -> None:
        """Do one change."""
        match change:
            case c.PutConcept(concept):
                self._put_concept(concept)
            case c.DropConcept(concept, key) if key in self._scope.keys:
                self._drop_concept(concept, key)
            case c.PutCategory(category):
                self._put_category(category)
            case c.DropCategory(category):
                self._drop_category(category)
            case c.PutEdges():
                self._put_edges(change)
            case c.DropEdges(triples):
                seen = edges.seen(self._db, self._own, "src", {src for src, _, _ in triples})
                self._drop_edges(edge for edge in seen if (edge.src, edge.kind, edge.dst) in triples)
            case c.PutProject():
                self._put_project(change)

    def _put_concept(self, concept: Concept) -> None:
        writable(self._scope, concept.key, f"Concept {concept.id}")
        nameable(concept)
        values = (
            self._tenant, concept.key, rows.number_of(concept.id), concept.name, list(concept.aliases),
            concept.kind, concept.at,
        )  # fmt: skip
        self._db.execute(PUT_CONCEPT, values)
        self._count(concept.key)

    def _count(self, key: str) -> None:
        """Count a change of a key's concepts: for good, as others keep by the count what they have read."""
        durable(self._db)
        self._db.execute(MARK, (self._tenant, key))

    def _drop_concept(self, concept: str, key: str) -> None:
        for number in rows.numbers([concept], "concept"):
            self._db.execute(
                "DELETE FROM concept WHERE tenant = %s AND key = %s AND hash = %s",
                (self._tenant, key, number),
            )
            self._count(key)
            self._db.execute(
                "DELETE FROM edge WHERE tenant = %s AND kind = 'references' AND dst = %s AND key = %s",
                (self._tenant, number, key),
            )

    def _put_category(self, category: Category) -> None:
        writable(self._scope, category.key, f"Category {category.id}")
        fileable(category)
        number = rows.number_of(category.id)
        held = self._db.execute(
            "SELECT key FROM category WHERE tenant = %s AND hash = %s", (self._tenant, number)
        ).fetchone()
        if held is not None and held[0] != category.key:
            raise InputError(f"Category id {category.id} belongs to another key's category. {UNTOUCHED}")
        values = (
            self._tenant, number, category.key, category.kind, category.name, category.parent,
            category.abstract, category.overview, category.model, category.centroid, category.at, category.built,
        )  # fmt: skip
        self._db.execute(PUT_CATEGORY, values)

    def _drop_category(self, category: str) -> None:
        dropped = self._db.execute(
            "DELETE FROM category WHERE tenant = %s AND hash = ANY(%s::bigint[]) AND key = ANY(%s) "
            "RETURNING hash",
            (self._tenant, rows.numbers([category], "category"), list(self._scope.keys)),
        ).fetchall()
        for (number,) in dropped:
            self._db.execute(
                "DELETE FROM edge WHERE tenant = %s AND kind = 'belongs' AND dst = %s", (self._tenant, number)
            )

    def _put_edges(self, change: c.PutEdges) -> None:
        for edge in change.edges:
            writable(self._scope, edge.key, f"The edge from {edge.src} to {edge.dst}")
            connectable(edge)
        for near in ("src", "dst") if change.inward else ("src",):
            before = edges.seen(self._db, self._own, near, set(change.of))
            self._drop_edges(e for e in before if e.origin == "found" and e.kind in change.kinds)
        ends = {end for edge in change.edges for end in (edge.src, edge.dst)}
        seen = edges.visible(self._db, self._own, ends)
        held: dict[tuple[str, str, str, str], Edge] = {}
        for e in (
            change.edges
        ):  # of several that stand in one row the last one stays, but a given one before a found one
            name = e.src, e.kind, e.dst, e.key
            if e.src in seen and e.dst in seen and (e.origin == "given" or not _given(held.get(name))):
                held[name] = e
        if held:
            self._db.execute(PUT_EDGE, (self._tenant, *_values(list(held.values()))))

    def _drop_edges(self, found: Iterable[Edge]) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(DROP_EDGE, [self._name(edge) for edge in found])

    def _name(self, edge: Edge) -> tuple[int, int, str, int, str]:
        return self._tenant, rows.number_of(edge.src), edge.kind, rows.number_of(edge.dst), edge.key

    def _put_project(self, change: c.PutProject) -> None:
        writable(self._scope, change.key, f"Project {change.name}")
        encodable(change.place, change.name, change.key)
        self._db.execute(
            "DELETE FROM project WHERE tenant = %s AND key = %s AND place = %s",
            (self._tenant, change.key, change.place),
        )
        self._db.execute(
            "INSERT INTO project (tenant, key, place, name) VALUES (%s, %s, %s, %s)",
            (self._tenant, change.key, change.place, change.name),
        )

    def lose(self, removed: Collection[tuple[str, int]]) -> None:
        """Remove the edges and events of memories whose rows a change removed, unless they are there again.

        Args:
            removed: Tier and number of each.
        """
        if not removed:
            return
        there = self._db.execute(
            "SELECT tier, hash FROM memory WHERE tenant = %s AND generation = %s AND hash = ANY(%s::bigint[])",
            (*self._own[:2], [number for _, number in removed]),
        ).fetchall()
        gone = [number for _, number in set(removed) - set(there)]
        self._db.execute(
            "DELETE FROM edge WHERE tenant = %s AND src = ANY(%s::bigint[])", (self._tenant, gone)
        )
        self._db.execute(
            "DELETE FROM edge WHERE tenant = %s AND kind = ANY(%s) AND dst = ANY(%s::bigint[])",
            (self._tenant, BETWEEN_MEMORIES, gone),
        )
        self._db.execute(
            "DELETE FROM event WHERE tenant = %s AND memory = ANY(%s::bigint[])", (self._tenant, gone)
        )
        self._db.execute(
            "UPDATE event SET other = NULL WHERE tenant = %s AND other = ANY(%s::bigint[])",
            (self._tenant, gone),
        )


def _values(found: Sequence[Edge]) -> Iterator[object]:
    """Yield the values of `PUT_EDGE` but the tenant.

    Few texts are said of many edges: each edge names by a number which ones. To write them out for each took the
    driver three quarters of what a write of edges takes.
    """
    said: dict[tuple[str | None, ...], int] = {}
    numbers = [said.setdefault((e.kind, e.key, e.origin, e.rule, e.run), len(said) + 1) for e in found]
    yield from map(list, zip(*said, strict=True))
    yield rows.array(rows.number_of(e.src) for e in found)
    yield rows.array(rows.number_of(e.dst) for e in found)
    yield rows.array(float(e.weight) for e in found)
    yield rows.array(e.at for e in found)
    yield rows.array(numbers)


def _given(edge: Edge | None) -> bool:
    return edge is not None and edge.origin == "given"


def hold(db: Database, tenant: int, old: int, fresh: int) -> None:
    """Remove the edges and events of memories that one generation has and a fresh one has not."""
    carried = (
        "EXISTS (SELECT FROM memory o JOIN memory n ON n.tenant = o.tenant AND n.hash = o.hash AND n.tier = o.tier "
        "WHERE o.tenant = %(tenant)s AND o.generation = %(old)s AND n.generation = %(fresh)s AND o.hash = e.{0})"
    )
    values = {"tenant": tenant, "old": old, "fresh": fresh, "between": BETWEEN_MEMORIES}
    db.execute(
        f"DELETE FROM edge e WHERE e.tenant = %(tenant)s AND (NOT {carried.format('src')} "
        f"OR (e.kind = ANY(%(between)s) AND NOT {carried.format('dst')}))",
        values,
    )
    db.execute(f"DELETE FROM event e WHERE e.tenant = %(tenant)s AND NOT {carried.format('memory')}", values)
    db.execute(
        "UPDATE event e SET other = NULL WHERE e.tenant = %(tenant)s AND e.other IS NOT NULL "
        f"AND NOT {carried.format('other')}",
        values,
    )
