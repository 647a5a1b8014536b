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


def test_an_archived_memory_that_is_restored_keeps_the_end_of_its_validity(memory: Memory) -> None:
    one = memory.add("The parking permit is valid.", valid_until="2099-01-01").id
    end = memory.history(one).memory.valid_until
    memory.archive(one)
    memory.restore(one)
    assert memory.history(one).memory.valid_until == end is not None


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("until", [None, "2099-01-01"])
def test_a_superseded_memory_that_is_restored_has_the_end_that_it_had_before(
    memory: Memory, until: str | None, archived: bool
) -> None:
    one = memory.add("I live in Porto.", tier="semantic", valid_until=until).id
    end = memory.history(one).memory.valid_until
    assert memory.add("I moved to Lisbon.", tier="semantic").supersedes == (one,)
    if archived:
        memory.archive(one)
    memory.restore(one)
    now = memory.history(one).memory
    assert (now.status, now.valid_until) == ("active", end)


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
    with pytest.raises(InputError, match="not one of used, useful, wrong, not-wrong, never-inject, inject"):
        memory.feedback(one, "lovely")


def test_wrong_is_taken_back_and_useful_stays(memory: Memory) -> None:
    one = memory.add("the mast is twelve metres").id
    assert memory.feedback(one, "not-wrong").unchanged == (one,)
    for verdict in ("useful", "wrong", "wrong"):
        memory.feedback(one, verdict)
    assert memory.look(one).memory.strength == pytest.approx(1 / 2)
    assert memory.feedback(one, "not-wrong").ids == (one,)
    assert memory.look(one).memory.strength == 1
    memory.feedback(one, "wrong")  # counted anew
    assert memory.look(one).memory.strength == pytest.approx(2 / 3)
    assert [event.op for event in memory.history(one).events][-2:] == ["not-wrong", "wrong"]


def test_never_inject_is_a_tag_that_is_set_and_taken_back(memory: Memory) -> None:
    one, other = memory.add("the mast is twelve metres", tags=["boats"]).id, memory.add("the keel is lead").id
    assert memory.feedback(one, "inject").unchanged == (one,)
    assert memory.feedback([one, other], "never-inject").ids == (one, other)
    assert memory.feedback([one, other], "never-inject").unchanged == (one, other)
    assert memory.look(one).memory.tags == ("boats", "never-inject")
    assert memory.search("how long is the mast?").results[0].id == one
    assert {found.id for found in memory.search("mast keel", tags=["never-inject"]).results} == {one, other}
    memory.update(one, tags=["ships"])  # by somebody who does not know of it
    assert memory.look(one).memory.tags == ("never-inject", "ships")
    assert memory.feedback(one, "inject").ids == (one,)
    assert memory.look(one).memory.tags == ("ships",)
    assert [event.op for event in memory.history(one).events] == ["never-inject", "changed", "inject"]


def test_nobody_archives_or_judges_what_they_do_not_see(opened: Callable[..., Memory]) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    one = ann.add("the mast is twelve metres").id
    assert bob.archive(one).unknown == (one,)
    for verdict in ("wrong", "not-wrong", "never-inject", "inject"):
        assert bob.feedback(one, verdict).unknown == (one,)
    assert ann.history(one).events == ()
