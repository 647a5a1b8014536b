"""Rows: a record as a row of the memory table, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from scrubjay.memory.ids import memory_id, parse_id
from scrubjay.memory.records import Record
from scrubjay.store.kept import record_of
from scrubjay.store.sqlite.pack import SIGN

T = TypeVar("T", str, int)

FIELDS: Final = (
    "tenant, key, generation, hash, tier, status, document, ordinal, char_start, char_end, line_start, line_end, "
    "owner, project, agent, session, role, turn, origin, title, heading_path, content_hash, "
    "event_start, event_end, event_precision, event_zone, recorded_at, updated_at, last_used, valid_from, valid_until, "
    "pinned, confidence, strength, tags, content, abstract, overview"
)
MARKS: Final = ",".join("?" * (FIELDS.count(",") + 1))
INSERT: Final = f"INSERT INTO memory ({FIELDS}) VALUES ({MARKS})"
SELECT: Final = (
    "SELECT m.hash, m.tier, m.content, m.content_hash, m.title, m.key, m.owner, m.recorded_at, m.updated_at, "
    "m.heading_path, m.tags, m.project, m.agent, m.session, m.role, m.turn, m.origin, m.status, m.pinned, "
    "m.confidence, m.strength, m.event_start, m.event_end, m.event_precision, m.event_zone, m.valid_from, "
    "m.valid_until, m.last_used, d.source, d.path, m.ordinal, m.char_start, m.char_end, m.line_start, m.line_end, "
    "m.abstract, m.overview FROM memory m LEFT JOIN document d ON d.id = m.document "
)


def sort_hash(memory: str) -> int:
    """Return an id's number as SQLite keeps it, sorting as the id's digits do."""
    parsed = parse_id(memory)
    assert parsed is not None, memory
    return parsed[1] - SIGN


def tier_of(memory: str) -> str:
    """Return an id's tier."""
    parsed = parse_id(memory)
    assert parsed is not None, memory
    return parsed[0]


def to_row(record: Record, tenant: int, generation: int, document: int | None) -> tuple[Any, ...]:
    """Return a record as the values of `INSERT`."""
    place, event = record.place, record.event
    where = (
        (place.ordinal, place.start, place.end, place.line_start, place.line_end) if place else (None,) * 5
    )
    when = (event.start, event.end, event.precision, event.zone) if event else (None,) * 4
    return (
        tenant, record.key, generation, sort_hash(record.id), record.tier, record.status, document, *where,
        record.owner, record.project, record.agent, record.session, record.role, record.turn, record.origin,
        record.title, json.dumps(record.heading_path, ensure_ascii=False), record.content_hash, *when,
        record.recorded_at, record.updated_at, record.last_used, record.valid_from, record.valid_until,
        int(record.pinned), record.confidence, record.strength,
        json.dumps(record.tags, ensure_ascii=False), record.content, record.abstract, record.overview,
    )  # fmt: skip


def to_record(row: tuple[Any, ...]) -> Record:
    """Return a row of `SELECT` as a record."""
    memory = from_hash(row[1], row[0])
    return record_of(row, memory, _strings(row[9]), _strings(row[10]))


@lru_cache(maxsize=4_096)
def _strings(text: str) -> tuple[str, ...]:
    """Return a list as it is kept: the passages of a section share their headings, and most have no tags."""
    return tuple(json.loads(text))


def from_hash(tier: str, number: int) -> str:
    """Return the id of a memory from its tier and the number SQLite keeps."""
    return memory_id(tier, number + SIGN)


def is_id(memory: str) -> bool:
    """Return whether a text is a whole id."""
    return parse_id(memory) is not None


AT_ONCE: Final = 500
"""Ids asked for in one statement."""


def batches(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield whole ids, or their numbers, as many at a time as one statement takes."""
    for first in range(0, len(ids), AT_ONCE):
        yield ids[first : first + AT_ONCE]
