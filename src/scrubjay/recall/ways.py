"""Ways: how far one comes from a memory along edges, and what each step leaves of the score that is carried on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.memory.threads import Step
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    from scrubjay.memory.webs import Near

KIND: Final[Mapping[str, float]] = {
    "supersedes": 1.0,
    "contradicts": 1.0,
    "derived_from": 0.9,
    "links": 0.9,
    "follows": 0.7,
    "similar": 0.7,
    "references": 0.8,
    "related_to": 0.8,
}
"""What a step of each kind leaves, times the edge's own weight. What took a memory's place belongs to its story as
the memory does; what merely stands beside it, or shares a name with it, less so."""


@dataclass(frozen=True, slots=True)
class Web:
    """What a thread may ask, each answer bounded by who asks.

    Attributes:
        reader: What is visible.
        measure: Memories to what a search scores each by itself; those it cannot score or may not show are left out.
        related: Concept to the concepts related to it, the closest first.
        pool: Memories that the query found by itself, from which a concept's best are taken.
        memories: How many memories are visible.
        fan_out: Most edges of a kind that are followed from one memory or concept.
    """

    reader: Reader
    measure: Callable[[Sequence[str]], Mapping[str, float]]
    related: Callable[[str], Sequence[Near]]
    pool: Sequence[str]
    memories: int
    fan_out: int


@dataclass(frozen=True, slots=True)
class Way:
    """A way as far as a memory or a concept: its seed, its steps, what is carried so far."""

    seed: str
    path: tuple[Step, ...]
    carried: float

    def on(self, step: Step) -> Way:
        """Return it with one step more."""
        return Way(self.seed, (*self.path, step), self.carried * step.weight)


@dataclass(slots=True)
class Best:
    """The best way to each thing."""

    ways: dict[str, Way] = field(default_factory=dict)

    def offer(self, name: str, way: Way) -> None:
        """Keep a way where it carries more than the one that is known."""
        held = self.ways.get(name)
        if held is None or way.carried > held.carried:
            self.ways[name] = way

    def first(self, count: int) -> dict[str, Way]:
        """Return the ways that carry most."""
        return dict(sorted(self.ways.items(), key=lambda pair: (-pair[1].carried, pair[0]))[:count])


def named(weight: float) -> float:
    """Return what it says that a memory names a concept: once (.5) says nearly as much as again and again.

    >>> round(named(0.5), 2), named(1.0)
    (0.71, 1.0)
    """
    return math.sqrt(weight)


def telling(held: int, memories: int) -> float:
    """Return how much it says that two memories refer to one concept: nothing where every memory does, 0 to 1.

    >>> telling(1, 1000), round(telling(10, 1000), 2), telling(1000, 1000)
    (1.0, 0.67, 0.0)
    """
    if memories <= 1 or held <= 1:
        return 1.0
    return max(0.0, 1.0 - math.log(held) / math.log(memories))
