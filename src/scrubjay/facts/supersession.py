"""Supersession: does a later statement say that it replaces an earlier one?

A superseded statement leaves default answers, so when in doubt both stay. The later one replaces the earlier when it
rejects the old value by name, announces a change, corrects it in the same conversation, or gives another value of an
attribute that has one. A qualifier of its own on each side (lab 1, lab 4) makes them two things.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scrubjay.facts.lexicon import shared_language
from scrubjay.facts.supersession_lexicon import (
    ADDITIVE,
    ADVERBS,
    ALIKE_VERBS,
    ALSO,
    ANNOUNCED,
    APART,
    ARTICLES,
    AT_VERB,
    ATTRIBUTES,
    BEEN,
    CHANGED,
    CORRECTION,
    DAY_KEYS,
    DIARY,
    DIRECTIONS,
    DOES,
    DONE_BY,
    HEADS,
    INTRANSITIVE,
    KIN,
    LASTING,
    LIGHT,
    LIVE,
    MOVED,
    NOW,
    NUMBERS,
    OCCASIONS,
    OPEN,
    OURSELVES,
    PASSIVE,
    PAST,
    PERSONS,
    PLACED,
    QUALIFIERS,
    REGULAR,
    REJECTION,
    SAME,
    SCHEDULE,
    SINCE,
    SINGLE,
    STATES,
    SUBJECT,
    SUBORDINATE,
    TONGUES,
    UNITS,
    VERBS,
    WEEKDAYS,
)
from scrubjay.text.language import function_words
from scrubjay.text.normalize import word_set
from scrubjay.text.tokenizer import stem_word
from scrubjay.text.word_frequency import UNKNOWN_RANK, word_rank

REACH: Final = 4
"""Words behind (or before) a marker within which what it rejects or changes is named."""
RARE: Final = 5_000
"""Rank from which on a word is a name rather than a description: "ghostty", not "slow"."""
FEW: Final = 3
"""Fewer words than that may be left out where the same is spoken of again."""
DUE: Final = "due"
SOON: Final = 12
"""Characters within which a statement of where somebody lives comes to it."""
MOST: Final = 30
"""Words of a statement; of a longer one no single value is told."""
_WORD: Final = re.compile(
    r"[:=](?=\s)|[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+(?:[.:,'’][^\W_\u4e00-\u9fff]+)*|%"
)
_NUMBER: Final = re.compile(r"(?=[.,:/e-]*+\d)[\d.,:/e-]++(?:[a-z%]{1,3})?", re.IGNORECASE)
_CLAUSE: Final = re.compile(
    r"[,;.!()，。；！]|\s(?:to|and|und|et|because|weil|auf|zu|nach|by|par|por|mais|aber|but|pero|y)\s| - "
    r"|换成|改成|改为"
)
_LIMITED: Final = re.compile(
    r"(?:on |at )?(?:\w+days|weekends?|holidays)\b"
    r"|(?:when|whenever|if|while|during|unless|except|wenn|falls|bei|während|quand|si|pendant|cuando)\b"
    r"|an \w+tagen\b|\w+tags\b|le \w+di\b|los \w+s\b|每|周末|如果"
)
"""What a statement begins with that holds only at times: what holds otherwise stays so."""
_DESCRIBES: Final = re.compile(r"(?:ed|ing|able|ful|ous|less|ish|ly)$")
_MODAL: Final = word_set(
    "can can't cannot could couldn't may might must should shouldn't will won't kann darf muss"
)
_NEGATED: Final = frozenset(
    ("not no never don't doesn't isn't aren't won't nicht kein keine nie ne pas jamais nunca").split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """The words of a statement: as written, folded, and the stem each is compared by ("" for function words)."""

    text: str
    raw: tuple[str, ...]
    low: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def content(self) -> set[str]:
        return {key for key in self.keys if key and not _NUMBER.fullmatch(key)}

    @property
    def numbers(self) -> list[int]:
        return [at for at, low in enumerate(self.low) if _NUMBER.fullmatch(low)]


def supersedes(old: str, new: str, *, together: bool = False) -> str:
    """Return why a later statement supersedes an earlier one, or "" where it may not; `together`: of one conversation.

    >>> supersedes("I live in Porto.", "I moved to Lisbon.")
    'it says that it changed'
    >>> supersedes("Room A seats 8.", "Room B seats 12."), supersedes("ann private 0", "ann private 1")
    ('', '')
    """
    found = shared_language(old, new)
    language = found if found in TONGUES else "en"
    one, other = _said(old, language), _said(new, language)
    if CHANGED.search(one.text) or REJECTION.search(one.text):
        return ""
    if not 1 < min(len(one.low), len(other.low)) <= max(len(one.low), len(other.low)) <= MOST:
        return ""
    if _LIMITED.match(other.text) and not _LIMITED.match(one.text):
        return ""
    if "?" in old + new or ALSO.search(other.text):
        return ""
    bare, announced = _bare(other)
    if announced and _announced(one, bare):
        return "it says that it is so now"
    if _parted(one, other):
        return ""
    if _rejects(one, other):
        return "it rejects what was so by its name"
    if _changed(one, other):
        return "it says that it changed"
    if together and CORRECTION.search(other.text) and _shares(one, other):
        return "it corrects what was said in the same conversation"
    if NOW.search(other.text) and not LASTING.search(other.text) and _same_attribute(one, other):
        return "it says that it is so now"
    if announced and _measured(one, bare, occasion=True):
        return "it says that it is so now"
    if _measured(one, other) or _named(one, other) or _one_slot(one, other):
        return "the same attribute has another value"
    return ""


def may_share_subject(old: str, new: str) -> bool:
    """Return whether two statements may have one subject: the first content word of each is in the other.

    >>> may_share_subject("Flags are in Unleash.", "Our flags are in LaunchDarkly.")
    True
    >>> may_share_subject("Room A seats 8", "Room B seats 12")
    False
    >>> may_share_subject("Tom reports to Ines", "Ines reports to Tom")
    False
    """
    language = shared_language(old, new)
    one, other = _said(old, language), _said(new, language)
    if _parted(one, other) or (one.low != other.low and sorted(one.low) == sorted(other.low)):
        return False
    first, second = (
        next((key for key, low in zip(said.keys, said.low, strict=True) if key and low not in _MODAL), "")
        for said in (one, other)
    )
    return first in other.keys and second in one.keys


@lru_cache(2_000)
def _said(text: str, language: str) -> ParsedStatement:
    raw = tuple(_WORD.findall(text))
    low = tuple(word.lower().replace("’", "'").removesuffix("'s") for word in raw)
    small = function_words(language) | function_words("en") | LIGHT
    keys = tuple(
        ""
        if word in small
        else SAME.get(word) or SAME.get(stem_word(word, language)) or stem_word(word, language)
        for word in low
    )
    return ParsedStatement(" ".join(text.lower().replace("’", "'").split()), raw, low, keys)


def _parted(one: ParsedStatement, other: ParsedStatement) -> bool:
    """Return whether each has a qualifier or a person of its own."""
    for kind in QUALIFIERS:
        both = kind & set(one.low), kind & set(other.low)
        if all(both) and not both[0] & both[1]:
            return True
    if set(KIN.findall(one.text)) != set(KIN.findall(other.text)):
        return True
    if (
        not _weekly(one, other)
        and _weekdays(one)
        and _weekdays(other)
        and not _weekdays(one) & _weekdays(other)
    ):
        return True
    ours, theirs = ({PERSONS[word] for word in said.low if word in PERSONS} for said in (one, other))
    if ours and theirs and not ours & theirs:
        return True
    first, second = _labels(one), _labels(other)
    if first and second and not first & second:
        return True
    # "number 6 of bed 0", "number 28 of bed 0": what both name alike must have the same number in both.
    numbers = [{what: {n for w, n in found if w == what} for what, _ in found} for found in (first, second)]
    return any(
        numbers[0][what].isdisjoint(numbers[1][what]) for what in numbers[0].keys() & numbers[1].keys()
    )


def _labels(said: ParsedStatement) -> set[tuple[str, str]]:
    """Return what a number or a letter tells apart: lab 4, room A, experiment 17, port 5432 as a subject."""
    found = set()
    for at in range(1, len(said.low)):
        word, before = said.low[at], said.low[at - 1]
        letter = len(word) == 1 and said.raw[at].isupper() and said.raw[at] != "I"
        early = not any(word in AT_VERB for word in said.low[:at])
        counted = said.low[0] in OURSELVES and bool(said.keys[at + 1 : at + 2] and said.keys[at + 1])
        if (
            letter or (word.isdigit() and early and not counted and not _measures(said, at))
        ) and before.isalpha():
            found.add((before, word))
    return found


def _rejects(one: ParsedStatement, other: ParsedStatement) -> bool:
    keys = [key for key in one.keys if key]
    for found in REJECTION.finditer(other.text):
        if found.lastgroup == "behind":
            near = _behind(other, found.end())
        else:
            near = {
                key for key in other.keys[: len(_WORD.findall(other.text[: found.start()]))][-REACH:] if key
            }
        told = near - (set() if found.lastgroup == "behind" else near - set(keys))
        value = _value(one) if found.lastgroup == "behind" else _object(one)
        if told and told <= set(keys) and told & value:
            return True
    return False


def _behind(said: ParsedStatement, end: int) -> set[str]:
    clause = _CLAUSE.split(said.text[end:], maxsplit=1)[0]
    first = len(_WORD.findall(said.text[:end]))
    last = first + min(len(_WORD.findall(clause)), REACH)
    return {key for key in said.keys[first:last] if key}


def _value(said: ParsedStatement) -> set[str]:
    at = next((at for at, low in enumerate(said.low) if low in AT_VERB), 0)
    named = {key for key, raw in zip(said.keys, said.raw, strict=True) if raw[:1].isupper() and key}
    return {key for key in said.keys[at + 1 :] if key} | named


def _object(said: ParsedStatement) -> set[str]:
    at = next((at for at, low in enumerate(said.low) if low in AT_VERB | VERBS | DOES), 0)
    return {key for key in said.keys[at + 1 :] if key}


def _shares(one: ParsedStatement, other: ParsedStatement) -> bool:
    same = {key for key in one.keys if key} & set(other.keys)
    kind = bool(one.numbers) and bool(other.numbers)
    return bool(same) or (kind and len(other.content) <= 2)


def _changed(one: ParsedStatement, other: ParsedStatement) -> bool:
    moved, lives = MOVED.search(other.text), LIVE.search(one.text)
    if moved and lives and lives.start() <= SOON and _subject(other, moved.start()) and _place(other, moved):
        return _subject(one, lives.start()) or lives.start() == 0
    for found in CHANGED.finditer(other.text):
        first = len(_WORD.findall(other.text[: found.start()]))
        if found.group() in ("moved", "migrated", "switched") and not PLACED.search(one.text):
            continue
        near = _behind(other, found.end())
        if not near <= set(one.keys):
            near = set()
        window = set(other.low[max(0, first - REACH) : first])
        passive = other.low[first - 1] in PASSIVE or not BEEN.isdisjoint(window) if first else False
        if passive or found.group()[0] >= "\u4e00" or found.group() in INTRANSITIVE:
            start = max(0, first - REACH)
            start = max((at + 1 for at in range(start, first) if other.low[at] in SUBORDINATE), default=start)
            near |= set(other.keys[start:first])
        attribute = near & one.content
        if set(other.low) - set(one.low) - PASSIVE - ARTICLES <= set(found.group().split()):
            continue
        if bool(one.numbers) != bool(other.numbers):
            continue
        told = {key for key in near if key and not _NUMBER.fullmatch(key) and key not in SCHEDULE}
        if not told <= {*one.keys, *one.low}:
            continue
        if attribute and _same_unit(one, other):
            return True
        if len(attribute) > 1 or (attribute and not STATES.isdisjoint(one.low) and _only(one, attribute)):
            return True
    return False


def _same_unit(one: ParsedStatement, other: ParsedStatement) -> bool:
    ours, theirs = (
        [(said.low[at], unit) for at, unit in _values(said).items() if unit] for said in (one, other)
    )
    return len(ours) == len(theirs) == 1 and ours[0][1] == theirs[0][1] and ours[0][0] != theirs[0][0]


def _only(one: ParsedStatement, attribute: set[str]) -> bool:
    named = {key for key, raw in zip(one.keys, one.raw, strict=True) if raw[:1].isupper() and key}
    first = next((key for key in one.keys if key and key not in PERSONS), "")
    return bool(attribute & ({first} | named)) or len(one.content) < FEW


def _place(said: ParsedStatement, moved: re.Match[str]) -> bool:
    at = len(_WORD.findall(said.text[: moved.end()]))
    return not moved.group().endswith((" to", " a")) or (at < len(said.raw) and said.raw[at][:1].isupper())


def _subject(said: ParsedStatement, at: int) -> bool:
    return bool(SUBJECT.search(said.text[:at]))


def _same_attribute(one: ParsedStatement, other: ParsedStatement) -> bool:
    value, before = _last(one)
    another, behind = _last(_bare(other)[0])
    rest = one.content - value
    if any(word in ADDITIVE for word in (*one.low, *one.keys)) or not value.isdisjoint(other.keys):
        return False
    if _NEGATED & set(one.low) != _NEGATED & set(other.low):
        return False
    if any(kind & (set(one.low) ^ set(other.low)) for kind in QUALIFIERS):
        return False
    told = {key for key in _clause(other) if key}
    more = {key for key in told - rest - another if not _NUMBER.fullmatch(key)}
    same = before == behind or (before in AT_VERB and behind in AT_VERB)
    if one.keys[0] and rest == {one.keys[0]} and not LIVE.search(one.text):  # on the board, on the jury
        return False
    return bool(rest) and rest <= other.content and (len(rest) > 1 or (len(more) <= 1 and same))


def _last(said: ParsedStatement) -> tuple[set[str], str]:
    end = len(_clause(said))
    at = next((at for at in reversed(range(end)) if said.keys[at]), 0)
    start = at
    if said.raw[at : at + 1] and said.raw[at][:1].isupper():
        while start and (said.raw[start - 1][:1].isupper() or said.low[start - 1] in ARTICLES):
            start -= 1
    return {key for key in said.keys[start : at + 1] if key}, said.low[start - 1] if start else ""


def _clause(said: ParsedStatement) -> tuple[str, ...]:
    return said.keys[: len(_WORD.findall(_CLAUSE.split(said.text, maxsplit=1)[0]))]


def _measured(one: ParsedStatement, other: ParsedStatement, *, occasion: bool = False) -> bool:
    if PAST.search(one.text) or PAST.search(other.text):
        return False
    if not occasion and OCCASIONS.search(one.text + other.text) and DUE not in one.content & other.content:
        return False
    ours, theirs = _values(one), _values(other)
    if len(ours) != 1 or len(theirs) != 1 or not (one.content and other.content):
        return False
    if ({low for low in one.low if low in _NEGATED}) != ({low for low in other.low if low in _NEGATED}):
        return False
    ((first, ours_unit),), ((second, theirs_unit),) = ours.items(), theirs.items()
    if _amount(one.low[first]) == _amount(other.low[second]) or ours_unit != theirs_unit:
        return False
    if _numbered(one, first) or (_numbered(other, second) and other.keys[second - 1] not in one.keys):
        return False
    if _turned(one, other) or (DIARY.search(one.text) and ":" in "".join(one.low)):
        return False
    if _owned(one, other):
        return False
    return _same_thing(one.content - _unit(one, first), other.content - _unit(other, second))


def _owned(one: ParsedStatement, other: ParsedStatement) -> bool:
    """Return whether the new statement drops an owner or a qualifier: "Sue's locker", "the gym bag"."""
    if {"my", "our"} & set(other.low) - set(one.low):
        return True
    gone = one.content - other.content
    verb = next((at for at, low in enumerate(one.low) if low in AT_VERB), 0)
    head = next((key for key in reversed(one.keys[:verb]) if key), "")
    whose = {key for key, raw in zip(one.keys, one.raw, strict=True) if raw.endswith(("'s", "’s"))}
    return bool(gone & ({head} | whose))


def _turned(one: ParsedStatement, other: ParsedStatement) -> bool:
    """Return whether a small word, a person or the order of names makes it another thing."""
    if (one.low[0] in OURSELVES) != (other.low[0] in OURSELVES):
        return True
    ways = DIRECTIONS & set(one.low), DIRECTIONS & set(other.low)
    if (ways[0] - ways[1] and ways[1] - ways[0]) or APART & (ways[0] ^ ways[1]):
        return True
    small = frozenset(("", *STATES, *AT_VERB))
    pairs = (
        zip(one.low, other.low, one.keys, other.keys, strict=True) if len(one.low) == len(other.low) else ()
    )
    for low, another, key, behind in pairs:
        both = {low, another}
        if len(both) > 1 and not key and not behind and small.isdisjoint(both) and not both <= ARTICLES:
            return True
    ours, theirs = _names(one), _names(other)
    return [name for name in ours if name in theirs] != [name for name in theirs if name in ours]


def _names(said: ParsedStatement) -> list[str]:
    return [key for key, raw in zip(said.keys, said.raw, strict=True) if key and raw[:1].isupper()]


def _weekdays(said: ParsedStatement) -> set[str]:
    return {word.removesuffix("s") for word in said.low if word in WEEKDAYS}


def _weekly(one: ParsedStatement, other: ParsedStatement) -> bool:
    return all(any(low in WEEKDAYS and low.endswith("s") for low in said.low) for said in (one, other))


def _amount(low: str) -> str:
    return low.replace(",", "").replace("k", "000")


def _unit(said: ParsedStatement, at: int) -> set[str]:
    return {said.keys[at + 1]} if at + 1 < len(said.low) and said.low[at + 1] in UNITS else set()


def _same_thing(ours: set[str], theirs: set[str]) -> bool:
    narrower = any(kind & (ours ^ theirs) for kind in (*QUALIFIERS, DAY_KEYS))
    most = len(theirs) if all(key >= "\u4e00" for key in theirs) else min(len(theirs), FEW)
    return bool(theirs) and not narrower and (ours == theirs or (theirs < ours and len(ours - theirs) < most))


def _values(said: ParsedStatement) -> dict[int, str]:
    found = {}
    for at in said.numbers:
        behind = said.low[at + 1] if at + 1 < len(said.low) else ""
        found[at] = UNITS.get(behind, "")
    return found


def _measures(said: ParsedStatement, at: int) -> bool:
    return at + 1 < len(said.low) and said.low[at + 1] in UNITS


def _numbered(said: ParsedStatement, at: int) -> bool:
    """Return whether a number names a thing (ticket 12, chapter 3) rather than measures one."""
    early = not any(word in AT_VERB or word in HEADS for word in said.low[:at]) and ":" not in said.text
    before = said.low[at - 1] if at else ""
    if _measures(said, at):
        return False
    return (
        at == 0 or early or (before.isalpha() and bool(said.keys[at - 1]) and before not in HEADS | AT_VERB)
    )


def _named(one: ParsedStatement, other: ParsedStatement) -> bool:
    if PAST.search(one.text) or PAST.search(other.text):
        return False
    before = 0
    for ours, theirs in zip(one.low, other.low, strict=False):
        if ours != theirs:
            break
        before += 1
    head, value, another = one.low[:before], one.raw[before:], other.raw[before:]
    if not (value and another and before) or not _head(head):
        return False
    if any(word in _NEGATED for word in (*one.low, *other.low)):
        return False
    return _name(value) and _name(another)


def _name(raw: tuple[str, ...]) -> bool:
    known = [word_rank(word.lower()) for word in raw]
    pairs = zip(raw, known, strict=True)
    named = all(
        word[:1].isupper() or (at >= UNKNOWN_RANK and not _DESCRIBES.search(word)) for word, at in pairs
    )
    return len(raw) <= FEW and named and max(known) >= RARE


def _head(head: tuple[str, ...]) -> bool:
    return bool(ATTRIBUTES.search(" ".join(head)))


def _announced(one: ParsedStatement, bare: ParsedStatement) -> bool:
    """Return whether an announced change is the old statement but for one value."""
    before, ours, theirs, behind = _aligned(one, bare)
    head = {one.low[at] for at in before}
    kept = {one.keys[at] for at in (*before, *behind)} - {""}
    if any(low in ADDITIVE and low not in VERBS for low in head) or _NEGATED & set(one.low) ^ _NEGATED & set(
        bare.low
    ):
        return False
    if ours and theirs and max(len(ours), len(theirs)) <= FEW:
        ways = [DIRECTIONS & {said.low[at] for at in slot} for said, slot in ((one, ours), (bare, theirs))]
        return bool(head & (AT_VERB | VERBS)) and len(kept) > 1 and not any(ways)
    gone, come = one.content - bare.content, bare.content - one.content
    return len(come) == 1 and len(gone) == FEW - 1 and one.keys[0] in gone and one.low[0] in VERBS


def _one_slot(one: ParsedStatement, other: ParsedStatement) -> bool:
    """Return whether two statements differ only in one value of an attribute that has one."""
    before, ours, theirs, behind = _aligned(one, other)
    if not (ours and theirs) or max(len(ours), len(theirs)) > FEW + 1:
        return False
    head = tuple(one.low[at] for at in before)
    slots = [[one.low[at] for at in ours], [other.low[at] for at in theirs]]
    if any(_NEGATED & set(slot) or DIRECTIONS & set(slot) for slot in slots):
        return False
    if PAST.search(DONE_BY.sub(" ", one.text + " . " + other.text)):
        return False
    if all(low in SCHEDULE for slot in slots for low in slot):
        chinese = slots[0][0] >= "\u4e00"
        if chinese and not all(one.low[at] in SCHEDULE for at in behind):
            return False
        return not _turned(one, other) and _scheduled(one.text, head, slots)
    if len(slots[0]) == len(slots[1]) == 1 and all(_count(slot[0]) for slot in slots):
        tail = tuple(one.low[at] for at in behind)
        return _counted(one, head, ours[0], tail) and _count(slots[0][0]) != _count(slots[1][0])
    names = [tuple(said.raw[at] for at in slot) for said, slot in ((one, ours), (other, theirs))]
    return not behind and bool(SINGLE.search(" ".join(head))) and all(_proper(name) for name in names)


def _bare(said: ParsedStatement) -> tuple[ParsedStatement, bool]:
    """Return a statement without what announces a change, and whether it announced one."""
    text = said.text
    left = ANNOUNCED.sub("", text)
    lead = len(_WORD.findall(text)) - len(_WORD.findall(left)) if text.endswith(left) else 0
    raw, low = said.raw[lead:], said.low[lead:]
    last = SINCE.search(" ".join(low))
    kept = len(_WORD.findall(" ".join(low)[: last.start()])) if last else len(low)
    days = {at - low[at - 1 : at].count("these") for at, word in enumerate(low) if word == "days"}
    days = {at for at in days if low[at] == "these"}
    places = [at for at in range(min(kept, len(low))) if low[at] not in ADVERBS and not {at, at - 1} & days]
    announced = lead > 0 or len(places) < len(low)
    chosen = tuple(low[at] for at in places)
    keys = tuple(said.keys[lead + at] for at in places)
    return ParsedStatement(" ".join(chosen), tuple(raw[at] for at in places), chosen, keys), announced


def _aligned(
    one: ParsedStatement, other: ParsedStatement
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the places before the value, of both values, and behind the value."""
    ours = [at for at, low in enumerate(one.low) if low not in ARTICLES]
    theirs = [at for at, low in enumerate(other.low) if low not in ARTICLES]
    skip = _same_subject(one, other, ours, theirs)
    first, second = (ours[skip[0] :], theirs[skip[1] :]) if skip else (ours, theirs)
    start = 0
    while start < min(len(first), len(second)) and _like(one, first[start], other, second[start]):
        start += 1
    end = 0
    while (
        end < min(len(first), len(second)) - start and one.low[first[-1 - end]] == other.low[second[-1 - end]]
    ):
        end += 1
    lead = ours[: skip[0]] if skip else []
    return (
        lead + first[:start],
        first[start : len(first) - end],
        second[start : len(second) - end],
        first[len(first) - end :],
    )


def _like(one: ParsedStatement, at: int, other: ParsedStatement, place: int) -> bool:
    both = {one.low[at], other.low[place]}
    same = bool(one.keys[at]) and one.keys[at] == other.keys[place]
    return len(both) == 1 or same or any(both <= verbs for verbs in ALIKE_VERBS)


def _same_subject(
    one: ParsedStatement, other: ParsedStatement, ours: list[int], theirs: list[int]
) -> tuple[int, int]:
    ends = []
    for said, places in ((one, ours), (other, theirs)):
        ends.append(next((n for n, at in enumerate(places) if said.low[at] in STATES | AT_VERB), 0))
    subjects = [
        {said.keys[at].removesuffix("in") for at in places[:end]} - {""}
        for said, places, end in zip((one, other), (ours, theirs), ends, strict=True)
    ]
    small = [
        {said.low[at] for at in places[:end]} & DIRECTIONS
        for said, places, end in zip((one, other), (ours, theirs), ends, strict=True)
    ]
    same = bool(subjects[0]) and subjects[0] == subjects[1] and small[0] == small[1]
    return (ends[0], ends[1]) if same else ()  # type: ignore[return-value]


def _scheduled(text: str, head: tuple[str, ...], slots: list[list[str]]) -> bool:
    if slots[0] == slots[1] or OPEN.search(text):
        return False
    if slots[0][0] >= "\u4e00":
        return len(head) > FEW and any(low in "在是为每" for low in head)
    days = [any(low in WEEKDAYS for low in slot) for slot in slots]
    if days[0] != days[1]:
        return False
    if not any(days):
        return not DIARY.search(text) and not AT_VERB.isdisjoint(head) and not {"is", "are"} & set(head[:1])
    regular = all(low.endswith("s") for slot in slots for low in slot if low in WEEKDAYS)
    return regular and bool(REGULAR.search(" ".join(head)))


def _counted(said: ParsedStatement, head: tuple[str, ...], at: int, tail: tuple[str, ...]) -> bool:
    before = head[-1] if head else ""
    if OCCASIONS.search(said.text) and before not in ("every", "alle"):
        return False
    own = head[0] in OURSELVES if head else False
    if tail and said.keys[at + 1 : at + 2] != ("",) and tail[0] not in AT_VERB:
        return own or not AT_VERB.isdisjoint(head) or before in HEADS
    return not AT_VERB.isdisjoint(head) and before in HEADS | AT_VERB and not OPEN.search(" ".join(head))


def _count(low: str) -> str:
    return _amount(low) if _NUMBER.fullmatch(low) else NUMBERS.get(low, "")


def _proper(raw: tuple[str, ...]) -> bool:
    return len(raw) <= FEW + 1 and raw[0][:1].isupper() and raw[-1][:1].isupper()
