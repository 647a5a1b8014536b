"""Guards: (str, str, str) -> str. What stands against two texts saying the same, told by their words alone.

They know no grammar, so that no misread sentence lets a denial or another number pass for what was said before.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from scrubjay.ingest.change import tongues
from scrubjay.ingest.change.days import MONTHS
from scrubjay.ingest.change.figures import SCALES, numerals
from scrubjay.ingest.change.levels import Level, level
from scrubjay.ingest.change.slips import prefixed
from scrubjay.ingest.change.tokens import REMEMBERED, tokens
from scrubjay.ingest.change.words import NEGATORS, listed

_STOPPING: Final = listed(
    "stop stops stopped stopping quit quits cease ceases ceased except unless no-longer failed failing never"
    " used-to instead-of off-limits anything-but"
)
"""Words that deny without being a denial."""
_DENYING: Final = NEGATORS | _STOPPING
_ANOTHER: Final = listed("another else only except unless additional")
"""Words that make another statement of one which has them not."""
_BOUNDED: Final = listed("until before after instead-of than")
"""Words that often do; "expires in May" and "valid until May" say the same."""
_ASIDE: Final = frozenset(("forget", "mistake", "doubt", "worry"))
"""What is denied where nothing is: "don't forget", "no doubt"."""
_ASKING: Final = frozenset(("do", "no", "please", "not", "never"))
_OPENING: Final = 3
_NUMBERS: Final = {"both": 2.0, "pair": 2.0, "noon": 12.0, "dozen": 12.0, "once": 1.0, "single": 1.0}
_HOW_MANY: Final = {
    **dict.fromkeys(("all", "every", "each", "everyone", "everybody", "everything", "always"), "all"),
    **dict.fromkeys(("most", "mostly", "usually", "majority"), "most"),
    **dict.fromkeys(("some", "sometimes", "occasionally", "partly"), "some"),
    **dict.fromkeys(("few", "rarely", "seldom", "hardly", "barely", "scarcely"), "few"),
}
"""Words of how many and how often, by what they say."""
_WHEN: Final = listed("yesterday today tonight tomorrow")
_LAST: Final = listed("last next this")
_SPANS: Final = listed("week month year weekend night morning summer winter spring autumn fall")
_PARTS: Final = frozenset(("half", "halb", "halbe", "quarter", "quarters", "viertel"))
_RATIOS: Final = (60, 3600, 24, 7, 12, 10, 100, 1000, 1024, 1_000_000, 1_000_000_000)
"""By how much an amount differs from itself in another unit; the units are compared elsewhere."""
_HALF_DAY: Final = 12
_TEN: Final = 10
_TENS: Final = frozenset(range(20, 100, 10))
_ALIKE: Final = 1e-9
"""By how much of itself a number may differ from itself in another unit."""
_WHOLE: Final = re.compile(r"[$€£~]?(\d{1,15}(?:\.\d{1,9})?)(k|m)?")
_DIGITS: Final = re.compile(r"\d+")


def against(old: str, new: str, tongue: str) -> str:
    """Return what stands against it: "denied", "number", "another", "bounded" (a doubt only); "" for nothing."""
    ours, theirs = (tuple(token[1] for token in tokens(text, tongue)[0]) for text in (old, new))
    if ours == theirs:
        return ""
    if (denials(ours, tongue) + denials(theirs, tongue) + _opposites(ours, theirs)) % 2:
        return "denied"
    if any(word in _ANOTHER for word in set(theirs) - set(ours)):
        return "another"
    if any(word in _BOUNDED for word in set(theirs) - set(ours)):
        return "number" if _counted(ours, theirs, tongue) else "bounded"
    one, other = ({_HOW_MANY[word] for word in words if word in _HOW_MANY} for words in (ours, theirs))
    when = [_when(words) for words in (ours, theirs)]
    if when[0] and when[1] and not when[0] & when[1]:
        return "another"
    if (one and other and not one & other) or _switched(ours, theirs) or _switched(theirs, ours):
        return "another"
    return "number" if _counted(ours, theirs, tongue) else ""


def _when(words: Sequence[str]) -> set[str]:
    """Return when it was, seen from the day it was said: "yesterday", "last week"."""
    found = {word for word in words if word in _WHEN}
    return found | {
        f"{before} {word}" for before, word in itertools.pairwise(words) if before in _LAST and word in _SPANS
    }


def _switched(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether one says "on" where the other says "off"."""
    return "on" in ours and "off" not in ours and "off" in theirs


@lru_cache(REMEMBERED)
def denials(words: tuple[str, ...], tongue: str) -> int:
    """Return how often a text denies, by its words: "not", "fails", "stopped", "forbidden"."""
    if tongue != "en":
        return int(any(word in tongues.denials(tongue) - tongues.SILENT for word in words))
    found = sum(word in _DENYING for word in words)
    opening = list(itertools.pairwise(words))[: _OPENING if {*words[:1]} & _ASKING else 0]
    return found - any(word in NEGATORS and after in _ASIDE for word, after in opening)


def _opposites(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many words of one text are words of the other turned round by form or meaning."""
    one = [(word, level(word, "en")) for word in set(ours) - set(theirs)]
    other = [(word, level(word, "en")) for word in set(theirs) - set(ours)]
    return sum(_opposed(a, b, mine, yours) for a, mine in one for b, yours in other)


def _opposed(one: str, other: str, ours: Level, theirs: Level) -> bool:
    if ours.key == theirs.key:
        return ours.opposite != theirs.opposite
    if one[-3:] != other[-3:] and one[:3] != other[:3]:
        return False  # neither a prefix nor an ending turns one into the other
    return prefixed(one, other) or f"{one}less" == other or one == f"{other}less"


def _counted(ours: tuple[str, ...], theirs: tuple[str, ...], tongue: str) -> bool:
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


@lru_cache(REMEMBERED)
def _numbers(words: tuple[str, ...], tongue: str) -> list[float]:
    found: list[float] = []
    tens = 0.0  # "twenty" of "twenty-five"
    for word in words:
        said = numerals(tongue).get(word, _NUMBERS.get(word, MONTHS.get(word) if word != "may" else 5))
        if tens and said and said < _TEN:
            found[-1], tens = tens + said, 0.0
            continue
        tens = float(said) if said and said in _TENS else 0.0
        if said is not None:
            found.append(float(said))
        elif word in SCALES:
            found.append(float(SCALES[word]))
        else:
            found += _written(word)
    return [one for one in found if one]


def _written(word: str) -> list[float]:
    """Return the numbers that a word has digits of: "1,500", "1.5k", "3:28"."""
    plain = word.replace(",", "")
    whole = _WHOLE.fullmatch(plain)
    if whole:
        return [float(whole[1]) * SCALES.get(whole[2], 1)]
    return [float(one[:18]) for one in _DIGITS.findall(plain)]


def _one(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return (
        low == high
        or high - low == _HALF_DAY
        or low + 2000 == high
        or any(abs(high - low * ratio) < _ALIKE * high for ratio in _RATIOS)
    )
