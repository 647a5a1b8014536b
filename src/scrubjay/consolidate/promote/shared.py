"""Shared: hashes of what records say -> which of them two sources share. 24 bytes for each, whatever is said."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.promote.drawn import source
from scrubjay.memory.records import Record

MOST: Final = 200
"""Times that two rare words may stand together: what is said more often is a form that is filled in, and no fact."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is worth reading again.

    Attributes:
        pairs: Hashes that several sources share.
        records: Hashes of the ids of the records that hold one of them.
    """

    pairs: frozenset[int]
    records: frozenset[int]

    def holds(self, record: Record) -> bool:
        """Tell whether a record holds anything that another source holds too."""
        return _number(record.id) in self.records


class Shared:
    """Collects hashes with the record and the source that each was found in."""

    def __init__(self) -> None:
        """Begin with none."""
        self._marks, self._sources, self._records = array("Q"), array("Q"), array("Q")

    @staticmethod
    def hash(parts: Iterable[str]) -> int:
        """Return the 64-bit number of some words, alike in every process."""
        return _number("\x1f".join(parts))

    def note(self, record: Record, marks: Iterable[tuple[str, ...]]) -> None:
        """Remember what a record holds."""
        of, whose = _number(source(record)), _number(record.id)
        for mark in marks:
            self._marks.append(self.hash(mark))
            self._sources.append(of)
            self._records.append(whose)

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
        return Wanted(frozenset(marks[starts[chosen]].tolist()), frozenset(whose[held].tolist()))


def _number(text: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )
