"""Rows of the tenant, memory, document, source and model tables, read and written for one scope."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from scrubjay.models.ids import EmbeddingModel, parse_id
from scrubjay.models.records import Document, Record, Source, SourcePlace
from scrubjay.storage.interface import Counts, Coverage, PendingMemory, RankingMetadata
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    PLACE_COLUMNS,
    RECORD_COLUMNS,
    SELECTED_COLUMNS,
    SIGN,
    SOURCE_COLUMNS,
    Tenant,
    counts_from_rows,
    document_to_row,
    id_from_hash,
    id_ranges,
    insert_sql,
    place_to_row,
    record_from_row,
    record_to_row,
    source_to_row,
)

if TYPE_CHECKING:
    from scrubjay.storage.changes import QuantizedVectors
    from scrubjay.storage.sqlite.connection import Database
    from scrubjay.storage.table import MemoryTable


def find_tenant(db: Database, name: str) -> Tenant | None:
    row = db.execute("SELECT id, secret, generation FROM tenant WHERE name = ?", (name,)).fetchone()
    return None if row is None else Tenant(*row)


def count_by_key(db: Database, tenant: Tenant) -> dict[str, int]:
    """Return visibility key to number of memories, from the segments: a row for thousands of memories."""
    found = db.execute(
        "SELECT key, sum(live) FROM segment WHERE tenant = ? AND generation = ? GROUP BY key",
        (tenant.number, tenant.generation),
    ).fetchall()
    return dict(found)


def get_or_create_tenant(db: Database, name: str, secret: bytes | None = None) -> Tenant:
    """Return a tenant, created with this or a random secret if new. Call it inside a transaction."""
    found = find_tenant(db, name)
    if found is None:
        db.execute("INSERT INTO tenant (name, secret) VALUES (?, ?)", (name, secret or os.urandom(32)))
        found = find_tenant(db, name)
    assert found is not None
    return found


T = TypeVar("T", str, int)

INSERT_MEMORY: Final = insert_sql("memory", ("tenant", "generation", *RECORD_COLUMNS))
SELECT_MEMORY: Final = f"SELECT {SELECTED_COLUMNS} FROM memory m LEFT JOIN document d ON d.id = m.document "


def sort_hash(memory: str) -> int:
    """Return an id's number as SQLite stores it, which sorts as the id's digits do."""
    parsed = parse_id(memory)
    assert parsed is not None, memory
    return parsed[1] - SIGN


def tier_of(memory: str) -> str:
    parsed = parse_id(memory)
    assert parsed is not None, memory
    return parsed[0]


def memory_to_row(record: Record, tenant: int, generation: int, document: int | None) -> tuple[Any, ...]:
    return (tenant, generation, *record_to_row(record, sort_hash(record.id), document, _encode_strings))


def memory_from_row(row: tuple[Any, ...]) -> Record:
    return record_from_row(row, _decode_strings)


def _encode_strings(texts: tuple[str, ...]) -> str:
    return json.dumps(texts, ensure_ascii=False)


@lru_cache(maxsize=4_096)
def _decode_strings(text: str) -> tuple[str, ...]:
    # Cached: the passages of a section share their headings, and most have no tags.
    return tuple(json.loads(text))


def is_memory_id(memory: str) -> bool:
    return parse_id(memory) is not None


BATCH_IDS: Final = 500
"""Ids asked for in one statement."""


def id_batches(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(ids), BATCH_IDS):
        yield ids[first : first + BATCH_IDS]


MANY_KEYS: Final = 1_000
"""Keys above which a statement is given them as one value: SQLite takes 32,766 values, and whoever copies a tenant
sees the keys of all of its users."""


def bind_keys(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(keys) if len(keys) <= MANY_KEYS else (json.dumps(list(keys)),)


def keys_sql(keys: Sequence[str]) -> str:
    return ",".join("?" * len(keys)) if len(keys) <= MANY_KEYS else "SELECT value FROM json_each(?)"


class VisibleMemories(NamedTuple):
    """The memories of some visibility keys in the current generation; ``db`` is inside a transaction."""

    db: Database
    tenant: int
    generation: int
    keys: tuple[str, ...]

    @property
    def own(self) -> tuple[int | str, ...]:
        """Values of `among`."""
        return (self.tenant, self.generation, *self.bound)

    @property
    def bound(self) -> tuple[str, ...]:
        """Values of `keys_sql`."""
        return bind_keys(self.keys)

    @property
    def marks(self) -> str:
        return keys_sql(self.keys)

    def among(self, name: str = "m") -> str:
        return f"{name}.tenant = ? AND {name}.generation = ? AND {name}.key IN ({self.marks})"

    def records(self, condition: str, values: Sequence[object], tail: str = "") -> list[Record]:
        found = self.db.execute(
            f"{SELECT_MEMORY} WHERE {self.among()} AND {condition} {tail}", (*self.own, *values)
        ).fetchall()
        return [memory_from_row(row) for row in found]

    def of(self, ids: Iterable[str]) -> dict[str, Record]:
        wanted = [memory for memory in ids if is_memory_id(memory)]
        held: dict[str, Record] = {}
        for batch in id_batches(wanted):
            hashes = [sort_hash(memory) for memory in batch]
            marks = ",".join("?" * len(hashes))
            held |= {record.id: record for record in self.records(f"m.hash IN ({marks})", hashes)}
        return {memory: held[memory] for memory in wanted if memory in held}

    def complete(self, prefix: str, limit: int) -> list[str]:
        found: list[str] = []
        for tier, first, last in id_ranges(prefix):
            held = self.db.execute(
                f"SELECT m.hash FROM memory m WHERE {self.among()} AND m.tier = ? AND m.hash BETWEEN ? AND ? "
                "ORDER BY m.hash LIMIT ?",
                (*self.own, tier, first, last, limit - len(found)),
            ).fetchall()
            found += [id_from_hash(tier, number) for (number,) in held]
        return found

    def amount(self, key: str) -> int:
        (live,) = self.db.execute(
            "SELECT total(live) FROM segment WHERE tenant = ? AND generation = ? "
            f"AND key IN ({self.marks}) AND key = ?",
            (*self.own, key),
        ).fetchone()
        return int(live)

    def counts(self, sources: int) -> Counts:
        held = self.db.execute(
            f"SELECT m.tier, m.status, count(*) FROM memory m WHERE {self.among()} GROUP BY m.tier, m.status",
            self.own,
        ).fetchall()
        (documents,) = self.db.execute(
            "SELECT count(*) FROM document d JOIN source s ON s.tenant = d.tenant AND s.id = d.source "
            f"WHERE d.tenant = ? AND d.generation = ? AND s.key IN ({self.marks})",
            self.own,
        ).fetchone()
        return counts_from_rows(held, documents, sources)


def read_metadata(
    visible: VisibleMemories, table: MemoryTable, ids: Sequence[str]
) -> dict[str, RankingMetadata]:
    places = {memory: row for memory, row in zip(ids, table.find(ids), strict=True) if row is not None}
    found: dict[str, RankingMetadata] = {}
    for batch in id_batches(list(places)):
        held = visible.db.execute(
            "SELECT m.tier, m.hash, m.title, m.turn, m.role, coalesce(m.event_start, m.recorded_at), m.last_used, "
            "m.pinned, m.strength, m.confidence, m.session, m.project FROM memory m "
            f"WHERE {visible.among()} AND m.hash IN ({','.join('?' * len(batch))})",
            (*visible.own, *map(sort_hash, batch)),
        ).fetchall()
        for tier, number, title, turn, role, at, used, pinned, *sure in held:
            memory = id_from_hash(tier, number)
            if memory in places:
                words = int(table.lengths[places[memory]])
                found[memory] = RankingMetadata(
                    title, words, turn is not None, role, at, used, bool(pinned), *sure
                )
    return found


PUT_DOCUMENT: Final = insert_sql("document", ("tenant", "generation", *DOCUMENT_COLUMNS))
PUT_SOURCE: Final = insert_sql("source", ("tenant", *SOURCE_COLUMNS)).replace(
    "INSERT", "INSERT OR REPLACE", 1
)


def find_document(db: Database, tenant: Tenant, source: str, path: str) -> int | None:
    row = db.execute(
        "SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?",
        (tenant.number, source, tenant.generation, path),
    ).fetchone()
    return None if row is None else int(row[0])


def put_document(db: Database, tenant: Tenant, number: int | None, document: Document) -> int:
    values = document_to_row(document)
    if number is not None:
        assigned = ", ".join(f"{name} = ?" for name in DOCUMENT_COLUMNS)
        db.execute(f"UPDATE document SET {assigned} WHERE id = ?", (*values, number))
        return number
    db.execute(PUT_DOCUMENT, (tenant.number, tenant.generation, *values))
    return db.last_insert_rowid()


def place_memory(db: Database, num: int, document: int, place: SourcePlace) -> None:
    """Set a memory's place in a document; nothing is written where it is unchanged."""
    columns = ", ".join(("document", *PLACE_COLUMNS))
    values = (document, *place_to_row(place))
    marks = ",".join("?" * len(values))
    db.execute(
        f"UPDATE memory SET ({columns}) = ({marks}) WHERE num = ? AND ({columns}) IS NOT ({marks})",
        (*values, num, *values),
    )


def without_document(db: Database, nums: Sequence[int]) -> list[int]:
    found = (
        db.execute("SELECT num FROM memory WHERE num = ? AND document IS NULL", (num,)).fetchone()
        for num in nums
    )
    return [row[0] for row in found if row is not None]


def put_source(db: Database, tenant: int, source: Source) -> None:
    db.execute(PUT_SOURCE, (tenant, *source_to_row(source, json.dumps)))


def find_source_key(db: Database, tenant: int, source: str) -> str | None:
    row = db.execute("SELECT key FROM source WHERE tenant = ? AND id = ?", (tenant, source)).fetchone()
    return None if row is None else str(row[0])


_SELECT_MODELS: Final = (
    "SELECT id, provider, name, revision, dimensions, pooling, window, state FROM model WHERE tenant = ?"
)


def registered_models(db: Database, tenant: int) -> dict[str, tuple[int, EmbeddingModel, str]]:
    found = {}
    for number, *identity, state in db.execute(_SELECT_MODELS, (tenant,)).fetchall():
        model = EmbeddingModel(*identity)
        found[model.fingerprint] = (number, model, state)
    return found


def cached_texts(
    db: Database, tenant: int, fingerprint: str, hashes: list[str]
) -> dict[str, QuantizedVectors]:
    import numpy as np

    from scrubjay.storage.changes import QuantizedVectors

    known = registered_models(db, tenant)
    if fingerprint not in known:
        return {}
    number, model, _ = known[fingerprint]
    found = {}
    for text in hashes:
        row = db.execute(
            "SELECT rows, data FROM cache WHERE tenant = ? AND model = ? AND hash = ?", (tenant, number, text)
        ).fetchone()
        if row is not None:
            count, blob = row
            data = np.frombuffer(blob, "i1", count * model.dimensions, count * 4)
            found[text] = QuantizedVectors(
                data.reshape(count, model.dimensions), np.frombuffer(blob, "<f4", count)
            )
    return found


def model_coverage(visible: VisibleMemories, fingerprint: str, memories: int) -> Coverage:
    known = registered_models(visible.db, visible.tenant)
    if fingerprint not in known:
        return Coverage(0, memories)
    (waits,) = visible.db.execute(
        "SELECT count(*) FROM pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? "
        f"AND {visible.among()}",
        (known[fingerprint][0], *visible.own),
    ).fetchone()
    return Coverage(memories - waits, waits)


def pending_memories(visible: VisibleMemories, fingerprint: str, limit: int) -> list[PendingMemory]:
    known = registered_models(visible.db, visible.tenant)
    if fingerprint in known:
        table = "pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? AND"
        order, values = "p.hash, p.num", [known[fingerprint][0]]
    else:
        table, order, values = "memory m WHERE", "m.hash", []
    nums = visible.db.execute(
        f"SELECT m.num FROM {table} {visible.among()} ORDER BY {order} LIMIT ?",
        (*values, *visible.own, limit),
    ).fetchall()
    return [
        PendingMemory(record, _text_before(visible, num))
        for (num,) in nums
        for record in visible.records("m.num = ?", (num,))
    ]


def _text_before(visible: VisibleMemories, num: int) -> str:
    row = visible.db.execute(
        "SELECT b.content FROM memory m JOIN memory b ON b.document = m.document AND b.ordinal = m.ordinal - 1 "
        "AND b.heading_path = m.heading_path AND b.key = m.key WHERE m.num = ? ORDER BY b.tier, b.hash LIMIT 1",
        (num,),
    ).fetchone()
    return "" if row is None else str(row[0])


def forgotten_hashes(db: Database, tenant: int, hashes: Iterable[str]) -> set[str]:
    if not db.execute("SELECT 1 FROM tombstone WHERE tenant = ?", (tenant,)).fetchone():
        return set()  # every passage of a sync is asked for under each of its reader's keys
    return {
        mark
        for mark in hashes
        if db.execute("SELECT 1 FROM tombstone WHERE tenant = ? AND hash = ?", (tenant, mark)).fetchone()
    }


def put_tombstones(db: Database, tenant: int, hashes: Iterable[str]) -> None:
    db.executemany("INSERT OR IGNORE INTO tombstone VALUES (?, ?)", ((tenant, mark) for mark in hashes))
