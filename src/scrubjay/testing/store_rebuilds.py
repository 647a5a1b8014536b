"""Rebuilds: the next generation is filled beside the one that answers."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.ids import tombstone_hash
from scrubjay.memory.records import Versions
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Coverage, Rebuild, Store
from scrubjay.store.changes import (
    Change,
    DropSource,
    Forget,
    PutDocument,
    PutMemory,
    PutModel,
    PutSource,
    PutVectors,
    PutVersions,
)
from scrubjay.testing.store_answers import EVERY, Question, everything, plain
from scrubjay.testing.store_samples import (
    SMALL,
    VERSIONS,
    embedded,
    group,
    memory,
    put_document,
    sample_id,
    source,
    vector,
    write,
)
from scrubjay.text.tokens import Terms, terms

MINE = "user:ann"
NEXT = Versions("chunker 2", "tokenizer 2", "scrubber 1", "extractor 1", "labeller 1")
QUESTIONS = (
    Question((group("jay"), group("old"), group("new")), vector("jay"), SMALL.fingerprint, EVERY, 50),
)


def _fill(store: Store, ann: Scope, bob: Scope) -> None:
    vectors = {SMALL.fingerprint: embedded("v", 2)}
    write(store, ann, PutModel(SMALL), PutVersions(VERSIONS), PutSource(source("notes", MINE)))
    write(store, ann, put_document("notes", "b.md", ["jay two"], MINE))
    write(store, ann, put_document("notes", "a.md", ["jay old", "jay one"], MINE, vectors=vectors))
    added = memory("jay added", MINE, name="added", pinned=True, language="de", vectors=vectors)
    write(store, ann, PutMemory(added))
    write(
        store,
        bob,
        PutSource(source("bobs", "user:bob")),
        put_document("bobs", "c.md", ["jay of bob"], "user:bob"),
    )


def _copy(rebuild: Rebuild) -> None:
    """Carry everything over, counted anew."""
    for document in rebuild.documents():
        passages = [replace(kept, terms=terms(kept.record.content)) for kept in rebuild.passages(document)]
        rebuild.write([PutDocument(document, tuple(passages))])
    additions = rebuild.additions()
    rebuild.write([PutMemory(replace(kept, terms=terms(kept.record.content))) for kept in additions])


def _fail(store: Store, ann: Scope, error: BaseException) -> None:
    with store.rebuild(ann) as rebuild:
        rebuild.write([put_document("notes", "a.md", ["jay new"], MINE), PutVersions(NEXT)])
        raise error


class RebuildsContract:
    """A flip to the next generation, or none."""

    def test_a_vacuum_changes_no_answer_and_what_is_written_afterwards_is_found(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        _fill(store, ann, bob)
        write(store, ann, Forget((sample_id("a.md:jay one"),)), DropSource("notes"))
        before = [everything(store, one, QUESTIONS, ("jay", "old")) for one in (ann, bob)]
        store.vacuum()
        store.vacuum()
        assert [everything(store, one, QUESTIONS, ("jay", "old")) for one in (ann, bob)] == before
        write(store, ann, PutMemory(memory("jay old again", MINE, name="again")))
        with store.reader(ann) as reader:
            assert reader.frequencies([group("old")]) == [1]

    def test_a_rebuild_reads_the_current_generation(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Of the whole tenant, whoever asks; records, vectors and languages as stored, terms left empty."""
        _fill(store, ann, bob)
        with store.rebuild(ann) as rebuild:
            found = rebuild.documents()
            assert [(one.source, one.path) for one in found] == [
                ("bobs", "c.md"), ("notes", "a.md"), ("notes", "b.md"),
            ]  # fmt: skip
            passages = rebuild.passages(found[1])
            assert [kept.record.content for kept in passages] == ["jay old", "jay one"]
            assert passages[0].terms == Terms({}, 0)
            assert plain(passages[0].vectors[SMALL.fingerprint]) == plain(embedded("v", 2))
            assert dict(rebuild.passages(found[2])[0].vectors) == {}
            (added,) = rebuild.additions()
            assert added.record == memory("jay added", MINE, name="added", pinned=True).record
            assert (added.language, added.terms) == ("de", Terms({}, 0))
            assert plain(added.vectors[SMALL.fingerprint]) == plain(embedded("v", 2))

    def test_a_copy_answers_as_before(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Twice in a row, for every user."""
        _fill(store, ann, bob)
        before = [everything(store, who, QUESTIONS, ("jya",)) for who in (ann, bob)]
        for _ in range(2):
            with store.rebuild(ann) as rebuild:
                _copy(rebuild)
            assert [everything(store, who, QUESTIONS, ("jya",)) for who in (ann, bob)] == before

    def test_the_current_generation_answers_until_the_flip(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Nothing of the next one is seen, not even its versions; afterwards nothing of the last one."""
        _fill(store, ann, bob)
        before = everything(store, ann, QUESTIONS, ("jya",))
        with store.rebuild(ann) as rebuild:
            rebuild.write([put_document("notes", "a.md", ["jay new"], MINE), PutVersions(NEXT)])
            assert everything(store, ann, QUESTIONS, ("jya",)) == before
        with store.reader(ann) as reader:
            assert reader.versions() == NEXT
            assert reader.frequencies([group("new"), group("old")]) == [1, 0]
            assert (reader.counts().memories, reader.counts().documents, reader.counts().sources) == (1, 1, 1)
            assert [state.model for state in reader.models()] == [SMALL]
            assert reader.coverage(SMALL.fingerprint) == Coverage(0, 1)
            assert "old" not in [term for term, _ in reader.similar_terms("oldd")]

    def test_an_error_inside_leaves_the_current_generation(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """It is the caller's error, nothing flips, and the next rebuild begins with nothing."""
        _fill(store, ann, bob)
        before = [everything(store, who, QUESTIONS, ("jya",)) for who in (ann, bob)]
        for error in (KeyError("mine"), FileNotFoundError("mine"), KeyboardInterrupt()):
            with pytest.raises(type(error)):
                _fail(store, ann, error)
            assert [everything(store, who, QUESTIONS, ("jya",)) for who in (ann, bob)] == before
        with store.rebuild(ann) as rebuild:
            rebuild.write([PutMemory(memory("alone", MINE))])
        with store.reader(ann) as reader:
            assert (reader.counts().memories, reader.versions()) == (1, VERSIONS)

    def test_writes_during_a_rebuild_are_not_lost(self, store: Store, ann: Scope, bob: Scope) -> None:
        """They wait for its end, or are carried over."""
        _fill(store, ann, bob)
        late_memory = PutMemory(memory("jay late", "user:bob", name="late"))
        late = threading.Thread(target=write, args=(store, bob, late_memory))
        with store.rebuild(ann) as rebuild:
            late.start()
            _copy(rebuild)
        late.join()
        with store.reader(bob) as reader:
            assert sample_id("late") in reader.get([sample_id("late")])
            assert reader.counts().memories == 2

    def test_tombstones_and_the_cache_outlive_a_rebuild(self, store: Store, ann: Scope, bob: Scope) -> None:
        """What was forgotten stays forgotten."""
        _fill(store, ann, bob)
        write(store, ann, Forget((sample_id("a.md:jay old"),)))
        write(store, ann, PutVectors(SMALL.fingerprint, {}, {"text": embedded("t")}))
        with store.rebuild(ann) as rebuild:
            _copy(rebuild)
        mark = tombstone_hash(store.secret(ann), "jay old", "user:ann")
        with store.reader(ann) as reader:
            assert reader.forgotten([mark]) == {mark}
            assert list(reader.cached(SMALL.fingerprint, ["text"])) == ["text"]
            assert reader.frequencies([group("old")]) == [0]

    def test_a_rebuild_writes_memories_and_versions_only(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Sources, models and tombstones belong to no generation."""
        _fill(store, ann, bob)
        before = everything(store, ann, QUESTIONS, ("jya",))
        changes: tuple[Change, ...] = (
            PutSource(source("more", MINE)),
            DropSource("notes"),
            PutModel(SMALL, "adding"),
            Forget((sample_id("added"),)),
        )
        for change in changes:
            with pytest.raises(InputError), store.rebuild(ann) as rebuild:
                rebuild.write([PutMemory(memory("alone", MINE)), change])
        assert everything(store, ann, QUESTIONS, ("jya",)) == before

    def test_other_tenants_are_not_rebuilt(self, store: Store, ann: Scope, bob: Scope, eve: Scope) -> None:
        """Their memories stay."""
        _fill(store, ann, bob)
        write(store, eve, PutMemory(memory("jay of eve", MINE)))
        with store.rebuild(ann) as rebuild:
            rebuild.write([])
        with store.reader(eve) as reader:
            assert reader.counts().memories == 1
        with store.reader(ann) as reader:
            assert reader.counts().memories == 0
