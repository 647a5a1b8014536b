"""What a caller makes of memories in use."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrubjay import Memory
from scrubjay.errors import InputError


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()


def test_an_archived_memory_is_found_by_status_and_restored_as_it_was(memory: Memory) -> None:
    one = memory.add("the mast is twelve metres", valid_until="2020-01-01").id
    assert memory.archive(one).ids == (one,)
    assert memory.archive(one).unchanged == (one,)
    assert memory.search("mast").results == ()
    assert [found.id for found in memory.search("mast", statuses=("archived",)).results] == [one]
    assert memory.restore([one, "obs_none"]).unknown == ("obs_none",)
    assert [found.id for found in memory.search("mast").results] == [one]


def test_history_runs_from_the_oldest_event(memory: Memory) -> None:
    one = memory.add("the mast is twelve metres").id
    memory.archive(one)
    memory.restore(one)
    memory.feedback(one, "used")
    told = memory.history(one[:-1])
    assert [(event.op, event.before) for event in told.events] == [
        ("archived", "active"),
        ("restored", "archived"),
        ("used", ""),
    ]
    assert told.memory.last_used == told.events[-1].at


def test_feedback_moves_strength_within_its_bounds(memory: Memory) -> None:
    one = memory.add("the mast is twelve metres").id
    for _ in range(9):
        memory.feedback(one, "wrong")
    assert memory.history(one).memory.strength == pytest.approx(0.3)
    memory.feedback(one, "useful")
    assert memory.history(one).memory.strength == pytest.approx(0.3)
    for _ in range(20):
        memory.feedback(one, "useful")
    assert memory.history(one).memory.strength == pytest.approx(22 / 31)
    with pytest.raises(InputError, match="not one of used, useful, wrong"):
        memory.feedback(one, "lovely")


def test_nobody_archives_or_judges_what_they_do_not_see(opened: Callable[..., Memory]) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    one = ann.add("the mast is twelve metres").id
    assert bob.archive(one).unknown == (one,)
    assert bob.feedback(one, "wrong").unknown == (one,)
    assert ann.history(one).events == ()
