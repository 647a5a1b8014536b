"""Forget: ids -> gone for good, and where the words still stand."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.memory.reports import Forgotten
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Forget


def forget(store: Store, scope: Scope, ids: Sequence[str]) -> Forgotten:
    """Remove memories with their vectors, postings and cached texts, and keep only keyed hashes.

    A synced file is not edited: its lines are named, and the next sync leaves the passage out as long as
    its text stays the same.
    """
    with store.reader(scope) as reader:
        records = reader.get(ids)
        roots = {source.id: source.root for source in reader.sources()}
    still = []
    for record in records.values():
        place = record.place
        if place is not None and place.source in roots:
            still.append(f"{roots[place.source]}/{place.path}:{place.line_start}-{place.line_end}")
    gone = tuple(memory for memory in dict.fromkeys(ids) if memory in records)
    if gone:
        store.write(scope, [Forget(gone)], durable=True)
    return Forgotten(
        gone, tuple(memory for memory in dict.fromkeys(ids) if memory not in records), tuple(still)
    )
