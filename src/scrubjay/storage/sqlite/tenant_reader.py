"""Tenant reader: all rows of one tenant in one transaction, for copies and checks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.lifecycle import Event
from scrubjay.models.records import TIERS, UnrestrictedScope
from scrubjay.storage.changes import PreparedMemory, QuantizedVectors
from scrubjay.storage.interface import BATCH_ROWS, AlteredMemory, in_batches
from scrubjay.storage.reader import SQLTenantReader
from scrubjay.storage.rows import (
    FROM_MEMORY,
    SELECTED_COLUMNS,
    SIGN,
    TARGET_KIND,
    VISIBLE,
    event_from_row,
    id_from_hash,
    memory_hashes,
    record_from_row,
)
from scrubjay.storage.sqlite import blobs, graph
from scrubjay.storage.sqlite.graph import WEIGHT_SQL
from scrubjay.storage.sqlite.reader import SQLiteReader
from scrubjay.storage.sqlite.rows import decode_strings, find_tenant
from scrubjay.storage.sqlite.vectors import decode_cached_text, read_vectors
from scrubjay.storage.table import COLUMNS
from scrubjay.text.tokenizer import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.snapshot import Snapshot
    from scrubjay.storage.sqlite.connection import Database
    from scrubjay.storage.sqlite.reader import TableCache
    from scrubjay.storage.sqlite.vectors import VectorCache


KEYED_TABLES: Final = ("source", "segment", "concept", "category", "project", "sight", "event", "run")
"""Tables whose rows have a visibility key. The memories' are those of their segments."""
SELECT_CONTENT_HASHES: Final = (
    "SELECT m.tier, m.hash, CAST(m.content AS BLOB), CAST(m.content_hash AS BLOB), d.source, d.path FROM memory m "
    "LEFT JOIN document d ON d.id = m.document "
    "WHERE m.tenant = ? AND m.generation = ? AND m.hash >= ? ORDER BY m.hash LIMIT ?"
)
SELECT_EDGES: Final = (
    f"SELECT e.src, s.src_tier, e.kind, e.dst, s.dst_tier, n.hash, s.key, {WEIGHT_SQL}, e.at, k.origin, k.rule, k.run "
    "FROM edge e CROSS JOIN sight s ON s.id = e.sight CROSS JOIN maker k ON k.id = e.maker "
    "LEFT JOIN node n ON s.dst_tier < 0 AND n.num = e.dst WHERE e.tenant = ?"
)
SELECT_EVENTS: Final = (
    "SELECT m.tier, e.memory, e.op, e.at, e.key, e.run, o.tier, o.hash, e.count, e.before, e.actor FROM event e "
    "CROSS JOIN memory m ON m.tenant = e.tenant AND m.hash = e.memory AND m.generation = ?1 "
    "LEFT JOIN memory o ON o.tenant = e.tenant AND o.hash = e.other AND o.generation = ?1 "
    "WHERE e.tenant = ?2 ORDER BY e.seq"
)


def all_keys(db: Database, tenant: str) -> tuple[str, ...]:
    tenant_row = find_tenant(db, tenant)
    if tenant_row is None:
        return ()
    statement = " UNION ".join(f"SELECT key FROM {table} WHERE tenant = ?1" for table in KEYED_TABLES)
    return tuple(sorted(key for (key,) in db.execute(statement, (tenant_row.number,)).fetchall()))


class SQLiteTenantReader(SQLTenantReader, SQLiteReader):
    def __init__(
        self,
        db: Database,
        scope: UnrestrictedScope,
        tables: TableCache,
        cache: VectorCache,
        snapshot: Snapshot,
    ) -> None:
        super().__init__(db, scope, tables, cache, snapshot)
        self.scope = scope

    @property
    def secret(self) -> bytes | None:
        tenant = find_tenant(self._db, self.scope.tenant)
        return None if tenant is None else tenant.secret

    def memories(self) -> Iterator[list[PreparedMemory]]:
        db, generation_key = self._db, (self._tenant, self._generation)
        words = dict(db.execute("SELECT id, text FROM term WHERE tenant = ?", generation_key[:1]).fetchall())
        languages = dict(db.execute("SELECT id, code FROM language").fetchall())
        segments = db.execute(
            "SELECT id, key FROM segment WHERE tenant = ? AND generation = ? ORDER BY id", generation_key
        ).fetchall()
        for segment, key in segments:
            yield from self._segment(segment, key, words, languages)

    def _segment(
        self, segment: int, key: str, words: dict[int, str], languages: dict[int, str]
    ) -> Iterator[list[PreparedMemory]]:
        (blob,) = self._db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
        columns = np.frombuffer(blob, COLUMNS)
        counts = self._counts(segment, len(columns), words)
        vectors = {
            fingerprint: self._windows_of(segment, record.number, blobs.VectorLayout.of(record.model))
            for fingerprint, record in self._registered_models().items()
        }
        live = np.flatnonzero(columns["live"]).tolist()
        for slots in in_batches(live, BATCH_ROWS):
            ids = self._ids(columns, slots)
            rows = self._all(
                f"SELECT {SELECTED_COLUMNS} {FROM_MEMORY} WHERE {VISIBLE} AND m.hash IN ?",
                self._tenant, self._generation, [key], memory_hashes(ids),
            )  # fmt: skip
            records = {record.id: record for record in (record_from_row(row, decode_strings) for row in rows)}
            yield [
                PreparedMemory(
                    records[memory],
                    Terms(counts[slot], int(columns["length"][slot])),
                    {name: by_slot[slot] for name, by_slot in vectors.items() if slot in by_slot},
                    languages[int(columns["language"][slot])],
                )
                for memory, slot in zip(ids, slots, strict=True)
            ]

    @staticmethod
    def _ids(columns: NDArray[np.void], slots: list[int]) -> list[str]:
        tiers, numbers = columns["tier"][slots].tolist(), columns["key"][slots].tolist()
        return [id_from_hash(TIERS[tier], number - SIGN) for tier, number in zip(tiers, numbers, strict=True)]

    def _counts(self, segment: int, slots: int, words: dict[int, str]) -> list[dict[str, int]]:
        counts: list[dict[str, int]] = [{} for _ in range(slots)]
        cursor = self._db.execute("SELECT term, data FROM posting WHERE segment = ?", (segment,))
        for term, data in iter(cursor.fetchone, None):
            word = words[term]
            places, frequencies = blobs.unpack_postings(data)
            for slot, frequency in zip(places.tolist(), frequencies.tolist(), strict=True):
                counts[slot][word] = frequency
        return counts

    def _windows_of(
        self, segment: int, model: int, layout: blobs.VectorLayout
    ) -> dict[int, QuantizedVectors]:
        by_slot: dict[int, QuantizedVectors] = {}
        for slots, scales, data in read_vectors(self._db, segment, model, layout):
            firsts = np.flatnonzero(np.diff(slots.astype(np.int64), prepend=-1)).tolist()
            for first, last in pairwise([*firsts, len(slots)]):
                by_slot[int(slots[first])] = QuantizedVectors(data[first:last], scales[first:last])
        return by_slot

    def altered_memories(self) -> Iterator[tuple[int, list[AlteredMemory]]]:
        first = -SIGN
        while rows := self._db.execute(
            SELECT_CONTENT_HASHES, (self._tenant, self._generation, first, BATCH_ROWS)
        ).fetchall():
            first = rows[-1][1] + 1
            yield (
                len(rows),
                [
                    AlteredMemory(id_from_hash(tier, number), source, path)
                    for tier, number, content, digest, source, path in rows
                    if hashlib.sha256(content).hexdigest().encode() != digest
                ],
            )

    def all_edges(self) -> Iterator[list[Edge]]:
        cursor = self._db.execute(SELECT_EDGES, (self._tenant,))
        return in_batches((_edge_from_row(row) for row in iter(cursor.fetchone, None)), BATCH_ROWS)

    def all_events(self) -> Iterator[list[Event]]:
        cursor = self._db.execute(SELECT_EVENTS, (self._generation, self._tenant))
        return in_batches((event_from_row(row) for row in iter(cursor.fetchone, None)), BATCH_ROWS)

    def all_cached_texts(self) -> Iterator[tuple[str, dict[str, QuantizedVectors]]]:
        cursor = self._db.execute(
            "SELECT hash, rows, data, model FROM cache WHERE tenant = ? ORDER BY seq", (self._tenant,)
        )
        models = {registered.number: registered.model for registered in self._registered_models().values()}
        for text, count, blob, number in iter(cursor.fetchone, None):
            model = models[number]
            yield model.fingerprint, {text: decode_cached_text(count, blob, model.row_bytes)}

    def tombstones(self) -> Iterator[list[str]]:
        cursor = self._db.execute("SELECT hash FROM tombstone WHERE tenant = ?", (self._tenant,))
        return in_batches((digest for (digest,) in iter(cursor.fetchone, None)), BATCH_ROWS)


def _edge_from_row(row: tuple[Any, ...]) -> Edge:
    src, src_tier, code, dst, dst_tier, node, key, weight, at, *origin = row
    kind = STORED_EDGE_KINDS[code]
    end = id_from_hash(TARGET_KIND[kind], node) if dst_tier < 0 else id_from_hash(TIERS[dst_tier], dst)
    return Edge(id_from_hash(TIERS[src_tier], src), kind, end, key, weight, at + graph.EPOCH_MICROS, *origin)
