"""Shared: numbers for what records say -> which of them two sources share. 24 bytes for each, whatever is said."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.promote.drawn import number, source
from scrubjay.memory.records import Record

MOST: Final = 200
"""Times that two rare words may stand together: what is said more often is a form that is filled in, and no fact."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is worth reading again.

    Attributes:
        pairs: Numbers that several sources share.
        records: Ids of the records that hold one of them.
    """

    pairs: frozenset[int]
    records: frozenset[str]


class Shared:
    """Collects numbers with the record and the source that each was found in."""

    def __init__(self) -> None:
        """Begin with none."""
        self._marks, self._sources, self._records = array("Q"), array("Q"), array("Q")
        self._ids: list[str] = []

    def note(self, record: Record, marks: Iterable[int]) -> None:
        """Remember what a record holds."""
        of, place = number(source(record)), len(self._ids)
        self._ids.append(record.id)
        for mark in marks:
            self._marks.append(mark)
            self._sources.append(of)
            self._records.append(place)

    def wanted(self) -> Wanted:
        """Return what at least two sources hold, at most ``MOST`` times in all."""
        import numpy as np

        if not self._marks:
            return Wanted(frozenset(), frozenset())
        marks, of, whose = (
            np.frombuffer(one, np.uint64) for one in (self._marks, self._sources, self._records)
        )
        order = np.argsort(marks, kind="stable")
        marks, of, whose = marks[order], of[order], whose[order]
        starts = np.flatnonzero(np.concatenate(([True], marks[1:] != marks[:-1])))
        sizes = np.diff(np.append(starts, len(marks)))
        differ = np.maximum.reduceat(of, starts) != np.minimum.reduceat(of, starts)
        chosen = differ & (sizes <= MOST)
        held = np.repeat(chosen, sizes)
        records = frozenset(self._ids[place] for place in set(whose[held].tolist()))
        return Wanted(frozenset(marks[starts[chosen]].tolist()), records)
