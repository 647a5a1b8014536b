"""Graph: what connects the memories that one scope sees, read in the transaction of its reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from scrubjay.memory.categories import Category
from scrubjay.memory.concepts import Concept, Row
from scrubjay.memory.edges import STORED, Edge
from scrubjay.memory.records import Record
from scrubjay.store.postgres import chains, edges, rows
from scrubjay.store.postgres.edges import SEEN
from scrubjay.store.postgres.scores import SCOPE

if TYPE_CHECKING:
    from scrubjay.memory.scope import Scope
    from scrubjay.store.kept import Tenant
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own
    from scrubjay.store.snapshot import Snapshot

NO_TENANT: Final = -1


class PostgresGraph:
    """Concepts, categories, edges, chains, sessions and projects that one scope sees."""

    def __init__(self, db: Database, scope: Scope, tenant: Tenant | None, kept: Snapshot) -> None:
        self._db = db
        self._kept = kept
        self._tenant = tenant.number if tenant else NO_TENANT
        self._keys = list(scope.keys)
        self._own: Own = (self._tenant, tenant.generation if tenant else 0, self._keys)

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(statement, values).fetchall()

    def _bound(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(statement, edges.bound(self._own, **values)).fetchall()

    def _records(self, condition: str, *values: Any) -> list[Record]:
        found = self._all(
            f"SELECT {rows.RECORD} {rows.FROM} WHERE {SCOPE} AND {condition}", *self._own, *values
        )
        return [rows.to_record(row) for row in found]

    def concepts(self, ids: Sequence[str] | None = None) -> list[Concept]:
        """Return visible rows of concepts, by id and key."""
        found = self._bound(
            "SELECT hash, key, name, aliases, kind, at FROM concept WHERE tenant = %(tenant)s "
            "AND key = ANY(%(keys)s) AND (%(all)s OR hash = ANY(%(hashes)s::bigint[])) "
            'ORDER BY hash, key COLLATE "C"',
            all=ids is None,
            hashes=rows.numbers(ids or (), "concept"),
        )
        return [
            Concept(rows.id_of("concept", number), key, name, tuple(aliases), kind, at)
            for number, key, name, aliases, kind, at in found
        ]

    def concept_rows(self) -> list[Row]:
        """Return the visible rows of concepts, as tuples."""
        found = self._bound(
            "SELECT hash, key, name, nullif(aliases, '{}'), kind, at FROM concept "
            "WHERE tenant = %(tenant)s AND key = ANY(%(keys)s)"
        )
        return [
            (rows.id_of("concept", number), key, name, aliases and tuple(aliases), kind, at)
            for number, key, name, aliases, kind, at in found
        ]

    def concept_mark(self) -> int:
        """Return how often the visible concepts were changed."""
        ((found,),) = self._bound(
            "SELECT coalesce(sum(changes), 0) FROM concept_mark WHERE tenant = %(tenant)s "
            "AND key = ANY(%(keys)s)"
        )
        return int(found)

    def categories(self) -> list[Category]:
        """Return the visible categories, by id."""
        found = self._bound(
            "SELECT hash, key, kind, name, parent, abstract, overview, model, centroid, at, built "
            "FROM category WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) ORDER BY hash"
        )
        return [Category(rows.id_of("category", number), *rest) for number, *rest in found]

    def projects(self) -> dict[str, str]:
        """Return place to project name."""
        found = self._bound(
            "SELECT place, name FROM project WHERE tenant = %(tenant)s AND key = ANY(%(keys)s) "
            'ORDER BY key COLLATE "C" DESC'
        )
        return dict(found)  # the smaller key is set last

    def edges(
        self,
        ids: Sequence[str],
        kinds: Sequence[str],
        *,
        inward: bool = False,
        limit: int | None = None,
    ) -> list[Edge]:
        """Return visible stored edges that leave these ids, or lead to them."""
        if not self._connected():
            return []
        near, wanted = "dst" if inward else "src", [kind for kind in STORED if kind in kinds]

        def read(new: list[str]) -> dict[str, list[Edge]]:
            held: dict[str, list[Edge]] = {one: [] for one in new}
            for edge in edges.united(self._db, self._own, near, new, wanted, limit):
                held[edge.dst if inward else edge.src].append(edge)
            return held

        return self._kept.edges_of(ids, (near, tuple(wanted), limit), read)

    def _connected(self) -> bool:
        """Return whether there is any edge that the scope may see, which many tenants do not have."""
        return self._kept.once("connected", self._any_edge)

    def _any_edge(self) -> bool:
        found = self._bound(
            "SELECT EXISTS (SELECT FROM edge WHERE tenant = %(tenant)s AND key = ANY(%(keys)s))"
        )
        return bool(found[0][0])

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        """Return how many visible edges of a kind lead to each id."""
        if kind not in STORED or not self._connected():
            return {}
        if ids is None:
            return self._degrees(kind)
        known: dict[str, int] = self._kept.rows(("degrees", kind)).of(
            ids, lambda new: self._degrees(kind, new)
        )
        return known

    def _degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        condition = "e.kind = %(kind)s AND (%(all)s OR e.dst = ANY(%(ends)s::bigint[]))"
        found = self._bound(
            f"{SEEN.format(condition=condition)} "
            "SELECT dst_of, dst, count(DISTINCT src) FROM seen GROUP BY dst_of, dst",
            kind=kind,
            all=ids is None,
            ends=rows.numbers(ids or ()),
        )
        degrees = {rows.id_of(of, end): count for of, end, count in found}
        return {one: count for one, count in degrees.items() if ids is None or one in ids}

    def meetings(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        """Return how often other concepts are referred to by the memories that refer to one."""
        asked = rows.numbers([concept], "concept")
        referring = SEEN.format(condition="e.kind = 'references' AND e.dst = ANY(%(ends)s::bigint[])")
        looked = self._bound(
            f"{referring} SELECT DISTINCT src FROM seen ORDER BY src DESC LIMIT %(limit)s",
            ends=asked,
            limit=limit,
        )
        beside = SEEN.format(condition="e.kind = 'references' AND e.src = ANY(%(ends)s::bigint[])")
        met = self._bound(
            f"{beside} SELECT dst, count(DISTINCT src) FROM seen GROUP BY dst",
            ends=[number for (number,) in looked],
        )
        return {rows.id_of("concept", end): count for end, count in met if end not in asked}, len(looked)

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        """Return the edges from later to earlier memories that begin or end in these."""
        return chains.follows(self._db, self._own, ids)

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        """Return a session's visible turns, by turn, ordinal, id."""
        return self._records(
            "m.session = %s AND m.turn BETWEEN %s AND %s "
            'ORDER BY m.turn, coalesce(m.ordinal, -1), m.tier COLLATE "C", m.hash',
            session, first, last,
        )  # fmt: skip

    def last_turn(self, session: str) -> int | None:
        """Return the greatest turn of a session."""
        ((found,),) = self._all(
            f"SELECT max(m.turn) FROM memory m WHERE {SCOPE} AND m.session = %s", *self._own, session
        )
        return None if found is None else int(found)
