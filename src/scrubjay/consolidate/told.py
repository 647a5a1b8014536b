"""Told: the observations of a night's key, each with its gist, which is read from its text once and kept with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from scrubjay.consolidate.gather import pages
from scrubjay.consolidate.night import PAGE, Night
from scrubjay.consolidate.promote.gist import NOTHING, Gist, gist, given, kept, mark
from scrubjay.memory.readings import Reading
from scrubjay.memory.records import Record, Where
from scrubjay.memory.tiers import STATUSES
from scrubjay.store.changes import PutReadings

SEEN: Final = Where(tiers=("observation",), statuses=STATUSES)
"""Whatever was observed, told of in a digest or not."""


def told(night: Night) -> Iterator[tuple[Record, Gist]]:
    """Yield every observation of the night's key with its gist; a dry run keeps nothing."""
    rest = pages(night.store, night.viewers, night.key, SEEN)
    while batch := list(islice(rest, PAGE)):
        marks = {record.id: mark(record) for record in batch}
        gists, fresh = _gists(night, batch, marks)
        if fresh and not night.dry_run:
            readings = (Reading(memory, marks[memory], kept(one)) for memory, one in fresh.items())
            night.store.write(night.scope, [PutReadings(tuple(readings))])
        yield from ((record, gists.get(record.id, NOTHING)) for record in batch)


def _gists(
    night: Night, batch: Sequence[Record], marks: dict[str, str]
) -> tuple[dict[str, Gist], dict[str, Gist]]:
    """Return the gists of records that have one, and those of them that are not kept yet."""
    with night.store.reader(night.viewers) as reader:
        held = reader.readings([memory for memory, own in marks.items() if own])
    known = {memory: given(one.data) for memory, one in held.items() if one.mark == marks[memory]}
    fresh = {record.id: gist(record) for record in batch if marks[record.id] and record.id not in known}
    return known | fresh, fresh
