"""What connects memories is made as they are written: honest after failures, the same the second time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from failing_store import Failing
from notes_folder import Notes
from web import edges, everything, named, scope_of, store_of

from scrubjay import Memory
from scrubjay.config.settings import LinkingSettings, Settings
from scrubjay.errors import StoreBusyError
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import Scope
from scrubjay.services.workspace import Workspace
from scrubjay.storage.changes import PutConcept

Open = Callable[..., Memory]

PLAN = "We deploy with [[Grafana]] on Mondays, and it tells us when it hurts."
"""A text that teaches a concept at once: a link is its writer's own word for a thing."""


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def dump(memory: Memory) -> list[object]:
    """Every edge with its time, every concept and every category: what a sync that changes nothing leaves alone."""
    with store_of(memory).reader(scope_of(memory)) as reader:
        return [edges(memory), reader.concepts(), reader.concept_mark(), reader.categories()]


def tree(notes: Notes) -> None:
    notes.write("plan.md", f"# Plan\n\n{PLAN} See [[Alerts]].\n\n## Costs\n\nGrafana costs little.\n")
    notes.write("alerts.md", "# Alerts\n\nWhat wakes us at night, as [the plan](plan.md#costs) says.\n")
    for n in range(20):
        subject = "the heron in the pond" if n % 2 else "the invoices of the northern region"
        notes.write(f"day/{n}.md", f"# Day {n}\n\nToday {subject} took {n} hours of work.\n")


def test_two_syncs_change_nothing_the_second_time(memory: Memory, notes: Notes) -> None:
    tree(notes)
    memory.sync(notes.root)
    before = dump(memory)
    assert {edge.kind for edge in edges(memory)} == {"belongs", "links", "references", "similar"}
    memory.sync()
    memory.sync(notes.root)
    assert dump(memory) == before


def test_a_file_that_was_only_touched_changes_nothing(memory: Memory, notes: Notes) -> None:
    tree(notes)
    memory.sync(notes.root)
    before = dump(memory)
    notes.write("plan.md", (notes.root / "plan.md").read_text())
    memory.sync()
    assert dump(memory) == before


def test_a_concept_found_in_one_sync_is_linked_in_notes_of_earlier_syncs(
    memory: Memory, notes: Notes
) -> None:
    notes.write("old.md", "The bill for Grafana came.")
    notes.write("older.md", "Nothing to report.")
    memory.sync(notes.root)
    assert named(memory) == {}
    notes.write("new.md", PLAN)
    memory.sync()
    assert named(memory) == {"Grafana": {PLAN, "The bill for Grafana came."}}


def test_a_shared_concept_is_linked_in_what_its_finder_wrote_privately_before(memory: Memory) -> None:
    memory.add("The bill for Grafana came.")
    memory.add(PLAN, visibility="public")
    assert named(memory) == {"Grafana": {PLAN, "The bill for Grafana came."}}
    keys = {edge.key for edge in edges(memory, "references")}
    assert keys == {"public", "user:ann"}
    assert len(edges(memory, "references", scope=Scope("default", "bob"))) == 1


def test_a_private_concept_is_linked_in_shared_memories_for_its_owner_alone(memory: Memory) -> None:
    memory.add("The bill for Grafana came.", visibility="public")
    memory.add(PLAN)
    assert named(memory) == {"Grafana": {PLAN, "The bill for Grafana came."}}
    assert edges(memory, scope=Scope("default", "bob")) == []


def test_what_a_passage_itself_said_before_does_not_speak_for_a_name(memory: Memory, notes: Notes) -> None:
    """Once is once, however often the passage is edited."""
    for n in range(3):
        notes.write("a.md", f"We heard of Zyxovar, once. Draft {n}.\n")
        memory.sync(notes.root)
    memory.rebuild()
    assert named(memory) == {}
    notes.write("b.md", "And Alba heard of Zyxovar too.\n")
    memory.sync()
    assert list(named(memory)) == ["Zyxovar"]


def test_an_edited_passage_refers_to_what_it_names_now(memory: Memory, notes: Notes) -> None:
    notes.write("a.md", PLAN)
    notes.write("b.md", "[[Zyxovar]] is here.")
    memory.sync(notes.root)
    assert sorted(named(memory)) == ["Grafana", "Zyxovar"]
    notes.write("a.md", "We deploy with Zyxovar on Mondays.")
    memory.sync()
    assert named(memory)["Grafana"] == set()
    assert "We deploy with Zyxovar on Mondays." in named(memory)["Zyxovar"]


def test_forgetting_a_memory_takes_its_edges_and_a_dropped_source_leaves_none(
    memory: Memory, notes: Notes
) -> None:
    tree(notes)
    memory.sync(notes.root)
    (plan, *_) = memory.get(path=notes.root / "plan.md").records
    memory.forget(plan.id)
    assert all(plan.id not in (edge.src, edge.dst) for edge in edges(memory))
    memory.remove_source(str(notes.root))
    assert edges(memory) == []
    with store_of(memory).reader(scope_of(memory)) as reader:
        assert reader.degrees("belongs") == reader.degrees("references") == {}
        assert [category for category in reader.categories() if category.kind == "path"] == []


@pytest.mark.parametrize("kind", ["add", "sync"])
def test_what_a_failed_write_would_have_taught_is_taught_by_the_next(
    settings: Settings, opened: Open, notes: Notes, kind: str
) -> None:
    desk = opened().workspace
    store = Failing(desk.store, lambda change: isinstance(change, PutConcept))
    memory = Memory(Workspace(store, desk.scope, desk.models, settings))
    notes.write("plan.md", PLAN)
    store.left = 2

    def once() -> None:
        if kind == "sync":
            memory.sync(notes.root)
        else:
            memory.add(PLAN)

    for _ in range(2):
        with pytest.raises(StoreBusyError):
            once()
        assert named(memory) == {}
    once()
    assert named(memory) == {"Grafana": {PLAN}}


def test_what_another_process_taught_is_known_to_the_next_call(settings: Settings, opened: Open) -> None:
    one, other = opened(), opened()
    one.add("Nothing yet.")
    other.add(PLAN)
    one.add("The bill for Grafana came.")
    assert named(one) == {"Grafana": {PLAN, "The bill for Grafana came."}}
    with store_of(one).reader(scope_of(one)) as reader:
        assert len(reader.concepts()) == 1


def test_threads_that_add_at_once_lose_no_reference(memory: Memory) -> None:
    words = [f"Zyxo{chr(97 + n)}ar" for n in range(16)]

    def work(mine: Sequence[str]) -> None:
        for word in mine:
            memory.add(f"We heard of [[{word}]] today.")
            memory.add(f"More of {word} came on the next day.")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [words[n::4] for n in range(4)]))
    found = named(memory)
    assert sorted(found) == sorted(words)
    with store_of(memory).reader(scope_of(memory)) as reader:
        held = everything(reader)
    assert {word: len(found[word]) for word in words} == {
        word: sum(word in record.content for record in held) for word in words
    }


def test_a_call_of_several_transactions_links_each_memory_once(opened: Open) -> None:
    memory = opened()
    memory.add_many(NewMemory(f"{PLAN} Take {n}.") for n in range(1_500))
    found = edges(memory, "references")
    assert len(found) == len({(edge.src, edge.dst) for edge in found}) == 1_500


def test_with_every_stage_off_nothing_is_connected(settings: Settings, opened: Open, notes: Notes) -> None:
    memory = opened(settings=replace(settings, linking=replace(LinkingSettings(), stages=())))
    tree(notes)
    memory.sync(notes.root)
    memory.add(PLAN)
    assert dump(memory) == [[], [], 0, []]
