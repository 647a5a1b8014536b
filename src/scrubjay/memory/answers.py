"""Answers: what a search gives back, as frozen values that every surface prints alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scrubjay.memory.ranking import Contribution, Factor


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a result stands where it stands: the very parts that made its score.

    Attributes:
        contributions: What each channel added.
        factors: What later stages multiplied by.
        words: Query word to what it gave to the raw BM25 score.
        way: The result that led to it and the name over which, where ``graph`` added anything; else empty.
    """

    contributions: tuple[Contribution, ...]
    factors: tuple[Factor, ...]
    words: Mapping[str, float] = field(default_factory=dict)
    way: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation that is shown with a result of it.

    Attributes:
        id: The memory.
        offset: Turns from the result's own: -1 is the one before it.
        role: Who speaks, or None.
        date: ISO date or time of it, or None where it names none.
        snippet: At most 300 characters of it.
        score: Its own ranking score, where it is an answer itself; None where it only stands beside one.
    """

    id: str
    offset: int
    role: str | None
    date: str | None
    snippet: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One memory that answers a search.

    Attributes:
        id: The memory.
        tier: Its tier.
        title: Nearest heading, else the document's name.
        snippet: At most 700 characters around the match.
        path: Absolute path of its file, or None for an addition.
        line_start: First line of the passage, or None.
        line_end: Last line, inclusive, or None.
        date: ISO date or time of what it tells of, else of when it was recorded; None for a passage of a file that
            names no date.
        score: Ranking score; comparable within one answer only.
        relevance: How likely it is to answer, 0..1, calibrated over many sets (docs/abstention.md); None where it
            cannot be told. Nothing derives it from the score, and no order from it.
        citation: ``path:first-last``, or the id.
        status: ``active``, ``archived`` or ``superseded``.
        tags: Its tags.
        source: Description of its source, or an empty string.
        origin: Who said it: ``owner``, ``agent``, ``tool``, ``derived`` or ``untrusted``.
        session: Conversation it belongs to, or None.
        role: Who speaks, or None.
        project: Project it belongs to, or None.
        agent: Agent that said or recorded it, or None.
        explanation: Present when asked for.
        evidence: Ids of what a derived memory was taken from, the first five.
        statements: Ids of statements that were taken from this turn and ranked it.
        copies: How many other memories were found that say the same; they are not results.
        copied: Ids of the first five of them.
        valid_from: ISO date or time from which it is true, or None.
        valid_until: ISO date or time from which it is no longer true, or None.
        turns: Turns of its conversation that are shown with it, in their order, where they were asked for.
        newer: Ids of active memories that were said later of the same, and may have changed it; the newest first.
    """

    id: str
    tier: str
    title: str
    snippet: str
    path: str | None
    line_start: int | None
    line_end: int | None
    date: str | None
    score: float
    relevance: float | None
    citation: str
    status: str
    tags: tuple[str, ...]
    source: str
    origin: str
    session: str | None
    role: str | None
    project: str | None
    agent: str | None
    explanation: Explanation | None = None
    evidence: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    copies: int = 0
    copied: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_until: str | None = None
    turns: tuple[Turn, ...] = ()
    newer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found.

    Attributes:
        results: Best first; empty when nothing was found.
        partial: What the answer had to do without, one sentence each.
        took_ms: Milliseconds from call to answer.
        notes: What the plan decided, one sentence each (terms dropped, words respelled); for explain.
        hidden: Memories that would be among the results but for their age.
        silence: Where memories were found and none is likely to answer: a sentence that says so; else empty.
        as_of: The time as of which it answers, ISO, None for now: by what was true then (valid time), not by what
            was stored then.
    """

    results: tuple[Result, ...]
    partial: tuple[str, ...]
    took_ms: float
    notes: tuple[str, ...] = ()
    hidden: int = 0
    silence: str = ""
    as_of: str | None = None
