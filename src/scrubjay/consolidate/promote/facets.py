"""Facets: Iterable[Record] -> tuple[Drawn, ...]. One attribute of one thing each, of what is said in plain form.

Of several values of one attribute the newest is taken, however old it is. The same said of a thing in two projects
is said of two things, unless the speaker speaks of themselves; where several people share a memory nobody knows
who "I" is, and nothing is drawn from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from scrubjay.consolidate.order import order
from scrubjay.consolidate.promote.drawn import Drawn, drawn, usable
from scrubjay.consolidate.promote.grammar import Claim, claims
from scrubjay.consolidate.verbatim import verbatim
from scrubjay.memory.records import Record

TIERS: Final = ("lesson", "semantic")
READ: Final = 2_000
"""Characters of a memory that are read: a fact or a lesson is a sentence or a few."""

_Slot = tuple[str, str, str, str]


def facets(records: Iterable[Record]) -> tuple[Drawn, ...]:
    """Return the attributes that active memories tell, sorted by key, project and title.

    Args:
        records: Memories of any tier in any order; those of ``TIERS`` are read.
    """
    told: defaultdict[_Slot, list[tuple[Record, Claim]]] = defaultdict(list)
    for record in records:
        if record.tier in TIERS and record.status == "active" and usable(record):
            for claim in _claims(record):
                project = "" if claim.personal else record.project or ""
                told[record.key, project, *claim.slot].append((record, claim))
    found = [_drawn(said) for said in told.values()]
    return tuple(sorted(found, key=lambda one: (one.key, one.project or "", one.title)))


def _claims(record: Record) -> list[Claim]:
    own = record.key.startswith("user:")
    seen = (claim for text in verbatim(record.content[:READ]) for claim in claims(text))
    by_slot = {claim.slot: claim for claim in seen if own or claim.entity.lower() not in ("i", "my", "we")}
    return list(by_slot.values())


def _drawn(said: list[tuple[Record, Claim]]) -> Drawn:
    said = sorted(said, key=lambda one: order(one[0]))
    newest = _level(said[-1][1].value)
    same = [(record, claim) for record, claim in said if _level(claim.value) == newest]
    first, last = same[0][0], same[-1][1]  # the first, so that saying it again makes no other memory
    title = f"{last.entity} · {last.attribute}"
    one = drawn("facet", f"{title}: {last.value}", title, [record for record, _ in same], first.event)
    sure = max((record.confidence for record, _ in same if record.origin == "derived"), default=0.0)
    return replace(one, confidence=max(one.confidence, sure))  # as sure as the fact that it is taken from


def _level(value: str) -> str:
    return "".join(filter(str.isalnum, value.casefold().removeprefix("the ").removeprefix("a ")))
