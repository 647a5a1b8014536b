"""Row mapping: how the SQL stores convert rows to tenants, records, events and runs, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scrubjay.models.lifecycle import ConsolidationRun, Event
from scrubjay.models.records import EventTime, Record, Source, SourcePlace
from scrubjay.storage.interface import Counts


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant as its row says at the start of a transaction.

    Attributes:
        number: Its key in every table.
        secret: What ids and tombstones are hashed with.
        generation: Which memories answer now.
        mark: What each transaction that writes changes, in a store that has such a mark.
        posted: Up to which memory words stand in blocks, in a store that has blocks.
    """

    number: int
    secret: bytes
    generation: int
    mark: int = 0
    posted: int = 0


def source_from_row(row: Sequence[Any]) -> Source:
    """Return a source from its row: its fields in order, ``encode_repositories`` as `encode_repositories` writes them."""
    identity, root, description, include, exclude, key, added, synced, trust, share, found = row
    return Source(
        identity, root, description, tuple(include), tuple(exclude), key, added, synced, trust,
        None if share is None else bool(share),
        None if found is None else tuple((*one, "")[:3] for one in json.loads(found)),  # once without the head
    )  # fmt: skip


def encode_repositories(source: Source) -> str | None:
    """Return a source's repositories as text, None before anybody looked."""
    return None if source.repositories is None else json.dumps(source.repositories)


def record_from_columns(
    row: tuple[Any, ...], memory: str, headings: Iterable[str], tags: Iterable[str]
) -> Record:
    """Return a record from a row, in the order of columns that both stores select.

    Args:
        row: The columns; those of the id, the headings and the tags are passed over.
        memory: Its id, as the store keeps it.
        headings: Headings above it, as the store keeps them.
        tags: Its tags, likewise.
    """
    event = None if row[21] is None else EventTime(row[21], row[22], row[23], row[24])
    place = None if row[28] is None else SourcePlace(row[28], row[29], *row[30:35])
    return Record(
        id=memory,
        tier=row[1],
        content=row[2],
        content_hash=row[3],
        title=row[4],
        key=row[5],
        owner=row[6],
        recorded_at=row[7],
        updated_at=row[8],
        heading_path=tuple(headings),
        tags=tuple(tags),
        place=place,
        project=row[11],
        agent=row[12],
        session=row[13],
        role=row[14],
        turn=row[15],
        origin=row[16],
        status=row[17],
        pinned=bool(row[18]),
        confidence=row[19],
        strength=row[20],
        event=event,
        valid_from=row[25],
        valid_until=row[26],
        last_used=row[27],
        abstract=row[35],
        overview=row[36],
    )


def event_to_row(tenant: int, event: Event, number: int, other: int | None) -> tuple[object, ...]:
    """Return an event as the values of its row: its memory, and the one that had part in it, by their numbers."""
    return (
        tenant, event.key, number, event.op, event.at, event.run, other, event.count, event.before, event.actor,
    )  # fmt: skip


def run_to_row(tenant: int, run: ConsolidationRun) -> tuple[object, ...]:
    """Return what a run did for one key as the values of its row."""
    counts = json.dumps(dict(run.counts), ensure_ascii=False)
    return (tenant, run.key, run.id, run.state, run.rules, run.started, run.ended, counts)


def run_from_row(row: tuple[Any, ...]) -> ConsolidationRun:
    """Return a run from its row: id, key, state, rules, started, ended, counts."""
    run, key, state, rules, started, ended, counts = row
    return ConsolidationRun(run, key, state, rules, started, ended, json.loads(counts))


def counts_from_rows(held: Iterable[tuple[str, str, int]], documents: int, sources: int) -> Counts:
    """Return what a scope holds, from rows of tier, status and number of memories."""
    by_tier: dict[str, dict[str, int]] = {}
    statuses: dict[str, int] = {}
    for tier, status, count in sorted(held):
        by_tier.setdefault(tier, {})[status] = count
        statuses[status] = statuses.get(status, 0) + count
    tiers = {tier: sum(own.values()) for tier, own in by_tier.items()}
    return Counts(sum(tiers.values()), tiers, dict(sorted(statuses.items())), documents, sources, by_tier)
