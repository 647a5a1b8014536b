"""Rebuild: fill the next generation inside the same file, flip one row, drop the last one.

A live store's file is never renamed or replaced: with another process holding its log, that loses the
whole rebuild without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.memory.records import Document, Record, Versions
from scrubjay.store.changes import Change, Codes, Prepared, PutVersions
from scrubjay.store.kept import Tenant
from scrubjay.store.lookup import Part
from scrubjay.store.scope_check import of_a_generation
from scrubjay.store.sqlite import registry, rows
from scrubjay.store.sqlite.connect import immediate
from scrubjay.store.sqlite.settle import settle
from scrubjay.store.sqlite.terms import Vocabulary
from scrubjay.store.sqlite.vectors import Blocks
from scrubjay.store.sqlite.writer import Writer
from scrubjay.store.table import COLUMNS
from scrubjay.text.tokens import Terms

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

DROPPED_AT_ONCE: Final = 2_000
"""Rows of an old generation removed in one transaction, so that no lock is held for long."""


class SQLiteRebuild:
    """The generation after the one that answers."""

    def __init__(self, db: Database, old: Tenant, vocabulary: Vocabulary) -> None:
        self._db = db
        self._old = old
        self._next = replace(old, generation=old.generation + 1)
        self._vocabulary = vocabulary
        self._versions: Versions | None = None
        self._models = registry.registered(db, old.number)
        self._blocks = Blocks(None)

    def documents(self) -> list[Document]:
        """Return the documents of the generation that answers."""
        found = self._db.execute(
            "SELECT source, path, content_hash, mtime_ns, size, title, cursor, chunker, tokenizer, scrubber, "
            "extractor, labeller FROM document WHERE tenant = ? AND generation = ? ORDER BY source, path",
            (self._old.number, self._old.generation),
        ).fetchall()
        return [
            Document(source, path, digest, mtime, size, title, Versions(*versions), cursor)
            for source, path, digest, mtime, size, title, cursor, *versions in found
        ]

    def passages(self, document: Document) -> list[Prepared]:
        """Return a document's passages as they are stored, in order, with terms left empty."""
        return self._records(
            "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?) "
            "ORDER BY m.ordinal, m.tier, m.hash",
            (self._old.number, document.source, self._old.generation, document.path),
        )

    def additions(self) -> list[Prepared]:
        """Return the memories that belong to no document, with terms left empty."""
        return self._records("m.document IS NULL ORDER BY m.hash", ())

    def _records(self, condition: str, values: tuple[object, ...]) -> list[Prepared]:
        found = self._db.execute(
            f"{rows.SELECT} WHERE m.tenant = ? AND m.generation = ? AND {condition}",
            (self._old.number, self._old.generation, *values),
        ).fetchall()
        return [self._prepared(rows.to_record(row)) for row in found]

    def _prepared(self, record: Record) -> Prepared:
        segment, version, slot, slots, columns = self._db.execute(
            "SELECT g.id, g.version, s.slot, g.slots, g.columns FROM memory m JOIN slot s ON s.num = m.num "
            "JOIN segment g ON g.id = s.segment WHERE m.tenant = ? AND m.hash = ? AND m.generation = ?",
            (self._old.number, rows.sort_hash(record.id), self._old.generation),
        ).fetchone()
        part = Part(segment, version, 0, slots)
        vectors = {}
        for fingerprint, (number, model, _) in self._models.items():
            for places, scales, data in self._blocks.of(self._db, part, number, model.dimensions):
                own = places == slot
                if own.any():
                    vectors[fingerprint] = Codes(data[own], scales[own])
        language = int(np.frombuffer(columns, COLUMNS)["language"][slot])
        (code,) = self._db.execute("SELECT code FROM language WHERE id = ?", (language,)).fetchone()
        return Prepared(record, Terms({}, 0), vectors, code)

    def write(self, changes: Sequence[Change]) -> None:
        """Apply changes to the next generation, in one transaction."""
        of_a_generation(changes)
        try:
            with immediate(self._db):
                writer = Writer(self._db, self._next, None, self._vocabulary)
                for change in changes:
                    if isinstance(change, PutVersions):
                        self._versions = change.versions  # stamped with the flip, not before
                    else:
                        writer.apply(change)
                writer.finish()
        except BaseException:
            self._vocabulary.discard()
            raise

    def flip(self) -> None:
        """Let the next generation answer."""
        with immediate(self._db):
            if self._versions is not None:
                Writer(self._db, self._next, None, self._vocabulary).apply(PutVersions(self._versions))
            self._db.execute(
                "UPDATE tenant SET generation = ? WHERE id = ?", (self._next.generation, self._next.number)
            )
            self._db.execute("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
            settle(self._db, self._next, self._changed())

    def _changed(self) -> dict[int, tuple[str, str]]:
        """Return tier and key of the memories that the next generation does not hold with the same."""
        found = self._db.execute(
            "SELECT o.hash, o.tier, o.key FROM memory o LEFT JOIN memory n ON n.tenant = o.tenant "
            "AND n.hash = o.hash AND n.generation = ? WHERE o.tenant = ? AND o.generation = ? "
            "AND (n.tier, n.key) IS NOT (o.tier, o.key)",
            (self._next.generation, self._old.number, self._old.generation),
        ).fetchall()
        return {number: (tier, key) for number, tier, key in found}


def drop_stale(db: Database, tenant: int) -> None:
    """Remove every generation of a tenant but the one that answers, a little at a time."""
    stale = "tenant = ?1 AND generation <> (SELECT generation FROM tenant WHERE id = ?1)"
    left = True
    while left:
        with immediate(db):
            nums = db.execute(
                f"SELECT num FROM memory WHERE {stale} LIMIT {DROPPED_AT_ONCE}", (tenant,)
            ).fetchall()
            left = bool(nums)
            for table in ("slot", "tag", "pending", "reading", "memory"):
                db.executemany(f"DELETE FROM {table} WHERE num = ?", nums)
            if not left:
                segments = f"SELECT id FROM segment WHERE {stale}"
                for table in ("posting", "vector"):
                    db.execute(f"DELETE FROM {table} WHERE segment IN ({segments})", (tenant,))
                db.execute(f"DELETE FROM segment WHERE {stale}", (tenant,))
                db.execute(f"DELETE FROM document WHERE {stale}", (tenant,))
