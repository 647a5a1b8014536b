"""Graph: the best hits of the other channels -> Ranking of what they name, and of what names the same.

A question that takes two steps ("the mayor of the town where X was born") is answered by two memories, of which the
second shares no word with it: the first one names what it is about. Two ways lead on from a hit: over a concept that
both refer to, and to a memory whose title stands in its text. What the question names by itself is no way; the other
channels have looked for it. A concept of very many memories says nothing and is not looked into.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.memory.concepts import united
from scrubjay.memory.ranking import Hit, rounded
from scrubjay.recall.channels.ranking import Ranking
from scrubjay.recall.ways import named, telling
from scrubjay.store.base import Reader
from scrubjay.text.languages import language
from scrubjay.text.snippets import contains_phrase
from scrubjay.text.tokens import groups

SEEDS: Final = 5
"""Hits that ways lead on from: as many as one looks at. 3 and 8 give the same within .01 (bench/LOG.md)."""
FAN_OUT: Final = 16
"""Concepts of one hit that are followed, the heaviest."""
FOLLOWED: Final = 48
"""Concepts that are followed in all, those that say most."""
HUB: Final = 50
"""Memories from which on a concept is not followed: 200 give the same, and cost four times as much."""
SHORTEST: Final = 3
"""Letters of a title that is looked for: a shorter one stands in any text."""
_MEANT = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+$")


@dataclass(frozen=True, slots=True)
class Reach:
    """What ways lead to, as a channel's scores: already on a scale of its own, 0 (no way) to 1."""

    raws: Mapping[str, float]
    mean: float = 0.0
    deviation: float = 1.0

    @property
    def covered(self) -> int:
        """How many memories a way leads to."""
        return len(self.raws)

    def top(self, limit: int) -> list[Hit]:
        """Return the best, ties to the smaller id."""
        best = sorted(((-raw, memory) for memory, raw in self.raws.items()))[:limit]
        return [Hit(memory, -raw) for raw, memory in best]

    def of(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of memories by id."""
        return [self.raws.get(memory, 0.0) for memory in ids]


@dataclass(frozen=True, slots=True)
class GraphRanking(Ranking):
    """The graph's answer, with the best way to each memory: the hit it begins with, and over what it goes."""

    ways: Mapping[str, tuple[str, ...]]


Led = Iterator[tuple[str, float, tuple[str, ...]]]


def graph(
    reader: Reader, query: str, seeds: Mapping[str, float], titles: Mapping[str, str], memories: int
) -> GraphRanking | None:
    """Rank by the ways that lead on from hits; None where none does.

    A way weighs the share of its hit, times how rare what it goes over is, times how much the two refer to it.

    Args:
        reader: What is visible.
        query: The question: what it names is no way.
        seeds: The best hits of the other channels, and what each is worth beside the best one, 0 to 1.
        titles: Other hits and their titles.
        memories: How many memories are visible.
    """
    raws: dict[str, float] = {}
    ways: dict[str, tuple[str, ...]] = {}
    for led in (
        _over_concepts(reader, query, seeds, memories),
        _by_title(reader, query, seeds, titles, memories),
    ):
        for memory, weight, way in led:
            if memory != way[0] and rounded(weight) > raws.get(memory, 0.0):
                raws[memory], ways[memory] = rounded(weight), way
    if not raws:
        return None
    scored = Reach(raws)
    return GraphRanking("graph", "graph", tuple(scored.top(len(raws))), scored, ways)


def _over_concepts(reader: Reader, query: str, seeds: Mapping[str, float], memories: int) -> Led:
    """Lead over concepts that a hit and a memory refer to, and the question does not name."""
    edges = reader.edges(list(seeds), ["references"], limit=FAN_OUT)
    ids = sorted({edge.dst for edge in edges})
    if not ids:
        return
    sizes = reader.degrees("references", ids)
    small = [concept for concept in ids if 1 < sizes.get(concept, 0) <= HUB]
    names = {one.id: one.name for one in united(reader.concepts(small))} if small else {}
    fresh = {concept: name for concept, name in names.items() if not contains_phrase(query, name)}
    begun: dict[str, list[tuple[float, str]]] = {}
    for edge in edges:
        if edge.dst in fresh:
            weight = seeds[edge.src] * named(edge.weight) * telling(sizes[edge.dst], memories)
            begun.setdefault(edge.dst, []).append((weight, edge.src))
    best = sorted(begun, key=lambda concept: (-max(begun[concept])[0], concept))[:FOLLOWED]
    for edge in reader.edges(best, ["references"], inward=True) if best else ():
        for weight, seed in begun[edge.dst]:
            if seed != edge.src:
                yield edge.src, weight * named(edge.weight), (seed, fresh[edge.dst])


def _by_title(
    reader: Reader, query: str, seeds: Mapping[str, float], titles: Mapping[str, str], memories: int
) -> Led:
    """Lead from a hit to another one whose title stands in its text as a name does: with its capitals."""
    names = {memory: name for memory, title in titles.items() if (name := _name(title))}
    if not names:
        return
    texts = {memory: record.content for memory, record in reader.get(list(seeds)).items()}
    met: list[tuple[str, str, str]] = []
    for memory, name in names.items():
        holders = [seed for seed, text in texts.items() if seed != memory and _stands(name, text)]
        if holders and not contains_phrase(query, name):
            met.append((memory, name, max(holders, key=seeds.__getitem__)))
    for memory, name, seed in met:
        words = groups(name, ["en", language(name)])
        rare = min((df for df in reader.frequencies(words) if df), default=memories)
        yield memory, seeds[seed] * telling(rare, memories), (seed, name)


def _name(title: str) -> str:
    """Return what a title names without what stands behind it in parentheses; nothing where it is no name."""
    name = _MEANT.sub("", title)
    named = len(name) >= SHORTEST and any(letter.isupper() or letter.isdigit() for letter in name)
    return name if named else ""


def _stands(name: str, text: str) -> bool:
    """Return whether a name stands in a text, between what is no letter or digit."""
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
