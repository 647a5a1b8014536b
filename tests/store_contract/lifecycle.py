"""Lifecycle: status changes, events, readings and runs."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import Any

import pytest

from scrubjay.errors import InputError, StoreBusyError
from scrubjay.models.graph import Edge
from scrubjay.models.ids import text_hash, tombstone_hash
from scrubjay.models.lifecycle import (
    EVENT_OPS,
    RUN_STATES,
    CachedExtraction,
    ConsolidationRun,
    Event,
    LifecycleChange,
    changed_fields,
)
from scrubjay.models.records import (
    DUE_FACTS,
    DUE_LINKS,
    NEVER_INJECT,
    EventTime,
    Record,
    RecordFilter,
    Scope,
    due_mark,
)
from scrubjay.storage.changes import (
    Change,
    DropDocument,
    DropMemory,
    DropSource,
    DropUser,
    Forget,
    PutDocument,
    PutDue,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutLifecycle,
    PutMemory,
    PutModel,
    PutRun,
    PutSource,
    UnchangedPassage,
)
from scrubjay.storage.interface import DueMemory, Store
from store_contract.answers import EVERY_STATUS
from store_contract.samples import (
    ANN_KEY,
    FINGERPRINT,
    SMALL_MODEL,
    A,
    B,
    C,
    D,
    put_sample_document,
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

FULL_LIFECYCLE = LifecycleChange("archived", True, 0.25, 1 / 3, -5, 9, 7, tags=("jays", "owls"))

INVALID_LIFECYCLES: tuple[tuple[str, LifecycleChange], ...] = (
    ("an unknown status", LifecycleChange(status="forgotten")),
    ("an unknown origin", LifecycleChange(origin="nobody")),
    ("a strength above one", LifecycleChange(strength=1.01)),
    ("a strength below nought", LifecycleChange(strength=-0.01)),
    ("a strength that is no number", LifecycleChange(strength=math.nan)),
    ("a confidence above one", LifecycleChange(confidence=2)),
    ("a confidence that is no number", LifecycleChange(confidence=math.nan)),
    ("a project that holds half a character", LifecycleChange(project="\ud800")),
    ("a tag that holds half a character", LifecycleChange(tags=("\ud800",))),
    ("an end before the beginning", LifecycleChange(valid_from=5, valid_until=4)),
    ("an end before the beginning that it has", LifecycleChange(valid_until=99)),
    ("a beginning after the end that it has", LifecycleChange(valid_from=201)),
)


def _put_memories(store: Store, scope: Scope, names: str, key: str = ANN_KEY, **fields: Any) -> None:
    write_changes(
        store, scope, *(PutMemory(sample_memory(f"jay {name}", key, name=name, **fields)) for name in names)
    )


def _read_record(store: Store, scope: Scope, memory_id: str) -> Record:
    with store.reader(scope) as reader:
        return reader.get([memory_id])[memory_id]


class LifecycleContract:
    """What time and use make of memories."""

    def test_a_life_changes_what_it_says_and_nothing_else(self, store: Store, ann: Scope) -> None:
        """Each attribute alone, then all; ``updated_at``, text and place stay."""
        _put_memories(store, ann, "a", recorded_at=3, updated_at=4)
        record = _read_record(store, ann, A)
        one_by_one = (
            LifecycleChange(status="superseded"), LifecycleChange(pinned=True), LifecycleChange(strength=0.5),
            LifecycleChange(confidence=0.1),
            LifecycleChange(valid_from=7), LifecycleChange(valid_until=8), LifecycleChange(last_used=9),
            LifecycleChange(project="owls"),
            LifecycleChange(project=None), LifecycleChange(origin="untrusted"), LifecycleChange(), FULL_LIFECYCLE,
        )  # fmt: skip
        for life in one_by_one:
            write_changes(store, ann, PutLifecycle({A: life}))
            record = replace(record, **changed_fields(life))
            assert _read_record(store, ann, A) == record
        assert (record.status, record.pinned, record.valid_until, record.updated_at) == (
            "archived",
            True,
            9,
            4,
        )

    def test_enrichment_is_due_in_the_order_of_writing_until_its_mark_is_taken_away(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        links, everything = due_mark(DUE_LINKS, 5), due_mark(DUE_FACTS, 6)
        _put_memories(store, ann, "ba", due=everything)
        _put_memories(store, ann, "c")

        def due(level: int, scope: Scope = ann) -> list[DueMemory]:
            with store.reader(scope) as reader:
                return reader.due(level)

        assert due(DUE_FACTS) == [DueMemory(B, ANN_KEY, everything), DueMemory(A, ANN_KEY, everything)]
        assert due(DUE_LINKS, bob) == []
        write_changes(store, bob, PutDue({C: links}))
        write_changes(store, ann, PutDue({A: links, C: links, D: links}))
        assert [(one.id, one.mark) for one in due(DUE_LINKS)] == [
            (B, everything), (A, due_mark(DUE_FACTS, 5)), (C, links)
        ]  # fmt: skip
        write_changes(
            store, ann, PutDue(dict.fromkeys([A, B, C], 0), {A: everything, B: everything, C: links})
        )
        assert [one.id for one in due(DUE_LINKS)] == [A]
        assert _read_record(store, ann, A).due == due_mark(DUE_FACTS, 5)

    def test_a_life_can_take_a_time_away(self, store: Store, ann: Scope) -> None:
        """None is a value of its own."""
        _put_memories(store, ann, "a", valid_from=1, valid_until=2, last_used=3)
        write_changes(store, ann, PutLifecycle({A: LifecycleChange(valid_until=None)}))
        assert _read_record(store, ann, A).valid_from == 1
        write_changes(store, ann, PutLifecycle({A: LifecycleChange(valid_from=None, last_used=None)}))
        record = _read_record(store, ann, A)
        assert (record.valid_from, record.valid_until, record.last_used) == (None, None, None)

    def test_a_new_status_is_what_filters_ask_for(self, store: Store, ann: Scope) -> None:
        """In words, vectors, likeness, pages and counts, of passages too; no statistic changes."""
        model = {FINGERPRINT: sample_windows("jay")}
        write_changes(store, ann, PutModel(SMALL_MODEL), PutSource(sample_source("notes", ANN_KEY)))
        _put_memories(store, ann, "abc", vectors=model)
        write_changes(
            store, ann, put_sample_document("notes", "a.md", ["jay one", "jay two"], ANN_KEY, vectors=model)
        )
        passage = sample_id("a.md:jay one")
        with store.reader(ann) as reader:
            before = reader.words([term_group("jay")], EVERY_STATUS).top(9)
        write_changes(
            store,
            ann,
            PutLifecycle(
                {
                    A: LifecycleChange("archived"),
                    B: LifecycleChange("superseded"),
                    passage: LifecycleChange("archived"),
                }
            ),
        )
        for wanted, statuses in (
            ({C, sample_id("a.md:jay two")}, ("active",)),
            ({A, passage}, ("archived",)),
            ({B}, ("superseded",)),
        ):
            where = RecordFilter(statuses=statuses)
            with store.reader(ann) as reader:
                assert {hit.id for hit in reader.words([term_group("jay")], where).top(9)} == wanted
                assert {
                    hit.id for hit in reader.nearest(FINGERPRINT, sample_vector("jay"), where).top(9)
                } == wanted
                assert {record.id for record in reader.page("", 9, where)} == wanted
        with store.reader(ann) as reader:
            assert reader.words([term_group("jay")], EVERY_STATUS).top(9) == before
            assert [
                {hit.id for hit in hits}
                for hits in reader.nearest_batch(FINGERPRINT, sample_vector("jay")[None], 9, -1.0)
            ] == [{C, sample_id("a.md:jay two")}]
            assert reader.counts().statuses == {"active": 2, "archived": 2, "superseded": 1}
        write_changes(store, ann, PutLifecycle({A: LifecycleChange("active")}))
        with store.reader(ann) as reader:
            assert A in {hit.id for hit in reader.words([term_group("jay")], RecordFilter()).top(9)}

    def test_new_tags_are_what_filters_ask_for(self, store: Store, ann: Scope) -> None:
        _put_memories(store, ann, "ab", tags=("owls",))
        write_changes(store, ann, PutLifecycle({A: LifecycleChange(tags=("jays", "wrens"))}))
        with store.reader(ann) as reader:
            for tag, wanted in (("owls", {B}), ("jays", {A}), ("wrens", {A})):
                assert {record.id for record in reader.page("", 9, RecordFilter(tags=(tag,)))} == wanted
        write_changes(store, ann, PutLifecycle({A: LifecycleChange(tags=())}))
        assert _read_record(store, ann, A).tags == ()

    def test_a_status_is_changed_where_it_was_just_written(self, store: Store, ann: Scope) -> None:
        """One batch puts a memory, archives it, and writes more."""
        fresh, more = (PutMemory(sample_memory(f"jay {name}", ANN_KEY, name=name)) for name in "ab")
        write_changes(store, ann, fresh, PutLifecycle({A: LifecycleChange("archived")}), more)
        with store.reader(ann) as reader:
            assert [hit.id for hit in reader.words([term_group("jay")], RecordFilter()).top(9)] == [B]
            assert [hit.id for hit in reader.words([term_group("jay")], EVERY_STATUS).top(9)] == sorted(
                [A, B]
            )
        write_changes(store, ann, fresh)
        with store.reader(ann) as reader:
            assert len(reader.words([term_group("jay")], RecordFilter()).top(9)) == 2

    def test_edges_and_vectors_outlive_a_life(self, store: Store, ann: Scope) -> None:
        """An archived memory stays in its web."""
        write_changes(store, ann, PutModel(SMALL_MODEL))
        _put_memories(store, ann, "ab", vectors={FINGERPRINT: sample_windows("jay")})
        edge = Edge(A, "links", B, ANN_KEY)
        write_changes(
            store, ann, PutEdges((edge,)), PutLifecycle({A: FULL_LIFECYCLE, B: LifecycleChange("superseded")})
        )
        with store.reader(ann) as reader:
            assert reader.edges([A], ["links"]) == [edge]
            assert (reader.coverage(FINGERPRINT).covered, reader.pending(FINGERPRINT, 9)) == (2, [])

    def test_a_status_outlives_a_look_at_its_file(self, store: Store, ann: Scope) -> None:
        """What is kept, moved or touched keeps its life."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        write_changes(store, ann, put_sample_document("notes", "a.md", ["jay one", "jay two"], ANN_KEY))
        one, two = (sample_id(f"a.md:jay {name}") for name in ("one", "two"))
        write_changes(store, ann, PutLifecycle({one: LifecycleChange("archived", strength=0.5)}))
        kept = (
            UnchangedPassage(two, sample_place("notes", "b.md", 0)),
            UnchangedPassage(one, sample_place("notes", "b.md", 1)),
        )
        write_changes(store, ann, PutDocument(sample_document("notes", "a.md", "touched")))
        write_changes(store, ann, PutDocument(sample_document("notes", "b.md"), (), kept, (), "a.md"))
        record = _read_record(store, ann, one)
        assert (record.status, record.strength) == ("archived", 0.5)
        with store.reader(ann) as reader:
            assert [hit.id for hit in reader.words([term_group("jay")], RecordFilter()).top(9)] == [two]

    @pytest.mark.parametrize(("why", "life"), INVALID_LIFECYCLES, ids=[why for why, _ in INVALID_LIFECYCLES])
    def test_a_bad_life_refuses_the_whole_write(
        self, store: Store, ann: Scope, why: str, life: LifecycleChange
    ) -> None:
        """Nothing of the batch is stored."""
        _put_memories(store, ann, "ab", valid_from=100, valid_until=200)
        before = [_read_record(store, ann, one) for one in (A, B)]
        with pytest.raises(InputError):
            write_changes(
                store,
                ann,
                PutLifecycle({A: LifecycleChange(pinned=True)}),
                PutLifecycle({A: LifecycleChange("archived"), B: life}),
            )
        assert [_read_record(store, ann, one) for one in (A, B)] == before, why

    def test_who_does_not_see_a_memory_changes_nothing_of_it(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Unknown, foreign and malformed ids are passed over; what both see either may change."""
        _put_memories(store, ann, "a")
        _put_memories(store, ann, "b", "public")
        tier = sample_id("a", "lesson")
        strange = dict.fromkeys(
            (A, sample_id("none"), tier, sample_concept_id("x"), "", "no id", "obs_"), FULL_LIFECYCLE
        )
        for other in (bob, eve):
            write_changes(store, other, PutLifecycle(strange))
        write_changes(store, ann, PutLifecycle({tier: FULL_LIFECYCLE}))
        assert _read_record(store, ann, A) == sample_memory("jay a", ANN_KEY, name="a").record
        write_changes(
            store, bob, PutLifecycle({B: LifecycleChange("archived"), A: LifecycleChange(strength=0)})
        )
        assert (_read_record(store, ann, B).status, _read_record(store, ann, A).strength) == ("archived", 1.0)
        with pytest.raises(InputError):
            write_changes(store, bob, PutLifecycle({A: LifecycleChange("gone")}))
        write_changes(
            store,
            bob,
            PutLifecycle(
                {A: LifecycleChange(valid_from=2), sample_id("none"): LifecycleChange(valid_until=1)}
            ),
        )

    def test_counts_tell_tiers_and_statuses(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Of what the scope sees."""
        _put_memories(store, ann, "abc", tier="lesson")
        _put_memories(store, ann, "de", "public")
        write_changes(
            store,
            ann,
            PutLifecycle(
                {sample_id("a", "lesson"): LifecycleChange("archived"), D: LifecycleChange("superseded")}
            ),
        )
        with store.reader(ann) as reader:
            counts = reader.counts()
            assert counts.tiers == {"lesson": 3, "observation": 2}
            assert counts.statuses == {"active": 3, "archived": 1, "superseded": 1}
        with store.reader(bob) as reader:
            counts = reader.counts()
            assert (counts.tiers, counts.statuses) == ({"observation": 2}, {"active": 1, "superseded": 1})

    def test_what_happened_last_comes_first_and_takes_a_filter(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """By event, else when it was recorded; equal times by id. Others' memories take no place."""
        for number, text in enumerate("abc"):
            event = EventTime(number * 10, number * 10)
            write_changes(
                store, ann, PutMemory(sample_memory(text, ANN_KEY, event=event, pinned=text == "b"))
            )
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("d", ANN_KEY, event=EventTime(20, 20), project="p", tier="lesson")),
        )
        write_changes(store, bob, PutMemory(sample_memory("later", "user:bob", event=EventTime(99, 99))))
        with store.reader(ann) as reader:
            found = reader.latest(RecordFilter(), 9)
            assert [record.content for record in found[2:]] == ["b", "a"]
            assert {record.content for record in found[:2]} == {"c", "d"}
            digits = [record.id.partition("_")[2] for record in found[:2]]
            assert digits == sorted(digits)
            assert reader.latest(RecordFilter(), 1) == found[:1]
            assert reader.latest(RecordFilter(), 2, 1) == found[1:3]
            assert reader.latest(RecordFilter(), 9, 9) == []
            assert [record.content for record in reader.latest(RecordFilter(pinned=True), 9)] == ["b"]
            assert [record.content for record in reader.latest(RecordFilter(projects=("p",)), 9)] == ["d"]
            assert reader.latest(RecordFilter(statuses=("archived",)), 9) == []

    def test_a_page_takes_a_filter(self, store: Store, ann: Scope, bob: Scope) -> None:
        """In the order of all pages, of any tier; without one every memory is there."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        _put_memories(store, ann, "abcd", "public", tier="lesson", tags=("lesson",))
        _put_memories(store, ann, "efgh", tier="observation")
        _put_memories(store, ann, "ij", tier="crystal", status="archived")
        write_changes(store, ann, put_sample_document("notes", "a.md", ["jay one"], ANN_KEY))
        with store.reader(ann) as reader:
            everyone = reader.page("", 99)
            lessons = [record for record in everyone if record.tier == "lesson"]
            assert reader.page("", 99, EVERY_STATUS) == everyone
            assert reader.page("", 99, RecordFilter(tiers=("lesson",))) == lessons
            assert reader.page("", 2, RecordFilter(tags=("lesson",))) == lessons[:2]
            assert reader.page(lessons[0].id, 99, RecordFilter(tiers=("lesson",))) == lessons[1:]
            assert reader.page(lessons[-1].id, 99, RecordFilter(tiers=("lesson",))) == []
            assert [r.content for r in reader.page("", 9, RecordFilter(sources=("notes",)))] == ["jay one"]
            assert {r.tier for r in reader.page("", 9, RecordFilter(statuses=("archived",)))} == {"crystal"}
            assert reader.page("crys_ffffffffffffffff", 9, EVERY_STATUS) == []
        with store.reader(bob) as reader:
            assert reader.page("", 9, RecordFilter(statuses=("archived",))) == []


FULL_LIFECYCLE_WITH_PROJECT = LifecycleChange("archived", True, 0.25, 1 / 3, -5, 9, 7, "jays", "untrusted")
RUN = ConsolidationRun("run_0123456789", ANN_KEY, "done", "1", 0, 1, {})


def _put_event_memories(store: Store, scope: Scope, names: str, key: str = ANN_KEY, **fields: Any) -> None:
    write_changes(
        store, scope, *(PutMemory(sample_memory(f"jay {name}", key, name=name, **fields)) for name in names)
    )


def _read_events(store: Store, scope: Scope, *asked: Any, **how: Any) -> list[Event]:
    with store.reader(scope) as reader:
        return reader.events(*asked, **how)


class EventsContract:
    """What happened to memories."""

    def test_events_come_back_newest_first(self, store: Store, ann: Scope) -> None:
        """Of one time, the one that was written later first; every attribute comes back."""
        _put_event_memories(store, ann, "ab")
        full = Event(A, "superseded", 5, ANN_KEY, "run_0123456789", B, 0, "active", "bob")
        told = [Event(A, op, at, ANN_KEY, count=at) for at, op in enumerate(EVENT_OPS)]
        write_changes(store, ann, PutEvents((full, told[11], told[0])), PutEvents((told[5], told[3])))
        wanted = [told[11], told[5], full, told[3], told[0]]
        assert _read_events(store, ann) == wanted
        assert _read_events(store, ann, [A]) == _read_events(store, ann, [A, A, B]) == wanted
        assert _read_events(store, ann, limit=2) == wanted[:2]
        assert (
            _read_events(store, ann, [A], limit=0)
            == _read_events(store, ann, [])
            == _read_events(store, ann, [B])
            == []
        )
        assert _read_events(store, ann, None, "run_0123456789") == [full]
        assert _read_events(store, ann, [B], "run_0123456789") == _read_events(store, ann, run="other") == []
        lesson = sample_id("a", "lesson")
        assert _read_events(store, ann, ["", "no id", sample_concept_id("x"), lesson]) == []
        write_changes(store, ann, PutEvents((Event(B, "used", 0, ANN_KEY),)))
        assert _read_events(store, ann, [lesson, B], limit=1) == [Event(B, "used", 0, ANN_KEY)]

    def test_the_same_event_twice_is_two(self, store: Store, ann: Scope) -> None:
        """Nothing is replaced."""
        _put_event_memories(store, ann, "a")
        used = Event(A, "used", 1, ANN_KEY)
        write_changes(store, ann, PutEvents((used, used)), PutEvents((used,)))
        assert _read_events(store, ann) == [used] * 3

    def test_an_event_is_seen_by_who_sees_its_memory(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Not by others, not in another tenant; whoever sees the memory may write one."""
        for name, key in (("a", ANN_KEY), ("b", "public"), ("c", "group:dev")):
            _put_event_memories(store, ann, name, key)
        own, shared, grouped = (
            Event(i, "used", n, k) for n, (i, k) in enumerate([(A, ANN_KEY), (B, "public"), (C, "group:dev")])
        )
        write_changes(store, ann, PutEvents((own, grouped)))
        write_changes(store, bob, PutEvents((shared,)))
        assert _read_events(store, ann) == [grouped, shared, own]
        assert _read_events(store, bob) == _read_events(store, bob, [A, B, C]) == [shared]
        assert _read_events(store, eve) == []

    def test_what_is_told_of_another_key_or_out_of_sight_is_passed_over(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Nobody writes of what is not theirs, nor says of it who may see it."""
        _put_event_memories(store, ann, "a")
        _put_event_memories(store, ann, "b", "public")
        write_changes(store, bob, PutEvents((Event(A, "used", 1, ANN_KEY), Event(A, "used", 1, "user:bob"))))
        odd = ("", "no id", sample_id("none"), sample_id("a", "lesson"), sample_concept_id("x"))
        write_changes(store, ann, PutEvents((Event(A, "used", 1, "public"), Event(B, "used", 1, ANN_KEY))))
        write_changes(store, ann, PutEvents(tuple(Event(one, "used", 1, ANN_KEY) for one in odd)))
        assert _read_events(store, ann) == _read_events(store, bob) == []

    def test_the_other_memory_is_named_to_who_sees_it(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Neither read nor written by who does not."""
        _put_event_memories(store, ann, "a")
        _put_event_memories(store, ann, "bc", "public")
        told = Event(B, "contradicted", 1, "public", other=A)
        write_changes(
            store, ann, PutEvents((told, replace(told, at=2, other=C), replace(told, at=3, other="no id")))
        )
        write_changes(store, bob, PutEvents((replace(told, at=4),)))
        assert [event.other for event in _read_events(store, ann)] == [None, None, C, A]
        assert [event.other for event in _read_events(store, bob)] == [None, None, C, None]

    def test_a_memory_that_others_see_now_takes_its_events_along_no_further(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Its history stays with who saw both: it is not shown to those it was not shown to."""
        _put_event_memories(store, ann, "a")
        _put_event_memories(store, ann, "b", "public")
        events = (Event(A, "used", 1, ANN_KEY), Event(B, "used", 2, "public"))
        write_changes(store, ann, PutEvents(events))
        _put_event_memories(store, ann, "a", "public")
        _put_event_memories(store, ann, "b", ANN_KEY)
        assert _read_events(store, ann) == [events[1], events[0]]
        assert _read_events(store, bob) == []

    def test_events_go_with_a_forgotten_memory(self, store: Store, ann: Scope) -> None:
        """And those of others do not name it any more, not even when it is added again."""
        _put_event_memories(store, ann, "abc")
        other = Event(B, "superseded", 2, ANN_KEY, "run_0123456789", A)
        write_changes(
            store,
            ann,
            PutEvents((Event(A, "used", 1, ANN_KEY), other, Event(C, "used", 3, ANN_KEY, other=B))),
        )
        write_changes(store, ann, Forget((A,)))
        left = [Event(C, "used", 3, ANN_KEY, other=B), replace(other, other=None)]
        assert _read_events(store, ann) == left
        _put_event_memories(store, ann, "a")
        assert _read_events(store, ann) == left
        assert _read_events(store, ann, [A]) == []

    def test_events_go_with_a_dropped_passage_and_stay_with_a_kept_one(
        self, store: Store, ann: Scope
    ) -> None:
        """What is replaced under its id, moved or renamed has the same history."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        write_changes(
            store, ann, put_sample_document("notes", "a.md", ["jay one", "jay two", "jay three"], ANN_KEY)
        )
        one, two, three = (sample_id(f"a.md:jay {name}") for name in ("one", "two", "three"))
        told = [Event(i, "used", n, ANN_KEY) for n, i in enumerate((one, two, three))]
        write_changes(store, ann, PutEvents(tuple(told)))
        again = sample_memory("jay 2", ANN_KEY, place=sample_place("notes", "b.md", 1))
        again = replace(again, record=replace(again.record, id=two))
        kept = (UnchangedPassage(one, sample_place("notes", "b.md", 0)),)
        write_changes(
            store, ann, PutDocument(sample_document("notes", "b.md"), (again,), kept, (two, three), "a.md")
        )
        assert _read_events(store, ann) == [told[1], told[0]]
        write_changes(store, ann, DropSource("notes"))
        assert _read_events(store, ann) == []

    def test_verdicts_on_a_passage_wait_for_its_text_in_its_place(self, store: Store, ann: Scope) -> None:
        """Whatever id it has then, and over a rebuild; no other text gets them."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        put = put_sample_document("notes", "a.md", ["jay one", "jay two", "jay six"], ANN_KEY)
        write_changes(store, ann, put)
        one, two, six = (sample_id(f"a.md:jay {name}") for name in ("one", "two", "six"))
        told = [Event(one, "archived", 1, ANN_KEY, before="active"), Event(two, "wrong", 2, ANN_KEY)]
        told.append(Event(six, "archived", 3, ANN_KEY, "run_0123456789", before="active"))
        told.append(Event(six, NEVER_INJECT, 4, ANN_KEY, other=two))
        lives = {one: LifecycleChange("archived"), two: LifecycleChange(strength=0.5, confidence=0.25)}
        lives[six] = LifecycleChange("archived", tags=("a", NEVER_INJECT))
        write_changes(store, ann, PutLifecycle(lives), PutEvents(tuple(told)))
        write_changes(store, ann, DropDocument("notes", "a.md"))
        assert _read_events(store, ann) == []
        with store.tenant_reader("default") as reader:
            assert [event for batch in reader.all_events() for event in batch] == []
        with store.rebuild(ann):
            pass
        exchanged = [(one, "jay two"), (two, "jay  one"), (six, "jay ten"), (A, "jay six")]
        fresh = [
            sample_memory(text, ANN_KEY, place=sample_place("notes", "a.md", at))
            for at, (_, text) in enumerate(exchanged)
        ]
        fresh = [
            replace(memory, record=replace(memory.record, id=name))
            for memory, (name, _) in zip(fresh, exchanged, strict=True)
        ]
        elsewhere = replace(put, document=sample_document("notes", "b.md"), fresh=())
        write_changes(store, ann, elsewhere, replace(put, fresh=tuple(fresh)))
        records = {memory: _read_record(store, ann, memory) for memory, _ in exchanged}
        assert [records[memory].status for memory in (one, two, six, A)] == [
            "active",
            "archived",
            "active",
            "active",
        ]
        assert [records[memory].strength for memory in (one, two, six, A)] == [0.5, 1.0, 1.0, 1.0]
        assert [records[memory].confidence for memory in (one, two, six, A)] == [0.25, 1.0, 1.0, 1.0]
        assert [records[memory].tags for memory in (one, two, six, A)] == [(), (), (), (NEVER_INJECT,)]
        back = [
            replace(told[0], memory=two),
            replace(told[1], memory=one),
            replace(told[2], memory=A),
            replace(told[3], memory=A, other=None),
        ]
        restored = Event(A, "restored", records[A].updated_at, ANN_KEY, before="archived")
        assert sorted(_read_events(store, ann), key=lambda event: event.at) == sorted(
            [*back, restored], key=lambda event: event.at
        )

    @pytest.mark.parametrize("gone", ["forgotten", "source", "user", "other text", "run", "used"])
    def test_verdicts_on_an_absent_passage_go(self, store: Store, ann: Scope, gone: str) -> None:
        """With its source, its user and itself, and where nothing but a run or a use is known of it."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        put = put_sample_document("notes", "a.md", ["jay one"], ANN_KEY)
        write_changes(store, ann, put)
        one = sample_id("a.md:jay one")
        run = "run_0123456789" if gone == "run" else None
        op = "used" if gone == "used" else "archived"
        archived = PutLifecycle({one: LifecycleChange("archived", strength=0.5)})
        write_changes(store, ann, archived, PutEvents((Event(one, op, 1, ANN_KEY, run),)))
        write_changes(store, ann, replace(put, fresh=(), dropped=(one,)))
        secret = store.secret(ann)
        if gone == "forgotten":
            write_changes(store, ann, Forget((one,)))
            with store.reader(ann) as reader:
                assert reader.forgotten_hashes([tombstone_hash(secret, "jay one", ANN_KEY)])
        elif gone == "source":
            write_changes(store, ann, DropSource("notes"), PutSource(sample_source("notes", ANN_KEY)))
        elif gone == "user":
            write_changes(store, ann, DropUser("ann"))
        elif gone == "other text":
            (memory,) = put.fresh
            record = replace(memory.record, content="jay", content_hash=text_hash("jay"))
            write_changes(store, ann, replace(put, fresh=(replace(memory, record=record),)))
            assert _read_events(store, ann) == []
            write_changes(store, ann, DropDocument("notes", "a.md"))
        write_changes(store, ann, put)
        record = _read_record(store, ann, one)
        assert (record.status, record.strength, _read_events(store, ann)) == ("active", 1.0, [])

    def test_who_does_not_see_an_absent_passage_forgets_nothing_of_it(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        put = put_sample_document("notes", "a.md", ["jay one"], ANN_KEY)
        write_changes(store, ann, put)
        one = sample_id("a.md:jay one")
        told = Event(one, "wrong", 1, ANN_KEY)
        write_changes(store, ann, PutEvents((told,)))
        write_changes(store, ann, DropDocument("notes", "a.md"))
        write_changes(store, bob, Forget((one,)), DropSource("notes"), DropUser("bob"))
        write_changes(store, ann, put)
        assert _read_events(store, ann) == [told]

    def test_lives_and_events_outlive_a_rebuild(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Of everybody; what the next generation does not hold loses its events. Runs stay."""
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        write_changes(store, ann, put_sample_document("notes", "a.md", ["jay one"], ANN_KEY))
        passage = sample_id("a.md:jay one")
        _put_event_memories(store, ann, "ac")
        _put_event_memories(store, bob, "b", "user:bob")
        told = Event(A, "archived", 2, ANN_KEY, None, C, 0, "active")
        write_changes(
            store,
            ann,
            PutLifecycle({A: FULL_LIFECYCLE_WITH_PROJECT, passage: LifecycleChange("archived")}),
            PutRun(RUN),
        )
        write_changes(
            store, ann, PutEvents((told, Event(C, "used", 1, ANN_KEY), Event(passage, "used", 0, ANN_KEY)))
        )
        write_changes(store, bob, PutEvents((Event(B, "used", 1, "user:bob"),)))
        with store.rebuild(ann) as rebuild:
            stored = rebuild.additions()
            changes: list[Change] = [PutMemory(one) for one in stored if one.record.id != C]
            changes += [PutDocument(held, tuple(rebuild.passages(held))) for held in rebuild.documents()]
            rebuild.write(changes)
        assert _read_events(store, ann) == [replace(told, other=None), Event(passage, "used", 0, ANN_KEY)]
        assert len(_read_events(store, bob)) == 1
        with store.reader(ann) as reader:
            assert reader.get([A])[A] == replace(
                sample_memory("jay a", ANN_KEY, name="a").record,
                **changed_fields(FULL_LIFECYCLE_WITH_PROJECT),
            )
            assert reader.runs() == [RUN]
            assert {r.id for r in reader.page("", 9, RecordFilter(statuses=("archived",)))} == {A, passage}

    def test_a_rebuild_writes_no_life(self, store: Store, ann: Scope) -> None:
        """Events and runs belong to no generation; a memory is written with its life."""
        _put_event_memories(store, ann, "a")
        for change in (PutLifecycle({A: FULL_LIFECYCLE_WITH_PROJECT}), PutEvents(()), PutRun(RUN)):
            with pytest.raises(InputError), store.rebuild(ann) as rebuild:
                rebuild.write([change])
        with store.reader(ann) as reader:
            assert reader.get([A])[A].status == "active"

    def test_what_is_reinforced_tells_how_sure_it_was(self, store: Store, ann: Scope) -> None:
        """The number comes back as it was written."""
        _put_event_memories(store, ann, "a")
        told = Event(A, "reinforced", 1, ANN_KEY, "run_1", before=repr(0.1 + 0.2))
        write_changes(store, ann, PutEvents((told,)))
        assert _read_events(store, ann) == [told]

    @pytest.mark.parametrize(
        "bad",
        [
            {"op": "forgotten"},
            {"op": ""},
            {"before": "gone"},
            {"before": "0.7"},
            {"op": "reinforced", "before": "1.5"},
            {"op": "reinforced", "before": "sure"},
            {"run": "\ud800"},
        ],
        ids=str,
    )
    def test_a_bad_event_refuses_the_whole_write(self, store: Store, ann: Scope, bad: dict[str, Any]) -> None:
        """Nothing of the batch is stored."""
        _put_event_memories(store, ann, "a")
        good = Event(A, "used", 1, ANN_KEY)
        with pytest.raises(InputError):
            write_changes(store, ann, PutEvents((good,)), PutEvents((good, replace(good, **bad))))
        assert _read_events(store, ann) == []


FIRST_READING = CachedExtraction(A, "first", b"\x00\xff jay")


def _put_one_memory(store: Store, scope: Scope, name: str, key: str = ANN_KEY) -> None:
    write_changes(store, scope, PutMemory(sample_memory(f"jay {name}", key, name=name)))


def _read_readings(store: Store, scope: Scope, *ids: str) -> dict[str, CachedExtraction]:
    with store.reader(scope) as reader:
        return reader.extractions(ids)


class ReadingsContract:
    """What was read from memories."""

    def test_the_last_reading_of_a_memory_comes_back(self, store: Store, ann: Scope) -> None:
        """Bytes as they were given; of what nothing was read from, and of unknown ids, there is none."""
        _put_one_memory(store, ann, "a")
        _put_one_memory(store, ann, "b")
        write_changes(store, ann, PutExtractions((FIRST_READING,)))
        assert _read_readings(store, ann, A, B, sample_id("none"), "obs_", sample_id("a", "lesson")) == {
            A: FIRST_READING
        }
        again = CachedExtraction(A, "second", b"")
        write_changes(store, ann, PutExtractions((FIRST_READING, CachedExtraction(B, "first", b"b"), again)))
        assert _read_readings(store, ann, A, B) == {A: again, B: CachedExtraction(B, "first", b"b")}
        assert _read_readings(store, ann) == {}

    def test_a_reading_is_seen_and_written_by_who_sees_the_memory(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Nobody reads or replaces what was read from a stranger's memory."""
        _put_one_memory(store, ann, "a")
        write_changes(store, ann, PutExtractions((FIRST_READING,)))
        strange = CachedExtraction(sample_id("a", "lesson"), "x", b"x")
        write_changes(
            store,
            bob,
            PutExtractions(
                (CachedExtraction(A, "bob's", b"x"), CachedExtraction(sample_id("none"), "x", b"x"))
            ),
        )
        write_changes(store, ann, PutExtractions((strange,)))
        assert _read_readings(store, bob, A) == {}
        assert _read_readings(store, ann, A, strange.memory) == {A: FIRST_READING}

    @pytest.mark.parametrize("gone", [Forget((A,)), DropMemory((A,))], ids=["forgotten", "dropped"])
    def test_a_reading_goes_with_its_memory(self, store: Store, ann: Scope, gone: Change) -> None:
        """It does not come back with a memory of the same id."""
        _put_one_memory(store, ann, "a")
        write_changes(store, ann, PutExtractions((FIRST_READING,)), gone)
        _put_one_memory(store, ann, "a")
        assert _read_readings(store, ann, A) == {}

    def test_a_memory_that_is_written_anew_has_no_reading(self, store: Store, ann: Scope) -> None:
        """A passage that is kept has the one it had, wherever it stands."""
        _put_one_memory(store, ann, "a")
        write_changes(store, ann, PutExtractions((FIRST_READING,)))
        _put_one_memory(store, ann, "a")
        assert _read_readings(store, ann, A) == {}
        write_changes(store, ann, PutSource(sample_source("notes", ANN_KEY)))
        write_changes(store, ann, put_sample_document("notes", "a.md", ["jay one", "jay two"], ANN_KEY))
        first, second = (sample_id(f"a.md:jay {name}") for name in ("one", "two"))
        told = (CachedExtraction(first, "m", b"1"), CachedExtraction(second, "m", b"2"))
        write_changes(store, ann, PutExtractions(told))
        kept = (UnchangedPassage(second, sample_place("notes", "a.md", 0)),)
        write_changes(store, ann, PutDocument(sample_document("notes", "a.md"), (), kept, (first,)))
        assert _read_readings(store, ann, first, second) == {second: told[1]}

    def test_a_rebuild_takes_no_reading_along(self, store: Store, ann: Scope) -> None:
        """Whatever cut and cleaned the texts may do so otherwise now."""
        _put_one_memory(store, ann, "a")
        write_changes(store, ann, PutExtractions((FIRST_READING,)))
        with store.rebuild(ann) as rebuild:
            rebuild.write([PutMemory(one) for one in rebuild.additions()])
        assert _read_readings(store, ann, A) == {}
        with pytest.raises(InputError), store.rebuild(ann) as rebuild:
            rebuild.write([PutExtractions((FIRST_READING,))])

    def test_a_bad_mark_refuses_the_whole_write(self, store: Store, ann: Scope) -> None:
        """Nothing of the batch is stored."""
        _put_one_memory(store, ann, "a")
        with pytest.raises(InputError):
            write_changes(store, ann, PutExtractions((FIRST_READING, CachedExtraction(A, "\ud800", b""))))
        assert _read_readings(store, ann, A) == {}


def _make_run(name: str, key: str, started: int = 0, **fields: Any) -> ConsolidationRun:
    given: dict[str, Any] = {"state": "done", "rules": "1", "ended": None, "counts": {}}
    return ConsolidationRun(id=name, key=key, started=started, **(given | fields))


class RunsContract:
    """What runs did, and who is alone."""

    def test_runs_come_back_the_one_started_last_first(self, store: Store, ann: Scope) -> None:
        """A row an id and key; the same again replaces it."""
        counts = {"merged": 3, "archived": 0}
        full = _make_run("run_b", "group:dev", 5, state="undone", rules="2 ü", ended=6, counts=counts)
        running = _make_run("run_b", ANN_KEY, 5, state="running")
        write_changes(store, ann, PutRun(_make_run("run_a", ANN_KEY, 4)), PutRun(running), PutRun(full))
        write_changes(store, ann, PutRun(_make_run("run_c", ANN_KEY, -1)))
        done = replace(running, state="done", ended=9, counts={"merged": 1})
        write_changes(store, ann, PutRun(done))
        with store.reader(ann) as reader:
            assert reader.runs() == [
                full,
                done,
                _make_run("run_a", ANN_KEY, 4),
                _make_run("run_c", ANN_KEY, -1),
            ]
            assert reader.runs(1) == [full]
            assert reader.runs(0) == []

    def test_a_run_is_seen_by_its_key_alone(self, store: Store, ann: Scope, bob: Scope, eve: Scope) -> None:
        """One run, told to each of what was done with theirs."""
        write_changes(store, ann, PutRun(_make_run("run_a", ANN_KEY)), PutRun(_make_run("run_a", "public")))
        write_changes(store, bob, PutRun(_make_run("run_a", "user:bob", counts={"merged": 1})))
        with store.reader(ann) as reader:
            assert [run.key for run in reader.runs()] == ["public", ANN_KEY]
        with store.reader(bob) as reader:
            assert [run.key for run in reader.runs()] == ["public", "user:bob"]
        with store.reader(eve) as reader:
            assert reader.runs() == []

    def test_a_bad_run_refuses_the_whole_write(self, store: Store, ann: Scope) -> None:
        """Another's key, an unknown state, half a character."""
        assert RUN_STATES == ("running", "done", "undone")
        bad = (
            _make_run("run_a", "user:bob"), _make_run("run_a", ANN_KEY, state="broken"),
            _make_run("run_\ud800", ANN_KEY),
            _make_run("run_a", ANN_KEY, counts={"\ud800": 1}), _make_run("run_a", ANN_KEY, rules="\ud800"),
        )  # fmt: skip
        for run in bad:
            with pytest.raises(InputError):
                write_changes(store, ann, PutRun(_make_run("run_good", ANN_KEY)), PutRun(run))
        with store.reader(ann) as reader:
            assert reader.runs() == []

    def test_one_at_a_time_is_alone(self, store: Store, ann: Scope, bob: Scope, eve: Scope) -> None:
        """Of a tenant and a name, until the block ends, however it ends; writers go on."""
        with store.try_exclusive(ann, "night") as first, store.try_exclusive(bob, "night") as second:
            assert (first, second) == (True, False)
            with store.try_exclusive(bob, "day") as other, store.try_exclusive(eve, "night") as elsewhere:
                assert (other, elsewhere) == (True, True)
            with store.try_exclusive(ann, "night") as third:
                assert not third
            write_changes(store, bob, PutMemory(sample_memory("jay", "public")))
            assert not store.busy(ann)
        with pytest.raises(ZeroDivisionError), store.try_exclusive(bob, "night") as again:
            again / 0
        with store.try_exclusive(ann, "night") as last:
            assert last

    def test_a_write_that_waits_for_nobody_returns_while_another_writes(
        self, store: Store, ann: Scope
    ) -> None:
        """It is refused, or kept whatever the other comes to; without one it is done."""
        store.write(ann, [PutMemory(sample_memory("jay", ANN_KEY, name="a"))], patience=0.0)
        outcome: list[str] = []

        def write_at_once() -> None:
            try:
                store.write(ann, [PutMemory(sample_memory("nut", ANN_KEY, name="b"))], patience=0.0)
                outcome.append("kept")
            except StoreBusyError:
                outcome.append("refused")

        thread = threading.Thread(target=write_at_once)
        with store.rebuild(ann) as rebuild:
            rebuild.write([PutMemory(one) for one in rebuild.additions()])
            thread.start()
            thread.join(30)
            waited = thread.is_alive()
        thread.join(30)
        assert not waited
        with store.reader(ann) as reader:
            held = reader.get([sample_id("a"), sample_id("b")])
        assert set(held) == {sample_id("a"), *([sample_id("b")] if outcome == ["kept"] else [])}

    def test_another_thread_is_not_alone_beside_one(self, store: Store, ann: Scope) -> None:
        """Of several at once, exactly one."""
        found: list[bool] = []
        holding, told = threading.Barrier(4), threading.Barrier(4)

        def ask() -> None:
            holding.wait(30)
            with store.try_exclusive(ann, "night") as alone:
                found.append(alone)
                told.wait(30)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [False, False, False, True]
