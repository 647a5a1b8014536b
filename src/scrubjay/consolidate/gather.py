"""Gather: a store -> Iterator[Record]. The observations of one visibility key, page by page, without their texts.

Nothing but what choosing and grouping ask of an observation is held: of 100,000 about 75 MB. What is no longer active
is asked for only where it is so young that it keeps its conversation open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from sys import intern
from typing import Final

from scrubjay.consolidate.night import PAGE
from scrubjay.memory.records import Record, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store

TIERS: Final = ("observation",)


def gather(
    store: Store, viewers: Scope, key: str, since: int, freed: Collection[str] = ()
) -> Iterator[Record]:
    """Yield observations of a key: the active, and of the rest those that happened later than a moment.

    Args:
        store: Where.
        viewers: Whoever sees the key.
        key: The key.
        since: UTC microseconds before any moment that keeps a conversation open.
        freed: Archived ones that are taken for active.
    """
    closed = Where(tiers=TIERS, statuses=("archived", "superseded"), since=since)
    for where in (Where(tiers=TIERS), closed):
        yield from map(_slim, pages(store, viewers, key, where))
    if freed:
        with store.reader(viewers) as reader:
            held = reader.get(sorted(freed))
        yield from (_slim(replace(record, status="active")) for record in held.values())


def pages(store: Store, viewers: Scope, key: str, where: Where) -> Iterator[Record]:
    """Yield the memories of a key that pass a filter, whole, a page of them at a time."""
    after = ""
    while True:
        with store.reader(viewers) as reader:  # one a page: no view of a store outlives a query
            page = reader.page(after, PAGE, where)
        if not page:
            return
        after = page[-1].id
        yield from (record for record in page if record.key == key)


def _slim(record: Record) -> Record:
    """Return a record without its texts, and with one copy of what many records share."""
    return replace(
        record,
        content="",
        content_hash="",
        abstract=None,
        overview=None,
        title=intern(record.title),
        key=intern(record.key),
        owner=intern(record.owner),
        session=None if record.session is None else intern(record.session),
    )


def concepts(store: Store, viewers: Scope, records: Sequence[Record]) -> Mapping[str, Sequence[str]]:
    """Return the ids of the concepts that each record refers to, as whoever sees its key sees it."""
    found: dict[str, list[str]] = {}
    for first in range(0, len(records), PAGE):
        ids = [record.id for record in records[first : first + PAGE]]
        with store.reader(viewers) as reader:
            for edge in reader.edges(ids, ["references"]):
                found.setdefault(edge.src, []).append(intern(edge.dst))
    return found
