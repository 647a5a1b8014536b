"""Sessions: chains in time, the turns of a conversation, pages of memories, documents that grow."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import When
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Forget, Kept, Prepared, PutDocument, PutMemory, PutModel, PutSource
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
    write,
)

MINE = "user:ann"


def _said(name: str, session: str | None, turn: int | None, key: str = MINE, **fields: Any) -> Prepared:
    return memory(f"jay {name}", key, name=name, session=session, turn=turn, **fields)


def _put(store: Store, scope: Scope, *memories: Prepared) -> None:
    write(store, scope, *(PutMemory(one) for one in memories))


def _pairs(store: Store, scope: Scope, names: str) -> list[tuple[str, str, str]]:
    """Return rule, later and earlier of the chains through memories that are named by one letter each."""
    known = {sample_id(letter): letter for letter in "abcdefghijklmnopqrstuvwxyz"}
    with store.reader(scope) as reader:
        found = reader.follows([sample_id(name) for name in names])
    assert found == sorted(found, key=lambda edge: (edge.rule, edge.src, edge.dst))
    return sorted((edge.rule, known[edge.src], known[edge.dst]) for edge in found)


class SessionsContract:
    """What came before and after."""

    def test_a_follows_edge_tells_when_the_earlier_one_happened(self, store: Store, ann: Scope) -> None:
        """Event start, else recorded; the later one's key, weight 1, found."""
        told = _said("a", "s", 0, "public", event=When(-70, -60), recorded_at=5)
        _put(store, ann, told, _said("b", "s", 1, recorded_at=6), _said("c", "s", 2, "group:dev"))
        a, b, c = (sample_id(name) for name in "abc")
        edges = [Edge(b, "follows", a, MINE, 1.0, -70, rule="session")]
        edges.append(Edge(c, "follows", b, "group:dev", 1.0, 6, rule="session"))
        with store.reader(ann) as reader:
            assert reader.follows([a]) == edges[:1]
            assert reader.follows([b, a, b, "no id", sample_id("none")]) == sorted(edges, key=lambda e: e.src)
            assert (reader.follows([]), reader.follows([con("x"), ""])) == ([], [])
            assert reader.edges([a, b, c], ["follows"]) == []

    def test_turns_of_a_session_follow_each_other(self, store: Store, ann: Scope) -> None:
        """Those that differ by one: every piece of a turn follows every piece of the turn before."""
        turns = (("a", "s", 0), ("b", "s", 1), ("c", "s", 1), ("d", "s", 2), ("e", "s", 4), ("f", "t", 3))
        extra = (("g", None, 1), ("h", "s", None), ("i", "s", -1))
        _put(store, ann, *(_said(*one) for one in turns + extra))
        chain = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("a", "i")]
        assert _pairs(store, ann, "abcdefghi") == sorted(("session", *pair) for pair in chain)
        assert _pairs(store, ann, "c") == [("session", "c", "a"), ("session", "d", "c")]
        assert _pairs(store, ann, "efgh") == []

    def test_passages_of_a_document_follow_each_other(self, store: Store, ann: Scope) -> None:
        """Those without a session whose ordinals differ by one."""
        write(store, ann, PutSource(source("notes", MINE)), PutSource(source("work", MINE)))
        stands = (("a", "a.md", 0), ("b", "a.md", 1), ("c", "a.md", 2), ("d", "b.md", 3), ("e", "a.md", 4))
        fresh = {path: [n for n in stands if n[1] == path] for path in ("a.md", "b.md")}
        spoken = _said("f", "s", None, place=place("notes", "a.md", 3))
        for path, own in fresh.items():
            made = [memory(n, MINE, name=n, place=place("notes", path, ordinal)) for n, _, ordinal in own]
            more = [spoken] if path == "a.md" else []
            write(store, ann, PutDocument(document("notes", path), (*made, *more)))
        other = memory("g", MINE, name="g", place=place("work", "a.md", 1), turn=7)
        first = memory("h", MINE, name="h", place=place("work", "a.md", 0))
        write(store, ann, PutDocument(document("work", "a.md"), (other, first)))
        chain = [("document", "b", "a"), ("document", "c", "b"), ("document", "g", "h")]
        assert _pairs(store, ann, "abcdefgh") == chain
        assert _pairs(store, ann, "b") == chain[:2]
        assert _pairs(store, ann, "def") == []

    def test_heads_of_a_project_follow_each_other(self, store: Store, ann: Scope) -> None:
        """First turns, first passages and additions, by (time, id): the neighbours of each."""
        write(store, ann, PutSource(source("notes", MINE)))
        passages = [
            memory(n, MINE, name=n, project="p", recorded_at=40 + i, place=place("notes", "a.md", i))
            for i, n in enumerate("abc")
        ]
        write(store, ann, PutDocument(document("notes", "a.md"), tuple(passages)))
        _put(
            store, ann,
            _said("d", "s", 0, project="p", recorded_at=10), _said("e", "s", 1, project="p", recorded_at=11),
            _said("f", "s", None, project="p", recorded_at=12), _said("g", None, 0, project="p", recorded_at=13),
            _said("h", None, None, project="p", recorded_at=99, event=When(20, 30)),
            _said("i", None, None, project="p", recorded_at=50, status="archived"),
            _said("j", None, None, project="q", recorded_at=25), _said("k", None, None, recorded_at=26),
            _said("l", "t", 0, project="p", recorded_at=5),
        )  # fmt: skip
        heads = [("d", "l"), ("h", "d"), ("a", "h"), ("i", "a")]
        assert _pairs(store, ann, "ldhai") == sorted([
            *(("project", *pair) for pair in heads), ("session", "e", "d"), ("document", "b", "a"),
        ])  # fmt: skip
        assert _pairs(store, ann, "h") == [("project", "a", "h"), ("project", "h", "d")]
        assert _pairs(store, ann, "fgjk") == []

    def test_heads_of_one_time_follow_by_id(self, store: Store, ann: Scope) -> None:
        """Also across tiers."""
        tiers = ("semantic", "crystal", "observation", "facet", "lesson", "semantic")
        made = [memory(f"n{i}", MINE, name=f"n{i}", tier=t, project="p") for i, t in enumerate(tiers)]
        _put(store, ann, *made)
        ids = sorted(one.record.id for one in made)
        with store.reader(ann) as reader:
            for number, one in enumerate(ids):
                near = ids[max(0, number - 1) : number + 2]
                pairs = {(edge.src, edge.dst) for edge in reader.follows([one])}
                assert pairs == {(later, earlier) for earlier, later in pairwise(near)}

    def test_a_chain_passes_over_what_is_hidden(
        self, store: Store, ann: Scope, bob: Scope, eve: Scope
    ) -> None:
        """Neither a stranger's turn, passage or head, nor a gap, nor a tie tells that it is there."""
        write(store, ann, PutSource(source("shared", "public")))
        keys = {"a": "public", "b": MINE, "c": "public", "d": "public"}
        standing = [
            memory(n, key, name=n, project="p", recorded_at=i, place=place("shared", "s.md", i))
            for i, (n, key) in enumerate(keys.items())
        ]
        write(store, ann, PutDocument(document("shared", "s.md"), tuple(standing)))
        said = [_said(n, "s", i, key) for i, (n, key) in enumerate(zip("efgh", keys.values(), strict=True))]
        heads = [
            _said(n, None, None, key, project="p", recorded_at=20 + i)
            for i, (n, key) in enumerate(zip("ijkl", keys.values(), strict=True))
        ]
        _put(store, ann, *said, *heads)
        _put(store, eve, _said("m", "s", 1, "public"), _said("n", None, None, "public", project="p"))
        seen = [("document", "d", "c"), ("project", "i", "a"), ("project", "k", "i"), ("project", "l", "k")]
        assert _pairs(store, bob, "abcdefghijklmn") == [*seen, ("session", "h", "g")]
        assert _pairs(store, bob, "bfj") == []
        assert len(_pairs(store, ann, "abcdefghijkl")) == 3 + 3 + 4
        with store.reader(bob) as reader:
            assert [one.id for one in reader.turns("s", 0, 9)] == [sample_id(n) for n in "egh"]
            assert reader.last_turn("s") == 3
        write(store, ann, Forget((sample_id("h"),)))
        _put(store, ann, _said("o", "s", 9), _said("p", "own", 1))
        with store.reader(bob) as reader:
            assert (reader.last_turn("s"), reader.last_turn("own")) == (2, None)
            assert (reader.turns("s", 3, 99), reader.turns("own", 0, 9)) == ([], [])

    def test_turns_are_read_in_order(self, store: Store, ann: Scope) -> None:
        """By turn, ordinal, id, both bounds included; what stands in no document is first of its turn."""
        write(store, ann, PutSource(source("log", MINE)))
        pieces = [
            _said(f"piece {turn} {ordinal}", "s", turn, place=place("log", "s.jsonl", ordinal), status=status)
            for turn, ordinal, status in (
                (7, 2, "active"),
                (7, 12, "archived"),
                (2, 1, "active"),
                (7, 3, "active"),
            )
        ]
        write(store, ann, PutDocument(document("log", "s.jsonl"), tuple(pieces)))
        same = [_said(f"same {i}", "s", 7) for i in range(4)]
        tiers = [_said(f"tier {t}", "s", 7, tier=t) for t in ("semantic", "crystal")]
        _put(store, ann, *same, *tiers, _said("other", "t", 7), _said("none", "s", None), _said("x", None, 7))
        whole = [*sorted((*same, *tiers), key=lambda one: one.record.id), pieces[0], pieces[3], pieces[1]]
        records = [one.record for one in (pieces[2], *whole)]
        with store.reader(ann) as reader:
            assert reader.turns("s", 0, 99) == records
            assert (reader.turns("s", 2, 2), reader.turns("s", 3, 7)) == (records[:1], records[1:])
            assert (reader.turns("s", 7, 2), reader.turns("none", 0, 99)) == ([], [])
            assert [reader.last_turn(name) for name in ("s", "t", "none", "")] == [7, 7, None, None]

    def test_memories_are_paged_by_their_digits(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Whatever their tier and status, none twice, none left out; also after one that is gone."""
        tiers = ("semantic", "crystal", "observation", "facet", "lesson")
        made = [memory(f"n{i}", MINE, name=f"n{i}", tier=tiers[i % 5]) for i in range(17)]
        made.append(memory("old", MINE, name="old", status="archived"))
        _put(store, ann, *made)
        _put(store, bob, *(memory(f"b{i}", "user:bob", name=f"b{i}") for i in range(9)))
        records = sorted((one.record for one in made), key=lambda record: record.id.partition("_")[2])
        for size in (1, 4, 18, 99):
            after, pages = "", []
            with store.reader(ann) as reader:
                while page := reader.page(after, size):
                    assert len(page) <= size
                    pages += page
                    after = page[-1].id
            assert pages == records
        write(store, ann, Forget((records[3].id,)))
        with store.reader(ann) as reader:
            assert reader.page(records[3].id, 2) == records[4:6]
            assert (reader.page("", 0), reader.page(f"obs_{'f' * 16}", 9)) == ([], [])
            assert reader.page(f"crys_{'0' * 16}", 2) == records[:2]
            for wrong in ("no id", "obs_12", con("x"), "'; --", records[0].id.upper(), "half \ud83d"):
                with pytest.raises(InputError):
                    reader.page(wrong, 9)

    def test_a_growing_document_keeps_its_passages(self, store: Store, ann: Scope) -> None:
        """The fresh join them; what is said of the document is the last."""
        write(store, ann, PutModel(SMALL), PutSource(source("log", MINE)))
        vectors = {"vectors": {SMALL.fingerprint: embedded("v")}}
        write(store, ann, put_document("log", "s.jsonl", ["jay one", "jay two"], MINE, **vectors))
        three = memory("jay three", MINE, name="three", place=place("log", "s.jsonl", 2))
        read_on = replace(document("log", "s.jsonl", "2"), cursor=300, size=400)
        write(store, ann, PutDocument(read_on, (three,), grows=True))
        with store.reader(ann) as reader:
            texts = [passage.content for passage in reader.passages("log", "s.jsonl")]
            assert texts == ["jay one", "jay two", "jay three"]
            assert reader.documents("log") == {"s.jsonl": read_on}
            assert reader.frequencies([group("jay")]) == [3]
            assert (reader.coverage(SMALL.fingerprint).covered, reader.counts().documents) == (2, 1)

    def test_a_growing_document_may_drop_keep_and_replace(self, store: Store, ann: Scope) -> None:
        """As any other does, but what is not named stays; one that is new begins so."""
        write(store, ann, PutSource(source("log", MINE)))
        begun = replace(put_document("log", "s.jsonl", ["one", "two", "three", "four"], MINE), grows=True)
        write(store, ann, begun)
        kept = Kept(sample_id("s.jsonl:four"), place("log", "s.jsonl", 9))
        again = memory("two now", MINE, name="s.jsonl:two", place=place("log", "s.jsonl", 5))
        gone = (sample_id("s.jsonl:one"),)
        write(store, ann, PutDocument(document("log", "s.jsonl"), (again,), (kept,), gone, None, True))
        with store.reader(ann) as reader:
            passages = reader.passages("log", "s.jsonl")
            assert [(p.content, p.place and p.place.ordinal) for p in passages] == [
                ("three", 2), ("two now", 5), ("four", 9),
            ]  # fmt: skip

    def test_a_renamed_document_may_grow(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Its passages come along, also those that its writer does not see; what stood there goes."""
        write(store, ann, PutSource(source("log", "public")), put_document("log", "b.jsonl", ["old"], MINE))
        write(store, ann, put_document("log", "a.jsonl", ["one"], MINE))
        two = memory("two", "user:bob", name="two", place=place("log", "b.jsonl", 1))
        write(store, bob, PutDocument(document("log", "b.jsonl"), (two,), (), (), "a.jsonl", True))
        for who, texts in ((ann, ["one"]), (bob, ["two"])):
            with store.reader(who) as reader:
                assert [passage.content for passage in reader.passages("log", "b.jsonl")] == texts
                assert (list(reader.documents("log")), reader.counts().memories) == (["b.jsonl"], 1)
