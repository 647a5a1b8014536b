"""A store that was written before memories were connected, or under other settings: all of it connected anew."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from failing_store import Failing
from notes_folder import Notes
from web import categories, edges, everything, joined, named, scope_of, store_of

from scrubjay import Memory
from scrubjay.config.settings import LINKING_STAGES, LinkingSettings, Settings
from scrubjay.errors import StoreBusyError
from scrubjay.ingest import enrichment
from scrubjay.ingest.reader import stage_versions
from scrubjay.models.graph import Category, Edge
from scrubjay.models.reports import Progress
from scrubjay.services.sync import chunk_settings
from scrubjay.services.workspace import Workspace
from scrubjay.storage.changes import Change, PutEdges, PutVersions

Open = Callable[..., Memory]
OLD = Path(__file__).parents[1] / "migrations" / "stores" / "schema_1.db.gz"


def tree(notes: Notes) -> None:
    notes.write("plan.md", "# Plan\n\nWe use [[Grafana]], see [[alerts]].\n\n## Costs\n\nFew.\n")
    notes.write("alerts.md", "# Alerts\n\nGrafana wakes us, says [the plan](plan.md#costs).\n")
    for n in range(20):
        subject = (
            "the heron stands in the shallow pond" if n % 2 else "invoices of the northern region are late"
        )
        notes.write(f"day/{n}.md", f"# Day {n}\n\nToday {subject} and nothing else happened.\n")


def wish(desk: Workspace, stages: tuple[str, ...]) -> Memory:
    """The same store with other stages."""
    found = replace(desk.settings, linking=replace(LinkingSettings(), stages=stages))
    return Memory(replace(desk, settings=found, dictionaries={}))


def told(found: list[Edge]) -> set[tuple[str, str, frozenset[str], float]]:
    """Edges without their times; of likeness, whichever of two made it."""
    return {
        (edge.kind, "", frozenset((edge.src, edge.dst)), 0.0)
        if edge.kind == "similar"
        else (edge.kind, edge.src, frozenset((edge.src, edge.dst)), edge.weight)
        for edge in found
    }


def shelves(found: list[Category]) -> set[tuple[str, str, str | None]]:
    return {(category.id, category.name, category.parent) for category in found}


def test_what_was_written_with_nothing_connected_is_connected_by_a_rebuild(
    opened: Open, notes: Notes
) -> None:
    tree(notes)
    desk = opened().workspace
    wish(desk, ()).sync(notes.root)
    memory = wish(desk, LINKING_STAGES)
    assert edges(memory) == []
    memory.rebuild()
    found = edges(memory)
    assert {edge.kind for edge in found} == {"belongs", "links", "references", "similar"}
    assert len(named(memory)["Grafana"]) == 2
    assert len(edges(memory, "links")) == 2
    assert {"topic", "path"} == {
        category.kind for category in categories(memory, "topic") + categories(memory, "path")
    }
    memory.rebuild()
    assert told(edges(memory)) == told(found)


def test_a_rebuild_of_what_is_connected_changes_nothing_but_times(opened: Open, notes: Notes) -> None:
    tree(notes)
    memory = opened()
    memory.sync(notes.root)
    before, kinds = told(edges(memory)), ("topic", "path")
    stood = [shelves(categories(memory, kind)) for kind in kinds]
    memory.rebuild()
    assert told(edges(memory, "links", "references", "similar")) == {
        edge for edge in before if edge[0] != "belongs"
    }
    assert [shelves(categories(memory, kind)) for kind in kinds] == stood


def test_it_goes_page_by_page_and_says_how_far_it_is(
    opened: Open, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(notes)
    memory = opened()
    memory.sync(notes.root)
    before = told(edges(memory, "links", "references", "similar"))
    monkeypatch.setattr(enrichment, "PAGE", 5)
    heard: list[Progress] = []
    memory.rebuild(progress=heard.append)
    assert told(edges(memory, "links", "references", "similar")) == before
    steps = [step for step in heard if step.stage == "connect"]
    assert [step.done for step in steps] == [5, 10, 15, 20, 23]
    assert {step.total for step in steps} == {23}


def test_what_was_given_stays(opened: Open, notes: Notes) -> None:
    tree(notes)
    memory = opened()
    memory.sync(notes.root)
    with store_of(memory).reader(scope_of(memory)) as reader:
        one, other = (record.id for record in everything(reader)[:2])
    memory.link(one, other)
    memory.concepts.add("Heron", ["grey bird"])
    memory.rebuild()
    assert [(e.src, e.dst) for e in edges(memory, "links") if e.origin == "given"] == [(one, other)]
    assert len(named(memory)["Heron"]) == 10


def test_a_rebuild_that_was_stopped_while_connecting_is_finished_by_the_next_sync(
    opened: Open, notes: Notes
) -> None:
    tree(notes)
    desk = opened().workspace
    wish(desk, ()).sync(notes.root)

    def connecting(change: Change) -> bool:
        return isinstance(change, PutEdges) and bool(change.edges)

    store = Failing(desk.store, connecting)
    memory = Memory(replace(desk, store=store))
    store.left = 1
    with pytest.raises(StoreBusyError):
        memory.rebuild()
    assert edges(memory) == []
    assert memory.search("heron").results
    memory.sync()
    assert {edge.kind for edge in edges(memory)} == {"belongs", "links", "references", "similar"}
    with desk.store.reader(desk.scope) as reader:
        assert reader.versions() == stage_versions(chunk_settings(desk))


def test_a_store_of_another_version_is_connected_by_its_next_sync(opened: Open, notes: Notes) -> None:
    tree(notes)
    desk = opened().workspace
    wish(desk, ()).sync(notes.root)
    old = replace(stage_versions(chunk_settings(desk)), labeller="0")
    desk.store.write(desk.scope, [PutVersions(old)])
    memory = wish(desk, LINKING_STAGES)
    memory.sync()
    assert {edge.kind for edge in edges(memory)} == {"belongs", "links", "references", "similar"}


def test_a_store_of_schema_1_is_connected(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    with Memory.open(settings=replace(settings, store=str(path)), user="ann", groups=["dev"]) as memory:
        memory.concepts.add("acorn")
        memory.rebuild()
        found = named(memory)
        assert {text for text in found["acorn"] if "acorn" in text} == found["acorn"] != set()
        assert [category.name for category in categories(memory, "path")]
        texts = [f"The jay hides acorns under the oak in autumn, and {rest}" for rest in ("when?", "then.")]
        for text in texts:
            memory.add(text)
        assert (texts[1], texts[0]) in joined(memory, "similar")
