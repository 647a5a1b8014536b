from __future__ import annotations

from pathlib import Path

import pytest
from recall_values import candidate, record

from scrubjay import Memory
from scrubjay.errors import InputError
from scrubjay.models.lifecycle import NewMemory
from scrubjay.search.results import rank_sessions

TALKS = {
    "harbour": ["Where is the heron nesting?", "The heron nests on the roof.", "Does the heron come back?"],
    "kitchen": ["Is the kettle blue?", "I once saw a heron, by the way.", "The kettle is blue."],
    "garden": ["Roses need water.", "Water them in the evening."],
}


@pytest.fixture
def talks(memory: Memory) -> Memory:
    memory.add_many(
        NewMemory(text, session=session, turn=turn, role=("user", "assistant")[turn % 2])
        for session, texts in TALKS.items()
        for turn, text in enumerate(texts)
    )
    memory.add("A note of the heron that belongs to no conversation.")
    return memory


def ranked(**turns: tuple[float, ...]) -> list[str | None]:
    found = [
        (f"{name}{place}", score, name) for name, own in turns.items() for place, score in enumerate(own)
    ]
    found.sort(key=lambda one: -one[1])
    records = {memory: record(memory, memory, session=name) for memory, _, name in found}
    groups = rank_sessions([candidate(memory, score) for memory, score, _ in found], records)
    return [records[group.lead.id].session for group in groups]


def test_of_two_conversations_with_equal_best_turns_the_one_that_says_more_of_it_is_first() -> None:
    assert ranked(a=(3.0,), b=(3.0, 2.0)) == ["b", "a"]


def test_many_weak_turns_do_not_outweigh_a_strong_one() -> None:
    assert ranked(a=(4.0,), b=(1.5,) * 50) == ["a", "b"]


def test_turns_that_speak_against_it_take_nothing_from_a_conversation() -> None:
    assert ranked(a=(3.0,), b=(3.1, -5.0)) == ["b", "a"]


def test_what_belongs_to_no_conversation_is_none() -> None:
    assert rank_sessions([candidate("x", 3.0)], {"x": record("x", "x")}) == []


def test_a_search_by_session_gives_each_conversation_once_with_its_best_turns_inside(talks: Memory) -> None:
    found = talks.search("heron", by="session", explain=True).results
    assert [one.session for one in found][:2] == ["harbour", "kitchen"]
    assert len({one.session for one in found}) == len(found)
    inside = {turn.snippet for turn in found[0].turns} | {found[0].snippet}
    assert inside == set(TALKS["harbour"])
    assert all(turn.score is not None for turn in found[0].turns)
    why = found[0].explanation
    assert why is not None
    assert "second turn" in [part.channel for part in why.contributions]
    assert found[0].score == pytest.approx(sum(part.amount for part in why.contributions), abs=1e-6)


def test_as_many_conversations_are_found_as_are_wanted_however_long_one_of_them_is(memory: Memory) -> None:
    memory.add_many(NewMemory(f"heron heron {n}", session="long", turn=n) for n in range(450))
    memory.add_many(
        NewMemory(f"a heron and many other birds of pond {n}", session=f"s{n}", turn=0) for n in range(5)
    )
    found = memory.search("heron", by="session", limit=6, channels=["bm25"]).results
    assert sorted(one.session or "" for one in found) == ["long", "s0", "s1", "s2", "s3", "s4"]


def test_filters_hold_for_conversations_too(talks: Memory) -> None:
    found = talks.search("heron", by="session", sessions=["kitchen"]).results
    assert [one.session for one in found] == ["kitchen"]


@pytest.mark.parametrize("options", [{"by": "turn"}, {"neighbours": -1}, {"neighbours": 11}])
def test_what_a_result_cannot_be_is_refused(memory: Memory, options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        memory.search("heron", **options)  # type: ignore[arg-type]


def test_a_conversation_is_as_likely_to_answer_as_the_likeliest_of_its_turns(tmp_path: Path) -> None:
    talk = [
        ("user", "ferry ferry ferry"),
        ("assistant", "When you leave for Bornholm, the ferry goes at nine, but not on Sundays in winter."),
    ]
    asked = "when does the ferry to Bornholm leave"
    with Memory.open(tmp_path / "memory.db") as memory:
        for turn, (role, text) in enumerate(talk, 1):
            memory.add(text, session="ferry", turn=turn, role=role)
        memory.add_many(
            [
                NewMemory(f"Something else, number {number}.", session=f"t{number}", turn=1, role="user")
                for number in range(40)
            ]
        )
        by_turn = memory.search(asked).results
        conversation = memory.search(asked, by="session").results[0]
    assert by_turn[0].role == "user"
    assert conversation.relevance == max(one.relevance or 0.0 for one in by_turn)
