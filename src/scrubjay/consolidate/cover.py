"""Cover: sentences -> those of them that say most of what all of them say, within a room.

A term is worth its information, and is covered as well as the best voice that says it,

    value(S) = sum over terms of worth(term) * max over the sentences of S that hold it of voice(sentence)
    worth(term) = ln(its rank among English words / 50)

Nothing is gained by saying a thing again, so what is dense is taken and what repeats is not. The function is
monotone and submodular, so taking what gains most a token, again and again, comes near the best choice (Lin and
Bilmes, 2010); gains only fall, so few of them are worked out again (Minoux, 1978).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scrubjay.ingest.concepts.ordinary import rank

ORDINARY: Final = 50
"""Rank of a word that everybody uses, and that so tells nothing."""
LEAD: Final = 24
"""Quarter tokens added to a sentence's length, so that two telling words do not win by being short."""
NEW: Final = 0.1
"""Share of its worth that a sentence must bring which none before it brought, unless that is a number: of two
sentences that differ in a usual word one is enough, of two that differ in a name or a number both are needed.
Session recall of LongMemEval is alike with 0, .1 and .2 (.950, .950, .944; bench/LOG.md)."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence that may be taken.

    Attributes:
        record: Place of its record in the group.
        text: As it stands there.
        terms: Its words.
        size: Quarter tokens.
        voice: What its speaker counts, above zero.
    """

    record: int
    text: str
    terms: frozenset[str]
    size: int
    voice: float


def cover(units: Sequence[Unit], labels: Sequence[int], room: int, first: Sequence[int] = ()) -> list[Unit]:
    """Return the sentences taken, in the order given.

    Args:
        units: Sentences, each text once.
        labels: Quarter tokens that the first sentence of a record costs besides its own, by the record's place.
        room: Quarter tokens that may be taken in all.
        first: Places of sentences that are taken before any other, as far as there is room.
    """
    worth = _worths(units)
    left = {voice: {t: voice * own for t, own in worth.items()} for voice in {unit.voice for unit in units}}
    opened: set[int] = set()
    taken: list[int] = []

    def gain(unit: Unit) -> float:
        return math.fsum(map(left[unit.voice].__getitem__, unit.terms))  # a set has no order, nor has fsum

    for place in first:
        size = units[place].size + (0 if units[place].record in opened else labels[units[place].record])
        if size <= room:
            taken.append(place)
            opened.add(units[place].record)
            room -= size
            _cover(left, units[place], worth)
    whole = [gain(unit) for unit in units]
    heap = [
        (-own / (unit.size + LEAD), place) for place, (own, unit) in enumerate(zip(whole, units, strict=True))
    ]
    heapq.heapify(heap)
    while heap:
        best, place = heapq.heappop(heap)
        unit = units[place]
        size = unit.size + (0 if unit.record in opened else labels[unit.record])
        own = gain(unit)
        if size > room or own <= 0 or (own < NEW * whole[place] and not _counts(unit, left[unit.voice])):
            continue
        now = -own / (unit.size + LEAD)
        if now > best and heap and now > heap[0][0]:
            heapq.heappush(heap, (now, place))
            continue
        taken.append(place)
        opened.add(unit.record)
        room -= size
        _cover(left, unit, worth)
    return [units[place] for place in sorted(taken)]


def _counts(unit: Unit, left: Mapping[str, float]) -> bool:
    """Tell whether a sentence holds a number that none before it holds."""
    return any(left[term] > 0 and any(map(str.isdigit, term)) for term in unit.terms)


def _cover(left: Mapping[float, dict[str, float]], unit: Unit, worth: Mapping[str, float]) -> None:
    """Take from what each voice could still gain what has now been said."""
    for voice, own in left.items():
        over_it = max(0.0, voice - unit.voice)
        own |= {term: min(own[term], over_it * worth[term]) for term in unit.terms}


def _worths(units: Sequence[Unit]) -> dict[str, float]:
    return {term: _information(term) for unit in units for term in unit.terms}


@lru_cache(maxsize=65_536)
def _information(term: str) -> float:
    return math.log(max(1.0, rank(term) / ORDINARY))
