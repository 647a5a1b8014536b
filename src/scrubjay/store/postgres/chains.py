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
    found = _turns(db, own, "true")
    return Turns(dict(found), _said(found))


def adjacent(db: Database, own: Own, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what was said just before and after each turn, of those that have any."""
    asked = dict(_turns(db, own, "m.hash = ANY(%s::bigint[])", rows.hashes(ids)))
    sessions = {session for session, _ in asked.values()}
    numbers = {beside for _, turn in asked.values() for beside in (turn - 1, turn + 1)}
    near = _turns(
        db, own, "m.session = ANY(%s) AND m.turn = ANY(%s::bigint[])", list(sessions), list(numbers)
    )
    held = Turns(asked, _said(near))
    return {memory: beside for memory in asked if (beside := held.beside(memory))}


def _turns(db: Database, own: Own, condition: str, *values: Any) -> list[tuple[str, tuple[str, int]]]:
    """Return the visible turns that meet a condition, in the order of their ids, each with its place."""
    found = db.execute(
        f"SELECT m.tier, m.hash, m.session, m.turn FROM memory m WHERE {SCOPE} AND {condition} "
        'AND m.session IS NOT NULL AND m.turn IS NOT NULL ORDER BY m.tier COLLATE "C", m.hash',
        (*own, *values),
    ).fetchall()
    return [(rows.id_of(tier, number), (session, turn)) for tier, number, session, turn in found]


def _said(found: Sequence[tuple[str, tuple[str, int]]]) -> dict[tuple[str, int], list[str]]:
    said = defaultdict(list)
    for memory, place in found:
        said[place].append(memory)
    return said


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
