"""Generations and copies: a rebuild beside the generation that answers, and the view of a whole tenant."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from scrubjay.errors import InputError, StoreError
from scrubjay.models.graph import Edge
from scrubjay.models.ids import forgotten_prefix, tombstone_hash
from scrubjay.models.lifecycle import Event
from scrubjay.models.records import Scope, StageVersions, UnrestrictedScope
from scrubjay.storage.changes import (
    Change,
    DropConcept,
    DropSource,
    Forget,
    PutConcept,
    PutDocument,
    PutEdges,
    PutEvents,
    PutMemory,
    PutModel,
    PutProject,
    PutSource,
    PutTombstones,
    PutVectors,
    PutVersions,
)
from scrubjay.storage.interface import Coverage, Rebuild, Store
from scrubjay.text.tokenizer import Terms, index_terms
from store_contract.answers import EVERY_STATUS, SampleQuestion, all_answers, plain_vectors
from store_contract.samples import (
    ANN_KEY,
    SMALL_MODEL,
    VERSIONS,
    put_sample_document,
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

NEXT_VERSIONS = StageVersions("chunker 2", "tokenizer 2", "scrubber 1", "extractor 1", "labeller 1")
QUESTIONS = (
    SampleQuestion(
        (term_group("jay"), term_group("old"), term_group("new")),
        sample_vector("jay"),
        SMALL_MODEL.fingerprint,
        EVERY_STATUS,
        50,
    ),
)


def _put_generation(store: Store, ann: Scope, bob: Scope) -> None:
    vectors = {SMALL_MODEL.fingerprint: sample_windows("v", 2)}
    write_changes(
        store, ann, PutModel(SMALL_MODEL), PutVersions(VERSIONS), PutSource(sample_source("notes", ANN_KEY))
    )
    write_changes(store, ann, put_sample_document("notes", "b.md", ["jay two"], ANN_KEY))
    write_changes(
        store, ann, put_sample_document("notes", "a.md", ["jay old", "jay one"], ANN_KEY, vectors=vectors)
    )
    added = sample_memory("jay added", ANN_KEY, name="added", pinned=True, language="de", vectors=vectors)
    write_changes(store, ann, PutMemory(added))
    write_changes(
        store,
        bob,
        PutSource(sample_source("bobs", "user:bob")),
        put_sample_document("bobs", "c.md", ["jay of bob"], "user:bob"),
    )


def _copy_generation(rebuild: Rebuild) -> None:
    """Carry everything over, counted anew."""
    for document in rebuild.documents():
        passages = [
            replace(kept, terms=index_terms(kept.record.content)) for kept in rebuild.passages(document)
        ]
        rebuild.write([PutDocument(document, tuple(passages))])
    additions = rebuild.additions()
    rebuild.write([PutMemory(replace(kept, terms=index_terms(kept.record.content))) for kept in additions])


def _fail_rebuild(store: Store, ann: Scope, error: BaseException) -> None:
    with store.rebuild(ann) as rebuild:
        rebuild.write(
            [put_sample_document("notes", "a.md", ["jay new"], ANN_KEY), PutVersions(NEXT_VERSIONS)]
        )
        raise error


class RebuildsContract:
    """A flip to the next generation, or none."""

    def test_a_vacuum_changes_no_answer_and_what_is_written_afterwards_is_found(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        _put_generation(store, ann, bob)
        write_changes(store, ann, Forget((sample_id("a.md:jay one"),)), DropSource("notes"))
        before = [all_answers(store, one, QUESTIONS, ("jay", "old")) for one in (ann, bob)]
        store.vacuum()
        store.vacuum()
        assert [all_answers(store, one, QUESTIONS, ("jay", "old")) for one in (ann, bob)] == before
        write_changes(store, ann, PutMemory(sample_memory("jay old again", ANN_KEY, name="again")))
        with store.reader(ann) as reader:
            assert reader.frequencies([term_group("old")]) == [1]

    def test_a_rebuild_reads_the_current_generation(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Of the whole tenant, whoever asks; records, vectors and languages as stored, terms left empty."""
        _put_generation(store, ann, bob)
        with store.rebuild(ann) as rebuild:
            found = rebuild.documents()
            assert [(one.source, one.path) for one in found] == [
                ("bobs", "c.md"), ("notes", "a.md"), ("notes", "b.md"),
            ]  # fmt: skip
            passages = rebuild.passages(found[1])
            assert [kept.record.content for kept in passages] == ["jay old", "jay one"]
            assert passages[0].terms == Terms({}, 0)
            assert plain_vectors(passages[0].vectors[SMALL_MODEL.fingerprint]) == plain_vectors(
                sample_windows("v", 2)
            )
            assert dict(rebuild.passages(found[2])[0].vectors) == {}
            (added,) = rebuild.additions()
            assert added.record == sample_memory("jay added", ANN_KEY, name="added", pinned=True).record
            assert (added.language, added.terms) == ("de", Terms({}, 0))
            assert plain_vectors(added.vectors[SMALL_MODEL.fingerprint]) == plain_vectors(
                sample_windows("v", 2)
            )

    def test_a_copy_answers_as_before(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Twice in a row, for every user."""
        _put_generation(store, ann, bob)
        before = [all_answers(store, who, QUESTIONS, ("jya",)) for who in (ann, bob)]
        for _ in range(2):
            with store.rebuild(ann) as rebuild:
                _copy_generation(rebuild)
            assert [all_answers(store, who, QUESTIONS, ("jya",)) for who in (ann, bob)] == before

    def test_the_current_generation_answers_until_the_flip(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Nothing of the next one is seen, not even its versions; afterwards nothing of the last one."""
        _put_generation(store, ann, bob)
        before = all_answers(store, ann, QUESTIONS, ("jya",))
        with store.rebuild(ann) as rebuild:
            rebuild.write(
                [put_sample_document("notes", "a.md", ["jay new"], ANN_KEY), PutVersions(NEXT_VERSIONS)]
            )
            assert all_answers(store, ann, QUESTIONS, ("jya",)) == before
        with store.reader(ann) as reader:
            assert reader.versions() == NEXT_VERSIONS
            assert reader.frequencies([term_group("new"), term_group("old")]) == [1, 0]
            assert (reader.counts().memories, reader.counts().documents, reader.counts().sources) == (1, 1, 1)
            assert [state.model for state in reader.models()] == [SMALL_MODEL]
            assert reader.coverage(SMALL_MODEL.fingerprint) == Coverage(0, 1)
            assert "old" not in [term for term, _ in reader.similar_terms("oldd")]

    def test_an_error_inside_leaves_the_current_generation(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """It is the caller's error, nothing flips, and the next rebuild begins with nothing."""
        _put_generation(store, ann, bob)
        before = [all_answers(store, who, QUESTIONS, ("jya",)) for who in (ann, bob)]
        for error in (KeyError("mine"), FileNotFoundError("mine"), KeyboardInterrupt()):
            with pytest.raises(type(error)):
                _fail_rebuild(store, ann, error)
            assert [all_answers(store, who, QUESTIONS, ("jya",)) for who in (ann, bob)] == before
        with store.rebuild(ann) as rebuild:
            rebuild.write([PutMemory(sample_memory("alone", ANN_KEY))])
        with store.reader(ann) as reader:
            assert (reader.counts().memories, reader.versions()) == (1, VERSIONS)

    def test_writes_during_a_rebuild_are_not_lost(self, store: Store, ann: Scope, bob: Scope) -> None:
        """They wait for its end, or are carried over."""
        _put_generation(store, ann, bob)
        late_memory = PutMemory(sample_memory("jay late", "user:bob", name="late"))
        late = threading.Thread(target=write_changes, args=(store, bob, late_memory))
        with store.rebuild(ann) as rebuild:
            late.start()
            _copy_generation(rebuild)
        late.join()
        with store.reader(bob) as reader:
            assert sample_id("late") in reader.get([sample_id("late")])
            assert reader.counts().memories == 2

    def test_tombstones_and_the_cache_outlive_a_rebuild(self, store: Store, ann: Scope, bob: Scope) -> None:
        """What was forgotten stays forgotten."""
        _put_generation(store, ann, bob)
        write_changes(store, ann, Forget((sample_id("a.md:jay old"),)))
        write_changes(store, ann, PutVectors(SMALL_MODEL.fingerprint, {}, {"text": sample_windows("t")}))
        with store.rebuild(ann) as rebuild:
            _copy_generation(rebuild)
        mark = tombstone_hash(store.secret(ann), "jay old", "user:ann")
        with store.reader(ann) as reader:
            assert reader.forgotten_hashes([mark]) == {mark}
            assert list(reader.cached_texts(SMALL_MODEL.fingerprint, ["text"])) == ["text"]
            assert reader.frequencies([term_group("old")]) == [0]

    def test_a_rebuild_writes_memories_and_versions_only(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Sources, models and tombstones belong to no generation."""
        _put_generation(store, ann, bob)
        before = all_answers(store, ann, QUESTIONS, ("jya",))
        changes: tuple[Change, ...] = (
            PutSource(sample_source("more", ANN_KEY)),
            DropSource("notes"),
            PutModel(SMALL_MODEL, "adding"),
            Forget((sample_id("added"),)),
        )
        for change in changes:
            with pytest.raises(InputError), store.rebuild(ann) as rebuild:
                rebuild.write([PutMemory(sample_memory("alone", ANN_KEY)), change])
        assert all_answers(store, ann, QUESTIONS, ("jya",)) == before

    def test_other_tenants_are_not_rebuilt(self, store: Store, ann: Scope, bob: Scope, eve: Scope) -> None:
        """Their memories stay."""
        _put_generation(store, ann, bob)
        write_changes(store, eve, PutMemory(sample_memory("jay of eve", ANN_KEY)))
        with store.rebuild(ann) as rebuild:
            rebuild.write([])
        with store.reader(eve) as reader:
            assert reader.counts().memories == 1
        with store.reader(ann) as reader:
            assert reader.counts().memories == 0


class TenantReaderContract:
    """Tests of `Store.tenant_reader` and `Store.tenants`."""

    def test_the_view_of_everyone_shows_what_no_single_caller_sees(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Two users' memories whole: terms to 255, language, windows bit by bit, and what each calls a place."""
        mine = sample_memory("a jay", "user:ann", counted=Terms({"jay": 300}, 2), language="de")
        his = sample_memory("an oak", "user:bob", vectors={SMALL_MODEL.fingerprint: sample_windows("oak", 2)})
        write_changes(
            store, ann, PutModel(SMALL_MODEL), PutMemory(mine), PutSource(sample_source("notes", "group:dev"))
        )
        write_changes(store, ann, put_sample_document("notes", "a.md", ["one", "two"], "group:dev"))
        write_changes(store, bob, PutMemory(his), PutProject("place", "woods", "user:bob"))
        with store.tenant_reader(ann.tenant) as whole:
            assert whole.scope.keys == ("group:dev", "user:ann", "user:bob")
            assert whole.secret == store.secret(ann)
            asked = (mine.record.id, his.record.id, "obs_0000000000000000", "nothing")
            assert whole.keys_of(asked) == {mine.record.id: "user:ann", his.record.id: "user:bob"}
            held = {one.record.id: one for piece in whole.memories() for one in piece}
            assert whole.counts().memories == len(held) == 4
            assert held[mine.record.id] == replace(mine, terms=Terms({"jay": 255}, 2))
            codes = held[his.record.id].vectors[SMALL_MODEL.fingerprint]
            assert np.array_equal(codes.data, sample_windows("oak", 2).data)
            assert np.array_equal(codes.scales, sample_windows("oak", 2).scales)
            assert whole.all_projects() == [PutProject("place", "woods", "user:bob")]

    def test_the_view_of_everyone_has_each_row_of_an_edge_and_those_to_forgotten_names(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """What two keys say of one end is two rows; nobody knowing the concept hides none."""
        shared = sample_memory("a jay", "public").record.id
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("a jay", "public")),
            PutConcept(sample_concept("jay", "public")),
        )
        edges = [
            Edge(shared, "references", sample_concept_id("jay"), key) for key in ("user:ann", "user:bob")
        ]
        write_changes(store, ann, PutEdges((edges[0],)))
        write_changes(
            store,
            bob,
            PutEdges((replace(edges[1], weight=0.3),)),
            DropConcept(sample_concept_id("jay"), "public"),
        )
        with store.tenant_reader(ann.tenant) as whole:
            assert whole.concepts() == []
            held = [edge for piece in whole.all_edges() for edge in piece]
            assert sorted(held, key=lambda edge: edge.key) == [edges[0], replace(edges[1], weight=0.3)]

    def test_the_view_of_everyone_has_histories_in_order_and_what_was_forgotten(
        self, store: Store, ann: Scope
    ) -> None:
        """In the order of writing, not of time."""
        kept, gone = sample_memory("a jay", "user:ann"), sample_memory("an oak", "user:ann")
        write_changes(store, ann, PutMemory(kept), PutMemory(gone))
        told = [
            Event(kept.record.id, "used", 9, "user:ann"),
            Event(kept.record.id, "useful", 3, "user:ann", other=gone.record.id),
        ]
        write_changes(store, ann, PutEvents(tuple(told)), Forget((gone.record.id,)))
        with store.tenant_reader(ann.tenant) as whole:
            assert [e for piece in whole.all_events() for e in piece] == [
                told[0],
                replace(told[1], other=None),
            ]
            mark = tombstone_hash(store.secret(ann), "an oak", "user:ann")
            assert [one for piece in whole.tombstones() for one in piece] == [mark]

    def test_the_view_of_everyone_has_the_cached_texts(self, store: Store, ann: Scope) -> None:
        """In the order they came."""
        texts = {digest * 64: sample_windows(digest) for digest in "ab"}
        write_changes(store, ann, PutModel(SMALL_MODEL), PutVectors(SMALL_MODEL.fingerprint, {}, texts))
        with store.tenant_reader(ann.tenant) as whole:
            held = [(name, text) for name, piece in whole.all_cached_texts() for text in piece]
        assert held == [(SMALL_MODEL.fingerprint, text) for text in texts]

    def test_a_view_of_a_tenant_that_is_not_there_makes_none(self, store: Store, ann: Scope) -> None:
        """Looking leaves no tenant behind."""
        with store.tenant_reader(ann.tenant) as whole:
            assert (whole.secret, whole.scope.keys, list(whole.memories())) == (None, (), [])
        try:
            before = store.tenants()
        except StoreError as refused:  # a store may hide who is in it from whoever runs on it
            if "may not see" not in str(refused):
                raise
            return
        assert ann.tenant not in before
        store.secret(ann)
        assert sorted([*before, ann.tenant]) == store.tenants()

    def test_a_view_stays_as_it_was_while_others_write(self, store: Store, ann: Scope) -> None:
        """One snapshot."""
        write_changes(store, ann, PutMemory(sample_memory("a jay", "user:ann")))
        with store.tenant_reader(ann.tenant) as whole:
            write_changes(store, ann, PutMemory(sample_memory("an oak", "user:ann")))
            assert [one.record.content for piece in whole.memories() for one in piece] == ["a jay"]

    def test_tombstones_of_another_store_hold_here(self, store: Store, ann: Scope) -> None:
        """Twice is once."""
        mark = tombstone_hash(store.secret(ann), "an oak", "user:ann")
        write_changes(store, ann, PutTombstones((mark,)), PutTombstones((mark,)))
        with store.reader(ann) as reader:
            assert reader.forgotten_hashes([mark, "0" * 64]) == {mark}

    def test_names_of_forgotten_memories_are_listed_by_their_prefixes(self, store: Store, ann: Scope) -> None:
        mine, shared, other = (
            forgotten_prefix(store.secret(ann), key) for key in ("user:ann", "public", "user:bob")
        )
        names = (f"{mine}obs_1", f"{mine}store/obs_2", f"{shared}obs_3", f"{other}obs_4")
        write_changes(store, ann, PutTombstones(("0" * 64, *names)))
        with store.reader(ann) as reader:
            assert reader.forgotten_names([mine, shared]) == {"obs_1", "store/obs_2", "obs_3"}
            assert reader.forgotten_names([]) == set()

    def test_events_of_the_past_keep_a_key_that_their_memory_no_longer_has(
        self, store: Store, ann: Scope
    ) -> None:
        """Told now, such an event is passed over; told as past it stays, under a key of the writer's."""
        shared = sample_memory("a jay", "group:dev")
        told = Event(shared.record.id, "used", 1, "user:ann")
        write_changes(store, ann, PutMemory(shared), PutEvents((told,)))
        with store.reader(ann) as reader:
            assert reader.events() == []
        write_changes(store, ann, PutEvents((told,), imported=True))
        with store.reader(ann) as reader:
            assert reader.events() == [told]
        with pytest.raises(InputError, match="user:bob"):
            write_changes(store, ann, PutEvents((replace(told, key="user:bob"),), imported=True))

    def test_everyone_writes_under_every_key(self, store: Store, ann: Scope) -> None:
        """Who sees all keys writes for all."""
        everyone = UnrestrictedScope(ann.tenant, "", (), ("user:ann", "user:bob"))
        write_changes(
            store,
            everyone,
            PutMemory(sample_memory("a jay", "user:ann")),
            PutMemory(sample_memory("an oak", "user:bob")),
        )
        with store.reader(Scope(ann.tenant, "bob")) as reader:
            assert reader.counts().memories == 1
