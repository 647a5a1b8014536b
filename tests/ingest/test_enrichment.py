"""A sync ends when everything is searchable; what connects it follows, and can be interrupted at any time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from failing_store import Failing
from notes_folder import Notes
from web import categories, edges, everything, named, scope_of, store_of

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.errors import StoreBusyError
from scrubjay.ingest import enrichment
from scrubjay.models.graph import STORED_EDGE_KINDS
from scrubjay.models.records import Scope
from scrubjay.services.sync import enrich_and_embed, pending_work
from scrubjay.services.workspace import Workspace
from scrubjay.storage.changes import Change

Open = Callable[..., Memory]
FILES = ("*.md", "*.jsonl")


class FailingAfter(Failing):
    """A store that fails one write, after some others; None for no write."""

    after: int | None = None

    def write(
        self, scope: Scope, changes: Sequence[Change], *, durable: bool = False, patience: float | None = None
    ) -> None:
        if self.after is not None:
            self.after -= 1
            if self.after < 0:
                self.after = None
                raise StoreBusyError("Another process is writing. Nothing was written.")
        super().write(scope, changes, durable=durable, patience=patience)


def tree(notes: Notes) -> None:
    birds = ("heron", "kestrel", "plover")
    for number in range(18):
        bird = birds[number % 3]
        notes.write(
            f"{bird}s/{number}.md",
            f"# {bird.title()} {number}\n\nWe saw the {bird} with Ada Lovelace near `tide_gate` at the mill, "
            f"and wrote down how the {bird} stood in the reeds of bay {number}. See [[{(number + 1) % 18}]].\n",
        )
    said = (
        "My sister Ana lives in Porto.",
        "I prefer tabs over spaces.",
        "We decided to use PostgreSQL for the orders.",
    )
    rows = [
        {"role": "user", "content": text, "session": "s", "timestamp": f"2026-03-0{number + 1}T10:00:00Z"}
        for number, text in enumerate(said)
    ]
    notes.write("talk.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def state(memory: Memory) -> Mapping[str, object]:
    """What connects the memories, by what they say."""
    with store_of(memory).reader(scope_of(memory)) as reader:
        records = everything(reader)
        names = {one.id: one.content for one in records}
        names |= {one.id: one.name for one in (*reader.concepts(), *reader.categories())}
    pairs = {
        (edge.kind, *(sorted if edge.kind == "similar" else tuple)((names[edge.src], names[edge.dst])))
        for edge in edges(memory)
    }
    return {
        "edges": pairs,
        "concepts": named(memory).keys(),
        "categories": {kind: {one.name for one in categories(memory, kind)} for kind in ("path", "topic")},
        "facts": {(one.content, one.status) for one in records if one.origin == "derived"},
        "due": sum(one.due for one in records),
    }


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrichment, "PAGE", 7)


def test_interrupted_after_any_transaction_it_ends_in_the_same_state(
    learning: Settings, opened: Open, notes: Notes, tmp_path: Path, pages: None
) -> None:
    tree(notes)
    whole = opened(settings=learning)
    whole.sync(notes.root, include=FILES)
    wanted = state(whole)
    assert {kind for kind, *_ in wanted["edges"]} >= {"references", "belongs", "links", "similar"}  # type: ignore[attr-defined]
    assert len(wanted["facts"]) >= 2  # type: ignore[arg-type]
    assert wanted["categories"]["topic"]  # type: ignore[index]
    for after in range(100):
        desk = opened(settings=replace(learning, store=str(tmp_path / f"{after}.db"))).workspace
        store = FailingAfter(desk.store, lambda _: False)
        memory = Memory(Workspace(store, desk.scope, desk.models, desk.settings))
        memory.sync(notes.root, include=FILES, enrich=False)
        store.after = after
        try:
            memory.enrich()
        except StoreBusyError:
            assert memory.status().unenriched
            memory.enrich()
            assert state(memory) == wanted
        else:
            break
    assert after >= 8


def test_before_it_is_enriched_everything_is_found_and_nothing_is_called_partial(
    opened: Open, notes: Notes
) -> None:
    tree(notes)
    memory = opened()
    done = memory.sync(notes.root, include=FILES, enrich=False)
    assert done.linked == 0
    assert edges(memory) == []
    assert memory.status().unenriched == 19
    assert memory.status().unenriched_since is not None
    answer = memory.search("heron at bay 9")
    assert answer.results[0].path.endswith("herons/9.md")
    assert answer.partial == ()
    report = memory.enrich()
    assert report.linked > 0
    assert report.waiting == 0
    assert "Ada Lovelace" in named(memory)
    assert memory.status().unenriched == 0
    assert memory.status().unenriched_since is None


def test_what_a_changed_text_no_longer_says_is_gone_before_the_rest_is_enriched(
    opened: Open, notes: Notes
) -> None:
    tree(notes)
    memory = opened()
    memory.sync(notes.root, include=FILES)
    path = notes.write("herons/0.md", "# Heron 0\n\nNothing is left of it.\n")
    notes.write("herons/3.md", "# Heron 3\n\nA [[0]] that is read again.\n")
    memory.sync(enrich=False)
    with store_of(memory).reader(scope_of(memory)) as reader:
        (changed,) = [one.id for one in everything(reader) if "Nothing is left" in one.content]
        left = {edge.kind for edge in reader.edges([changed], STORED_EDGE_KINDS)}
    assert path.exists()
    assert left <= {"belongs"}
    memory.enrich()
    with store_of(memory).reader(scope_of(memory)) as reader:
        inward = reader.edges([changed], ["links"], inward=True)
    assert len(inward) == 2  # from herons/3.md, and still from the page that linked to it before


def test_while_another_process_enriches_a_sync_leaves_it_the_queue(opened: Open, notes: Notes) -> None:
    tree(notes)
    memory = opened()
    with store_of(memory).try_exclusive(scope_of(memory), "enrichment") as alone:
        assert alone
        assert memory.sync(notes.root, include=FILES).linked == 0
        assert memory.enrich().waiting == 21
    assert memory.sync().linked > 0
    assert memory.status().unenriched == 0


def test_the_background_process_works_off_the_queue_first(opened: Open, notes: Notes) -> None:
    tree(notes)
    memory = opened()
    memory.sync(notes.root, include=FILES, enrich=False)
    assert pending_work(memory.workspace, bundled=True) == 21
    enrich_and_embed(memory.workspace, lambda: True, bundled=True)
    assert pending_work(memory.workspace, bundled=True) == 0
    assert "Ada Lovelace" in named(memory)


def test_the_enrichment_stops_between_two_pages_when_it_may_not_go_on(
    opened: Open, notes: Notes, pages: None
) -> None:
    tree(notes)
    memory = opened()
    memory.sync(notes.root, include=FILES, enrich=False)
    answers = iter([True, True, False])
    enrich_and_embed(memory.workspace, lambda: next(answers, False), bundled=True)
    assert len(edges(memory, "references")) > 0
    assert memory.status().unenriched == 19


def test_a_fact_that_the_quota_has_no_room_for_waits_and_says_so(
    learning: Settings, opened: Open, notes: Notes
) -> None:
    tree(notes)
    memory = opened(settings=replace(learning, quota=replace(learning.quota, memories_per_tenant=21)))
    done = memory.sync(notes.root, include=FILES)
    assert done.added == 21
    assert [one.message.partition(":")[0] for one in done.problems] == ["Facts were not stored"]
    assert memory.status().unenriched
