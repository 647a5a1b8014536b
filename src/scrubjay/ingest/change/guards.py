"""Guards: (str, str, str) -> str. What stands against two texts saying the same, told by their words alone.

They know no grammar, so that no misread sentence lets a denial or another number pass for what was said before.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from scrubjay.ingest.change import tongues
from scrubjay.ingest.change.days import MONTHS
from scrubjay.ingest.change.figures import SCALES, numerals
from scrubjay.ingest.change.levels import level
from scrubjay.ingest.change.slips import prefixed
from scrubjay.ingest.change.tokens import tokens
from scrubjay.ingest.change.words import NEGATORS, listed

_STOPPING: Final = listed(
    "stop stops stopped stopping quit quits cease ceases ceased except unless no-longer failed failing never"
    " used-to instead-of off-limits anything-but"
)
"""Words that deny without being a denial."""
_ANOTHER: Final = listed("another else only except unless until before after instead-of than additional")
"""Words that make another statement of one which has them not."""
_ASIDE: Final = frozenset(("forget", "mistake", "doubt", "worry"))
"""What is denied where nothing is: "don't forget", "no doubt"."""
_ASKING: Final = frozenset(("do", "no", "please", "not", "never"))
_OPENING: Final = 3
_NUMBERS: Final = {"both": 2.0, "pair": 2.0, "noon": 12.0, "dozen": 12.0, "once": 1.0, "single": 1.0}
_PARTS: Final = frozenset(("half", "halb", "halbe", "quarter", "quarters", "viertel"))
_RATIOS: Final = (60, 3600, 24, 7, 12, 10, 100, 1000, 1024, 1_000_000, 1_000_000_000)
"""By how much an amount differs from itself in another unit; the units are compared elsewhere."""
_HALF_DAY: Final = 12
_DIGITS: Final = re.compile(r"\d+")


def against(old: str, new: str, tongue: str) -> str:
    """Return why a new text does not say what an old one says: "denied", "number", "another"; "" for no reason."""
    ours, theirs = ([token[1] for token in tokens(text, tongue)[0]] for text in (old, new))
    if ours == theirs:
        return ""
    if (_denials(ours, tongue) + _denials(theirs, tongue) + _opposites(ours, theirs)) % 2:
        return "denied"
    if any(word in _ANOTHER for word in set(theirs) - set(ours)):
        return "another"
    return "number" if _counted(ours, theirs, tongue) else ""


def _denials(words: Sequence[str], tongue: str) -> int:
    """Return how often a text denies, by its words: "not", "fails", "stopped", "forbidden"."""
    if tongue != "en":
        return int(any(word in tongues.denials(tongue) - tongues.SILENT for word in words))
    found = sum(word in NEGATORS | _STOPPING for word in words)
    opening = list(itertools.pairwise(words))[: _OPENING if {*words[:1]} & _ASKING else 0]
    return found - any(word in NEGATORS and after in _ASIDE for word, after in opening)


def _opposites(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many words of one text are words of the other turned round by form or meaning."""
    one, other = set(ours) - set(theirs), set(theirs) - set(ours)
    return sum(_opposed(a, b) for a in one for b in other)


def _opposed(one: str, other: str) -> bool:
    ours, theirs = level(one, "en"), level(other, "en")
    if ours.key == theirs.key:
        return ours.opposite != theirs.opposite
    return prefixed(one, other) or f"{one}less" == other or one == f"{other}less"


def _counted(ours: Sequence[str], theirs: Sequence[str], tongue: str) -> bool:
    """Return whether the new text has a number that nothing in the old one accounts for."""
    if _PARTS & {
        *ours,
        *theirs,
    }:  # "half a thousand", "a quarter to nine": as many clothes as there are numbers
        return False
    old, new = _numbers(ours, tongue), _numbers(theirs, tongue)
    if (
        any(one > 1 and not any(_one(one, other) for other in new) for one in old)
        and 1 in new
        and 1 not in old
    ):
        return True  # "twice a week", "once a week"
    return any(one > 1 and not any(_one(one, other) for other in old) for one in new)


def _numbers(words: Sequence[str], tongue: str) -> list[float]:
    found: list[float] = []
    for word in words:
        digits = _DIGITS.findall(word.replace(",", ""))
        said = numerals(tongue).get(word, _NUMBERS.get(word, MONTHS.get(word) if word != "may" else 5))
        if digits:
            found += [float(one[:18]) for one in digits]
        elif said is not None:
            found.append(float(said))
        elif word in SCALES:
            found.append(float(SCALES[word]))
    return [one for one in found if one]


def _one(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return (
        low == high
        or high - low == _HALF_DAY
        or high in [low * ratio for ratio in _RATIOS]
        or low + 2000 == high
    )
