"""History: a random but repeatable life of a store: puts, edits, renames, drops, forgets, links, lives, late vectors.

What comes next depends on what is there, so the history carries the reference store along. Several users
write to a tenant, each to what is theirs, their groups' or public. Texts and vectors are few, so that
ties are many.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from scrubjay.memory.dates import DAY
from scrubjay.memory.records import When, Where
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import STATUSES, TIERS
from scrubjay.store.changes import (
    Change,
    Codes,
    DropDocument,
    DropModel,
    DropSource,
    Forget,
    Kept,
    PutConcept,
    PutDocument,
    PutEdges,
    PutEvents,
    PutLife,
    PutMemory,
    PutModel,
    PutSource,
    PutVectors,
    PutVersions,
)
from scrubjay.store.inmemory.store import InMemoryStore
from scrubjay.testing.store_answers import Question
from scrubjay.testing.store_living import Living
from scrubjay.testing.store_samples import (
    OTHER,
    SMALL,
    VERSIONS,
    cat,
    document,
    embedded,
    group,
    memory,
    place,
    source,
    vector,
)
from scrubjay.testing.store_weaving import NAMES, Weaver
from scrubjay.text.tokens import TermGroup

_TEXT: Final = """
    jay nut oak deploy deployment staging production timeout retry cache index vector memory search query
    agent session token budget friday thursday migrate schema lock writer reader segment posting merge forget
"""
WORDS: Final = tuple(_TEXT.split())
TAGS: Final = ("a", "b", "c")
FOLDERS: Final = ("", "notes/", "notes/deep/", "work/")
Step = tuple[Scope, list[Change]]


class History:
    """One store's life. Equal seeds live equal lives.

    Args:
        seed: What the choices are made of.
        tenant: Name of the tenant that everybody belongs to.
    """

    def __init__(self, seed: int, tenant: str) -> None:
        self._random = random.Random(seed)
        self._asking = random.Random(seed)
        self.reference = InMemoryStore(b"history")
        self.users = (
            Scope(tenant, "ann", ("dev",)),
            Scope(tenant, "bob", ("dev", "ops")),
            Scope(tenant, "cleo"),
        )
        self._weaver = Weaver(self._random, self.reference, self.users)
        self._living = Living(self._random, self.reference, self.users)
        self._number = 0
        self._first = True

    def steps(self, count: int) -> Iterator[Step]:
        """Yield this many writes, each already made in `reference`."""
        for _ in range(count):
            scope = self._random.choice(self.users)
            changes = self._opening(scope) if self._first else self._changes(scope)
            self._first = False
            self.reference.write(scope, changes)
            yield scope, changes

    def _opening(self, scope: Scope) -> list[Change]:
        return [
            PutModel(SMALL),
            PutVersions(VERSIONS),
            PutSource(source("shared", "public")),
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
            if not isinstance(change, PutMemory | PutConcept | PutEdges | PutLife | PutEvents):
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

    def _vectors(self, text: str) -> dict[str, Codes]:
        known = {state.model for state in self._models()}
        some = [model for model in (SMALL, OTHER) if model in known and self._random.random() < 0.6]
        return {m.fingerprint: embedded(text[:9], self._random.choice((1, 1, 3)), m.dimensions) for m in some}

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
            "event": When(at, at + DAY, "day") if chance.random() < 0.3 else None,
            "language": chance.choice(("en", "en", "de", "ja")),
            "session": chance.choice((None, "s-1", "s-2")) if spoken else None,
            "turn": chance.choice((None, 0, *range(12))) if spoken else None,
            "role": chance.choice((None, "user", "assistant")),
            "project": chance.choice((None, None, "jay", "nut")),
            "agent": chance.choice((None, "codex", "claude-code")),
            "abstract": chance.choice((None, text[:9])),
            "overview": chance.choice((None, text[:20])),
            "vectors": self._vectors(text),
        }

    def _new_name(self) -> str:
        self._number += 1
        return f"memory {self._number}"

    def _add(self, scope: Scope) -> Change:
        text, tier = self.text(), self._random.choice(TIERS)
        return PutMemory(
            memory(text, self._key(scope), name=self._new_name(), tier=tier, **self._fields(text))
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
            stands = place(*where, self._random.randrange(20))
            fields = self._fields(text) | {"heading_path": self._random.choice((("A",), ("A", "B")))}
            made.append(
                PutMemory(memory(text, self._key(scope), name=self._new_name(), place=stands, **fields))
            )
        return made

    def _new_document(self, scope: Scope) -> Change | None:
        name = self._visible_source(scope)
        if name is None:
            return None
        path = f"{self._random.choice(FOLDERS)}{self._random.randrange(40)}.md"
        fresh = self._passages(scope, (name, path), self._random.randrange(6))
        return PutDocument(document(name, path, str(self._number)), tuple(put.memory for put in fresh))

    def _edit(self, scope: Scope) -> Change | None:
        found = self._some_document(scope)
        if found is None:
            return None
        with self.reference.reader(scope) as reader:
            passages = reader.passages(*found)
        stays = [one for one in passages if self._random.random() < 0.6]
        kept = tuple(Kept(one.id, place(*found, ordinal)) for ordinal, one in enumerate(stays))
        dropped = tuple(one.id for one in passages if one not in stays and self._random.random() < 0.8)
        fresh = self._passages(scope, found, self._random.randrange(3))
        return PutDocument(
            document(*found, str(self._number)), tuple(put.memory for put in fresh), kept, dropped
        )

    def _grow(self, scope: Scope) -> Change | None:
        found = self._some_document(scope)
        if found is None:
            return None
        with self.reference.reader(scope) as reader:
            passages = reader.passages(*found)
        fresh = self._passages(scope, found, self._random.randrange(4))
        dropped = tuple(one.id for one in passages if self._random.random() < 0.1)
        read_on = replace(document(*found, str(self._number)), cursor=self._number)
        return PutDocument(read_on, tuple(put.memory for put in fresh), (), dropped, None, True)

    def _rename(self, scope: Scope) -> Change | None:
        found = self._some_document(scope)
        if found is None:
            return None
        path = f"{self._random.choice(FOLDERS)}{self._random.randrange(40)}.md"
        with self.reference.reader(scope) as reader:
            passages = reader.passages(*found)
        kept = tuple(Kept(one.id, place(found[0], path, ordinal)) for ordinal, one in enumerate(passages))
        return PutDocument(document(found[0], path), (), kept, (), found[1])

    def _ids(self, scope: Scope) -> list[str]:
        with self.reference.reader(scope) as reader:
            return reader.complete("", 100_000)

    def _replace(self, scope: Scope) -> Change | None:
        with self.reference.reader(scope) as reader:
            records = [one for one in reader.get(reader.complete("", 100_000)).values() if one.place is None]
        if not records:
            return None
        old = self._random.choice(records)
        text = self.text()
        fresh = memory(text, self._key(scope), name="any", tier=old.tier, **self._fields(text))
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
            waiting = [one.record for one in reader.waiting(model.fingerprint, 30)]
        vectors = {
            one.id: (
                one.content_hash,
                embedded(one.content[:9], self._random.choice((1, 2)), model.dimensions),
            )
            for one in waiting
            if self._random.random() < 0.7
        }
        return PutVectors(model.fingerprint, vectors, {"text": embedded("t", 1, model.dimensions)})

    def _drop_document(self, scope: Scope) -> Change | None:
        found = self._some_document(scope)
        return None if found is None else DropDocument(*found)

    def _source(self, scope: Scope) -> Change:
        key = self._key(scope)
        return PutSource(source(f"{key} folder", key, root=f"/{self._random.randrange(9)}"))

    def _drop_source(self, scope: Scope) -> Change | None:
        name = self._visible_source(scope)
        return None if name is None or name == "shared" else DropSource(name)

    def _model(self, scope: Scope) -> Change:
        known = {state.model for state in self._models()}
        if OTHER not in known:
            return PutModel(OTHER, "adding")
        return self._random.choice((PutModel(OTHER), DropModel(OTHER.fingerprint)))

    def question(self) -> Question:
        """Return a random search: words, a vector, a filter, a limit. Asking does not change the life."""
        living, self._random = self._random, self._asking
        try:
            return self._question()
        finally:
            self._random = living

    def _question(self) -> Question:
        chance = self._random
        models = [state.model for state in self._models()]
        model = chance.choice(models) if models else None
        return Question(
            groups=tuple(self._group() for _ in range(chance.randrange(1, 5))),
            vector=None if model is None else vector(self.text()[:9], model.dimensions),
            fingerprint="" if model is None else model.fingerprint,
            where=self._where() if chance.random() < 0.7 else Where(),
            limit=chance.choice((1, 3, 10, 50, 1_000)),
        )

    def _group(self) -> TermGroup:
        return group(*dict.fromkeys(self._word() for _ in range(self._random.choice((1, 1, 2, 3)))))

    def _where(self) -> Where:
        chance = self._random

        def some(*values: Any) -> Any:
            return chance.choice((values[0], *values))

        def rarely(*values: Any) -> Any:
            return chance.choice(values) if chance.random() < 0.15 else ()

        return Where(
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
            categories=rarely(tuple(cat(name, key) for name in NAMES for key in ("public", "user:ann"))),
        )
