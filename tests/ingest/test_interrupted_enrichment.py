"""An enrichment that was cut short: the next sync finishes it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from failing_store import Failing
from notes_folder import Notes
from web import categories, edges, store_of

from scrubjay import Memory
from scrubjay.errors import StoreBusyError
from scrubjay.services.workspace import Workspace
from scrubjay.storage.changes import Change, PutCategory, PutEdges

Open = Callable[..., Memory]


def links(change: Change) -> bool:
    return isinstance(change, PutEdges) and change.kinds == ("links",)


def places(change: Change) -> bool:
    return isinstance(change, PutCategory) and change.category.kind == "path"


@pytest.fixture
def desk(opened: Open) -> Workspace:
    return opened().workspace


def failing(desk: Workspace, when: Callable[[Change], bool]) -> tuple[Failing, Memory]:
    store = Failing(desk.store, when)
    return store, Memory(Workspace(store, desk.scope, desk.models, desk.settings))


def tree(notes: Notes) -> None:
    notes.write("a.md", "# A\n\nSee [[b]].\n")
    notes.write("b.md", "# B\n\nBack to [a](a.md).\n\n## One\n\nfirst\n\n## Two\n\nsecond\n")
    notes.write("deep/c.md", "# C\n\nSee [[b#Two]].\n")
    notes.write("deep/d.md", "# D\n\nNothing.\n")


def whole(memory: Memory) -> tuple[set[tuple[str, str, str]], set[str]]:
    return (
        {(edge.src, edge.kind, edge.dst) for edge in edges(memory, "links", "belongs")},
        {category.name for category in categories(memory, "path")},
    )


@pytest.mark.parametrize("when", [links, places], ids=["before its links", "before its folders"])
def test_a_first_sync_that_was_cut_short_is_made_good(
    desk: Workspace, notes: Notes, when: Callable[[Change], bool]
) -> None:
    tree(notes)
    store, memory = failing(desk, when)
    store.left = 1
    with pytest.raises(StoreBusyError):
        memory.sync(notes.root)
    assert memory.status().documents == 4
    assert memory.status().unenriched == 4
    memory.sync()
    found = whole(memory)
    assert len(edges(memory, "links")) == 3
    assert {"notes", "deep", "b.md"} <= found[1]
    memory.rebuild()
    assert whole(memory) == found


@pytest.mark.parametrize("when", [links, places], ids=["before its links", "before its folders"])
def test_an_edit_whose_sync_was_cut_short_is_made_good(
    desk: Workspace, notes: Notes, when: Callable[[Change], bool]
) -> None:
    tree(notes)
    store, memory = failing(desk, when)
    memory.sync(notes.root)
    notes.write("a.md", "# A\n\nNothing any more.\n")
    notes.write("deep/e.md", "# E\n\nSee [[a]].\n\n## One\n\nfirst\n\n## Two\n\nsecond\n")
    (notes.root / "b.md").unlink()
    store.left = 1
    with pytest.raises(StoreBusyError):
        memory.sync()
    memory.sync()
    (link,) = edges(memory, "links")
    with store_of(memory).reader(desk.scope) as reader:
        held = reader.get([link.src, link.dst])
    assert [held[one].place.path for one in (link.src, link.dst)] == ["deep/e.md", "a.md"]  # type: ignore[union-attr]
    found = whole(memory)
    assert "b.md" not in found[1]
    memory.rebuild()
    assert whole(memory) == found


def test_the_status_counts_the_documents_of_a_sync_that_was_cut_short_until_it_is_made_good(
    desk: Workspace, notes: Notes
) -> None:
    tree(notes)
    store, memory = failing(desk, links)
    memory.sync(notes.root)
    assert not memory.status().unenriched
    notes.write("a.md", "# A\n\nSee [[d]].\n")
    store.left = 2
    for _ in range(2):
        with pytest.raises(StoreBusyError):
            memory.sync()
        assert memory.status().unenriched == 2  # b.md links to it
    memory.sync()
    assert not memory.status().unenriched
    assert len(edges(memory, "links")) == 3
