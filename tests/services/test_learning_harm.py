"""Nothing that a person said is hidden by another statement, and nothing is learned that they did not state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scrubjay import Memory

Add = Callable[[str], list[str]]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store.db") as memory:
        yield memory


@pytest.fixture
def say(memory: Memory) -> Add:
    """Say something in a session of its own, and return what was learned."""
    days = iter(range(1, 29))

    def say(text: str) -> list[str]:
        day = next(days)
        done = memory.add(
            text, project="crane", role="user", session=f"s{day}", turn=1, date=f"2026-11-{day:02}"
        )
        return [one.content for one in memory.get(done.learned).records] if done.learned else []

    return say


def test_an_end_hides_only_the_statement_that_it_ends(memory: Memory, say: Add) -> None:
    say("my dentist is in Kiel")
    say("I live in Kiel")
    assert say("I no longer live in Kiel, I moved to Eckernförde") == [
        "I no longer live in Kiel, I moved to Eckernförde"
    ]
    say("I moved the Jira board to Kiel-Nord")
    say("I switched to the Kiel office on Mondays")
    hidden = memory.search("Kiel", tiers=["semantic"], statuses=["superseded"]).results
    assert [one.snippet for one in hidden] == ["I live in Kiel"]
    assert "dentist" in memory.search("where is my dentist?").results[0].snippet


def test_a_limit_behind_a_statement_stays_with_it_or_nothing_is_learned(say: Add) -> None:
    assert say("we moved the retro to Thursday, but that's only this week") == []
    assert say("I live in Aarhus. Just for this semester though.") == [
        "I live in Aarhus. Just for this semester though."
    ]
    assert say("Remember: the port is 6543, not 5433. 5433 was my local one.") == [
        "the port is 6543, not 5433."
    ]
