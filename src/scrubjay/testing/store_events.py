"""Events: what happened to memories, who is told, and what a rebuild leaves of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.events import OPS, Event
from scrubjay.memory.life import Life, lived
from scrubjay.memory.records import Where
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    Change,
    DropSource,
    Forget,
    Kept,
    PutDocument,
    PutEvents,
    PutLife,
    PutMemory,
    PutRun,
    PutSource,
)
from scrubjay.testing.store_samples import (
    con,
    document,
    memory,
    place,
    put_document,
    sample_id,
    source,
    write,
)

MINE = "user:ann"
A, B, C = (sample_id(name) for name in "abc")
ALL = Life("archived", True, 0.25, 1 / 3, -5, 9, 7, "jays", "untrusted")
RUN = Run("run_0123456789", MINE, "done", "1", 0, 1, {})


def _put(store: Store, scope: Scope, names: str, key: str = MINE, **fields: Any) -> None:
    write(store, scope, *(PutMemory(memory(f"jay {name}", key, name=name, **fields)) for name in names))


def _events(store: Store, scope: Scope, *asked: Any, **how: Any) -> list[Event]:
    with store.reader(scope) as reader:
        return reader.events(*asked, **how)


class EventsContract:
    """What happened to memories."""

    def test_events_come_back_newest_first(self, store: Store, ann: Scope) -> None:
        """Of one time, the one that was written later first; every attribute comes back."""
        _put(store, ann, "ab")
        full = Event(A, "superseded", 5, MINE, "run_0123456789", B, 0, "active", "bob")
        told = [Event(A, op, at, MINE, count=at) for at, op in enumerate(OPS)]
        write(store, ann, PutEvents((full, told[11], told[0])), PutEvents((told[5], told[3])))
        wanted = [told[11], told[5], full, told[3], told[0]]
        assert _events(store, ann) == wanted
        assert _events(store, ann, [A]) == _events(store, ann, [A, A, B]) == wanted
        assert _events(store, ann, limit=2) == wanted[:2]
        assert _events(store, ann, [A], limit=0) == _events(store, ann, []) == _events(store, ann, [B]) == []
        assert _events(store, ann, None, "run_0123456789") == [full]
        assert _events(store, ann, [B], "run_0123456789") == _events(store, ann, run="other") == []
        lesson = sample_id("a", "lesson")
        assert _events(store, ann, ["", "no id", con("x"), lesson]) == []
        write(store, ann, PutEvents((Event(B, "used", 0, MINE),)))
        assert _events(store, ann, [lesson, B], limit=1) == [Event(B, "used", 0, MINE)]

    def test_the_same_event_twice_is_two(self, store: Store, ann: Scope) -> None:
        """Nothing is replaced."""
        _put(store, ann, "a")
        used = Event(A, "used", 1, MINE)
        write(store, ann, PutEvents((used, used)), PutEvents((used,)))
        assert _events(store, ann) == [used] * 3

    def test_an_event_is_seen_by_who_sees_its_memory(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Not by others, not in another tenant; whoever sees the memory may write one."""
        for name, key in (("a", MINE), ("b", "public"), ("c", "group:dev")):
            _put(store, ann, name, key)
        own, shared, grouped = (
            Event(i, "used", n, k) for n, (i, k) in enumerate([(A, MINE), (B, "public"), (C, "group:dev")])
        )
        write(store, ann, PutEvents((own, grouped)))
        write(store, bob, PutEvents((shared,)))
        assert _events(store, ann) == [grouped, shared, own]
        assert _events(store, bob) == _events(store, bob, [A, B, C]) == [shared]
        assert _events(store, eve) == []

    def test_what_is_told_of_another_key_or_out_of_sight_is_passed_over(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Nobody writes of what is not theirs, nor says of it who may see it."""
        _put(store, ann, "a")
        _put(store, ann, "b", "public")
        write(store, bob, PutEvents((Event(A, "used", 1, MINE), Event(A, "used", 1, "user:bob"))))
        odd = ("", "no id", sample_id("none"), sample_id("a", "lesson"), con("x"))
        write(store, ann, PutEvents((Event(A, "used", 1, "public"), Event(B, "used", 1, MINE))))
        write(store, ann, PutEvents(tuple(Event(one, "used", 1, MINE) for one in odd)))
        assert _events(store, ann) == _events(store, bob) == []

    def test_the_other_memory_is_named_to_who_sees_it(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Neither read nor written by who does not."""
        _put(store, ann, "a")
        _put(store, ann, "bc", "public")
        told = Event(B, "contradicted", 1, "public", other=A)
        write(store, ann, PutEvents((told, replace(told, at=2, other=C), replace(told, at=3, other="no id"))))
        write(store, bob, PutEvents((replace(told, at=4),)))
        assert [event.other for event in _events(store, ann)] == [None, None, C, A]
        assert [event.other for event in _events(store, bob)] == [None, None, C, None]

    def test_a_memory_that_others_see_now_takes_its_events_along_no_further(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Its history stays with who saw both: it is not shown to those it was not shown to."""
        _put(store, ann, "a")
        _put(store, ann, "b", "public")
        events = (Event(A, "used", 1, MINE), Event(B, "used", 2, "public"))
        write(store, ann, PutEvents(events))
        _put(store, ann, "a", "public")
        _put(store, ann, "b", MINE)
        assert _events(store, ann) == [events[1], events[0]]
        assert _events(store, bob) == []

    def test_events_go_with_a_forgotten_memory(self, store: Store, ann: Scope) -> None:
        """And those of others do not name it any more, not even when it is added again."""
        _put(store, ann, "abc")
        other = Event(B, "superseded", 2, MINE, "run_0123456789", A)
        write(store, ann, PutEvents((Event(A, "used", 1, MINE), other, Event(C, "used", 3, MINE, other=B))))
        write(store, ann, Forget((A,)))
        left = [Event(C, "used", 3, MINE, other=B), replace(other, other=None)]
        assert _events(store, ann) == left
        _put(store, ann, "a")
        assert _events(store, ann) == left
        assert _events(store, ann, [A]) == []

    def test_events_go_with_a_dropped_passage_and_stay_with_a_kept_one(
        self, store: Store, ann: Scope
    ) -> None:
        """What is replaced under its id, moved or renamed has the same history."""
        write(store, ann, PutSource(source("notes", MINE)))
        write(store, ann, put_document("notes", "a.md", ["jay one", "jay two", "jay three"], MINE))
        one, two, three = (sample_id(f"a.md:jay {name}") for name in ("one", "two", "three"))
        told = [Event(i, "used", n, MINE) for n, i in enumerate((one, two, three))]
        write(store, ann, PutEvents(tuple(told)))
        again = memory("jay 2", MINE, place=place("notes", "b.md", 1))
        again = replace(again, record=replace(again.record, id=two))
        kept = (Kept(one, place("notes", "b.md", 0)),)
        write(store, ann, PutDocument(document("notes", "b.md"), (again,), kept, (two, three), "a.md"))
        assert _events(store, ann) == [told[1], told[0]]
        write(store, ann, DropSource("notes"))
        assert _events(store, ann) == []

    def test_lives_and_events_outlive_a_rebuild(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Of everybody; what the next generation does not hold loses its events. Runs stay."""
        write(store, ann, PutSource(source("notes", MINE)))
        write(store, ann, put_document("notes", "a.md", ["jay one"], MINE))
        passage = sample_id("a.md:jay one")
        _put(store, ann, "ac")
        _put(store, bob, "b", "user:bob")
        told = Event(A, "archived", 2, MINE, None, C, 0, "active")
        write(store, ann, PutLife({A: ALL, passage: Life("archived")}), PutRun(RUN))
        write(store, ann, PutEvents((told, Event(C, "used", 1, MINE), Event(passage, "used", 0, MINE))))
        write(store, bob, PutEvents((Event(B, "used", 1, "user:bob"),)))
        with store.rebuild(ann) as rebuild:
            stored = rebuild.additions()
            changes: list[Change] = [PutMemory(one) for one in stored if one.record.id != C]
            changes += [PutDocument(held, tuple(rebuild.passages(held))) for held in rebuild.documents()]
            rebuild.write(changes)
        assert _events(store, ann) == [replace(told, other=None), Event(passage, "used", 0, MINE)]
        assert len(_events(store, bob)) == 1
        with store.reader(ann) as reader:
            assert reader.get([A])[A] == lived(memory("jay a", MINE, name="a").record, ALL)
            assert reader.runs() == [RUN]
            assert {r.id for r in reader.page("", 9, Where(statuses=("archived",)))} == {A, passage}

    def test_a_rebuild_writes_no_life(self, store: Store, ann: Scope) -> None:
        """Events and runs belong to no generation; a memory is written with its life."""
        _put(store, ann, "a")
        for change in (PutLife({A: ALL}), PutEvents(()), PutRun(RUN)):
            with pytest.raises(InputError), store.rebuild(ann) as rebuild:
                rebuild.write([change])
        with store.reader(ann) as reader:
            assert reader.get([A])[A].status == "active"

    def test_what_is_reinforced_tells_how_sure_it_was(self, store: Store, ann: Scope) -> None:
        """The number comes back as it was written."""
        _put(store, ann, "a")
        told = Event(A, "reinforced", 1, MINE, "run_1", before=repr(0.1 + 0.2))
        write(store, ann, PutEvents((told,)))
        assert _events(store, ann) == [told]

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
        _put(store, ann, "a")
        good = Event(A, "used", 1, MINE)
        with pytest.raises(InputError):
            write(store, ann, PutEvents((good,)), PutEvents((good, replace(good, **bad))))
        assert _events(store, ann) == []
