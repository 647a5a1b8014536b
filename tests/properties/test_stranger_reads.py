"""Random reads of each store, of PostgreSQL as the application's user: nothing of a stranger's is in any answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from reference_store.store import ReferenceStore
from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.storage.changes import (
    Forget,
    PutCategory,
    PutConcept,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutMemory,
    PutModel,
    PutProject,
    PutRun,
    PutSource,
)
from scrubjay.storage.interface import Reader, Store
from scrubjay.storage.postgres.reader import PostgresReader
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import (
    SMALL_MODEL,
    put_sample_document,
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_id,
    sample_memory,
    sample_source,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)

ROUNDS = 400
EACH = 6
"""Memories of each key."""
TABLES = (
    "memory",
    "document",
    "source",
    "term",
    "concept",
    "category",
    "project",
    "event",
    "run",
    "tenant",
    "edge",
)


@dataclass
class World:
    """What is in the store, and whose.

    Attributes:
        store: The store.
        users: Who reads and writes.
        marks: Words that stand in everything of one tenant and key, and in nothing else.
        ids: Ids of the memories, concepts and categories of one tenant and key.
    """

    store: Store
    users: list[Scope]
    marks: dict[tuple[str, str], str] = field(default_factory=dict)
    ids: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def foreign(self, who: Scope) -> list[str]:
        """Return the marks and ids that must not be in any answer to somebody."""
        hidden = [pair for pair in self.marks if pair[0] != who.tenant or pair[1] not in who.keys]
        return [text for pair in hidden for text in (self.marks[pair], *self.ids[pair])]


@contextmanager
def filled(store: Store, name: str) -> Iterator[World]:
    """Two tenants of three users, each of whom writes for themselves, their groups and all."""
    users = [
        Scope(f"{name} {tenant}", user, groups)
        for tenant in ("one", "two")
        for user, groups in (("ann", ("dev",)), ("bob", ("dev", "ops")), ("cleo", ()))
    ]
    with closing(store):
        made = World(store, users)
        for who in users:
            write_changes(store, who, PutModel(SMALL_MODEL))
            for key in who.keys:
                if (who.tenant, key) not in made.marks:
                    _fill(made, who, key)
        yield made


@pytest.fixture(scope="module", params=("inmemory", "sqlite", "postgres"))
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A store of each kind."""
    folder = tmp_path_factory.mktemp("strangers")
    if request.param == "inmemory":
        store: Store = ReferenceStore()
    elif request.param == "sqlite":
        store = SQLiteStore(folder / "memory.db")
    else:
        store = PostgresStore(request.getfixturevalue("application_url"))
    with filled(store, str(folder)) as made:
        yield made


@pytest.fixture(scope="module")
def behind_the_fence(application_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A store of PostgreSQL, of the application's user."""
    with filled(PostgresStore(application_url), str(tmp_path_factory.mktemp("fence"))) as made:
        yield made


def _fill(world: World, who: Scope, key: str) -> None:
    mark = f"zq{len(world.marks):02d}xv"
    names = [f"{who.tenant} {key} {number}" for number in range(EACH)]
    ids = [sample_id(one) for one in names]
    world.marks[who.tenant, key] = mark
    world.ids[who.tenant, key] = [*ids, sample_concept_id(mark), sample_category_id(mark, key)]
    said = [
        sample_memory(
            f"jay {mark} word{number}", key, name=one, title=f"T {mark}", tags=("all", mark), session=f"s {mark}",
            project=f"p {mark}", turn=number, vectors={SMALL_MODEL.fingerprint: sample_windows(f"jay {number % 2}")},
        )
        for number, one in enumerate(names)
    ]  # fmt: skip
    root = f"r{mark}"
    write_changes(world.store, who, PutSource(sample_source(root, key)), *map(PutMemory, said))
    write_changes(
        world.store, who, put_sample_document(root, f"{mark}.md", [f"oak {mark}", f"elm {mark} more"], key)
    )
    write_changes(world.store, who, PutConcept(sample_concept(mark, key, aliases=(f"a {mark}",))))
    write_changes(
        world.store, who, PutCategory(sample_category(mark, key)), PutProject(f"at {mark}", f"p {mark}", key)
    )
    edges = [Edge(one, "links", ids[0], key) for one in ids[1:]]
    edges += [Edge(one, "references", sample_concept_id(mark), key) for one in ids]
    edges += [Edge(one, "belongs", sample_category_id(mark, key), key) for one in ids]
    write_changes(
        world.store,
        who,
        PutEdges(tuple(edges)),
        PutExtractions((CachedExtraction(ids[0], "1", mark.encode()),)),
    )
    write_changes(
        world.store, who, PutEvents(tuple(Event(one, "used", 1, key, f"run {mark}") for one in ids))
    )
    write_changes(world.store, who, PutRun(ConsolidationRun(f"run {mark}", key, "done", "1", 1, None, {})))
    write_changes(world.store, who, Forget((ids[-1],)))


Ask = Callable[[Reader, random.Random, "Some"], Any]


@dataclass
class Some:
    """What is asked for: anybody's."""

    ids: list[str]
    mark: str
    where: RecordFilter
    limit: int
    sources: Sequence[str]


def _some(world: World, chance: random.Random) -> Some:
    """Choose among everybody's, so that most of it is a stranger's."""
    everything = [one for ids in world.ids.values() for one in ids]
    mark = chance.choice(list(world.marks.values()))
    where = chance.choice(
        [
            RecordFilter(),
            RecordFilter(tags=(mark,)),
            RecordFilter(projects=(f"p {mark}", None)),
            RecordFilter(sessions=(f"s {mark}",)),
            RecordFilter(sources=(f"r{mark}",), path="*.md"),
            RecordFilter(categories=tuple(chance.sample(everything, 3))),
            RecordFilter(statuses=("active", "archived"), apart_from=f"s {mark}"),
        ]
    )
    return Some(chance.sample(everything, 12), mark, where, chance.randrange(1, 30), [f"r{mark}"])


def _found(scored: Any, some: Some) -> Any:
    return scored.top(some.limit), scored.by_id(some.ids), scored.covered, getattr(scored, "frequencies", ())


ASKS: dict[str, Ask] = {
    "get": lambda r, c, s: r.get(s.ids),
    "heads": lambda r, c, s: r.ranking_metadata(s.ids),
    "adjacent": lambda r, c, s: r.adjacent(s.ids),
    "complete": lambda r, c, s: r.ids_with_prefix(s.ids[0][: c.randrange(8)], s.limit),
    "page": lambda r, c, s: r.page(sample_id(s.ids[0]), s.limit, c.choice([None, s.where])),
    "latest": lambda r, c, s: r.latest(s.where, s.limit),
    "words": lambda r, c, s: _found(r.words([term_group("jay"), term_group(s.mark)], s.where), s)[0],
    "similar": lambda r, c, s: r.similar_terms(s.mark[:-1], s.limit),
    "nearest": lambda r, c, s: _found(r.nearest(SMALL_MODEL.fingerprint, sample_vector("jay 1"), s.where), s)[
        0
    ],
    "alike": lambda r, c, s: r.nearest_batch(
        SMALL_MODEL.fingerprint, sample_vector("jay 0")[None], s.limit, -1.0, s.where
    ),
    "vectors": lambda r, c, s: r.vectors(SMALL_MODEL.fingerprint, s.ids),
    "waiting": lambda r, c, s: r.pending(SMALL_MODEL.fingerprint, s.limit),
    "sources": lambda r, c, s: r.sources(),
    "documents": lambda r, c, s: r.documents(s.sources[0]),
    "passages": lambda r, c, s: r.passages(s.sources[0], f"{s.mark}.md"),
    "concepts": lambda r, c, s: (r.concepts(), r.concepts(s.ids), r.concept_rows()),
    "categories": lambda r, c, s: (r.categories(), r.projects()),
    "edges": lambda r, c, s: r.edges(
        s.ids, STORED_EDGE_KINDS, inward=c.random() < 0.5, limit=c.choice([None, 2])
    ),
    "degrees": lambda r, c, s: [r.degrees(kind, c.choice([None, s.ids])) for kind in STORED_EDGE_KINDS],
    "meetings": lambda r, c, s: r.cooccurrences(sample_concept_id(s.mark), s.limit)[0],
    "follows": lambda r, c, s: r.follows(s.ids),
    "turns": lambda r, c, s: r.turns(f"s {s.mark}", 0, 9),
    "events": lambda r, c, s: (r.events(limit=s.limit), r.events(s.ids), r.events(run=f"run {s.mark}")),
    "runs": lambda r, c, s: r.runs(s.limit),
    "readings": lambda r, c, s: r.extractions(s.ids),
}


def test_no_random_read_of_a_store_shows_anything_of_a_stranger(world: World, rounds: int | None) -> None:
    seen = 0
    for number in range(rounds or ROUNDS):
        chance = random.Random(number)
        who, (name, ask), some = (
            chance.choice(world.users),
            chance.choice([*ASKS.items()]),
            _some(world, chance),
        )
        with world.store.reader(who) as reader:
            told = repr(ask(reader, chance, some))
        leaked = [text for text in world.foreign(who) if text in told]
        assert not leaked, (number, name, who, leaked)
        seen += any(mark in told for mark in world.marks.values())
    assert seen > (rounds or ROUNDS) / 10, "what is their own is seen"


def test_what_a_stranger_holds_is_neither_counted_nor_told_of(world: World) -> None:
    """Numbers, too: how many there are, how many hold a word, the greatest turn, whose forgotten text it was."""
    for who in world.users:
        hidden = [pair for pair in world.marks if pair[0] != who.tenant or pair[1] not in who.keys]
        mine = [pair for pair in world.marks if pair not in hidden]
        with world.store.reader(who) as reader:
            assert reader.counts().memories == len(mine) * (EACH + 1)
            assert reader.words([term_group("jay")], RecordFilter()).memories == len(mine) * (EACH + 1)
            for pair in hidden:
                mark = world.marks[pair]
                assert reader.frequencies([term_group(mark)]) == [0]
                assert reader.count_passages([f"r{mark}"]) == 0
                assert reader.last_turn(f"s {mark}") is None
                if pair[1] not in who.keys:
                    assert reader.count_memories(pair[1]) == 0


def test_a_read_that_forgot_every_condition_shows_nothing_of_another_tenant_of_postgres(
    behind_the_fence: World, rounds: int | None
) -> None:
    """The second fence alone: as if the first one had fallen."""
    world = behind_the_fence
    for number in range((rounds or ROUNDS) // 10):
        chance = random.Random(number)
        who, table = chance.choice(world.users), chance.choice(TABLES)
        others = [mark for (tenant, _), mark in world.marks.items() if tenant != who.tenant]
        tenants = {one.tenant for one in world.users} - {who.tenant}
        with world.store.reader(who) as reader:
            assert isinstance(reader, PostgresReader)
            told = repr(reader._db.execute(f"SELECT * FROM {table}").fetchall())
        assert told != "[]", (number, table)
        assert not [text for text in (*others, *tenants) if text in told], (number, table, who)
