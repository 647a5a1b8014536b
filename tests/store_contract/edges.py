"""Edges: what is written, rejected and removed; order, visibility and counts of what is read."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from scrubjay.errors import InputError
from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.records import Scope
from scrubjay.storage.changes import (
    Change,
    DropCategory,
    DropConcept,
    DropDocument,
    DropEdges,
    DropSource,
    Forget,
    PutCategory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutMemory,
    PutProject,
    PutSource,
    UnchangedPassage,
)
from scrubjay.storage.interface import Store
from store_contract.samples import (
    ANN_KEY,
    LONE_SURROGATE,
    A,
    B,
    C,
    D,
    put_sample_document,
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_document,
    sample_id,
    sample_memory,
    sample_place,
    sample_source,
    write_changes,
)

PASSAGE = sample_id("a.md:one")
VALID_EDGE = Edge(A, "links", B, ANN_KEY)
INVALID_EDGES: tuple[Edge, ...] = (
    *(replace(VALID_EDGE, weight=weight) for weight in (-0.01, 1.01, math.nan, math.inf, -math.inf)),
    *(
        replace(VALID_EDGE, kind=kind)
        for kind in ("follows", "related_to", "references", "belongs", "", "Links")
    ),
    *(
        replace(VALID_EDGE, src=src)
        for src in (
            "",
            "obs_12",
            sample_concept_id("x"),
            sample_category_id("k", ANN_KEY),
            A.upper(),
            "'; --",
        )
    ),
    *(
        replace(VALID_EDGE, dst=dst)
        for dst in (
            "",
            "obs_12",
            sample_concept_id("x"),
            sample_category_id("k", ANN_KEY),
            A + "0",
            LONE_SURROGATE,
        )
    ),
    *(
        replace(VALID_EDGE, kind="references", dst=dst)
        for dst in (B, sample_category_id("k", ANN_KEY), "con_12", "con_")
    ),
    *(replace(VALID_EDGE, kind="belongs", dst=dst) for dst in (B, sample_concept_id("x"), "cat_")),
    *(replace(VALID_EDGE, key=key) for key in ("user:bob", "group:ops", "", "Public")),
    *(replace(VALID_EDGE, origin=origin) for origin in ("", "made up")),
    replace(VALID_EDGE, rule=LONE_SURROGATE),
    replace(VALID_EDGE, run=LONE_SURROGATE),
)
REMOVALS: dict[str, tuple[Change, ...]] = {
    "forgotten": (Forget((PASSAGE,)),),
    "document dropped": (DropDocument("notes", "a.md"),),
    "source dropped": (DropSource("notes"),),
    "passage dropped": (PutDocument(sample_document("notes", "a.md"), (), (), (PASSAGE,)),),
    "edited out": (put_sample_document("notes", "a.md", ["two"], ANN_KEY),),
    "dropped as it grows": (PutDocument(sample_document("notes", "a.md"), (), (), (PASSAGE,), None, True),),
    "renamed over": (
        put_sample_document("notes", "b.md", ["other"], ANN_KEY),
        PutDocument(
            sample_document("notes", "a.md"), (), (UnchangedPassage(sample_id("b.md:other"),
            sample_place("notes", "a.md", 0)),), (), "b.md"
        ),
    ),
}  # fmt: skip
DOCUMENT_CHANGES: dict[str, Change] = {
    "touched": PutDocument(sample_document("notes", "a.md", "2")),
    "written again": put_sample_document("notes", "a.md", ["one", "two"], ANN_KEY, title="Another"),
    "kept elsewhere": PutDocument(
        sample_document("notes", "a.md"), (), (UnchangedPassage(PASSAGE, sample_place("notes", "a.md", 9)),)
    ),
    "renamed": PutDocument(
        sample_document("notes", "z.md"),
        (),
        (UnchangedPassage(PASSAGE, sample_place("notes", "z.md", 0)),),
        (),
        "a.md",
    ),
    "renamed alone": PutDocument(sample_document("notes", "z.md"), (), (), (), "a.md"),
    "grown": replace(put_sample_document("notes", "a.md", ["two"], ANN_KEY), grows=True),
    "added instead": PutMemory(sample_memory("one now", ANN_KEY, name="a.md:one", status="archived")),
}


def _write_edges(store: Store, ann: Scope) -> list[Edge]:
    """Write memories and a document whose passage has edges on both sides."""
    write_changes(
        store, ann, *(PutMemory(sample_memory(f"jay {name}", ANN_KEY, name=name)) for name in "abcd")
    )
    write_changes(
        store,
        ann,
        PutSource(sample_source("notes", ANN_KEY)),
        put_sample_document("notes", "a.md", ["one"], ANN_KEY),
    )
    write_changes(
        store, ann, PutConcept(sample_concept("x", ANN_KEY)), PutCategory(sample_category("k", ANN_KEY))
    )
    edges = [
        Edge(PASSAGE, "belongs", sample_category_id("k", ANN_KEY), ANN_KEY),
        Edge(PASSAGE, "links", A, ANN_KEY, 1.0, 4, "given"),
        Edge(PASSAGE, "references", sample_concept_id("x"), ANN_KEY),
        Edge(A, "links", PASSAGE, "group:dev"),
        Edge(B, "links", C, ANN_KEY),
    ]
    write_changes(store, ann, PutEdges(tuple(edges)))
    return edges


def _read_edges(store: Store, scope: Scope) -> list[Edge]:
    with store.reader(scope) as reader:
        out = reader.edges([PASSAGE, A, B, C, D], STORED_EDGE_KINDS)
        ends = list(dict.fromkeys(edge.dst for edge in out))
        assert sorted(reader.edges(ends, STORED_EDGE_KINDS, inward=True), key=repr) == sorted(out, key=repr)
        return out


class EdgesContract:
    """Edges over their life."""

    def test_an_edge_put_again_is_replaced(self, store: Store, ann: Scope) -> None:
        """By source, kind and end; a found one never replaces a given one, a given one any."""
        _write_edges(store, ann)
        found, later = (
            Edge(C, "links", D, ANN_KEY, 0.5),
            Edge(C, "links", D, ANN_KEY, 0.75, 7, rule="markdown"),
        )
        given, again = (Edge(C, "links", D, ANN_KEY, weight, origin="given") for weight in (0.2, 0.1))
        steps = (((found, later), later), ((found,), found), ((given, later), given), ((found,), given))
        for put, stands in (*steps, ((again,), again)):
            write_changes(store, ann, PutEdges(put))
            with store.reader(ann) as reader:
                assert reader.edges([C], STORED_EDGE_KINDS) == [stands]

    def test_what_was_found_before_is_taken_away_first(self, store: Store, ann: Scope) -> None:
        """Of these memories and kinds, on their side or both; what was given stays."""
        kept = _write_edges(store, ann)
        out, twin, back = (
            Edge(C, "links", D, ANN_KEY),
            Edge(C, "similar", D, ANN_KEY),
            Edge(D, "links", C, ANN_KEY),
        )
        given = [Edge(C, "links", A, ANN_KEY, origin="given"), Edge(A, "similar", C, ANN_KEY, origin="given")]
        every = [*kept, out, twin, back, *given]
        new = Edge(C, "links", B, ANN_KEY, 0.5)
        steps: tuple[tuple[PutEdges, list[Edge], list[Edge]], ...] = (
            (PutEdges((), (C,), ("links",)), [out], []),
            (PutEdges((new,), (C,), ("links", "similar")), [out, twin], [new]),
            (PutEdges((), (C,), ("links",), inward=True), [kept[4], out, back], []),
            (PutEdges((out,), (C,), ("links",), inward=True), [kept[4], back], []),
            (PutEdges((), (), STORED_EDGE_KINDS, inward=True), [], []),
            (PutEdges((), (C, "no id"), (), inward=True), [], []),
            (PutEdges((), ("no id", sample_id("none")), ("no kind", *STORED_EDGE_KINDS)), [], []),
        )
        for change, gone, come in steps:
            write_changes(store, ann, DropEdges(((C, "links", B),)), PutEdges(tuple(every)), change)
            assert set(_read_edges(store, ann)) == (set(every) - set(gone)) | set(come)

    def test_an_edge_to_what_is_gone_or_hidden_is_passed_over(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """It may have been forgotten meanwhile; it does not come with the memory later, either."""
        kept = _write_edges(store, ann)
        write_changes(store, bob, PutMemory(sample_memory("bobs", "user:bob", name="bobs")))
        write_changes(
            store,
            bob,
            PutConcept(sample_concept("y", "user:bob")),
            PutCategory(sample_category("l", "user:bob")),
        )
        bobs, none = sample_id("bobs"), sample_id("none")
        ends = ((A, none), (none, A), (A, bobs), (bobs, A), (A, sample_id("a", "lesson")))
        wrong = [Edge(src, "links", dst, "public") for src, dst in ends]
        wrong += [Edge(A, "references", sample_concept_id(name), "public") for name in ("y", "none")]
        wrong += [Edge(A, "belongs", sample_category_id("l", key), "public") for key in ("user:bob", ANN_KEY)]
        good = Edge(A, "links", D, ANN_KEY)
        write_changes(store, ann, PutEdges((*wrong, good)))
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("late", ANN_KEY, name="none")),
            PutConcept(sample_concept("none", ANN_KEY)),
        )
        write_changes(
            store, ann, PutConcept(sample_concept("y", ANN_KEY)), PutCategory(sample_category("l", ANN_KEY))
        )
        assert sorted(_read_edges(store, ann), key=repr) == sorted([*kept, good], key=repr)
        with store.reader(bob) as reader:
            assert reader.edges([bobs, sample_concept_id("y")], STORED_EDGE_KINDS, inward=True) == []
            assert reader.degrees("links") == {}

    def test_an_edge_that_cannot_be_is_refused(self, store: Store, ann: Scope) -> None:
        """With the whole write."""
        kept = _write_edges(store, ann)
        for wrong in INVALID_EDGES:
            put = PutEdges((Edge(A, "links", C, ANN_KEY), wrong), (PASSAGE,), STORED_EDGE_KINDS)
            with pytest.raises(InputError, match=r"Nothing was written\."):
                write_changes(store, ann, Forget((B,)), put)
            assert _read_edges(store, ann) == kept, wrong

    def test_a_write_that_fails_takes_the_graph_back(self, store: Store, ann: Scope) -> None:
        """Concepts, categories, edges and projects that came before it in the batch."""
        kept = _write_edges(store, ann)
        good: tuple[Change, ...] = (
            PutConcept(sample_concept("new", ANN_KEY)), DropConcept(sample_concept_id("x"), ANN_KEY),
            PutCategory(sample_category("new", ANN_KEY)),
            DropCategory(sample_category_id("k", ANN_KEY)), PutEdges((), (B,), STORED_EDGE_KINDS),
            DropEdges(((A, "links", PASSAGE),)),
            PutProject("place", "name", ANN_KEY),
        )  # fmt: skip
        with pytest.raises(InputError):
            write_changes(store, ann, *good, PutMemory(sample_memory("x", "user:bob")))
        assert _read_edges(store, ann) == kept
        with store.reader(ann) as reader:
            assert (reader.concepts(), reader.projects()) == ([sample_concept("x", ANN_KEY)], {})
            assert reader.categories() == [sample_category("k", ANN_KEY)]

    def test_edges_are_dropped_by_their_ends(self, store: Store, ann: Scope) -> None:
        """Given or found, of every key that is seen; unknown ones are passed over."""
        kept = _write_edges(store, ann)
        write_changes(
            store, ann, PutEdges((replace(kept[3], key="public"), Edge(A, "similar", PASSAGE, ANN_KEY)))
        )
        gone = ((A, "links", PASSAGE), (PASSAGE, "links", A), (A, "links", D), ("no id", "", LONE_SURROGATE))
        write_changes(store, ann, DropEdges(gone))
        assert _read_edges(store, ann) == [kept[0], kept[2], Edge(A, "similar", PASSAGE, ANN_KEY), kept[4]]

    @pytest.mark.parametrize("how", list(REMOVALS))
    def test_edges_go_with_their_memory(self, store: Store, ann: Scope, how: str) -> None:
        """On both sides; one that comes back under the same id has none."""
        kept = _write_edges(store, ann)
        write_changes(store, ann, *REMOVALS[how])
        assert _read_edges(store, ann) == [kept[4]]
        write_changes(store, ann, PutMemory(sample_memory("one again", ANN_KEY, name="a.md:one")))
        assert _read_edges(store, ann) == [kept[4]]
        with store.reader(ann) as reader:
            assert (reader.degrees("links"), reader.degrees("references")) == ({C: 1}, {})

    def test_hidden_edges_go_with_their_memory_too(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Whose key they are of does not matter."""
        write_changes(
            store, ann, *(PutMemory(sample_memory(f"jay {name}", "public", name=name)) for name in "ab")
        )
        write_changes(
            store, bob, PutEdges((Edge(A, "links", B, "user:bob"), Edge(B, "links", A, "user:bob")))
        )
        write_changes(store, ann, Forget((B,)), PutMemory(sample_memory("jay b", "public", name="b")))
        with store.reader(bob) as reader:
            assert reader.edges([A, B], STORED_EDGE_KINDS) == []

    @pytest.mark.parametrize("how", list(DOCUMENT_CHANGES))
    def test_edges_stay_when_their_memory_changes(self, store: Store, ann: Scope, how: str) -> None:
        """Replaced under its id, moved or renamed: it is the same memory."""
        kept = _write_edges(store, ann)
        write_changes(store, ann, DOCUMENT_CHANGES[how])
        assert _read_edges(store, ann) == kept

    def test_edges_wait_while_their_memory_is_out_of_sight(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Written again under another key, it takes its edges from who no longer sees it."""
        write_changes(
            store, ann, *(PutMemory(sample_memory(f"jay {name}", "public", name=name)) for name in "ab")
        )
        edge = Edge(A, "links", B, "public")
        write_changes(store, ann, PutEdges((edge,)))
        for key, seen in ((ANN_KEY, []), ("public", [edge])):
            write_changes(store, ann, PutMemory(sample_memory("jay b", key, name="b")))
            with store.reader(bob) as reader:
                assert (reader.edges([A], STORED_EDGE_KINDS), bool(reader.degrees("links"))) == (
                    seen,
                    bool(seen),
                )
            with store.reader(ann) as reader:
                assert reader.edges([A], STORED_EDGE_KINDS) == [edge]

    @pytest.mark.parametrize("reach", ["public", "user:ann"])
    def test_edges_go_with_their_category_or_concept(
        self, store: Store, ann: Scope, bob: Scope, reach: str
    ) -> None:
        """All that lead to a category; of a concept, those of the key that no longer knows it."""
        kept = _write_edges(store, ann)
        more = (
            Edge(A, "references", sample_concept_id("x"), reach),
            Edge(A, "belongs", sample_category_id("k", ANN_KEY), reach),
        )
        write_changes(store, ann, PutEdges(more))
        write_changes(
            store,
            ann,
            DropCategory(sample_category_id("k", ANN_KEY)),
            DropConcept(sample_concept_id("x"), ANN_KEY),
        )
        write_changes(
            store, ann, PutConcept(sample_concept("x", ANN_KEY)), PutCategory(sample_category("k", ANN_KEY))
        )
        left = [more[0]] if reach == "public" else []
        assert _read_edges(store, ann) == [kept[1], kept[3], *left, kept[4]]

    def test_a_rebuild_keeps_the_edges_of_what_it_carries_over(self, store: Store, ann: Scope) -> None:
        """Those of memories that it leaves out go with its end, and not with a failed one."""
        kept = _write_edges(store, ann)

        def rebuild(error: type[Exception] | None) -> None:
            with store.rebuild(ann) as made:
                made.write([PutMemory(one) for one in made.additions() if one.record.id != C])
                made.write(
                    [put_sample_document("notes", "a.md", ["one"], ANN_KEY), DropDocument("notes", "a.md")]
                )
                made.write([put_sample_document("notes", "a.md", ["one"], ANN_KEY)])
                assert _read_edges(store, ann) == kept
                if error is not None:
                    raise error

        with pytest.raises(KeyError):
            rebuild(KeyError)
        assert _read_edges(store, ann) == kept
        rebuild(None)
        write_changes(store, ann, PutMemory(sample_memory("jay c", ANN_KEY, name="c")))
        assert _read_edges(store, ann) == kept[:4]

    def test_a_rebuild_writes_nothing_of_the_graph(self, store: Store, ann: Scope) -> None:
        """It belongs to no generation."""
        kept = _write_edges(store, ann)
        changes: tuple[Change, ...] = (
            PutConcept(sample_concept("y", ANN_KEY)), DropConcept(sample_concept_id("x"), ANN_KEY),
            PutCategory(sample_category("l", ANN_KEY)),
            DropCategory(sample_category_id("k", ANN_KEY)), PutEdges((VALID_EDGE,)), DropEdges(((A, "links",
            PASSAGE),)),
            PutProject("place", "name", ANN_KEY),
        )  # fmt: skip
        for change in changes:
            with pytest.raises(InputError), store.rebuild(ann) as rebuild:
                rebuild.write([PutMemory(sample_memory("alone", ANN_KEY)), change])
            assert _read_edges(store, ann) == kept, change


FULL_EDGE = Edge(A, "links", B, "group:dev", 0.1 + 0.2, -(2**62), "given", "wiki link", "run-1")


def _put_memories(store: Store, scope: Scope, key: str = ANN_KEY, names: str = "abcd") -> None:
    write_changes(store, scope, *(PutMemory(sample_memory(f"jay {name}", key, name=name)) for name in names))


def _put_references(store: Store, scope: Scope, referring: dict[str, str], key: str = ANN_KEY) -> list[Edge]:
    """Let memories, each named by its key here, refer to concepts of one letter each."""
    edges = [
        Edge(sample_id(m), "references", sample_concept_id(c), key, 0.5)
        for m, named in referring.items()
        for c in named
    ]
    names = sorted({name for named in referring.values() for name in named})
    write_changes(store, scope, *(PutMemory(sample_memory(f"jay {m}", key, name=m)) for m in referring))
    write_changes(
        store, scope, *(PutConcept(sample_concept(name, key)) for name in names), PutEdges(tuple(edges))
    )
    return edges


class GraphContract:
    """Edges as they are read, from either end."""

    def test_an_edge_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute, to the last bit, from both of its ends; what is unknown has none."""
        _put_memories(store, ann)
        bare = Edge(B, "similar", C, ANN_KEY)
        write_changes(store, ann, PutEdges((FULL_EDGE, bare)))
        with store.reader(ann) as reader:
            assert reader.edges([A, B, "no id", sample_id("none"), ""], STORED_EDGE_KINDS) == [
                FULL_EDGE,
                bare,
            ]
            assert reader.edges([C, B], STORED_EDGE_KINDS, inward=True) == [bare, FULL_EDGE]
            assert reader.edges([A, B, C], ["links"]) == [FULL_EDGE]
            nothing = [
                reader.edges([], STORED_EDGE_KINDS),
                reader.edges([A], []),
                reader.edges([A], ["no kind"]),
            ]
            assert nothing == [[], [], []]

    def test_edges_lead_to_concepts_and_categories_too(self, store: Store, ann: Scope) -> None:
        """And are found from there."""
        _put_memories(store, ann)
        refers = Edge(A, "references", sample_concept_id("jay"), ANN_KEY, 0.5)
        belongs = Edge(A, "belongs", sample_category_id("birds", ANN_KEY), ANN_KEY)
        write_changes(
            store,
            ann,
            PutConcept(sample_concept("jay", ANN_KEY)),
            PutCategory(sample_category("birds", ANN_KEY)),
        )
        write_changes(store, ann, PutEdges((refers, belongs)))
        ends = [sample_concept_id("jay"), sample_category_id("birds", ANN_KEY)]
        with store.reader(ann) as reader:
            assert reader.edges([A], STORED_EDGE_KINDS) == [belongs, refers]
            assert reader.edges(ends, STORED_EDGE_KINDS, inward=True) == [refers, belongs]
            assert reader.edges(ends, STORED_EDGE_KINDS) == []

    def test_edges_come_in_order_and_are_cut_by_id_and_kind(self, store: Store, ann: Scope) -> None:
        """By the id asked for, kind, falling weight, other end; the heaviest of each are kept."""
        tiers = ("observation", "lesson", "semantic", "facet", "crystal", "insight")
        made = [sample_memory(f"n{i}", ANN_KEY, name=f"n{i}", tier=tier) for i, tier in enumerate(tiers)]
        ids = [one.record.id for one in made]
        weighed = list(zip(ids[1:], (0.5, 0.25, 0.5, 1.0, 0.5), strict=True))
        links, others = (
            [Edge(ids[0], k, end, ANN_KEY, w) for end, w in weighed] for k in ("links", "similar")
        )
        back = [Edge(end, "links", ids[0], ANN_KEY, w) for end, w in weighed]
        write_changes(store, ann, *(PutMemory(one) for one in made), PutEdges((*others, *links, *back)))
        out, more = (sorted(some, key=lambda e: (-e.weight, e.dst)) for some in (links, others))
        inward = sorted(back, key=lambda e: (-e.weight, e.src))
        with store.reader(ann) as reader:
            for limit in (None, 0, 1, 3, 9):
                asked = reader.edges([ids[0]], ("similar", "links", "similar"), limit=limit)
                assert asked == out[:limit] + more[:limit]
                assert reader.edges([ids[0]], ["links"], inward=True, limit=limit) == inward[:limit]
            assert reader.edges([ids[4], ids[0], ids[4]], ["links"], limit=1) == [back[3], out[0]]

    def test_edges_are_chosen_by_the_rule_that_made_them(self, store: Store, ann: Scope) -> None:
        old, new, other = (sample_memory(f"n{i}", ANN_KEY, name=f"n{i}") for i in range(3))
        ids = [one.record.id for one in (old, new, other)]
        newer = Edge(ids[1], "similar", ids[0], ANN_KEY, 0.5, rule="newer")
        found = Edge(ids[2], "similar", ids[0], ANN_KEY, 0.9, rule="cosine")
        write_changes(store, ann, *map(PutMemory, (old, new, other)), PutEdges((newer, found)))
        with store.reader(ann) as reader:
            for limit in (None, 1):
                assert reader.edges([ids[0]], ["similar"], inward=True, limit=limit, rule="newer") == [newer]
                assert reader.edges([ids[0]], ["similar"], inward=True, limit=limit)[0] == found
            assert reader.edges([ids[1]], ["similar"], rule="newer") == [newer]
            assert reader.edges([ids[1]], ["similar"], rule="cosine") == []
            assert reader.edges([ids[0]], ["similar"], inward=True, rule="other") == []

    def test_of_several_keys_edges_one_is_shown_whatever_its_rule(self, store: Store, ann: Scope) -> None:
        _put_memories(store, ann, "public")
        shared = Edge(A, "similar", B, "public", 0.9, rule="cosine")
        own = Edge(A, "similar", B, ANN_KEY, 0.5, origin="given", rule="newer")
        other = Edge(A, "similar", C, "public", 0.4, rule="cosine")
        write_changes(store, ann, PutEdges((shared, own, other)))
        with store.reader(ann) as reader:
            assert reader.edges([A], ["similar"]) == [own, other]
            assert reader.edges([A], ["similar"], rule="newer") == [own]
            assert reader.edges([A], ["similar"], rule="cosine", limit=1) == [other]

    def test_degrees_count_the_edges_that_lead_to_an_id(self, store: Store, ann: Scope) -> None:
        """Of one kind; an id without any is left out."""
        _put_memories(store, ann)
        _put_references(store, ann, {"a": "xy", "b": "x", "c": "x"})
        write_changes(
            store, ann, PutEdges((FULL_EDGE, Edge(C, "links", B, ANN_KEY), Edge(A, "similar", B, ANN_KEY)))
        )
        with store.reader(ann) as reader:
            assert reader.degrees("references") == {sample_concept_id("x"): 3, sample_concept_id("y"): 1}
            assert reader.degrees(
                "references", [sample_concept_id("y"), sample_concept_id("none"), A, "no id"]
            ) == {sample_concept_id("y"): 1}
            assert (reader.degrees("links"), reader.degrees("similar", [B, C])) == ({B: 2}, {B: 1})
            assert (reader.degrees("references", []), reader.degrees("no kind")) == ({}, {})

    def test_meetings_count_what_the_same_memories_refer_to(self, store: Store, ann: Scope) -> None:
        """Concepts beside it, with how many memories were looked at; nothing of other kinds."""
        _put_references(store, ann, {"a": "xyz", "b": "xy", "c": "x", "d": "yz"})
        write_changes(store, ann, PutEdges((Edge(A, "links", D, ANN_KEY),)))
        with store.reader(ann) as reader:
            assert reader.cooccurrences(sample_concept_id("x"), 99) == (
                {sample_concept_id("y"): 2, sample_concept_id("z"): 1},
                3,
            )
            assert reader.cooccurrences(sample_concept_id("z"), 99) == (
                {sample_concept_id("y"): 2, sample_concept_id("x"): 1},
                2,
            )
            assert reader.cooccurrences(sample_concept_id("none"), 99) == ({}, 0)
            assert reader.cooccurrences(A, 99) == ({}, 0)

    def test_meetings_look_at_the_memories_of_the_greatest_digits(self, store: Store, ann: Scope) -> None:
        """Whatever their tier and whenever they came, so that every store looks at the same ones."""
        tiers = ("semantic", "crystal", "observation", "lesson")
        made = [sample_memory(f"n{i}", ANN_KEY, name=f"n{i}", tier=tiers[i % 4]) for i in range(12)]
        ids = [one.record.id for one in made]
        write_changes(store, ann, *(PutMemory(one) for one in made), PutConcept(sample_concept("x", ANN_KEY)))
        for number, one in enumerate(ids):
            own = sample_concept_id(f"own {number}")
            found = PutEdges(
                tuple(Edge(one, "references", end, ANN_KEY) for end in (sample_concept_id("x"), own))
            )
            write_changes(store, ann, PutConcept(sample_concept(f"own {number}", ANN_KEY)), found)
        order = sorted(range(12), key=lambda i: ids[i].partition("_")[2], reverse=True)
        with store.reader(ann) as reader:
            for limit in (0, 1, 5, 12, 99):
                looked = {sample_concept_id(f"own {number}"): 1 for number in order[:limit]}
                assert reader.cooccurrences(sample_concept_id("x"), limit) == (looked, len(looked))

    def test_edges_of_every_status_are_seen(self, store: Store, ann: Scope) -> None:
        """An archived memory still refers and is linked to."""
        for name, status in (("a", "archived"), ("b", "superseded"), ("c", "active")):
            write_changes(store, ann, PutMemory(sample_memory(name, ANN_KEY, name=name, status=status)))
        edges = [Edge(A, "links", B, ANN_KEY), Edge(B, "links", C, ANN_KEY), Edge(C, "links", A, ANN_KEY)]
        write_changes(store, ann, PutEdges(tuple(edges)))
        with store.reader(ann) as reader:
            assert reader.edges([A, B, C], ["links"]) == edges
            assert reader.degrees("links") == {A: 1, B: 1, C: 1}

    def test_an_edge_is_seen_by_who_sees_it_and_both_of_its_ends(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """From either end, in numbers, in meetings; nobody else learns that it is there."""
        own = sample_memory("own", ANN_KEY, name="own")
        _put_memories(store, ann, "public")
        write_changes(
            store,
            ann,
            PutMemory(own),
            PutConcept(sample_concept("x", "public")),
            PutConcept(sample_concept("y", ANN_KEY)),
        )
        shared = [Edge(A, "links", B, "public"), Edge(A, "references", sample_concept_id("x"), "public")]
        hidden = [
            Edge(A, "links", C, ANN_KEY),
            Edge(A, "links", own.record.id, "public"),
            Edge(own.record.id, "links", A, "public"),
            Edge(A, "references", sample_concept_id("y"), "public"),
            Edge(own.record.id, "references", sample_concept_id("x"), "public"),
        ]
        write_changes(store, ann, PutEdges((*shared, *hidden)))
        ids = [A, B, C, own.record.id, sample_concept_id("x"), sample_concept_id("y")]
        with store.reader(bob) as reader:
            assert reader.edges(ids, STORED_EDGE_KINDS) == shared
            assert reader.edges(ids, STORED_EDGE_KINDS, inward=True) == shared
            assert reader.degrees("links") == {B: 1}
            assert reader.degrees("references") == {sample_concept_id("x"): 1}
            assert reader.cooccurrences(sample_concept_id("x"), 9) == ({}, 1)
            assert reader.cooccurrences(sample_concept_id("y"), 9) == ({}, 0)
        with store.reader(ann) as reader:
            assert len(reader.edges(ids, STORED_EDGE_KINDS)) == len(shared + hidden)
            assert reader.degrees("references") == {sample_concept_id("x"): 2, sample_concept_id("y"): 1}
            assert reader.cooccurrences(sample_concept_id("x"), 9) == ({sample_concept_id("y"): 1}, 2)

    def test_a_limit_is_not_used_up_by_what_is_hidden(self, store: Store, ann: Scope, bob: Scope) -> None:
        """Foreign edges may be heavier, and many."""
        _put_memories(store, ann, "public")
        mine = Edge(A, "links", D, "public", 0.1)
        write_changes(store, ann, PutEdges((mine,)))
        names = [f"bobs {i}" for i in range(20)]
        write_changes(store, bob, *(PutMemory(sample_memory(name, "user:bob", name=name)) for name in names))
        write_changes(
            store,
            bob,
            PutConcept(sample_concept("x", "user:bob")),
            PutEdges((Edge(A, "links", B, "user:bob"),)),
        )
        write_changes(
            store, bob, PutEdges(tuple(Edge(A, "links", sample_id(name), "public") for name in names))
        )
        write_changes(
            store, bob, PutEdges(tuple(Edge(sample_id(name), "links", D, "public") for name in names))
        )
        with store.reader(ann) as reader:
            assert reader.edges([A], STORED_EDGE_KINDS, limit=1) == [mine]
            assert reader.edges([D], STORED_EDGE_KINDS, inward=True, limit=1) == [mine]

    def test_what_several_keys_say_of_the_same_ends_is_one_edge(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """A given one before a found one, the heavier, that of the smaller key; none replaces another."""
        _put_memories(store, ann, "public")
        first = Edge(A, "links", B, "public", 0.5)
        write_changes(store, ann, PutEdges((first,)))
        for weight, origin, shown in (
            (0.25, "found", False), (0.75, "found", True), (0.5, "found", False), (0.25, "given", True),
        ):  # fmt: skip
            own = replace(first, key=ANN_KEY, weight=weight, origin=origin)
            write_changes(store, ann, PutEdges((own,)))
            seen = own if shown else first
            with store.reader(ann) as reader:
                assert reader.edges([A], ["links"], limit=1) == [seen]
                assert reader.edges([B], ["links"], inward=True) == [seen]
            with store.reader(bob) as reader:
                assert reader.edges([A], ["links"]) == [first]
        team = replace(first, key="group:dev", weight=0.1, origin="given")
        heavier = Edge(A, "links", C, ANN_KEY, 0.15)
        write_changes(store, ann, PutEdges((team, heavier)))
        with store.reader(ann) as reader:
            assert reader.edges([A], ["links"]) == [own, heavier]
        write_changes(store, ann, PutEdges((replace(team, weight=0.25),)))
        with store.reader(ann) as reader:
            assert reader.edges([A], ["links"]) == [replace(team, weight=0.25), heavier]
        write_changes(store, ann, PutEdges((replace(own, weight=0.1), replace(team, weight=0.1))))
        with store.reader(ann) as reader:
            assert reader.edges([A], ["links"], limit=1) == [
                heavier
            ]  # though the found public one is heavier

    def test_what_several_keys_say_is_counted_once(self, store: Store, ann: Scope, bob: Scope) -> None:
        """In degrees, in meetings, and in how many memories were looked at."""
        _put_memories(store, ann, "public")
        write_changes(
            store, ann, PutConcept(sample_concept("x", "public")), PutConcept(sample_concept("y", "public"))
        )
        keys = ("public", "group:dev", ANN_KEY)
        write_changes(
            store, ann, PutEdges(tuple(Edge(A, "references", sample_concept_id("x"), key) for key in keys))
        )
        write_changes(
            store,
            ann,
            PutEdges(tuple(Edge(A, "references", sample_concept_id("y"), key) for key in keys[1:])),
        )
        write_changes(store, ann, PutEdges((Edge(B, "references", sample_concept_id("x"), ANN_KEY),)))
        with store.reader(ann) as reader:
            assert reader.degrees("references") == {sample_concept_id("x"): 2, sample_concept_id("y"): 1}
            assert reader.cooccurrences(sample_concept_id("x"), 9) == ({sample_concept_id("y"): 1}, 2)
            assert reader.cooccurrences(sample_concept_id("y"), 9) == ({sample_concept_id("x"): 1}, 1)
        with store.reader(bob) as reader:
            assert reader.degrees("references") == {sample_concept_id("x"): 1}
            assert reader.cooccurrences(sample_concept_id("x"), 9) == ({}, 1)

    def test_a_strangers_edges_are_not_replaced_hindered_or_dropped(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Two write the same triple, given and found; each keeps their own."""
        _put_memories(store, ann, "public")
        mine = Edge(A, "links", B, ANN_KEY, 0.5, 3, "given")
        theirs = Edge(A, "links", B, "user:bob", 0.25)
        write_changes(store, ann, PutEdges((mine,)))
        write_changes(store, bob, PutEdges((theirs,), of=(A, B), kinds=("links",), inward=True))
        for who, seen in ((ann, mine), (bob, theirs)):
            with store.reader(who) as reader:
                assert reader.edges([A], STORED_EDGE_KINDS) == [seen]
        write_changes(
            store, ann, PutEdges((), of=(A, B), kinds=("links",), inward=True), DropEdges(((A, "links", B),))
        )
        with store.reader(bob) as reader:
            assert reader.edges([A], STORED_EDGE_KINDS) == [theirs]
        with store.reader(ann) as reader:
            assert reader.edges([A], STORED_EDGE_KINDS) == []

    def test_a_concept_at_an_end_is_seen_by_any_of_its_rows(
        self, store: Store, ann: Scope, bob: Scope
    ) -> None:
        """Whoever's key made the edge; without a row in sight, the edge is not."""
        _put_memories(store, ann, "public")
        refers = Edge(A, "references", sample_concept_id("x"), "public")
        write_changes(store, ann, PutConcept(sample_concept("x", ANN_KEY)), PutEdges((refers,)))
        with store.reader(bob) as reader:
            assert reader.edges([A], STORED_EDGE_KINDS) == []
        write_changes(store, bob, PutConcept(replace(sample_concept("x", "user:bob"), name="X")))
        write_changes(store, ann, DropConcept(sample_concept_id("x"), ANN_KEY))
        for who, seen in ((ann, []), (bob, [refers])):
            with store.reader(who) as reader:
                assert reader.edges([A], STORED_EDGE_KINDS) == seen
                assert reader.edges([sample_concept_id("x")], STORED_EDGE_KINDS, inward=True) == seen
                assert reader.degrees("references") == ({sample_concept_id("x"): 1} if seen else {})

    def test_other_tenants_have_no_edges_of_mine(self, store: Store, ann: Scope, eve: Scope) -> None:
        """A namesake with memories and concepts of the same ids sees none and removes none."""
        for who in (ann, eve):
            _put_memories(store, who)
            write_changes(store, who, PutConcept(sample_concept("x", ANN_KEY)))
        edges = [FULL_EDGE, Edge(A, "references", sample_concept_id("x"), ANN_KEY)]
        write_changes(store, ann, PutEdges(tuple(edges)))
        write_changes(
            store,
            eve,
            PutEdges((), (A,), STORED_EDGE_KINDS),
            DropConcept(sample_concept_id("x"), ANN_KEY),
            Forget((A, B)),
        )
        with store.reader(eve) as reader:
            assert (reader.edges([A], STORED_EDGE_KINDS), reader.degrees("links")) == ([], {})
        with store.reader(ann) as reader:
            assert reader.edges([A], STORED_EDGE_KINDS) == edges
