"""Scopes: nothing of another scope's memories is returned, counted, felt in a score, or changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory.edges import STORED, Edge
from scrubjay.memory.ids import text_hash, tombstone_hash
from scrubjay.memory.records import Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    Change,
    DropDocument,
    DropModel,
    DropSource,
    Forget,
    Kept,
    PutCategory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutMemory,
    PutModel,
    PutProject,
    PutSource,
    PutVectors,
    PutVersions,
)
from scrubjay.testing.store_answers import EVERY, Question, everything
from scrubjay.testing.store_samples import (
    SMALL,
    VERSIONS,
    cat,
    category,
    con,
    concept,
    document,
    embedded,
    group,
    memory,
    place,
    put_document,
    sample_id,
    source,
    vector,
    write,
)

F = SMALL.fingerprint
QUESTIONS = (
    Question((group("jay"), group("deployment")), vector("jay"), F),
    Question((group("nut", "nuts"),), vector("nut"), F, EVERY),
)
WORDS = ("deploymnt", "secrett", "jya")


def _vectors(text: str) -> dict[str, Any]:
    return {"vectors": {F: embedded(text)}}


def _mine(store: Store, ann: Scope) -> None:
    write(store, ann, PutModel(SMALL), PutVersions(VERSIONS), PutSource(source("notes", "user:ann")))
    write(
        store,
        ann,
        put_document("notes", "a.md", ["jay deployment nuts", "a jay"], "user:ann", **_vectors("a")),
    )
    write(store, ann, PutMemory(memory("nut", "user:ann", name="waits")))
    write(
        store, ann, PutMemory(memory("jay of the team", "group:dev", name="team", vectors={F: embedded("t")}))
    )
    write(store, ann, PutMemory(memory("jay of all", "public", name="all", session="s", turn=4, project="p")))
    write(store, ann, PutConcept(concept("jay", "public")), PutCategory(category("birds", "user:ann")))
    first, shared, team = sample_id("a.md:a jay"), sample_id("all"), sample_id("team")
    edges = [Edge(one, "references", con("jay"), "public") for one in (first, shared)]
    edges += [
        Edge(shared, "links", team, "user:ann", 0.5),
        Edge(first, "belongs", cat("birds", "user:ann"), "user:ann"),
    ]
    write(store, ann, PutEdges(tuple(edges)), PutProject("place", "p", "user:ann"))


def _theirs(store: Store, bob: Scope) -> list[str]:
    """Write what only Bob may see, in words that Ann asks for, and return the ids."""
    texts = [f"jay deployment secret nut {number}" for number in range(9)]
    write(store, bob, PutSource(source("bobs", "user:bob")))
    write(store, bob, put_document("bobs", "b.md", texts, "user:bob", language="de", **_vectors("jay")))
    write(
        store,
        bob,
        *(PutMemory(memory(f"jay {i}", "user:bob", name=f"bob {i}", tier="crystal")) for i in range(5)),
    )
    turns = [
        memory(f"jay {i}", "user:bob", name=f"turn {i}", session="s", turn=i, project="p") for i in range(6)
    ]
    write(store, bob, *(PutMemory(one) for one in turns))
    ids = [one.record.id for one in turns] + [sample_id(f"b.md:{text}") for text in texts]
    write(store, bob, PutConcept(concept("jay", "user:bob")), PutConcept(concept("secret", "user:bob")))
    write(store, bob, PutCategory(category("birds", "user:bob")), PutProject("place", "secret", "user:bob"))
    mixed = [(one, sample_id("all")) for one in ids] + [(sample_id("all"), one) for one in ids]
    edges = [Edge(src, "links", dst, key) for src, dst in mixed for key in ("public", "user:bob")]
    edges += [Edge(one, "references", con(name), "public") for one in ids for name in ("jay", "secret")]
    edges += [Edge(sample_id("all"), "references", con("secret"), "public")]
    edges += [Edge(sample_id("all"), "references", con("jay"), "user:bob", 0.1)]
    edges += [Edge(sample_id("all"), "belongs", cat("birds", "user:bob"), "public")]
    write(store, bob, PutEdges(tuple(edges)))
    return ids + [sample_id(f"bob {i}", "crystal") for i in range(5)]


class ScopesContract:
    """Two users of one tenant, and a namesake in another tenant."""

    def test_a_strangers_memories_change_no_answer_of_mine(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """All that Ann can learn is equal before and after: hits, scores, N, df, mean, counts, terms."""
        _mine(store, ann)
        before = everything(store, ann, QUESTIONS, WORDS)
        ids = _theirs(store, bob)
        assert everything(store, ann, QUESTIONS, WORDS) == before
        write(store, bob, PutVectors(F, {ids[-1]: (text_hash("jay 4"), embedded("jay"))}))
        write(store, bob, Forget(tuple(ids[:2])), DropDocument("bobs", "b.md"))
        assert everything(store, ann, QUESTIONS, WORDS) == before

    def test_the_memories_of_each_key_are_counted_alone_and_a_strangers_not_at_all(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Also when some were forgotten."""
        _mine(store, ann)
        ids = _theirs(store, bob)
        write(store, ann, Forget((sample_id("waits"),)))
        write(store, bob, Forget(tuple(ids[:1])))
        for scope, stranger in ((ann, bob.key()), (bob, ann.key())):
            with store.reader(scope) as reader:
                kept = Counter(record.key for record in reader.page("", 1_000))
                assert {key: reader.amount(key) for key in scope.keys} == {
                    key: kept[key] for key in scope.keys
                }
                assert (reader.amount(stranger), reader.amount("")) == (0, 0)

    def test_a_strangers_memories_are_like_unknown_ones(self, store: Store, ann: Scope, bob: Scope) -> None:
        """By whole id, by its beginning, by its document, by its score."""
        _mine(store, ann)
        ids = _theirs(store, bob)
        with store.reader(ann) as reader:
            assert reader.get([*ids, sample_id("nobody's")]) == {}
            assert [reader.complete(memory) for memory in ids] == [[]] * len(ids)
            assert (reader.documents("bobs"), reader.passages("bobs", "b.md")) == ({}, [])
            assert (reader.held(["bobs"]), reader.heads(ids), reader.adjacent(ids)) == (0, {}, {})
            words = reader.words([group("jay")], EVERY)
            assert words.of(ids) == [None] * len(ids)
            assert words.parts(ids) == [(0.0,)] * len(ids)
            assert reader.nearest(F, vector("jay"), EVERY).of(ids) == [None] * len(ids)
            assert (reader.vectors(F, ids), reader.follows(ids), reader.edges(ids, STORED)) == ({}, [], [])
            assert reader.edges([con("secret"), *ids], STORED, inward=True) == []
            assert (reader.degrees("links", ids), reader.meetings(con("secret"), 9)) == ({}, ({}, 0))
            assert reader.words([group("secret")], EVERY).frequencies == (0,)
            assert "secret" not in [term for term, _ in reader.similar_terms("secrett")]
            assert reader.languages() == ("en",)

    def test_groups_and_the_public_are_shared(self, store: Store, ann: Scope, bob: Scope) -> None:
        """A member sees the group's memories, everybody the public ones, nobody twice."""
        write(store, ann, PutMemory(memory("jay team", "group:dev", name="team")))
        write(store, ann, PutMemory(memory("jay all", "public", name="all")))
        write(store, ann, PutMemory(memory("jay own", "user:ann", name="own")))
        cleo = Scope(ann.tenant, "cleo", ("dev", "ops"))
        seen = {who: {"team", "all"} for who in (cleo,)} | {bob: {"all"}, ann: {"team", "all", "own"}}
        for who, names in seen.items():
            with store.reader(who) as reader:
                found = reader.words([group("jay")], Where())
                assert {hit.id for hit in found.top(9)} == {sample_id(name) for name in names}
                assert found.memories == len(names)

    def test_tenants_are_walled_gardens(self, store: Store, ann: Scope, eve: Scope) -> None:
        """A namesake elsewhere sees no memory, model, version, cache or tombstone, and can change none."""
        _mine(store, ann)
        write(store, ann, PutVectors(F, {}, {"hash": embedded("x")}))
        write(store, ann, PutMemory(memory("gone", "user:ann", name="gone")), Forget((sample_id("gone"),)))
        before = everything(store, ann, QUESTIONS, WORDS)
        mark = tombstone_hash(store.secret(ann), "gone", "user:ann")
        with store.reader(eve) as reader:
            assert (reader.models(), reader.versions(), reader.counts().memories) == ([], None, 0)
            assert (reader.cached(F, ["hash"]), reader.forgotten([mark])) == ({}, set())
        write(store, eve, PutModel(SMALL, "adding"), PutMemory(memory("jay", "user:ann", name="a.md:a jay")))
        write(store, eve, Forget((sample_id("waits"),)), DropModel(F))
        assert everything(store, ann, QUESTIONS, WORDS) == before
        with store.reader(ann) as reader:
            assert reader.forgotten([mark, "other"]) == {mark}

    def test_the_secret_is_given_or_made_once(
        self, store: Store, ann: Scope, bob: Scope, secret: bytes
    ) -> None:
        """All users of a tenant share it."""
        assert store.secret(ann) == secret
        assert store.secret(bob) == store.secret(ann)
        write(store, ann, PutVersions(VERSIONS))
        assert store.secret(ann) == secret

    @pytest.mark.parametrize("key", ["user:bob", "group:ops", "", "Public", "user:ann "])
    def test_writing_under_a_key_that_is_not_mine_is_refused(
        self, store: Store, ann: Scope, key: str
    ) -> None:
        """A memory, a passage or a source; nothing of the batch is written."""
        _mine(store, ann)
        before = everything(store, ann, QUESTIONS, WORDS)
        bad: tuple[Change, ...] = (
            PutMemory(memory("jay", key)),
            PutSource(source("else", key)),
            put_document("notes", "z.md", ["jay"], key),
        )
        for change in bad:
            with pytest.raises(InputError):
                write(store, ann, PutMemory(memory("jay goes too", "user:ann")), change)
        assert everything(store, ann, QUESTIONS, WORDS) == before

    def test_a_strangers_memories_cannot_be_changed(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Forgetting, dropping, moving or embedding one is passed over; replacing one is refused."""
        _mine(store, ann)
        ids = _theirs(store, bob)
        before = everything(store, bob, QUESTIONS, WORDS)
        grab = PutDocument(
            document("notes", "c.md"), (), (Kept(ids[0], place("notes", "c.md", 0)),), tuple(ids)
        )
        write(store, ann, Forget(tuple(ids)))
        write(store, ann, grab)
        write(store, ann, PutVectors(F, {ids[-1]: (text_hash("jay 4"), embedded("mine"))}))
        with pytest.raises(InputError):
            write(store, ann, PutMemory(memory("mine now", "user:ann", name="bob 0", tier="crystal")))
        assert everything(store, bob, QUESTIONS, WORDS) == before
        with store.reader(ann) as reader:
            assert reader.passages("notes", "c.md") == []
            assert reader.forgotten([tombstone_hash(store.secret(ann), "jay 0", "user:bob")]) == set()

    def test_a_strangers_sources_cannot_be_seen_or_changed(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """They are as if unknown; an id that one of them has is refused."""
        _mine(store, ann)
        _theirs(store, bob)
        before = everything(store, bob, QUESTIONS, WORDS)
        write(store, ann, DropSource("bobs"), DropDocument("bobs", "b.md"))
        for change in (
            put_document("bobs", "b.md", ["jay"], "user:ann"),
            put_document("none", "b.md", [], "user:ann"),
        ):
            with pytest.raises(NotFoundError):
                write(store, ann, change)
        with pytest.raises(InputError):
            write(store, ann, PutSource(source("bobs", "user:ann")))
        assert everything(store, bob, QUESTIONS, WORDS) == before
        with store.reader(ann) as reader:
            assert [found.id for found in reader.sources()] == ["notes"]

    def test_private_passages_of_a_shared_document_stay_private(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """The text before a waiting passage, too; and they go with their document."""
        write(store, ann, PutModel(SMALL), PutSource(source("shared", "public")))
        texts = ("jay open", "jay closed", "jay open again")
        keys = ("public", "user:ann", "public")
        fresh = tuple(
            memory(text, key, name=text, place=place("shared", "s.md", i))
            for i, (text, key) in enumerate(zip(texts, keys, strict=True))
        )
        write(store, ann, PutDocument(document("shared", "s.md"), fresh))
        with store.reader(bob) as reader:
            assert [passage.content for passage in reader.passages("shared", "s.md")] == [
                "jay open",
                "jay open again",
            ]
            assert {w.before for w in reader.waiting(F, 9)} == {""}
            assert reader.counts().memories == 2
        with store.reader(
            ann
        ) as reader:  # who sees both must not mix them: what is embedded is seen by others
            assert {w.before for w in reader.waiting(F, 9)} == {""}
        write(store, bob, PutDocument(document("shared", "s.md"), (), (), (sample_id("jay open"),)))
        with store.reader(ann) as reader:
            assert [passage.content for passage in reader.passages("shared", "s.md")] == ["jay closed"]
        write(store, bob, DropSource("shared"))
        with store.reader(ann) as reader:
            assert reader.counts().memories == 0
