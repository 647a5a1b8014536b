"""Tenant reader: all rows of one tenant in one transaction, for copies and checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from scrubjay.models.graph import Edge
from scrubjay.models.ids import text_hash
from scrubjay.models.lifecycle import Event
from scrubjay.models.records import UnrestrictedScope
from scrubjay.storage.changes import PreparedMemory, QuantizedVectors
from scrubjay.storage.interface import BATCH_ROWS, AlteredMemory
from scrubjay.storage.postgres.connection import unescape_text
from scrubjay.storage.postgres.graph import edge_from_row
from scrubjay.storage.postgres.reader import PostgresReader
from scrubjay.storage.postgres.rows import find_tenant
from scrubjay.storage.postgres.vectors import decode_vectors, read_vectors
from scrubjay.storage.reader import SQLTenantReader
from scrubjay.storage.rows import (
    FROM_MEMORY,
    SELECTED_COLUMNS,
    SIGN,
    TARGET_KIND,
    event_from_row,
    id_from_hash,
    record_from_row,
)
from scrubjay.storage.snapshot import Snapshot
from scrubjay.text.tokenizer import Terms

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import Database


KEYED_TABLES: Final = ("source", "memory", "concept", "category", "project", "edge", "event", "run")
"""Tables whose rows have a visibility key."""
SELECT_KEYS: Final = " UNION ".join(
    f"SELECT key FROM {table} WHERE tenant = %(tenant)s" for table in KEYED_TABLES
)
SELECT_MEMORIES: Final = (
    f"SELECT m.num, m.language, m.length, m.terms, m.tfs, {SELECTED_COLUMNS} {FROM_MEMORY} "
    "WHERE m.tenant = %s AND m.generation = %s AND m.num > %s ORDER BY m.num LIMIT %s"
)
SELECT_CONTENT_HASHES: Final = """
SELECT m.num, m.tier, m.hash, d.source, d.path, m.content_hash,
    CASE WHEN encode(sha256(textsend(m.content)), 'hex') <> m.content_hash THEN textsend(m.content) END
FROM memory m LEFT JOIN document d ON d.tenant = m.tenant AND d.id = m.document
WHERE m.tenant = %s AND m.generation = %s AND m.num > %s ORDER BY m.num LIMIT %s
"""
SELECT_EDGES: Final = """
SELECT e.src, e.kind, e.dst, e.key, e.weight, e.at, e.origin, e.rule, e.run FROM edge e
WHERE e.tenant = %s AND (e.src, e.kind, e.dst, e.key) > (%s, %s, %s, %s)
ORDER BY e.src, e.kind, e.dst, e.key LIMIT %s
"""
SELECT_EVENTS: Final = """
SELECT e.seq, e.memory, e.op, e.at, e.key, e.run, e.other, e.count, e.before, e.actor FROM event e
WHERE e.tenant = %s AND e.seq > %s ORDER BY e.seq LIMIT %s
"""
SELECT_TIERS: Final = (
    "SELECT hash, tier FROM memory WHERE tenant = %s AND generation = %s AND hash = ANY(%s::bigint[])"
)
"""The memories of edges and events are looked up batch by batch. The server would plan a join from its statistics, and
has none of a table that was filled just now: 50,000 edges took half a minute."""
LEAST_HASH: Final = -SIGN


class PostgresTenantReader(SQLTenantReader, PostgresReader):
    def __init__(self, db: Database, name: str) -> None:
        tenant = find_tenant(db, name)
        keys = db.execute(SELECT_KEYS, {"tenant": tenant.number}).fetchall() if tenant else []
        self.scope = UnrestrictedScope(name, "", (), tuple(sorted(key for (key,) in keys)))
        self._tenant_row = tenant
        super().__init__(db, self.scope, tenant, Snapshot())

    @property
    def secret(self) -> bytes | None:
        return None if self._tenant_row is None else self._tenant_row.secret

    def _batches(self, statement: str, values: Any) -> Iterator[list[tuple[Any, ...]]]:
        cursor = self._db.cursor(name="whole")
        try:
            with cursor:
                cursor.execute(statement, values)
                while rows := cursor.fetchmany(BATCH_ROWS):
                    yield rows
        finally:
            cursor.close()  # again: a cursor whose connection is lost while it closes stays open

    def memories(self) -> Iterator[list[PreparedMemory]]:
        last = -1
        while rows := self._all(SELECT_MEMORIES, *self._scope_keys[:2], last, BATCH_ROWS):
            last = rows[-1][0]
            used = sorted({term for row in rows for term in row[3]})
            statement = "SELECT id, text FROM term WHERE tenant = %s AND id = ANY(%s::integer[])"
            words = dict(self._all(statement, self._tenant, used))
            models = self._registered_models().values()
            vectors = read_vectors(self._db, self._tenant, models, [row[0] for row in rows])
            yield [
                PreparedMemory(
                    record_from_row(record, tuple),
                    Terms({words[term]: times for term, times in zip(own, tfs, strict=True)}, length),
                    vectors.get(num, {}),
                    language,
                )
                for num, language, length, own, tfs, *record in rows
            ]

    def altered_memories(self) -> Iterator[tuple[int, list[AlteredMemory]]]:
        last = -1
        while rows := self._all(SELECT_CONTENT_HASHES, *self._scope_keys[:2], last, BATCH_ROWS):
            last = rows[-1][0]
            yield (
                len(rows),
                [
                    AlteredMemory(id_from_hash(tier, number), source, path)
                    for _, tier, number, source, path, digest, content in rows
                    if content is not None and not _has_hash(bytes(content), digest)
                ],
            )

    def all_edges(self) -> Iterator[list[Edge]]:
        last: tuple[Any, ...] = (LEAST_HASH, "", LEAST_HASH, "")
        while rows := self._all(SELECT_EDGES, self._tenant, *last, BATCH_ROWS):
            last = rows[-1][:4]
            tiers = self._tiers(end for row in rows for end in (row[0], row[2]))
            yield [
                edge_from_row((tiers[src], src, kind, target_kind, dst, *rest))
                for src, kind, dst, *rest in rows
                if src in tiers and (target_kind := TARGET_KIND.get(kind) or tiers.get(dst)) is not None
            ]

    def all_events(self) -> Iterator[list[Event]]:
        last = -1
        while rows := self._all(SELECT_EVENTS, self._tenant, last, BATCH_ROWS):
            last = rows[-1][0]
            tiers = self._tiers(end for row in rows for end in (row[1], row[6]) if end is not None)
            yield [
                event_from_row((tiers[number], number, *what, tiers.get(other), other, count, before, actor))
                for _, number, *what, other, count, before, actor in rows
                if number in tiers
            ]

    def _tiers(self, numbers: Iterable[int]) -> dict[int, str]:
        return dict(self._all(SELECT_TIERS, *self._scope_keys[:2], list(set(numbers))))

    def all_cached_texts(self) -> Iterator[tuple[str, dict[str, QuantizedVectors]]]:
        statement = (
            "SELECT m.fingerprint, c.hash, c.scales, c.data FROM cache c "
            "JOIN model m ON m.tenant = c.tenant AND m.id = c.model WHERE c.tenant = %s ORDER BY c.seq"
        )
        models = self._registered_models()
        for rows in self._batches(statement, (self._tenant,)):
            for fingerprint, text, scales, data in rows:
                yield fingerprint, {text: decode_vectors(scales, data, models[fingerprint].model)}

    def tombstones(self) -> Iterator[list[str]]:
        for rows in self._batches("SELECT hash FROM tombstone WHERE tenant = %s", (self._tenant,)):
            yield [digest for (digest,) in rows]


def _has_hash(content: bytes, digest: str) -> bool:
    """Return whether a text as the server holds it has a hash that was made before it was escaped."""
    try:
        return text_hash(unescape_text(content.decode())) == digest
    except UnicodeDecodeError:
        return False
