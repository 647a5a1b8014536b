"""Supersession: does a later statement say that it replaces an earlier one?

This module decides that "newer wins"; `facts.conflicts` only marks. A superseded statement leaves default answers, so
when in doubt both stay. The later one replaces the earlier when it rejects the old value by name, announces a change,
corrects it in the same conversation, or gives another value of an attribute that has one (``RULES``). A qualifier of
its own on each side (lab 1, lab 4) makes them two things.

Words and patterns in ``data/`` are forms as they are written, in several languages; those of `facts.lexicon` are
English stems.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Final, NamedTuple

from scrubjay.facts.exclusive_values import (
    ANYBODY,
    PLACES,
    are_of_two_kinds,
    known_kind,
    may_be_later,
    replaces,
    resulting_state,
)
from scrubjay.facts.lexicon import ADDITIVE, ADVERBS, ARTICLES, SEVERAL_KIN, TITLES, shared_language
from scrubjay.facts.quantities import COUNTS, MONTH_NAMES, MONTHS, UNITS, WEEKDAYS
from scrubjay.facts.supersession_guards import are_of_one_kind, are_of_other_kinds, is_limited
from scrubjay.facts.vocabulary import load_groups, load_pattern, load_spellings, load_words
from scrubjay.text.language import function_words
from scrubjay.text.normalize import word_set
from scrubjay.text.tokenizer import UNKNOWN_RANK, stem_word, word_rank

ALSO: Final = load_pattern("also")
CHANGED: Final = load_pattern("changed")
CORRECTION: Final = load_pattern("correction")
LASTING: Final = load_pattern("lasting")
LIVE: Final = load_pattern("live")
MOVED: Final = load_pattern("moved")
NOW: Final = load_pattern("now")
PAST: Final = load_pattern("past")
REJECTION: Final = load_pattern("rejection")
RELATIVES: Final = load_pattern("relatives")
_ANNOUNCED: Final = load_pattern("announced")
_ATTRIBUTES: Final = load_pattern("attributes")
_CLAUSE: Final = load_pattern("clause")
_ENDING_REJECTION: Final = load_pattern("ending_rejection")
_FOR_A_WHILE: Final = load_pattern("for_a_while")
_LABEL: Final = load_pattern("label")
_LIMITED: Final = load_pattern("limited")
_ONLY_HOME: Final = load_pattern("only_home")
_OPEN: Final = load_pattern("open")
_PART: Final = load_pattern("part")
_REGULAR: Final = load_pattern("regular")
_REPLACED_VALUE: Final = load_pattern("replaced_value")
_REVOKED: Final = load_pattern("revoked")
_SINGLE_VALUED: Final = load_pattern("single_valued")
_SUBJECT: Final = load_pattern("subject")

_ADDITIVE_FORMS: Final = ADDITIVE | load_words("additive_forms")
"""Verbs that hold of many things at once: who likes tea may like coffee."""
_ALIKE_VERBS: Final = load_groups("alike_verbs")
_AROUND_END: Final = load_words("around_end")
_AT_TIMES: Final = load_words("at_times")
_AT_VERB: Final = load_words("at_verb")
_AWAY_WORDS: Final = word_set("from back desde without ohne sans sin")
_BEING: Final = word_set("is are am was i'm we're isn't aren't it's ist sind bin")
_COPULAS: Final = load_words("copulas")
_COUNTED_NOUNS: Final = load_words("counted")
_DIRECTIONS: Final = load_words("directions")
_HEADS: Final = load_words("heads")
_INTRANSITIVE: Final = frozenset(("moved", "went up", "went down", "gone up", "gone down"))
"""Verbs of change whose subject is what changed."""
_LIGHT_FORMS: Final = load_words("light_forms")
_MODAL: Final = load_words("modal")
_NEGATED: Final = load_words("negated")
_OURSELVES: Final = frozenset(("i", "we", "we're", "ich", "wir", "je", "nous", "nosotros"))
_PASSIVE: Final = load_words("passive")
_BEEN: Final = _PASSIVE - {"has", "have", "to", "it"}
_POSSESSIVES: Final = frozenset(("my", "our"))
_QUALIFIERS: Final = load_groups("qualifiers")
_STAGES: Final = _QUALIFIERS[0]
_RESPONSIBILITY_VERBS: Final = word_set("owns maintains manages leads runs handles reviews heads")
_SPEAKERS: Final = load_spellings("speakers")
_SPELLINGS: Final = load_spellings("spellings") | {
    word: f"{factor} s"
    for word, (dimension, factor) in UNITS.items()
    if dimension == "s" and factor < 604_800
}
_SUBORDINATE: Final = load_words("subordinate")
_UNREAL: Final = load_words("unreal")
_VALUE_LIMITS: Final = _SUBORDINATE | load_words("limits")
"""Words before "instead of" that say for whom or when the new value holds."""
_VALUE_VERBS: Final = load_words("value_verbs")

_DAY_NAMES: Final = frozenset(
    day for word in WEEKDAYS if word.endswith(("day", "tag", "woch")) for day in (word, f"{word}s")
)
_SCHEDULE_WORDS: Final = _DAY_NAMES | load_words("schedule_words")
_LANGUAGES: Final = frozenset(("en", "de", "fr", "es", "pt", "it", "zh"))
"""Languages that are distinguished; short English texts are often taken for others."""
_FUNCTION_WORDS: Final = (
    _SUBORDINATE.union(*map(function_words, _LANGUAGES)) - ARTICLES - word_set("einem einen einer eines des")
)
_INSTEAD: Final = frozenset(
    ("instead of", "statt", "anstatt", "anstelle", "en vez de", "en lugar de", "au lieu de", "au lieu du")
)

MARKER_REACH: Final = 4
"""Words after or before a marker that may name the rejected or changed value."""
NAME_RANK: Final = 5_000
"""Rank from which a word is a name rather than a description: "ghostty", not "slow"."""
FEW: Final = 3
"""Fewer words than this may be dropped when a thing is mentioned again."""
MAX_LIVE_OFFSET: Final = 12
"""Characters before the verb in a statement of where somebody lives."""
MAX_WORDS: Final = 30
"""Words of a statement; a longer one has no single value."""

_WORD: Final = re.compile(
    r"[:=](?=\s)|[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+(?:[.:,'’][^\W_\u4e00-\u9fff]+)*|%"
)
_NUMBER: Final = re.compile(r"(?=[.,:/e-]*+\d)[\d.,:/e-]++(?:[a-z%]{1,3})?", re.IGNORECASE)
_TIME: Final = re.compile(
    r"(?:[01]?[0-9]|2[0-4]):[0-5][05]|(?:[01][0-9]|2[0-4])\.[0-5][05]|(?:1?[0-9]|2[0-4])(?:am|pm)?"
)
_ADJECTIVE_ENDING: Final = re.compile(r"(?:ed|ing|able|ful|ous|less|ish|ly)$")
_AT_ALL: Final = re.compile(r"\b(?:at all|überhaupt|there (?:is|are|'s)|es gibt)\b")
_DIARY: Final = re.compile(r"\b(?:has|have|hat|habe|haben|got|a|tiene|avons)\b.{0,200} (?:at|on|um|à) \d")
"""Appointments, which do not exclude each other."""
_DONE_BY: Final = re.compile(r"\b(?:is|are) \w+ed (?:by|in|on|at|with|to)\b")
_LEAVING: Final = re.compile(r" from$|left$|^von$")
""""I moved away from Kiel" ends "I live in Kiel", not "I work in Kiel"."""
_OCCASIONS: Final = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b|{load_pattern('occasions').pattern}")
"""Things with a number each: dated things, invoices, runs."""
_ONE_OF_SEVERAL: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(SEVERAL_KIN))})(?: of [^,;:]{{1,30}}?)?(?: is|:)"
    r" [A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)?\.?$"
)
"""A statement that names one person of several: "Tom's colleague is Ana"."""
_PARTLY: Final = re.compile(r" to .{1,40}?(?:[,;]| (?:and|then|for|in|on|at)\b)")
"""More than the new value after "from the old value to"."""
_PLACED: Final = re.compile(r"\b(?:in|on|at|live\w*|host\w*|stor\w*|kept|um|auf|à|en)\b")
_SINCE: Final = re.compile(
    rf" (?:from now on$|since (?:the|{'|'.join(MONTH_NAMES)}|last|this)\b.*|as of .*)$"
)


def _is_schedule_word(word: str) -> bool:
    """Return whether a word names a regular time.

    >>> [_is_schedule_word(word) for word in ("mondays", "9:30", "9:31", "7pm", "07")]
    [True, True, False, True, False]
    """
    return word in _SCHEDULE_WORDS or _TIME.fullmatch(word) is not None


class _Subject(NamedTuple):
    """What stands before the verb: number of its words without articles, their keys, and its directions."""

    length: int
    keys: frozenset[str]
    directions: frozenset[str]


@dataclass(frozen=True)
class ParsedStatement:
    """The words of a statement: as written, folded, and the stem each is compared by ("" for function words).

    What is read of them is computed once, since a new statement is compared with many.
    """

    text: str
    raw: tuple[str, ...]
    words: tuple[str, ...]
    keys: tuple[str, ...]

    @cached_property
    def content(self) -> set[str]:
        return {key for key in self.keys if key and not _NUMBER.fullmatch(key)}

    @cached_property
    def names(self) -> list[str]:
        return [key for key, raw in zip(self.keys, self.raw, strict=True) if key and raw[:1].isupper()]

    @cached_property
    def amounts(self) -> dict[int, str]:
        """Places of the numbers, each with its unit or ""."""
        return {at: self.unit(at) for at, low in enumerate(self.words) if _NUMBER.fullmatch(low)}

    @cached_property
    def places(self) -> list[int]:
        """Places of the words but articles."""
        return [at for at, low in enumerate(self.words) if low not in ARTICLES]

    @cached_property
    def subject(self) -> _Subject:
        verbs = _COPULAS | _AT_VERB
        end = next((n for n, at in enumerate(self.places) if self.words[at] in verbs), 0)
        keys = {self.keys[at].removesuffix("in") for at in self.places[:end]} - {""}
        directions = _DIRECTIONS.intersection(self.words[at] for at in self.places[:end])
        return _Subject(end, frozenset(keys), directions)

    @cached_property
    def says_now(self) -> bool:
        return bool(NOW.search(self.text)) and not LASTING.search(self.text)

    @cached_property
    def moved(self) -> re.Match[str] | None:
        return MOVED.search(self.text)

    @cached_property
    def changes(self) -> tuple[re.Match[str], ...]:
        return tuple(CHANGED.finditer(self.text))

    @cached_property
    def rejections(self) -> tuple[re.Match[str], ...]:
        return tuple(REJECTION.finditer(self.text))

    @cached_property
    def unannounced(self) -> ParsedStatement:
        """The statement without the words that announce a change; itself where there are none."""
        left = _ANNOUNCED.sub("", self.text)
        lead = len(_WORD.findall(self.text)) - len(_WORD.findall(left)) if self.text.endswith(left) else 0
        raw, low = self.raw[lead:], self.words[lead:]
        last = _SINCE.search(" ".join(low))
        length = len(_WORD.findall(" ".join(low)[: last.start()])) if last else len(low)
        days = {at for at in range(len(low) - 1) if low[at : at + 2] == ("these", "days")}
        places = [
            at for at in range(min(length, len(low))) if low[at] not in ADVERBS and not {at, at - 1} & days
        ]
        if lead <= 0 and len(places) == len(low):
            return self
        chosen = tuple(low[at] for at in places)
        keys = tuple(self.keys[lead + at] for at in places)
        return ParsedStatement(" ".join(chosen), tuple(raw[at] for at in places), chosen, keys)

    def unit(self, at: int) -> str:
        word = self.words[at + 1] if at + 1 < len(self.words) else ""
        return "{1} {0}".format(*UNITS[word]) if word in UNITS else word if word in _COUNTED_NOUNS else ""

    def keys_after(self, verbs: frozenset[str]) -> set[str]:
        """Keys behind the first of these verbs, or behind the first word."""
        verb = next((at for at, low in enumerate(self.words) if low in verbs), 0)
        return {key for key in self.keys[verb + 1 :] if key}

    def words_before(self, offset: int) -> int:
        return len(_WORD.findall(self.text[:offset]))


def supersedes(old: str, new: str, *, together: bool = False) -> str:
    """Return why a later statement supersedes an earlier one, or "" where it may not; `together`: of one conversation.

    >>> supersedes("I live in Porto.", "I moved to Lisbon.")
    'it names another of the same kind'
    >>> supersedes("Room A seats 8.", "Room B seats 12."), supersedes("ann private 0", "ann private 1")
    ('', '')
    """
    pair = _StatementPair(_LABEL.sub("", old), _LABEL.sub("", new), together, new)
    if not pair.has_length():
        return BOTH_STAY
    for at, (reason, holds) in enumerate(RULES):
        # Few pairs meet a reason, so what speaks against it is only read then.
        if reason and holds(pair):
            is_vetoed = any(vetoes(pair) for verdict, vetoes in RULES[:at] if verdict == BOTH_STAY)
            return BOTH_STAY if is_vetoed else reason
    return BOTH_STAY


class _StatementPair:
    """An earlier and a later statement as the rules read them.

    Attributes:
        old, new: Their texts without a label such as "Decision: ".
        earlier: The earlier one; where it announces a change, the state after it.
        later: The later one as it was written.
        labelled: The same with its label.
        stated: The later one; where it announces a change, the state after it.
    """

    def __init__(self, old: str, new: str, together: bool, labelled: str) -> None:
        found = shared_language(old, new)
        self.old, self.new, self.together = old, new, together
        self.language = found if found in _LANGUAGES else "en"
        self.earlier: ParsedStatement = _parse(resulting_state(old), self.language)
        self.later: ParsedStatement = _parse(new, self.language)
        self.labelled: ParsedStatement = _parse(labelled, self.language)
        self.stated: ParsedStatement = _parse(resulting_state(new), self.language)

    @property
    def as_written(self) -> ParsedStatement:
        """The earlier statement as it was written."""
        return _parse(self.old, self.language)

    @cached_property
    def are_of_two_kinds(self) -> bool:
        return are_of_two_kinds(self.old, self.new)

    @cached_property
    def are_of_one_kind(self) -> bool:
        return are_of_one_kind(self.old, resulting_state(self.new))

    @cached_property
    def are_of_other_kinds(self) -> bool:
        return are_of_other_kinds(self.old, resulting_state(self.new))

    def has_length(self) -> bool:
        lengths = len(self.earlier.words), len(self.later.words)
        return min(lengths) > 1 and max(lengths) <= MAX_WORDS

    def announces(self, differs: Callable[[ParsedStatement, ParsedStatement], bool]) -> bool:
        bare = self.later.unannounced
        return bare is not self.later and differs(self.earlier, bare)

    def gives_other_value(self) -> bool:
        both = self.earlier, self.stated
        if _differ_in_amount(*both):
            return True
        times = self.later.words[0] >= "\u4e00"  # the rules of Chinese compare times alone
        return (_differ_in_name(*both) or _differ_in_value(*both)) and (times or self.are_of_one_kind)


BOTH_STAY: Final = ""
REJECTED: Final = "it names and rejects the old value"
SO_NOW: Final = "it says that it is so now"
RULES: Final[tuple[tuple[str, Callable[[_StatementPair], object]], ...]] = (
    # Repeated; limited in time, a question, an addition, a plan; told of an earlier time.
    (BOTH_STAY, lambda p: p.earlier.words == p.stated.words),
    (BOTH_STAY, lambda p: _LIMITED.match(p.later.text) and not _LIMITED.match(p.earlier.text)),
    (BOTH_STAY, lambda p: "?" in p.old + p.new or ALSO.search(p.later.text)),
    (BOTH_STAY, lambda p: is_limited(p.old, p.new)),
    (BOTH_STAY, lambda p: p.later.changes and not _UNREAL.isdisjoint(p.later.words)),
    (BOTH_STAY, lambda p: _FOR_A_WHILE.search(p.later.text) and not _FOR_A_WHILE.search(p.earlier.text)),
    (BOTH_STAY, lambda p: p.stated != p.later and not may_be_later(p.old, p.new)),
    # One name or value replaced, in a sentence that says nothing else.
    ("it names another of the same kind", lambda p: replaces(p.old, p.new, announced=p.later.says_now)),
    (REJECTED, lambda p: _replaces_value(p.as_written, p.later)),
    (BOTH_STAY, lambda p: p.earlier.changes or p.earlier.rejections),
    (SO_NOW, lambda p: p.announces(_announces_value) and p.are_of_one_kind and not p.are_of_two_kinds),
    # Changes of the same thing.
    (BOTH_STAY, lambda p: _differ_in_qualifier(p.earlier, p.later)),
    (REJECTED, lambda p: _rejects(p.earlier, p.later)),
    (BOTH_STAY, lambda p: p.are_of_two_kinds),
    (
        "it says that it changed",
        lambda p: _changes(p.earlier, p.later, p.stated) and not p.are_of_other_kinds,
    ),
    (
        "it corrects what was said in the same conversation",
        lambda p: p.together and CORRECTION.search(p.labelled.text) and _corrects(p.earlier, p.later),
    ),
    (SO_NOW, lambda p: p.later.says_now and _same_attribute(p.earlier, p.later) and p.are_of_one_kind),
    (BOTH_STAY, lambda p: p.are_of_other_kinds),
    (SO_NOW, lambda p: p.announces(partial(_differ_in_amount, occasion=True))),
    ("the same attribute has another value", _StatementPair.gives_other_value),
)
"""Reasons with their conditions; the first that holds decides. Reasons are stored with the edge."""


def may_share_subject(old: str, new: str) -> bool:
    """Return whether two statements may have one subject: the first content word of each is in the other.

    >>> may_share_subject("Flags are in Unleash.", "Our flags are in LaunchDarkly.")
    True
    >>> may_share_subject("Room A seats 8", "Room B seats 12")
    False
    >>> may_share_subject("Tom reports to Ines", "Ines reports to Tom")
    False
    >>> may_share_subject("Tom's child: Emil", "Tom's child: Frieda")
    False
    """
    if _ONE_OF_SEVERAL.search(old) and _ONE_OF_SEVERAL.search(new):
        return False
    language = shared_language(old, new)
    earlier, later = _parse(old, language), _parse(new, language)
    is_swapped = earlier.words != later.words and sorted(earlier.words) == sorted(later.words)
    if is_swapped or _differ_in_qualifier(earlier, later):
        return False
    return _first_key(earlier) in later.keys and _first_key(later) in earlier.keys


def _first_key(statement: ParsedStatement) -> str:
    pairs = zip(statement.keys, statement.words, strict=True)
    return next((key for key, word in pairs if key and word not in _MODAL), "")


@lru_cache(2_000)
def _parse(text: str, language: str) -> ParsedStatement:
    raw = tuple(_WORD.findall(text))
    words = tuple(word.lower().replace("’", "'").removesuffix("'s") for word in raw)
    ignored = function_words(language) | function_words("en") | _LIGHT_FORMS
    keys = tuple(
        ""
        if word in ignored
        else _SPELLINGS.get(word) or _SPELLINGS.get(stem_word(word, language)) or stem_word(word, language)
        for word in words
    )
    return ParsedStatement(" ".join(text.lower().replace("’", "'").split()), raw, words, keys)


def _denial_words(statement: ParsedStatement) -> frozenset[str]:
    return _NEGATED.intersection(statement.words)


def _differ_in_qualifier(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether each has a qualifier or a person of its own."""
    for kind in _QUALIFIERS:
        if (mine := kind & set(old.words)) and (yours := kind & set(new.words)) and not mine & yours:
            return True
    if set(RELATIVES.findall(old.text)) != set(RELATIVES.findall(new.text)):
        return True
    weekly = all(any(low in _DAY_NAMES and low.endswith("s") for low in one.words) for one in (old, new))
    old_days, new_days = (
        {low.removesuffix("s") for low in one.words if low in _DAY_NAMES} for one in (old, new)
    )
    if old_days and new_days and not weekly and not old_days & new_days:
        return True
    old_persons, new_persons = (
        {_SPEAKERS[low] for low in one.words if low in _SPEAKERS} for one in (old, new)
    )
    if old_persons and new_persons and not old_persons & new_persons:
        return True
    if old_persons and _owners(new) - old.content:
        return True
    first_purpose, second_purpose = _purposes(old), _purposes(new)
    if first_purpose and second_purpose and not first_purpose & second_purpose:
        return True
    first, second = _labels(old), _labels(new)
    if first and second and not first & second:
        return True
    # "number 6 of bed 0", "number 28 of bed 0": what both name alike must have the same number in both.
    return any(
        {number for name, number in first if name == both}.isdisjoint(n for name, n in second if name == both)
        for both in {name for name, _ in first} & {name for name, _ in second}
    )


def _owners(statement: ParsedStatement) -> set[str]:
    """Return the keys of owners: "Lea's editor"."""
    pairs = zip(statement.raw[:-1], statement.keys, strict=False)
    return {key for raw, key in pairs if key and raw.endswith(("'s", "’s"))}


def _purposes(statement: ParsedStatement) -> set[str]:
    """Return the nouns behind "for": "for the staff" and "for guests" are two purposes."""
    return {
        key
        for at, key in enumerate(statement.keys[1:], 1)
        if key and not _NUMBER.fullmatch(key) and "for" in statement.words[max(0, at - 2) : at]
    }


def _labels(statement: ParsedStatement) -> set[tuple[str, str]]:
    """Return names with the number or letter that tells them apart: lab 4, room A, port 5432 as a subject."""
    found = set()
    for at in range(1, len(statement.words)):
        word, before = statement.words[at], statement.words[at - 1]
        letter = len(word) == 1 and statement.raw[at].isupper() and statement.raw[at] != "I"
        early = _AT_VERB.isdisjoint(statement.words[:at])
        counted = statement.words[0] in _OURSELVES and any(statement.keys[at + 1 : at + 2])
        if before.isalpha() and (
            letter or (word.isdigit() and early and not counted and not statement.unit(at))
        ):
            found.add((before, word))
    return found


def _replaces_value(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether the new statement is the old one but for a value, and names and rejects that value."""
    text = new.text.rstrip(" .!")
    found = _REPLACED_VALUE.search(text)
    if found is None or not _NEGATED.isdisjoint(old.words):
        return False
    rejected = set(_parse(found[found.lastgroup or 0], "en").words) - ARTICLES
    stated = _without_words(new, new.words_before(found.start()), new.words_before(found.end()))
    _, old_at, new_at, _ = _align(old, stated)
    if not (old_at and new_at) or not {old.words[at] for at in old_at} <= rejected <= set(old.words):
        return False
    alike = any(key for at, key in enumerate(old.keys) if at not in old_at)
    return (
        alike and _frame(old, old_at) == _frame(stated, new_at) and _is_one_value(old, old_at, stated, new_at)
    )


def _without_words(statement: ParsedStatement, start: int, end: int) -> ParsedStatement:
    """Return a statement without the words from one place to another."""
    raw, low, keys = (
        words[:start] + words[end:] for words in (statement.raw, statement.words, statement.keys)
    )
    return ParsedStatement(" ".join(low), raw, low, keys)


def _frame(statement: ParsedStatement, value: list[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words before and behind a value and its article: "my car" is not "the car"."""
    start = value[0]
    while start and statement.words[start - 1] in ARTICLES - _POSSESSIVES:
        start -= 1
    return statement.words[:start], statement.words[value[-1] + 1 :]


def _is_one_value(old: ParsedStatement, old_at: list[int], new: ParsedStatement, new_at: list[int]) -> bool:
    """Return whether a new value is not limited: "XML", not "XML for errors"."""
    before, after = {old.words[at] for at in old_at}, {new.words[at] for at in new_at}
    if not after.isdisjoint(_FUNCTION_WORDS):
        return False
    if len(new_at) == 1:
        return True
    if any(word in _AT_TIMES or word.endswith("ly") for word in after):
        return False
    if any(kind & after and not kind & before for kind in (*_QUALIFIERS, _DAY_NAMES)):
        return False
    named = all(new.raw[at][:1].isupper() or new.raw[at].isdigit() for at in new_at)
    return len(new_at) <= len(old_at) + named


def _rejects(old: ParsedStatement, new: ParsedStatement) -> bool:
    keys = {key for key in old.keys if key}
    for found in new.rejections:
        if found.group().endswith(" from") and _PARTLY.search(new.text, found.end()):
            continue
        instead = new.words[: new.words_before(found.start())] if found.group() in _INSTEAD else ()
        if not _VALUE_LIMITS.isdisjoint(set(instead) - set(old.words)):
            continue
        if found.lastgroup == "behind":
            rejected = _keys_following(new, found.end())
            value = old.keys_after(_AT_VERB) | set(old.names)
        else:
            rejected = keys & set(new.keys[: new.words_before(found.start())][-MARKER_REACH:])
            value = old.keys_after(_AT_VERB | _VALUE_VERBS | _RESPONSIBILITY_VERBS)
        if all(map(_NUMBER.fullmatch, rejected)) and _named_thing(old) not in new.keys:
            continue  # "instead of 960" ends no other 960 than that of the same thing
        if rejected <= keys and rejected & value and _rejects_same(old, new, found):
            return True
    return False


def _named_thing(statement: ParsedStatement) -> str:
    pairs = zip(statement.keys, statement.words, strict=True)
    return next((key for key, word in pairs if key and word not in _SPEAKERS), "")


def _rejects_same(old: ParsedStatement, new: ParsedStatement, rejection: re.Match[str]) -> bool:
    """Return whether a rejection also has the subject and verb of the old statement, not only its value.

    "I no longer live in Kiel" ends "I live in Kiel" and not "my dentist is in Kiel".
    """
    town = known_kind(new.words[new.words_before(rejection.end()) :]) in PLACES
    if _LEAVING.search(rejection.group()) and (town or "in" in old.words):
        return _subject(old) == "i" and LIVE.search(old.text) is not None
    if not _ENDING_REJECTION.search(rejection.group()):
        return True
    start = max((one.end() for one in _PART.finditer(new.text, 0, rejection.start())), default=0)
    behind = _PART.search(new.text, rejection.end())
    end = behind.start() if behind else len(new.text)
    ended = _parse(_AT_ALL.sub(" ", new.text[start:end]), "en")
    subjects = {_subject(ended), *ended.keys}
    if ended.words[0] not in _SPEAKERS:
        subjects |= {_subject(new), *new.keys}
    if _subject(old) in subjects and _plain_words(ended) <= _plain_words(old):
        return True
    return any(_names_other_value(old, _parse(part, "en")) for part in _PART.split(new.text[end:]) if part)


def _subject(statement: ParsedStatement) -> str:
    """Return the first content word, or "i" for the person who speaks."""
    speaks = {statement.words[0], statement.words[0].partition("'")[0]} & (_OURSELVES | {"j", "我"})
    return "i" if speaks else _first_key(statement)


def _plain_words(statement: ParsedStatement) -> set[str]:
    """Return the stems of a statement without persons, articles and the words of an end."""
    return {
        "be" if word in _BEING else stem_word(word.rpartition("'")[2], "en")
        for word in statement.words
        if word not in _AROUND_END | ARTICLES | _SPEAKERS.keys()
    }


def _names_other_value(old: ParsedStatement, part: ParsedStatement) -> bool:
    """Return whether a part of a sentence is the old statement but for its value."""
    before, old_at, new_at, behind = _align(old, part)
    return bool(before and old_at and new_at and not behind) and _is_one_value(old, old_at, part, new_at)


def _keys_following(statement: ParsedStatement, offset: int) -> set[str]:
    """Return the keys of at most ``MARKER_REACH`` words of the clause behind a marker."""
    clause = _CLAUSE.split(statement.text[offset:], maxsplit=1)[0]
    first = statement.words_before(offset)
    last = first + min(len(_WORD.findall(clause)), MARKER_REACH)
    return {key for key in statement.keys[first:last] if key}


def _corrects(old: ParsedStatement, new: ParsedStatement) -> bool:
    if {key for key in old.keys if key} & set(new.keys):
        return True
    return bool(old.amounts and new.amounts) and len(new.content) <= 2


def _changes(old: ParsedStatement, new: ParsedStatement, stated: ParsedStatement) -> bool:
    """Return whether a verb of change stands beside the attribute of the old statement."""
    moved = new.moved
    lives = moved and LIVE.search(old.text)
    if moved and lives and lives.start() <= MAX_LIVE_OFFSET and _SUBJECT.search(new.text[: moved.start()]):
        to = new.words_before(moved.end())
        if moved.group().endswith(" to") and known_kind(new.words[to:]) not in PLACES:
            return False  # to the design team, to Kubernetes
        at = old.words_before(lives.end())
        if _FOR_A_WHILE.search(old.text + new.text) or not _DIRECTIONS.isdisjoint(old.words[at : at + 1]):
            return False
        if _ONLY_HOME.match(" ".join(stated.raw)):
            return lives.start() == 0 or bool(_SUBJECT.search(old.text[: lives.start()]))
    for found in new.changes:
        change = found.group()
        if _REVOKED.search(new.text, found.end()) or _is_limited_change(old, new, found):
            continue
        if change in ("moved", "migrated", "switched") and not _PLACED.search(old.text):
            continue
        near = _keys_following(new, found.end())
        if not near <= set(old.keys):
            near = set()
        verb = new.words_before(found.start())
        if not _NEGATED.isdisjoint(new.words[max(0, verb - 2) : verb]):
            continue
        start = max(0, verb - MARKER_REACH)
        passive = verb and (new.words[verb - 1] in _PASSIVE or not _BEEN.isdisjoint(new.words[start:verb]))
        if passive or change[0] >= "\u4e00" or change in _INTRANSITIVE:
            parts = (new.words_before(one.end()) for one in _PART.finditer(new.text, 0, found.start()))
            start = max(start, max(parts, default=0))
            start = max((at + 1 for at in range(start, verb) if new.words[at] in _SUBORDINATE), default=start)
            near |= {new.keys[at] for at in range(start, verb) if new.words[at] not in _PASSIVE}
        if set(new.words) - set(old.words) - _PASSIVE - ARTICLES <= set(change.split()):
            continue
        if not _STAGES.isdisjoint(set(new.words) - set(old.words)):  # it holds on staging only
            continue
        if bool(old.amounts) != bool(new.amounts) or _of_two_units(old, new):
            continue
        named = {key for key in near if key and not _NUMBER.fullmatch(key) and not _is_schedule_word(key)}
        if not named <= {*old.keys, *old.words}:
            continue
        attribute = near & old.content
        if len(attribute) > 1 or (attribute and (_other_amount(old, new) or _is_central(old, attribute))):
            return True
    return False


def _is_limited_change(old: ParsedStatement, new: ParsedStatement, verb: re.Match[str]) -> bool:
    """Return whether a change is of another value, or limited by words after its verb."""
    numbers = new.amounts
    if len(numbers) > 1 and old.amounts and "from" in new.words:
        return {old.words[at] for at in old.amounts}.isdisjoint(new.words)
    if not numbers and verb.group() not in ("moved", "migrated", "switched"):
        return False
    return any(
        key and key not in old.keys and numbers.keys().isdisjoint((at - 1, at, at + 1))
        for at, key in enumerate(new.keys)
        if at >= new.words_before(verb.end()) and (numbers or new.raw[at].islower())
    )


def _of_two_units(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether the amounts of the two have different units: requests and workers."""
    first, second = ({unit.rpartition(" ")[2] for unit in one.amounts.values()} for one in (old, new))
    return bool(first and second) and "" not in first | second and first.isdisjoint(second)


def _other_amount(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether each has one amount with a unit, of the same unit and not the same."""
    old_amounts, new_amounts = (
        [(one.words[at], unit or "clock") for at, unit in one.amounts.items() if unit or ":" in one.words[at]]
        for one in (old, new)
    )
    return (
        len(old_amounts) == len(new_amounts) == 1
        and old_amounts[0][1] == new_amounts[0][1]
        and old_amounts[0][0] != new_amounts[0][0]
    )


def _is_central(old: ParsedStatement, attribute: set[str]) -> bool:
    """Return whether an attribute is the head or a name of a statement of state, or all but all of it."""
    if _COPULAS.isdisjoint(old.words):
        return False
    first = next((key for key in old.keys if key and key not in _SPEAKERS), "")
    return bool(attribute & {first, *old.names}) or len(old.content) < FEW


def _same_attribute(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether the new statement says all but the value of the old one, of an attribute with one value."""
    value, before = _last_value(old)
    other_value, behind = _last_value(new.unannounced)
    rest = old.content - value
    if any(word in _ADDITIVE_FORMS for word in (*old.words, *old.keys)) or not value.isdisjoint(new.keys):
        return False
    if _denial_words(old) != _denial_words(new):
        return False
    if any(kind & (set(old.words) ^ set(new.words)) for kind in _QUALIFIERS):
        return False
    if old.keys[0] and rest == {old.keys[0]} and not LIVE.search(old.text):  # on the board, on the jury
        return False
    added = {key for key in _first_clause(new) if key and not _NUMBER.fullmatch(key)} - rest - other_value
    same = before == behind or (before in _AT_VERB and behind in _AT_VERB)
    return bool(rest) and rest <= new.content and (len(rest) > 1 or (len(added) <= 1 and same))


def _last_value(statement: ParsedStatement) -> tuple[set[str], str]:
    end = len(_first_clause(statement))
    at = next((at for at in reversed(range(end)) if statement.keys[at]), 0)
    start = at
    if statement.raw[at : at + 1] and statement.raw[at][:1].isupper():
        while start and (statement.raw[start - 1][:1].isupper() or statement.words[start - 1] in ARTICLES):
            start -= 1
    return {key for key in statement.keys[start : at + 1] if key}, statement.words[start - 1] if start else ""


def _first_clause(statement: ParsedStatement) -> tuple[str, ...]:
    return statement.keys[: len(_WORD.findall(_CLAUSE.split(statement.text, maxsplit=1)[0]))]


def _differ_in_amount(old: ParsedStatement, new: ParsedStatement, *, occasion: bool = False) -> bool:
    """Return whether one number differs and all else says the same."""
    if len(old.amounts) != 1 or len(new.amounts) != 1 or not (old.content and new.content):
        return False
    if PAST.search(old.text) or PAST.search(new.text):
        return False
    if not occasion and _OCCASIONS.search(old.text + new.text) and "due" not in old.content & new.content:
        return False
    if _denial_words(old) != _denial_words(new):
        return False
    ((first, unit),), ((second, other_unit),) = old.amounts.items(), new.amounts.items()
    if _as_count(old.words[first]) == _as_count(new.words[second]) or unit != other_unit:
        return False
    if _identifies(old, first) or (_identifies(new, second) and new.keys[second - 1] not in old.keys):
        return False
    if _differ_in_relation(old, new) or (_DIARY.search(old.text) and ":" in "".join(old.words)):
        return False
    if _drops_owner(old, new):
        return False
    old_content = old.content - ({old.keys[first + 1]} if unit else set())
    new_content = new.content - ({new.keys[second + 1]} if unit else set())
    if not new_content or any(kind & (old_content ^ new_content) for kind in (*_QUALIFIERS, _DAY_NAMES)):
        return False  # an extra word says which of several
    most = len(new_content) if all(key >= "\u4e00" for key in new_content) else min(len(new_content), FEW)
    return old_content == new_content or (new_content < old_content and len(old_content - new_content) < most)


def _drops_owner(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether the new statement drops an owner or a qualifier: "Sue's locker", "the gym bag"."""
    if {"my", "our"} & set(new.words) - set(old.words):
        return True
    gone = old.content - new.content
    verb = next((at for at, low in enumerate(old.words) if low in _AT_VERB), 0)
    head = next((key for key in reversed(old.keys[:verb]) if key), "")
    whose = {key for key, raw in zip(old.keys, old.raw, strict=True) if raw.endswith(("'s", "’s"))}
    return bool(gone & ({head} | whose))


def _differ_in_relation(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether a function word, a person or the order of names makes it another thing."""
    if (old.words[0] in _OURSELVES) != (new.words[0] in _OURSELVES):
        return True
    old_ways, new_ways = (_DIRECTIONS & set(one.words) for one in (old, new))
    if (old_ways - new_ways and new_ways - old_ways) or _AWAY_WORDS & (old_ways ^ new_ways):
        return True
    neutral = frozenset(("", *_COPULAS, *_AT_VERB))
    same_length = len(old.words) == len(new.words)
    pairs = zip(old.words, new.words, old.keys, new.keys, strict=True) if same_length else ()
    for old_word, new_word, old_key, new_key in pairs:
        both = {old_word, new_word}
        if (
            len(both) > 1
            and not old_key
            and not new_key
            and neutral.isdisjoint(both)
            and not both <= ARTICLES
        ):
            return True
    old_names, new_names = old.names, new.names
    return [name for name in old_names if name in new_names] != [
        name for name in new_names if name in old_names
    ]


def _identifies(statement: ParsedStatement, at: int) -> bool:
    """Return whether a number names a thing (ticket 12, chapter 3) rather than measures one."""
    if statement.unit(at):
        return False
    measuring = _AT_VERB | _HEADS
    early = measuring.isdisjoint(statement.words[:at]) and ":" not in statement.text
    before = statement.words[at - 1] if at else ""
    return at == 0 or early or (before.isalpha() and bool(statement.keys[at - 1]) and before not in measuring)


def _differ_in_name(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether an attribute of ``_ATTRIBUTES`` has another name in each, in the same words."""
    pairs = enumerate(zip(old.words, new.words, strict=False))
    value = next(
        (at for at, (old_word, new_word) in pairs if old_word != new_word),
        min(len(old.words), len(new.words)),
    )
    if not (_is_rare_name(old.raw[value:]) and _is_rare_name(new.raw[value:])):
        return False
    if PAST.search(old.text) or PAST.search(new.text) or _NEGATED & {*old.words, *new.words}:
        return False
    return bool(_ATTRIBUTES.search(" ".join(old.words[:value])))


def _is_rare_name(raw: tuple[str, ...]) -> bool:
    if not 0 < len(raw) <= FEW:
        return False
    ranks = [word_rank(word.lower()) for word in raw]
    return max(ranks) >= NAME_RANK and all(
        word[:1].isupper() or (rank >= UNKNOWN_RANK and not _ADJECTIVE_ENDING.search(word))
        for word, rank in zip(raw, ranks, strict=True)
    )


def _announces_value(old: ParsedStatement, bare: ParsedStatement) -> bool:
    """Return whether an announced change is the old statement but for one value."""
    before, old_value, new_value, behind = _align(old, bare)
    head = {old.words[at] for at in before}
    frame = {old.keys[at] for at in (*before, *behind)} - {""}
    if (
        old_value
        and new_value
        and not behind
        and _SINGLE_VALUED.search(" ".join(old.words[at] for at in before))
    ):
        return all(bare.raw[at][:1].isupper() for at in new_value)
    if head & (_ADDITIVE_FORMS - _VALUE_VERBS) or _denial_words(old) != _denial_words(bare):
        return False
    if old_value and new_value and max(len(old_value), len(new_value)) <= FEW:
        slots = {old.words[at] for at in old_value} | {bare.words[at] for at in new_value}
        return bool(head & (_AT_VERB | _VALUE_VERBS)) and len(frame) > 1 and not _DIRECTIONS & slots
    gone, come = old.content - bare.content, bare.content - old.content
    return len(come) == 1 and len(gone) == FEW - 1 and old.keys[0] in gone and old.words[0] in _VALUE_VERBS


def _differ_in_value(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Return whether two statements differ only in one value of an attribute that has one."""
    before, old_value, new_value, behind = _align(old, new)
    if not (old_value and new_value) or max(len(old_value), len(new_value)) > FEW + 1:
        return False
    head = tuple(old.words[at] for at in before)
    slots = [[old.words[at] for at in old_value], [new.words[at] for at in new_value]]
    if any((_NEGATED | _DIRECTIONS) & set(slot) or {"for", "in"} & set(slot[1:]) for slot in slots):
        return False
    if PAST.search(_DONE_BY.sub(" ", old.text + " . " + new.text)):
        return False
    if all(_is_schedule_word(low) for slot in slots for low in slot):
        chinese = slots[0][0] >= "\u4e00"
        if chinese and not all(_is_schedule_word(old.words[at]) for at in behind):
            return False
        return not _differ_in_relation(old, new) and _differ_in_schedule(old.text, head, slots)
    if len(slots[0]) == len(slots[1]) == 1 and all(_as_count(slot[0]) for slot in slots):
        tail = tuple(old.words[at] for at in behind)
        return _is_count(old, head, old_value[0], tail) and _as_count(slots[0][0]) != _as_count(slots[1][0])
    names = [
        tuple(statement.raw[at] for at in slot) for statement, slot in ((old, old_value), (new, new_value))
    ]
    if not ANYBODY.isdisjoint(old.words[:2]):  # a colleague, my brother
        return False
    while head and head[-1] in TITLES:
        head = head[:-1]
    return (
        not behind and bool(_SINGLE_VALUED.search(" ".join(head))) and all(_is_name(name) for name in names)
    )


def _align(old: ParsedStatement, new: ParsedStatement) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the places before the value, of both values, and behind the value."""
    lead, old_places, new_places = list[int](), old.places, new.places
    if old.subject.keys and old.subject[1:] == new.subject[1:]:  # the same words, in any order
        skip = old.subject.length
        lead, old_places, new_places = old_places[:skip], old_places[skip:], new_places[new.subject.length :]
    shorter = min(len(old_places), len(new_places))
    start = end = 0
    while start < shorter and _same_word(old, old_places[start], new, new_places[start]):
        start += 1
    while end < shorter - start and _same_word(old, old_places[-1 - end], new, new_places[-1 - end]):
        end += 1
    return (
        lead + old_places[:start],
        old_places[start : len(old_places) - end],
        new_places[start : len(new_places) - end],
        old_places[len(old_places) - end :],
    )


def _same_word(old: ParsedStatement, old_at: int, new: ParsedStatement, new_at: int) -> bool:
    both = {old.words[old_at], new.words[new_at]}
    same = bool(old.keys[old_at]) and old.keys[old_at] == new.keys[new_at]
    return len(both) == 1 or same or any(both <= verbs for verbs in _ALIKE_VERBS)


def _differ_in_schedule(text: str, head: tuple[str, ...], slots: list[list[str]]) -> bool:
    if slots[0] == slots[1] or _OPEN.search(text):
        return False
    if slots[0][0] >= "\u4e00":
        return len(head) > FEW and any(low in "在是为每" for low in head)
    days = [any(low in _DAY_NAMES for low in slot) for slot in slots]
    if days[0] != days[1]:
        return False
    if not any(days):
        return not _DIARY.search(text) and not _AT_VERB.isdisjoint(head) and not {"is", "are"} & set(head[:1])
    regular = all(low.endswith("s") for slot in slots for low in slot if low in _DAY_NAMES)
    return regular and bool(_REGULAR.search(" ".join(head)))


def _is_count(statement: ParsedStatement, head: tuple[str, ...], at: int, tail: tuple[str, ...]) -> bool:
    before = head[-1] if head else ""
    if _OCCASIONS.search(statement.text) and before not in ("every", "alle"):
        return False
    own = head[0] in _OURSELVES if head else False
    if tail and statement.keys[at + 1 : at + 2] != ("",) and tail[0] not in _AT_VERB:
        return own or not _AT_VERB.isdisjoint(head) or before in _HEADS
    return not _AT_VERB.isdisjoint(head) and before in _HEADS | _AT_VERB and not _OPEN.search(" ".join(head))


def _as_count(low: str) -> str:
    """Return a number in digits without separators, or ""."""
    return low.replace(",", "").replace("k", "000") if _NUMBER.fullmatch(low) else COUNTS.get(low, "")


def _is_name(raw: tuple[str, ...]) -> bool:
    return len(raw) <= FEW + 1 and raw[0][:1].isupper() and raw[-1][:1].isupper()
