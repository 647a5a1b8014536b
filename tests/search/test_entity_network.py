"""What surrounds a concept, a category and a memory, counted from what the reader sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference_store.store import ReferenceStore
from scrubjay.errors import NotFoundError
from scrubjay.models.graph import Edge, Entity
from scrubjay.models.records import Scope
from scrubjay.search import browse
from scrubjay.storage.changes import PutCategory, PutConcept, PutEdges, PutMemory
from scrubjay.storage.interface import Store
from store_contract.samples import (
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_id,
    sample_memory,
    write_changes,
)

ANN = Scope("t", "ann")
BOB = Scope("t", "bob")
OWN = "user:ann"
WOODS = "ash birch cedar elm fir hazel larch oak".split()
IDS = [sample_id(name) for name in WOODS]


@pytest.fixture
def store() -> ReferenceStore:
    """Eight memories of Ann's, each named by the one word that it holds."""
    made = ReferenceStore()
    hold(made, ANN, OWN, *WOODS)
    return made


def hold(store: Store, scope: Scope, key: str, *words: str) -> None:
    write_changes(store, scope, *(PutMemory(sample_memory(word, key, name=word)) for word in words))


def refer(name: str, *memories: str, weight: float = 0.5, key: str = OWN) -> PutEdges:
    return PutEdges(
        tuple(Edge(each, "references", sample_concept_id(name), key, weight) for each in memories)
    )


def known(*names: str, key: str = OWN) -> list[PutConcept]:
    return [PutConcept(sample_concept(name, key)) for name in names]


def test_concepts_come_by_how_many_memories_refer_to_them_then_by_name(store) -> None:
    write_changes(store, ANN, *known("b", "A", "c"), refer("c", *IDS[:2]), refer("b", IDS[0]))
    with store.reader(ANN) as reader:
        assert [(each.name, each.memories) for each in browse.list_entities(reader)] == [
            ("c", 2),
            ("b", 1),
            ("A", 0),
        ]
    with store.reader(BOB) as reader:
        assert browse.list_entities(reader) == []


def test_a_concept_is_meant_by_id_beginning_name_or_alias_names_first(store) -> None:
    docker = Entity("con_a100000000000000", OWN, "Docker")
    whale = Entity("con_a200000000000000", OWN, "Moby Dick", ("docker", "whale"))
    write_changes(store, ANN, PutConcept(docker), PutConcept(whale))
    with store.reader(ANN) as reader:
        for text in (docker.id, "con_a1", "Docker", "DOCKER", " docker "):
            assert browse.find_entity(reader, text).name == "Docker"
        for text in ("moby  dick", "WHALE", "con_a2"):
            assert browse.find_entity(reader, text).name == "Moby Dick"
        with pytest.raises(NotFoundError, match="Several"):
            browse.find_entity(reader, "con_a")
        for text in ("con_", "", "whales", "con_b"):
            with pytest.raises(NotFoundError, match="No concept"):
                browse.find_entity(reader, text)


def test_concepts_that_meet_more_often_than_chance_are_related_and_once_is_chance(store) -> None:
    write_changes(store, ANN, *known("tent", "kayak", "rain", "sun"))
    write_changes(
        store,
        ANN,
        refer("tent", *IDS[:3]),
        refer("kayak", *IDS[:3]),
        refer("rain", *IDS),
        refer("sun", IDS[0]),
    )
    with store.reader(ANN) as reader:
        near, looked_at = browse.related_entities(reader, sample_concept_id("tent"))
        assert [(each.name, each.association, each.support) for each in near] == [("kayak", 1.0, 3)]
        assert looked_at == 3
        assert browse.related_entities(reader, sample_concept_id("never")) == ((), 0)


def test_relations_come_closest_first_and_a_removed_concept_is_none(store) -> None:
    write_changes(store, ANN, *known("tent", "kayak", "rope", "peg"))
    for name, referring in (("tent", IDS[:4]), ("kayak", IDS[1:6]), ("rope", IDS[:3]), ("peg", IDS[:4])):
        write_changes(store, ANN, refer(name, *referring))
    write_changes(store, ANN, PutConcept(sample_concept("peg", OWN, kind="refused")))
    with store.reader(ANN) as reader:
        near, _ = browse.related_entities(reader, sample_concept_id("tent"))
    assert [each.name for each in near] == ["rope", "kayak"]
    assert near[0].association > near[1].association > 0


def test_of_many_memories_a_share_is_looked_at_and_counts_are_scaled(store, monkeypatch) -> None:
    write_changes(store, ANN, *known("tent", "kayak"), refer("tent", *IDS[:6]), refer("kayak", *IDS[:6]))
    with store.reader(ANN) as reader:
        whole, _ = browse.related_entities(reader, sample_concept_id("tent"))
        monkeypatch.setattr(browse, "MAX_SAMPLED", 3)
        share, looked_at = browse.related_entities(reader, sample_concept_id("tent"))
    assert looked_at == 3
    assert share[0].association == whole[0].association == 1.0


def test_a_strangers_memories_change_neither_relations_nor_counts(store) -> None:
    write_changes(
        store, ANN, *known("tent", "kayak", key="public"), refer("tent", *IDS[:3]), refer("kayak", *IDS[:3])
    )
    with store.reader(ANN) as reader:
        before = browse.entity_page(reader, "tent")
    assert [near.name for near in before.related] == ["kayak"]
    hold(store, BOB, "user:bob", "yew", "elder")
    strange = [sample_id("yew"), sample_id("elder")]
    write_changes(store, BOB, refer("tent", *strange, key="user:bob"))
    with store.reader(ANN) as reader:
        assert browse.entity_page(reader, "tent") == before
    with store.reader(BOB) as reader:
        page = browse.entity_page(reader, "tent")
    assert (page.concept.memories, page.related) == (2, ())
    assert {place.id for place in page.memories} == set(strange)


def test_a_page_shows_the_memories_that_name_the_concept_most(store) -> None:
    write_changes(store, ANN, *known("tent"))
    for place, weight in ((0, 0.5), (1, 0.875), (2, 0.75)):
        write_changes(store, ANN, refer("tent", IDS[place], weight=weight))
    with store.reader(ANN) as reader:
        page = browse.entity_page(reader, "TENT")
    assert [place.phrase for place in page.memories] == ["birch", "cedar", "ash"]
    assert [place.citation for place in page.memories] == [IDS[1], IDS[2], IDS[0]]


def test_a_concept_that_was_taken_out_is_only_found_as_removed(store) -> None:
    write_changes(
        store,
        ANN,
        PutConcept(sample_concept("Tent", OWN, aliases=("tarp",), kind="refused")),
        refer("Tent", IDS[0]),
    )
    with store.reader(ANN) as reader:
        assert browse.list_entities(reader) == []
        gone = browse.removed_entity(reader, "TARP")
        assert gone is not None
        assert (gone.id, gone.memories) == (sample_concept_id("Tent"), 1)
        assert browse.removed_entity(reader, "kayak") is None
        with pytest.raises(NotFoundError):
            browse.entity_by_id(reader, sample_concept_id("Tent"))


def shelved(store: Store) -> None:
    """A topic with two below it, and a folder."""
    below = {"parent": sample_category_id("camp", OWN)}
    shelves = [
        sample_category("camp", OWN),
        sample_category("tents", OWN, **below),
        sample_category("fires", OWN, **below),
        sample_category("notes", OWN, kind="path"),
    ]
    write_changes(store, ANN, *(PutCategory(shelf) for shelf in shelves))
    for place, name in enumerate(("fires", "fires", "tents", "camp")):
        belong(store, name, IDS[place])
    belong(store, "notes", *IDS[:5])


def belong(store: Store, name: str, *memories: str) -> None:
    write_changes(
        store,
        ANN,
        PutEdges(tuple(Edge(each, "belongs", sample_category_id(name, OWN), OWN) for each in memories)),
    )


def test_categories_are_a_tree_with_topics_before_paths_and_the_largest_first(store) -> None:
    shelved(store)
    with store.reader(ANN) as reader:
        rows = [(shelf.depth, shelf.name, shelf.memories) for shelf in browse.category_tree(reader)]
    assert rows == [(0, "camp", 4), (1, "fires", 2), (1, "tents", 1), (0, "notes", 5)]
    with store.reader(BOB) as reader:
        assert browse.category_tree(reader) == []


def test_a_category_is_shown_with_what_is_below_it_and_its_memories(store) -> None:
    shelved(store)
    with store.reader(ANN) as reader:
        page = browse.category_page(reader, "Camp")
        assert [shelf.name for shelf in page.below] == ["fires", "tents"]
        assert (page.category.memories, [place.id for place in page.memories]) == (4, [IDS[3]])
        page = browse.category_page(reader, "camp > fires")
        assert (page.category.depth, len(page.memories), page.below) == (1, 2, ())
        with pytest.raises(NotFoundError):
            browse.category_page(reader, "tents > camp")


def test_categories_in_a_ring_and_without_their_parent_are_listed_once(store) -> None:
    for name, parent in (("a", "b"), ("b", "a"), ("c", "gone")):
        write_changes(
            store, ANN, PutCategory(sample_category(name, OWN, parent=sample_category_id(parent, OWN)))
        )
    with store.reader(ANN) as reader:
        rows = [(shelf.name, shelf.depth) for shelf in browse.category_tree(reader)]
    assert rows == [("c", 0), ("a", 0), ("b", 1)]


def test_a_tree_deeper_than_the_stack_is_listed(store) -> None:
    names = [f"{number:04}" for number in range(1_200)]
    parents = [None, *(sample_category_id(name, OWN) for name in names)]
    write_changes(
        store,
        ANN,
        *(
            PutCategory(sample_category(name, OWN, kind="path", parent=parent))
            for name, parent in zip(names, parents, strict=False)
        ),
    )
    with store.reader(ANN) as reader:
        assert [shelf.depth for shelf in browse.category_tree(reader)] == list(range(1_200))


def join(src: str, dst: str, kind: str = "similar", weight: float = 0.9, **fields: str) -> PutEdges:
    return PutEdges((Edge(src, kind, dst, OWN, weight, **fields),))


def test_links_are_read_from_both_ends_with_their_direction(store) -> None:
    write_changes(store, ANN, join(IDS[0], IDS[1], "supersedes", 1.0, origin="given"), join(IDS[2], IDS[0]))
    with store.reader(ANN) as reader:
        rows = [
            (each.id, each.kind, each.direction, each.given, each.phrase)
            for each in browse.memory_links(reader, IDS[0])
        ]
    assert rows == [
        (IDS[2], "similar", "from", False, "cedar"),
        (IDS[1], "supersedes", "to", True, "birch"),
    ]


def test_of_each_kind_the_heaviest_ten_are_shown_and_two_ways_are_one_link(store) -> None:
    words = [f"tree {number}" for number in range(12)]
    hold(store, ANN, OWN, *words)
    trees = [sample_id(word) for word in words]
    for number, other in enumerate(trees):
        write_changes(store, ANN, join(other, IDS[0], weight=0.8 + number / 100))
    for number, other in enumerate(trees[:6]):
        write_changes(store, ANN, join(IDS[0], other, weight=0.8 + number / 100))
    write_changes(store, ANN, join(IDS[0], IDS[1], "links", 0.1))
    with store.reader(ANN) as reader:
        found = browse.memory_links(reader, IDS[0])
    assert [each.kind for each in found] == ["links", *["similar"] * 10]
    assert [each.id for each in found[1:]] == trees[:1:-1]


def test_a_link_to_what_the_reader_does_not_see_is_not_shown(store) -> None:
    hold(store, ANN, "public", "willow")
    willow = sample_id("willow")
    write_changes(store, ANN, join(willow, IDS[0]), join(IDS[1], willow))
    with store.reader(BOB) as reader:
        assert browse.memory_links(reader, willow) == ()
    with store.reader(ANN) as reader:
        assert {each.id for each in browse.memory_links(reader, willow)} == set(IDS[:2])


def test_a_phrase_is_the_abstract_else_the_beginning_cut_between_words(store) -> None:
    with store.reader(ANN) as reader:
        (record,) = reader.get(IDS[:1]).values()
    said = replace(record, content="A short\nphrase. " + "One two three four five six seven. " * 6)
    assert browse.memory_phrase(said).startswith("A short phrase. One two")
    short = replace(record, content="# Trip\n\n## Day 1\n\n- #1 is wet\n")
    assert browse.memory_phrase(short) == "Trip Day 1 #1 is wet"
    long = browse.memory_phrase(replace(record, content="word " * 60))
    assert long.endswith(" word…")
    assert len(long) <= browse.PHRASE_LENGTH
