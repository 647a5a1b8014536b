"""Diversify: candidates and their records -> candidates of which none says only what one before it says.

What is a copy, `repeated` says. One is not lost: the one that is kept says how many there are, and which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record
from scrubjay.recall.repeated import Told


@dataclass(frozen=True, slots=True)
class Diversified:
    """Candidates after folding.

    Attributes:
        candidates: Those that are kept, in the order in which they came.
        copies: Kept candidate to those that say the same, in that order.
    """

    candidates: tuple[Candidate, ...]
    copies: Mapping[str, tuple[str, ...]]


def diversify(candidates: Sequence[Candidate], records: Mapping[str, Record]) -> Diversified:
    """Keep the best of memories that say the same: a copy of a note answers nothing more."""
    kept: dict[str, Candidate] = {}
    copies: dict[str, list[str]] = {}
    told = Told()
    for candidate in candidates:
        same = told.repeated(records[candidate.id])
        if same is None:
            kept[candidate.id] = candidate
        else:
            copies.setdefault(same, []).append(candidate.id)
    return Diversified(tuple(kept.values()), {memory: tuple(ids) for memory, ids in copies.items()})
