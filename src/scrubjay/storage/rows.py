"""Row mapping: the columns of the SQL stores, and how rows become records, sources, documents, events and runs."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scrubjay.frozen import frozen
from scrubjay.models.graph import STORED_EDGE_KINDS
from scrubjay.models.ids import ID_DIGITS, EmbeddingModel, is_short_id, parse_id, parse_node_id
from scrubjay.models.records import (
    CATEGORY_PREFIX,
    ENTITY_PREFIX,
    TIER_PREFIXES,
    Document,
    EventTime,
    Record,
    Source,
    SourcePlace,
    StageVersions,
)
from scrubjay.storage.interface import Counts

if TYPE_CHECKING:
    from scrubjay.models.lifecycle import ConsolidationRun, Event

SIGN: Final = 1 << 63
"""Moves an id's number into the range of a signed 64-bit column without changing its order."""
ID_PREFIXES: Final = {**TIER_PREFIXES, "concept": ENTITY_PREFIX, "category": CATEGORY_PREFIX}
"""Prefix of an id of each tier, of a concept and of a category."""
TARGET_KIND: Final = {"references": "concept", "belongs": "category"}
"""Target of the edges that do not lead to a memory."""
MEMORY_EDGE_KINDS: Final = tuple(kind for kind in STORED_EDGE_KINDS if kind not in TARGET_KIND)
"""Kinds of stored edges between two memories."""

PLACE_COLUMNS: Final = ("ordinal", "char_start", "char_end", "line_start", "line_end")
"""A passage's place in its document."""
EVENT_TIME_COLUMNS: Final = ("event_start", "event_end", "event_precision", "event_zone")
"""The fields of `EventTime`, in order."""
LIST_COLUMNS: Final = ("heading_path", "tags")
"""Lists of texts: JSON in SQLite, arrays in PostgreSQL."""
FIELD_COLUMNS: Final = tuple(
    field.name for field in fields(Record) if field.name not in ("id", "place", "event", *LIST_COLUMNS)
)
"""Every other field of `Record` is a column of its name. A new number or text only needs a migration in each store;
`record_from_row` converts other types, such as `pinned`."""
_field_values: Final = attrgetter(*FIELD_COLUMNS)
RECORD_COLUMNS: Final = (
    "hash", "document", *PLACE_COLUMNS, *EVENT_TIME_COLUMNS, *LIST_COLUMNS, *FIELD_COLUMNS
)  # fmt: skip
"""The columns of ``memory`` that hold a record, in the order of `record_to_row`."""
_SELECTED_NAMES: Final = ("source", "path", *(name for name in RECORD_COLUMNS if name != "document"))
_EVENT: Final = _SELECTED_NAMES.index(EVENT_TIME_COLUMNS[0])
_FIELDS: Final = _EVENT + len(EVENT_TIME_COLUMNS)
SELECTED_COLUMNS: Final = "d.source, d.path, " + ", ".join(f"m.{name}" for name in _SELECTED_NAMES[2:])
"""A record's columns as `record_from_row` reads them, from ``memory m`` and ``document d``."""
FROM_MEMORY: Final = "FROM memory m LEFT JOIN document d ON d.tenant = m.tenant AND d.id = m.document"
ScopeKeys: TypeAlias = "tuple[int, int, list[str]]"
"""Tenant, generation and visibility keys: the values of `VISIBLE`."""
VISIBLE: Final = "m.tenant = ? AND m.generation = ? AND m.key IN ?"
"""The condition of every statement about memories; ``IN ?`` takes a list."""
OF_DOCUMENT: Final = (
    "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?)"
)
"""The condition that a memory is a passage of a document."""

SOURCE_COLUMNS: Final = tuple(field.name for field in fields(Source))
STAGE_COLUMNS: Final = tuple(field.name for field in fields(StageVersions))
DOCUMENT_COLUMNS: Final = (
    "source", "path", "content_hash", "mtime_ns", "size", "title", "cursor", *STAGE_COLUMNS
)  # fmt: skip
EVENT_COLUMNS: Final = (
    "tenant", "key", "memory", "op", "at", "run", "other", "count", "before", "actor"
)  # fmt: skip
RUN_COLUMNS: Final = ("tenant", "key", "id", "state", "rules", "started", "ended", "counts")
USER_TABLES: Final = ("concept", "concept_mark", "category", "project", "run", "event")
"""Tables whose rows under a user's own key are deleted with the user, after the memories and their edges."""


class Statements(ABC):
    """Runs statements of both stores, which are written as SQLite reads them; ``IN ?`` takes a list."""

    @abstractmethod
    def _all(self, statement: str, *values: object) -> list[Any]:
        """Run a statement with its values, and return the rows."""

    @abstractmethod
    def _many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement with each row of values."""


def insert_sql(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


@frozen
class Tenant:
    """One tenant as its row reads at the start of a transaction.

    Attributes:
        number: Its key in every table.
        secret: Key of the hashes in ids and tombstones.
        generation: The generation of memories that readers see.
        mark: Changed by each transaction that writes (PostgreSQL).
        posted: Number of the last memory whose words are in blocks (PostgreSQL).
    """

    number: int
    secret: bytes
    generation: int
    mark: int = 0
    posted: int = 0


@frozen
class RegisteredModel:
    """A registered model; ``neighbours`` is its index's state in PostgreSQL: empty, ``filling`` or ``ready``."""

    number: int
    model: EmbeddingModel
    state: str
    neighbours: str = ""


def source_from_row(row: Sequence[Any], decode: Callable[[Any], Iterable[str]]) -> Source:
    """Return a source from a row of `SOURCE_COLUMNS`; ``decode`` reads a list as the store holds it."""
    values = dict(zip(SOURCE_COLUMNS, row, strict=True))
    values["include"] = tuple(decode(values["include"]))
    values["exclude"] = tuple(decode(values["exclude"]))
    values["share"] = None if values["share"] is None else bool(values["share"])
    if values["repositories"] is not None:  # rows of earlier versions lack the head
        values["repositories"] = tuple((*repo, "")[:3] for repo in json.loads(values["repositories"]))
    return Source(**values)


def source_to_row(source: Source, encode: Callable[[tuple[str, ...]], object]) -> tuple[Any, ...]:
    """Return the values of `SOURCE_COLUMNS`; ``encode`` writes a list as the store holds it."""
    values = {name: getattr(source, name) for name in SOURCE_COLUMNS}
    values |= {name: encode(values[name]) for name in ("include", "exclude")}
    if source.repositories is not None:
        values["repositories"] = json.dumps(source.repositories)
    return tuple(values.values())


def document_from_row(row: Sequence[Any]) -> Document:
    source, path, content_hash, mtime_ns, size, title, cursor, *versions = row
    return Document(source, path, content_hash, mtime_ns, size, title, _stage_versions(*versions), cursor)


@lru_cache(maxsize=64)
def _stage_versions(*versions: str) -> StageVersions:
    """Cached: nearly all documents of a store have the same."""
    return StageVersions(*versions)


def paths_by_group(rows: Iterable[Sequence[str]]) -> dict[str, set[str]]:
    """Return the paths of rows of a group's visibility key and a path, by group."""
    groups: dict[str, set[str]] = {}
    for key, path in rows:
        groups.setdefault(key.removeprefix("group:"), set()).add(path)
    return groups


def document_to_row(document: Document) -> tuple[Any, ...]:
    d, versions = document, document.versions
    stages = (getattr(versions, name) for name in STAGE_COLUMNS)
    return (d.source, d.path, d.content_hash, d.mtime_ns, d.size, d.title, d.cursor, *stages)


def id_from_hash(kind: str, number: int) -> str:
    """Return the id of a memory of a tier, or of a ``concept`` or ``category``, from the number in its row."""
    return f"{ID_PREFIXES[kind]}{number + SIGN:0{ID_DIGITS}x}"


def memory_hash(memory: str) -> int:
    """Return an id's number as ``memory.hash``, which sorts as the id's digits do."""
    (number,) = memory_hashes([memory])
    return number


def memory_hashes(ids: Iterable[str]) -> list[int]:
    """Return the numbers of those that are ids of memories."""
    return [pair[1] - SIGN for memory in ids if (pair := parse_id(memory)) is not None]


def node_hash(node: str) -> int:
    (number,) = node_hashes([node])
    return number


def node_hashes(nodes: Iterable[str], wanted_kind: str | None = None) -> list[int]:
    """Return the numbers of ids, or of those of a tier, concept or category."""
    parsed = [node_id for node in nodes if (node_id := parse_node_id(node)) is not None]
    return [number - SIGN for kind, number in parsed if wanted_kind in (None, kind)]


def id_ranges(prefix: str) -> Iterator[tuple[str, int, int]]:
    """Yield tier, first and last number of the memory ids that begin with a prefix, in id order.

    The tier is empty, for any, where the prefix is a short id.
    """
    if is_short_id(prefix):
        yield "", *_number_range(prefix)
        return
    for tier, mark in sorted(TIER_PREFIXES.items(), key=lambda pair: pair[1]):
        if not (prefix.startswith(mark) or mark.startswith(prefix)):
            continue
        digits = prefix[len(mark) :]
        if len(digits) <= ID_DIGITS and set(digits) <= set("0123456789abcdef"):
            yield tier, *_number_range(digits)


def _number_range(digits: str) -> tuple[int, int]:
    first, last = (int(digits.ljust(ID_DIGITS, fill), 16) - SIGN for fill in "0f")
    return first, last


def record_from_row(row: Sequence[Any], decode: Callable[[Any], Iterable[str]]) -> Record:
    """Return a record from a row of `SELECTED_COLUMNS`; ``decode`` reads a list as the store holds it."""
    (source, path, number), place, event = row[:3], row[3:_EVENT], row[_EVENT:_FIELDS]
    values = dict(zip(_SELECTED_NAMES[_FIELDS:], row[_FIELDS:], strict=True))
    for name in LIST_COLUMNS:
        values[name] = tuple(decode(values[name]))
    values["pinned"] = bool(values["pinned"])
    return Record(
        id=id_from_hash(values["tier"], number),
        place=None if source is None else SourcePlace(source, path, *place),
        event=None if event[0] is None else EventTime(*event),
        **values,
    )


def record_to_row(
    record: Record, number: int | None, document: int | None, encode: Callable[[tuple[str, ...]], object]
) -> tuple[Any, ...]:
    """Return the values of `RECORD_COLUMNS`; ``number`` is the id as in ``memory.hash``."""
    return (
        number,
        document,
        *place_to_row(record.place),
        *event_time_to_row(record.event),
        *(encode(getattr(record, name)) for name in LIST_COLUMNS),
        *_field_values(record),
    )


def place_to_row(place: SourcePlace | None) -> tuple[int | None, ...]:
    if place is None:
        return (None,) * len(PLACE_COLUMNS)
    return (place.ordinal, place.start, place.end, place.line_start, place.line_end)


def event_time_to_row(event: EventTime | None) -> tuple[Any, ...]:
    if event is None:
        return (None,) * len(EVENT_TIME_COLUMNS)
    return (event.start, event.end, event.precision, event.zone)


def event_to_row(tenant: int, event: Event, number: int, other: int | None) -> tuple[object, ...]:
    return (
        tenant, event.key, number, event.op, event.at, event.run, other, event.count, event.before, event.actor,
    )  # fmt: skip


def event_from_row(row: Sequence[Any]) -> Event:
    """Return an event from a row: tier, memory, op, at, key, run, other tier, other, count, before, actor."""
    from scrubjay.models.lifecycle import Event

    tier, number, op, at, key, run, other_tier, other, count, before, actor = row
    other_id = None if other_tier is None else id_from_hash(other_tier, other)
    return Event(id_from_hash(tier, number), op, at, key, run, other_id, count, before, actor)


def run_to_row(tenant: int, run: ConsolidationRun) -> tuple[object, ...]:
    counts = json.dumps(dict(run.counts), ensure_ascii=False)
    return (tenant, run.key, run.id, run.state, run.rules, run.started, run.ended, counts)


def run_from_row(row: tuple[Any, ...]) -> ConsolidationRun:
    """Return a run from a row: id, key, state, rules, started, ended, counts."""
    from scrubjay.models.lifecycle import ConsolidationRun

    run, key, state, rules, started, ended, counts = row
    return ConsolidationRun(run, key, state, rules, started, ended, json.loads(counts))


def counts_from_rows(rows: Iterable[tuple[str, str, int]], documents: int, sources: int) -> Counts:
    """Return the counts of a scope from rows of tier, status and number of memories."""
    tiers: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    for tier, status, count in rows:
        tiers[tier] += count
        statuses[status] += count
    return Counts(
        tiers.total(), dict(sorted(tiers.items())), dict(sorted(statuses.items())), documents, sources
    )


def token_codes_only(model: EmbeddingModel) -> str:
    """Return why no nearest memories are found by a late-interaction model."""
    return f"{model.name} makes codes of tokens: read those of candidates by `vectors` and compare them by MaxSim."
