"""Claim, Word: a statement as it is compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from scrubjay.ingest.change.days import Day
from scrubjay.ingest.change.piece import Number
from scrubjay.ingest.change.verbs import Verb
from scrubjay.ingest.change.words import IRREGULAR
from scrubjay.text.stems import stem

KNOWN: Final = 20_000
"""Words whose stems are remembered."""
NO_VERB: Final = Verb(-1, "", "")


class Word(NamedTuple):
    """A content word.

    Attributes:
        key: What it is read as.
        raw: How it was written.
        denied: Whether a denial falls on it, or it is an opposite on which none does.
        opposite: Whether it says the opposite of its key.
        early: Whether it stands before the verb.
        name: Whether it looks like a name.
        aside: Whether it says why, or instead of what.
        placed: Whether it stands behind a preposition.
    """

    key: str
    raw: str
    denied: bool = False
    opposite: bool = False
    early: bool = False
    name: bool = False
    aside: bool = False
    placed: bool = False

    @property
    def stem(self) -> str:
        """Return the stem of the word itself, whatever it is read as."""
        return _stem(self.raw)


@lru_cache(KNOWN)
def _stem(raw: str) -> str:
    low = raw.lower()
    return stem(IRREGULAR.get(low, low), "en")


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement as it is compared.

    Attributes:
        words: Its content words in order.
        numbers: Its numbers.
        days: Its dates and times of day.
        settings: Kinds of circumstance with the names said of each: production, Linux, the left one.
        odd: Whether it denies an odd number of times.
        signals: Any of "changed", "over", "planned", "ongoing", "past", "noted" (a colon for a verb), "waited", "also".
        person: Whose statement it is: "i", "you", "they", or "" where a thing or a name is the subject.
        verb: What parts subject from predicate.
        sides: Word that orders ("than", "over") -> key of the word behind it.
        passive: Whether somebody is named by "by".
        definite: Whether its predicate begins with "the" or "my": what there is one of.
        rest: Text beyond what was read.
    """

    words: tuple[Word, ...]
    numbers: tuple[Number, ...] = ()
    days: tuple[Day, ...] = ()
    settings: dict[str, frozenset[str]] = field(default_factory=dict)
    odd: bool = False
    signals: frozenset[str] = frozenset()
    person: str = ""
    verb: Verb = NO_VERB
    sides: dict[str, str] = field(default_factory=dict)
    passive: bool = False
    definite: bool = False
    rest: str = ""
