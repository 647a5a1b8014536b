"""Life: what time and use make of memories."""

from __future__ import annotations

import math
from typing import Any

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.edges import Edge
from scrubjay.memory.life import Life, lived
from scrubjay.memory.records import Record, When, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Kept, PutDocument, PutEdges, PutLife, PutMemory, PutModel, PutSource
from scrubjay.testing.store_answers import EVERY
from scrubjay.testing.store_samples import (
    SMALL,
    con,
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

MINE = "user:ann"
F = SMALL.fingerprint
A, B, C, D = (sample_id(name) for name in "abcd")
ALL = Life("archived", True, 0.25, 1 / 3, -5, 9, 7)

REFUSED: tuple[tuple[str, Life], ...] = (
    ("an unknown status", Life(status="forgotten")),
    ("an unknown origin", Life(origin="nobody")),
    ("a strength above one", Life(strength=1.01)),
    ("a strength below nought", Life(strength=-0.01)),
    ("a strength that is no number", Life(strength=math.nan)),
    ("a confidence above one", Life(confidence=2)),
    ("a confidence that is no number", Life(confidence=math.nan)),
    ("a project that holds half a character", Life(project="\ud800")),
    ("an end before the beginning", Life(valid_from=5, valid_until=4)),
    ("an end before the beginning that it has", Life(valid_until=99)),
    ("a beginning after the end that it has", Life(valid_from=201)),
)


def _put(store: Store, scope: Scope, names: str, key: str = MINE, **fields: Any) -> None:
    write(store, scope, *(PutMemory(memory(f"jay {name}", key, name=name, **fields)) for name in names))


def _record(store: Store, scope: Scope, memory_id: str) -> Record:
    with store.reader(scope) as reader:
        return reader.get([memory_id])[memory_id]


class LifeContract:
    """What time and use make of memories."""

    def test_a_life_changes_what_it_says_and_nothing_else(self, store: Store, ann: Scope) -> None:
        """Each attribute alone, then all; ``updated_at``, text and place stay."""
        _put(store, ann, "a", recorded_at=3, updated_at=4)
        record = _record(store, ann, A)
        one_by_one = (
            Life(status="superseded"), Life(pinned=True), Life(strength=0.5), Life(confidence=0.1),
            Life(valid_from=7), Life(valid_until=8), Life(last_used=9), Life(project="owls"),
            Life(project=None), Life(origin="untrusted"), Life(), ALL,
        )  # fmt: skip
        for life in one_by_one:
            write(store, ann, PutLife({A: life}))
            record = lived(record, life)
            assert _record(store, ann, A) == record
        assert (record.status, record.pinned, record.valid_until, record.updated_at) == (
            "archived",
            True,
            9,
            4,
        )

    def test_a_life_can_take_a_time_away(self, store: Store, ann: Scope) -> None:
        """None is a value of its own."""
        _put(store, ann, "a", valid_from=1, valid_until=2, last_used=3)
        write(store, ann, PutLife({A: Life(valid_until=None)}))
        assert _record(store, ann, A).valid_from == 1
        write(store, ann, PutLife({A: Life(valid_from=None, last_used=None)}))
        record = _record(store, ann, A)
        assert (record.valid_from, record.valid_until, record.last_used) == (None, None, None)

    def test_a_new_status_is_what_filters_ask_for(self, store: Store, ann: Scope) -> None:
        """In words, vectors, likeness, pages and counts, of passages too; no statistic changes."""
        model = {F: embedded("jay")}
        write(store, ann, PutModel(SMALL), PutSource(source("notes", MINE)))
        _put(store, ann, "abc", vectors=model)
        write(store, ann, put_document("notes", "a.md", ["jay one", "jay two"], MINE, vectors=model))
        passage = sample_id("a.md:jay one")
        with store.reader(ann) as reader:
            before = reader.words([group("jay")], EVERY).top(9)
        write(store, ann, PutLife({A: Life("archived"), B: Life("superseded"), passage: Life("archived")}))
        for wanted, statuses in (
            ({C, sample_id("a.md:jay two")}, ("active",)),
            ({A, passage}, ("archived",)),
            ({B}, ("superseded",)),
        ):
            where = Where(statuses=statuses)
            with store.reader(ann) as reader:
                assert {hit.id for hit in reader.words([group("jay")], where).top(9)} == wanted
                assert {hit.id for hit in reader.nearest(F, vector("jay"), where).top(9)} == wanted
                assert {record.id for record in reader.page("", 9, where)} == wanted
        with store.reader(ann) as reader:
            assert reader.words([group("jay")], EVERY).top(9) == before
            assert [{hit.id for hit in hits} for hits in reader.alike(F, vector("jay")[None], 9, -1.0)] == [
                {C, sample_id("a.md:jay two")}
            ]
            assert reader.counts().statuses == {"active": 2, "archived": 2, "superseded": 1}
        write(store, ann, PutLife({A: Life("active")}))
        with store.reader(ann) as reader:
            assert A in {hit.id for hit in reader.words([group("jay")], Where()).top(9)}

    def test_a_status_is_changed_where_it_was_just_written(self, store: Store, ann: Scope) -> None:
        """One batch puts a memory, archives it, and writes more."""
        fresh, more = (PutMemory(memory(f"jay {name}", MINE, name=name)) for name in "ab")
        write(store, ann, fresh, PutLife({A: Life("archived")}), more)
        with store.reader(ann) as reader:
            assert [hit.id for hit in reader.words([group("jay")], Where()).top(9)] == [B]
            assert [hit.id for hit in reader.words([group("jay")], EVERY).top(9)] == sorted([A, B])
        write(store, ann, fresh)
        with store.reader(ann) as reader:
            assert len(reader.words([group("jay")], Where()).top(9)) == 2

    def test_edges_and_vectors_outlive_a_life(self, store: Store, ann: Scope) -> None:
        """An archived memory stays in its web."""
        write(store, ann, PutModel(SMALL))
        _put(store, ann, "ab", vectors={F: embedded("jay")})
        edge = Edge(A, "links", B, MINE)
        write(store, ann, PutEdges((edge,)), PutLife({A: ALL, B: Life("superseded")}))
        with store.reader(ann) as reader:
            assert reader.edges([A], ["links"]) == [edge]
            assert (reader.coverage(F).covered, reader.waiting(F, 9)) == (2, [])

    def test_a_status_outlives_a_look_at_its_file(self, store: Store, ann: Scope) -> None:
        """What is kept, moved or touched keeps its life."""
        write(store, ann, PutSource(source("notes", MINE)))
        write(store, ann, put_document("notes", "a.md", ["jay one", "jay two"], MINE))
        one, two = (sample_id(f"a.md:jay {name}") for name in ("one", "two"))
        write(store, ann, PutLife({one: Life("archived", strength=0.5)}))
        kept = (Kept(two, place("notes", "b.md", 0)), Kept(one, place("notes", "b.md", 1)))
        write(store, ann, PutDocument(document("notes", "a.md", "touched")))
        write(store, ann, PutDocument(document("notes", "b.md"), (), kept, (), "a.md"))
        record = _record(store, ann, one)
        assert (record.status, record.strength) == ("archived", 0.5)
        with store.reader(ann) as reader:
            assert [hit.id for hit in reader.words([group("jay")], Where()).top(9)] == [two]

    @pytest.mark.parametrize(("why", "life"), REFUSED, ids=[why for why, _ in REFUSED])
    def test_a_bad_life_refuses_the_whole_write(self, store: Store, ann: Scope, why: str, life: Life) -> None:
        """Nothing of the batch is stored."""
        _put(store, ann, "ab", valid_from=100, valid_until=200)
        before = [_record(store, ann, one) for one in (A, B)]
        with pytest.raises(InputError):
            write(store, ann, PutLife({A: Life(pinned=True)}), PutLife({A: Life("archived"), B: life}))
        assert [_record(store, ann, one) for one in (A, B)] == before, why

    def test_who_does_not_see_a_memory_changes_nothing_of_it(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Unknown, foreign and malformed ids are passed over; what both see either may change."""
        _put(store, ann, "a")
        _put(store, ann, "b", "public")
        tier = sample_id("a", "lesson")
        strange = dict.fromkeys((A, sample_id("none"), tier, con("x"), "", "no id", "obs_"), ALL)
        for other in (bob, eve):
            write(store, other, PutLife(strange))
        write(store, ann, PutLife({tier: ALL}))
        assert _record(store, ann, A) == memory("jay a", MINE, name="a").record
        write(store, bob, PutLife({B: Life("archived"), A: Life(strength=0)}))
        assert (_record(store, ann, B).status, _record(store, ann, A).strength) == ("archived", 1.0)
        with pytest.raises(InputError):
            write(store, bob, PutLife({A: Life("gone")}))
        write(store, bob, PutLife({A: Life(valid_from=2), sample_id("none"): Life(valid_until=1)}))

    def test_counts_tell_each_tiers_statuses(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Of what the scope sees."""
        _put(store, ann, "abc", tier="lesson")
        _put(store, ann, "de", "public")
        write(store, ann, PutLife({sample_id("a", "lesson"): Life("archived"), D: Life("superseded")}))
        both = {"observation": {"active": 1, "superseded": 1}}
        with store.reader(ann) as reader:
            counts = reader.counts()
            assert counts.by_tier == {"lesson": {"active": 2, "archived": 1}, **both}
            assert counts.statuses == {"active": 3, "archived": 1, "superseded": 1}
        with store.reader(bob) as reader:
            assert reader.counts().by_tier == both

    def test_what_happened_last_comes_first_and_takes_a_filter(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """By event, else when it was recorded; equal times by id. Others' memories take no place."""
        for number, text in enumerate("abc"):
            event = When(number * 10, number * 10)
            write(store, ann, PutMemory(memory(text, MINE, event=event, pinned=text == "b")))
        write(store, ann, PutMemory(memory("d", MINE, event=When(20, 20), project="p", tier="lesson")))
        write(store, bob, PutMemory(memory("later", "user:bob", event=When(99, 99))))
        with store.reader(ann) as reader:
            found = reader.latest(Where(), 9)
            assert [record.content for record in found[2:]] == ["b", "a"]
            assert {record.content for record in found[:2]} == {"c", "d"}
            digits = [record.id.partition("_")[2] for record in found[:2]]
            assert digits == sorted(digits)
            assert reader.latest(Where(), 1) == found[:1]
            assert reader.latest(Where(), 2, 1) == found[1:3]
            assert reader.latest(Where(), 9, 9) == []
            assert [record.content for record in reader.latest(Where(pinned=True), 9)] == ["b"]
            assert [record.content for record in reader.latest(Where(projects=("p",)), 9)] == ["d"]
            assert reader.latest(Where(statuses=("archived",)), 9) == []

    def test_a_page_takes_a_filter(self, store: Store, ann: Scope, bob: Scope) -> None:
        """In the order of all pages, of any tier; without one every memory is there."""
        write(store, ann, PutSource(source("notes", MINE)))
        _put(store, ann, "abcd", "public", tier="lesson", tags=("lesson",))
        _put(store, ann, "efgh", tier="observation")
        _put(store, ann, "ij", tier="crystal", status="archived")
        write(store, ann, put_document("notes", "a.md", ["jay one"], MINE))
        with store.reader(ann) as reader:
            everyone = reader.page("", 99)
            lessons = [record for record in everyone if record.tier == "lesson"]
            assert reader.page("", 99, EVERY) == everyone
            assert reader.page("", 99, Where(tiers=("lesson",))) == lessons
            assert reader.page("", 2, Where(tags=("lesson",))) == lessons[:2]
            assert reader.page(lessons[0].id, 99, Where(tiers=("lesson",))) == lessons[1:]
            assert reader.page(lessons[-1].id, 99, Where(tiers=("lesson",))) == []
            assert [r.content for r in reader.page("", 9, Where(sources=("notes",)))] == ["jay one"]
            assert {r.tier for r in reader.page("", 9, Where(statuses=("archived",)))} == {"crystal"}
            assert reader.page("crys_ffffffffffffffff", 9, EVERY) == []
        with store.reader(bob) as reader:
            assert reader.page("", 9, Where(statuses=("archived",))) == []
