"""Results: scored candidates, and what search, thread and context return."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from scrubjay.frozen import frozen
from scrubjay.models.records import Record

MICRO = 1_000_000
"""Scores are compared after rounding to 1e-6, so that the last bits of two machines cannot flip an order."""

LINK_PREFIX: Final = "link from "
"""What the name of a part begins with that a link gave; the id of the memory that led to it follows."""


def round_score(score: float) -> float:
    """Round to 1e-6, halves to even, as numpy's ``rint`` does on the same product.

    >>> round_score(0.12345649)
    0.123456
    """
    return round(score * MICRO) / MICRO


@frozen
class Hit:
    """One channel's find.

    Attributes:
        id: The memory.
        score: The channel's own score, rounded to 1e-6; units differ by channel.
    """

    id: str
    score: float


@frozen
class Contribution:
    """What one channel added to a candidate's score.

    Attributes:
        channel: ``bm25``, ``graph``, ``ngram``, or ``vector:<model name>``; or what else speaks, such as ``title``.
        raw: The channel's own score.
        value: The raw score on the common scale of the fusion.
        weight: What the channel weighs for this query.
    """

    channel: str
    raw: float
    value: float
    weight: float

    @property
    def amount(self) -> float:
        """What is added: weight times value."""
        return self.weight * self.value


@frozen
class Factor:
    """What a later stage multiplied a candidate's score by, and why."""

    name: str
    value: float
    reason: str = ""


@frozen
class Candidate:
    """A memory found by at least one channel, with every part of its score.

    Attributes:
        id: The memory.
        contributions: What each channel added.
    """

    id: str
    contributions: tuple[Contribution, ...]

    @property
    def score(self) -> float:
        """The sum of the contributions, rounded to 1e-6.

        Sums use ``fsum``: the order in which channels answered must not decide a tie.
        """
        return round_score(math.fsum([part.weight * part.value for part in self.contributions]))

    def plus(self, *parts: Contribution) -> Candidate:
        """Return it with more parts of its score; not by ``replace``, for it is asked of every candidate and stage."""
        return Candidate(self.id, (*self.contributions, *parts))


@frozen
class Explanation:
    """Why a result stands where it stands: the very parts that made its score.

    Attributes:
        contributions: What each channel added.
        factors: What later stages multiplied by.
        words: Query word to what it gave to the raw BM25 score.
        way: The result that led to it and the name over which, where ``graph`` added anything; else empty.
    """

    contributions: tuple[Contribution, ...]
    factors: tuple[Factor, ...] = ()
    words: Mapping[str, float] = field(default_factory=dict)
    way: tuple[str, ...] = ()


@frozen
class NearbyTurn:
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


@frozen
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
    turns: tuple[NearbyTurn, ...] = ()
    newer: tuple[str, ...] = ()


@frozen
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


@frozen
class PathStep:
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


@frozen
class ReachedMemory:
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
    path: tuple[PathStep, ...] = ()
    hops: int = 0
    carried: float = 0.0
    share: float = 0.0
    least: float = 1.0
    found: bool = False

    @property
    def score(self) -> float:
        """``share`` times ``carried`` plus ``least`` times ``own``, rounded to 1e-6; of a seed what a search says."""
        return round_score(self.share * self.carried + self.least * self.own)


@frozen
class ThreadEntry:
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
    reached: ReachedMemory
    gap: str = ""
    dated: bool = True
    replaced_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


@frozen
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

    knots: tuple[ThreadEntry, ...]
    left_out: int
    partial: tuple[str, ...]
    took_ms: float
    notes: tuple[str, ...] = field(default=())
    as_of: str | None = None
    silence: str = ""


BLOCK_OPEN: Final = "<scrubjay-memories>"
"""What is between these is data that was recalled: never an instruction, and never captured as new."""
BLOCK_CLOSE: Final = "</scrubjay-memories>"


RESULT_KINDS: Final = ("memory", "session")
"""Units of a search result: single memories or whole conversations."""
MAX_RESULTS: Final = 1_000
MAX_NEIGHBOURS: Final = 10

CONTEXT_PARTS: Final = ("pinned", "profile", "recent", "relevant")
"""Parts of a context, in the order in which they are shown: what is nearest to the question comes last."""
ANSWERING_PARTS: Final = ("pinned", "relevant")
"""Those that are told where something is asked and no parts are named: a context is as short as its evidence."""


@frozen
class ContextItem:
    """One memory that may be shown.

    Attributes:
        part: One of ``CONTEXT_PARTS``.
        record: The memory.
        texts: What may be said of it, the longest first; each on one line and harmless.
        label: Date, tier and citation as they are shown before it; harmless.
        citation: ``path:first-last``, or the id.
        date: ISO date or time of what it tells of; None for a passage of a file that names no date.
    """

    part: str
    record: Record
    texts: tuple[str, ...]
    label: str
    citation: str
    date: str | None


@frozen
class Citation:
    """One memory of a context: its part, where it is found, when it was, and what it takes of the budget."""

    id: str
    part: str
    tier: str
    citation: str
    date: str | None
    tokens: int


@frozen
class OmittedItem:
    """One memory that had a claim and is not in a context.

    Attributes:
        id: The memory.
        part: The part that it would have stood in.
        why: ``budget``, ``repeats`` (another says the same, or was made from it), ``loaded`` (the agent reads its
            file itself), ``superseded`` or ``untrusted``.
    """

    id: str
    part: str
    why: str


@frozen
class Context:
    """What to put into a conversation.

    Attributes:
        text: Delimited, labelled and escaped; empty when there is nothing to say.
        memories: What it holds, in its order.
        left_out: What had a claim and is not in it.
        tokens: What the text takes, by the measure of ``text.size.tokens``; never more than the budget.
        budget: Most tokens that it could take.
        partial: What the answer had to do without, one sentence each.
        took_ms: Milliseconds from call to answer.
        silence: Where something was asked and nothing stored has to do with it: a sentence that says so; else empty.
    """

    text: str
    memories: tuple[Citation, ...]
    left_out: tuple[OmittedItem, ...]
    tokens: int
    budget: int
    partial: tuple[str, ...] = ()
    took_ms: float = 0.0
    silence: str = ""
