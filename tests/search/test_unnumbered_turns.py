"""Turns that a program adds as they come, without numbers, are turns like those of a transcript."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scrubjay import Memory, NewMemory

NOW = "2026-11-30T12:00"
QUESTION = "What is my blood type?"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open("memory://", user="ann") as found:
        for number, thing in enumerate(["boiler", "violin", "printer", "bridge"] * 6):
            say(found, f"The {thing} number {number} was repaired.", "2026-09-10", session=f"repair {number}")
        yield found


def say(memory: Memory, text: str, date: str, *, session: str, role: str = "user") -> None:
    memory.add_many([NewMemory(text, session=session, role=role, date=date)])


def test_an_earlier_question_and_a_reply_that_knows_nothing_are_no_answer(memory: Memory) -> None:
    say(memory, QUESTION, "2026-11-10T10:00", session="b")
    say(memory, "I don't know that yet.", "2026-11-10T10:01", session="b", role="assistant")
    answer = memory.search(QUESTION, now=NOW)
    assert answer.results == ()
    assert answer.silence


def test_an_answer_stands_before_the_earlier_question(memory: Memory) -> None:
    say(memory, QUESTION, "2026-11-10T10:00", session="b")
    say(memory, "My blood type is B negative.", "2026-11-12T10:00", session="c")
    assert memory.search(QUESTION, now=NOW).results[0].snippet == "My blood type is B negative."


def test_small_talk_is_stored_and_not_returned(memory: Memory) -> None:
    say(memory, "ok, thanks", "2026-11-10T10:00", session="b")
    assert "ok, thanks" not in {
        one.snippet for one in memory.search("thanks", now=NOW, min_relevance=0).results
    }
    assert "ok, thanks" in {one.content for one in memory.page(limit=100).records}


def test_what_was_said_later_on_the_same_stands_first(memory: Memory) -> None:
    say(memory, "And I go to the gym on Tuesdays, the one at Hoheluft.", "2026-10-05", session="b")
    say(memory, "I've found a gym in Bremen, Kraftwerk am Steintor.", "2026-11-24", session="c")
    first, second = memory.search("Which gym do I go to?", now=NOW, limit=2).results
    assert ("Bremen" in first.snippet, "Hoheluft" in second.snippet) == (True, True)


def test_the_last_sessions_are_shown_with_their_last_turns(memory: Memory) -> None:
    say(memory, "Where is the boat?", "2026-11-10T10:00", session="b")
    say(memory, "It lies in Porto, berth 9.", "2026-11-10T10:01", session="b", role="assistant")
    say(memory, "ok, thanks", "2026-11-10T10:02", session="b")
    recent = memory.context(parts=["recent"], now=NOW).text
    assert 0 < recent.find("Where is the boat?") < recent.find("It lies in Porto, berth 9.")
    assert "ok, thanks" not in recent
