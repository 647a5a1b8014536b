"""Telling: a Plan and what its words said -> how much each of them tells, and which memories hold it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from scrubjay.recall.channels.ranking import WordsRanking
from scrubjay.recall.plan import Plan
from scrubjay.recall.understand import beside
from scrubjay.store.score import idf
from scrubjay.text.telling import identifiers, named, says_nothing
from scrubjay.text.tokens import words as split

NAME: Final = 2.0
"""What a name or a number weighs more than another word of the same rarity: they say most of what is meant."""
FEW: Final = 200
"""Memories that a store is taken to hold at least: in one of three memories every word is common, and one that none of
them holds would outweigh all others."""
RARE: Final = 0.5
"""Share of the greatest idf from which on an identifier is rare: about the root of all memories may hold it."""


def weighed(plan: Plan, words: WordsRanking | None) -> dict[str, float]:
    """Return what each of the query's words tells: its idf as a share of the greatest, a name's more."""
    if words is None:
        return {}
    names, counted, timely = named(plan.query.text), words.words, _timely(plan)
    memories = max(counted.memories, FEW)
    greatest = idf(memories, 0)
    found = {
        group.word: idf(memories, held) / greatest * (NAME if group.word in names else 1.0)
        for group, held in zip(words.groups, counted.frequencies, strict=True)
        if not says_nothing(group.word)
    }
    return {word: weight for word, weight in found.items() if word not in timely} or found


def _timely(plan: Plan) -> set[str]:
    """Return the words that only name the time that is meant: a memory need not hold "last week" to be of it.

    The words of an event that time is counted from say what is asked about, too, and are none of them.
    """
    times = [one for one in plan.question.times if not one.anchor]
    inside = {word.text for one in times for word in split(one.words)}
    return inside - {word.text for word in split(beside(plan.query.text, times))}


def rare(plan: Plan, words: WordsRanking | None) -> set[str]:
    """Return the query's identifiers that few memories hold."""
    asked = identifiers(plan.query.text)
    if words is None or not asked:
        return set()
    counted = words.words
    least = RARE * idf(counted.memories, 0)
    return {
        group.word
        for group, held in zip(words.groups, counted.frequencies, strict=True)
        if group.word in asked and idf(counted.memories, held) >= least
    }


def held_by(words: WordsRanking | None, ids: Sequence[str]) -> list[set[str]]:
    """Return which of the query's words each memory holds."""
    if words is None:
        return [set()] * len(ids)
    asked = [group.word for group in words.groups]
    return [{w for w, part in zip(asked, gave, strict=True) if part} for gave in words.words.parts(ids)]


def known_of(words: WordsRanking | None) -> set[str]:
    """Return which of the query's words any memory holds."""
    pairs = zip(words.groups, words.words.frequencies, strict=True) if words is not None else ()
    return {group.word for group, held in pairs if held}


def share_of(weights: Mapping[str, float], held: Collection[str], whole: float) -> float:
    """Return how much of what is told by all words these tell, 0 to 1."""
    return min(1.0, math.fsum(weights[word] for word in weights if word in held) / whole) if whole else 0.0
