"""Rows: records as rows of the tables, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from scrubjay.memory.ids import DIGITS, parse_id, parse_node
from scrubjay.memory.records import Document, Place, Record, Versions
from scrubjay.memory.tiers import CATEGORY_PREFIX, CONCEPT_PREFIX, PREFIX
from scrubjay.store.changes import Prepared
from scrubjay.store.kept import record_of
from scrubjay.store.score import MOST_COUNTED

SIGN: Final = 1 << 63
"""Moves an id's number into the range of a bigint without changing its order."""
LONGEST: Final = 2**32 - 1
"""Source words that a memory counts at most, as in every store."""
BEGINS: Final = {**PREFIX, "concept": CONCEPT_PREFIX, "category": CATEGORY_PREFIX}
"""What an id of each tier, of a concept and of a category begins with."""

FIELDS: Final = (
    "tenant, generation, key, hash, tier, status, document, ordinal, char_start, char_end, "
    "line_start, line_end, "
    "owner, project, agent, session, role, turn, origin, title, heading_path, content_hash, "
    "event_start, event_end, event_precision, event_zone, recorded_at, updated_at, last_used, "
    "valid_from, valid_until, pinned, confidence, strength, tags, content, language, at, length, "
    "abstract, overview, terms, tfs"
)
INSERT: Final = (
    f"INSERT INTO memory ({FIELDS}) VALUES ({', '.join(['%s'] * (FIELDS.count(',') - 1))}, "
    "%s::integer[], %s::smallint[])"
)
RECORD: Final = (
    "m.hash, m.tier, m.content, m.content_hash, m.title, m.key, m.owner, m.recorded_at, m.updated_at, "
    "m.heading_path, m.tags, m.project, m.agent, m.session, m.role, m.turn, m.origin, m.status, m.pinned, "
    "m.confidence, m.strength, m.event_start, m.event_end, m.event_precision, m.event_zone, m.valid_from, "
    "m.valid_until, m.last_used, d.source, d.path, m.ordinal, m.char_start, m.char_end, "
    "m.line_start, m.line_end, m.abstract, m.overview"
)
FROM: Final = "FROM memory m LEFT JOIN document d ON d.tenant = m.tenant AND d.id = m.document"
DOCUMENT: Final = (
    "d.source, d.path, d.content_hash, d.mtime_ns, d.size, d.title, d.cursor, "
    "d.chunker, d.tokenizer, d.scrubber, d.extractor, d.labeller"
)


def sort_hash(memory: str) -> int | None:
    """Return an id's number as a bigint that sorts as the id's digits do, None where it is no id."""
    parsed = parse_id(memory)
    return None if parsed is None else parsed[1] - SIGN


def hashes(ids: Iterable[str]) -> list[int]:
    """Return the numbers of those of these that are ids."""
    return [number for memory in ids if (number := sort_hash(memory)) is not None]


def id_of(of: str, number: int) -> str:
    """Return the id of what has a tier (or is a ``concept``, a ``category``) and this number in its row."""
    return f"{BEGINS[of]}{number + SIGN:0{DIGITS}x}"


def number_of(node: str) -> int:
    """Return the number of the id of a memory, a concept or a category, which was checked to be one."""
    ((number,),) = [[number] for number in numbers([node])]
    return number


def numbers(nodes: Iterable[str], of: str | None = None) -> list[int]:
    """Return the numbers of those of these that are ids, of memories, concepts and categories or ``of`` one."""
    parsed = [found for node in nodes if (found := parse_node(node)) is not None]
    return [number - SIGN for kind, number in parsed if of in (None, kind)]


def place_values(place: Place | None) -> tuple[int | None, ...]:
    """Return where a passage stands as the columns from ``ordinal`` to ``line_end``."""
    if place is None:
        return (None,) * 5
    return place.ordinal, place.start, place.end, place.line_start, place.line_end


def to_row(
    memory: Prepared, tenant: int, generation: int, document: int | None, numbers: Mapping[str, int]
) -> tuple[Any, ...]:
    """Return a memory as the values of `INSERT`; ``numbers`` are those of its terms."""
    counts = memory.terms.counts
    record, event = memory.record, memory.record.event
    when = (event.start, event.end, event.precision, event.zone) if event else (None,) * 4
    return (
        tenant, generation, record.key, sort_hash(record.id), record.tier, record.status, document,
        *place_values(record.place), record.owner, record.project, record.agent, record.session, record.role,
        record.turn, record.origin, record.title, list(record.heading_path), record.content_hash, *when,
        record.recorded_at, record.updated_at, record.last_used, record.valid_from, record.valid_until,
        record.pinned, float(record.confidence), float(record.strength), list(record.tags), record.content,
        memory.language, event.start if event else record.recorded_at, min(memory.terms.length, LONGEST),
        record.abstract, record.overview, array([numbers[term] for term in counts]),
        array([min(count, MOST_COUNTED) for count in counts.values()]),
    )  # fmt: skip


def array(numbers: Iterable[float]) -> str:
    """Return numbers as the server writes an array: the driver would look at each, a third of what a write takes."""
    return f"{{{','.join(map(str, numbers))}}}"


def to_record(row: tuple[Any, ...]) -> Record:
    """Return a row of `RECORD` as a record."""
    return record_of(row, id_of(row[1], row[0]), row[9], row[10])


def to_document(row: tuple[Any, ...]) -> Document:
    """Return a row of `DOCUMENT` as a document."""
    source, path, content_hash, mtime_ns, size, title, cursor, *versions = row
    return Document(source, path, content_hash, mtime_ns, size, title, Versions(*versions), cursor)
