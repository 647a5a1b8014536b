"""Worlds: realistic stores of any size -> what arrives, of whom, in the order in which it comes.

A thousand tenants are not alike: by Zipf's law the first has most, the tail a handful, and what they say arrives
interleaved, a few turns at a time. Most memories are turns of conversations; the rest are notes and facts. Texts have
the frequencies of a tree's words, and each a word of its own, so that the vocabulary grows with the store.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from scrubjay.memory.new import NewMemory

BEGUN = datetime(2024, 1, 1, tzinfo=UTC)
SESSIONS = (4, 40)
"""Turns of a conversation: as few and as many."""
LENGTHS = {"turn": 45, "note": 110, "fact": 14}
"""Words of a text, on average."""
TAGS = ("ops", "people", "design", "travel", "money", "health")


def arrivals(
    words: Sequence[str], memories: int, seed: int, *, tenants: int = 1, exponent: float = 1.0
) -> Iterator[tuple[int, list[NewMemory]]]:
    """Yield what arrives together, and for which tenant (from 0), until so many memories have.

    Args:
        words: What texts are drawn from, with repetition: by frequency.
        memories: How many in all.
        seed: The same gives the same.
        tenants: Among how many.
        exponent: How unequal they are: 0 for all alike, 1 for Zipf's law.
    """
    rng = random.Random(seed)
    shares = list(itertools.accumulate((rank + 1) ** -exponent for rank in range(tenants)))
    minutes = 2 * 365 * 24 * 60 / max(memories, 1)
    told = number = 0
    while told < memories:
        (tenant,) = rng.choices(range(tenants), cum_weights=shares)
        at = BEGUN + timedelta(minutes=told * minutes)
        batch = _conversation(words, rng, number, at) if rng.random() < 0.85 else _notes(words, rng, at)
        yield tenant, batch[: memories - told]
        told, number = told + len(batch), number + 1


def batches(
    arriving: Iterator[tuple[int, list[NewMemory]]], size: int
) -> Iterator[dict[int, list[NewMemory]]]:
    """Yield what arrived, so many memories at a time, by tenant: one transaction for each."""
    found: dict[int, list[NewMemory]] = {}
    held = 0
    for tenant, batch in arriving:
        found.setdefault(tenant, []).extend(batch)
        held += len(batch)
        if held >= size:
            yield found
            found, held = {}, 0
    if found:
        yield found


def _text(words: Sequence[str], rng: random.Random, kind: str) -> str:
    length = LENGTHS[kind]
    drawn = rng.choices(words, k=max(4, min(4 * length, int(rng.lognormvariate(0, 0.6) * length))))
    drawn[rng.randrange(len(drawn))] = f"{rng.choice(words)}{rng.randrange(50_000)}"
    return " ".join(drawn).capitalize() + "."


def _conversation(words: Sequence[str], rng: random.Random, number: int, at: datetime) -> list[NewMemory]:
    project = f"project{rng.randrange(12)}" if rng.random() < 0.6 else None
    return [
        NewMemory(
            _text(words, rng, "turn"),
            session=f"s{number}",
            turn=turn,
            role="user" if turn % 2 == 0 else "assistant",
            project=project,
            date=at + timedelta(minutes=turn),
        )
        for turn in range(rng.randint(*SESSIONS))
    ]


def _notes(words: Sequence[str], rng: random.Random, at: datetime) -> list[NewMemory]:
    return [
        NewMemory(
            _text(words, rng, kind),
            tier="observation" if kind == "note" else "semantic",
            title=" ".join(rng.choices(words, k=4)).capitalize() if kind == "note" else "",
            tags=rng.sample(TAGS, k=rng.randrange(3)),
            date=at,
            confidence=1.0 if kind == "note" else round(rng.uniform(0.5, 1.0), 2),
        )
        for kind in rng.choices(("note", "fact"), (2, 1), k=rng.randint(2, 30))
    ]
