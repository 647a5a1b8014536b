"""What is made from a forgotten memory and says what it said goes with it; the rest stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from web import scope_of, store_of

from scrubjay import Memory
from scrubjay.models.lifecycle import NewMemory

Open = Callable[..., Memory]
TURNS = ("the launch code is blue bunny today", "we sail from Porto on the second of June")


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def made(memory: Memory, text: str, *sources: str, tier: str = "crystal") -> str:
    """Add what is derived from others."""
    (added,) = memory.add_many([NewMemory(text, tier=tier, origin="derived")])
    for source in sources:
        memory.link(added.id, source, "derived_from")
    return added.id


def there(memory: Memory, *ids: str) -> list[bool]:
    with store_of(memory).reader(scope_of(memory)) as reader:
        held = reader.get(ids)
    return [one in held for one in ids]


def test_a_digest_that_quotes_it_goes_and_what_somebody_archived_stays_so(memory: Memory) -> None:
    one, other = (memory.add(text).id for text in TURNS)
    digest = made(memory, " ".join(TURNS), one, other)
    memory.archive([one, other])
    done = memory.forget(one)
    assert (done.ids, done.derived, done.restored) == ((one,), (digest,), ())
    assert there(memory, one, other, digest) == [False, True, False]
    assert memory.history(other).memory.status == "archived"


def test_what_only_lists_it_as_evidence_stays(memory: Memory) -> None:
    one, other = (memory.add(text).id for text in TURNS)
    digest = made(memory, "they sail from Porto on the second of June", one, other)
    assert memory.forget(one).derived == ()
    assert there(memory, digest, other) == [True, True]
    assert memory.history(digest).evidence == (other,)


def test_a_fact_that_another_source_says_too_stays(memory: Memory) -> None:
    one = memory.add("the launch code is blue bunny, they say").id
    other = memory.add("remember: the launch code is blue bunny").id
    fact = made(memory, "the launch code is blue bunny", one, other, tier="semantic")
    assert memory.forget(one).derived == ()
    assert memory.forget(other).derived == (fact,)


def test_it_goes_up_through_what_is_made_of_what_is_made(memory: Memory) -> None:
    one = memory.add(TURNS[0]).id
    digest = made(memory, TURNS[0] + ".", one)
    insight = made(memory, "Insight: " + TURNS[0], digest, tier="insight")
    assert set(memory.forget(one).derived) == {digest, insight}


def test_a_text_of_few_words_is_known_within_a_longer_one(memory: Memory) -> None:
    one, other = memory.add("blue bunny").id, memory.add(TURNS[1]).id
    digest = made(memory, "Said: blue bunny. " + TURNS[1], one, other)
    assert memory.forget(one).derived == (digest,)
