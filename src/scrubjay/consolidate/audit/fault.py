"""Fault: what is wrong with one memory, and what would mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KINDS: Final = (
    "junk",
    "near-duplicate",
    "stale",
    "contradicted",
    "orphaned",
    "never-recalled",
    "recall-loop",
)
"""What an audit looks for, in the order in which it tells and mends."""
MENDED: Final = tuple(kind for kind in KINDS if kind != "never-recalled")
"""Kinds that have a fix: that nobody asked for a memory says nothing against it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One memory that is of no use, as far as an audit can tell.

    Attributes:
        memory: Its id.
        why: The reason, as the end of a sentence: "says nothing".
        reason: The same without figures, by which faults are counted.
        weight: How bad; the examples are those that weigh most.
        mend: Status that mends it: ``archived``, ``superseded``, or empty where only a person can.
        other: The memory that stays in its stead or speaks against it, or None.
    """

    memory: str
    why: str
    reason: str
    weight: float
    mend: str = ""
    other: str | None = None
