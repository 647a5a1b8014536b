"""Lost: Plan -> archived memories that alone hold an identifier of the query.

Archiving takes what was digested out of answers, but no name out of the world: where an identifier or a number stands
in no active memory, the archived ones that hold it answer too, and are marked by their status.
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


def lost(plan: Plan, reader: Reader) -> frozenset[str]:
    """Return archived memories that hold an identifier which no active one holds.

    None where the caller chose statuses. An identifier is a word with more than letters in it: ``ERR_409``, ``v2.1``.
    """
    if plan.fusion != "auto" or plan.where.statuses != ("active",) or "bm25" not in plan.channels:
        return frozenset()
    found: set[str] = set()
    named = [group for group in plan.groups if not group.word.isalpha()]
    counts = reader.frequencies(named) if named else []
    for group, count in zip(named, counts, strict=True):
        if 0 < count <= RARE and not reader.words([group], plan.where).top(1):
            archived = replace(plan.where, statuses=("archived",))
            found |= {hit.id for hit in reader.words([group], archived).top(MOST)}
    return frozenset(found)
