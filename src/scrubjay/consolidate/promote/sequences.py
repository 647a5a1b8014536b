"""Sequences: what was done in each session -> tuple[Sequence, ...]. What was done in the same order in several.

Grown step by step from pairs that several sessions share, with at most ``GAP`` others in between, as long as half of
the sessions go on alike (a greedy form of PrefixSpan with gaps, Pei et al., 2001). A step stands in a
sequence once: to edit and test until it works is no procedure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

GAP: Final = 2
LEAST_STEPS: Final = 3
"""Two commands after one another are no procedure."""
MOST_STEPS: Final = 15
MOST_SEEDS: Final = 2_000
"""Pairs that are grown, those of most sessions first."""
MOST_SESSIONS: Final = 200
"""Sessions in which a pair is grown: the last ones."""

Rank = tuple[int, int, int, str]
_Places = dict[str, list[tuple[int, ...]]]
"""Session to the ways in which it took the steps, each as their places."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Steps that several sessions took in the same order.

    Attributes:
        names: The steps, each once.
        places: Session to the place of each step in it; where a session did it several times, the first time.
    """

    names: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]


def sequences(done: Mapping[str, Sequence[str]], ranks: Mapping[str, Rank]) -> tuple[Repeated, ...]:
    """Return what at least two sessions did in the same order, the longest first; none holds half of another.

    Args:
        done: Session to the names of its steps, in order.
        ranks: Session to what sorts it by time.
    """
    pairs: defaultdict[tuple[str, str], _Places] = defaultdict(dict)
    for session in sorted(done):
        names = done[session]
        for at, first in enumerate(names):
            for then in range(at + 1, min(at + GAP + 2, len(names))):
                if names[then] != first:
                    pairs[first, names[then]].setdefault(session, []).append((at, then))
    seeds = [pair for pair, found in pairs.items() if len(found) > 1]
    seeds.sort(key=lambda pair: (-len(pairs[pair]), pair))
    grown = {}
    for pair in seeds[:MOST_SEEDS]:
        last = sorted(pairs[pair], key=lambda session: (ranks[session], session))[-MOST_SESSIONS:]
        one = _grown(pair, {session: pairs[pair][session] for session in last}, done)
        if len(one.names) >= LEAST_STEPS:
            grown[one.names] = one
    return _apart(sorted(grown.values(), key=lambda one: (-len(one.names), -len(one.places), one.names)))


def _grown(names: tuple[str, ...], found: _Places, done: Mapping[str, Sequence[str]]) -> Repeated:
    while len(names) < MOST_STEPS:
        ways: defaultdict[str, _Places] = defaultdict(dict)
        for session, places in found.items():
            steps = done[session]
            for place in places:
                for then in range(place[-1] + 1, min(place[-1] + GAP + 2, len(steps))):
                    if steps[then] not in names:
                        ways[steps[then]].setdefault(session, []).append((*place, then))
        best = min(ways, key=lambda name: (-len(ways[name]), name), default=None)
        if best is None or len(ways[best]) < max(2, math.ceil(len(found) / 2)):
            break
        names, found = (*names, best), {session: _each_once(places) for session, places in ways[best].items()}
    return Repeated(names, {session: min(places) for session, places in found.items()})


def _each_once(places: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return, of the ways that end in one place, the tightest."""
    tightest: dict[int, tuple[int, ...]] = {}
    for place in sorted(places, reverse=True):  # the latest start first
        tightest.setdefault(place[-1], place)
    return sorted(tightest.values())


def _apart(found: Sequence[Repeated]) -> tuple[Repeated, ...]:
    kept: list[Repeated] = []
    for one in found:
        if all(2 * len(set(one.names) & set(other.names)) < len(one.names) for other in kept):
            kept.append(one)
    return tuple(kept)
