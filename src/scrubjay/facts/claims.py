"""Claims: parse a statement into words, numbers, dates, denials and signals of time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from scrubjay.facts import lexicon
from scrubjay.facts.lexicon import (
    AUXILIARY,
    BE,
    CHANGE,
    DETERMINERS,
    FUTURE,
    IRREGULAR,
    NEGATORS,
    PAST,
    PERSONS,
    SIGNALS,
    STOP,
    VERBS,
    circumstance_of,
    is_side,
    meaning_of,
    time_signal,
)
from scrubjay.facts.quantities import DateValue, Quantity, StatementPiece, parse_pieces
from scrubjay.facts.vocabulary import load_words
from scrubjay.text.normalize import word_set
from scrubjay.text.tokenizer import stem_word

_SUBJECTS: Final = word_set("i we you they he she it who that which there")
_POSSESSIVE: Final = DETERMINERS | {"'s", "of", "in", "on", "at", "with", "from"}
MAX_ED_ROOT: Final = 4
"""Longest word whose -ed is no ending: red, need."""
ING_NOUNS: Final = load_words("ing_nouns")
OPENERS: Final = load_words("openers")
_PARTING: Final = frozenset((":", "=", "->", "→", "will", "'ll"))
_WAS: Final = frozenset(("was", "were", "did", "had"))
_STATES: Final = frozenset(("have", "get", "live", "know", "own", "like", "be"))
"""Verbs whose perfect tense is no past: "I have always had", "we have lived"."""
_HAS: Final = frozenset(("has", "have", "had", "'ve"))


class Verb(NamedTuple):
    """Place of a verb (-1: none), its stem ("be" for a colon), its tense's signal or "", start of its subject."""

    at: int
    key: str
    tense: str
    start: int = 0


def find_verb(pieces: list[StatementPiece]) -> Verb:
    """Return the verb that separates subject and predicate.

    With an auxiliary it is the verb behind it. A form without an ending counts only where a noun cannot stand: behind
    "I", behind a plural, after "to", or at the start.
    """
    start = _opening(pieces)
    first = next((at for at in range(start, len(pieces)) if _parts(pieces, at)), -1)
    if first < 0:
        first = next((at for at in range(max(start, 1), len(pieces)) if _looks_finite(pieces, at)), -1)
    if first < 0:
        return Verb(-1, "", "")
    start = (
        max((at + 1 for at in range(start, first) if pieces[at].low == ","), default=start) if start else 0
    )
    low = pieces[first].low
    if low in (":", "=", "->", "→"):
        return Verb(first, "be", "noted", start)
    tense = "past" if low in _WAS or low in PAST or _ended(low) else ""
    if low not in BE and low not in AUXILIARY and low not in FUTURE:
        return Verb(first, meaning_of(low, "en").key, tense, start)
    main = _main(pieces, first)
    if main < 0:
        return Verb(first, "be" if low in BE else "have" if low in _HAS else low, tense, start)
    been = first + 1 < len(pieces) and pieces[first + 1].low == "been"  # "the contract's been signed"
    if (low in _HAS or (low == "'s" and been)) and _participle(pieces[main].low) and low not in _WAS:
        tense = "" if meaning_of(pieces[main].low, "en").key in _STATES else "past"
    if low in BE and low not in _WAS and pieces[main].low.endswith("ing"):
        tense = "ongoing"
    return Verb(main, meaning_of(pieces[main].low, "en").key, tense, start)


def _opening(pieces: list[StatementPiece]) -> int:
    if not pieces or pieces[0].low not in OPENERS:
        return 0
    return next((at + 1 for at, piece in enumerate(pieces[:-1]) if piece.low == ","), 0)


def _parts(pieces: list[StatementPiece], at: int) -> bool:
    low = pieces[at].low
    if not low or not _may_part(low):
        return False
    if low in (":", "=", "->", "→"):
        return at > 0
    if low in BE or low in ("will", "'ll") or low in AUXILIARY:
        return (not (low == "'s" and not _copula(pieces, at)) and low != "may") or pieces[at].raw == "may"
    return _finite(pieces, at)


@lru_cache(10_000)
def _may_part(low: str) -> bool:
    if low in _PARTING or low in BE or low in AUXILIARY:
        return True
    return stem_word(IRREGULAR.get(low, low), "en") in VERBS or (low in CHANGE and low.endswith("ed"))


def _copula(pieces: list[StatementPiece], at: int) -> bool:
    following = pieces[at + 1].low if at + 1 < len(pieces) else ""
    return (
        (at > 0 and pieces[at - 1].low in _SUBJECTS)
        or following == "been"
        or following in DETERMINERS
        or following in NEGATORS
        or following.endswith("ing")
    )


def _finite(pieces: list[StatementPiece], at: int) -> bool:
    low, before = pieces[at].low, pieces[at - 1].low if at else ""
    if low in CHANGE and low.endswith("ed"):
        return at > 0
    base = stem_word(IRREGULAR.get(low, low), "en")
    if base not in VERBS or before in _POSSESSIVE or low.endswith("ing") or low in _SUBJECTS:
        return False
    if low in PAST or _ended(low):
        return at > 0
    if low.endswith("s") and not low.endswith("ss"):
        follows = pieces[at + 1].low if at + 1 < len(pieces) else ""
        return at > 0 and not (
            follows and stem_word(follows, "en") in VERBS and not follows.endswith(("s", "ing", "ed"))
        )
    if at == 0 and (low == "last" or _heads(pieces)):
        return False
    return (
        at == 0
        or before in _SUBJECTS
        or before in PERSONS
        or (before.endswith("s") and not before.endswith("ss"))
        or before in NEGATORS
        or before in ("always", "please", "and", ",")
    )


def _heads(pieces: list[StatementPiece]) -> bool:
    verb = 2 if len(pieces) > 2 and pieces[1].number else 1
    low = pieces[verb].low if verb < len(pieces) else ""
    return low in BE or low in AUXILIARY or (verb == 2 and _ended(low))


def _looks_finite(pieces: list[StatementPiece], at: int) -> bool:
    low, before = pieces[at].low, pieces[at - 1].low
    if not low.isalpha() or len(low) <= MAX_ED_ROOT or before in _POSSESSIVE or pieces[at].raw[:1].isupper():
        return before in _SUBJECTS and low.isalpha() and before not in ("it", "that", "which", "who")
    return _ended(low) or (
        low.endswith("s") and not low.endswith(("ss", "us", "is")) and at + 1 < len(pieces)
    )


def _main(pieces: list[StatementPiece], first: int) -> int:
    copula = pieces[first].low in BE or [piece.low for piece in pieces[first + 1 : first + 2]] == ["been"]
    for at in range(first + 1, min(first + 6, len(pieces))):
        low = pieces[at].low
        if not low or low in DETERMINERS:
            return -1
        base = stem_word(IRREGULAR.get(low, low), "en")
        if (
            (base in VERBS and not copula)
            or (copula and _participle(low))
            or (low.endswith("ing") and low not in ING_NOUNS)
        ):
            return at
    return -1


def _participle(low: str) -> bool:
    return _ended(low) or low in IRREGULAR or (low.startswith("re") and low[2:] in IRREGULAR)


def _ended(low: str) -> bool:
    return low.endswith("ed") and len(low) > MAX_ED_ROOT and (low[-3] != "e" or low in ("agreed", "freed"))


STEM_CACHE: Final = 20_000
"""Words whose stems are remembered."""
NO_VERB: Final = Verb(-1, "", "")


class ContentWord(NamedTuple):
    """A content word.

    Attributes:
        key: The stem of what it means.
        denied: Whether a denial falls on it, or it is an opposite on which none does.
        opposite: Whether it means the opposite of its key.
        early: Whether it stands before the verb.
        aside: Whether it belongs to a reason, or to what is rejected.
        placed: Whether it follows a preposition.
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
        return _stem(self.raw)


@lru_cache(STEM_CACHE)
def _stem(raw: str) -> str:
    low = raw.lower()
    return stem_word(IRREGULAR.get(low, low), "en")


@dataclass(frozen=True, slots=True)
class Claim:
    """A parsed statement.

    Attributes:
        settings: Kinds of circumstance and their names: production, Linux, the left one.
        odd: Whether it denies an odd number of times.
        signals: Any of "changed", "over", "planned", "ongoing", "past", "noted" (a colon for a verb), "waited", "also".
        person: "i", "you" or "they"; "" where a thing or a name is the subject.
        sides: Ordering word ("than", "over") to the key of the word behind it.
        passive: Whether somebody is named by "by".
        definite: Whether its predicate begins with "the" or "my".
        rest: Text beyond the tokens that were read.
    """

    words: tuple[ContentWord, ...]
    numbers: tuple[Quantity, ...] = ()
    days: tuple[DateValue, ...] = ()
    settings: dict[str, frozenset[str]] = field(default_factory=dict)
    odd: bool = False
    signals: frozenset[str] = frozenset()
    person: str = ""
    verb: Verb = NO_VERB
    sides: dict[str, str] = field(default_factory=dict)
    passive: bool = False
    definite: bool = False
    rest: str = ""


CLAIM_CACHE: Final = 2_000
"""Claims kept: an old statement meets many new ones."""
CONTRAST_REACH: Final = 12
"""Words within which a "but" answers a "not": "not X but Y" denies nothing of Y."""

_BREAKS: Final = frozenset((".", "!", "?", ",", ";", "(", ")"))
_MARKS: Final = _BREAKS | {":", "=", "/", "->", "→", "'s"}
_ORDERED: Final = frozenset(("than", "over", "before", "after", "to", "from", "into"))
"""Words whose two sides cannot change places."""
_PLACING: Final = frozenset(("in", "on", "at", "by", "from", "to", "under", "near", "behind"))
"""Prepositions that say where, with what or by whom."""
_CURRENCIES: Final = frozenset(("usd", "eur", "gbp"))
_PRICE: Final = frozenset(("cost", "price"))
"""Words that money says by itself."""
_SMALL: Final = NEGATORS | SIGNALS | STOP | {"no-longer", "instead-of", "used-to", "but"}
_DEFINITE: Final = frozenset(("the", "my", "our", "his", "her", "their", "your", "its"))
"""Determiners of a unique thing."""


@lru_cache(CLAIM_CACHE)
def parse_claim(text: str, language: str = "en") -> Claim:
    read, rest = parse_pieces(text, language)
    reader = _ClaimParser(read, language)
    for at, piece in enumerate(read):
        reader.read(at, piece)
    return reader.claim(rest)


class _ClaimParser:
    def __init__(self, read: list[StatementPiece], language: str) -> None:
        self.pieces, self.language, self.english = read, language, language == "en"
        self.verb = find_verb(read) if self.english else NO_VERB
        self.words: list[ContentWord] = []
        self.numbers: list[Quantity] = []
        self.days: list[DateValue] = []
        self.settings: dict[str, set[str]] = {}
        self.signals: set[str] = {self.verb.tense} if self.verb.tense else set()
        self.sides: dict[str, str] = {}
        self.person = self.order = ""
        self.odd = self.denying = self.rejecting = self.passive = self.aside = False

    def read(self, at: int, piece: StatementPiece) -> None:
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
            self.words.append(ContentWord(piece.raw, piece.raw, early=early, name=True))
        elif not (self._small(at, piece.low) if self.english else self._foreign(piece.low)):
            self._content(at, piece, early)

    def _small(self, at: int, low: str) -> bool:
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
        elif low in SIGNALS and (signal := time_signal(low, following, is_side(before, at, self.verb.at))):
            self.signals.add(signal[0])
            self.odd, self.denying = self.odd ^ (low == "not-yet"), self.denying or low == "not-yet"
            return signal[1]
        elif low not in STOP or (low == "need" and at == self.verb.at):
            return False
        else:
            self._stop(at, low)
        return True

    def _stop(self, at: int, low: str) -> None:
        if low in PERSONS and not self.words and not self.person and at <= max(self.verb.at, 0):
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
        for piece in self.pieces[at + 1 : at + CONTRAST_REACH]:
            if piece.low in ("but", ".", ";"):
                return piece.low == "but"
        return False

    def _foreign(self, low: str) -> bool:
        if low in lexicon.negation_words(self.language):
            if low not in lexicon.UNCOUNTED_HALVES:
                self.odd, self.denying = True, True  # "non ... mai": two words, one denial
            return True
        if low in lexicon.change_words(self.language):
            self.signals.add("changed")
            if low == "plus" and any(piece.low in lexicon.UNCOUNTED_HALVES for piece in self.pieces):
                self.odd = True
            return True
        return low in lexicon.neutral_words(self.language)

    def _content(self, at: int, piece: StatementPiece, early: bool) -> None:
        low, raw, before = piece.low, piece.raw, self._low(at - 1)
        found = circumstance_of(low, raw, before, at, self.verb.at) if self.english else None
        if found:
            self.settings.setdefault(found[0], set()).add(found[1])
            return
        key, opposite = meaning_of(low, self.language)
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
            ContentWord(
                key, raw, denied, opposite and not self.rejecting, early, name, aside, behind in _PLACING
            )
        )
        self.denying = False

    def _low(self, at: int) -> str:
        return self.pieces[at].low if 0 <= at < len(self.pieces) else ""

    def claim(self, rest: str) -> Claim:
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
