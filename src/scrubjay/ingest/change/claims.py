"""Claim: str -> Claim. What a statement speaks of, what it says of it, and how: denied, planned, over, changed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from scrubjay.ingest.change import tongues
from scrubjay.ingest.change.claim import NO_VERB, Claim, Word
from scrubjay.ingest.change.days import Day
from scrubjay.ingest.change.levels import level
from scrubjay.ingest.change.piece import Number, Piece
from scrubjay.ingest.change.pieces import pieces
from scrubjay.ingest.change.places import setting, sided
from scrubjay.ingest.change.signals import SIGNALS, signal
from scrubjay.ingest.change.verbs import find_verb
from scrubjay.ingest.change.words import BE, DETERMINERS, NEGATORS, PERSONS, STOP

REMEMBERED: Final = 2_000
"""Claims kept: an old statement meets many new ones."""
CONTRAST: Final = 12
"""Words within which a "but" answers a "not": "not X but Y" denies nothing of Y."""

_BREAKS: Final = frozenset((".", "!", "?", ",", ";", "(", ")"))
_MARKS: Final = _BREAKS | {":", "=", "/", "->", "→", "'s"}
_ASIDE: Final = frozenset(("because", "when", "while"))
_ORDERED: Final = frozenset(("than", "over", "before", "after", "to", "from", "into"))
"""Words whose two sides cannot change places."""
_PLACING: Final = frozenset(("in", "on", "at", "by", "from", "to", "under", "near", "behind"))
"""Prepositions that say where, with what or by whom."""
_CURRENCIES: Final = frozenset(("usd", "eur", "gbp"))
_PRICE: Final = frozenset(("cost", "price"))
"""Words that money says by itself."""
_SMALL: Final = NEGATORS | SIGNALS | STOP | {"no-longer", "instead-of", "used-to", "but"}
_DEFINITE: Final = frozenset(("the", "my", "our", "his", "her", "their", "your", "its"))
"""What stands before a thing there is one of."""


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

    def __init__(self, read: list[Piece], tongue: str) -> None:
        self.pieces, self.tongue, self.english = read, tongue, tongue == "en"
        self.verb = find_verb(read) if self.english else NO_VERB
        self.words: list[Word] = []
        self.numbers: list[Number] = []
        self.days: list[Day] = []
        self.settings: dict[str, set[str]] = {}
        self.signals: set[str] = {self.verb.tense} if self.verb.tense else set()
        self.sides: dict[str, str] = {}
        self.person = self.order = ""
        self.odd = self.denying = self.rejecting = self.passive = self.aside = False

    def read(self, at: int, piece: Piece) -> None:
        """Take in one piece."""
        early = self.verb.start <= at < self.verb.at
        if piece.number:
            self.numbers.append(replace(piece.number, early=True) if early else piece.number)
        elif piece.day:
            self.days.append(replace(piece.day, early=True) if early else piece.day)
        elif piece.low in _BREAKS:
            self.rejecting = self.aside = False
        elif piece.low in _MARKS:
            return
        elif piece.low == "user" and at < 2 and self.verb.at == at + 1 and not self.words:
            self.person = "i"  # notes that a model takes say "User likes tea" of who said "I like tea"
        elif len(piece.raw) == 1 and piece.raw.isupper() and piece.raw != "I" and at:  # rev B, vitamin C
            self.words.append(Word(piece.raw, piece.raw, early=early, name=True))
        elif not (self._small(at, piece.low) if self.english else self._foreign(piece.low)):
            self._content(at, piece, early)

    def _small(self, at: int, low: str) -> bool:
        """Read a word for what it does; return whether it was no content."""
        if low not in _SMALL:
            return False
        before, following = self._low(at - 1), self._low(at + 1)
        if low == "actually" and at and before not in _BREAKS:
            return True  # "I actually went": no correction
        if low == "no" and at == 0 and following in _BREAKS:
            self.signals.add("changed")
        elif low in NEGATORS or low == "no-longer":
            self._deny(at, low)
        elif low == "instead-of":
            self.rejecting = True
        elif low == "used-to":
            self.signals |= set() if before in BE else {"over"}
        elif low == "but":
            self.aside, self.rejecting = bool(self.words) and not self.rejecting, False
        elif low in SIGNALS and (said := signal(low, following, sided(before, at, self.verb.at))):
            self.signals.add(said[0])
            self.odd, self.denying = self.odd ^ (low == "not-yet"), self.denying or low == "not-yet"
            return said[1]
        elif low not in STOP or (low == "need" and at == self.verb.at):
            return False
        else:
            self._stop(at, low)
        return True

    def _stop(self, at: int, low: str) -> None:
        if low in _ASIDE:
            self.aside = bool(self.words)
        elif low in PERSONS and not self.words and not self.person and at <= max(self.verb.at, 0):
            self.person = PERSONS[low]
        self.order = low if low in _ORDERED else self.order
        self.passive |= low == "by"

    def _deny(self, at: int, low: str) -> None:
        if low == "no-longer" or any(piece.low == "anymore" for piece in self.pieces):
            self.signals |= {"over", "changed"}
        if low == "not" and (self._answered(at) or (at and self._low(at - 1) in (",", ";", "(", "and"))):
            self.rejecting = True
            return
        self.odd, self.denying = not self.odd, True

    def _answered(self, at: int) -> bool:
        """Return whether a "but" follows in the same sentence."""
        for piece in self.pieces[at + 1 : at + CONTRAST]:
            if piece.low in ("but", ".", ";"):
                return piece.low == "but"
        return False

    def _foreign(self, low: str) -> bool:
        """Read a word of another language for what it does; return whether it was no content."""
        if low in tongues.denials(self.tongue):
            if low not in tongues.SILENT:
                self.odd, self.denying = True, True  # "non ... mai": two words, one denial
            return True
        if low in tongues.changes(self.tongue):
            self.signals.add("changed")
            if low == "plus" and any(piece.low in tongues.SILENT for piece in self.pieces):
                self.odd = True
            return True
        return low in tongues.fillers(self.tongue)

    def _content(self, at: int, piece: Piece, early: bool) -> None:
        low, raw, before = piece.low, piece.raw, self._low(at - 1)
        found = setting(low, raw, before, at, self.verb.at) if self.english else None
        if found:
            self.settings.setdefault(found[0], set()).add(found[1])
            return
        key, opposite = level(low, self.tongue)
        name = (raw[:1].isupper() and at > 0 and before not in _BREAKS) or (
            not raw[1:].islower() and raw[1:].lower() != raw[1:]
        )
        if self.order:
            self.sides.setdefault(self.order, key)
            self.order = ""
        denied = (self.denying ^ opposite) or self.rejecting
        behind = self._low(at - 2) if before in DETERMINERS else before
        aside = self.aside or self.rejecting
        self.words.append(
            Word(key, raw, denied, opposite and not self.rejecting, early, name, aside, behind in _PLACING)
        )
        self.denying = False

    def _low(self, at: int) -> str:
        return self.pieces[at].low if 0 <= at < len(self.pieces) else ""

    def claim(self, rest: str) -> Claim:
        """Return what was read."""
        priced = any(number.unit in _CURRENCIES for number in self.numbers)
        return Claim(
            words=tuple(word for word in self.words if not (priced and word.key in _PRICE)),
            numbers=tuple(self.numbers),
            days=tuple(self.days),
            settings={kind: frozenset(names) for kind, names in self.settings.items()},
            odd=self.odd,
            signals=frozenset(self.signals),
            person="" if any(word.early for word in self.words) else self.person,
            verb=self.verb,
            sides=self.sides,
            passive=self.passive,
            definite=self.verb.at >= 0 and self._low(self.verb.at + 1) in _DEFINITE,
            rest=rest,
        )
