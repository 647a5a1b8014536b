"""Writer: what each change does to the tables, inside one transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory.ids import parse_id, tombstone_hash
from scrubjay.memory.records import Document
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.kept import Tenant
from scrubjay.store.postgres import blocks, inserting, marks, models, rows, terms
from scrubjay.store.postgres.connecting import Connecting
from scrubjay.store.postgres.lives import Lives
from scrubjay.store.postgres.tenant import touch
from scrubjay.store.scope_check import UNTOUCHED, fitting, placed, storable, taken, writable

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database


AT_ONCE: Final = 5_000
"""Memories that are written together."""
OfDocuments = c.PutSource | c.DropSource | c.PutDocument | c.DropDocument


class Writer:
    """One transaction's work for one tenant; ``scope`` is None for a rebuild, which sees every key."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope | None) -> None:
        self._db = db
        self._tenant = tenant
        self._scope = scope
        self._own = (tenant.number, tenant.generation)
        self._models = models.registered(db, tenant.number)
        self._graph = None if scope is None else Connecting(db, tenant, scope)
        self._lives = None if scope is None else Lives(db, tenant, scope)
        self._removed: set[tuple[str, int]] = set()
        self._gone_from = blocks.Gone()
        self._added: set[int] = set()
        self.mark = tenant.mark
        self.gained: Counter[str] = Counter()

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(statement, values).fetchall()

    def apply_all(self, changes: Sequence[c.Change]) -> None:
        """Do all changes, in their order; memories that come one after another together."""
        if changes:
            self.mark = touch(self._db, self._tenant)
        for together, run in groupby(changes, lambda change: isinstance(change, c.PutMemory)):
            if together:
                self._add([change.memory for change in run if isinstance(change, c.PutMemory)])
                continue
            for change in run:
                self._apply(change)
        if (
            changes and self._tenant.posted and self._scope is not None
        ):  # a rebuild does it at its end, for all
            self._follow()

    def _follow(self) -> None:
        """Bring what a large tenant is searched by up to date."""
        number = self._tenant.number
        blocks.scrub(self._db, number, self._gone_from)
        while blocks.extend(self._db, number):
            pass
        lived = set() if self._lives is None else self._lives.moved
        marks.note(self._db, number, self.mark, self._added | self._gone_from.nums | lived)

    def _add(self, memories: Sequence[c.Prepared]) -> None:
        """Put memories of no document, so many at once that a statement is not too long."""
        for first in range(0, len(memories), AT_ONCE):
            self._removed.clear()
            self._put(memories[first : first + AT_ONCE], None, None)
            if self._graph is not None:
                self._graph.lose(self._removed)

    def _apply(self, change: c.Change) -> None:
        """Do one change."""
        if isinstance(change, c.GraphChange):
            if self._graph is not None:  # a rebuild asks for none (`of_a_generation`)
                self._graph.apply(change)
            return
        if isinstance(change, c.LifeChange):
            if self._lives is not None:
                self._lives.apply(change)
            return
        self._removed.clear()
        self._apply_to_memories(change)
        if self._graph is not None:  # a rebuild's edges and events are sorted out at its end
            self._graph.lose(self._removed)

    def _apply_to_memories(self, change: c.Change) -> None:
        match change:
            case c.PutSource() | c.DropSource() | c.PutDocument() | c.DropDocument():
                self._apply_to_documents(change)
            case c.DropMemory(ids):
                self._remove(self._numbers(ids), "AND document IS NULL")
            case c.Forget(ids):
                self._forget(ids)
            case c.PutTombstones(hashes):
                terms.bury(self._db, self._tenant.number, hashes)
            case c.PutModel() | c.DropModel() | c.PutVectors():
                self._apply_to_models(change)
            case c.PutVersions(versions):
                stamp = (json.dumps(asdict(versions)), self._tenant.number)
                self._db.execute("UPDATE tenant SET versions = %s WHERE id = %s", stamp)

    def _apply_to_documents(self, change: OfDocuments) -> None:
        match change:
            case c.PutSource():
                self._put_source(change)
            case c.DropSource(source) if self._sees_source(source):
                held = "SELECT path FROM document WHERE tenant = %s AND generation = %s AND source = %s"
                for (path,) in self._all(held, *self._own, source):
                    self._drop_document(source, path)
                own = (self._tenant.number, source)
                self._db.execute("DELETE FROM source WHERE tenant = %s AND id = %s", own)
            case c.PutDocument():
                self._put_document(change)
            case c.DropDocument(source, path) if self._sees_source(source):
                self._drop_document(source, path)

    def _apply_to_models(self, change: c.PutModel | c.DropModel | c.PutVectors) -> None:
        tenant = self._tenant.number
        match change:
            case c.PutModel(model, state):
                models.put(self._db, tenant, model, state)
            case c.DropModel(fingerprint):
                models.drop(self._db, tenant, fingerprint)
            case c.PutVectors():
                self._put_vectors(change)
        self._models = models.registered(self._db, tenant)

    def _sees(self, key: str) -> bool:
        return self._scope is None or key in self._scope.keys

    def _source_key(self, source: str) -> str | None:
        found = self._all("SELECT key FROM source WHERE tenant = %s AND id = %s", self._tenant.number, source)
        return found[0][0] if found else None

    def _sees_source(self, source: str) -> bool:
        key = self._source_key(source)
        return key is not None and self._sees(key)

    def _put_source(self, change: c.PutSource) -> None:
        s = change.source
        writable(self._scope, s.key, f"Source {s.root}")
        if self._source_key(s.id) is not None and not self._sees_source(s.id):
            raise InputError(f"Source id {s.id!r} belongs to another source already. {UNTOUCHED}")
        self._db.execute("DELETE FROM source WHERE tenant = %s AND id = %s", (self._tenant.number, s.id))
        inserting.source(self._db, self._tenant.number, s)

    def _document(self, source: str, path: str) -> int | None:
        asked = "SELECT id FROM document WHERE tenant = %s AND generation = %s AND source = %s AND path = %s"
        found = self._all(asked, *self._own, source, path)
        return found[0][0] if found else None

    def _drop_document(self, source: str, path: str) -> None:
        number = self._document(source, path)
        if number is not None:
            self._remove_passages(number)
            gone = "DELETE FROM document WHERE tenant = %s AND id = %s"
            self._db.execute(gone, (self._tenant.number, number))

    def _remove_passages(self, document: int) -> None:
        gone = f"DELETE FROM memory WHERE tenant = %s AND document = %s RETURNING {blocks.GONE}"
        self._gone(self._all(gone, self._tenant.number, document))

    def _gone(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Remember what was removed: tier, number, visibility key, row and words of each."""
        for tier, number, key, num, words in rows:
            self._removed.add((tier, number))
            self._gone_from.add(num, words)
            self.gained[key] -= 1

    def _put_document(self, change: c.PutDocument) -> None:
        document = change.document
        if not self._sees_source(document.source):
            raise NotFoundError(f"No source {document.source} is registered. {UNTOUCHED}")
        for kept in change.kept:
            placed(kept.id, kept.place, document)
        number, replaced = self._row_for(document, change.moved_from)
        self._remove(self._numbers(change.dropped))
        if not change.grows and (change.fresh or change.kept or change.dropped):
            self._remove(self._left(number, {kept.id for kept in change.kept}))
        for kept in change.kept:
            for num in self._numbers([kept.id]):
                self._db.execute(
                    "UPDATE memory SET document = %s, ordinal = %s, char_start = %s, char_end = %s, "
                    "line_start = %s, line_end = %s WHERE tenant = %s AND num = %s",
                    (number, *rows.place_values(kept.place), self._tenant.number, num),
                )
        if replaced is not None:
            self._remove_passages(replaced)
        self._put(change.fresh, number, document)

    def _row_for(self, d: Document, moved_from: str | None) -> tuple[int, int | None]:
        """Return the row of a document, written now, and that of the one whose path it took over."""
        number, replaced = self._document(d.source, d.path), None
        moved = self._document(d.source, moved_from) if moved_from not in (None, d.path) else None
        if moved is not None:
            number, replaced = moved, number
            gone = "DELETE FROM document WHERE tenant = %s AND id = %s"
            self._db.execute(gone, (self._tenant.number, replaced))
        return inserting.document(self._db, self._own, d, number), replaced

    def _left(self, document: int, kept: set[str]) -> list[int]:
        """Return the visible passages of a document that a change of it does not keep."""
        held = "SELECT num, tier, hash, key FROM memory WHERE tenant = %s AND document = %s"
        found = self._all(held, self._tenant.number, document)
        return [
            num
            for num, tier, number, key in found
            if self._sees(key) and rows.id_of(tier, number) not in kept
        ]

    def _put(self, memories: Sequence[c.Prepared], document: int | None, where: Document | None) -> None:
        last = {memory.record.id: memory for memory in memories}
        for memory in memories:
            writable(self._scope, memory.record.key, f"Memory {memory.record.id}")
            storable(memory.record)
            placed(memory.record.id, memory.record.place, where)
            for fingerprint, codes in memory.vectors.items():
                fitting(self._model(fingerprint).model, codes, f"Memory {memory.record.id}")
        inserting.apart(last)
        holders = self._holders(list(last))
        for memory_id, (_, key, tier) in holders.items():
            if not (self._sees(key) and memory_id == rows.id_of(tier, rows.sort_hash(memory_id) or 0)):
                raise taken(memory_id)
        self._remove([num for num, _, _ in holders.values()])
        self._added.update(inserting.insert(self._db, self._own, list(last.values()), document, self._models))
        self.gained.update(memory.record.key for memory in last.values())

    def _holders(self, ids: Iterable[str]) -> dict[str, tuple[int, str, str]]:
        """Return, by id, the row, key and tier of the memory that has its number."""
        numbers = {number: memory for memory in ids if (number := rows.sort_hash(memory)) is not None}
        found = self._all(
            "SELECT hash, num, key, tier FROM memory WHERE tenant = %s AND generation = %s AND hash "
            "= ANY(%s::bigint[])",
            *self._own, list(numbers),
        )  # fmt: skip
        return {numbers[number]: (num, key, tier) for number, num, key, tier in found}

    def _numbers(self, ids: Iterable[str]) -> list[int]:
        """Return the rows of those of these ids that are there and visible."""
        return [
            num
            for memory, (num, key, tier) in self._holders(ids).items()
            if self._sees(key) and (parse_id(memory) or ("",))[0] == tier
        ]

    def _remove(self, nums: Sequence[int], and_if: str = "") -> None:
        if nums:
            removed = f"DELETE FROM memory WHERE tenant = %s AND num = ANY(%s::bigint[]) {and_if}"
            self._gone(self._all(f"{removed} RETURNING {blocks.GONE}", self._tenant.number, list(nums)))

    def _forget(self, ids: Sequence[str]) -> None:
        tenant = self._tenant.number
        nums = self._numbers(ids)
        held = self._all(
            "SELECT content, key, terms FROM memory WHERE tenant = %s AND num = ANY(%s::bigint[])",
            tenant,
            nums,
        )
        marks = [tombstone_hash(self._tenant.secret, content, key) for content, key, _ in held]
        terms.bury(self._db, tenant, marks)
        self._remove(nums)
        self._db.execute("DELETE FROM cache WHERE tenant = %s", (tenant,))
        blocks.scrub(self._db, tenant, self._gone_from)  # else these would still have the words
        terms.drop_unused(self._db, tenant, {term for _, _, own in held for term in own}, self._tenant.posted)

    def _model(self, fingerprint: str) -> models.Registered:
        if fingerprint not in self._models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. {UNTOUCHED}")
        return self._models[fingerprint]

    def _put_vectors(self, change: c.PutVectors) -> None:
        found = self._model(change.fingerprint)
        for memory, (_, codes) in change.vectors.items():
            fitting(found.model, codes, f"Memory {memory}")
        for codes in change.texts.values():
            fitting(found.model, codes, "A cached text")
        tenant = self._tenant.number
        for memory, (content_hash, codes) in change.vectors.items():
            for num in self._numbers([memory]):
                if models.waits(self._db, tenant, num, found.number, content_hash):
                    models.put_vectors(self._db, tenant, found, {num: codes})
        if change.texts:
            models.put_texts(self._db, tenant, found.number, change.texts)
