"""Lexicon: synonyms, opposites, negation and function words for comparing facts, from the tables in ``data/``.

A line of ``meanings.txt`` lists words of one meaning, and behind a bar their opposites; a word is read as the first of
its line. ``phrases.txt`` makes one word of several. Finer rules exist for English only; other languages are compared
word by word, with denials, numbers and dates.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

from scrubjay.facts.vocabulary import load_words, table_lines
from scrubjay.text.language import function_words
from scrubjay.text.normalize import strip_accents, word_set
from scrubjay.text.tokenizer import stem_word

DETERMINERS: Final = load_words("determiners")
PERSONS: Final = {
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours"), "i"),
    **dict.fromkeys(("you", "your", "yours"), "you"),
    **dict.fromkeys(("he", "him", "his", "she", "her", "hers", "they", "them", "their"), "they"),
}
"""Pronoun -> grammatical person; "I" and "we" are one."""
BE: Final = load_words("be")
AUXILIARY: Final = load_words("lexicon_auxiliary")
STOP_WORDS: Final = (DETERMINERS | BE | AUXILIARY | frozenset(PERSONS) | load_words("stop")) - word_set(
    "no like-to right? please,? but when while because need"
)
"""Words that a statement may gain or lose and say the same."""

NEGATORS: Final = load_words("negators")

CHANGE: Final = load_words("change")

STEPS: Final = word_set("fell rose grew dropped went cut lost pushed turned became climbed fallen")
"""Words of change only with "from", "to", "by", "into" or "back": a price fell to 5, a vase fell."""

MOVES: Final = load_words("moves")

ENDS: Final = load_words("ends")

FUTURE: Final = load_words("future")
PLANS: Final = load_words("plans")

ALSO: Final = word_set("also too another additionally besides as-well additional")

IRREGULAR: Final = {
    form: verb for verb, *forms in map(str.split, table_lines("irregular.txt")) for form in forms
}
"""Form of an irregular verb -> the verb."""
PLURALS: Final = {
    "goes": "go",
    "children": "child",
    "men": "man",
    "women": "woman",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "lives": "live",
    "wives": "wife",
    "knives": "knife",
}
"""Plurals that no stemmer knows."""
PAST: Final = load_words("past")

VERBS: Final = load_words("verbs")

ADDITIVE: Final = load_words("additive")

STATIC: Final = load_words("static")

ONCE: Final = load_words("once")

SEVERAL_KIN: Final = load_words("several_kin")

LIGHT: Final = load_words("light")

SINGLE_OBJECT: Final = STATIC | load_words("single")
"""Stems of verbs with one object at a time: who works at one place has left the other."""

PURPOSE_VERBS: Final = word_set("use run lead sign hire wear vote book")
"""Those of ``SINGLE_OBJECT`` with one object for each purpose: one tool for mail, another for accounts."""

WEAK_VERBS: Final = STATIC | load_words("weak")
"""Stems of verbs that may replace each other where all else is the same: a bus runs, or comes, every hour."""

WEIGHTLESS: Final = load_words("weightless")


ARTICLES: Final = word_set("the a an der die das dem den ein eine le la les un une el los las my our")
"""Articles of several languages, with the possessives of a speaker, as they are written."""
OWNERS: Final = word_set("your his her their its einem einer mein meine unser unsere")
"""Other words in the place of an article."""
ADVERBS: Final = load_words("lexicon_adverbs")
TITLES: Final = word_set("dr mr mrs ms prof herr frau mme")


PhraseTable = dict[str, list[tuple[tuple[str, ...], str]]]


@cache
def word_meanings() -> dict[str, tuple[str, bool]]:
    """Return each word's base word, and whether it means the opposite of it."""
    table: dict[str, tuple[str, bool]] = {}
    for line in table_lines("meanings.txt"):
        same, _, opposite = line.partition("|")
        first = same.split()[0]
        for word in same.split():
            table.setdefault(word, (first, False))
        for word in opposite.split():
            table.setdefault(word, (first, True))
    return table


@cache
def phrase_openings() -> PhraseTable:
    """Return the first word of each phrase with its continuations, longest first, and the word it becomes."""
    table: PhraseTable = {}
    for line in table_lines("phrases.txt"):
        phrase, _, word = line.partition(" = ")
        first, *rest = phrase.split()
        table.setdefault(first, []).append((tuple(rest), word))
    return {first: sorted(rest, key=lambda one: -len(one[0])) for first, rest in table.items()}


_SETTINGS: Final = (
    ("stage", "production prod", "staging stage preprod", "development dev", "test testing", "qa", "canary"),
    ("stage", "preview", "sandbox", "local localhost"),
    ("system", "linux ubuntu debian fedora", "macos mac osx", "windows", "android", "ios", "freebsd"),
    ("side", "left", "right", "front", "back rear", "upper", "lower"),
    ("side", "upstairs", "downstairs", "inner", "outer"),
    ("side", "top", "bottom", "north northern", "south southern", "east eastern", "west western"),
    ("daypart", "morning mornings", "afternoon afternoons", "evening evenings", "night nights"),
    ("daypart", "weekday weekdays", "weekend weekends"),
    ("season", "summer summers", "winter winters", "spring", "autumn"),
    ("end", "frontend front-end", "backend back-end"),
    ("way", "read reads", "write writes", "input", "output", "incoming inbound", "outgoing outbound"),
    ("way", "minimum min", "maximum max"),
)
SETTINGS: Final = {
    word: (kind, said.split()[0]) for kind, *names in _SETTINGS for said in names for word in said.split()
}
"""Word -> the kind of circumstance and its name in one spelling: elsewhere it is another thing."""

_KINDS: Final = (
    "red blue green yellow orang purpl pink brown black white grey beig turquois teal navi silver gold",
    "small medium larg xl",
    "walk drive cycl bike bus tram train metro subway car ferri scooter",
    "daili weekli month year hour night quarter fortnight morn even weekday weekend",
    "alway usual often sometim",
    "vegetarian vegan pescatarian omnivor",
    "singl engag marri divorc widow",
    "beginn intermedi advanc expert",
    "pend draft approv accept merg close open ship paid",
)
KINDS: Final = {word: at for at, words in enumerate(_KINDS) for word in words.split()}
"""Stem -> group of words that exclude each other: a red thing is not blue."""


UNCOUNTED_HALVES: Final = frozenset(("ne", "n"))
"""The halves of French denials that are not counted, since the other half is."""
LANGUAGE_CACHE: Final = 2_000
"""Texts whose language is cached."""
_LETTERS = re.compile(r"[^\W\d_]+")
MIN_FOREIGN_WORDS: Final = 1
"""Function words found only in a foreign language that make a text count as it."""
SHARED_WORD_WEIGHT: Final = 0.5
"""Weight, for another language, of a word that English has too."""


@cache
def _language_table() -> dict[tuple[str, str], list[str]]:
    split = (line.split() for line in table_lines("tongues.txt"))
    return {(code, part): words for code, part, *words in split}


@cache
def negation_words(language: str) -> frozenset[str]:
    return frozenset(_language_table()[language, "denial"])


@cache
def change_words(language: str) -> frozenset[str]:
    return frozenset(_language_table()[language, "change"])


@cache
def opposite_words(language: str) -> dict[str, tuple[str, bool]]:
    """Return each word's base word, and whether it means the opposite of it."""
    pairs = (pair.split("/") for pair in _language_table()[language, "opposite"])
    return {word: (first, word != first) for first, second in pairs for word in (first, second)}


@cache
def neutral_words(language: str) -> frozenset[str]:
    """Return the function words of a language that neither deny nor tell of change."""
    own = frozenset(_language_table()[language, "filler"])
    return (function_words(language) | own) - negation_words(language) - change_words(language)


@cache
def _codes() -> tuple[str, ...]:
    return "en", *dict.fromkeys(code for code, _ in _language_table())


@cache
def _languages_of_word() -> dict[str, tuple[str, ...]]:
    languages: dict[str, list[str]] = {word: ["en"] for word in function_words("en") | STOP_WORDS}
    for code in _codes()[1:]:
        for word in neutral_words(code) | negation_words(code) | change_words(code):
            languages.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in languages.items()}


def shared_language(old: str, new: str) -> str:
    """Return the language of two statements: English unless another has more evidence.

    >>> shared_language("Der Kurs ist am Montag.", "Der Kurs ist am Freitag.")
    'de'
    """
    found = [one + other for one, other in zip(language_evidence(old), language_evidence(new), strict=True)]
    best = max(found)
    return _codes()[found.index(best)] if best >= MIN_FOREIGN_WORDS else "en"


@lru_cache(LANGUAGE_CACHE)
def language_evidence(text: str) -> tuple[float, ...]:
    scores = dict.fromkeys(_codes(), 0.0)
    languages_of_word = _languages_of_word()
    for word in _LETTERS.findall(text.lower()):
        languages = languages_of_word.get(word, ())
        for code in languages:
            scores[code] += SHARED_WORD_WEIGHT if code != "en" and languages[0] == "en" else 1
    return tuple(scores.values())


MEANING_CACHE: Final = 20_000
"""Words whose meaning is cached."""


class WordMeaning(NamedTuple):
    """The stem of a word's base word, and whether the word means the opposite of it."""

    key: str
    opposite: bool


@lru_cache(MEANING_CACHE)
def meaning_of(word: str, language: str) -> WordMeaning:
    """Return the meaning of a folded word.

    >>> meaning_of("forbidden", "en")
    WordMeaning(key='allow', opposite=True)
    """
    if language != "en":
        same, opposite = opposite_words(language).get(word, (word, False))
        return WordMeaning(strip_accents(stem_word(same, language)), opposite)
    base = IRREGULAR.get(word) or PLURALS.get(word, word)
    found = (
        word_meanings().get(word) or word_meanings().get(base) or _stem_meanings().get(stem_word(base, "en"))
    )
    same, opposite = found or (base, False)
    return WordMeaning(stem_word(same, "en"), opposite)


@cache
def _stem_meanings() -> dict[str, tuple[str, bool]]:
    table: dict[str, tuple[str, bool]] = {}
    for word, found in sorted(word_meanings().items(), key=lambda one: len(one[0])):
        table.setdefault(stem_word(word, "en"), found)
    return table


_TOWARDS: Final = frozenset(("to", "from", "by", "into", "back"))
_PLANNING: Final = frozenset(("to", "on", "of", "about"))
_CONTENT_SIGNALS: Final = frozenset(("cancelled", "canceled", "closed", "tomorrow", "additional", "reopened"))
"""Signals that are also content words and are compared like any other."""
_WAITING: Final = frozenset(("yet", "still", "not-yet"))

SIGNALS: Final = ALSO | CHANGE | ENDS | FUTURE | PLANS | _WAITING
"""Every word that may be a signal."""


def time_signal(low: str, following: str, sided: bool) -> tuple[str, bool] | None:
    """Return the signal of a word of ``SIGNALS``, and whether it says nothing else; None for an ordinary word.

    `sided`: "left" would be the side here, not the verb.
    """
    is_only_signal = low not in _CONTENT_SIGNALS
    if low in ENDS and not (low == "left" and sided) and not (low == "dropped" and following in _TOWARDS):
        return "over", is_only_signal
    if low in CHANGE and (low not in STEPS or following in _TOWARDS):
        return "changed", is_only_signal and meaning_of(low, "en").key not in MOVES
    if low in PLANS:
        return ("planned", True) if following in _PLANNING or following.endswith("ing") else None
    if low in FUTURE:
        return "planned", is_only_signal
    if low in _WAITING:
        return "waited", True
    return ("also", is_only_signal) if low in ALSO else None


_BEFORE_CIRCUMSTANCE: Final = DETERMINERS | {"in", "on", "to", "for", "from", "'s", ""}
_AMBIGUOUS_CIRCUMSTANCES: Final = frozenset(
    ("read", "reads", "write", "writes", "test", "local", "preview", "sandbox", "stage", "prod", "dev")
)
"""Names of circumstances that are ordinary words as often; they need a place where a circumstance stands."""
_BEFORE_SIDE: Final = DETERMINERS | {"'s"}


def is_side(before: str, at: int, verb_at: int) -> bool:
    """Return whether "left", "back" or "top" is a side here: behind "the", or first in the statement."""
    return before in _BEFORE_SIDE or (at == 0 and verb_at != 0)


def circumstance_of(low: str, raw: str, before: str, at: int, verb_at: int) -> tuple[str, str] | None:
    """Return the kind and the name of a circumstance, or None for an ordinary word."""
    found = SETTINGS.get(low)
    if found is None:
        return None
    kind = found[0]
    if kind == "side":
        return found if is_side(before, at, verb_at) else None
    if kind == "system":  # "is a Mac" is a thing one has
        return found if (raw[:1].isupper() or low != "windows") and before not in ("a", "an") else None
    if low in _AMBIGUOUS_CIRCUMSTANCES:
        return found if at != verb_at and before in _BEFORE_CIRCUMSTANCE else None
    return found


PREFIXES: Final = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis")
"""Prefixes that turn a word into its opposite."""


def is_prefix_opposite(one: str, other: str) -> bool:
    """Return whether a prefix makes one word the opposite of the other: "locked", "unlocked"."""
    short, long = sorted((one, other), key=len)
    return len(short) > 2 and long.endswith(short) and any(long == prefix + short for prefix in PREFIXES)


def is_abbreviation(word: str, parts: list[str]) -> bool:
    """Return whether a word joins others ("timezone", "time zone") or has their first letters ("ETA")."""
    low = word.lower().replace(".", "")
    return low == "".join(parts) or (word.isupper() and low == "".join(part[:1] for part in parts))
