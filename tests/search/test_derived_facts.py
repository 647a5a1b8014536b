"""A turn stands for what was stated in it; where the turn is not to be had, the statement stands by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from scrubjay import Memory
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.results import Candidate, Contribution
from scrubjay.search.dedup import collapse_facts

TURN, OTHER, FACT, CRYSTAL = (
    "obs_0000000000000001",
    "obs_0000000000000002",
    "sem_0000000000000003",
    "crys_0000000000000004",
)
SAID = "Thanks for the help with the build yesterday, it works now. My sister Ana lives in Porto, by the way."


def candidate(memory: str, score: float) -> Candidate:
    return Candidate(memory, (Contribution("bm25", score, score, 1.0),))


@pytest.fixture
def memory(settings: Settings, opened: Callable[..., Memory]) -> Memory:
    return opened(settings=replace(settings, facts=FactSettings()))


def test_a_turn_takes_the_better_rank_of_the_statement_it_stands_for() -> None:
    kept, facts = collapse_facts(
        [candidate(FACT, 3.0), candidate(OTHER, 2.0), candidate(TURN, 1.0)], {FACT: [TURN]}
    )
    assert {one.id: one.score for one in kept} == {TURN: 3.0, OTHER: 2.0}
    assert facts == {TURN: (FACT,)}


def test_of_several_turns_the_best_stands_for_it_and_a_better_turn_is_not_lowered() -> None:
    kept, facts = collapse_facts(
        [candidate(FACT, 1.0), candidate(OTHER, 2.0), candidate(TURN, 1.5)], {FACT: [TURN, OTHER]}
    )
    assert {one.id: one.score for one in kept} == {TURN: 1.5, OTHER: 2.0}
    assert facts == {OTHER: (FACT,)}


def test_without_its_turn_a_statement_stands_by_itself() -> None:
    kept, facts = collapse_facts(
        [candidate(FACT, 1.0), candidate(CRYSTAL, 2.0)], {FACT: [TURN], CRYSTAL: [TURN]}
    )
    assert [one.id for one in kept] == [FACT, CRYSTAL]
    assert facts == {}


def test_an_answer_names_the_statements_of_a_turn_and_the_evidence_of_a_statement(memory: Memory) -> None:
    (added,) = memory.add_many([NewMemory(SAID, session="s", role="user", turn=0)])
    (fact,) = added.learned
    (found,) = memory.search("where does Ana live?").results
    assert (found.id, found.statements, found.evidence) == (added.id, (fact,), ())
    (alone,) = memory.search("where does Ana live?", tiers=["semantic"]).results
    assert (alone.id, alone.evidence) == (fact, (added.id,))
    memory.archive(added.id)
    (left,) = memory.search("where does Ana live?").results
    assert (left.id, left.evidence) == (fact, (added.id,))


def test_left_out_both_are_shown(memory: Memory) -> None:
    memory.add_many([NewMemory(SAID, session="s", role="user", turn=0)])
    assert len(memory.search("where does Ana live?", stages=["decay"]).results) == 2


def test_get_shows_what_a_statement_was_taken_from(memory: Memory) -> None:
    (added,) = memory.add_many([NewMemory(SAID, session="s", role="user", turn=0)])
    (fact,) = added.learned
    found = memory.get(fact, evidence=True)
    assert [one.id for one in found.evidence[fact]] == [added.id]
    assert memory.get(fact).evidence == {}
    assert memory.get(added.id, evidence=True).evidence == {}
