"""Digest coverage: which observations have a digest, which need one, and which digests need renewal.

An observation is told of where a digest rests on it. A conversation that went on after it was told is told anew as a
whole, so it never has two digests that overlap. Turns that were there when it was told, and of which nothing was worth
telling, do not make it one that went on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.consolidate.night import RULE, Night
from scrubjay.ingest.turned import AT_ONCE
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Record


@dataclass(frozen=True, slots=True)
class Coverage:
    """What may be told of, parted by what digests tell already.

    Attributes:
        new: What is to be told of.
        known: What a digest tells of, with the digest's id.
        grown: Digests of conversations that went on since, sorted.
    """

    new: list[Record]
    known: list[tuple[Record, str]]
    grown: list[str]


def coverage(night: Night, records: Sequence[Record]) -> Coverage:
    """Part records by whether a digest of the night's key tells of them."""
    by = _edges(night, [record.id for record in records])
    known = [(record, by[record.id].src) for record in records if record.id in by]
    told: dict[str, int] = {}
    for record, _ in known:
        if record.session is not None:
            told[record.session] = max(by[record.id].at, told.get(record.session, 0))
    new = [
        record
        for record in records
        if record.id not in by and record.updated_at > told.get(record.session or "", -1)
    ]
    went_on = {record.session for record in new if record.session in told}
    return Coverage(new, known, sorted({digest for record, digest in known if record.session in went_on}))


def _edges(night: Night, ids: Sequence[str]) -> dict[str, Edge]:
    """Return what joins a digest with each of some memories; a dry run passes over those that it would take back."""
    found: dict[str, Edge] = {}
    for first in range(0, len(ids), AT_ONCE):
        with night.store.reader(night.viewers) as reader:
            edges = reader.edges(ids[first : first + AT_ONCE], ["derived_from"], inward=True)
        for edge in edges:
            if edge.rule == RULE and edge.key == night.key and edge.src not in night.foreseen.gone:
                found[edge.dst] = edge
    return found
