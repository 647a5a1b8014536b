"""Clauses: Words of a sentence -> its clauses as (first word, word after the last, whether it asks).

A clause ends where somebody is said to be or do something anew ("..., and my sister ..."), or where a question or
an order begins. Lists ("a dog, two cats and a parrot") stay whole. Who dictates sets no marks: a long sentence
without any is cut at each new "I have", "can you".
"""

from __future__ import annotations

from typing import Final, NamedTuple

from scrubjay.ingest.statements.reading import Words
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
    bag,
)

DICTATED: Final = 14
"""Words without a mark after which there will be none."""
NOUN: Final = 5
"""Words within which a name is followed by its verb."""

LEAST_SAID: Final = 3
"""Words before a comma in a question that may say something themselves: "I'm a nurse, any shoes for nights?"."""
LEAST_ASKED: Final = 4
"""Words after it; fewer are part of what is said: "..., not spaces, right?"."""

_BREAKS: Final = frozenset((";", "(", ")", "-", "--", "->", "=", "|", "..", "..."))
_TIPS: Final = bag("tips ideas idea advice suggestions recommendations chance thoughts way")
_HOW: Final = bag("much many long often far old about to kind sort type time else i we")
_WHOM: Final = PRONOUNS | OWNED | bag("a an any anyone someone")
_BEFORE: Final = bag(
    """and but so or also then ok okay well hi hey hello please pls now btw question quick yes no thanks
    just sorry anyway"""
)
_ORDERS: Final = bag(
    """please pls always never don't let's lets btw fyi find recommend give suggest show help tell write
    plan explain list fix draft summarize summarise translate leave"""
)
_ABROAD: Final = bag(
    """ich wir kannst könntest was wie wo welche welches meine mein je tu nous peux pouvez quel quelle
    comment où mon ma yo qué cómo dónde cuál puedes puede mi eu como qual onde podes pode você minha meu"""
)
_AND_ABROAD: Final = bag("und aber weil denn y pero porque et mais car mas")
_JOINTS: Final = JOINS | _AND_ABROAD
_AFTERTHOUGHTS: Final = bag("should could would so")
_FILLS: Final = bag("also then now that just please btw")
_OPEN: Final = bag(
    """that which who if when what where than think because as hope guess how all but and to of for with in
    at on the a an any every some my our only same whatever since while or is are was from about like
    until before after say believe know told tell said says heard mean"""
)
"""After these a clause goes on."""
_IS: Final = bag("a an in on at the not from called")
"""After "'s" where it is short for "is"."""
_ANY: Final = OWNED | bag("a an any every some")


class Clause(NamedTuple):
    """A clause: its first word, the word after its last, and whether it asks."""

    first: int
    last: int
    asked: bool


def clauses(said: Words, first: int, last: int, asked: bool) -> list[Clause]:
    """Return the clauses of one sentence in order; what follows a question within it is asked too."""
    words = said.words
    bounds = _bounds(said, first, last, asked)
    parts, question = [], False
    for number, start in enumerate(bounds[:-1]):
        end = bounds[number + 1]
        question = question or asks(words, start, end)
        tagged = number == len(bounds) - 3 and last - end < LEAST_SAID
        parts.append(Clause(start, end, question or (asked and (end == last or tagged))))
        question = question and asked
    return parts


def _bounds(said: Words, first: int, last: int, asked: bool) -> list[int]:
    """Return the first words of the clauses, and `last`."""
    words, raw = said.words, said.raw
    dictated = last - first > DICTATED and not any(whole[-1] in ",;:" for whole in raw[first : last - 1])
    pictures = not said.text.isascii()
    plain = not (dictated or pictures)
    bounds = [first]
    for at in range(first + 1, last):
        before, word = raw[at - 1], words[at]
        mark = before[-1]
        if plain and mark.isalnum() and word not in _JOINTS and raw[at] not in _BREAKS:
            continue
        if (
            mark in ":;"
            or raw[at] in _BREAKS
            or before in _BREAKS
            or (pictures and (_pictured(raw[at]) or _pictured(before)))
        ):
            cut = True
        elif word in JOINS:
            cut = _joins(words, bounds[-1], at, last, mark == ",")
        elif mark in ",)":
            cut = _opens(words, at, last) or word in _AFTERTHOUGHTS
            cut = cut or (asked and at - bounds[-1] >= LEAST_SAID and last - at >= LEAST_ASKED)
        elif word in _AND_ABROAD:
            cut = at - bounds[-1] >= LEAST_ASKED and words[first] in _ABROAD
        else:
            cut = dictated and words[at - 1] not in JOINS and _breathes(words, bounds[-1], at, last)
        if cut:
            bounds.append(at)
    bounds.append(last)
    return bounds


def _joins(words: list[str], first: int, at: int, last: int, comma: bool) -> bool:
    """Tell whether "and" joins two clauses; "my brother and my sister" is the subject of one."""
    if words[at] == "since" and not comma:
        return False  # "for years, since I was nine"
    if not (_opens(words, at + 1, last) or (words[at] == "so" and comma)):
        return False
    if words[at + 1] not in OWNED and at - first >= LEAST_SAID:
        return True
    return any(
        word in VERBAL or word in FIRST or "'" in word or word[-2:] == "ed" for word in words[first:at]
    )


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
            later in STATES
            or later[-2:] == "ed"
            or (later[-2:] == "'s" and near > at + 1 and words[near] in _IS)
            for near, later in enumerate(words[at + 1 : min(at + 1 + NOUN, last - 1)], at + 2)
        )
    return word in _ORDERS or after in BE or after in ("has", "have") or asks(words, at, last)


def asks(words: list[str], at: int, last: int) -> bool:
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
    if before in _OPEN or before in PRONOUNS or at + 2 >= last:
        return False
    if word in FIRST:
        if at - 2 >= start and words[at - 2] in _ANY:
            return False  # "the bike i bought"
        return word not in ("my", "our") or any(later in STATES for later in words[at + 1 : at + 4])
    return asks(words, at, last) and word not in BE
