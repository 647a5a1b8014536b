"""Rebuild: fill the next generation inside the same file, flip one row, drop the last one.

A live store's file is never renamed or replaced: with another process holding its log, that loses the
whole rebuild without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.memory.records import Document, Versions
from scrubjay.store.changes import Change, Prepared
from scrubjay.store.sqlite import rows
from scrubjay.store.sqlite.tenant import Tenant
from scrubjay.store.sqlite.terms import Vocabulary
from scrubjay.store.sqlite.writer import Writer
from scrubjay.text.tokens import Terms

if TYPE_CHECKING:
    import apsw

DROPPED_AT_ONCE: Final = 2_000
"""Rows of an old generation removed in one transaction, so that no lock is held for long."""


class SQLiteRebuild:
    """The generation after the one that answers."""

    def __init__(self, db: apsw.Connection, old: Tenant, vocabulary: Vocabulary) -> None:
        self._db = db
        self._old = old
        self._next = replace(old, generation=old.generation + 1)
        self._vocabulary = vocabulary

    def documents(self) -> list[Document]:
        """Return the documents of the generation that answers."""
        found = self._db.execute(
            "SELECT source, path, content_hash, mtime_ns, size, title, cursor, chunker, tokenizer, scrubber, extractor, "
            "labeller FROM document WHERE tenant = ? AND generation = ? ORDER BY source, path",
            (self._old.number, self._old.generation),
        ).fetchall()
        return [Document(*row[:6], Versions(*row[7:]), row[6]) for row in found]

    def passages(self, document: Document) -> list[Prepared]:
        """Return a document's passages as they are stored, in order, without terms."""
        return self._records(
            "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?) "
            "ORDER BY m.ordinal, m.hash",
            (self._old.number, document.source, self._old.generation, document.path),
        )

    def additions(self) -> list[Prepared]:
        """Return the memories that belong to no document, without terms."""
        return self._records("m.document IS NULL ORDER BY m.hash", ())

    def _records(self, condition: str, values: tuple[object, ...]) -> list[Prepared]:
        found = self._db.execute(
            f"{rows.SELECT} WHERE m.tenant = ? AND m.generation = ? AND {condition}",
            (self._old.number, self._old.generation, *values),
        ).fetchall()
        return [Prepared(rows.to_record(row), Terms({}, 0)) for row in found]

    def write(self, changes: Sequence[Change]) -> None:
        """Apply changes to the next generation, in one transaction."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            writer = Writer(self._db, self._next, None, self._vocabulary)
            for change in changes:
                writer.apply(change)
            writer.finish()
            self._db.execute("COMMIT")
        except BaseException:
            self._vocabulary.discard()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def flip(self) -> None:
        """Let the next generation answer."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute(
            "UPDATE tenant SET generation = ? WHERE id = ?", (self._next.generation, self._next.number)
        )
        self._db.execute("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
        self._db.execute("COMMIT")


def drop_stale(db: apsw.Connection, tenant: int) -> None:
    """Remove every generation of a tenant but the one that answers, a little at a time."""
    while True:
        db.execute("BEGIN IMMEDIATE")
        stale = "tenant = ?1 AND generation <> (SELECT generation FROM tenant WHERE id = ?1)"
        nums = db.execute(f"SELECT num FROM memory WHERE {stale} LIMIT {DROPPED_AT_ONCE}", (tenant,)).fetchall()
        for table in ("slot", "tag", "pending", "memory"):
            db.executemany(f"DELETE FROM {table} WHERE num = ?", nums)
        if not nums:
            for table in ("posting", "vector"):
                db.execute(f"DELETE FROM {table} WHERE segment IN (SELECT id FROM segment WHERE {stale})", (tenant,))
            db.execute(f"DELETE FROM segment WHERE {stale}", (tenant,))
            db.execute(f"DELETE FROM document WHERE {stale}", (tenant,))
        db.execute("COMMIT")
        if not nums:
            return
