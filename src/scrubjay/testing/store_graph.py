"""Graph: edges between memories, concepts and categories, and the numbers made of them."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.memory.edges import STORED, Edge
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import (
    PutCategory,
    PutConcept,
    PutEdges,
    PutMemory,
)
from scrubjay.testing.store_samples import (
    cat,
    category,
    con,
    concept,
    memory,
    sample_id,
    write,
)

MINE = "user:ann"
A, B, C, D = (sample_id(name) for name in "abcd")
FULL = Edge(A, "links", B, "group:dev", 0.1 + 0.2, -(2**62), "given", "wiki link", "run-1")


def _memories(store: Store, scope: Scope, key: str = MINE, names: str = "abcd") -> None:
    write(store, scope, *(PutMemory(memory(f"jay {name}", key, name=name)) for name in names))


def _read(
    store: Store, scope: Scope, ids: Sequence[str] = (A, B, C, D), kinds: Sequence[str] = STORED
) -> list[Edge]:
    with store.reader(scope) as reader:
        return reader.edges(ids, kinds)


class GraphContract:
    """Edges: what is put, what replaces what, what goes, and in which order they come back."""

    def test_an_edge_comes_back_as_it_was_written(self, store: Store, ann: Scope) -> None:
        """Every attribute, to the last bit, from both of its ends."""
        _memories(store, ann)
        bare = Edge(B, "similar", C, MINE)
        write(store, ann, PutEdges((FULL, bare)))
        with store.reader(ann) as reader:
            assert reader.edges([A, B, "no id", sample_id("none")], STORED) == [FULL, bare]
            assert reader.edges([C, B], STORED, inward=True) == [bare, FULL]
            assert reader.edges([A, B, C], ["links"]) == [FULL]
            assert (reader.edges([], STORED), reader.edges([A], []), reader.edges([A], ["no kind"])) == (
                [], [], [],
            )  # fmt: skip

    def test_edges_lead_to_concepts_and_categories_too(self, store: Store, ann: Scope) -> None:
        """And are found from there."""
        _memories(store, ann)
        refers = Edge(A, "references", con("jay"), MINE, 0.5)
        belongs = Edge(A, "belongs", cat("birds", MINE), MINE)
        write(store, ann, PutConcept(concept("jay", MINE)), PutCategory(category("birds", MINE)))
        write(store, ann, PutEdges((refers, belongs)))
        assert _read(store, ann) == [belongs, refers]
        with store.reader(ann) as reader:
            ends = [con("jay"), cat("birds", MINE)]
            assert reader.edges(ends, STORED, inward=True) == [refers, belongs]
            assert reader.edges(ends, STORED) == []

    def test_edges_come_in_order_and_are_cut_by_id_and_kind(self, store: Store, ann: Scope) -> None:
        """By the id asked for, kind, falling weight, other end; the heaviest of each are kept."""
        names = [f"n{i}" for i in range(6)]
        tiers = ("observation", "crystal", "semantic", "facet", "lesson", "insight")
        made = [memory(name, MINE, name=name, tier=tier) for name, tier in zip(names, tiers, strict=True)]
        write(store, ann, *(PutMemory(one) for one in made))
        ids = [one.record.id for one in made]
        weights = (0.5, 0.25, 0.5, 1.0, 0.5)
        links = [Edge(ids[0], "links", end, MINE, w) for end, w in zip(ids[1:], weights, strict=True)]
        others = [Edge(ids[0], "similar", end, MINE, w) for end, w in zip(ids[1:], weights, strict=True)]
        back = [Edge(end, "links", ids[0], MINE, w) for end, w in zip(ids[1:], weights, strict=True)]
        write(store, ann, PutEdges((*links, *others, *back)))
        out = [sorted(some, key=lambda e: (-e.weight, e.dst)) for some in (links, others)]
        inward = sorted(back, key=lambda e: (-e.weight, e.src))
        with store.reader(ann) as reader:
            for limit in (None, 0, 1, 3, 9):
                assert reader.edges([ids[0]], ("similar", "links"), limit=limit) == [
                    *out[0][:limit], *out[1][:limit],
                ]  # fmt: skip
                assert reader.edges([ids[0]], ["links"], inward=True, limit=limit) == inward[:limit]
            twice = reader.edges([ids[4], ids[0], ids[4]], ["links"], limit=1)
            assert twice == [back[3], out[0][0]]

    def test_an_edge_put_again_is_replaced(self, store: Store, ann: Scope) -> None:
        """By source, kind, end and key; a found one never replaces a given one, a given one any."""
        _memories(store, ann)
        found, later = Edge(A, "links", B, MINE, 0.5), Edge(A, "links", B, MINE, 0.75, 7, rule="markdown")
        given, again = (Edge(A, "links", B, MINE, w, origin="given") for w in (0.2, 0.1))
        for put, stands in (
            ((found, later), later), ((found,), found), ((given, later), given), ((found,), given),
            ((again,), again),
        ):  # fmt: skip
            write(store, ann, PutEdges(put))
            assert _read(store, ann) == [stands]
