"""Scopes: nothing of another scope's memories is returned, counted, reflected in a score, or changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.ids import text_hash, tombstone_hash
from scrubjay.models.lifecycle import ConsolidationRun, Event
from scrubjay.models.records import RecordFilter, Scope
from scrubjay.storage.changes import (
    Change,
    DropDocument,
    DropModel,
    DropSource,
    DropUser,
    Forget,
    PutCategory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutEvents,
    PutMemory,
    PutModel,
    PutProject,
    PutRun,
    PutSource,
    PutVectors,
    PutVersions,
    UnchangedPassage,
)
from scrubjay.storage.interface import Store
from store_contract.answers import EVERY_STATUS, SampleQuestion, all_answers
from store_contract.samples import (
    FINGERPRINT,
    SMALL_MODEL,
    VERSIONS,
    put_sample_document,
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_document,
    sample_id,
    sample_memory,
    sample_place,
    sample_source,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)

QUESTIONS = (
    SampleQuestion((term_group("jay"), term_group("deployment")), sample_vector("jay"), FINGERPRINT),
    SampleQuestion((term_group("nut", "nuts"),), sample_vector("nut"), FINGERPRINT, EVERY_STATUS),
)
MISSPELLED_WORDS = ("deploymnt", "secrett", "jya")


def _vector_fields(text: str) -> dict[str, Any]:
    return {"vectors": {FINGERPRINT: sample_windows(text)}}


def _write_anns(store: Store, ann: Scope) -> None:
    write_changes(
        store,
        ann,
        PutModel(SMALL_MODEL),
        PutVersions(VERSIONS),
        PutSource(sample_source("notes", "user:ann")),
    )
    write_changes(
        store,
        ann,
        put_sample_document(
            "notes", "a.md", ["jay deployment nuts", "a jay"], "user:ann", **_vector_fields("a")
        ),
    )
    write_changes(store, ann, PutMemory(sample_memory("nut", "user:ann", name="waits")))
    write_changes(
        store,
        ann,
        PutMemory(
            sample_memory(
                "jay of the team", "group:dev", name="team", vectors={FINGERPRINT: sample_windows("t")}
            )
        ),
    )
    write_changes(
        store,
        ann,
        PutMemory(sample_memory("jay of all", "public", name="all", session="s", turn=4, project="p")),
    )
    write_changes(
        store,
        ann,
        PutConcept(sample_concept("jay", "public")),
        PutCategory(sample_category("birds", "user:ann")),
    )
    first, shared, team = sample_id("a.md:a jay"), sample_id("all"), sample_id("team")
    edges = [Edge(one, "references", sample_concept_id("jay"), "public") for one in (first, shared)]
    edges += [
        Edge(shared, "links", team, "user:ann", 0.5),
        Edge(first, "belongs", sample_category_id("birds", "user:ann"), "user:ann"),
    ]
    write_changes(store, ann, PutEdges(tuple(edges)), PutProject("place", "p", "user:ann"))


def _write_bobs(store: Store, bob: Scope) -> list[str]:
    """Write what only Bob may see, in words that Ann asks for, and return the ids."""
    texts = [f"jay deployment secret nut {number}" for number in range(9)]
    write_changes(store, bob, PutSource(sample_source("bobs", "user:bob")))
    write_changes(
        store,
        bob,
        put_sample_document("bobs", "b.md", texts, "user:bob", language="de", **_vector_fields("jay")),
    )
    write_changes(
        store,
        bob,
        *(
            PutMemory(sample_memory(f"jay {i}", "user:bob", name=f"bob {i}", tier="crystal"))
            for i in range(5)
        ),
    )
    turns = [
        sample_memory(f"jay {i}", "user:bob", name=f"turn {i}", session="s", turn=i, project="p")
        for i in range(6)
    ]
    write_changes(store, bob, *(PutMemory(one) for one in turns))
    ids = [one.record.id for one in turns] + [sample_id(f"b.md:{text}") for text in texts]
    write_changes(
        store,
        bob,
        PutConcept(sample_concept("jay", "user:bob")),
        PutConcept(sample_concept("secret", "user:bob")),
    )
    write_changes(
        store,
        bob,
        PutCategory(sample_category("birds", "user:bob")),
        PutProject("place", "secret", "user:bob"),
    )
    mixed = [(one, sample_id("all")) for one in ids] + [(sample_id("all"), one) for one in ids]
    edges = [Edge(src, "links", dst, key) for src, dst in mixed for key in ("public", "user:bob")]
    edges += [
        Edge(one, "references", sample_concept_id(name), "public")
        for one in ids
        for name in ("jay", "secret")
    ]
    edges += [Edge(sample_id("all"), "references", sample_concept_id("secret"), "public")]
    edges += [Edge(sample_id("all"), "references", sample_concept_id("jay"), "user:bob", 0.1)]
    edges += [Edge(sample_id("all"), "belongs", sample_category_id("birds", "user:bob"), "public")]
    write_changes(store, bob, PutEdges(tuple(edges)))
    return ids + [sample_id(f"bob {i}", "crystal") for i in range(5)]


class ScopesContract:
    """Two users of one tenant, and a namesake in another tenant."""

    def test_a_strangers_memories_change_no_answer_of_mine(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """All that Ann can learn is equal before and after: hits, scores, N, df, mean, counts, terms."""
        _write_anns(store, ann)
        before = all_answers(store, ann, QUESTIONS, MISSPELLED_WORDS)
        ids = _write_bobs(store, bob)
        assert all_answers(store, ann, QUESTIONS, MISSPELLED_WORDS) == before
        write_changes(
            store, bob, PutVectors(FINGERPRINT, {ids[-1]: (text_hash("jay 4"), sample_windows("jay"))})
        )
        write_changes(store, bob, Forget(tuple(ids[:2])), DropDocument("bobs", "b.md"))
        assert all_answers(store, ann, QUESTIONS, MISSPELLED_WORDS) == before

    def test_the_memories_of_each_key_are_counted_alone_and_a_strangers_not_at_all(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Also when some were forgotten."""
        _write_anns(store, ann)
        ids = _write_bobs(store, bob)
        write_changes(store, ann, Forget((sample_id("waits"),)))
        write_changes(store, bob, Forget(tuple(ids[:1])))
        for scope, stranger in ((ann, bob.key()), (bob, ann.key())):
            with store.reader(scope) as reader:
                kept = Counter(record.key for record in reader.page("", 1_000))
                assert {key: reader.count_memories(key) for key in scope.keys} == {
                    key: kept[key] for key in scope.keys
                }
                assert (reader.count_memories(stranger), reader.count_memories("")) == (0, 0)

    def test_a_strangers_memories_are_like_unknown_ones(self, store: Store, ann: Scope, bob: Scope) -> None:
        """By whole id, by its beginning, by its document, by its score."""
        _write_anns(store, ann)
        ids = _write_bobs(store, bob)
        with store.reader(ann) as reader:
            assert reader.get([*ids, sample_id("nobody's")]) == {}
            assert [reader.ids_with_prefix(memory) for memory in ids] == [[]] * len(ids)
            assert (reader.documents("bobs"), reader.passages("bobs", "b.md")) == ({}, [])
            assert (reader.count_passages(["bobs"]), reader.ranking_metadata(ids), reader.adjacent(ids)) == (
                0,
                {},
                {},
            )
            words = reader.words([term_group("jay")], EVERY_STATUS)
            assert words.by_id(ids) == [None] * len(ids)
            assert words.group_scores(ids) == [(0.0,)] * len(ids)
            assert reader.nearest(FINGERPRINT, sample_vector("jay"), EVERY_STATUS).by_id(ids) == [None] * len(
                ids
            )
            assert (
                reader.vectors(FINGERPRINT, ids),
                reader.follows(ids),
                reader.edges(ids, STORED_EDGE_KINDS),
            ) == ({}, [], [])
            assert reader.edges([sample_concept_id("secret"), *ids], STORED_EDGE_KINDS, inward=True) == []
            assert (reader.degrees("links", ids), reader.cooccurrences(sample_concept_id("secret"), 9)) == (
                {},
                ({}, 0),
            )
            assert reader.words([term_group("secret")], EVERY_STATUS).frequencies == (0,)
            assert "secret" not in [term for term, _ in reader.similar_terms("secrett")]
            assert reader.languages() == ("en",)

    def test_groups_and_the_public_are_shared(self, store: Store, ann: Scope, bob: Scope) -> None:
        """A member sees the group's memories, everybody the public ones, nobody twice."""
        write_changes(store, ann, PutMemory(sample_memory("jay team", "group:dev", name="team")))
        write_changes(store, ann, PutMemory(sample_memory("jay all", "public", name="all")))
        write_changes(store, ann, PutMemory(sample_memory("jay own", "user:ann", name="own")))
        cleo = Scope(ann.tenant, "cleo", ("dev", "ops"))
        seen = {who: {"team", "all"} for who in (cleo,)} | {bob: {"all"}, ann: {"team", "all", "own"}}
        for who, names in seen.items():
            with store.reader(who) as reader:
                found = reader.words([term_group("jay")], RecordFilter())
                assert {hit.id for hit in found.top(9)} == {sample_id(name) for name in names}
                assert found.memories == len(names)

    def test_tenants_are_walled_gardens(self, store: Store, ann: Scope, eve: Scope) -> None:
        """A namesake elsewhere sees no memory, model, version, cache or tombstone, and can change none."""
        _write_anns(store, ann)
        write_changes(store, ann, PutVectors(FINGERPRINT, {}, {"hash": sample_windows("x")}))
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("gone", "user:ann", name="gone")),
            Forget((sample_id("gone"),)),
        )
        before = all_answers(store, ann, QUESTIONS, MISSPELLED_WORDS)
        mark = tombstone_hash(store.secret(ann), "gone", "user:ann")
        with store.reader(eve) as reader:
            assert (reader.models(), reader.versions(), reader.counts().memories) == ([], None, 0)
            assert (reader.cached_texts(FINGERPRINT, ["hash"]), reader.forgotten_hashes([mark])) == (
                {},
                set(),
            )
        write_changes(
            store,
            eve,
            PutModel(SMALL_MODEL, "adding"),
            PutMemory(sample_memory("jay", "user:ann", name="a.md:a jay")),
        )
        write_changes(store, eve, Forget((sample_id("waits"),)), DropModel(FINGERPRINT))
        assert all_answers(store, ann, QUESTIONS, MISSPELLED_WORDS) == before
        with store.reader(ann) as reader:
            assert reader.forgotten_hashes([mark, "other"]) == {mark}

    def test_the_secret_is_given_or_made_once(
        self, store: Store, ann: Scope, bob: Scope, secret: bytes
    ) -> None:
        """All users of a tenant share it."""
        assert store.secret(ann) == secret
        assert store.secret(bob) == store.secret(ann)
        write_changes(store, ann, PutVersions(VERSIONS))
        assert store.secret(ann) == secret

    @pytest.mark.parametrize("key", ["user:bob", "group:ops", "", "Public", "user:ann "])
    def test_writing_under_a_key_that_is_not_mine_is_refused(
        self, store: Store, ann: Scope, key: str
    ) -> None:
        """A memory, a passage or a source; nothing of the batch is written."""
        _write_anns(store, ann)
        before = all_answers(store, ann, QUESTIONS, MISSPELLED_WORDS)
        bad: tuple[Change, ...] = (
            PutMemory(sample_memory("jay", key)),
            PutSource(sample_source("else", key)),
            put_sample_document("notes", "z.md", ["jay"], key),
        )
        for change in bad:
            with pytest.raises(InputError):
                write_changes(store, ann, PutMemory(sample_memory("jay goes too", "user:ann")), change)
        assert all_answers(store, ann, QUESTIONS, MISSPELLED_WORDS) == before

    def test_a_strangers_memories_cannot_be_changed(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Forgetting, dropping, moving or embedding one is passed over; replacing one is refused."""
        _write_anns(store, ann)
        ids = _write_bobs(store, bob)
        before = all_answers(store, bob, QUESTIONS, MISSPELLED_WORDS)
        grab = PutDocument(
            sample_document("notes", "c.md"),
            (),
            (UnchangedPassage(ids[0], sample_place("notes", "c.md", 0)),),
            tuple(ids),
        )
        write_changes(store, ann, Forget(tuple(ids)))
        write_changes(store, ann, grab)
        write_changes(
            store, ann, PutVectors(FINGERPRINT, {ids[-1]: (text_hash("jay 4"), sample_windows("mine"))})
        )
        with pytest.raises(InputError):
            write_changes(
                store, ann, PutMemory(sample_memory("mine now", "user:ann", name="bob 0", tier="crystal"))
            )
        assert all_answers(store, bob, QUESTIONS, MISSPELLED_WORDS) == before
        with store.reader(ann) as reader:
            assert reader.passages("notes", "c.md") == []
            assert reader.forgotten_hashes([tombstone_hash(store.secret(ann), "jay 0", "user:bob")]) == set()

    def test_a_strangers_sources_cannot_be_seen_or_changed(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """They are as if unknown; an id that one of them has is refused."""
        _write_anns(store, ann)
        _write_bobs(store, bob)
        before = all_answers(store, bob, QUESTIONS, MISSPELLED_WORDS)
        write_changes(store, ann, DropSource("bobs"), DropDocument("bobs", "b.md"))
        for change in (
            put_sample_document("bobs", "b.md", ["jay"], "user:ann"),
            put_sample_document("none", "b.md", [], "user:ann"),
        ):
            with pytest.raises(NotFoundError):
                write_changes(store, ann, change)
        with pytest.raises(InputError):
            write_changes(store, ann, PutSource(sample_source("bobs", "user:ann")))
        assert all_answers(store, bob, QUESTIONS, MISSPELLED_WORDS) == before
        with store.reader(ann) as reader:
            assert [found.id for found in reader.sources()] == ["notes"]

    def test_private_passages_of_a_shared_document_stay_private(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """The text before a waiting passage, too; and they go with their document."""
        write_changes(store, ann, PutModel(SMALL_MODEL), PutSource(sample_source("shared", "public")))
        texts = ("jay open", "jay closed", "jay open again")
        keys = ("public", "user:ann", "public")
        fresh = tuple(
            sample_memory(text, key, name=text, place=sample_place("shared", "s.md", i))
            for i, (text, key) in enumerate(zip(texts, keys, strict=True))
        )
        write_changes(store, ann, PutDocument(sample_document("shared", "s.md"), fresh))
        with store.reader(bob) as reader:
            assert [passage.content for passage in reader.passages("shared", "s.md")] == [
                "jay open",
                "jay open again",
            ]
            assert {w.before for w in reader.pending(FINGERPRINT, 9)} == {""}
            assert reader.counts().memories == 2
        with store.reader(
            ann
        ) as reader:  # who sees both must not mix them: what is embedded is seen by others
            assert {w.before for w in reader.pending(FINGERPRINT, 9)} == {""}
        write_changes(
            store, bob, PutDocument(sample_document("shared", "s.md"), (), (), (sample_id("jay open"),))
        )
        with store.reader(ann) as reader:
            assert [passage.content for passage in reader.passages("shared", "s.md")] == ["jay closed"]
        write_changes(store, bob, DropSource("shared"))
        with store.reader(ann) as reader:
            assert reader.counts().memories == 0

    def test_a_shared_passage_tells_its_file_and_a_source_the_groups_its_owner_left(
        self, store: Store, ann: Scope
    ) -> None:
        """Others learn the file of what they see and of nothing else; the owner, in which files the groups see any."""
        alone, dev = Scope(ann.tenant, "ann"), Scope(ann.tenant, "ann", ("dev",))
        crew = Scope(ann.tenant, "cleo", ("dev", "ops"))
        source = sample_source("notes", "user:ann")
        documents = {path: sample_document("notes", path) for path in ("dev.md", "ops.md")}
        write_changes(store, ann, PutModel(SMALL_MODEL), PutSource(source))
        for path, document in documents.items():
            keys = ("user:ann", f"group:{path.removesuffix('.md')}")
            fresh = [
                sample_memory(key, key, name=f"{path} {key}", place=sample_place("notes", path, i))
                for i, key in enumerate(keys)
            ]
            write_changes(store, alone.joined(["dev", "ops"]), PutDocument(document, tuple(fresh)))
        own, shared = sample_id("dev.md user:ann"), sample_id("dev.md group:dev")
        for scope, files, hidden in (
            (alone, {}, {"dev": {"dev.md"}, "ops": {"ops.md"}}),
            (dev, {}, {"ops": {"ops.md"}}),
            (crew, {shared: (source.root, documents["dev.md"])}, {}),
            (Scope(ann.tenant, "bob"), {}, {}),
            (Scope("elsewhere", "cleo", ("dev", "ops")), {}, {}),
        ):
            with store.reader(scope) as reader:
                assert reader.files_of_others([own, shared, sample_id("unknown")]) == files
                assert reader.files_of_others([]) == {}
                assert reader.hidden_groups("notes") == hidden
        write_changes(store, alone.joined(["dev", "ops"]), DropDocument("notes", "dev.md"))
        with store.reader(alone) as reader:
            assert reader.hidden_groups("notes") == {"ops": {"ops.md"}}

    def test_a_user_is_dropped_with_all_that_has_the_name(self, store: Store, ann: Scope, bob: Scope) -> None:
        """The links, names and runs of nobody else, and not what happened to the memories of others."""
        own, ends = "user:bob", [sample_id(name) for name in ("jay", "nut")]
        shared = [sample_memory(name, "public", name=name) for name in ("jay", "nut")]
        write_changes(store, ann, *map(PutMemory, shared), PutConcept(sample_concept("quoll", "public")))
        events = tuple(
            Event(ends[0], "useful", at, "public", actor=who) for at, who in enumerate(("bob", "ann"))
        )
        write_changes(
            store,
            bob,
            PutMemory(sample_memory("bob's jay", own, name="own")),
            PutConcept(sample_concept("quoll", own)),
            PutConcept(sample_concept("numbat", own)),
            PutCategory(sample_category("birds", own)),
            PutProject("a place", "nests", own),
            PutRun(ConsolidationRun("run_a", own, "done", "1", 0, 1, {})),
            PutEdges(
                tuple(Edge(ends[0], "links", ends[1], key, 1.0, 0, "given", key) for key in (own, "public"))
            ),
            PutEdges((Edge(ends[0], "references", sample_concept_id("numbat"), own, 1.0, 0, "given", ""),)),
            PutEvents(events),
        )
        write_changes(store, bob, Forget((sample_id("own"),)), DropUser("bob"))
        with store.tenant_reader(ann.tenant) as reader:
            assert reader.scope.keys == ("public",)
            assert [(edge.key, edge.rule) for batch in reader.all_edges() for edge in batch] == [
                ("public",) * 2
            ]
            assert [event.actor for batch in reader.all_events() for event in batch] == ["", "ann"]
            assert [concept.key for concept in reader.concepts()] == ["public"]
            assert (reader.all_projects(), reader.runs(), reader.categories()) == ([], [], [])
        with pytest.raises(InputError, match="ann"):
            write_changes(store, bob, DropUser("ann"))
