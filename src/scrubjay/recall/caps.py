"""Caps: candidates and their records -> candidates, with what one conversation or document has too many of put after.

Nothing is left out: where nothing else is found, what is over the cap fills the answer. What somebody wrote down on
purpose (added by hand, learned, pinned) belongs to no cap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scrubjay.memory.ranking import MICRO, Candidate, Contribution
from scrubjay.memory.records import Record
from scrubjay.recall.request import Caps


def caps(candidates: Sequence[Candidate], records: Mapping[str, Record], most: Caps) -> list[Candidate]:
    """Put what is over a cap behind everything that is not, each in its order.

    Args:
        candidates: Best first.
        records: The record of each.
        most: The caps.
    """
    counted: Counter[tuple[str, ...]] = Counter()
    kept: list[Candidate] = []
    over: list[tuple[Candidate, int]] = []
    for one in candidates:
        group, cap = _group(records[one.id], most)
        if cap:
            counted[group] += 1
        if cap and counted[group] > cap:
            over.append((one, counted[group]))
        else:
            kept.append(one)
    if not over or not kept:
        return list(candidates)
    # One amount for all of them keeps their order, and brings the best of them just below the last that is not over.
    lower = max(0.0, over[0][0].score - kept[-1].score + 1 / MICRO)
    return kept + [
        replace(one, contributions=(*one.contributions, Contribution("cap", float(place), -lower, 1.0)))
        for one, place in over
    ]


def _group(record: Record, most: Caps) -> tuple[tuple[str, ...], int]:
    """Return what a memory is counted with, and how many of it are enough; 0 where it is not counted."""
    if record.pinned or record.tier != "observation":
        return (), 0
    if record.session is not None and record.turn is not None:
        return ("session", record.session), most.session
    if record.place is not None:
        return ("document", record.place.source, record.place.path), most.document
    return (), 0
