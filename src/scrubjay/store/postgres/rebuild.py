"""Rebuild: fill the next generation in one transaction, which ends with the flip or as if it never was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scrubjay.memory.records import Document
from scrubjay.store.changes import Change, Codes, Prepared
from scrubjay.store.kept import Tenant
from scrubjay.store.postgres import blocks, marks, rows
from scrubjay.store.postgres.connecting import hold
from scrubjay.store.postgres.models import registered
from scrubjay.store.postgres.tenant import touch
from scrubjay.store.postgres.writer import Writer
from scrubjay.store.scope_check import of_a_generation
from scrubjay.text.tokens import Terms

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database


class PostgresRebuild:
    """The generation after the one that answers."""

    def __init__(self, db: Database, old: Tenant) -> None:
        self._db = db
        self._old = old
        self._next = replace(old, generation=old.generation + 1)
        self._models = registered(db, old.number)

    def documents(self) -> list[Document]:
        """Return the documents of the generation that answers."""
        found = self._db.execute(
            f"SELECT {rows.DOCUMENT} FROM document d WHERE d.tenant = %s AND d.generation = %s",
            (self._old.number, self._old.generation),
        ).fetchall()
        return sorted(map(rows.to_document, found), key=lambda document: (document.source, document.path))

    def passages(self, document: Document) -> list[Prepared]:
        """Return a document's passages as they are stored, in order, with terms left empty."""
        return self._prepared(
            'd.source = %s AND d.path = %s ORDER BY m.ordinal, m.tier COLLATE "C", m.hash',
            (document.source, document.path),
        )

    def additions(self) -> list[Prepared]:
        """Return the memories that belong to no document, with terms left empty."""
        return self._prepared("m.document IS NULL ORDER BY m.hash", ())

    def _prepared(self, condition: str, values: tuple[Any, ...]) -> list[Prepared]:
        found = self._db.execute(
            f"SELECT m.num, m.language, {rows.RECORD} {rows.FROM} WHERE m.tenant = %s AND m.generation = %s "
            f"AND {condition}",
            (self._old.number, self._old.generation, *values),
        ).fetchall()
        return [
            Prepared(rows.to_record(row[2:]), Terms({}, 0), self._vectors(row[0]), row[1]) for row in found
        ]

    def _vectors(self, num: int) -> dict[str, Codes]:
        vectors = {}
        for fingerprint, model in self._models.items():
            found = self._db.execute(
                "SELECT scale, data FROM vector WHERE tenant = %s AND memory = %s AND model = %s "
                "ORDER BY place",
                (self._old.number, num, model.number),
            ).fetchall()
            if found:
                data = np.frombuffer(b"".join(bytes(row[1]) for row in found), np.int8)
                scales = np.array([row[0] for row in found], np.float32)
                vectors[fingerprint] = Codes(data.reshape(len(found), model.model.dimensions), scales)
        return vectors

    def write(self, changes: Sequence[Change]) -> None:
        """Apply changes to the next generation."""
        of_a_generation(changes)
        Writer(self._db, self._next, None).apply_all(changes)

    def flip(self) -> None:
        """Let the next generation answer, and remove the last one with the edges of what was not carried over."""
        touch(self._db, self._old)
        hold(self._db, self._old.number, self._old.generation, self._next.generation)
        stale = (self._old.number, self._old.generation)
        self._db.execute(
            "UPDATE tenant SET generation = %s WHERE id = %s", (self._next.generation, self._old.number)
        )
        for table in ("memory", "document"):
            self._db.execute(f"DELETE FROM {table} WHERE tenant = %s AND generation = %s", stale)
        if self._old.posted:
            marks.forget(self._db, self._old.number)
            blocks.drop(self._db, self._old.number)
            while blocks.extend(self._db, self._old.number, least=1):
                pass
