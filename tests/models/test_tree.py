"""Categories by name, and those below them."""

from __future__ import annotations

import pytest

from scrubjay.errors import NotFoundError
from scrubjay.models.graph import Category, category_ids_below, category_path, find_categories


def node(number: int, name: str, parent: int | None = None, key: str = "user:ann") -> Category:
    return Category(_id(number), key, "path", name, None if parent is None else _id(parent))


def _id(number: int) -> str:
    return f"cat_{number:016x}"


TREE = [
    node(1, "Guide"),
    node(2, "Install", 1),
    node(3, "Linux", 2),
    node(4, "Install"),
    node(5, "Guide", key="public"),
]


def test_a_name_means_every_category_that_bears_it_and_all_below() -> None:
    assert category_ids_below(TREE, ["install"]) == (_id(2), _id(3), _id(4))
    assert category_ids_below(TREE, ["Guide"]) == (_id(1), _id(2), _id(3), _id(5))


def test_a_path_of_names_tells_two_of_one_name_apart() -> None:
    assert category_ids_below(TREE, ["Guide > Install"]) == (_id(2), _id(3))


def test_an_id_or_a_unique_beginning_of_one_is_that_category() -> None:
    assert [c.id for c in find_categories([node(0x10 << 56, "a"), node(0x20 << 56, "b")], "cat_10")] == [
        _id(0x10 << 56)
    ]
    with pytest.raises(NotFoundError):
        find_categories(TREE, "cat_0")


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    with pytest.raises(NotFoundError, match="No category 'nothing' is known"):
        category_ids_below(TREE, ["nothing"])


def test_a_cycle_of_parents_ends() -> None:
    cycle = [node(1, "a", 2), node(2, "b", 1)]
    assert category_ids_below(cycle, ["a"]) == (_id(1), _id(2))
    assert [c.name for c in category_path(cycle[0], {c.id: c for c in cycle})] == ["b", "a"]


def test_a_parent_that_is_not_seen_ends_the_path() -> None:
    assert [c.name for c in category_path(node(3, "x", 9), {})] == ["x"]
