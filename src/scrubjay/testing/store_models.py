"""Models: registering them, late vectors, what waits, and the cache of embedded texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.memory.ids import text_hash
from scrubjay.memory.records import Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Coverage, ModelState, Store
from scrubjay.store.changes import (
    Codes,
    DropModel,
    Forget,
    PutDocument,
    PutMemory,
    PutModel,
    PutSource,
    PutVectors,
)
from scrubjay.testing.store_answers import plain
from scrubjay.testing.store_samples import (
    OTHER,
    SMALL,
    document,
    embedded,
    memory,
    place,
    put_document,
    sample_id,
    source,
    vector,
    write,
)

MINE = "user:ann"
F = SMALL.fingerprint


def _late(name: str, text: str, windows: int = 1) -> PutVectors:
    return PutVectors(F, {sample_id(name): (text_hash(text), embedded(text, windows))})


class ModelsContract:
    """Models beside each other, and vectors that come after their memories."""

    def test_models_are_registered_changed_and_dropped(self, store: Store, ann: Scope, bob: Scope) -> None:
        """By name; one of the same fingerprint changes its state alone."""
        write(store, ann, PutModel(SMALL), PutModel(OTHER, "adding"))
        with store.reader(bob) as reader:
            assert reader.models() == [ModelState(OTHER, "adding"), ModelState(SMALL, "active")]
        write(store, ann, PutModel(OTHER), DropModel(F), DropModel("no such model"))
        with store.reader(bob) as reader:
            assert reader.models() == [ModelState(OTHER, "active")]

    def test_models_of_one_name_are_told_apart(self, store: Store, ann: Scope) -> None:
        """By anything that changes their vectors; in the order of their fingerprints."""
        revised = replace(SMALL, revision="2")
        write(store, ann, PutModel(SMALL), PutModel(revised))
        with store.reader(ann) as reader:
            found = [state.model for state in reader.models()]
        assert found == sorted((SMALL, revised), key=lambda model: model.fingerprint)

    def test_every_memory_waits_for_a_new_model(self, store: Store, ann: Scope) -> None:
        """Those there are and those that come, by their ids' hashes, until their vectors come."""
        names = [f"m{number}" for number in range(6)]
        write(store, ann, *(PutMemory(memory(name, MINE, name=name)) for name in names[:3]))
        write(store, ann, PutModel(SMALL))
        write(store, ann, *(PutMemory(memory(name, MINE, name=name, tier="lesson")) for name in names[3:]))
        order = sorted(names, key=lambda name: sample_id(name).partition("_")[2])
        with store.reader(ann) as reader:
            assert [waiting.record.content for waiting in reader.waiting(F, 99)] == order
            assert [waiting.record.content for waiting in reader.waiting(F, 2)] == order[:2]
            assert reader.coverage(F) == Coverage(0, 6)
            assert reader.coverage("not registered") == Coverage(0, 6)
            assert [waiting.record.content for waiting in reader.waiting("not registered", 4)] == order[:4]
        write(store, ann, _late("m1", "m1"), _late("m2", "m2", 3))
        with store.reader(ann) as reader:
            left = [name for name in order if name not in ("m1", "m2")]
            assert [waiting.record.content for waiting in reader.waiting(F, 99)] == left
            assert reader.coverage(F) == Coverage(2, 4)
            hits = reader.nearest(F, vector("m1"), Where()).top(9)
            assert {hit.id for hit in hits} == {sample_id("m1"), sample_id("m2")}
            assert hits[0].id == sample_id("m1")

    def test_windows_are_counted_without_reading_them(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Those of the scope, of one model; what was removed may still count."""
        own = {F: embedded("m", 3), OTHER.fingerprint: embedded("m", 1, 12)}
        write(store, ann, PutModel(SMALL), PutModel(OTHER))
        write(store, ann, PutMemory(memory("m", MINE, vectors=own)), PutMemory(memory("n", MINE)))
        write(store, bob, PutMemory(memory("b", "user:bob", name="b", vectors=own)))
        with store.reader(ann) as reader:
            assert (reader.windows(F), reader.windows(OTHER.fingerprint), reader.windows("none")) == (3, 1, 0)
        write(store, bob, Forget((sample_id("b"),)))
        with store.reader(bob) as reader:
            assert reader.windows(F) >= reader.coverage(F).covered

    def test_a_waiting_passage_brings_the_text_before_it(self, store: Store, ann: Scope) -> None:
        """Of the same document and section only."""
        write(store, ann, PutModel(SMALL), PutSource(source("notes", MINE)))
        sections = (("one", ("A",)), ("two", ("A",)), ("three", ("A", "B")), ("four", ("A", "B")))
        fresh = tuple(
            memory(text, MINE, name=text, heading_path=path, place=place("notes", "a.md", i))
            for i, (text, path) in enumerate(sections)
        )
        write(store, ann, PutDocument(document("notes", "a.md"), fresh), PutMemory(memory("alone", MINE)))
        write(store, ann, put_document("notes", "b.md", ["five"], MINE))
        with store.reader(ann) as reader:
            before = {waiting.record.content: waiting.before for waiting in reader.waiting(F, 99)}
        assert before == {"one": "", "two": "one", "three": "", "four": "three", "five": "", "alone": ""}

    def test_late_vectors_of_a_changed_or_gone_memory_are_passed_over(self, store: Store, ann: Scope) -> None:
        """They belong to a text that is no more; it goes on waiting."""
        write(store, ann, PutModel(SMALL), PutMemory(memory("old", MINE, name="m")))
        write(
            store, ann, PutMemory(memory("new", MINE, name="m")), PutMemory(memory("bye", MINE, name="bye"))
        )
        write(store, ann, Forget((sample_id("bye"),)))
        write(store, ann, _late("m", "old"), _late("bye", "bye"), _late("never", "was"))
        with store.reader(ann) as reader:
            assert reader.coverage(F) == Coverage(0, 1)
        write(store, ann, _late("m", "new"))
        with store.reader(ann) as reader:
            assert reader.coverage(F) == Coverage(1, 0)

    def test_vectors_that_are_there_already_stay(self, store: Store, ann: Scope) -> None:
        """Two processes may embed the same memory; the second comes too late."""
        write(store, ann, PutModel(SMALL), PutMemory(memory("m", MINE, name="m")))
        write(store, ann, _late("m", "m"))
        write(store, ann, PutVectors(F, {sample_id("m"): (text_hash("m"), embedded("else"))}))
        with store.reader(ann) as reader:
            hits = reader.nearest(F, vector("m"), Where()).top(9)
            assert [hit.id for hit in hits] == [sample_id("m")]
            assert hits[0].score > 0.98

    @pytest.mark.parametrize(
        "wrong",
        [
            embedded("x", 1, 9),
            embedded("x", 2, 7),
            Codes(np.zeros((0, 8), np.int8), np.zeros(0, np.float32)),
            Codes(np.zeros((2, 8), np.int8), np.zeros(1, np.float32)),
            Codes(np.zeros(8, np.int8), np.zeros(1, np.float32)),
        ],
        ids=["longer", "shorter", "no window", "scales differ", "no rows"],
    )
    def test_vectors_that_do_not_fit_are_refused(self, store: Store, ann: Scope, wrong: Codes) -> None:
        """At the memory, late and in the cache; nothing of the write is stored."""
        write(store, ann, PutModel(SMALL), PutMemory(memory("m", MINE, name="m")))
        for bad in (
            PutMemory(memory("x", MINE, vectors={F: wrong})),
            PutVectors(F, {sample_id("m"): (text_hash("m"), wrong)}),
            PutVectors(F, {sample_id("m"): (text_hash("m"), embedded("m"))}, {"text": wrong}),
        ):
            with pytest.raises(ModelMismatchError):
                write(store, ann, PutMemory(memory("goes too", MINE)), bad)
        with store.reader(ann) as reader:
            assert reader.coverage(F) == Coverage(0, 1)
            assert reader.cached(F, ["text"]) == {}

    def test_vectors_of_an_unknown_model_are_refused(self, store: Store, ann: Scope) -> None:
        """A model is registered first."""
        for bad in (PutMemory(memory("x", MINE, vectors={F: embedded("x")})), PutVectors(F, {}, {})):
            with pytest.raises(NotFoundError):
                write(store, ann, PutMemory(memory("goes too", MINE)), bad)
        with store.reader(ann) as reader:
            assert reader.counts().memories == 0

    def test_a_dropped_model_takes_its_vectors_along(self, store: Store, ann: Scope) -> None:
        """And its cache; registered again, everything waits for it. The others keep theirs."""
        both = {F: embedded("m"), OTHER.fingerprint: embedded("m", 1, 12)}
        write(store, ann, PutModel(SMALL), PutModel(OTHER))
        write(store, ann, PutMemory(memory("m", MINE, name="m", vectors=both)))
        write(store, ann, PutVectors(F, {}, {"text": embedded("t")}))
        with store.reader(ann) as reader:
            assert len(reader.nearest(F, vector("m"), Where()).top(9)) == 1
        write(store, ann, DropModel(F))
        with store.reader(ann) as reader:
            with pytest.raises(NotFoundError):
                reader.nearest(F, vector("m"), Where())
            assert len(reader.nearest(OTHER.fingerprint, vector("m", 12), Where()).top(9)) == 1
        write(store, ann, PutModel(SMALL))
        with store.reader(ann) as reader:
            assert reader.nearest(F, vector("m"), Where()).top(9) == []
            assert (reader.coverage(F), reader.cached(F, ["text"])) == (Coverage(0, 1), {})
            assert reader.coverage(OTHER.fingerprint) == Coverage(1, 0)

    def test_embedded_texts_are_cached(self, store: Store, ann: Scope) -> None:
        """By the hash of the text and the model, with every window."""
        write(store, ann, PutModel(SMALL), PutModel(OTHER))
        write(store, ann, PutVectors(F, {}, {"one": embedded("one", 3), "two": embedded("two")}))
        write(store, ann, PutVectors(F, {}, {"two": embedded("two again")}))
        with store.reader(ann) as reader:
            found = reader.cached(F, ["one", "two", "three"])
            assert {name: plain(kept) for name, kept in found.items()} == {
                "one": plain(embedded("one", 3)),
                "two": plain(embedded("two again")),
            }
            assert reader.cached(OTHER.fingerprint, ["one"]) == {}
            assert reader.cached("no such model", ["one"]) == {}

    def test_windows_of_memories_are_read_back(self, store: Store, ann: Scope, bob: Scope) -> None:
        """As they were written, of one model, of what is seen; those without are left out."""
        write(store, ann, PutModel(SMALL), PutModel(OTHER), PutMemory(memory("n", MINE, name="n")))
        both = {F: embedded("m", 3), OTHER.fingerprint: embedded("m", 1, 12)}
        write(store, ann, PutMemory(memory("m", MINE, name="m", status="archived", vectors=both)))
        write(store, ann, _late("n", "n", 2))
        write(store, bob, PutMemory(memory("b", "user:bob", name="b", vectors={F: embedded("b")})))
        ids = [sample_id(name) for name in ("m", "n", "b", "none")]
        with store.reader(ann) as reader:
            found = reader.vectors(F, [*ids, "no id", sample_id("m", "lesson")])
            wanted = {ids[0]: plain(embedded("m", 3)), ids[1]: plain(embedded("n", 2))}
            assert {one: plain(kept) for one, kept in found.items()} == wanted
            assert list(reader.vectors(OTHER.fingerprint, ids)) == ids[:1]
            assert reader.vectors(F, []) == {}
            with pytest.raises(NotFoundError):
                reader.vectors("no such model", ids)

    def test_what_is_alike_is_what_is_nearest(self, store: Store, ann: Scope, bob: Scope) -> None:
        """For each query its own answer: active memories above the floor, ties by id, no stranger's."""
        write(store, ann, PutModel(SMALL), PutMemory(memory("waits", MINE)))
        for i in range(30):
            vectors, status = {F: embedded(f"v{i % 5}", 1 + i % 2)}, "archived" if i % 7 == 0 else "active"
            write(store, ann, PutMemory(memory(f"m{i}", MINE, name=f"m{i}", vectors=vectors, status=status)))
        write(store, bob, PutMemory(memory("b", "user:bob", name="b", vectors={F: embedded("v1")})))
        rows = [vector(f"v{i}") for i in range(6)]
        queries = np.stack([*rows, rows[0], rows[0] * 0])
        with store.reader(ann) as reader:
            for limit, floor in ((99, -1.0), (99, 0.3), (4, 0.3), (1, 0.0), (0, 0.0), (9, 0.98), (9, 1.1)):
                found = reader.alike(F, queries, limit, floor)
                tops = [reader.nearest(F, query, Where()).top(limit) for query in queries]
                assert found == [[hit for hit in hits if hit.score >= floor] for hits in tops]
            assert len(found) == len(queries)
            edge = reader.nearest(F, rows[1], Where()).top(1)[0]
            assert reader.alike(F, queries[1:2], 1, edge.score) == [[edge]]
            assert reader.alike(F, queries[:0], 9, 0.0) == []
            for where in (Where(statuses=("archived",)), Where(tiers=("lesson",))):
                tops = [reader.nearest(F, query, where).top(4) for query in queries]
                assert reader.alike(F, queries, 4, -1.0, where) == tops

    def test_queries_that_do_not_fit_their_model_are_refused(self, store: Store, ann: Scope) -> None:
        """Also where there are none of them, or one without its row."""
        write(store, ann, PutModel(SMALL))
        with store.reader(ann) as reader:
            for wrong in (np.zeros((2, 9), np.float32), np.zeros((0, 7), np.float32), vector("x")):
                with pytest.raises(ModelMismatchError):
                    reader.alike(F, wrong, 9, 0.0)
            with pytest.raises(NotFoundError):
                reader.alike("no such model", np.zeros((1, 8), np.float32), 9, 0.0)
