"""History: a random but repeatable life of a store, for comparison with the reference store.

Names, weights and times are few, so that several keys know one concept, edges meet and ties are many. What is
woven may be out of the writer's sight or gone by then: a store passes over it.

Statuses, times and runs are few, so that ties are many. What is lived or told of may be out of the writer's
sight or gone by then: a store passes over it.

What comes next depends on what is there, so the history carries the reference store along. Several users
write to a tenant, each to what is theirs, their groups' or public. Texts and vectors are few, so that
ties are many.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from reference_store.store import ReferenceStore
from scrubjay.models import graph
from scrubjay.models.dates import DAY
from scrubjay.models.graph import EDGE_ORIGINS, STORED_EDGE_KINDS, Edge
from scrubjay.models.lifecycle import (
    EVENT_OPS,
    RUN_STATES,
    CachedExtraction,
    ConsolidationRun,
    Event,
    LifecycleChange,
)
from scrubjay.models.records import STATUSES, TIERS, EventTime, RecordFilter, Scope
from scrubjay.storage.changes import (
    Change,
    DropCategory,
    DropConcept,
    DropDocument,
    DropEdges,
    DropModel,
    DropSource,
    Forget,
    PutCategory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutLifecycle,
    PutMemory,
    PutModel,
    PutProject,
    PutRun,
    PutSource,
    PutVectors,
    PutVersions,
    QuantizedVectors,
    UnchangedPassage,
)
from scrubjay.storage.interface import Store
from scrubjay.text.tokenizer import TermGroup
from store_contract.answers import SampleQuestion
from store_contract.samples import (
    OTHER_MODEL,
    SMALL_MODEL,
    TOKEN_MODEL,
    VERSIONS,
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_document,
    sample_memory,
    sample_place,
    sample_source,
    sample_vector,
    sample_vectors,
    term_group,
)

CONCEPT_NAMES: Final = ("jay", "nut", "oak", "staging", "scrub jay", "redis")
WEIGHTS: Final = (0.0, 0.25, 0.5, 0.5, 1.0, 1 / 3)
PROJECT_PLACES: Final = ("p1", "p2", "p3")


class GraphHistory:
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
        known = [PutConcept(sample_concept(name, "public")) for name in CONCEPT_NAMES[1:]]
        return [*known, *(PutCategory(sample_category(name, self._key(scope))) for name in CONCEPT_NAMES[:2])]

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
        aliases = tuple(sorted(chance.sample(CONCEPT_NAMES, chance.choice((0, 0, 2)))))
        kind = chance.choice(graph.ENTITY_KINDS)
        made = sample_concept(
            chance.choice(CONCEPT_NAMES), self._key(scope), aliases=aliases, kind=kind, at=chance.randrange(9)
        )
        return PutConcept(made)

    def _drop_concept(self, scope: Scope) -> Change:
        return DropConcept(
            sample_concept_id(self._random.choice(CONCEPT_NAMES)), self._key(self._random.choice(self._users))
        )

    def _put_category(self, scope: Scope) -> Change:
        chance, key = self._random, self._key(scope)
        return PutCategory(
            sample_category(
                chance.choice(CONCEPT_NAMES), key, kind=chance.choice(graph.CATEGORY_KINDS),
                abstract=chance.choice(CONCEPT_NAMES),
                parent=chance.choice((None, sample_category_id(chance.choice(CONCEPT_NAMES), key))),
                centroid=chance.randbytes(chance.choice((0, 8))), built=chance.randrange(9),
            )
        )  # fmt: skip

    def _drop_category(self, scope: Scope) -> Change:
        return DropCategory(self._category(scope))

    def _category(self, scope: Scope) -> str:
        return sample_category_id(
            self._random.choice(CONCEPT_NAMES), self._key(self._random.choice((scope, scope, *self._users)))
        )

    def _put_edges(self, scope: Scope) -> Change:
        chance = self._random
        ids = self._ids(scope)
        return PutEdges(
            tuple(self._edge(scope, ids) for _ in range(chance.choice((1, 8, 30)))) if ids else (),
            tuple(chance.sample(ids, min(len(ids), chance.choice((0, 0, 0, 1, 5))))),
            tuple(chance.sample(STORED_EDGE_KINDS, 3)),
            chance.random() < 0.5,
        )

    def _ids(self, scope: Scope) -> list[str]:
        """Return ids that somebody sees, mostly the writer."""
        with self._store.reader(self._random.choice((scope, scope, scope, *self._users))) as reader:
            return reader.ids_with_prefix("", 100_000)

    def _edge(self, scope: Scope, ids: Sequence[str]) -> Edge:
        chance = self._random
        kind = chance.choice((*STORED_EDGE_KINDS, "references", "references", "belongs", "links"))
        ends = {
            "references": sample_concept_id(chance.choice(CONCEPT_NAMES)),
            "belongs": self._category(scope),
        }
        return Edge(
            self._end(ids), kind, ends.get(kind) or self._end(ids), self._key(scope), chance.choice(WEIGHTS),
            chance.randrange(-9, 9), chance.choice((*EDGE_ORIGINS, "found")), chance.choice(("", "wikilink")),
            chance.choice((None, None, "run")),
        )  # fmt: skip

    def _end(self, ids: Sequence[str]) -> str:
        """Return one of the ids, the first of them more often, so that edges meet."""
        return ids[int(len(ids) * self._random.random() ** 3)]

    def _drop_edges(self, scope: Scope) -> Change:
        ids = self._ids(scope)
        with self._store.reader(scope) as reader:
            found = reader.edges(ids, STORED_EDGE_KINDS)
        chosen = self._random.sample(found, min(len(found), 3))
        return DropEdges(
            (
                *((e.src, e.kind, e.dst) for e in chosen),
                (sample_concept_id("jay"), "links", sample_concept_id("nut")),
            )
        )

    def _project(self, scope: Scope) -> Change:
        return PutProject(
            self._random.choice(PROJECT_PLACES), self._random.choice(CONCEPT_NAMES), self._key(scope)
        )


RUN_IDS: Final = tuple(f"run_{number:010x}" for number in range(4))
RUN_COUNTS: Final = ("merged", "archived", "promoted")


class LifecycleHistory:
    """Makes changes of what happens to memories.

    Args:
        chance: Where the choices come from.
        store: The reference, which knows what there is.
        users: Everybody who writes: some memories are what another one sees.
    """

    def __init__(self, chance: random.Random, store: Store, users: Sequence[Scope]) -> None:
        self._random = chance
        self._store = store
        self._users = users

    def live(self, scope: Scope) -> Change:
        """Return one random change for this scope."""
        ways = (self._put_lives, self._put_lives, self._tell, self._tell, self._run, self._read)
        return self._random.choice(ways)(scope)

    def _keys(self, scope: Scope) -> dict[str, str]:
        """Return the keys of memories that somebody sees, mostly the writer."""
        with self._store.reader(self._random.choice((scope, scope, scope, *self._users))) as reader:
            return {
                one: record.key for one, record in reader.get(reader.ids_with_prefix("", 100_000)).items()
            }

    def _some(self, ids: Sequence[str]) -> list[str]:
        return self._random.sample(ids, min(len(ids), self._random.choice((1, 1, 3, 12))))

    def _put_lives(self, scope: Scope) -> Change:
        return PutLifecycle({memory: self._life() for memory in self._some(list(self._keys(scope)))})

    def _life(self) -> LifecycleChange:
        chance = self._random
        said: dict[str, Any] = {}
        if chance.random() < 0.6:
            said["status"] = chance.choice(STATUSES)
        if chance.random() < 0.3:
            said |= {"pinned": chance.random() < 0.5, "strength": chance.choice((0.0, 1 / 3, 1.0))}
        if chance.random() < 0.3:
            said |= {"confidence": chance.choice((0.0, 0.5)), "last_used": chance.choice((None, 3, -3))}
        if chance.random() < 0.3:  # both at once: the end never comes before the beginning it had
            begins = chance.choice((None, -5, 5))
            said |= {"valid_from": begins, "valid_until": chance.choice((None, (begins or 0) + 2))}
        return LifecycleChange(**said)

    def _tell(self, scope: Scope) -> Change:
        keys = self._keys(scope)
        told = [
            self._event(memory, key, list(keys))
            for memory, key in keys.items()
            if self._random.random() < 0.3
        ]
        return PutEvents(tuple(told))

    def _read(self, scope: Scope) -> Change:
        some = self._some(list(self._keys(scope)))
        return PutExtractions(
            tuple(CachedExtraction(one, str(self._random.randrange(9)), one.encode()) for one in some)
        )

    def _event(self, memory: str, key: str, ids: Sequence[str]) -> Event:
        chance = self._random
        return Event(
            memory, chance.choice(EVENT_OPS), chance.randrange(6), chance.choice((key, key, key, "public")),
            chance.choice((None, *RUN_IDS)), chance.choice((None, chance.choice(ids))), chance.choice((0, 0, 4)),
            chance.choice(("", *STATUSES)),
        )  # fmt: skip

    def _run(self, scope: Scope) -> Change:
        chance = self._random
        counts = {name: chance.randrange(9) for name in RUN_COUNTS if chance.random() < 0.5}
        key, state = chance.choice(scope.keys), chance.choice(RUN_STATES)
        ended = chance.choice((None, 9))
        return PutRun(
            ConsolidationRun(chance.choice(RUN_IDS), key, state, "1", chance.randrange(3), ended, counts)
        )


_TEXT: Final = """
    jay nut oak deploy deployment staging production timeout retry cache index vector memory search query
    agent session token budget friday thursday migrate schema lock writer reader segment posting merge forget
"""
WORDS: Final = tuple(_TEXT.split())
TAGS: Final = ("a", "b", "c")
FOLDERS: Final = ("", "notes/", "notes/deep/", "work/")
HistoryStep = tuple[Scope, list[Change]]


class StoreHistory:
    """One store's life. Equal seeds live equal lives.

    Args:
        seed: What the choices are made of.
        tenant: Name of the tenant that everybody belongs to.
    """

    def __init__(self, seed: int, tenant: str) -> None:
        self._random = random.Random(seed)
        self._asking = random.Random(seed)
        self.reference = ReferenceStore(b"history")
        self.users = (
            Scope(tenant, "ann", ("dev",)),
            Scope(tenant, "bob", ("dev", "ops")),
            Scope(tenant, "cleo"),
        )
        self._weaver = GraphHistory(self._random, self.reference, self.users)
        self._living = LifecycleHistory(self._random, self.reference, self.users)
        self._number = 0
        self._first = True

    def steps(self, count: int) -> Iterator[HistoryStep]:
        """Yield this many writes, each already made in `reference`."""
        for _ in range(count):
            scope = self._random.choice(self.users)
            changes = self._opening(scope) if self._first else self._changes(scope)
            self._first = False
            self.reference.write(scope, changes)
            yield scope, changes

    def _opening(self, scope: Scope) -> list[Change]:
        return [
            PutModel(SMALL_MODEL),
            PutVersions(VERSIONS),
            PutSource(sample_source("shared", "public")),
            self._add(scope),
            *self._weaver.begin(scope),
        ]

    def _changes(self, scope: Scope) -> list[Change]:
        makers: tuple[tuple[int, Callable[[Scope], Change | None]], ...] = (
            (30, self._add),
            (12, self._new_document),
            (12, self._edit),
            (6, self._grow),
            (32, self._weaver.weave),
            (24, self._living.live),
            (4, self._rename),
            (5, self._replace),
            (6, self._forget),
            (10, self._late),
            (3, self._drop_document),
            (2, self._source),
            (1, self._drop_source),
            (1, self._model),
        )
        weights = [weight for weight, _ in makers]
        made: list[Change] = []
        # Small writes are the common case; a step's changes are chosen before it, so they touch apart things.
        for _ in range(self._random.choice((1, 1, 1, 2, 5))):
            (_, maker) = self._random.choices(makers, weights)[0]
            change = maker(scope)
            if change is not None:
                made.append(change)
            if not isinstance(change, PutMemory | PutConcept | PutEdges | PutLifecycle | PutEvents):
                break
        return made

    def text(self) -> str:
        """Return a few words, the first of `WORDS` far more often than the last."""
        count = self._random.choice((1, 2, 3, 5, 8, 30))
        return " ".join(self._word() for _ in range(count))

    def _word(self) -> str:
        return WORDS[int(len(WORDS) * self._random.random() ** 2)]

    def _key(self, scope: Scope) -> str:
        return self._random.choice((f"user:{scope.user}", f"user:{scope.user}", *scope.keys))

    def _vectors(self, text: str) -> dict[str, QuantizedVectors]:
        known = {state.model for state in self._models()}
        models = (SMALL_MODEL, OTHER_MODEL, TOKEN_MODEL)
        some = [model for model in models if model in known and self._random.random() < 0.6]
        return {m.fingerprint: sample_vectors(m, text[:9], self._random.choice((1, 1, 3))) for m in some}

    def _models(self) -> list[Any]:
        with self.reference.reader(self.users[0]) as reader:
            return list(reader.models())

    def _fields(self, text: str) -> dict[str, Any]:
        chance = self._random
        at = chance.randrange(20) * DAY
        spoken = chance.random() < 0.6
        return {
            "status": chance.choice((*STATUSES, "active", "active", "active")),
            "tags": tuple(tag for tag in TAGS if chance.random() < 0.3),
            "recorded_at": chance.randrange(20) * DAY,
            "event": EventTime(at, at + DAY, "day") if chance.random() < 0.3 else None,
            "language": chance.choice(("en", "en", "de", "ja")),
            "session": chance.choice((None, "s-1", "s-2")) if spoken else None,
            "turn": chance.choice((None, 0, *range(12))) if spoken else None,
            "role": chance.choice((None, "user", "assistant")),
            "project": chance.choice((None, None, "jay", "nut")),
            "agent": chance.choice((None, "codex", "claude-code")),
            "vectors": self._vectors(text),
        }

    def _new_name(self) -> str:
        self._number += 1
        return f"memory {self._number}"

    def _add(self, scope: Scope) -> Change:
        text, tier = self.text(), self._random.choice(TIERS)
        return PutMemory(
            sample_memory(text, self._key(scope), name=self._new_name(), tier=tier, **self._fields(text))
        )

    def _visible_source(self, scope: Scope) -> str | None:
        with self.reference.reader(scope) as reader:
            found = [one.id for one in reader.sources()]
        return self._random.choice(found) if found else None

    def _some_document(self, scope: Scope) -> tuple[str, str] | None:
        name = self._visible_source(scope)
        if name is None:
            return None
        with self.reference.reader(scope) as reader:
            paths = list(reader.documents(name))
        return (name, self._random.choice(paths)) if paths else None

    def _passages(self, scope: Scope, where: tuple[str, str], count: int) -> list[PutMemory]:
        made = []
        for _ in range(count):
            text = self.text()
            stands = sample_place(*where, self._random.randrange(20))
            fields = self._fields(text) | {"heading_path": self._random.choice((("A",), ("A", "B")))}
            made.append(
                PutMemory(
                    sample_memory(text, self._key(scope), name=self._new_name(), place=stands, **fields)
                )
            )
        return made

    def _new_document(self, scope: Scope) -> Change | None:
        name = self._visible_source(scope)
        if name is None:
            return None
        path = f"{self._random.choice(FOLDERS)}{self._random.randrange(40)}.md"
        fresh = self._passages(scope, (name, path), self._random.randrange(6))
        return PutDocument(sample_document(name, path, str(self._number)), tuple(put.memory for put in fresh))

    def _edit(self, scope: Scope) -> Change | None:
        found = self._some_document(scope)
        if found is None:
            return None
        with self.reference.reader(scope) as reader:
            passages = reader.passages(*found)
        stays = [one for one in passages if self._random.random() < 0.6]
        kept = tuple(
            UnchangedPassage(one.id, sample_place(*found, ordinal)) for ordinal, one in enumerate(stays)
        )
        dropped = tuple(one.id for one in passages if one not in stays and self._random.random() < 0.8)
        fresh = self._passages(scope, found, self._random.randrange(3))
        return PutDocument(
            sample_document(*found, str(self._number)), tuple(put.memory for put in fresh), kept, dropped
        )

    def _grow(self, scope: Scope) -> Change | None:
        found = self._some_document(scope)
        if found is None:
            return None
        with self.reference.reader(scope) as reader:
            passages = reader.passages(*found)
        fresh = self._passages(scope, found, self._random.randrange(4))
        dropped = tuple(one.id for one in passages if self._random.random() < 0.1)
        read_on = replace(sample_document(*found, str(self._number)), cursor=self._number)
        return PutDocument(read_on, tuple(put.memory for put in fresh), (), dropped, None, True)

    def _rename(self, scope: Scope) -> Change | None:
        found = self._some_document(scope)
        if found is None:
            return None
        path = f"{self._random.choice(FOLDERS)}{self._random.randrange(40)}.md"
        with self.reference.reader(scope) as reader:
            passages = reader.passages(*found)
        kept = tuple(
            UnchangedPassage(one.id, sample_place(found[0], path, ordinal))
            for ordinal, one in enumerate(passages)
        )
        return PutDocument(sample_document(found[0], path), (), kept, (), found[1])

    def _ids(self, scope: Scope) -> list[str]:
        with self.reference.reader(scope) as reader:
            return reader.ids_with_prefix("", 100_000)

    def _replace(self, scope: Scope) -> Change | None:
        with self.reference.reader(scope) as reader:
            records = [
                one for one in reader.get(reader.ids_with_prefix("", 100_000)).values() if one.place is None
            ]
        if not records:
            return None
        old = self._random.choice(records)
        text = self.text()
        fresh = sample_memory(text, self._key(scope), name="any", tier=old.tier, **self._fields(text))
        return PutMemory(replace(fresh, record=replace(fresh.record, id=old.id)))

    def _forget(self, scope: Scope) -> Change | None:
        ids = self._ids(scope)
        return Forget(tuple(self._random.sample(ids, min(len(ids), self._random.choice((1, 1, 4))))))

    def _late(self, scope: Scope) -> Change | None:
        models = self._models()
        if not models:
            return None
        model = self._random.choice(models).model
        with self.reference.reader(scope) as reader:
            waiting = [one.record for one in reader.pending(model.fingerprint, 30)]
        vectors = {
            one.id: (
                one.content_hash,
                sample_vectors(model, one.content[:9], self._random.choice((1, 2))),
            )
            for one in waiting
            if self._random.random() < 0.7
        }
        return PutVectors(model.fingerprint, vectors, {"text": sample_vectors(model, "t")})

    def _drop_document(self, scope: Scope) -> Change | None:
        found = self._some_document(scope)
        return None if found is None else DropDocument(*found)

    def _source(self, scope: Scope) -> Change:
        key = self._key(scope)
        return PutSource(sample_source(f"{key} folder", key, root=f"/{self._random.randrange(9)}"))

    def _drop_source(self, scope: Scope) -> Change | None:
        name = self._visible_source(scope)
        return None if name is None or name == "shared" else DropSource(name)

    def _model(self, scope: Scope) -> Change:
        known = {state.model for state in self._models()}
        model = self._random.choice((OTHER_MODEL, TOKEN_MODEL))
        if model not in known:
            return PutModel(model, "adding")
        return self._random.choice((PutModel(model), DropModel(model.fingerprint)))

    def question(self) -> SampleQuestion:
        """Return a random search: words, a vector, a filter, a limit. Asking does not change the life."""
        living, self._random = self._random, self._asking
        try:
            return self._question()
        finally:
            self._random = living

    def _question(self) -> SampleQuestion:
        chance = self._random
        models = [state.model for state in self._models() if not state.model.late_interaction]
        model = chance.choice(models) if models else None
        return SampleQuestion(
            groups=tuple(self._group() for _ in range(chance.randrange(1, 5))),
            vector=None if model is None else sample_vector(self.text()[:9], model.dimensions),
            fingerprint="" if model is None else model.fingerprint,
            where=self._where() if chance.random() < 0.7 else RecordFilter(),
            limit=chance.choice((1, 3, 10, 50, 1_000)),
        )

    def _group(self) -> TermGroup:
        return term_group(*dict.fromkeys(self._word() for _ in range(self._random.choice((1, 1, 2, 3)))))

    def _where(self) -> RecordFilter:
        chance = self._random

        def some(*values: Any) -> Any:
            return chance.choice((values[0], *values))

        def rarely(*values: Any) -> Any:
            return chance.choice(values) if chance.random() < 0.15 else ()

        return RecordFilter(
            tiers=some((), (chance.choice(TIERS),), tuple(chance.sample(TIERS, 4))),
            tags=some((), ("a",), ("a", "b"), ("none",)),
            path=some("", "notes", "*.md", "work/1*", "notes/deep/"),
            sources=some((), ("shared",), ("shared", "none")),
            since=some(None, chance.randrange(20) * DAY),
            until=some(None, chance.randrange(20) * DAY),
            statuses=chance.choice((("active",), STATUSES, ("archived", "superseded"), ())),
            projects=rarely(("jay",), ("jay", "none"), ("jay", None), (None,)),
            agents=rarely(("codex",), ("none",)),
            sessions=rarely(("s-1",), ("s-1", "s-2")),
            apart_from=rarely("s-1", "none") or None,
            categories=rarely(
                tuple(
                    sample_category_id(name, key) for name in CONCEPT_NAMES for key in ("public", "user:ann")
                )
            ),
        )
