"""Threads: memories that belong to one story, with the way that led to each, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field

from scrubjay.memory.answers import Result
from scrubjay.memory.ranking import rounded


@dataclass(frozen=True, slots=True)
class Step:
    """One step along an edge.

    Attributes:
        kind: One of ``edges.KINDS``.
        direction: ``to`` along the edge, ``from`` against it. Of ``follows``, ``to`` is to what came before.
        id: The memory or concept that it leads to.
        name: The concept's name, empty for a memory.
        weight: 0..1, what the step leaves of the score that it carries on.
    """

    kind: str
    direction: str
    id: str
    name: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory that a thread came to.

    Attributes:
        id: The memory.
        own: What a search scores it by itself; of what was come to, at least 0.
        seed: The memory of the search that the way begins with; the memory itself where no way led to it.
        path: Steps from the seed; none where no way led to it.
        hops: Steps to another memory; one over a concept is one, over two related concepts two.
        carried: What comes along the way: the score of the seed, times the weights of the steps.
        share: What ``carried`` weighs.
        least: What ``own`` weighs.
        found: Whether the search found it by itself; a way may lead to it all the same, and adds to its score.
    """

    id: str
    own: float
    seed: str
    path: tuple[Step, ...] = ()
    hops: int = 0
    carried: float = 0.0
    share: float = 0.0
    least: float = 1.0
    found: bool = False

    @property
    def score(self) -> float:
        """``share`` times ``carried`` plus ``least`` times ``own``, rounded to 1e-6; of a seed what a search says."""
        return rounded(self.share * self.carried + self.least * self.own)


@dataclass(frozen=True, slots=True)
class Knot:
    """One memory of a thread, in its place in the story.

    Attributes:
        result: The memory as a search would show it; its explanation holds the parts of the score.
        reached: How it was come to.
        gap: What lies between the memory before and this one, in words, or an empty string.
        dated: Whether it is known when it happened; else it stands where its document has it.
        replaced_by: Visible memories that took its place.
        contradicts: Visible memories that say otherwise.
    """

    result: Result
    reached: Reached
    gap: str = ""
    dated: bool = True
    replaced_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Thread:
    """What belongs to a question, told in order.

    Attributes:
        knots: The memories, first what happened first; empty when nothing was found.
        left_out: Memories that were come to and found no place.
        partial: What the answer had to do without, one sentence each.
        took_ms: Milliseconds from call to answer.
        notes: What the plan decided, one sentence each.
        as_of: The time as of which it is told, ISO, None for now: what was true then (valid time).
        silence: Where memories were found and none is likely to answer: a sentence that says so; else empty.
    """

    knots: tuple[Knot, ...]
    left_out: int
    partial: tuple[str, ...]
    took_ms: float
    notes: tuple[str, ...] = field(default=())
    as_of: str | None = None
    silence: str = ""
