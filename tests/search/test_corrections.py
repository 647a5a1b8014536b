"""A turn that takes a statement back stands before it; both are shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrubjay import Memory, NewMemory

ASKED = "what is the general rate limit?"


def talk(memory: Memory, *turns: tuple[str, str]) -> Memory:
    memory.add(
        "the general rate limit is 100 requests per minute",
        session="first",
        turn=1,
        role="user",
        date="2026-11-03",
    )
    for number, (role, text) in enumerate(turns, 1):
        memory.add(text, session="later", turn=number, role=role, date="2026-11-26")
    other = [
        NewMemory(f"Worked on task {number} of the parser", session="other", turn=number + 1, role="user")
        for number in range(20)
    ]
    memory.add_many(other)
    return memory


@pytest.mark.parametrize(
    "correction",
    [
        "sorry, scratch that, I looked at the wrong file. The general limit is still 100",
        "no wait, my mistake: staging only",
        "Korrektur: es bleibt bei 100",
        "oh, ignore that. 100",
    ],
)
def test_a_statement_that_was_taken_back_stands_behind_the_correction(
    opened: Callable[..., Memory], correction: str
) -> None:
    memory = talk(
        opened(),
        ("user", "actually the general rate limit is 120 per minute now"),
        ("assistant", "Noted, I will adapt the documentation of the header."),
        ("user", correction),
    )
    texts = [result.snippet for result in memory.search(ASKED, limit=3).results]
    assert texts.index(correction) < next(place for place, text in enumerate(texts) if "120" in text)


@pytest.mark.parametrize(
    "turn",
    [
        "No, thanks.",
        "I meant to ask: how was your weekend?",
        "Ignore that warning, the build is fine.",
        "My mistake rate is 3 percent.",
        "Korrektur lesen dauert zwei Tage.",
        "It was wrong to fire him.",
        "This is wrong: the build says error 42",
        "不对称加密用 RSA",
    ],
)
def test_a_turn_that_only_sounds_like_a_correction_changes_nothing(
    opened: Callable[..., Memory], turn: str
) -> None:
    memory = talk(
        opened(),
        ("user", "actually the general rate limit is 120 per minute now"),
        ("assistant", "The general rate limit is 120. Shall I adapt the header?"),
        ("user", turn),
    )
    result = memory.search(ASKED, limit=1).results[0]
    assert "120" in result.snippet
    assert turn not in memory.context(ASKED, budget=80).text


def test_a_later_turn_that_takes_something_else_back_changes_nothing(opened: Callable[..., Memory]) -> None:
    memory = talk(
        opened(),
        ("user", "actually the general rate limit is 120 per minute now"),
        ("assistant", "Noted."),
        ("user", "And the cache lives in Redis."),
        ("assistant", "I see it in the configuration."),
        ("user", "sorry, scratch that, Valkey"),
    )
    result = next(one for one in memory.search(ASKED).results if "120" in one.snippet)
    assert not result.newer
