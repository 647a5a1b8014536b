"""Graph: what is read of edges: their order, who sees them, and the numbers made of them."""

from __future__ import annotations

from dataclasses import replace

from scrubjay.memory.edges import STORED, Edge
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    DropConcept,
    DropEdges,
    Forget,
    PutCategory,
    PutConcept,
    PutEdges,
    PutMemory,
)
from scrubjay.testing.store_samples import cat, category, con, concept, memory, sample_id, write

MINE = "user:ann"
A, B, C, D = (sample_id(name) for name in "abcd")
FULL = Edge(A, "links", B, "group:dev", 0.1 + 0.2, -(2**62), "given", "wiki link", "run-1")


def _memories(store: Store, scope: Scope, key: str = MINE, names: str = "abcd") -> None:
    write(store, scope, *(PutMemory(memory(f"jay {name}", key, name=name)) for name in names))


def _refer(store: Store, scope: Scope, referring: dict[str, str], key: str = MINE) -> list[Edge]:
    """Let memories, each named by its key here, refer to concepts of one letter each."""
    edges = [
        Edge(sample_id(m), "references", con(c), key, 0.5) for m, named in referring.items() for c in named
    ]
    names = sorted({name for named in referring.values() for name in named})
    write(store, scope, *(PutMemory(memory(f"jay {m}", key, name=m)) for m in referring))
    write(store, scope, *(PutConcept(concept(name, key)) for name in names), PutEdges(tuple(edges)))
    return edges


class GraphContract:
    """Edges as they are read, from either end."""

    def test_an_edge_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute, to the last bit, from both of its ends; what is unknown has none."""
        _memories(store, ann)
        bare = Edge(B, "similar", C, MINE)
        write(store, ann, PutEdges((FULL, bare)))
        with store.reader(ann) as reader:
            assert reader.edges([A, B, "no id", sample_id("none"), ""], STORED) == [FULL, bare]
            assert reader.edges([C, B], STORED, inward=True) == [bare, FULL]
            assert reader.edges([A, B, C], ["links"]) == [FULL]
            nothing = [reader.edges([], STORED), reader.edges([A], []), reader.edges([A], ["no kind"])]
            assert nothing == [[], [], []]

    def test_edges_lead_to_concepts_and_categories_too(self, store: Store, ann: Scope) -> None:
        """And are found from there."""
        _memories(store, ann)
        refers = Edge(A, "references", con("jay"), MINE, 0.5)
        belongs = Edge(A, "belongs", cat("birds", MINE), MINE)
        write(store, ann, PutConcept(concept("jay", MINE)), PutCategory(category("birds", MINE)))
        write(store, ann, PutEdges((refers, belongs)))
        ends = [con("jay"), cat("birds", MINE)]
        with store.reader(ann) as reader:
            assert reader.edges([A], STORED) == [belongs, refers]
            assert reader.edges(ends, STORED, inward=True) == [refers, belongs]
            assert reader.edges(ends, STORED) == []

    def test_edges_come_in_order_and_are_cut_by_id_and_kind(self, store: Store, ann: Scope) -> None:
        """By the id asked for, kind, falling weight, other end; the heaviest of each are kept."""
        tiers = ("observation", "lesson", "semantic", "facet", "crystal", "insight")
        made = [memory(f"n{i}", MINE, name=f"n{i}", tier=tier) for i, tier in enumerate(tiers)]
        ids = [one.record.id for one in made]
        weighed = list(zip(ids[1:], (0.5, 0.25, 0.5, 1.0, 0.5), strict=True))
        links, others = ([Edge(ids[0], k, end, MINE, w) for end, w in weighed] for k in ("links", "similar"))
        back = [Edge(end, "links", ids[0], MINE, w) for end, w in weighed]
        write(store, ann, *(PutMemory(one) for one in made), PutEdges((*others, *links, *back)))
        out, more = (sorted(some, key=lambda e: (-e.weight, e.dst)) for some in (links, others))
        inward = sorted(back, key=lambda e: (-e.weight, e.src))
        with store.reader(ann) as reader:
            for limit in (None, 0, 1, 3, 9):
                asked = reader.edges([ids[0]], ("similar", "links", "similar"), limit=limit)
                assert asked == out[:limit] + more[:limit]
                assert reader.edges([ids[0]], ["links"], inward=True, limit=limit) == inward[:limit]
            assert reader.edges([ids[4], ids[0], ids[4]], ["links"], limit=1) == [back[3], out[0]]

    def test_degrees_count_the_edges_that_lead_to_an_id(self, store: Store, ann: Scope) -> None:
        """Of one kind; an id without any is left out."""
        _memories(store, ann)
        _refer(store, ann, {"a": "xy", "b": "x", "c": "x"})
        write(store, ann, PutEdges((FULL, Edge(C, "links", B, MINE), Edge(A, "similar", B, MINE))))
        with store.reader(ann) as reader:
            assert reader.degrees("references") == {con("x"): 3, con("y"): 1}
            assert reader.degrees("references", [con("y"), con("none"), A, "no id"]) == {con("y"): 1}
            assert (reader.degrees("links"), reader.degrees("similar", [B, C])) == ({B: 2}, {B: 1})
            assert (reader.degrees("references", []), reader.degrees("no kind")) == ({}, {})

    def test_meetings_count_what_the_same_memories_refer_to(self, store: Store, ann: Scope) -> None:
        """Concepts beside it, with how many memories were looked at; nothing of other kinds."""
        _refer(store, ann, {"a": "xyz", "b": "xy", "c": "x", "d": "yz"})
        write(store, ann, PutEdges((Edge(A, "links", D, MINE),)))
        with store.reader(ann) as reader:
            assert reader.meetings(con("x"), 99) == ({con("y"): 2, con("z"): 1}, 3)
            assert reader.meetings(con("z"), 99) == ({con("y"): 2, con("x"): 1}, 2)
            assert reader.meetings(con("none"), 99) == ({}, 0)
            assert reader.meetings(A, 99) == ({}, 0)

    def test_meetings_look_at_the_memories_of_the_greatest_digits(self, store: Store, ann: Scope) -> None:
        """Whatever their tier and whenever they came, so that every store looks at the same ones."""
        tiers = ("semantic", "crystal", "observation", "lesson")
        made = [memory(f"n{i}", MINE, name=f"n{i}", tier=tiers[i % 4]) for i in range(12)]
        ids = [one.record.id for one in made]
        write(store, ann, *(PutMemory(one) for one in made), PutConcept(concept("x", MINE)))
        for number, one in enumerate(ids):
            own = con(f"own {number}")
            found = PutEdges(tuple(Edge(one, "references", end, MINE) for end in (con("x"), own)))
            write(store, ann, PutConcept(concept(f"own {number}", MINE)), found)
        order = sorted(range(12), key=lambda i: ids[i].partition("_")[2], reverse=True)
        with store.reader(ann) as reader:
            for limit in (0, 1, 5, 12, 99):
                looked = {con(f"own {number}"): 1 for number in order[:limit]}
                assert reader.meetings(con("x"), limit) == (looked, len(looked))

    def test_edges_of_every_status_are_seen(self, store: Store, ann: Scope) -> None:
        """An archived memory still refers and is linked to."""
        for name, status in (("a", "archived"), ("b", "superseded"), ("c", "active")):
            write(store, ann, PutMemory(memory(name, MINE, name=name, status=status)))
        edges = [Edge(A, "links", B, MINE), Edge(B, "links", C, MINE), Edge(C, "links", A, MINE)]
        write(store, ann, PutEdges(tuple(edges)))
        with store.reader(ann) as reader:
            assert reader.edges([A, B, C], ["links"]) == edges
            assert reader.degrees("links") == {A: 1, B: 1, C: 1}

    def test_an_edge_is_seen_by_who_sees_it_and_both_of_its_ends(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """From either end, in numbers, in meetings; nobody else learns that it is there."""
        own = memory("own", MINE, name="own")
        _memories(store, ann, "public")
        write(store, ann, PutMemory(own), PutConcept(concept("x", "public")), PutConcept(concept("y", MINE)))
        shared = [Edge(A, "links", B, "public"), Edge(A, "references", con("x"), "public")]
        hidden = [
            Edge(A, "links", C, MINE),
            Edge(A, "links", own.record.id, "public"),
            Edge(own.record.id, "links", A, "public"),
            Edge(A, "references", con("y"), "public"),
            Edge(own.record.id, "references", con("x"), "public"),
        ]
        write(store, ann, PutEdges((*shared, *hidden)))
        ids = [A, B, C, own.record.id, con("x"), con("y")]
        with store.reader(bob) as reader:
            assert reader.edges(ids, STORED) == shared
            assert reader.edges(ids, STORED, inward=True) == shared
            assert reader.degrees("links") == {B: 1}
            assert reader.degrees("references") == {con("x"): 1}
            assert reader.meetings(con("x"), 9) == ({}, 1)
            assert reader.meetings(con("y"), 9) == ({}, 0)
        with store.reader(ann) as reader:
            assert len(reader.edges(ids, STORED)) == len(shared + hidden)
            assert reader.degrees("references") == {con("x"): 2, con("y"): 1}
            assert reader.meetings(con("x"), 9) == ({con("y"): 1}, 2)

    def test_a_limit_is_not_used_up_by_what_is_hidden(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Foreign edges may be heavier, and many."""
        _memories(store, ann, "public")
        mine = Edge(A, "links", D, "public", 0.1)
        write(store, ann, PutEdges((mine,)))
        names = [f"bobs {i}" for i in range(20)]
        write(store, bob, *(PutMemory(memory(name, "user:bob", name=name)) for name in names))
        write(store, bob, PutConcept(concept("x", "user:bob")), PutEdges((Edge(A, "links", B, "user:bob"),)))
        write(store, bob, PutEdges(tuple(Edge(A, "links", sample_id(name), "public") for name in names)))
        write(store, bob, PutEdges(tuple(Edge(sample_id(name), "links", D, "public") for name in names)))
        with store.reader(ann) as reader:
            assert reader.edges([A], STORED, limit=1) == [mine]
            assert reader.edges([D], STORED, inward=True, limit=1) == [mine]

    def test_what_several_keys_say_of_the_same_ends_is_one_edge(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """A given one before a found one, the heavier, that of the smaller key; none replaces another."""
        _memories(store, ann, "public")
        first = Edge(A, "links", B, "public", 0.5)
        write(store, ann, PutEdges((first,)))
        for weight, origin, shown in (
            (0.25, "found", False), (0.75, "found", True), (0.5, "found", False), (0.25, "given", True),
        ):  # fmt: skip
            own = replace(first, key=MINE, weight=weight, origin=origin)
            write(store, ann, PutEdges((own,)))
            seen = own if shown else first
            with store.reader(ann) as reader:
                assert reader.edges([A], ["links"], limit=1) == [seen]
                assert reader.edges([B], ["links"], inward=True) == [seen]
            with store.reader(bob) as reader:
                assert reader.edges([A], ["links"]) == [first]
        team = replace(first, key="group:dev", weight=0.1, origin="given")
        heavier = Edge(A, "links", C, MINE, 0.15)
        write(store, ann, PutEdges((team, heavier)))
        with store.reader(ann) as reader:
            assert reader.edges([A], ["links"]) == [own, heavier]
        write(store, ann, PutEdges((replace(team, weight=0.25),)))
        with store.reader(ann) as reader:
            assert reader.edges([A], ["links"]) == [replace(team, weight=0.25), heavier]
        write(store, ann, PutEdges((replace(own, weight=0.1), replace(team, weight=0.1))))
        with store.reader(ann) as reader:
            assert reader.edges([A], ["links"], limit=1) == [
                heavier
            ]  # though the found public one is heavier

    def test_what_several_keys_say_is_counted_once(self, store: Store, ann: Scope, bob: Scope) -> None:
        """In degrees, in meetings, and in how many memories were looked at."""
        _memories(store, ann, "public")
        write(store, ann, PutConcept(concept("x", "public")), PutConcept(concept("y", "public")))
        keys = ("public", "group:dev", MINE)
        write(store, ann, PutEdges(tuple(Edge(A, "references", con("x"), key) for key in keys)))
        write(store, ann, PutEdges(tuple(Edge(A, "references", con("y"), key) for key in keys[1:])))
        write(store, ann, PutEdges((Edge(B, "references", con("x"), MINE),)))
        with store.reader(ann) as reader:
            assert reader.degrees("references") == {con("x"): 2, con("y"): 1}
            assert reader.meetings(con("x"), 9) == ({con("y"): 1}, 2)
            assert reader.meetings(con("y"), 9) == ({con("x"): 1}, 1)
        with store.reader(bob) as reader:
            assert reader.degrees("references") == {con("x"): 1}
            assert reader.meetings(con("x"), 9) == ({}, 1)

    def test_a_strangers_edges_are_not_replaced_hindered_or_dropped(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Two write the same triple, given and found; each keeps their own."""
        _memories(store, ann, "public")
        mine = Edge(A, "links", B, MINE, 0.5, 3, "given")
        theirs = Edge(A, "links", B, "user:bob", 0.25)
        write(store, ann, PutEdges((mine,)))
        write(store, bob, PutEdges((theirs,), of=(A, B), kinds=("links",), inward=True))
        for who, seen in ((ann, mine), (bob, theirs)):
            with store.reader(who) as reader:
                assert reader.edges([A], STORED) == [seen]
        write(
            store, ann, PutEdges((), of=(A, B), kinds=("links",), inward=True), DropEdges(((A, "links", B),))
        )
        with store.reader(bob) as reader:
            assert reader.edges([A], STORED) == [theirs]
        with store.reader(ann) as reader:
            assert reader.edges([A], STORED) == []

    def test_a_concept_at_an_end_is_seen_by_any_of_its_rows(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Whoever's key made the edge; without a row in sight, the edge is not."""
        _memories(store, ann, "public")
        refers = Edge(A, "references", con("x"), "public")
        write(store, ann, PutConcept(concept("x", MINE)), PutEdges((refers,)))
        with store.reader(bob) as reader:
            assert reader.edges([A], STORED) == []
        write(store, bob, PutConcept(replace(concept("x", "user:bob"), name="X")))
        write(store, ann, DropConcept(con("x"), MINE))
        for who, seen in ((ann, []), (bob, [refers])):
            with store.reader(who) as reader:
                assert reader.edges([A], STORED) == seen
                assert reader.edges([con("x")], STORED, inward=True) == seen
                assert reader.degrees("references") == ({con("x"): 1} if seen else {})

    def test_other_tenants_have_no_edges_of_mine(self, store: Store, ann: Scope, eve: Scope) -> None:
        """A namesake with memories and concepts of the same ids sees none and removes none."""
        for who in (ann, eve):
            _memories(store, who)
            write(store, who, PutConcept(concept("x", MINE)))
        edges = [FULL, Edge(A, "references", con("x"), MINE)]
        write(store, ann, PutEdges(tuple(edges)))
        write(store, eve, PutEdges((), (A,), STORED), DropConcept(con("x"), MINE), Forget((A, B)))
        with store.reader(eve) as reader:
            assert (reader.edges([A], STORED), reader.degrees("links")) == ([], {})
        with store.reader(ann) as reader:
            assert reader.edges([A], STORED) == edges
