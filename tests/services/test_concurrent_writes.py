"""Two writers of one memory at the same time: neither loses what the other wrote."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from scrubjay import Memory, NewMemory
from scrubjay.config.settings import FactSettings, RetentionSettings, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import NotFoundError
from scrubjay.models.records import STATUSES, Record, Scope
from scrubjay.storage.changes import (
    Change,
    DropConcept,
    DropMemory,
    DropSource,
    Forget,
    PutConcept,
    PutDocument,
    PutLifecycle,
    PutMemory,
    PutSource,
)
from scrubjay.storage.interface import Store

Writers = tuple[Memory, Memory, "Interrupted"]


class Interrupted(HashEmbedder):
    """Runs `meanwhile` once, before it embeds the next passages: between a writer's read and its write.

    It embeds passages ``skip`` times before.
    """

    meanwhile: Callable[[], object] | None = None
    skip = 0

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> list[NDArray[np.float32]]:
        meanwhile = self.meanwhile
        if texts and kind == "passage" and meanwhile is not None:
            self.skip -= 1
            if self.skip < 0:
                self.meanwhile = None
                meanwhile()
        return super().embed(texts, kind=kind)


class InterruptedStore:
    """A store that runs something once, before the first write of a change of a type, and of a memory of a tier."""

    def __init__(
        self, store: Store, meanwhile: Callable[[], object], before: type[Any] = object, tier: str = ""
    ) -> None:
        self._store = store
        self._before, self._tier = before, tier
        self.meanwhile: Callable[[], object] | None = meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, scope: Scope, changes: Sequence[Change], **options: Any) -> None:
        meanwhile = self.meanwhile
        if meanwhile is not None and any(map(self._is_awaited, changes)):
            self.meanwhile = None
            meanwhile()
        self._store.write(scope, changes, **options)

    def _is_awaited(self, change: Change) -> bool:
        if self._tier:
            return isinstance(change, PutMemory) and change.memory.record.tier == self._tier
        return isinstance(change, self._before)


@contextmanager
def interrupted(
    memory: Memory, meanwhile: Callable[[], object], before: type[Any] = object, tier: str = ""
) -> Iterator[Memory]:
    """The same memory on a store that runs something once before a write; it must have run at the end."""
    store = InterruptedStore(memory.workspace.store, meanwhile, before, tier)
    yield Memory(replace(memory.workspace, store=cast("Store", store)))
    assert store.meanwhile is None


@pytest.fixture(params=["sqlite", "postgres"])
def writers(opened: Callable[..., Memory], request: pytest.FixtureRequest) -> Writers:
    """Two writers of one store, and the embedder of the first."""
    return open_writers(opened, request)


def open_writers(opened: Callable[..., Memory], request: pytest.FixtureRequest, **changes: Any) -> Writers:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    embedder = Interrupted(64)
    changes["tenant"] = request.node.name
    return opened(url, embedders=[embedder], **changes), opened(url, **changes), embedder


def stored(memory: Memory, one: str) -> Record:
    return memory.history(one).memory


def texts(memory: Memory) -> set[str]:
    return {one.content for one in memory.page(statuses=STATUSES).records}


def test_two_updates_at_once_keep_both_texts_and_what_only_one_of_them_sets(writers: Writers) -> None:
    first, second, embedder = writers
    one = first.add("The port is 80.").id
    embedder.meanwhile = lambda: second.update(one, "The port is 81.", pinned=True)
    first.update(one, "The port is 82.")
    assert texts(first) == {"The port is 80.", "The port is 81.", "The port is 82."}
    now = stored(first, one)
    assert (now.content, now.pinned) == ("The port is 82.", True)
    assert [event.op for event in first.history(one).events] == ["changed", "pinned", "changed"]


def test_a_verdict_given_during_an_update_stays(writers: Writers) -> None:
    first, second, embedder = writers
    one = first.add("The port is 80.").id
    embedder.meanwhile = lambda: (second.feedback(one, "never-inject"), second.feedback(one, "wrong"))
    first.update(one, "The port is 82.", tags=["network"])
    now = stored(first, one)
    assert (now.content, now.tags, now.marked_wrong) == ("The port is 82.", ("network", "never-inject"), True)


def test_tags_that_are_changed_during_a_verdict_stay(writers: Writers) -> None:
    first, second, _ = writers
    one = first.add("The port is 80.", tags=["old"]).id
    with interrupted(first, lambda: second.update(one, tags=["network"])) as judging:
        assert judging.feedback(one, "never-inject").ids == (one,)
    assert stored(first, one).tags == ("network", "never-inject")


def test_a_memory_forgotten_during_an_update_stays_forgotten(writers: Writers) -> None:
    first, second, embedder = writers
    one = first.add("The port is 80.").id
    embedder.meanwhile = lambda: second.forget(one)
    with pytest.raises(NotFoundError):
        first.update(one, "The port is 82.")
    assert texts(first) == set()


def test_what_is_said_of_a_passage_while_a_sync_rewrites_it_stays(writers: Writers, tmp_path: Path) -> None:
    first, second, embedder = writers
    file = tmp_path / "notes" / "pump.md"
    file.parent.mkdir()
    file.write_text("# Pump\n\nThe pump is blue.\n")
    first.sync(file.parent)
    (one,) = (record.id for record in first.page().records)

    def judge() -> None:
        second.feedback(one, "never-inject")
        second.feedback(one, "wrong")
        second.update(one, confidence=0.5, valid_until="2030-01-01")
        second.archive(one)

    embedder.meanwhile = judge
    file.write_text("# Pump\n\nThe pump is blue and loud.\n")
    assert first.sync(file.parent).updated == 1
    now = stored(first, one)
    assert now.content.endswith("The pump is blue and loud.\n")
    assert (now.tags, now.marked_wrong, now.status, now.confidence) == (
        ("never-inject",),
        True,
        "archived",
        0.5,
    )
    assert now.valid_until is not None
    assert "restored" not in [event.op for event in first.history(one).events]


def test_a_verdict_that_is_taken_back_while_a_sync_rewrites_the_passage_is_gone(
    writers: Writers, tmp_path: Path
) -> None:
    first, second, embedder = writers
    file = tmp_path / "notes" / "pump.md"
    file.parent.mkdir()
    file.write_text("---\ntags: [boat]\n---\nThe pump is blue.\n")
    first.sync(file.parent)
    (one,) = (record.id for record in first.page().records)
    first.feedback(one, "never-inject")
    embedder.meanwhile = lambda: second.feedback(one, "inject")
    file.write_text("---\ntags: [boat, engine]\n---\nThe pump is blue and loud.\n")
    first.sync(file.parent)
    assert stored(first, one).tags == ("boat", "engine")


def test_two_adds_of_one_text_at_once_keep_what_the_first_says_of_it(writers: Writers) -> None:
    first, second, embedder = writers

    def add() -> None:
        one = second.add("The pump is blue.", title="Pump", tags=["boat"], pinned=True)
        second.feedback(one.id, "wrong")

    embedder.meanwhile = add
    report = first.add("The pump is blue.")
    now = stored(first, report.id)
    assert report.existed
    assert (now.title, now.tags, now.pinned, now.marked_wrong) == ("Pump", ("boat",), True, True)
    assert [event.op for event in first.history(report.id).events] == ["wrong", "added"]


def test_a_pin_that_a_new_fact_gets_while_its_turn_is_learned_again_stays(writers: Writers) -> None:
    first, second, embedder = writers
    turn: dict[str, Any] = {"session": "s", "role": "user", "turn": 0}
    text = "I always use tabs for indentation in Go files."

    def learn() -> None:
        for fact in second.add(text, **turn).learned:
            second.update(fact, pinned=True)

    embedder.meanwhile, embedder.skip = learn, 1  # the turn is embedded before its facts
    first.add(text, **turn)
    facts = [one for one in first.page().records if one.origin == "derived"]
    assert facts
    assert all(one.pinned for one in facts)


def test_of_a_turn_that_is_forgotten_while_its_facts_are_learned_nothing_remains(
    writers: Writers, tmp_path: Path
) -> None:
    first, second, embedder = writers
    said = {"role": "user", "content": "My home address is Rua Augusta 77 in Porto.", "session": "s"}
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks/c.jsonl").write_text(json.dumps(said | {"time": "2026-11-01T10:00:00Z"}) + "\n")
    embedder.meanwhile = lambda: second.forget([one.id for one in second.page().records])
    embedder.skip = 1  # the turn is embedded before its facts
    first.sync(tmp_path / "talks")
    assert embedder.meanwhile is None
    assert texts(first) == set()


def test_a_digest_quotes_no_turn_that_is_forgotten_while_it_is_written(writers: Writers) -> None:
    first, second, embedder = writers
    talk = [
        "The mooring fee is 480 euros a year, and the harbour office wants it by the first of May.",
        "Then I put the payment of the mooring fee on the list for April, with the account of the club.",
        "The hull needs two coats of the blue paint, and the keel needs the grey one from the shed.",
        "I ordered six litres of the blue paint and two of the grey one at the shop in Hull.",
    ]
    turns = [
        first.add(text, session="s", turn=turn, role=("user", "assistant")[turn % 2], date="2024-03-01").id
        for turn, text in enumerate(talk)
    ]
    embedder.meanwhile = lambda: second.forget(turns[:1])
    first.consolidate()
    assert embedder.meanwhile is None
    assert not [text for text in texts(first) if "480" in text]
    assert [one for one in first.page().records if one.tier == "crystal"]


def test_concepts_of_memories_whose_write_was_refused_are_found_again(writers: Writers) -> None:
    first, second, embedder = writers
    said = [
        "The backup of Kronstadt Harbour runs at Hetzner Falkenstein since spring.",
        "Kronstadt Harbour pays Hetzner Falkenstein each month by transfer.",
        "Ask Marta Lindqvist for the key of Kronstadt Harbour, she has two.",
        "Marta Lindqvist said that Hetzner Falkenstein is cheap.",
    ]
    embedder.meanwhile = lambda: second.add(said[0])
    first.add_many([NewMemory(text) for text in said])
    assert embedder.meanwhile is None
    assert {one.name for one in first.concepts.list()} >= {"Kronstadt Harbour", "Hetzner Falkenstein"}


def test_use_of_a_turn_while_its_digest_is_written_refuses_nothing(writers: Writers) -> None:
    first, second, embedder = writers
    talk = [
        "The mooring fee is 480 euros a year, and the harbour office wants it by the first of May.",
        "Then I put the payment of the mooring fee on the list for April, with the account of the club.",
        "The hull needs two coats of the blue paint, and the keel needs the grey one from the shed.",
    ]
    turns = [
        first.add(text, session="s", turn=turn, role=("user", "assistant")[turn % 2], date="2024-03-01").id
        for turn, text in enumerate(talk)
    ]
    embedder.meanwhile = lambda: second.feedback(turns[0], "used")
    assert len(first.consolidate().made) == 1


def names(memory: Memory) -> dict[str, set[str]]:
    return {one.name: set(one.aliases) for one in memory.concepts.list()}


def test_an_alias_that_is_added_during_a_rename_stays(writers: Writers) -> None:
    first, second, _ = writers
    first.concepts.add("Kubernetes", ["k8s"])
    with interrupted(first, lambda: second.concepts.add("Kubernetes", ["kube"])) as renaming:
        renaming.concepts.rename("Kubernetes", "Borg")
    assert names(second) == {"Borg": {"Kubernetes", "k8s", "kube"}}


def test_a_concept_that_is_renamed_while_an_alias_is_added_keeps_its_new_name(writers: Writers) -> None:
    first, second, _ = writers
    first.concepts.add("Kubernetes", ["k8s"])
    with interrupted(first, lambda: second.concepts.rename("Kubernetes", "Borg")) as adding:
        report = adding.concepts.add("Kubernetes", ["kube"])
    assert (report.added, report.changed) == (0, 1)
    assert names(second) == {"Borg": {"Kubernetes", "k8s", "kube"}}


def test_two_additions_of_one_concept_at_once_keep_the_aliases_of_both(writers: Writers) -> None:
    first, second, _ = writers
    with interrupted(first, lambda: second.concepts.add("Kubernetes", ["kube"])) as adding:
        adding.concepts.add("Kubernetes", ["k8s"])
    assert names(second) == {"Kubernetes": {"k8s", "kube"}}


@pytest.mark.parametrize("change", [PutConcept, DropConcept])
def test_aliases_that_are_added_during_a_merge_stay(writers: Writers, change: type[Change]) -> None:
    first, second, _ = writers
    first.concepts.add("Kubernetes")
    first.concepts.add("Borg")

    def add() -> None:
        second.concepts.add("Kubernetes", ["kube"])
        second.concepts.add("Borg", ["collective"])

    with interrupted(first, add, before=change) as merging:
        merging.concepts.merge("Kubernetes", "Borg")
    assert names(second) == {"Borg": {"Kubernetes", "collective", "kube"}}


def test_a_concept_that_is_renamed_during_its_removal_is_found_under_neither_name(writers: Writers) -> None:
    first, second, _ = writers
    first.concepts.add("Kronstadt Harbour")
    with interrupted(first, lambda: second.concepts.rename("Kronstadt Harbour", "Port Kotlin")) as removing:
        removing.concepts.remove("Kronstadt Harbour")
    for name in ("Kronstadt Harbour", "Port Kotlin"):
        first.add_many([NewMemory(f"The {number}th berth of {name} is free.") for number in range(4, 9)])
    assert names(second).keys().isdisjoint({"Kronstadt Harbour", "Port Kotlin"})


HARBOUR = [
    "The backup of Kronstadt Harbour runs at Hetzner Falkenstein since spring.",
    "Kronstadt Harbour pays Hetzner Falkenstein each month by transfer.",
    "Ask Marta Lindqvist for the key of Kronstadt Harbour, she has two.",
    "Marta Lindqvist said that Hetzner Falkenstein is cheap.",
]


def test_what_a_person_says_of_a_name_while_it_is_found_in_texts_stays(writers: Writers) -> None:
    first, second, _ = writers

    def edit() -> None:
        second.concepts.add("Kronstadt Harbour", ["KH"])
        second.concepts.add("Marta Lindqvist")
        second.concepts.remove("Marta Lindqvist")

    with interrupted(first, edit, before=PutConcept) as adding:
        adding.add_many([NewMemory(text) for text in HARBOUR])
    assert names(second)["Kronstadt Harbour"] == {"KH"}
    assert second.concepts.show("KH").concept.memories == 3
    assert "Marta Lindqvist" not in names(second)


def test_a_concept_that_is_renamed_while_its_memories_are_forgotten_stays(writers: Writers) -> None:
    first, second, _ = writers
    ids = [one.id for one in first.add_many([NewMemory(text) for text in HARBOUR])]
    assert "Kronstadt Harbour" in names(first)
    with interrupted(first, lambda: second.concepts.rename("Kronstadt Harbour", "Port Kotlin")) as forgetting:
        forgetting.forget(ids)
    assert names(second)["Port Kotlin"] == {"Kronstadt Harbour"}


def test_a_concept_that_is_renamed_while_it_is_imported_keeps_its_name(
    writers: Writers, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    first, second, _ = writers
    other = opened("memory://", user="ann")
    other.concepts.add("Kubernetes", ["k8s"])
    other.export(tmp_path / "export.jsonl")

    def add() -> None:
        second.concepts.add("Kubernetes", ["kube"])
        second.concepts.rename("Kubernetes", "Borg")

    with interrupted(first, add, before=PutConcept) as importing:
        importing.import_(tmp_path / "export.jsonl")
    assert names(second) == {"Borg": {"Kubernetes", "kube"}}


def test_a_memory_that_is_corrected_while_it_is_forgotten_is_gone_with_all_of_its_texts(
    writers: Writers,
) -> None:
    first, second, _ = writers
    one = first.add("The port is 80.").id
    with interrupted(first, lambda: second.update(one, "The port is 81.")) as forgetting:
        assert forgetting.forget(one).ids == (one,)
    assert texts(second) == set()


def test_a_fact_that_a_person_corrects_while_its_turn_is_forgotten_stays(writers: Writers) -> None:
    first, second, _ = writers
    said = first.add("I always use tabs for indentation in Go files.", session="s", role="user", turn=0)
    (fact,) = said.learned
    with interrupted(first, lambda: second.update(fact, "Makefiles need tabs.", pinned=True)) as forgetting:
        forgetting.forget(said.id)
    assert "Makefiles need tabs." in texts(second)


def test_a_memory_that_is_archived_while_its_successor_is_forgotten_stays_archived(writers: Writers) -> None:
    first, second, _ = writers
    old = first.add("I live in Porto.", date="2026-01-01").id
    new = first.add("I moved to Berlin.", date="2026-02-01").id
    assert stored(first, old).status == "superseded"
    with interrupted(first, lambda: second.archive(old)) as forgetting:
        forgetting.forget(new)
    assert stored(second, old).status == "archived"


@pytest.fixture(params=["sqlite", "postgres"])
def promoting(opened: Callable[..., Memory], settings: Settings, request: pytest.FixtureRequest) -> Writers:
    """Two writers that learn no statements from turns, so that a consolidation promotes them."""
    return open_writers(opened, request, settings=replace(settings, facts=FactSettings(stages=("changes",))))


FILLER = "There are many things that one could say about it here, and it is a good idea to take your time. "
PORT = "Our release server's port is 8443."


def talk(memory: Memory, *talks: str) -> list[str]:
    turns = [
        NewMemory(
            f"{FILLER * 2}{text}", session=f"s{number}", role="user", turn=0, date=f"2026-01-{number + 1:02}"
        )
        for number, text in enumerate(talks)
    ]
    return [one.id for one in memory.add_many(turns)]


JUDGEMENTS: dict[str, Callable[[Memory, str], object]] = {
    "forgotten": lambda memory, turn: memory.forget(turn),
    "corrected": lambda memory, turn: memory.update(turn, f"{FILLER}Our release server's port is 9000."),
    "marked wrong": lambda memory, turn: memory.feedback(turn, "wrong"),
    "archived": lambda memory, turn: memory.archive(turn),
}


@pytest.mark.parametrize("judgement", JUDGEMENTS)
def test_no_fact_rests_on_a_turn_that_is_judged_while_the_fact_is_promoted(
    promoting: Writers, judgement: str
) -> None:
    first, second, _ = promoting
    turns = talk(first, PORT, PORT)
    with interrupted(
        first, lambda: JUDGEMENTS[judgement](second, turns[0]), tier="semantic"
    ) as consolidating:
        consolidating.consolidate(now="2026-03-01")
    assert [one.content for one in first.page().records if one.tier in ("semantic", "facet")] == []


def test_no_facet_rests_on_a_fact_that_is_judged_while_the_facet_is_promoted(promoting: Writers) -> None:
    first, second, _ = promoting
    talk(first, PORT, PORT)

    def judge() -> None:
        (fact,) = (one.id for one in second.page().records if one.tier == "semantic")
        second.feedback(fact, "wrong")

    with interrupted(first, judge, tier="facet") as consolidating:
        consolidating.consolidate(now="2026-03-01")
    assert [one.content for one in first.page().records if one.tier == "facet"] == []


def test_no_further_evidence_is_a_turn_that_is_judged_while_the_fact_is_supported(promoting: Writers) -> None:
    first, second, _ = promoting
    talk(first, PORT, PORT)
    first.consolidate(now="2026-03-01")
    (fact,) = (one for one in first.page().records if one.tier == "semantic")
    third = talk(first, *[FILLER] * 4, PORT)[-1]
    judge = lambda: second.feedback(third, "wrong")  # noqa: E731
    with interrupted(first, judge, before=PutLifecycle) as consolidating:
        consolidating.consolidate(now="2026-03-01", after_days=3_000)
    assert stored(first, fact.id).confidence == fact.confidence
    assert third not in first.history(fact.id).evidence


def test_a_confidence_that_a_person_sets_while_a_fact_is_supported_stays(promoting: Writers) -> None:
    first, second, _ = promoting
    talk(first, PORT, PORT)
    first.consolidate(now="2026-03-01")
    (fact,) = (one.id for one in first.page().records if one.tier == "semantic")
    talk(first, *[FILLER] * 4, PORT)
    with interrupted(
        first, lambda: second.update(fact, confidence=0.1), before=PutLifecycle
    ) as consolidating:
        consolidating.consolidate(now="2026-03-01", after_days=3_000)
    assert stored(first, fact).confidence == 0.1


def test_a_promoted_memory_that_a_person_rewords_while_it_is_renewed_keeps_the_words(
    promoting: Writers,
) -> None:
    first, second, _ = promoting
    talk(first, PORT, PORT)
    first.consolidate(now="2026-03-01")
    (facet,) = (one.id for one in first.page().records if one.tier == "facet")
    talk(first, *[FILLER] * 4, "Our release server's port is 9000.", "Our release server's port is 9000.")
    with interrupted(first, lambda: second.update(facet, "Ask Ada."), tier="facet") as consolidating:
        consolidating.consolidate(now="2026-03-01")
    assert stored(first, facet).content == "Ask Ada."


BOAT = (
    "The mooring fee is 480 euros a year, and the harbour office wants it by the first of May.",
    "Then I put the payment of the mooring fee on the list for April, with the account of the club.",
    "The hull needs two coats of the blue paint, and the keel needs the grey one from the shed.",
)


def digested(memory: Memory) -> tuple[list[str], str]:
    """Turns of a conversation and their digest."""
    turns = [
        memory.add(text, session="s", turn=turn, role=("user", "assistant")[turn % 2], date="2024-03-01").id
        for turn, text in enumerate(BOAT)
    ]
    (digest,) = (one.id for one in memory.consolidate().made)
    return turns, digest


WORKS: dict[str, Callable[[Memory, str], object]] = {
    "pinned": lambda memory, digest: memory.update(digest, pinned=True),
    "reworded": lambda memory, digest: memory.update(digest, "Ask the harbour office."),
}


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("before", [DropMemory, PutMemory])
def test_a_stale_digest_that_a_person_works_on_while_it_is_renewed_stays(
    writers: Writers, work: str, before: type[Change]
) -> None:
    first, second, _ = writers
    turns, digest = digested(first)
    if before is PutMemory:  # what a person gave goes to the renewed digest
        first.update(digest, tags=["boat"])
    first.update(
        turns[2], "The hull needs one coat of the red paint, and the keel needs none at all this year."
    )
    with interrupted(first, lambda: WORKS[work](second, digest), before) as consolidating:
        consolidating.consolidate()
    now = stored(first, digest)
    assert (now.pinned, now.content == "Ask the harbour office.") == (work == "pinned", work == "reworded")


def test_a_turn_that_is_pinned_while_its_sources_are_archived_stays(writers: Writers) -> None:
    first, second, _ = writers
    turns, _ = digested(first)
    with interrupted(first, lambda: second.update(turns[1], pinned=True), PutLifecycle) as consolidating:
        consolidating.consolidate(archive="transcripts")
    assert stored(first, turns[1]).status == "active"


def test_turns_stay_active_if_their_digest_is_reworded_while_they_are_archived(writers: Writers) -> None:
    first, second, _ = writers
    turns, digest = digested(first)
    with interrupted(first, lambda: WORKS["reworded"](second, digest), PutLifecycle) as consolidating:
        consolidating.consolidate(archive="transcripts")
    assert {stored(first, turn).status for turn in turns} == {"active"}


@pytest.fixture
def exported(opened: Callable[..., Memory], tmp_path: Path) -> Callable[..., Path]:
    """Export what another store of the same user has."""
    other = opened("memory://", user="ann")

    def export(*acts: Callable[[Memory], object]) -> Path:
        for act in acts:
            act(other)
        other.export(tmp_path / "export.jsonl", overwrite=True)
        return tmp_path / "export.jsonl"

    return export


def test_what_a_person_says_of_a_memory_while_the_same_text_is_imported_stays(
    writers: Writers, exported: Callable[..., Path]
) -> None:
    first, second, embedder = writers
    file = exported(
        lambda other: other.add("The pump is blue."), lambda other: other.add("The keel is lead.")
    )

    def add() -> None:
        one = second.add("The pump is blue.", title="Pump", tags=["boat"], pinned=True)
        second.feedback(one.id, "wrong")

    embedder.meanwhile = add
    first.import_(file)
    assert embedder.meanwhile is None
    now = {one.content: (one.title, one.tags, one.pinned, one.marked_wrong) for one in first.page().records}
    assert now == {
        "The pump is blue.": ("Pump", ("boat",), True, True),
        "The keel is lead.": ("", (), False, False),
    }


def test_a_memory_that_is_corrected_while_its_status_is_imported_keeps_its_status(
    writers: Writers, exported: Callable[..., Path]
) -> None:
    first, second, _ = writers
    one = first.add("The pump is blue.").id
    file = exported(lambda other: other.archive(other.add("The pump is blue.").id))
    with interrupted(first, lambda: second.update(one, "The pump is red."), PutLifecycle) as importing:
        importing.import_(file)
    assert (stored(first, one).status, stored(first, one).content) == ("active", "The pump is red.")


def test_a_memory_that_is_corrected_while_an_import_supersedes_it_stays_active(
    writers: Writers, tmp_path: Path
) -> None:
    first, second, _ = writers
    old = {
        "id": "m1",
        "type": "fact",
        "title": "Port",
        "content": "The port is 80.",
        "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-01T00:00:00Z",
        "isLatest": False,
    }
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"version": "0.8.0", "exportedAt": "2026-02-01T00:00:00Z", "memories": [old]}))

    def correct() -> None:
        (one,) = second.page().records
        second.update(one.id, "The port is 81.")

    with interrupted(first, correct, PutLifecycle) as importing:
        importing.import_(file)
    assert [one.content for one in first.page().records] == ["The port is 81."]


SAME = "The valve of the pump is checked each spring."


def test_a_memory_that_is_pinned_while_an_audit_archives_it_stays(writers: Writers) -> None:
    first, second, _ = writers
    ids = [first.add(text).id for text in ("ok", "yes", "thanks")]
    with interrupted(first, lambda: second.update(ids[-1], pinned=True), PutLifecycle) as auditing:
        fixed = auditing.audit(["junk"]).fixed["junk"]
    assert ids[-1] not in fixed
    assert stored(first, ids[-1]).status == "active"
    assert {stored(first, one).status for one in ids[:-1]} == {"archived"}


def test_the_text_of_a_duplicate_stays_if_the_other_is_corrected_while_it_is_archived(
    writers: Writers,
) -> None:
    first, second, _ = writers
    ids = [first.add(SAME, session=session).id for session in ("s1", "s2")]

    def correct() -> None:
        for one in ids:
            if stored(second, one).status == "active":
                second.update(one, "The valve of the pump is checked each autumn.")
                return

    with interrupted(first, correct, PutLifecycle) as auditing:
        auditing.audit(["near-duplicate"])
    assert SAME in {one.content for one in first.page().records}


def test_a_memory_that_is_archived_while_an_audit_is_undone_stays_archived(writers: Writers) -> None:
    first, second, _ = writers
    one = first.add("ok").id
    run = first.audit(["junk"]).undo.split()[-1]

    def archive() -> None:
        second.restore(one)
        second.update(one, pinned=True)
        second.archive(one)

    with interrupted(first, archive, PutLifecycle) as undoing:
        assert undoing.undo_audit(run).ids == ()
    assert stored(first, one).status == "archived"


@pytest.mark.parametrize("work", WORKS)
def test_a_digest_that_a_person_works_on_while_its_run_is_undone_stays(writers: Writers, work: str) -> None:
    first, second, _ = writers
    _, digest = digested(first)
    run = str(first.history(digest).events[0].run)
    with interrupted(first, lambda: WORKS[work](second, digest), DropMemory) as undoing:
        assert undoing.undo(run).removed == 0
    assert stored(first, digest).status == "active"


def test_a_confidence_that_a_person_sets_while_a_run_is_undone_stays(promoting: Writers) -> None:
    first, second, _ = promoting
    talk(first, PORT, PORT)
    first.consolidate(now="2026-03-01")
    (fact,) = (one.id for one in first.page().records if one.tier == "semantic")
    talk(first, *[FILLER] * 4, PORT)
    run = str(first.consolidate(now="2026-03-01", after_days=3_000).run)
    with interrupted(first, lambda: second.update(fact, confidence=0.1), PutLifecycle) as undoing:
        undoing.undo(run)
    assert stored(first, fact).confidence == 0.1


def test_an_end_that_a_person_sets_while_a_memory_is_restored_stays(writers: Writers) -> None:
    first, second, _ = writers
    one = first.add("The pump is blue.").id
    first.archive(one)
    with interrupted(first, lambda: second.update(one, valid_until="2030-01-01")) as restoring:
        restoring.restore(one)
    assert stored(first, one).valid_until is not None


@pytest.mark.parametrize("action", ["archive", "forget"])
def test_a_memory_that_is_pinned_while_its_retention_ends_stays(
    opened: Callable[..., Memory], settings: Settings, action: str
) -> None:
    limited = replace(settings, retention=RetentionSettings(most=1, action=action))
    first, second = opened(settings=limited), opened()
    one, _ = (first.add(text).id for text in ("The pump is blue.", "The keel is lead."))
    with interrupted(first, lambda: second.update(one, pinned=True)) as limiting:
        limiting.retain()
    assert stored(second, one).status == "active"


def test_a_fact_is_wrong_if_its_two_sources_are_marked_wrong_at_the_same_time(writers: Writers) -> None:
    first, second, _ = writers
    text = "I always use tabs for indentation in Go files."
    turns = [first.add(text, session=session, role="user", turn=0) for session in ("s1", "s2")]
    (fact,) = turns[0].learned
    assert set(first.history(fact).evidence) == {one.id for one in turns}
    with interrupted(first, lambda: second.feedback(turns[1].id, "wrong")) as judging:
        judging.feedback(turns[0].id, "wrong")
    assert stored(first, fact).marked_wrong


def test_a_verdict_that_a_digest_gets_while_its_source_is_judged_stays(writers: Writers) -> None:
    first, second, _ = writers
    turns, digest = digested(first)
    with interrupted(first, lambda: second.feedback(digest, "wrong")) as judging:
        judging.feedback(turns[1], "wrong")
    alone = stored(first, digest).strength
    first.feedback(turns[1], "not-wrong")
    now = stored(first, digest)
    assert now.marked_wrong
    assert now.strength > alone


def test_an_update_is_reported_though_others_keep_changing_what_is_learned_from_it(writers: Writers) -> None:
    first, second, embedder = writers
    text = "I always use tabs for indentation in Go files."
    (fact,) = first.add(text, session="s1", role="user", turn=0).learned
    turn = first.add("The weather is fine in Porto.", session="s2", role="user", turn=0).id

    def change() -> None:
        second.update(fact, pinned=not stored(second, fact).pinned)
        embedder.meanwhile = change

    embedder.meanwhile = change
    report = first.update(turn, text)
    assert report.changed == ("content",)
    assert report.before is not None
    embedder.meanwhile = None
    first.consolidate()  # what could not be learned then is learned now
    assert turn in first.history(fact).evidence


@pytest.fixture
def boats(tmp_path: Path) -> Path:
    """A folder with a note."""
    folder = tmp_path / "boats"
    folder.mkdir()
    (folder / "pump.md").write_text("# Pump\n\nThe pump is blue.\n")
    return folder


def test_a_source_that_is_removed_while_it_is_synced_stays_removed(writers: Writers, boats: Path) -> None:
    first, second, _ = writers
    first.sync(boats)
    (boats / "keel.md").write_text("# Keel\n\nThe keel is lead.\n")
    with interrupted(first, lambda: second.remove_source(str(boats)), PutSource) as syncing:
        syncing.sync(boats)
    assert (second.sources(), texts(second)) == ([], set())


def test_a_source_that_is_removed_while_its_files_are_read_ends_no_sync_of_others(
    writers: Writers, boats: Path, tmp_path: Path
) -> None:
    first, second, embedder = writers
    later = tmp_path / "zoo"
    later.mkdir()
    (later / "lion.md").write_text("# Lion\n\nThe lion sleeps.\n")
    first.sync(boats)
    first.sync(later)
    (boats / "keel.md").write_text("# Keel\n\nThe keel is lead.\n")
    (later / "bear.md").write_text("# Bear\n\nThe bear eats.\n")
    embedder.meanwhile = lambda: second.remove_source(str(boats))
    first.sync()
    assert embedder.meanwhile is None
    assert [one.root for one in second.sources()] == [str(later)]
    assert {text.split("\n")[0] for text in texts(second)} == {"# Bear", "# Lion"}


def test_a_source_that_is_removed_while_others_are_synced_stays_removed(
    writers: Writers, boats: Path, tmp_path: Path
) -> None:
    first, second, embedder = writers
    later = tmp_path / "zoo"
    later.mkdir()
    (later / "lion.md").write_text("# Lion\n\nThe lion sleeps.\n")
    first.sync(boats)
    first.sync(later)
    (boats / "keel.md").write_text("# Keel\n\nThe keel is lead.\n")
    (later / "bear.md").write_text("# Bear\n\nThe bear eats.\n")
    embedder.meanwhile = lambda: second.remove_source(str(later))
    first.sync()
    assert embedder.meanwhile is None
    assert [one.root for one in second.sources()] == [str(boats)]
    assert "The lion sleeps." not in " ".join(texts(second))


@pytest.mark.parametrize("before", [PutSource, PutDocument])
def test_the_rules_that_a_source_gets_during_its_first_sync_stay(
    writers: Writers, boats: Path, before: type[Change]
) -> None:
    first, second, _ = writers
    first.sync(boats / "pump.md")  # the models are registered
    first.remove_source(str(boats / "pump.md"))

    def choose() -> None:
        second.sync(boats, description="Boats", trust="untrusted", project="harbour")

    with interrupted(first, choose, before) as syncing:
        syncing.sync(boats)
    (source,) = second.sources()
    assert (source.description, source.trust, source.project) == ("Boats", "untrusted", "harbour")
    assert {(one.origin, one.project) for one in first.page().records} == {("untrusted", "harbour")}


@pytest.mark.parametrize("again", [1, 2])
def test_the_rules_that_a_source_gets_while_it_is_synced_stay(
    writers: Writers, boats: Path, again: int
) -> None:
    first, second, embedder = writers
    first.sync(boats)
    (boats / "keel.md").write_text("# Keel\n\nThe keel is lead.\n")

    def choose() -> None:
        second.sync(boats, description="Boats", exclude=["*.draft.md"], trust="untrusted", share=True)

    if again == 1:
        with interrupted(first, choose, PutSource) as syncing:
            syncing.sync()
    else:
        embedder.meanwhile = choose
        first.sync()
        assert embedder.meanwhile is None
    with first.workspace.reader() as reader:
        (source,) = reader.sources()
    assert (source.description, source.exclude[-1:], source.trust, source.share) == (
        "Boats", ("*.draft.md",), "untrusted", True
    )  # fmt: skip
    assert {one.origin for one in first.page().records} == {"untrusted"}


@pytest.mark.parametrize("act", ["forget", "pin"])
def test_what_is_done_with_a_turn_while_it_is_redacted_stays(writers: Writers, act: str) -> None:
    first, second, embedder = writers
    secret = first.add("bramble-Fox-3312", session="s", role="user", turn=0).id
    acts = {"forget": lambda: second.forget(secret), "pin": lambda: second.update(secret, pinned=True)}
    embedder.meanwhile = acts[act]
    first.add("oops, that was my password", session="s", role="user", turn=1)
    assert embedder.meanwhile is None
    assert "bramble-Fox-3312" not in texts(first)
    found = [(one.content, one.pinned) for one in first.page().records if one.id == secret]
    assert found == ([] if act == "forget" else [("[secret:password]", True)])


@pytest.fixture
def git(boats: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Make the folder a repository with a commit; run git there."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@example.org")

    def run(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=boats, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    run("init", "-q")
    run("commit", "-q", "--allow-empty", "-m", "Keep the price list for an hour")
    return run


def test_a_history_that_is_removed_while_it_is_synced_stays_removed(
    writers: Writers, boats: Path, git: Callable[..., str]
) -> None:
    first, second, _ = writers
    first.sync(boats)
    roots = [source.root for source in first.sources()]
    git("commit", "-q", "--allow-empty", "-m", "Second commit about the keel")

    def remove() -> None:
        for root in roots:
            second.remove_source(root)

    with interrupted(first, remove, PutSource) as syncing:
        syncing.sync()
    assert len(roots) == 2
    assert (second.sources(), texts(second)) == ([], set())


def test_a_commit_that_is_archived_while_its_revert_is_read_stays_archived(
    writers: Writers, boats: Path, git: Callable[..., str]
) -> None:
    first, second, _ = writers
    sha = git("rev-parse", "HEAD")
    first.sync(boats)
    (kept,) = (one.id for one in first.page().records if "price list" in one.content)
    message = f'Revert "Keep the price list for an hour"\n\nThis reverts commit {sha}.'
    git("commit", "-q", "--allow-empty", "-m", message)
    with interrupted(first, lambda: second.archive(kept), PutLifecycle) as syncing:
        syncing.sync(boats)
    assert stored(first, kept).status == "archived"


def test_a_fact_that_is_pinned_while_its_source_is_removed_stays(writers: Writers, tmp_path: Path) -> None:
    first, second, _ = writers
    said = {"role": "user", "content": "I always use tabs for indentation in Go files.", "session": "s"}
    talks = tmp_path / "talks"
    talks.mkdir()
    (talks / "c.jsonl").write_text(json.dumps(said | {"time": "2026-11-01T10:00:00Z"}) + "\n")
    first.sync(talks)
    (fact,) = (one.id for one in first.page().records if one.origin == "derived")
    with interrupted(first, lambda: second.update(fact, pinned=True), DropSource) as removing:
        removing.remove_source(str(talks))
    assert [one.id for one in first.page().records] == [fact]


@pytest.mark.parametrize("act", ["pin", "archive"])
def test_what_is_done_with_a_fact_while_its_turn_is_corrected_stays(writers: Writers, act: str) -> None:
    first, second, _ = writers
    said = first.add("I always use tabs for indentation in Go files.", session="s", role="user", turn=0)
    (fact,) = said.learned
    acts = {"pin": lambda: second.update(fact, pinned=True), "archive": lambda: second.archive(fact)}
    with interrupted(first, acts[act]) as correcting:
        correcting.update(said.id, "The weather is fine in Porto.")
    assert stored(first, fact).status == ("active" if act == "pin" else "archived")


def test_a_memory_that_is_corrected_while_an_import_forgets_it_stays(
    writers: Writers, exported: Callable[..., Path]
) -> None:
    first, second, _ = writers
    add = lambda other: other.add("The pump is blue.")  # noqa: E731
    first.import_(exported(add))
    (one,) = (record.id for record in first.page().records)
    file = exported(lambda other: other.forget(add(other).id))
    with interrupted(first, lambda: second.update(one, "The pump is red."), Forget) as importing:
        report = importing.import_(file, forget=True)
    assert (report.forgotten_too, [kept.id for kept in report.kept]) == ((), [one])
    assert [record.content for record in first.page().records] == ["The pump is red."]
