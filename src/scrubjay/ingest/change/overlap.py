"""Overlap: Claim, Claim -> (float, float). How much of what each says the other says too, rare words counting more."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from scrubjay.ingest.change.claim import Claim, Word
from scrubjay.ingest.change.common import ranks
from scrubjay.ingest.change.words import LIGHT, MOVES, WEIGHTLESS

KNOWN: Final = 20_000
"""Words whose weight is remembered."""
_IDLE: Final = LIGHT | WEIGHTLESS | MOVES
_LITTLE: Final = 0.4
"""What a word that carries little is worth beside others."""
UNKNOWN: Final = 28_000
"""Rank of a word that is not among the common ones."""
_COMMON: Final = 200
"""Rank of a word up to which it tells as little as any."""
_ROOT: Final = 4
"""Letters that two words begin with alike before they may be of one root: "allergic", "allergy"."""
_LIKE: Final = 0.6
"""Share of the longer word that is alike in words of one root."""


def overlap(old: Claim, new: Claim) -> tuple[float, float, float, float]:
    """Return which share of each claim's words the other has, and the weight of what each has alone."""
    ours, theirs = _covered(old.words, new.words), _covered(new.words, old.words)
    return (*_share(ours), *_share(theirs))


def _share(weighed: tuple[float, float]) -> tuple[float, float]:
    total, found = weighed
    return (found / total if total else 1.0), total - found


def _covered(words: Iterable[Word], others: Iterable[Word]) -> tuple[float, float]:
    keys, raws = {word.key for word in others}, {word.raw.lower() for word in others}
    total = found = 0.0
    for word in words:
        low = word.raw.lower()
        value = worth(low, word.key)
        total += value
        if word.key in keys or low in raws:
            found += value
        else:
            found += value * max((rooted(low, other) for other in raws), default=0.0)
    return total, found


@lru_cache(KNOWN)
def worth(low: str, key: str) -> float:
    """Return how much a word tells: more the rarer it is, little where it carries little of its own."""
    return math.log(max(_rank(low), _COMMON) / 100) * (_LITTLE if key in _IDLE else 1.0)


def _rank(low: str) -> int:
    """Return the rank of a word, or of its plural or singular where that is commoner."""
    other = low[:-1] if low.endswith("s") else low + "s"
    return min(ranks().get(low, UNKNOWN), ranks().get(other, UNKNOWN))


def rooted(one: str, other: str) -> float:
    """Return how likely two words are of one root, from 0 to 1, by the letters they begin with."""
    if one[:_ROOT] != other[:_ROOT] or len(one) < _ROOT or not (one.isalpha() and other.isalpha()):
        return 0.0
    alike = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    share = alike / max(len(one), len(other))
    return share if share >= _LIKE else 0.0
