"""Lost: Plan -> archived memories that may answer, and whether any may.

Archiving takes memories out of answers, but nothing out of the world: where an identifier or a number stands in no
active memory, the archived ones that hold it answer too, and where nothing active answers at all, the archive is
searched (``pipeline.search``). Each is marked by its status.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scrubjay.recall.plan import Plan
from scrubjay.store.base import Reader

RARE: Final = 20
"""Memories that may hold a word that is looked for so: what more of them hold, a digest holds too."""
MOST: Final = 50
"""Archived memories that a word brings back."""


def may_return(plan: Plan) -> bool:
    """Tell whether archived memories may answer: not where the caller chose statuses or another fusion."""
    return "lost" in plan.stages and plan.fusion == "auto" and plan.where.statuses == ("active",)


def lost(plan: Plan, reader: Reader) -> frozenset[str]:
    """Return archived memories that hold an identifier which no active one holds.

    An identifier is a word with more than letters in it: ``ERR_409``, ``v2.1``.
    """
    if not may_return(plan) or "bm25" not in plan.channels:
        return frozenset()
    found: set[str] = set()
    named = [group for group in plan.groups if not group.word.isalpha()]
    counts = reader.frequencies(named) if named else []
    for group, count in zip(named, counts, strict=True):
        if 0 < count <= RARE and not reader.words([group], plan.where).top(1):
            archived = replace(plan.where, statuses=("archived",))
            found |= {hit.id for hit in reader.words([group], archived).top(MOST)}
    return frozenset(found)
