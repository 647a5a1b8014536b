"""Spare: records -> those that no person took back out of the archive.

Who restores a memory wants it where it is: it is not archived again until its text is changed. What a run or the
forgetting of another memory restored may be.
"""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.consolidate.night import Night
from scrubjay.ingest.turned import AT_ONCE, EVERY
from scrubjay.memory.records import Record


def spare(night: Night, records: Sequence[Record]) -> list[Record]:
    """Return the records that may be archived."""
    kept: list[Record] = []
    for first in range(0, len(records), AT_ONCE):
        batch = records[first : first + AT_ONCE]
        restored = _restored(night, batch)
        kept += [record for record in batch if record.id not in restored]
    return kept


def _restored(night: Night, batch: Sequence[Record]) -> set[str]:
    with night.store.reader(night.viewers) as reader:
        events = reader.events([record.id for record in batch], limit=EVERY)
    at = {
        event.memory: event.at for event in reversed(events) if event.op == "restored" and event.run is None
    }
    return {record.id for record in batch if record.id in at and record.updated_at <= at[record.id]}
