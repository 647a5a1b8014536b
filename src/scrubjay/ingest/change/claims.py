"""Claim: str -> Claim. What a statement speaks of, what it says of it, and how: denied, planned, over, changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from scrubjay.ingest.change import tongues
from scrubjay.ingest.change.days import Day
from scrubjay.ingest.change.levels import level
from scrubjay.ingest.change.likeness import SETTINGS
from scrubjay.ingest.change.piece import Number, Piece
from scrubjay.ingest.change.pieces import pieces
from scrubjay.ingest.change.verbs import Verb, find_verb
from scrubjay.ingest.change.words import (
    ALSO,
    BE,
    CHANGE,
    DETERMINERS,
    ENDS,
    FUTURE,
    IRREGULAR,
    MOVES,
    NEGATORS,
    PERSONS,
    PLANS,
    STEPS,
    STOP,
)
from scrubjay.text.stems import stem

REMEMBERED: Final = 2_000
"""Claims kept: an old statement meets many new ones."""
_WHERE: Final = DETERMINERS | {"in", "on", "to", "for", "from", "'s", ""}
_ASIDE: Final = frozenset(("but", "because", "when", "while"))
_TOWARDS: Final = frozenset(("to", "from", "by", "into", "back"))
STOPS: Final = frozenset((".", "!", "?", ",", ";", "(", ")"))
ORDERED: Final = frozenset(("than", "over", "before", "after", "to", "from", "into"))
"""Words whose two sides cannot change places."""
PLACING: Final = frozenset("in on at by from to under near behind".split())
"""Prepositions that say where, with what or by whom."""
CURRENCIES: Final = frozenset(("usd", "eur", "gbp"))
"""Units of money, which say by themselves that something costs."""
SMALL: Final = NEGATORS | CHANGE | ENDS | FUTURE | PLANS | ALSO | STOP | {"no-longer", "instead-of", "used-to", "not-yet", "yet", "still"}
"""Every word that may do something other than say something."""
DEFINITE: Final = frozenset(("the", "my", "our", "his", "her", "their", "your", "its"))
"""What stands before a thing there is one of."""


class Word(NamedTuple):
    """A content word: its level, how it was written, whether it is denied, is the opposite of its level, stands before the verb, looks
    like a name, is said aside: why, or instead of what, stands behind a preposition."""

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
        low = self.raw.lower()
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
        signals: "changed", "over", "planned", "past", "also".
        person: Whose statement it is: "i", "you", "they", or "" where a thing or a name is the subject.
        verb: What parts subject from predicate.
        sides: Word that orders -> key of the word behind it.
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
    verb: Verb = Verb(-1, "", "")
    sides: dict[str, str] = field(default_factory=dict)
    passive: bool = False
    definite: bool = False
    rest: str = ""


@lru_cache(REMEMBERED)
def claim(text: str, tongue: str = "en") -> Claim:
    """Return what a statement claims, read in its language."""
    read, rest = pieces(text, tongue)
    reader = _Reader(read, tongue)
    for at, piece in enumerate(read):
        reader.read(at, piece)
    return reader.claim(rest)


class _Reader:
    """Reads a statement's pieces in order; what is open between two of them stands in its attributes."""

    __slots__ = ("aside", "denying", "days", "english", "numbers", "odd", "order", "passive", "person", "pieces", "rejecting", "settings", "sides", "signals", "tongue", "verb", "words")

    def __init__(self, read: list[Piece], tongue: str) -> None:
        self.pieces, self.tongue, self.english = read, tongue, tongue == "en"
        self.verb = find_verb(read) if self.english else Verb(-1, "", "")
        self.words: list[Word] = []
        self.numbers: list[Number] = []
        self.days: list[Day] = []
        self.settings: dict[str, set[str]] = {}
        self.signals: set[str] = {self.verb.tense} if self.verb.tense else set()
        self.sides: dict[str, str] = {}
        self.person = ""
        self.odd = self.denying = self.rejecting = self.passive = self.aside = False
        self.order = ""

    def read(self, at: int, piece: Piece) -> None:
        """Take in one piece."""
        early = self.verb.start <= at < self.verb.at
        if piece.number:
            self.numbers.append(replace(piece.number, early=early))
        elif piece.day:
            self.days.append(replace(piece.day, early=early))
        elif piece.low in STOPS:
            self.rejecting = self.aside = False
        elif not piece.low[0].isalnum():
            return
        elif self.english and len(piece.raw) == 1 and piece.raw.isupper() and piece.raw != "I" and at:
            self.words.append(Word(piece.raw, piece.raw, early=early, name=True))
        elif not (self._small(at, piece.low) if self.english else self._foreign(piece.low)):
            self._content(at, piece, early)

    def _small(self, at: int, low: str) -> bool:
        """Read a word for what it does; return whether it was no content."""
        if low not in SMALL:
            return False
        if low == "no" and at == 0 and self._low(1) in (",", ".", ";", "!"):
            self.signals.add("changed")
        elif low in NEGATORS or low == "no-longer":
            self._deny(at, low)
        elif low == "instead-of":
            self.rejecting = True
        elif low == "used-to":
            if self._low(at - 1) in BE:
                return True
            self.signals |= {"over"}
        elif self._signals(at, low):
            return True
        elif low not in STOP or (low == "need" and at == self.verb.at):
            return False
        elif low in PERSONS and not self.words and not self.person and at <= max(self.verb.at, 0):
            self.person = PERSONS[low]
        self.order = low if low in ORDERED else self.order
        self.passive |= low == "by"
        return True

    def _signals(self, at: int, low: str) -> bool:
        """Read a word of change, of an end or of a plan; return whether it was nothing else besides."""
        following = self._low(at + 1)
        if low in ENDS and not (low == "left" and self._side(at)) and not (low == "dropped" and following == "to"):
            self.signals.add("over")
            return not low.startswith(("cancel", "clos"))
        if low in CHANGE and (low not in STEPS or following in _TOWARDS):
            self.signals.add("changed")
            return level(low, "en").key not in MOVES and low not in ("reopened",)
        if low in PLANS:
            planned = following in ("to", "on", "of", "about") or following.endswith("ing")
            self.signals |= {"planned"} if planned else set()
            return planned
        if low in FUTURE:
            self.signals.add("planned")
            return low != "tomorrow"
        if low in ("yet", "still", "not-yet"):
            self.signals.add("waited")
            self.odd, self.denying = self.odd ^ (low == "not-yet"), low == "not-yet"
            return True
        if low in ALSO:
            self.signals.add("also")
            return low != "additional"
        return False

    def _deny(self, at: int, low: str) -> None:
        if low != "no-longer" and any(piece.low == "anymore" for piece in self.pieces):
            self.signals |= {"over", "changed"}
        if low == "no-longer":
            self.signals |= {"over", "changed"}
        following = [self._low(place) for place in range(at + 1, min(at + 12, len(self.pieces)))]
        until = next((n for n, word in enumerate(following) if word in (".", ";")), len(following))
        if low == "not" and ("but" in following[:until] or (at and self._low(at - 1) in (",", ";", "(", "and"))):
            self.rejecting = True
            return
        self.odd, self.denying = not self.odd, True

    def _foreign(self, low: str) -> bool:
        if low in tongues.denials(self.tongue):
            if not (self.tongue == "fr" and low in ("ne", "n")):
                self.odd, self.denying = not self.odd, True
            return True
        if low in tongues.changes(self.tongue):
            self.signals.add("changed")
            if self.tongue == "fr" and low == "plus" and any(piece.low in ("ne", "n") for piece in self.pieces):
                self.odd = not self.odd
            return True
        return low in tongues.fillers(self.tongue)

    def _content(self, at: int, piece: Piece, early: bool) -> None:
        low, raw = piece.low, piece.raw
        if self.rejecting and low == "but":
            self.rejecting = False
            return
        if low in _ASIDE:
            self.aside = bool(self.words)
            return
        if self.english and low in SETTINGS and self._setting(at, low, raw):
            kind, name = SETTINGS[low]
            self.settings.setdefault(kind, set()).add(name)
            return
        key, opposite = level(low, self.tongue)
        name = (raw[:1].isupper() and at > 0 and self._low(at - 1) not in STOPS) or any(c.isupper() for c in raw[1:])
        if self.order:
            self.sides.setdefault(self.order, key)
            self.order = ""
        self.words.append(Word(key, raw, (self.denying ^ opposite) or self.rejecting, opposite and not self.rejecting, early, name, self.aside or self.rejecting, self._placed(at)))
        self.denying = False

    def _placed(self, at: int) -> bool:
        before = self._low(at - 1)
        return (self._low(at - 2) if before in DETERMINERS else before) in PLACING

    def _setting(self, at: int, low: str, raw: str) -> bool:
        kind = SETTINGS[low][0]
        if kind == "side":
            return self._side(at)
        if kind == "system":
            return (raw[:1].isupper() or low != "windows") and self._low(at - 1) not in ("a", "an")
        if kind in ("way", "stage") and low in ("read", "reads", "write", "writes", "test", "local", "preview", "sandbox", "stage", "prod", "dev"):
            return at != self.verb.at and (self._low(at - 1) in _WHERE)
        return True

    def _side(self, at: int) -> bool:
        return self._low(at - 1) in DETERMINERS or self._low(at - 1) == "'s" or (at == 0 and self.verb.at != at)

    def _low(self, at: int) -> str:
        return self.pieces[at].low if 0 <= at < len(self.pieces) else ""

    def _definite(self) -> bool:
        return self.verb.at >= 0 and self._low(self.verb.at + 1) in DEFINITE

    def claim(self, rest: str) -> Claim:
        """Return what was read."""
        settings = {kind: frozenset(names) for kind, names in self.settings.items()}
        person = "" if any(word.early for word in self.words) else self.person
        priced = any(number.unit in CURRENCIES for number in self.numbers)
        words = [word for word in self.words if not (priced and word.key in ("cost", "price"))]
        return Claim(tuple(words), tuple(self.numbers), tuple(self.days), settings, self.odd, frozenset(self.signals), person, self.verb, self.sides, self.passive, self._definite(), rest)
