"""Supersede: two statements -> why the later one takes the place of the earlier, or an empty string.

What is superseded leaves default answers, so this errs on one side only: it must never hide what still holds. A
statement supersedes another when both name the same subject and attribute and it

* rejects the old value by its name ("no longer npm", "nicht mehr Kessler", "不再用 Vue 2", "renamed master to main"),
* says that the attribute changed ("the on-call number has changed", "I moved to Lisbon"), or is so from now on,
* corrects it within the same conversation ("No, it's 9464"), or
* is the same statement with another value of what has but one (a number with its unit, a name of "my manager").

Whatever has a qualifier of its own on both sides (lab 1, lab 4; staging, production) is of two things. In doubt, both
stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scrubjay.ingest.change.supersede_words import (
    ADDITIVE,
    ALSO,
    AT_VERB,
    ATTRIBUTES,
    BEEN,
    CHANGED,
    CORRECTION,
    HEADS,
    KIN,
    LASTING,
    LIGHT,
    LIVE,
    MOVED,
    NOW,
    OCCASIONS,
    PASSIVE,
    PAST,
    PERSONS,
    QUALIFIERS,
    REJECTION,
    SAME,
    STATES,
    SUBJECT,
    UNITS,
)
from scrubjay.ingest.change.tongues import tongue
from scrubjay.ingest.concepts.ordinary import UNKNOWN, rank
from scrubjay.text.languages import function_words
from scrubjay.text.stems import stem

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
_NUMBER: Final = re.compile(r"[\d.,:/e-]*\d[\d.,:/e-]*(?:[a-z%]{1,3})?", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"[,;.!()，。；！]|\s(?:to|auf|zu|nach|by|par|por|mais|aber|but|pero|y)\s| - ")
_DESCRIBES: Final = re.compile(r"(?:ed|ing|able|ful|ous|less|ish|ly)$")
_NEGATED: Final = frozenset(
    ("not no never don't doesn't isn't aren't won't nicht kein keine nie ne pas jamais nunca").split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Said:
    """A statement, word by word.

    Attributes:
        text: It, folded, with single blanks.
        raw: Its words as they were written.
        low: Its folded words.
        keys: What each is compared by: its stem, or an empty string for one that tells nothing.
    """

    text: str
    raw: tuple[str, ...]
    low: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def content(self) -> set[str]:
        """What it speaks of, numbers apart."""
        return {key for key in self.keys if key and not _NUMBER.fullmatch(key)}

    @property
    def numbers(self) -> list[int]:
        """Where its numbers stand."""
        return [at for at, low in enumerate(self.low) if _NUMBER.fullmatch(low)]


def supersedes(old: str, new: str, *, together: bool = False) -> str:
    """Return why a statement takes the place of an earlier one, or an empty string where it may not.

    Args:
        old: The earlier one.
        new: The later one.
        together: Both were said in one conversation.

    >>> supersedes("I live in Porto.", "I moved to Lisbon.")
    'it says that it changed'
    >>> supersedes("Room A seats 8.", "Room B seats 12."), supersedes("ann private 0", "ann private 1")
    ('', '')
    """
    language = tongue(old, new)
    one, other = _said(old, language), _said(new, language)
    if CHANGED.search(one.text) or REJECTION.search(one.text):
        return ""
    if not 1 < min(len(one.low), len(other.low)) <= max(len(one.low), len(other.low)) <= MOST:
        return ""
    if "?" in old + new or ALSO.search(other.text) or _parted(one, other):
        return ""
    if _rejects(one, other):
        return "it rejects what was so by its name"
    if _changed(one, other):
        return "it says that it changed"
    if together and CORRECTION.search(other.text) and _shares(one, other):
        return "it corrects what was said in the same conversation"
    if NOW.search(other.text) and not LASTING.search(other.text) and _same_attribute(one, other):
        return "it says that it is so now"
    if _measured(one, other) or _named(one, other):
        return "the same attribute has another value"
    return ""


@lru_cache(2_000)
def _said(text: str, language: str) -> Said:
    raw = tuple(_WORD.findall(text))
    low = tuple(word.lower().replace("’", "'").removesuffix("'s") for word in raw)
    small = function_words(language) | function_words("en") | LIGHT
    keys = tuple("" if word in small else SAME.get(word) or SAME.get(stem(word, language)) or stem(word, language)
                 for word in low)  # fmt: skip
    return Said(" ".join(text.lower().replace("’", "'").split()), raw, low, keys)


def _parted(one: Said, other: Said) -> bool:
    """Tell whether each has a qualifier or a person of its own: of another lab, stage, day, member of the family."""
    for kind in QUALIFIERS:
        both = kind & set(one.low), kind & set(other.low)
        if all(both) and not both[0] & both[1]:
            return True
    if set(KIN.findall(one.text)) != set(KIN.findall(other.text)):
        return True
    ours, theirs = ({PERSONS[word] for word in said.low if word in PERSONS} for said in (one, other))
    if ours and theirs and not ours & theirs:
        return True
    labels = _labels(one), _labels(other)
    return all(labels) and not labels[0] & labels[1]


def _labels(said: Said) -> set[tuple[str, str]]:
    """Return what is told apart by a number or a letter: lab 4, room A, experiment 17, port 5432 as a subject."""
    found = set()
    for at in range(1, len(said.low)):
        word, before = said.low[at], said.low[at - 1]
        letter = len(word) == 1 and said.raw[at].isupper() and said.raw[at] != "I"
        early = not any(word in AT_VERB for word in said.low[:at])
        if (letter or (word.isdigit() and early and not _measures(said, at))) and before.isalpha():
            found.add((before, word))
    return found


def _rejects(one: Said, other: Said) -> bool:
    """Tell whether the new statement names what the old one says, and nothing else, as what is no longer so."""
    keys = [key for key in one.keys if key]
    for found in REJECTION.finditer(other.text):
        if found.lastgroup == "behind":
            near = _behind(other, found.end())
        else:
            near = {
                key for key in other.keys[: len(_WORD.findall(other.text[: found.start()]))][-REACH:] if key
            }
        told = near - (set() if found.lastgroup == "behind" else near - set(keys))
        if told and told <= set(keys) and told & _value(one):
            return True
    return False


def _behind(said: Said, end: int) -> set[str]:
    """Return what stands behind a marker up to the end of its clause or to what introduces the new value."""
    clause = _CLAUSE.split(said.text[end:], maxsplit=1)[0]
    first = len(_WORD.findall(said.text[:end]))
    last = first + min(len(_WORD.findall(clause)), REACH)
    return {key for key in said.keys[first:last] if key}


def _value(said: Said) -> set[str]:
    """Return what a statement says of its subject: what stands behind its first verb, and names."""
    at = next((at for at, low in enumerate(said.low) if low in AT_VERB), 0)
    named = {key for key, raw in zip(said.keys, said.raw, strict=True) if raw[:1].isupper() and key}
    return {key for key in said.keys[at + 1 :] if key} | named


def _shares(one: Said, other: Said) -> bool:
    same = {key for key in one.keys if key} & set(other.keys)
    kind = bool(one.numbers) and bool(other.numbers)
    return bool(same) or (kind and len(other.content) <= 2)


def _changed(one: Said, other: Said) -> bool:
    """Tell whether a verb of change stands beside the attribute of the old statement."""
    moved, lives = MOVED.search(other.text), LIVE.search(one.text)
    if moved and lives and lives.start() <= SOON and _subject(other, moved.start()) and _place(other, moved):
        return _subject(one, lives.start()) or lives.start() == 0
    for found in CHANGED.finditer(other.text):
        first = len(_WORD.findall(other.text[: found.start()]))
        near = _behind(other, found.end())
        if not near <= set(one.keys):
            near = set()
        window = set(other.low[max(0, first - REACH) : first])
        passive = other.low[first - 1] in PASSIVE or not BEEN.isdisjoint(window) if first else False
        if passive or found.group()[0] >= "\u4e00" or found.group() == "moved":
            near |= set(other.keys[max(0, first - REACH) : first])
        attribute = near & one.content
        if len(attribute) > 1 or (attribute and not STATES.isdisjoint(one.low) and _only(one, attribute)):
            return True
    return False


def _only(one: Said, attribute: set[str]) -> bool:
    """Tell whether what is shared is the head of the old statement, or its value by name."""
    named = {key for key, raw in zip(one.keys, one.raw, strict=True) if raw[:1].isupper() and key}
    first = next((key for key in one.keys if key), "")
    return bool(attribute & ({first} | named)) or len(one.content) < FEW


def _place(said: Said, moved: re.Match[str]) -> bool:
    """Tell whether what follows "to" is a name."""
    at = len(_WORD.findall(said.text[: moved.end()]))
    return not moved.group().endswith((" to", " a")) or (at < len(said.raw) and said.raw[at][:1].isupper())


def _subject(said: Said, at: int) -> bool:
    return bool(SUBJECT.search(said.text[:at]))


def _same_attribute(one: Said, other: Said) -> bool:
    """Tell whether all but the value of the old statement is said by the new one, of what has one value."""
    value = next((key for key in reversed(one.keys) if key), "")
    rest = one.content - {value}
    if any(word in ADDITIVE for word in (*one.low, *one.keys)) or value in other.keys:
        return False
    if _NEGATED & set(one.low) != _NEGATED & set(other.low):
        return False
    told = {key for key in _clause(other) if key}
    more = {key for key in told - rest if not _NUMBER.fullmatch(key)}
    return bool(rest) and rest <= other.content and (len(rest) > 1 or len(more) <= 1)


def _clause(said: Said) -> tuple[str, ...]:
    return said.keys[: len(_WORD.findall(_CLAUSE.split(said.text, maxsplit=1)[0]))]


def _measured(one: Said, other: Said) -> bool:
    """Tell whether the same thing is measured: one number differs, and all else says the same."""
    if PAST.search(one.text) or PAST.search(other.text):
        return False
    if OCCASIONS.search(one.text + other.text) and DUE not in one.content & other.content:
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
    return _same_thing(one.content - _unit(one, first), other.content - _unit(other, second))


def _amount(low: str) -> str:
    return low.replace(",", "").replace("k", "000")


def _unit(said: Said, at: int) -> set[str]:
    return {said.keys[at + 1]} if at + 1 < len(said.low) and said.low[at + 1] in UNITS else set()


def _same_thing(ours: set[str], theirs: set[str]) -> bool:
    """Tell whether the new statement speaks of the same: a word more tells which of several."""
    narrower = any(kind & (ours ^ theirs) for kind in QUALIFIERS)
    most = len(theirs) if all(key >= "\u4e00" for key in theirs) else min(len(theirs), FEW)
    return bool(theirs) and not narrower and (ours == theirs or (theirs < ours and len(ours - theirs) < most))


def _values(said: Said) -> dict[int, str]:
    """Return where the numbers of a statement stand, each with its unit."""
    found = {}
    for at in said.numbers:
        behind = said.low[at + 1] if at + 1 < len(said.low) else ""
        found[at] = UNITS.get(behind, "")
    return found


def _measures(said: Said, at: int) -> bool:
    return at + 1 < len(said.low) and said.low[at + 1] in UNITS


def _numbered(said: Said, at: int) -> bool:
    """Tell whether a number names a thing (ticket 12, chapter 3) rather than measures one."""
    early = not any(word in AT_VERB or word in HEADS for word in said.low[:at]) and ":" not in said.text
    before = said.low[at - 1] if at else ""
    if _measures(said, at):
        return False
    return (
        at == 0 or early or (before.isalpha() and bool(said.keys[at - 1]) and before not in HEADS | AT_VERB)
    )


def _named(one: Said, other: Said) -> bool:
    """Tell whether two names are given to what has one, in the same words but for the name."""
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
    known = [rank(word.lower()) for word in raw]
    pairs = zip(raw, known, strict=True)
    named = all(word[:1].isupper() or (at >= UNKNOWN and not _DESCRIBES.search(word)) for word, at in pairs)
    return len(raw) <= FEW and named and max(known) >= RARE


def _head(head: tuple[str, ...]) -> bool:
    """Tell whether words name an attribute of which there is one: "my editor is", "the build runs on"."""
    return bool(ATTRIBUTES.search(" ".join(head)))
