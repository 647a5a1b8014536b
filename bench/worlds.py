"""Worlds: realistic stores of any size -> what arrives, of whom, in the order in which it comes.

A thousand tenants are not alike: by Zipf's law the first has most, the tail a handful, and what they say arrives
interleaved, a few turns at a time. Most memories are turns of conversations; the rest are notes and facts. Each
conversation has a topic of forty words, which it shares with few others; the rest of a text are common words by Zipf's
law, and one is of its own, so that the vocabulary grows with the store. Two texts are then about as near to each other
as two of a real collection (bench/LOG.md), which a text of words drawn without a topic is not: of those nearly half
are alike, and everything that joins what is alike is measured wrongly.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from scrubjay.models.lifecycle import NewMemory

BEGUN = datetime(2024, 1, 1, tzinfo=UTC)
SESSIONS = (4, 40)
"""Turns of a conversation: as few and as many."""
LENGTHS = {"turn": 45, "note": 110, "fact": 14}
"""Words of a text, on average."""
TOPIC = 40
"""Words of a topic."""
TOPICAL = 0.5
"""Share of a text's words that are of its topic."""
SHARED = 25
"""Conversations and batches of notes that a topic has, on average."""
TAGS = ("ops", "people", "design", "travel", "money", "health")


def vocabulary() -> list[str]:
    """Return some 9,000 words, the commonest first: those that the bundled model has a token for.

    Raises:
        FileNotFoundError: The bundled model is not installed.
    """
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("The bundled model is not installed: pip install wordllama")
    file = Path(found.submodule_search_locations[0]) / "tokenizers/l2_supercat_tokenizer_config.json"
    tokens = json.loads(file.read_text("utf-8"))["model"]["vocab"]
    return [
        token[1:] for token in sorted(tokens, key=tokens.__getitem__) if re.fullmatch("▁[a-z]{2,}", token)
    ]


class Tongue:
    """What texts are made of.

    Args:
        words: The vocabulary, the commonest first.
        memories: How many will be written: the more, the more topics.
    """

    def __init__(self, words: Sequence[str], memories: int) -> None:
        self._words = words
        self._often = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
        self._topics = max(2, memories // (20 * SHARED))

    def topic(self, rng: random.Random) -> list[str]:
        """Draw a topic: each is the same forty words whoever draws it."""
        number = min(int(rng.paretovariate(0.6)), 1 + rng.randrange(self._topics))
        own = random.Random(number)
        return [own.choice(self._words) for _ in range(TOPIC)]

    def text(self, rng: random.Random, length: int, topic: Sequence[str]) -> list[str]:
        """Draw so many words."""
        common = rng.choices(self._words, cum_weights=self._often, k=length)
        return [rng.choice(topic) if rng.random() < TOPICAL else word for word in common]


def asked(words: Sequence[str], count: int, seed: int, memories: int) -> list[str]:
    """Questions of three to eight words about the topics of a store of so many memories."""
    rng, tongue = random.Random(seed), Tongue(words, memories)
    return [" ".join(tongue.text(rng, rng.randint(3, 8), tongue.topic(rng))) for _ in range(count)]


def arrivals(
    words: Sequence[str], memories: int, seed: int, *, tenants: int = 1, exponent: float = 1.0
) -> Iterator[tuple[int, list[NewMemory]]]:
    """Yield what arrives together, and for which tenant (from 0), until so many memories have.

    Args:
        words: The vocabulary, the commonest first.
        memories: How many in all.
        seed: The same gives the same.
        tenants: Among how many.
        exponent: How unequal they are: 0 for all alike, 1 for Zipf's law.
    """
    rng, tongue = random.Random(seed), Tongue(words, memories)
    shares = list(itertools.accumulate((rank + 1) ** -exponent for rank in range(tenants)))
    minutes = 2 * 365 * 24 * 60 / max(memories, 1)
    told = number = 0
    while told < memories:
        (tenant,) = rng.choices(range(tenants), cum_weights=shares)
        at = BEGUN + timedelta(minutes=told * minutes)
        batch = _conversation(tongue, rng, number, at) if rng.random() < 0.85 else _notes(tongue, rng, at)
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


def _text(tongue: Tongue, rng: random.Random, kind: str, topic: Sequence[str]) -> str:
    length = LENGTHS[kind]
    drawn = tongue.text(rng, max(4, min(4 * length, int(rng.lognormvariate(0, 0.6) * length))), topic)
    drawn[rng.randrange(len(drawn))] = f"{rng.choice(topic)}{rng.randrange(50_000)}"
    return " ".join(drawn).capitalize() + "."


def _conversation(tongue: Tongue, rng: random.Random, number: int, at: datetime) -> list[NewMemory]:
    project = f"project{rng.randrange(12)}" if rng.random() < 0.6 else None
    topic = tongue.topic(rng)
    return [
        NewMemory(
            _text(tongue, rng, "turn", topic),
            session=f"s{number}",
            turn=turn,
            role="user" if turn % 2 == 0 else "assistant",
            project=project,
            date=at + timedelta(minutes=turn),
        )
        for turn in range(rng.randint(*SESSIONS))
    ]


def _notes(tongue: Tongue, rng: random.Random, at: datetime) -> list[NewMemory]:
    topic = tongue.topic(rng)
    return [
        NewMemory(
            _text(tongue, rng, kind, topic),
            tier="observation" if kind == "note" else "semantic",
            title=" ".join(tongue.text(rng, 4, topic)).capitalize() if kind == "note" else "",
            tags=rng.sample(TAGS, k=rng.randrange(3)),
            date=at,
            confidence=1.0 if kind == "note" else round(rng.uniform(0.5, 1.0), 2),
        )
        for kind in rng.choices(("note", "fact"), (2, 1), k=rng.randint(2, 30))
    ]
