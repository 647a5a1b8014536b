"""Wholes: what the contract asks of a view of all that a tenant has, and of what only a copy writes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scrubjay.errors import InputError, StoreError
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.ids import tombstone_hash
from scrubjay.memory.scope import Everyone, Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    DropConcept,
    Forget,
    PutConcept,
    PutEdges,
    PutEvents,
    PutMemory,
    PutModel,
    PutProject,
    PutSource,
    PutTombstones,
    PutVectors,
)
from scrubjay.testing.store_samples import (
    SMALL,
    con,
    concept,
    embedded,
    memory,
    put_document,
    source,
    write,
)
from scrubjay.text.tokens import Terms


class WholesContract:
    """Tests of `Store.whole` and `Store.tenants`."""

    def test_the_view_of_everyone_shows_what_no_single_caller_sees(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Two users' memories whole: terms to 255, language, windows bit by bit, and what each calls a place."""
        mine = memory("a jay", "user:ann", counted=Terms({"jay": 300}, 2), language="de")
        his = memory("an oak", "user:bob", vectors={SMALL.fingerprint: embedded("oak", 2)})
        write(store, ann, PutModel(SMALL), PutMemory(mine), PutSource(source("notes", "group:dev")))
        write(store, ann, put_document("notes", "a.md", ["one", "two"], "group:dev"))
        write(store, bob, PutMemory(his), PutProject("place", "woods", "user:bob"))
        with store.whole(ann.tenant) as whole:
            assert whole.scope.keys == ("group:dev", "user:ann", "user:bob")
            assert whole.secret == store.secret(ann)
            asked = (mine.record.id, his.record.id, "obs_0000000000000000", "nothing")
            assert whole.keys_of(asked) == {mine.record.id: "user:ann", his.record.id: "user:bob"}
            held = {one.record.id: one for piece in whole.memories() for one in piece}
            assert whole.counts().memories == len(held) == 4
            assert held[mine.record.id] == replace(mine, terms=Terms({"jay": 255}, 2))
            codes = held[his.record.id].vectors[SMALL.fingerprint]
            assert np.array_equal(codes.data, embedded("oak", 2).data)
            assert np.array_equal(codes.scales, embedded("oak", 2).scales)
            assert whole.places() == [PutProject("place", "woods", "user:bob")]

    def test_the_view_of_everyone_has_each_row_of_an_edge_and_those_to_forgotten_names(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """What two keys say of one end is two rows; nobody knowing the concept hides none."""
        shared = memory("a jay", "public").record.id
        write(store, ann, PutMemory(memory("a jay", "public")), PutConcept(concept("jay", "public")))
        edges = [Edge(shared, "references", con("jay"), key) for key in ("user:ann", "user:bob")]
        write(store, ann, PutEdges((edges[0],)))
        write(store, bob, PutEdges((replace(edges[1], weight=0.3),)), DropConcept(con("jay"), "public"))
        with store.whole(ann.tenant) as whole:
            assert whole.concepts() == []
            held = [edge for piece in whole.connections() for edge in piece]
            assert sorted(held, key=lambda edge: edge.key) == [edges[0], replace(edges[1], weight=0.3)]

    def test_the_view_of_everyone_has_histories_in_order_and_what_was_forgotten(
        self, store: Store, ann: Scope
    ) -> None:
        """In the order of writing, not of time."""
        kept, gone = memory("a jay", "user:ann"), memory("an oak", "user:ann")
        write(store, ann, PutMemory(kept), PutMemory(gone))
        told = [
            Event(kept.record.id, "used", 9, "user:ann"),
            Event(kept.record.id, "useful", 3, "user:ann", other=gone.record.id),
        ]
        write(store, ann, PutEvents(tuple(told)), Forget((gone.record.id,)))
        with store.whole(ann.tenant) as whole:
            assert [e for piece in whole.past() for e in piece] == [told[0], replace(told[1], other=None)]
            mark = tombstone_hash(store.secret(ann), "an oak", "user:ann")
            assert [one for piece in whole.tombstones() for one in piece] == [mark]

    def test_the_view_of_everyone_has_the_cached_texts(self, store: Store, ann: Scope) -> None:
        """In the order they came."""
        texts = {digest * 64: embedded(digest) for digest in "ab"}
        write(store, ann, PutModel(SMALL), PutVectors(SMALL.fingerprint, {}, texts))
        with store.whole(ann.tenant) as whole:
            held = [(name, text) for name, piece in whole.texts() for text in piece]
        assert held == [(SMALL.fingerprint, text) for text in texts]

    def test_a_view_of_a_tenant_that_is_not_there_makes_none(self, store: Store, ann: Scope) -> None:
        """Looking leaves no tenant behind."""
        with store.whole(ann.tenant) as whole:
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
        write(store, ann, PutMemory(memory("a jay", "user:ann")))
        with store.whole(ann.tenant) as whole:
            write(store, ann, PutMemory(memory("an oak", "user:ann")))
            assert [one.record.content for piece in whole.memories() for one in piece] == ["a jay"]

    def test_tombstones_of_another_store_hold_here(self, store: Store, ann: Scope) -> None:
        """Twice is once."""
        mark = tombstone_hash(store.secret(ann), "an oak", "user:ann")
        write(store, ann, PutTombstones((mark,)), PutTombstones((mark,)))
        with store.reader(ann) as reader:
            assert reader.forgotten([mark, "0" * 64]) == {mark}

    def test_events_of_the_past_keep_a_key_that_their_memory_no_longer_has(
        self, store: Store, ann: Scope
    ) -> None:
        """Told now, such an event is passed over; told as past it stays, under a key of the writer's."""
        shared = memory("a jay", "group:dev")
        told = Event(shared.record.id, "used", 1, "user:ann")
        write(store, ann, PutMemory(shared), PutEvents((told,)))
        with store.reader(ann) as reader:
            assert reader.events() == []
        write(store, ann, PutEvents((told,), past=True))
        with store.reader(ann) as reader:
            assert reader.events() == [told]
        with pytest.raises(InputError, match="user:bob"):
            write(store, ann, PutEvents((replace(told, key="user:bob"),), past=True))

    def test_everyone_writes_under_every_key(self, store: Store, ann: Scope) -> None:
        """Who sees all keys writes for all."""
        everyone = Everyone(ann.tenant, "", (), ("user:ann", "user:bob"))
        write(
            store,
            everyone,
            PutMemory(memory("a jay", "user:ann")),
            PutMemory(memory("an oak", "user:bob")),
        )
        with store.reader(Scope(ann.tenant, "bob")) as reader:
            assert reader.counts().memories == 1
