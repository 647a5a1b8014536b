from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_values import candidate, record

from scrubjay import Memory
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.results import Result
from scrubjay.search.results import MAX_TURNS, group_neighbours

TALK = [
    "Hello there.",
    "Where does the heron nest?",
    "On the roof.",
    "Thanks!",
    "Bye.",
    "What about the heron's eggs?",
]


@pytest.fixture
def talk(memory: Memory) -> Memory:
    memory.add_many(NewMemory(text, session="s", turn=turn, role="user") for turn, text in enumerate(TALK))
    return memory


def told(result: Result) -> list[tuple[int, str]]:
    return [(turn.offset, turn.snippet) for turn in result.turns]


def test_a_turn_is_shown_with_those_around_it(talk: Memory) -> None:
    (found,) = talk.search('"heron nest"', neighbours=1).results
    assert told(found) == [(-1, TALK[0]), (1, TALK[2])]
    assert [turn.score for turn in found.turns] == [None, None]


def test_nobody_who_did_not_ask_is_shown_them(talk: Memory) -> None:
    assert all(one.turns == () for one in talk.search("heron").results)


def test_results_beside_a_better_one_are_shown_there_and_nothing_is_shown_twice(talk: Memory) -> None:
    found = talk.search("heron nest roof", neighbours=2).results
    ids = [one.id for one in found] + [turn.id for one in found for turn in one.turns]
    assert Counter(ids).most_common(1)[0][1] == 1
    assert len(ids) == len(TALK)
    assert any(turn.score is not None for one in found for turn in one.turns)


def test_others_turns_are_not_shown(opened: Callable[..., Memory], tmp_path: object) -> None:
    url = f"{tmp_path}/m.db"
    with opened(url, user="bea") as other:
        other.add("My secret beside it.", session="s", turn=2)
    with opened(url, user="ann") as own:
        own.add("Where does the heron nest?", session="s", turn=1)
        own.add("Hello.", session="s", turn=0)
        (found,) = own.search('"heron nest"', neighbours=3).results
    assert told(found) == [(-1, "Hello.")]


def test_a_note_has_nothing_around_it(memory: Memory) -> None:
    memory.add("The heron nests on the roof.")
    (found,) = memory.search("heron", neighbours=3).results
    assert found.turns == ()


def test_conversations_may_be_shown_with_the_turns_around_their_best(talk: Memory) -> None:
    (found,) = talk.search("eggs", by="session", neighbours=1, channels=["bm25"]).results
    assert told(found) == [(-1, TALK[4])]


@given(st.integers(0, 10_000), st.integers(0, 4))
def test_every_candidate_is_in_one_group_and_no_group_takes_all(seed: int, near: int) -> None:
    chance = random.Random(seed)
    places = {(chance.choice("ab"), chance.randint(0, 40)) for _ in range(chance.randint(0, 40))}
    records = {f"{s}{t:02}": record(f"{s}{t:02}", "x", session=s, turn=t) for s, t in sorted(places)}
    ranked = [candidate(memory, float(-place)) for place, memory in enumerate(records)]
    groups = group_neighbours(ranked, records, near)
    held = [one.id for group in groups for one in (group.lead, *group.others)]
    assert sorted(held) == sorted(records)
    assert [group.lead.id for group in groups] == [
        one.id for one in ranked if one.id in {g.lead.id for g in groups}
    ]
    assert max((len(group.others) for group in groups), default=0) < MAX_TURNS + 2 * near
    if not near:
        assert len(groups) == len(ranked)
