"""Clauses: str -> Words, and Words -> sentences and clauses as (first, last) word.

A sentence ends at a full stop, a line's or a list item's end; a clause where somebody is said to be or do
something anew ("..., and my sister ..."), or where a question or an order begins. Lists ("a dog, two cats and a
parrot") stay whole. Who dictates sets no marks: a long sentence without any is cut at each new "I have", "can you".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scrubjay.ingest.statements.words import (
    ASKING,
    AUXILIARY,
    BE,
    FIRST,
    JOINS,
    OWNED,
    PRONOUNS,
    STATES,
    VERBAL,
)

WRAPPED: Final = 60
"""Characters of a line that may go on in the next; a shorter one ends what it says."""
DICTATED: Final = 14
"""Words without a mark after which there will be none."""
NOUN: Final = 5
"""Words within which a name is followed by its verb."""

LEAST_SAID: Final = 3
"""Words before a comma in a question that may say something themselves: "I'm a nurse, any shoes for nights?"."""
LEAST_ASKED: Final = 4
"""Words after it; fewer are part of what is said: "..., not spaces, right?"."""

_WORD = re.compile(r"[^\s;()]+|[;()]")
_EDGES: Final = ".,;:!?()[]{}\"'*_~`<>#¿¡"
_BREAKS: Final = frozenset((";", "(", ")", "-", "--", "->", "=", "|", "..", "..."))
_ABBREVIATED: Final = frozenset(
    ("e.g.", "i.e.", "dr.", "mr.", "mrs.", "ms.", "st.", "vs.", "etc.", "approx.", "prof.", "inc.", "ca.")
)
_ITEM = re.compile(r"(?:[-*+•#]+|\d{1,2}[.)])\Z")
_TIPS: Final = frozenset("tips ideas idea advice suggestions recommendations chance thoughts way".split())
_HOW: Final = frozenset("much many long often far old about to kind sort type time else i we".split())
_WHOM: Final = PRONOUNS | OWNED | frozenset("a an any anyone someone".split())
_BEFORE: Final = frozenset(
    """and but so or also then ok okay well hi hey hello please pls now btw question quick yes no
    thanks just sorry anyway""".split()
)
_ORDERS: Final = frozenset(
    """please pls always never don't let's lets btw fyi find recommend give suggest show help tell write
    plan explain list fix draft summarize summarise translate leave""".split()
)
_ABROAD: Final = frozenset(
    """ich wir kannst könntest was wie wo welche welches meine mein je tu nous peux pouvez quel quelle
    comment où mon ma yo qué cómo dónde cuál puedes puede mi eu como qual onde podes pode você minha meu""".split()
)
_AND_ABROAD: Final = frozenset("und aber weil denn y pero porque et mais car mas".split())
_AFTERTHOUGHTS: Final = frozenset("should could would so".split())
_FILLS: Final = frozenset("also then now that just please btw".split())
_OPEN: Final = frozenset(  # after these a clause goes on
    """that which who if when what where than think because as hope guess how all but and to of for with in
    at on the a an any every some my our only same whatever since while or is are was from about like
    until before after think say believe know""".split()
)


class Words(NamedTuple):
    """The words of a text, without the marks around them, with their offsets."""

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    raw: list[str]


class Clause(NamedTuple):
    """A clause: its first word, the word after its last, and whether it asks."""

    first: int
    last: int
    asked: bool


def read(text: str, limit: int) -> Words:
    """Return the words of a text before `limit`; ``;`` and brackets are words of their own."""
    words, starts, ends, raw = [], [], [], []
    for found in _WORD.finditer(text, 0, limit):
        whole = found[0]
        words.append(whole if whole.isalpha() else whole.strip(_EDGES) or whole)
        starts.append(found.start())
        ends.append(found.end())
        raw.append(whole)
    return Words(text, words, starts, ends, raw)


def sentences(said: Words) -> Iterator[tuple[int, int, bool]]:
    """Yield (first, last, asked) of each sentence."""
    lines = "\n" in said.text
    start, count = 0, len(said.raw)
    line = said.starts[0] if count else 0
    for at in range(count):
        whole = said.raw[at]
        ended = (
            not (at + 2 < count and said.words[at + 1] == "ever" and said.raw[at + 1] != "ever")
            and whole[-1] in ".!?\"')]*_"
            and _ends(whole)
        )
        if not ended and lines and at + 1 < count:
            gap = said.text[said.ends[at] : said.starts[at + 1]]
            if "\n" in gap:
                wide = said.ends[at] - line > WRAPPED and "\n" not in gap.strip(" ").replace("\n", "", 1)
                ended = not (wide and said.raw[at + 1][0].isalpha() and whole[-1] not in ":;")
                line = said.starts[at + 1]
        if ended or at + 1 == count:
            while start < at and _ITEM.match(said.raw[start]):
                start += 1
            yield start, at + 1, "?" in whole[-3:]
            start = at + 1


def _ends(whole: str) -> bool:
    bare = whole.rstrip("\"')]*_")
    if not bare or bare[-1] not in ".!?":
        return False
    if bare[-1] != ".":
        return True
    return (
        bare not in _ABBREVIATED
        and not (len(bare) == len("j.") and bare[0].isalpha())
        and bare not in _BREAKS
        or bare == "..."
    )


def clauses(said: Words, first: int, last: int, asked: bool) -> list[Clause]:
    """Return the clauses of one sentence in order; what follows a question within it is asked too."""
    words, raw = said.words, said.raw
    dictated = last - first > DICTATED and not any(whole[-1] in ",;:" for whole in raw[first : last - 1])
    bounds = [first]
    for at in range(first + 1, last):
        before = raw[at - 1]
        if (
            raw[at] in _BREAKS
            or before in _BREAKS
            or before[-1] in ":;"
            or _pictured(raw[at])
            or _pictured(before)
        ):
            bounds.append(at)
        elif words[at] in JOINS:
            if words[at] == "since" and before[-1] != ",":
                continue  # "for years, since I was nine"
            if (_opens(words, at + 1, last) or (words[at] == "so" and before[-1] == ",")) and _said(
                words, bounds[-1], at
            ):
                bounds.append(at)
        elif before[-1] == "," or before[-1] == ")":
            if (
                _opens(words, at, last)
                or words[at] in _AFTERTHOUGHTS
                or (asked and at - bounds[-1] >= LEAST_SAID and last - at >= LEAST_ASKED)
            ):
                bounds.append(at)
        elif words[at] in _AND_ABROAD:
            if at - bounds[-1] >= LEAST_ASKED and words[first] in _ABROAD:
                bounds.append(at)
        elif dictated and words[at - 1] not in JOINS and _breathes(words, bounds[-1], at, last):
            bounds.append(at)
    bounds.append(last)
    parts, asks = [], False
    for number in range(len(bounds) - 1):
        start, end = bounds[number], bounds[number + 1]
        asks = asks or _asks(words, start, end)
        final = asked and (end == last or (number == len(bounds) - 3 and last - end <= 2))
        parts.append(Clause(start, end, asks or final))
        asks = asks and asked
    return parts


def _said(words: list[str], first: int, at: int) -> bool:
    """Tell whether something is said before "and": "my brother" alone is the half of a subject."""
    if words[at + 1] not in OWNED and at - first >= LEAST_SAID:
        return True
    return any(word in VERBAL or "'" in word or word[-2:] == "ed" for word in words[first:at])


def _pictured(word: str) -> bool:
    """Tell whether a word is an emoji or another sign that stands between what is said."""
    return not word.isascii() and not any(char.isalnum() for char in word) and word[0] not in "¿¡…’‘"


def _opens(words: list[str], at: int, last: int) -> bool:
    """Tell whether a new statement, question or order begins here."""
    while at < last and words[at] in _FILLS:
        at += 1
    if at + 1 >= last:
        return False
    word, after = words[at], words[at + 1]
    if word in _ABROAD:
        return True
    if word in PRONOUNS or ("'" in word and word.partition("'")[0] in PRONOUNS):
        return after not in ("and", "or")
    if word in OWNED:
        return any(
            later in STATES or later[-2:] == "ed" for later in words[at + 1 : min(at + 1 + NOUN, last)]
        )
    return word in _ORDERS or after in BE or after in ("has", "have") or _asks(words, at, last)


def _asks(words: list[str], at: int, last: int) -> bool:
    """Tell whether a clause begins as questions do."""
    while at < last and words[at] in _BEFORE:
        at += 1
    if at >= last:
        return False
    word, after = words[at], words[at + 1] if at + 1 < last else ""
    if word in ASKING:
        return (
            not after
            or "'" in word
            or after in AUXILIARY
            or after in _HOW
            or (at + 2 < last and words[at + 2] in AUXILIARY and word != "when")
        )
    if word in AUXILIARY:
        return after in _WHOM or not after
    return word in ("any", "got") and (after in _TIPS or after == "any")


def _breathes(words: list[str], start: int, at: int, last: int) -> bool:
    """Tell whether somebody who sets no marks begins anew here."""
    word, before = words[at], words[at - 1]
    if before in _OPEN or at + 2 >= last:
        return False
    if word in FIRST:
        if at - 2 >= start and words[at - 2] in OWNED | {"a", "an", "any", "every", "some"}:
            return False  # "the bike i bought"
        return word not in ("my", "our") or any(later in STATES for later in words[at + 1 : at + 4])
    return _asks(words, at, last) and word not in BE
