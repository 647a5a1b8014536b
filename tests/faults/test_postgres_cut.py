"""A connection to PostgreSQL that is lost at any request of any work: all or nothing, and done by doing it again."""

from __future__ import annotations

import functools
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from served import Databases, answers, held, opened, refusal, sound, works
from wire import Wire, wired

from store_contract.postgres_server import PostgresServer

CUTS = 2
"""Cuts of each work and kind; a hundredth of ``--kills``, if that is more."""
ONE = ("add", "forget", "archive", "link")
"""Works of one transaction that writes."""
NAMES = ("add", "sync", "forget", "archive", "embed", "night", "rebuild", "link")


@pytest.fixture(scope="module")
def databases(lasting: PostgresServer) -> Iterator[Databases]:
    with tempfile.TemporaryDirectory() as scratch:
        yield Databases.make(lasting.url, Path(scratch))


@pytest.fixture
def wire(databases: Databases) -> Iterator[Wire]:
    with wired(databases.url) as made:
        yield made


@dataclass(frozen=True)
class Undisturbed:
    """A work when nothing is cut.

    Attributes:
        before: All that is held before it.
        after: And after it.
        requests: How often the server is asked.
    """

    before: dict[str, list[str]]
    after: dict[str, list[str]]
    requests: int


@pytest.fixture(scope="module")
def undisturbed(databases: Databases) -> Callable[[str], Undisturbed]:
    """Return what a work comes to, tried once for all tests of it."""

    @functools.cache
    def tried(name: str) -> Undisturbed:
        url = databases.fresh()
        before = held(url)
        with wired(databases.url) as wire, opened(wire.through(url), databases.scratch) as memory:
            wire.arm(None)
            works(databases.notes)[name](memory)
            requests = wire.asked
        after = held(url)
        databases.drop(url)
        return Undisturbed(before, after, requests)

    return tried


@pytest.mark.parametrize("answered", [False, True], ids=["asked", "answered"])
@pytest.mark.parametrize("name", NAMES)
def test_a_connection_lost_at_any_request_leaves_all_or_nothing_and_the_next_call_does_it(
    databases: Databases,
    undisturbed: Callable[[str], Undisturbed],
    wire: Wire,
    name: str,
    answered: bool,
    kills: int | None,
    seed: int,
) -> None:
    """Half of the cuts fall before the server is asked, half when it has done what nobody hears of."""
    work = works(databases.notes)[name]
    whole = undisturbed(name)
    before, after, most = whole.before, whole.after, whole.requests
    assert before != after or name == "rebuild"
    chance = random.Random(f"{seed} {name} {answered}")
    many = max(kills // 100, CUTS) if kills else CUTS
    felt = 0
    for number in range(many):
        at = number + 1 if many >= most else chance.randrange(1, most + 1)
        url = databases.fresh()
        with opened(wire.through(url), databases.scratch) as memory:
            cuts = wire.cuts
            wire.arm(at, answered=answered)
            said = refusal(lambda memory=memory: work(memory))  # type: ignore[misc]
            wire.arm(None)
            felt += said is not None
            try:
                left(held(url), (before, after), name, said if wire.cuts > cuts else None)
                sound(url)
                work(memory)
                assert held(url) == after
                with opened(url, databases.scratch) as other:
                    assert answers(memory) == answers(other)
            except BaseException as error:
                error.add_note(f"{name}: request {at} of {most}, seed {seed}: {said}")
                raise
        databases.drop(url)
    assert felt, "no cut was felt: nothing was tried"


def left(
    found: dict[str, list[str]], states: tuple[dict[str, list[str]], ...], name: str, said: str | None
) -> None:
    """Demand that a cut has left what may be, and that what was said of it is true."""
    before, after = states
    if said is None:
        assert found == after
        return
    assert "was lost" in said or "cannot be reached" in said
    if name in ONE:
        assert found in states
        assert found == before or "Nothing was written" not in said
