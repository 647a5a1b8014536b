"""Spare: records -> those that no person took back out of the archive.

Who restores a memory wants it as it is. It stays until its text is changed; what a run or the forgetting of
another memory restored is told anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from scrubjay.consolidate.night import Night
from scrubjay.ingest.turned import AT_ONCE, EVERY
from scrubjay.memory.records import Record


def spare(night: Night, records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records that may be consolidated."""
    rest = iter(records)
    while batch := list(islice(rest, AT_ONCE)):
        kept = _restored(night, batch)
        yield from (record for record in batch if record.id not in kept)


def _restored(night: Night, batch: Sequence[Record]) -> set[str]:
    with night.store.reader(night.viewers) as reader:
        events = reader.events([record.id for record in batch], limit=EVERY)
    at = {
        event.memory: event.at for event in reversed(events) if event.op == "restored" and event.run is None
    }
    return {record.id for record in batch if record.id in at and record.updated_at <= at[record.id]}
