"""Chains: what follows what in a session, a document and a project, read off the memories' own rows.

All that stands in the same sessions, documents and projects is read at once, small columns only, and paired
here: a join would be at the mercy of what the server has yet learned of the tables' sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrubjay.memory.edges import Edge
from scrubjay.store.postgres import rows
from scrubjay.store.postgres.scores import SCOPE

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own

NEAR: Final = (
    "((m.session = ANY(%s) AND m.turn IS NOT NULL) OR (m.document = ANY(%s::bigint[]) AND m.session IS NULL) "
    "OR (m.project = ANY(%s) AND ((m.session IS NOT NULL AND m.turn = 0) "
    "OR (m.session IS NULL AND m.turn IS NULL AND coalesce(m.ordinal, 0) = 0))))"
)
"""Turns of sessions, passages of documents, heads of projects."""


class Link(NamedTuple):
    """What chains ask of a memory."""

    id: str
    key: str
    at: int
    session: str | None
    turn: int | None
    document: int | None
    ordinal: int | None
    project: str | None

    @property
    def head(self) -> bool:
        """Whether it is a head of its project."""
        if self.session is not None or self.turn is not None:
            return self.session is not None and self.turn == 0
        return not self.ordinal


def follows(db: Database, own: Own, ids: Sequence[str]) -> list[Edge]:
    """Return the edges, later to earlier, that begin or end in these memories, by rule, source, end."""
    wanted = set(ids)
    asked = _links(db, own, "m.hash = ANY(%s::bigint[])", rows.hashes(wanted))
    sessions = {one.session for one in asked if one.session is not None}
    documents = {one.document for one in asked if one.document is not None}
    projects = {one.project for one in asked if one.project is not None}
    near = _links(db, own, NEAR, list(sessions), list(documents), list(projects))
    edges = [
        Edge(later.id, "follows", earlier.id, later.key, 1.0, earlier.at, rule=rule)
        for rule, later, earlier in (*_sessions(near), *_documents(near), *_projects(near))
        if later.id in wanted or earlier.id in wanted
    ]
    return sorted(edges, key=lambda edge: (edge.rule, edge.src, edge.dst))


def _links(db: Database, own: Own, condition: str, *values: Any) -> list[Link]:
    found = db.execute(
        "SELECT m.tier, m.hash, m.key, m.at, m.session, m.turn, m.document, m.ordinal, m.project "
        f"FROM memory m WHERE {SCOPE} AND {condition}",
        (*own, *values),
    ).fetchall()
    return [Link(rows.id_of(tier, number), *rest) for tier, number, *rest in found]


class Turns(NamedTuple):
    """The turns of sessions.

    Attributes:
        places: Session and turn of each.
        said: What was said at each place, by id's prefix and number.
    """

    places: dict[str, tuple[str, int]]
    said: dict[tuple[str, int], list[str]]

    def beside(self, memory: str) -> tuple[str, ...]:
        """Return what was said just before and after a turn."""
        if memory not in self.places:
            return ()
        session, turn = self.places[memory]
        return (*self.said.get((session, turn - 1), ()), *self.said.get((session, turn + 1), ()))


def turns(db: Database, own: Own) -> Turns:
    """Return all visible turns."""
    found = db.execute(
        f"SELECT m.tier, m.hash, m.session, m.turn FROM memory m WHERE {SCOPE} "
        'AND m.session IS NOT NULL AND m.turn IS NOT NULL ORDER BY m.tier COLLATE "C", m.hash',
        own,
    ).fetchall()
    held = Turns({}, defaultdict(list))
    for tier, number, *place in found:
        memory = rows.id_of(tier, number)
        held.places[memory] = place[0], place[1]
        held.said[place[0], place[1]].append(memory)
    return held


def adjacent(db: Database, own: Own, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what was said just before and after each turn, of those that have any."""
    found = db.execute(
        "SELECT m.tier, m.hash, n.tier, n.hash FROM memory m JOIN memory n ON n.tenant = m.tenant "
        "AND n.generation = m.generation AND n.session = m.session AND n.turn IN (m.turn - 1, "
        "m.turn + 1) "
        f"AND n.key = ANY(%s) WHERE {SCOPE} AND m.hash = ANY(%s::bigint[]) "
        'ORDER BY n.turn, n.tier COLLATE "C", n.hash',
        (own[2], *own, rows.hashes(ids)),
    ).fetchall()
    near: dict[str, tuple[str, ...]] = {}
    for tier, number, other_tier, other in found:
        memory = rows.id_of(tier, number)
        near[memory] = (*near.get(memory, ()), rows.id_of(other_tier, other))
    return near


def _sessions(near: Sequence[Link]) -> Iterator[tuple[str, Link, Link]]:
    said = defaultdict(list)
    for one in near:
        if one.session is not None and one.turn is not None:
            said[one.session, one.turn].append(one)
    for (session, turn), pieces in said.items():
        for earlier in said.get((session, turn - 1), ()):
            yield from (("session", later, earlier) for later in pieces)


def _documents(near: Sequence[Link]) -> Iterator[tuple[str, Link, Link]]:
    standing = defaultdict(list)
    for one in near:
        if one.document is not None and one.ordinal is not None and one.session is None:
            standing[one.document, one.ordinal].append(one)
    for (document, ordinal), passages in standing.items():
        for earlier in standing.get((document, ordinal - 1), ()):
            yield from (("document", later, earlier) for later in passages)


def _projects(near: Sequence[Link]) -> Iterator[tuple[str, Link, Link]]:
    heads = defaultdict(list)
    for one in near:
        if one.project is not None and one.head:
            heads[one.project].append(one)
    for chain in heads.values():
        for earlier, later in pairwise(sorted(chain, key=lambda one: (one.at, one.id))):
            yield "project", later, earlier
