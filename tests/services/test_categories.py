"""Categories on the facade: filters over the tree, one category with its memories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.graph import Edge
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutCategory, PutEdges
from scrubjay.storage.urls import open_store
from store_contract.samples import sample_category, sample_category_id

OWN = "user:ann"


@pytest.fixture
def memory(opened: Callable[..., Memory], tmp_path: Path) -> Memory:
    """Ann's memory of a camp: a topic, one below it, and a folder, two memories in each of the lower ones."""
    found = opened()
    ids = [found.add(f"the camp fire number {number} was wet").id for number in range(4)]
    shelves = [
        sample_category("camp", OWN, abstract="tents and fires"),
        sample_category("fires", OWN, parent=sample_category_id("camp", OWN), overview="How fires are made."),
        sample_category("diary", OWN, kind="path"),
    ]
    places = [(ids[0], "fires"), (ids[1], "fires"), (ids[2], "diary"), (ids[3], "diary")]
    belongs = tuple(Edge(memory, "belongs", sample_category_id(name, OWN), OWN) for memory, name in places)
    store = open_store(str(tmp_path / "memory.db"))
    store.write(Scope("default", "ann"), [*(PutCategory(shelf) for shelf in shelves), PutEdges(belongs)])
    store.close()
    return found


def test_the_tree_is_listed_from_top_to_bottom(memory: Memory) -> None:
    rows = [(shelf.name, shelf.depth, shelf.memories) for shelf in memory.categories.list()]
    assert rows == [("camp", 0, 2), ("fires", 1, 2), ("diary", 0, 2)]


def test_a_list_is_narrowed_to_a_kind_and_to_levels(memory: Memory) -> None:
    assert [shelf.name for shelf in memory.categories.list(kind="topic")] == ["camp", "fires"]
    assert [shelf.name for shelf in memory.categories.list(kind="path")] == ["diary"]
    assert [shelf.name for shelf in memory.categories.list(depth=1)] == ["camp", "diary"]
    for wrong in ({"kind": "tag"}, {"depth": 0}):
        with pytest.raises(InputError):
            memory.categories.list(**wrong)


def test_one_category_is_shown_by_name_by_path_and_by_the_beginning_of_its_id(memory: Memory) -> None:
    for name in (
        "Fires",
        "camp > fires",
        sample_category_id("fires", OWN),
        sample_category_id("fires", OWN)[:-2],
    ):
        page = memory.categories.show(name)
        assert (page.category.name, page.category.overview, len(page.memories)) == (
            "fires",
            "How fires are made.",
            2,
        )
    assert [shelf.name for shelf in memory.categories.show("camp").below] == ["fires"]
    with pytest.raises(NotFoundError):
        memory.categories.show("rain")


def test_nobody_else_sees_a_persons_categories(memory: Memory, opened: Callable[..., Memory]) -> None:
    bob = opened(user="bob")
    assert bob.categories.list() == ()
    with pytest.raises(NotFoundError):
        bob.categories.show("camp")
