"""What a night makes of old conversations, tool results and daily notes, and how it is taken back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrubjay import Memory
from scrubjay.memory.new import NewMemory

Open = Callable[..., Memory]
NOW = "2026-03-01T12:00:00Z"
FILLER = "There are many things that one could say about it here, and it is a good idea to take your time. "


def talk(session: str, day: str, count: int = 6, **fields: object) -> list[NewMemory]:
    """A conversation of one day, each turn with something of its own."""
    return [
        NewMemory(
            f"{FILLER * 2}The {session} mooring {number} costs {number * 13 + 7} euros in Lisbon.",
            session=session,
            role="assistant" if number % 2 else "user",
            turn=number,
            date=f"{day}T10:{number:02}:00Z",
            **fields,  # type: ignore[arg-type]
        )
        for number in range(count)
    ]


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def test_a_closed_conversation_becomes_one_digest_that_leads_back(memory: Memory) -> None:
    turns = [one.id for one in memory.add_many(talk("heron", "2026-01-05"))]
    done = memory.consolidate(now=NOW)
    (made,) = done.made
    assert (sorted(made.sources), done.kinds, done.archived) == (sorted(turns), {"turn": 6}, 6)
    assert done.kept < 0.3 * done.tokens
    told = memory.history(made.id)
    assert sorted(told.evidence) == sorted(turns)
    assert (told.memory.origin, told.memory.session, told.memory.status) == ("derived", "heron", "active")
    assert [(event.op, event.count, event.run) for event in told.events] == [("derived", 6, done.run)]
    first = memory.history(turns[0])
    assert [(event.op, event.before, event.other) for event in first.events] == [
        ("archived", "active", made.id)
    ]
    assert [found.id for found in memory.search("mooring Lisbon").results] == [made.id]
