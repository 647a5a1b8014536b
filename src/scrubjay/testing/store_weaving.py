"""Weaving: random concepts, categories, edges and projects in a store's life (`store_history`).

Names, weights and times are few, so that several keys know one concept, edges meet and ties are many. What is
woven may be out of the writer's sight or gone by then: a store passes over it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from scrubjay.memory import categories, concepts
from scrubjay.memory.edges import ORIGINS, STORED, Edge
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    Change,
    DropCategory,
    DropConcept,
    DropEdges,
    PutCategory,
    PutConcept,
    PutEdges,
    PutProject,
)
from scrubjay.testing.store_samples import cat, category, con, concept

NAMES: Final = ("jay", "nut", "oak", "staging", "scrub jay", "redis")
WEIGHTS: Final = (0.0, 0.25, 0.5, 0.5, 1.0, 1 / 3)
PLACES: Final = ("p1", "p2", "p3")


class Weaver:
    """Makes changes of what connects memories.

    Args:
        chance: Where the choices come from.
        store: The reference, which knows what there is.
        users: Everybody who writes: some ends are what another one sees.
    """

    def __init__(self, chance: random.Random, store: Store, users: Sequence[Scope]) -> None:
        self._random = chance
        self._store = store
        self._users = users

    def begin(self, scope: Scope) -> list[Change]:
        """Return what this scope knows from the start."""
        known = [PutConcept(concept(name, "public")) for name in NAMES[1:]]
        return [*known, *(PutCategory(category(name, self._key(scope))) for name in NAMES[:2])]

    def weave(self, scope: Scope) -> Change:
        """Return one random change for this scope."""
        makers = (
            (5, self._put_concept), (1, self._drop_concept), (4, self._put_category), (1, self._drop_category),
            (20, self._put_edges), (2, self._drop_edges), (4, self._project),
        )  # fmt: skip
        maker = self._random.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]
        return maker(scope)

    def _key(self, scope: Scope) -> str:
        return self._random.choice(scope.keys)

    def _put_concept(self, scope: Scope) -> Change:
        chance = self._random
        aliases = tuple(sorted(chance.sample(NAMES, chance.choice((0, 0, 2)))))
        kind = chance.choice(concepts.KINDS)
        made = concept(
            chance.choice(NAMES), self._key(scope), aliases=aliases, kind=kind, at=chance.randrange(9)
        )
        return PutConcept(made)

    def _drop_concept(self, scope: Scope) -> Change:
        return DropConcept(con(self._random.choice(NAMES)), self._key(self._random.choice(self._users)))

    def _put_category(self, scope: Scope) -> Change:
        chance, key = self._random, self._key(scope)
        return PutCategory(
            category(
                chance.choice(NAMES), key, kind=chance.choice(categories.KINDS), abstract=chance.choice(NAMES),
                parent=chance.choice((None, cat(chance.choice(NAMES), key))),
                centroid=chance.randbytes(chance.choice((0, 8))), built=chance.randrange(9),
            )
        )  # fmt: skip

    def _drop_category(self, scope: Scope) -> Change:
        return DropCategory(self._category(scope))

    def _category(self, scope: Scope) -> str:
        return cat(self._random.choice(NAMES), self._key(self._random.choice((scope, scope, *self._users))))

    def _put_edges(self, scope: Scope) -> Change:
        chance = self._random
        ids = self._ids(scope)
        return PutEdges(
            tuple(self._edge(scope, ids) for _ in range(chance.choice((1, 8, 30)))) if ids else (),
            tuple(chance.sample(ids, min(len(ids), chance.choice((0, 0, 0, 1, 5))))),
            tuple(chance.sample(STORED, 3)),
            chance.random() < 0.5,
        )

    def _ids(self, scope: Scope) -> list[str]:
        """Return ids that somebody sees, mostly the writer."""
        with self._store.reader(self._random.choice((scope, scope, scope, *self._users))) as reader:
            return reader.complete("", 100_000)

    def _edge(self, scope: Scope, ids: Sequence[str]) -> Edge:
        chance = self._random
        kind = chance.choice((*STORED, "references", "references", "belongs", "links"))
        ends = {"references": con(chance.choice(NAMES)), "belongs": self._category(scope)}
        return Edge(
            self._end(ids), kind, ends.get(kind) or self._end(ids), self._key(scope), chance.choice(WEIGHTS),
            chance.randrange(-9, 9), chance.choice((*ORIGINS, "found")), chance.choice(("", "wikilink")),
            chance.choice((None, None, "run")),
        )  # fmt: skip

    def _end(self, ids: Sequence[str]) -> str:
        """Return one of the ids, the first of them more often, so that edges meet."""
        return ids[int(len(ids) * self._random.random() ** 3)]

    def _drop_edges(self, scope: Scope) -> Change:
        ids = self._ids(scope)
        with self._store.reader(scope) as reader:
            found = reader.edges(ids, STORED)
        chosen = self._random.sample(found, min(len(found), 3))
        return DropEdges((*((e.src, e.kind, e.dst) for e in chosen), (con("jay"), "links", con("nut"))))

    def _project(self, scope: Scope) -> Change:
        return PutProject(self._random.choice(PLACES), self._random.choice(NAMES), self._key(scope))
