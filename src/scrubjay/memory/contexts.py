"""Contexts: memories put together for a conversation, within a budget, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scrubjay.memory.records import Record

PARTS: Final = ("pinned", "profile", "recent", "relevant")
"""Parts of a context, in the order in which they are shown: what is nearest to the question comes last."""
ANSWERING: Final = ("pinned", "relevant")
"""Those that are told where something is asked and no parts are named: a context is as short as its evidence."""


@dataclass(frozen=True, slots=True)
class Item:
    """One memory that may be shown.

    Attributes:
        part: One of ``PARTS``.
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


@dataclass(frozen=True, slots=True)
class Cited:
    """One memory of a context: its part, where it is found, when it was, and what it takes of the budget."""

    id: str
    part: str
    tier: str
    citation: str
    date: str | None
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
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


@dataclass(frozen=True, slots=True)
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
    memories: tuple[Cited, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    budget: int
    partial: tuple[str, ...] = ()
    took_ms: float = 0.0
    silence: str = ""
