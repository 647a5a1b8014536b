"""Scored candidates, citations, and the return values of search, thread and context.

A citation says where a passage is in its file, in a unit that a reader of the file sees: lines of a text
(``notes.md:3-9``), pages of a PDF (``report.pdf#page=7``), headings of any other document
(``contract.docx#terms-of-payment``).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from scrubjay.frozen import frozen
from scrubjay.models.records import Record, SourcePlace

PositionUnit = Literal["line", "page", "heading"]

_PAGE_MARK = "#page="
MAX_ANCHOR = 60
"""Characters of a heading's anchor."""


def is_paged(path: str) -> bool:
    return path[-4:].lower() == ".pdf"


def position_unit(path: str, place: SourcePlace | None = None) -> PositionUnit:
    """Return the unit of a document's positions; ``place`` is one of its passages, with line 0 where it has none."""
    if is_paged(path):
        return "page"
    return "heading" if place is not None and place.line_start == 0 else "line"


def line_range(place: SourcePlace | None) -> tuple[int, int] | None:
    """Return a passage's first and last line, or None where its file has none."""
    if place is None or position_unit(place.path, place) != "line":
        return None
    return place.line_start, place.line_end


def position(record: Record) -> str:
    """Return the part of a citation that follows the path."""
    place = record.place
    if place is None:
        return ""
    unit = position_unit(place.path, place)
    if unit == "heading":
        anchor = heading_anchor(record.heading_path)
        return f"#{anchor}" if anchor else ""
    if unit == "page":
        last = f"-{place.line_end}" if place.line_end != place.line_start else ""
        return f"{_PAGE_MARK}{place.line_start}{last}"
    return f":{place.line_start}-{place.line_end}"


def record_citation(record: Record, path: str | None) -> str:
    """Return path and position of a passage, else the id.

    A file of somebody else has no ``path`` for the caller; it is cited relative to its source.
    """
    if record.place is None or (path is None and record.session is not None):
        return record.id
    return (path or record.place.path) + position(record)


def heading_anchor(heading_path: Sequence[str]) -> str:
    """Return the anchor of the innermost heading.

    >>> heading_anchor(("Contract", "Terms of payment"))
    'terms-of-payment'
    """
    if not heading_path:
        return ""
    from scrubjay.text.markdown import heading_slug  # most citations need none of it

    return heading_slug(heading_path[-1])[:MAX_ANCHOR]


def is_at(record: Record, anchor: str) -> bool:
    """Return whether the part of a citation behind its ``#`` means a passage: ``page=7``, ``page=7-9`` or a heading."""
    place = record.place
    if place is None:
        return False
    if position_unit(place.path, place) != "page":
        return heading_anchor(record.heading_path) == anchor[:MAX_ANCHOR]
    first, _, last = anchor.removeprefix("page=").partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        return False
    return place.line_start <= int(last or first) and place.line_end >= int(first)


MICRO = 1_000_000
"""Scores are compared after rounding to 1e-6, so that the last bits of two machines cannot flip an order."""

LINK_PREFIX: Final = "link from "
"""Prefix of the name of a part that a link gave; the id of the memory that led to it follows."""


def round_score(score: float) -> float:
    """Round to 1e-6, halves to even, as numpy's ``rint`` does on the same product.

    >>> round_score(0.12345649)
    0.123456
    """
    return round(score * MICRO) / MICRO


@frozen
class Hit:
    """One result of one retrieval channel; units of the score differ by channel."""

    id: str
    score: float


@frozen
class Contribution:
    """One additive part of a candidate's score.

    Attributes:
        channel: ``bm25``, ``graph``, ``ngram``, ``vector:<model name>``, or a feature such as ``title``.
        raw: The channel's own score.
        value: The raw score on the common scale of the fusion.
        weight: Weight of the channel for this query.
    """

    channel: str
    raw: float
    value: float
    weight: float

    @property
    def amount(self) -> float:
        """``weight * value``."""
        return self.weight * self.value


@frozen
class Factor:
    """A later stage's multiplier of a candidate's score, and its reason."""

    name: str
    value: float
    reason: str = ""


@dataclass(frozen=True, slots=True)  # not `frozen`, which has no `__post_init__`
class Candidate:
    """A memory found by at least one channel, with every part of its score.

    ``score`` is the sum of the contributions, rounded to 1e-6. Sums use ``fsum``: the order in which channels answered
    must not decide a tie.
    """

    id: str
    contributions: tuple[Contribution, ...]
    score: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        total = math.fsum([part.weight * part.value for part in self.contributions])
        object.__setattr__(self, "score", round_score(total))

    def plus(self, *parts: Contribution) -> Candidate:
        """Return a copy with more contributions. Not ``replace``: this runs for every candidate and stage."""
        return Candidate(self.id, (*self.contributions, *parts))


REASON_WORDS: Final = 3
"""Maximum number of words that are named as a reason: those that add most."""
REASONS: Final[Mapping[str, str]] = {
    "title": "its title matches",
    "speaker": "said by the person asked about",
    "dated": "of the time asked about",
    "session": "its conversation matches",
    "neighbours": "so do the turns beside it",
    "project": "of this project",
}
"""Further reasons for a result, by the channel of its part."""


@frozen
class Explanation:
    """Why a result ranks where it does: the parts that add up to its score.

    Attributes:
        contributions: Additive parts, by channel and feature.
        factors: Multipliers of later stages.
        words: Query word to its share of the raw BM25 score.
        way: Where ``graph`` contributed, the result and the name that led to it; else empty.
    """

    contributions: tuple[Contribution, ...]
    factors: tuple[Factor, ...] = ()
    words: Mapping[str, float] = field(default_factory=dict)
    way: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """One sentence: what found it, then what else speaks for it.

        >>> Explanation((Contribution("late:m", 0.9, 1.5, 1.0),), words={"drain": 2.0}).reason
        'Found by *drain* and by meaning.'
        """
        amounts: dict[str, float] = {}
        for part in self.contributions:
            kind = part.channel.partition(":")[0]
            if kind == "dated" and part.raw < 1:  # near that time, but not in it
                continue
            amounts[kind] = amounts.get(kind, 0.0) + part.amount
        best = sorted(self.words, key=lambda word: -self.words[word])[:REASON_WORDS]
        found_by = [", ".join(f"*{word}*" for word in best)] if best else []
        found_by += ["meaning"] if amounts.get("vector", 0.0) + amounts.get("late", 0.0) > 0 else []
        found_by += [f"{self.way[1]} in {self.way[0]}"] if self.way and amounts.get("graph", 0.0) > 0 else []
        first = (
            f"found by {' and by '.join(found_by)}"
            if found_by
            else "found through a neighbouring turn or passage"
        )
        others = [text for kind, text in REASONS.items() if amounts.get(kind, 0.0) > 0]
        sentence = "; ".join([first, *others])
        return f"{sentence[0].upper()}{sentence[1:]}."


@frozen
class NearbyTurn:
    """A neighbouring turn of a result's conversation.

    Attributes:
        offset: Position relative to the result: -1 is the turn before it.
        role: Speaker, or None.
        date: ISO date or time, or None where it has none.
        snippet: At most 300 characters.
        score: Its ranking score where it is a result itself, else None.
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
        title: Nearest heading, else the document's name.
        snippet: At most 700 characters around the match.
        path: Absolute path of its file, or None for an addition.
        line_start: First line of the passage, or None; a document such as a PDF has no lines.
        line_end: Last line, inclusive, or None.
        date: ISO date or time of its event, else of when it was recorded; None for an undated passage or import.
        score: Ranking score; comparable within one answer only.
        relevance: Calibrated probability, 0..1, that it answers the question (docs/ranking.md); None where unknown.
            Independent of score and order.
        citation: ``path:first-last``, ``path#page=7`` for a PDF, ``path#heading`` for DOCX, HTML and EPUB, or the id.
        status: ``active``, ``archived`` or ``superseded``.
        source: Description of its source, or an empty string.
        origin: Author: ``owner``, ``agent``, ``tool``, ``derived`` or ``untrusted``.
        session: Conversation it belongs to, or None.
        role: Speaker, or None.
        agent: Agent that said or recorded it, or None.
        explanation: Present when asked for.
        evidence: Ids of the first five memories a derived memory was derived from.
        statements: Ids of facts extracted from this turn that ranked it.
        copies: Number of other matching memories with the same text, which are not results.
        copied: Ids of the first five of them.
        valid_from: ISO date or time from which it is true, or None.
        valid_until: ISO date or time from which it is no longer true, or None.
        turns: Neighbouring turns of its conversation, in order, where asked for.
        newer: Ids of active memories that were said later and may supersede it, or that supersede a statement extracted
            from it, newest first.
        marked_wrong: Whether feedback says that it is wrong.
        outdated: ``changed`` or ``gone`` if its file is, and the next sync has yet to read that; else empty.
        owner: The user who shared it, if that is another than the caller; else empty.
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
    marked_wrong: bool = False
    outdated: str = ""
    owner: str = ""


WEAK_RELEVANCE: Final = 0.1
"""Relevance below which a result at the end of a list is folded or only counted.

In six vaults one in thirty of such results answers where it is not the first of its search, one in three where it is
the first of a search that shows results (bench/LOG.md): of the first this is no sign that it does not answer.
"""


def count_strong(relevances: Iterable[float | None]) -> int:
    """Return how many results precede the weak tail of a list; what ranks above a likely result is shown with it.

    >>> count_strong([0.01, 0.4, 0.05, None, 0.02, 0.0]), count_strong([0.01, 0.02])
    (4, 0)
    """
    return max(
        (at for at, one in enumerate(relevances, 1) if one is None or one >= WEAK_RELEVANCE), default=0
    )


class Notice(str):
    """A sentence of ``partial`` that whoever asked can act on; the others are about models and time limits.

    The question was cut, or a file is newer than the answer: both can be read again otherwise.
    """

    __slots__ = ()


STALE_STORE: Final = Notice("Files or commits are newer than the store: `scrubjay sync` reads them.")


NOTHING_FROM_TIME: Final = "none of the memories searched is from that time."
"""End of the ``silence`` of an answer to a question that names only a time."""


@frozen
class Answer:
    """Result of a search.

    Attributes:
        results: Best first; empty when nothing was found.
        partial: What the answer lacks, one sentence each.
        took_ms: Milliseconds from call to answer.
        notes: Decisions of the query plan, one sentence each (dropped terms, corrected spelling), projects that no
            memory has, and that the user sees no memories; for explain.
        displaced: Ids of the memories that their age displaced from the results, the best first.
        silence: Why no result is shown although memories were found: none is likely to answer. Else empty.
        as_of: Valid time of the answer, ISO; None for now. It selects what was true then, not what was stored then.
        nearest: With ``silence`` the five best memories, of which none is likely to answer; else empty.
    """

    results: tuple[Result, ...]
    partial: tuple[str, ...]
    took_ms: float
    notes: tuple[str, ...] = ()
    displaced: tuple[str, ...] = ()
    silence: str = ""
    as_of: str | None = None
    nearest: tuple[Result, ...] = ()

    @property
    def hidden(self) -> int:
        """Number of memories displaced from the results by their age."""
        return len(self.displaced)


@frozen
class PathStep:
    """One step along an edge.

    Attributes:
        kind: Kind of the edge.
        direction: ``to`` along the edge, ``from`` against it. For ``follows``, ``to`` leads to the earlier memory.
        id: The memory or entity reached.
        name: Name of the entity, empty for a memory.
        weight: 0..1, the share of the score that it passes on.
    """

    kind: str
    direction: str
    id: str
    name: str = ""
    weight: float = 1.0


@frozen
class ReachedMemory:
    """A memory reached by the expansion of a thread.

    Attributes:
        own: Its own search score; at least 0 for an expanded one.
        seed: Search result at the start of the path; the memory itself where there is no path.
        path: Steps from the seed; empty without a path.
        hops: Steps to another memory: over an entity one, over two related entities two.
        carried: The seed's score times the weights of the steps.
        share: Weight of ``carried``.
        least: Weight of ``own``.
        found: Whether the search found it directly.
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
        """``share * carried + least * own``, rounded to 1e-6; for a seed its search score."""
        return round_score(self.share * self.carried + self.least * self.own)


@frozen
class ThreadEntry:
    """One memory of a thread, in chronological position.

    Attributes:
        result: The memory as a search would show it; its explanation holds the parts of the score.
        reached: How it was reached.
        gap: Time since the previous entry, in words, or an empty string.
        dated: Whether its date is known; else it is placed by its document.
        replaced_by: Visible memories that superseded it.
        contradicts: Visible memories that contradict it.
    """

    result: Result
    reached: ReachedMemory
    gap: str = ""
    dated: bool = True
    replaced_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


@frozen
class Thread:
    """Memories about a question in chronological order.

    Attributes:
        entries: Earliest first; empty when nothing was found.
        left_out: Number of reached memories that are not shown.
        partial: What the answer lacks, one sentence each.
        took_ms: Milliseconds from call to answer.
        notes: Decisions of the query plan, one sentence each.
        as_of: Valid time of the answer, ISO; None for now.
        silence: Why nothing is shown although memories were found: none is likely to answer. Else empty.
    """

    entries: tuple[ThreadEntry, ...]
    left_out: int
    partial: tuple[str, ...]
    took_ms: float
    notes: tuple[str, ...] = field(default=())
    as_of: str | None = None
    silence: str = ""

    @property
    def knots(self) -> tuple[ThreadEntry, ...]:
        """The former name of `entries`."""
        message = "Thread.knots is called Thread.entries now; the old name works until the next release."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.entries


BLOCK_OPEN: Final = "<scrubjay-memories>"
"""Text between these is recalled data: never an instruction, and never captured as new."""
BLOCK_CLOSE: Final = "</scrubjay-memories>"
FUSIONS: Final = ("auto", "rrf", "weighted", "raw")
"""Ways to fuse the scores of channels."""
RERANKER_KINDS: Final = ("off", "features", "cross-encoder", "http", "chat")
RESULT_KINDS: Final = ("memory", "session")
"""Units of a search result: single memories or whole conversations."""
MAX_RESULTS: Final = 1_000
MAX_NEIGHBOURS: Final = 10

CONTEXT_PARTS: Final = ("pinned", "profile", "recent", "relevant")
"""Parts of a context in the order shown: the one nearest to the question comes last."""
ANSWERING_PARTS: Final = ("pinned", "relevant")
"""Parts shown for a question if none are named: a context is as short as its evidence."""


@frozen
class ContextItem:
    """One memory that may be shown in a context.

    Attributes:
        part: One of ``CONTEXT_PARTS``.
        texts: Alternative texts, longest first; each on one line and escaped.
        label: Date, tier and citation shown before it; escaped.
        citation: ``path:first-last``, or the id.
        date: ISO date or time of its event; None for an undated passage or import.
    """

    part: str
    record: Record
    texts: tuple[str, ...]
    label: str
    citation: str
    date: str | None


@frozen
class Citation:
    """One memory of a context: its part, citation, date, tokens, and relevance (0 to 1) where it answers a question."""

    id: str
    part: str
    tier: str
    citation: str
    date: str | None
    tokens: int
    relevance: float | None = None


@frozen
class OmittedItem:
    """One candidate that is not in a context.

    Attributes:
        part: The part it was a candidate for.
        why: ``budget``, ``repeats`` (another says the same, or was derived from it), ``loaded`` (the agent reads
            its file itself), ``superseded``, ``amended`` (by a later document, see `search.amendments`),
            ``untrusted``, ``outdated`` (its file is gone or newer), ``session`` (derived from the current one) or
            ``never-inject`` (its tag).
    """

    id: str
    part: str
    why: str


@frozen
class Context:
    """Text to inject into a conversation.

    Attributes:
        text: Delimited, labelled and escaped; empty when there is nothing to show. Pinned memories are shown beside
            ``silence``, too, which the text then repeats.
        memories: Its memories, in order.
        left_out: Candidates that are not in it.
        tokens: Approximate tokens of the text; never more than the budget.
        budget: Maximum tokens.
        partial: What the answer lacks, one sentence each.
        took_ms: Milliseconds from call to answer.
        silence: Why no answer is shown for a question: nothing stored is about it, or it exceeds the budget. Else
            empty.
    """

    text: str
    memories: tuple[Citation, ...]
    left_out: tuple[OmittedItem, ...]
    tokens: int
    budget: int
    partial: tuple[str, ...] = ()
    took_ms: float = 0.0
    silence: str = ""
