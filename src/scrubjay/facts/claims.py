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
    STOP_WORDS,
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

_SUBJECT_PRONOUNS: Final = word_set("i we you they he she it who that which there")
_POSSESSIVE: Final = DETERMINERS | {"'s", "of", "in", "on", "at", "with", "from"}
MAX_ED_ROOT: Final = 4
"""Longest word whose -ed is part of the stem: red, need."""
ING_NOUNS: Final = load_words("ing_nouns")
OPENERS: Final = load_words("openers")
_SEPARATORS: Final = frozenset((":", "=", "->", "→", "will", "'ll"))
_PAST_AUXILIARIES: Final = frozenset(("was", "were", "did", "had"))
_STATE_VERBS: Final = frozenset(("have", "get", "live", "know", "own", "like", "be"))
"""Verbs whose perfect is no past: "I have always had", "we have lived"."""
_HAVE_FORMS: Final = frozenset(("has", "have", "had", "'ve"))


class Verb(NamedTuple):
    """Place of a verb (-1: none), its stem ("be" for a colon), its tense's signal or "", start of its subject."""

    at: int
    key: str
    tense: str
    start: int = 0


def find_verb(pieces: list[StatementPiece]) -> Verb:
    """Return the verb that separates subject and predicate.

    After an auxiliary it is the main verb. A form without an ending counts only where no noun can be: after "I",
    a plural or "to", or at the start.
    """
    start = _clause_start(pieces)
    first = next((at for at in range(start, len(pieces)) if _separates_predicate(pieces, at)), -1)
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
    tense = "past" if low in _PAST_AUXILIARIES or low in PAST or _has_ed_ending(low) else ""
    if low not in BE and low not in AUXILIARY and low not in FUTURE:
        return Verb(first, meaning_of(low, "en").key, tense, start)
    main = _main_verb(pieces, first)
    if main < 0:
        return Verb(first, "be" if low in BE else "have" if low in _HAVE_FORMS else low, tense, start)
    been = first + 1 < len(pieces) and pieces[first + 1].low == "been"  # "the contract's been signed"
    verb, is_past = pieces[main].low, low in _PAST_AUXILIARIES
    key = meaning_of(verb, "en").key
    if (low in _HAVE_FORMS or (low == "'s" and been)) and _is_participle(verb) and not is_past:
        tense = "" if key in _STATE_VERBS else "past"
    if low in BE and not is_past and verb.endswith("ing"):
        tense = "ongoing"
    return Verb(main, key, tense, start)


def _clause_start(pieces: list[StatementPiece]) -> int:
    if not pieces or pieces[0].low not in OPENERS:
        return 0
    return next((at + 1 for at, piece in enumerate(pieces[:-1]) if piece.low == ","), 0)


def _separates_predicate(pieces: list[StatementPiece], at: int) -> bool:
    low = pieces[at].low
    if not low or not _may_separate(low):
        return False
    if low in (":", "=", "->", "→"):
        return at > 0
    if low in BE or low in ("will", "'ll") or low in AUXILIARY:
        return (not (low == "'s" and not _is_copula(pieces, at)) and low != "may") or pieces[at].raw == "may"
    return _is_finite(pieces, at)


@lru_cache(10_000)
def _may_separate(low: str) -> bool:
    if low in _SEPARATORS or low in BE or low in AUXILIARY:
        return True
    return stem_word(IRREGULAR.get(low, low), "en") in VERBS or (low in CHANGE and low.endswith("ed"))


def _is_copula(pieces: list[StatementPiece], at: int) -> bool:
    following = pieces[at + 1].low if at + 1 < len(pieces) else ""
    return (
        (at > 0 and pieces[at - 1].low in _SUBJECT_PRONOUNS)
        or following == "been"
        or following in DETERMINERS
        or following in NEGATORS
        or following.endswith("ing")
    )


def _is_finite(pieces: list[StatementPiece], at: int) -> bool:
    low, before = pieces[at].low, pieces[at - 1].low if at else ""
    if low in CHANGE and low.endswith("ed"):
        return at > 0
    base = stem_word(IRREGULAR.get(low, low), "en")
    if base not in VERBS or before in _POSSESSIVE or low.endswith("ing") or low in _SUBJECT_PRONOUNS:
        return False
    if low in PAST or _has_ed_ending(low):
        return at > 0
    if low.endswith("s") and not low.endswith("ss"):
        follows = pieces[at + 1].low if at + 1 < len(pieces) else ""
        return at > 0 and not (
            follows and stem_word(follows, "en") in VERBS and not follows.endswith(("s", "ing", "ed"))
        )
    if at == 0 and (low == "last" or _opens_with_noun(pieces)):
        return False
    return (
        at == 0
        or before in _SUBJECT_PRONOUNS
        or before in PERSONS
        or (before.endswith("s") and not before.endswith("ss"))
        or before in NEGATORS
        or before in ("always", "please", "and", ",")
    )


def _opens_with_noun(pieces: list[StatementPiece]) -> bool:
    verb = 2 if len(pieces) > 2 and pieces[1].number else 1
    low = pieces[verb].low if verb < len(pieces) else ""
    return low in BE or low in AUXILIARY or (verb == 2 and _has_ed_ending(low))


def _looks_finite(pieces: list[StatementPiece], at: int) -> bool:
    low, before = pieces[at].low, pieces[at - 1].low
    if not low.isalpha() or len(low) <= MAX_ED_ROOT or before in _POSSESSIVE or pieces[at].raw[:1].isupper():
        return before in _SUBJECT_PRONOUNS and low.isalpha() and before not in ("it", "that", "which", "who")
    return _has_ed_ending(low) or (
        low.endswith("s") and not low.endswith(("ss", "us", "is")) and at + 1 < len(pieces)
    )


def _main_verb(pieces: list[StatementPiece], first: int) -> int:
    copula = pieces[first].low in BE or [piece.low for piece in pieces[first + 1 : first + 2]] == ["been"]
    for at in range(first + 1, min(first + 6, len(pieces))):
        low = pieces[at].low
        if not low or low in DETERMINERS:
            return -1
        base = stem_word(IRREGULAR.get(low, low), "en")
        if (
            (base in VERBS and not copula)
            or (copula and _is_participle(low))
            or (low.endswith("ing") and low not in ING_NOUNS)
        ):
            return at
    return -1


def _is_participle(low: str) -> bool:
    return _has_ed_ending(low) or low in IRREGULAR or (low.startswith("re") and low[2:] in IRREGULAR)


def _has_ed_ending(low: str) -> bool:
    return low.endswith("ed") and len(low) > MAX_ED_ROOT and (low[-3] != "e" or low in ("agreed", "freed"))


STEM_CACHE: Final = 20_000
"""Words whose stems are cached."""
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
        denies: Whether it denies an odd number of times.
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
    denies: bool = False
    signals: frozenset[str] = frozenset()
    person: str = ""
    verb: Verb = NO_VERB
    sides: dict[str, str] = field(default_factory=dict)
    passive: bool = False
    definite: bool = False
    rest: str = ""


CLAIM_CACHE: Final = 2_000
"""Cached claims: an old statement meets many new ones."""
CONTRAST_REACH: Final = 12
"""Words within which a "but" answers a "not": "not X but Y" denies nothing of Y."""

_BREAKS: Final = frozenset((".", "!", "?", ",", ";", "(", ")"))
_MARKS: Final = _BREAKS | {":", "=", "/", "->", "→", "'s"}
_ORDER_WORDS: Final = frozenset(("than", "over", "before", "after", "to", "from", "into"))
"""Words whose two sides cannot change places."""
_LOCATIVES: Final = frozenset(("in", "on", "at", "by", "from", "to", "under", "near", "behind"))
"""Prepositions that say where, with what or by whom."""
_CURRENCIES: Final = frozenset(("usd", "eur", "gbp"))
_PRICE_WORDS: Final = frozenset(("cost", "price"))
"""Words that an amount of money implies."""
_FUNCTION_WORDS: Final = NEGATORS | SIGNALS | STOP_WORDS | {"no-longer", "instead-of", "used-to", "but"}
_DEFINITE: Final = frozenset(("the", "my", "our", "his", "her", "their", "your", "its"))
"""Determiners of a unique thing."""


@lru_cache(CLAIM_CACHE)
def parse_claim(text: str, language: str = "en") -> Claim:
    pieces, rest = parse_pieces(text, language)
    parser = _ClaimParser(pieces, language)
    for at, piece in enumerate(pieces):
        parser.read(at, piece)
    return parser.claim(rest)


class _ClaimParser:
    def __init__(self, pieces: list[StatementPiece], language: str) -> None:
        self.pieces, self.language, self.english = pieces, language, language == "en"
        self.verb = find_verb(pieces) if self.english else NO_VERB
        self.words: list[ContentWord] = []
        self.numbers: list[Quantity] = []
        self.days: list[DateValue] = []
        self.settings: dict[str, set[str]] = {}
        self.signals: set[str] = {self.verb.tense} if self.verb.tense else set()
        self.sides: dict[str, str] = {}
        self.person = self.order = ""
        self.denies = self.denying = self.rejecting = self.passive = self.aside = False

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
        elif not (self._read_signal(at, piece.low) if self.english else self._read_foreign(piece.low)):
            self._read_content_word(at, piece, early)

    def _read_signal(self, at: int, low: str) -> bool:
        if low not in _FUNCTION_WORDS:
            return False
        before, following = self._word_at(at - 1), self._word_at(at + 1)
        if low == "actually" and at and before not in _BREAKS:
            return True  # "I actually went": no correction
        if low == "no" and at == 0 and following in _BREAKS:
            self.signals.add("changed")
        elif low in NEGATORS or low == "no-longer":
            self._read_denial(at, low)
        elif low == "instead-of":
            self.rejecting = True
        elif low == "used-to":
            self.signals |= set() if before in BE else {"over"}
        elif low == "but":
            self.aside, self.rejecting = bool(self.words) and not self.rejecting, False
        elif low in SIGNALS and (signal := time_signal(low, following, is_side(before, at, self.verb.at))):
            self.signals.add(signal[0])
            self.denies, self.denying = self.denies ^ (low == "not-yet"), self.denying or low == "not-yet"
            return signal[1]
        elif low not in STOP_WORDS or (low == "need" and at == self.verb.at):
            return False
        else:
            self._read_stop_word(at, low)
        return True

    def _read_stop_word(self, at: int, low: str) -> None:
        if low in PERSONS and not self.words and not self.person and at <= max(self.verb.at, 0):
            self.person = PERSONS[low]
        self.order = low if low in _ORDER_WORDS else self.order
        self.passive |= low == "by"

    def _read_denial(self, at: int, low: str) -> None:
        if low == "no-longer" or any(piece.low == "anymore" for piece in self.pieces):
            self.signals |= {"over", "changed"}
        if low == "not" and (self._has_but(at) or (at and self._word_at(at - 1) in (",", ";", "(", "and"))):
            self.rejecting = True
            return
        self.denies, self.denying = not self.denies, True

    def _has_but(self, at: int) -> bool:
        for piece in self.pieces[at + 1 : at + CONTRAST_REACH]:
            if piece.low in ("but", ".", ";"):
                return piece.low == "but"
        return False

    def _read_foreign(self, low: str) -> bool:
        if low in lexicon.negation_words(self.language):
            if low not in lexicon.UNCOUNTED_HALVES:
                self.denies, self.denying = True, True  # "non ... mai": two words, one denial
            return True
        if low in lexicon.change_words(self.language):
            self.signals.add("changed")
            if low == "plus" and any(piece.low in lexicon.UNCOUNTED_HALVES for piece in self.pieces):
                self.denies = True
            return True
        return low in lexicon.neutral_words(self.language)

    def _read_content_word(self, at: int, piece: StatementPiece, early: bool) -> None:
        low, raw, before = piece.low, piece.raw, self._word_at(at - 1)
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
        behind = self._word_at(at - 2) if before in DETERMINERS else before
        aside = self.aside or self.rejecting
        self.words.append(
            ContentWord(
                key,
                raw,
                denied,
                opposite and not self.rejecting,
                early,
                name,
                aside,
                behind in _LOCATIVES,
            )
        )
        self.denying = False

    def _word_at(self, at: int) -> str:
        return self.pieces[at].low if 0 <= at < len(self.pieces) else ""

    def claim(self, rest: str) -> Claim:
        priced = any(number.unit in _CURRENCIES for number in self.numbers)
        return Claim(
            words=tuple(word for word in self.words if not (priced and word.key in _PRICE_WORDS)),
            numbers=tuple(self.numbers),
            days=tuple(self.days),
            settings={kind: frozenset(names) for kind, names in self.settings.items()},
            denies=self.denies,
            signals=frozenset(self.signals),
            person="" if any(word.early for word in self.words) else self.person,
            verb=self.verb,
            sides=self.sides,
            passive=self.passive,
            definite=self.verb.at >= 0 and self._word_at(self.verb.at + 1) in _DEFINITE,
            rest=rest,
        )
