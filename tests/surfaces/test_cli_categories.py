"""`scrubjay categories`: the tree that a sync makes of folders and headings, and topics put by hand."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from scrubjay.models.graph import Edge
from scrubjay.models.records import Scope
from scrubjay.models.views import CategoryPage, CategorySummary
from scrubjay.storage.changes import PutCategory, PutEdges
from scrubjay.storage.urls import open_store
from store_contract.samples import sample_category, sample_category_id

OWN = "user:ann"


@pytest.fixture
def camp(cli, environ: dict[str, str]) -> list[str]:
    """Three memories: two in a topic below another, one in a folder."""
    ids = [cli("add", f"camp fire number {number}", "--json").json["id"] for number in range(3)]
    shelves = [
        sample_category("camp", OWN, abstract="camp: tents and fires"),
        sample_category("fires", OWN, parent=sample_category_id("camp", OWN), overview="How fires are made."),
        sample_category("diary", OWN, kind="path"),
    ]
    belongs = [(ids[0], "fires"), (ids[1], "fires"), (ids[2], "diary")]
    edges = tuple(Edge(memory, "belongs", sample_category_id(name, OWN), OWN) for memory, name in belongs)
    store = open_store(environ["SCRUBJAY_STORE"])
    store.write(Scope("default", "ann"), [*(PutCategory(shelf) for shelf in shelves), PutEdges(edges)])
    store.close()
    return ids


def test_an_empty_store_says_what_to_do(cli, environ) -> None:
    told = f"You have no memories in sqlite:///{environ['SCRUBJAY_STORE']} (user 'ann').\nhint: scrubjay sync DIR\n"
    for words in (["categories"], ["categories", "list", "--topics"]):
        assert cli(*words).out == told
    assert cli("categories", "--json").json == {"categories": []}


def test_a_store_without_categories_says_so(cli) -> None:
    cli("add", "alone")
    assert cli("categories", "list", "--topics").out.startswith("There are no categories yet")


def test_categories_are_an_indented_tree(cli, camp) -> None:
    assert cli("categories").out == "camp (2)  tents and fires\n  fires (2)\ndiary (1)\n"
    assert cli("categories", "list", "--topics", "--depth", "1").out == "camp (2)  tents and fires\n"
    assert cli("categories", "list", "--paths").out == "diary (1)\n"
    assert cli("categories", "list", "--paths", "--topics").code == 2
    assert cli("categories", "list", "--depth", "0").code == 2


def test_a_category_is_shown_with_what_is_below_and_its_memories(cli, camp) -> None:
    head = f"camp\ntopic · 2 memories · {sample_category_id('camp', OWN)}\n   camp: tents and fires\n"
    assert cli("categories", "show", "camp").out == head + "\n  fires (2)\n"
    out = cli("categories", "show", "Camp > Fires").out
    assert "How fires are made." in out
    assert all(memory in out for memory in camp[:2])
    said = cli("categories", "show", "rain")
    assert said.code == 2
    assert "scrubjay categories" in said.err


def test_json_has_the_fields_of_the_values(cli, camp) -> None:
    listed = cli("categories", "list", "--json").json["categories"]
    assert [list(each) for each in listed] == [[item.name for item in fields(CategorySummary)]] * 3
    assert list(cli("categories", "show", "camp", "--json").json) == [
        item.name for item in fields(CategoryPage)
    ]


def test_nobody_else_sees_them(cli, camp) -> None:
    assert cli("categories", "--user", "bob", "--json").json == {"categories": []}
    assert cli("categories", "show", "camp", "--user", "bob").code == 2


def test_a_sync_puts_memories_under_their_folders(cli, notes: Path) -> None:
    cli("sync", notes)
    (top, *_) = cli("categories", "list", "--paths", "--json").json["categories"]
    assert (top["name"], top["depth"], top["memories"]) == ("notes", 0, 4)
