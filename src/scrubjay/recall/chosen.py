"""Chosen: ranked candidates -> those an answer is made of, with their records: true then, verified, each said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record
from scrubjay.recall.caps import caps
from scrubjay.recall.diversify import diversify
from scrubjay.recall.plan import Plan
from scrubjay.recall.request import Caps
from scrubjay.recall.valid import beginnings, meanwhile, valid
from scrubjay.recall.vary import vary
from scrubjay.recall.verify import verify
from scrubjay.store.base import Reader
from scrubjay.text.idle import idle

SPARE: Final = 10
"""Records read beyond those wanted: enough that a few equal texts leave the answer full. With 20 all sets give the same
figures, and a search costs a tenth more (bench/LOG.md)."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What an answer is made of.

    Attributes:
        candidates: Best first; more than are wanted, where there are.
        records: The record of each, and of what was read beside them.
        copies: Candidate to those that say the same and stand behind it.
    """

    candidates: tuple[Candidate, ...]
    records: Mapping[str, Record]
    copies: Mapping[str, tuple[str, ...]]

    def turns(self, first: int) -> dict[str, bool]:
        """Return the first candidates, and whether each is a turn of a conversation."""
        return {one.id: self.records[one.id].turn is not None for one in self.candidates[:first]}


def chosen(ranked: Sequence[Candidate], made: Plan, reader: Reader, back: Set[str], wanted: int) -> Chosen:
    """Read records in the order of their rank until enough are verified and none repeats another.

    Each time more are read: of ten thousand copies the different ones are found in few steps.

    Args:
        ranked: Candidates, best first.
        made: The query made ready.
        reader: Where the records are.
        back: Of archived ones, when only some are wanted back, those; the others are passed over.
        wanted: How many are enough.
    """
    kept: tuple[Candidate, ...] = ()
    records: dict[str, Record] = {}
    copies: dict[str, tuple[str, ...]] = {}
    first, size = 0, wanted + SPARE
    while first < len(ranked) and len(kept) < wanted:
        batch = ranked[first : first + size]
        records |= reader.get([candidate.id for candidate in batch])
        there = [
            c
            for c in batch
            if c.id in records and (not back or records[c.id].status == "active" or c.id in back)
        ]
        if not made.query.phrases:
            there = [c for c in there if not says_nothing(records[c.id])]
        if made.true_at is not None:
            there, older = meanwhile(there, records, reader, made.true_at)
            records |= older
            began = None
            if made.as_of is not None:
                began = beginnings([records[c.id] for c in there], reader, told=made.as_asked)
            there = valid(there, records, made.true_at, began)
        kept = (*kept, *verify(there, records, made.query))
        if "diversify" in made.stages:
            done = diversify(kept, records)
            kept = done.candidates
            copies |= {one: (*copies.get(one, ()), *others) for one, others in done.copies.items()}
        first, size = first + size, size * 2
    return Chosen(kept, records, copies)


def says_nothing(record: Record) -> bool:
    """Tell whether a memory is a turn that says nothing by itself: it is stored for its conversation."""
    return record.turn is not None and idle(record.content)


def varied(picked: Chosen, made: Plan, most: Caps) -> Chosen:
    """Let different things stand beside each other; nobody is lost."""
    found = list(picked.candidates)
    if made.fusion == "auto" and "mmr" in made.stages:
        found = vary(found, picked.records)
    if "caps" in made.stages and (most.session or most.document):
        found = caps(found, picked.records, most)
    return replace(picked, candidates=tuple(found))
