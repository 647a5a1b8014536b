"""Edges: what putting and dropping them does, what is refused, and with what they go."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from scrubjay.errors import InputError
from scrubjay.memory.edges import STORED, Edge
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    Change,
    DropCategory,
    DropConcept,
    DropDocument,
    DropEdges,
    DropSource,
    Forget,
    Kept,
    PutCategory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutMemory,
    PutProject,
    PutSource,
)
from scrubjay.testing.store_samples import (
    cat,
    category,
    con,
    concept,
    document,
    memory,
    place,
    put_document,
    sample_id,
    source,
    write,
)

MINE = "user:ann"
A, B, C, D = (sample_id(name) for name in "abcd")
PASSAGE = sample_id("a.md:one")
GOOD = Edge(A, "links", B, MINE)
HALF = "half \ud83d"
WRONG: tuple[Edge, ...] = (
    *(replace(GOOD, weight=weight) for weight in (-0.01, 1.01, math.nan, math.inf, -math.inf)),
    *(replace(GOOD, kind=kind) for kind in ("follows", "related_to", "references", "belongs", "", "Links")),
    *(replace(GOOD, src=src) for src in ("", "obs_12", con("x"), cat("k", MINE), A.upper(), "'; --")),
    *(replace(GOOD, dst=dst) for dst in ("", "obs_12", con("x"), cat("k", MINE), A + "0", HALF)),
    *(replace(GOOD, kind="references", dst=dst) for dst in (B, cat("k", MINE), "con_12", "con_")),
    *(replace(GOOD, kind="belongs", dst=dst) for dst in (B, con("x"), "cat_")),
    *(replace(GOOD, key=key) for key in ("user:bob", "group:ops", "", "Public")),
    *(replace(GOOD, origin=origin) for origin in ("", "made up")),
    replace(GOOD, rule=HALF),
    replace(GOOD, run=HALF),
)
REMOVALS: dict[str, tuple[Change, ...]] = {
    "forgotten": (Forget((PASSAGE,)),),
    "document dropped": (DropDocument("notes", "a.md"),),
    "source dropped": (DropSource("notes"),),
    "passage dropped": (PutDocument(document("notes", "a.md"), (), (), (PASSAGE,)),),
    "edited out": (put_document("notes", "a.md", ["two"], MINE),),
    "dropped as it grows": (PutDocument(document("notes", "a.md"), (), (), (PASSAGE,), None, True),),
    "renamed over": (
        put_document("notes", "b.md", ["other"], MINE),
        PutDocument(
            document("notes", "a.md"), (), (Kept(sample_id("b.md:other"), place("notes", "a.md", 0)),), (), "b.md"
        ),
    ),
}  # fmt: skip
CHANGED: dict[str, Change] = {
    "touched": PutDocument(document("notes", "a.md", "2")),
    "written again": put_document("notes", "a.md", ["one", "two"], MINE, title="Another"),
    "kept elsewhere": PutDocument(document("notes", "a.md"), (), (Kept(PASSAGE, place("notes", "a.md", 9)),)),
    "renamed": PutDocument(
        document("notes", "z.md"), (), (Kept(PASSAGE, place("notes", "z.md", 0)),), (), "a.md"
    ),
    "renamed alone": PutDocument(document("notes", "z.md"), (), (), (), "a.md"),
    "grown": replace(put_document("notes", "a.md", ["two"], MINE), grows=True),
    "added instead": PutMemory(memory("one now", MINE, name="a.md:one", status="archived")),
}


def _start(store: Store, ann: Scope) -> list[Edge]:
    """Write memories and a document whose passage has edges on both sides."""
    write(store, ann, *(PutMemory(memory(f"jay {name}", MINE, name=name)) for name in "abcd"))
    write(store, ann, PutSource(source("notes", MINE)), put_document("notes", "a.md", ["one"], MINE))
    write(store, ann, PutConcept(concept("x", MINE)), PutCategory(category("k", MINE)))
    edges = [
        Edge(PASSAGE, "belongs", cat("k", MINE), MINE),
        Edge(PASSAGE, "links", A, MINE, 1.0, 4, "given"),
        Edge(PASSAGE, "references", con("x"), MINE),
        Edge(A, "links", PASSAGE, "group:dev"),
        Edge(B, "links", C, MINE),
    ]
    write(store, ann, PutEdges(tuple(edges)))
    return edges


def _read(store: Store, scope: Scope) -> list[Edge]:
    with store.reader(scope) as reader:
        out = reader.edges([PASSAGE, A, B, C, D], STORED)
        ends = list(dict.fromkeys(edge.dst for edge in out))
        assert sorted(reader.edges(ends, STORED, inward=True), key=repr) == sorted(out, key=repr)
        return out


class EdgesContract:
    """Edges over their life."""

    def test_an_edge_put_again_is_replaced(self, store: Store, ann: Scope) -> None:
        """By source, kind and end; a found one never replaces a given one, a given one any."""
        _start(store, ann)
        found, later = Edge(C, "links", D, MINE, 0.5), Edge(C, "links", D, MINE, 0.75, 7, rule="markdown")
        given, again = (Edge(C, "links", D, MINE, weight, origin="given") for weight in (0.2, 0.1))
        steps = (((found, later), later), ((found,), found), ((given, later), given), ((found,), given))
        for put, stands in (*steps, ((again,), again)):
            write(store, ann, PutEdges(put))
            with store.reader(ann) as reader:
                assert reader.edges([C], STORED) == [stands]

    def test_what_was_found_before_is_taken_away_first(self, store: Store, ann: Scope) -> None:
        """Of these memories and kinds, on their side or both; what was given stays."""
        kept = _start(store, ann)
        out, twin, back = Edge(C, "links", D, MINE), Edge(C, "similar", D, MINE), Edge(D, "links", C, MINE)
        given = [Edge(C, "links", A, MINE, origin="given"), Edge(A, "similar", C, MINE, origin="given")]
        every = [*kept, out, twin, back, *given]
        new = Edge(C, "links", B, MINE, 0.5)
        steps: tuple[tuple[PutEdges, list[Edge], list[Edge]], ...] = (
            (PutEdges((), (C,), ("links",)), [out], []),
            (PutEdges((new,), (C,), ("links", "similar")), [out, twin], [new]),
            (PutEdges((), (C,), ("links",), inward=True), [kept[4], out, back], []),
            (PutEdges((out,), (C,), ("links",), inward=True), [kept[4], back], []),
            (PutEdges((), (), STORED, inward=True), [], []),
            (PutEdges((), (C, "no id"), (), inward=True), [], []),
            (PutEdges((), ("no id", sample_id("none")), ("no kind", *STORED)), [], []),
        )
        for change, gone, come in steps:
            write(store, ann, DropEdges(((C, "links", B),)), PutEdges(tuple(every)), change)
            assert set(_read(store, ann)) == (set(every) - set(gone)) | set(come)

    def test_an_edge_to_what_is_gone_or_hidden_is_passed_over(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """It may have been forgotten meanwhile; it does not come with the memory later, either."""
        kept = _start(store, ann)
        write(store, bob, PutMemory(memory("bobs", "user:bob", name="bobs")))
        write(store, bob, PutConcept(concept("y", "user:bob")), PutCategory(category("l", "user:bob")))
        bobs, none = sample_id("bobs"), sample_id("none")
        ends = ((A, none), (none, A), (A, bobs), (bobs, A), (A, sample_id("a", "lesson")))
        wrong = [Edge(src, "links", dst, "public") for src, dst in ends]
        wrong += [Edge(A, "references", con(name), "public") for name in ("y", "none")]
        wrong += [Edge(A, "belongs", cat("l", key), "public") for key in ("user:bob", MINE)]
        good = Edge(A, "links", D, MINE)
        write(store, ann, PutEdges((*wrong, good)))
        write(store, ann, PutMemory(memory("late", MINE, name="none")), PutConcept(concept("none", MINE)))
        write(store, ann, PutConcept(concept("y", MINE)), PutCategory(category("l", MINE)))
        assert sorted(_read(store, ann), key=repr) == sorted([*kept, good], key=repr)
        with store.reader(bob) as reader:
            assert reader.edges([bobs, con("y")], STORED, inward=True) == []
            assert reader.degrees("links") == {}

    def test_an_edge_that_cannot_be_is_refused(self, store: Store, ann: Scope) -> None:
        """With the whole write."""
        kept = _start(store, ann)
        for wrong in WRONG:
            put = PutEdges((Edge(A, "links", C, MINE), wrong), (PASSAGE,), STORED)
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write(store, ann, Forget((B,)), put)
            assert _read(store, ann) == kept, wrong

    def test_a_write_that_fails_takes_the_graph_back(self, store: Store, ann: Scope) -> None:
        """Concepts, categories, edges and projects that came before it in the batch."""
        kept = _start(store, ann)
        good: tuple[Change, ...] = (
            PutConcept(concept("new", MINE)), DropConcept(con("x"), MINE), PutCategory(category("new", MINE)),
            DropCategory(cat("k", MINE)), PutEdges((), (B,), STORED), DropEdges(((A, "links", PASSAGE),)),
            PutProject("place", "name", MINE),
        )  # fmt: skip
        with pytest.raises(InputError):
            write(store, ann, *good, PutMemory(memory("x", "user:bob")))
        assert _read(store, ann) == kept
        with store.reader(ann) as reader:
            assert (reader.concepts(), reader.projects()) == ([concept("x", MINE)], {})
            assert reader.categories() == [category("k", MINE)]

    def test_edges_are_dropped_by_their_ends(self, store: Store, ann: Scope) -> None:
        """Given or found, of every key that is seen; unknown ones are passed over."""
        kept = _start(store, ann)
        write(store, ann, PutEdges((replace(kept[3], key="public"), Edge(A, "similar", PASSAGE, MINE))))
        gone = ((A, "links", PASSAGE), (PASSAGE, "links", A), (A, "links", D), ("no id", "", HALF))
        write(store, ann, DropEdges(gone))
        assert _read(store, ann) == [kept[0], kept[2], Edge(A, "similar", PASSAGE, MINE), kept[4]]

    @pytest.mark.parametrize("how", list(REMOVALS))
    def test_edges_go_with_their_memory(self, store: Store, ann: Scope, how: str) -> None:
        """On both sides; one that comes back under the same id has none."""
        kept = _start(store, ann)
        write(store, ann, *REMOVALS[how])
        assert _read(store, ann) == [kept[4]]
        write(store, ann, PutMemory(memory("one again", MINE, name="a.md:one")))
        assert _read(store, ann) == [kept[4]]
        with store.reader(ann) as reader:
            assert (reader.degrees("links"), reader.degrees("references")) == ({C: 1}, {})

    def test_hidden_edges_go_with_their_memory_too(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Whose key they are of does not matter."""
        write(store, ann, *(PutMemory(memory(f"jay {name}", "public", name=name)) for name in "ab"))
        write(store, bob, PutEdges((Edge(A, "links", B, "user:bob"), Edge(B, "links", A, "user:bob"))))
        write(store, ann, Forget((B,)), PutMemory(memory("jay b", "public", name="b")))
        with store.reader(bob) as reader:
            assert reader.edges([A, B], STORED) == []

    @pytest.mark.parametrize("how", list(CHANGED))
    def test_edges_stay_when_their_memory_changes(self, store: Store, ann: Scope, how: str) -> None:
        """Replaced under its id, moved or renamed: it is the same memory."""
        kept = _start(store, ann)
        write(store, ann, CHANGED[how])
        assert _read(store, ann) == kept

    def test_edges_wait_while_their_memory_is_out_of_sight(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Written again under another key, it takes its edges from who no longer sees it."""
        write(store, ann, *(PutMemory(memory(f"jay {name}", "public", name=name)) for name in "ab"))
        edge = Edge(A, "links", B, "public")
        write(store, ann, PutEdges((edge,)))
        for key, seen in ((MINE, []), ("public", [edge])):
            write(store, ann, PutMemory(memory("jay b", key, name="b")))
            with store.reader(bob) as reader:
                assert (reader.edges([A], STORED), bool(reader.degrees("links"))) == (seen, bool(seen))
            with store.reader(ann) as reader:
                assert reader.edges([A], STORED) == [edge]

    @pytest.mark.parametrize("reach", ["public", "user:ann"])
    def test_edges_go_with_their_category_or_concept(
        self, store: Store, ann: Scope, bob: Scope, reach: str
    ) -> None:
        """All that lead to a category; of a concept, those of the key that no longer knows it."""
        kept = _start(store, ann)
        more = Edge(A, "references", con("x"), reach), Edge(A, "belongs", cat("k", MINE), reach)
        write(store, ann, PutEdges(more))
        write(store, ann, DropCategory(cat("k", MINE)), DropConcept(con("x"), MINE))
        write(store, ann, PutConcept(concept("x", MINE)), PutCategory(category("k", MINE)))
        left = [more[0]] if reach == "public" else []
        assert _read(store, ann) == [kept[1], kept[3], *left, kept[4]]

    def test_a_rebuild_keeps_the_edges_of_what_it_carries_over(self, store: Store, ann: Scope) -> None:
        """Those of memories that it leaves out go with its end, and not with a failed one."""
        kept = _start(store, ann)

        def rebuild(error: type[Exception] | None) -> None:
            with store.rebuild(ann) as made:
                made.write([PutMemory(one) for one in made.additions() if one.record.id != C])
                made.write([put_document("notes", "a.md", ["one"], MINE), DropDocument("notes", "a.md")])
                made.write([put_document("notes", "a.md", ["one"], MINE)])
                assert _read(store, ann) == kept
                if error is not None:
                    raise error

        with pytest.raises(KeyError):
            rebuild(KeyError)
        assert _read(store, ann) == kept
        rebuild(None)
        write(store, ann, PutMemory(memory("jay c", MINE, name="c")))
        assert _read(store, ann) == kept[:4]

    def test_a_rebuild_writes_nothing_of_the_graph(self, store: Store, ann: Scope) -> None:
        """It belongs to no generation."""
        kept = _start(store, ann)
        changes: tuple[Change, ...] = (
            PutConcept(concept("y", MINE)), DropConcept(con("x"), MINE), PutCategory(category("l", MINE)),
            DropCategory(cat("k", MINE)), PutEdges((GOOD,)), DropEdges(((A, "links", PASSAGE),)),
            PutProject("place", "name", MINE),
        )  # fmt: skip
        for change in changes:
            with pytest.raises(InputError), store.rebuild(ann) as rebuild:
                rebuild.write([PutMemory(memory("alone", MINE)), change])
            assert _read(store, ann) == kept, change
