"""Writer: what each change does to the tables, inside one transaction."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory.ids import tombstone_hash
from scrubjay.memory.models import Model
from scrubjay.memory.records import Document
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.kept import Tenant
from scrubjay.store.scope_check import UNTOUCHED, fitting, placed, storable, taken, writable
from scrubjay.store.sqlite import documents, index, merge, models, registry, rows, terms, vacuum
from scrubjay.store.sqlite.connect_writes import Connections
from scrubjay.store.sqlite.lives import Lives
from scrubjay.store.sqlite.settle import settle

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

LOG_FLOOR = 100_000
"""Entries of the change log that are kept; a reader further behind reloads."""


class Writer:
    """One transaction's work. `finish` must be called before the commit."""

    def __init__(
        self, db: Database, tenant: Tenant, scope: Scope | None, vocabulary: terms.Vocabulary
    ) -> None:
        self._db = db
        self._tenant = tenant
        self._scope = scope
        self._vocabulary = vocabulary
        self._fresh: dict[int, index.Entry] = {}
        self._models = registry.registered(db, tenant.number)
        self._rewrite: set[int] = set()
        self._removed: dict[int, tuple[str, str]] = {}
        self._connected: Connections | None = None
        self.gained: Counter[str] = Counter()
        self.forgot = False

    def apply(self, change: c.Change) -> None:
        """Do one change."""
        if isinstance(change, c.GraphChange):
            if self._scope is not None:  # a rebuild asks for none (`of_a_generation`)
                self._connections(self._scope).apply(change)
            return
        if isinstance(change, c.LifeChange):
            if self._scope is not None:
                self._flush()  # a status is changed in a segment
                Lives(self._db, self._tenant, self._scope).apply(change)
            return
        self._apply(change)
        # Edges belong to no generation: those of a rebuild are put right when it ends.
        if self._removed and self._scope is not None:
            settle(self._db, self._tenant, self._removed)
        self._removed.clear()

    def _connections(self, scope: Scope) -> Connections:
        if self._connected is None:
            self._connected = Connections(self._db, self._tenant, scope)
        return self._connected

    def _apply(self, change: c.Change) -> None:
        match change:
            case c.PutVersions(versions):
                stamp = (json.dumps(asdict(versions)), self._tenant.number)
                self._db.execute("UPDATE tenant SET versions = ? WHERE id = ?", stamp)
            case c.PutSource():
                self._put_source(change)
            case c.DropSource(source) if self._sees_source(source):
                self._drop_source(source)
            case c.PutDocument():
                self._put_document(change)
            case c.DropDocument(source, path) if self._sees_source(source):
                self._drop_document(source, path)
            case c.PutMemory(memory):
                self._put([memory], None, None)
            case c.DropMemory(ids):
                self._remove(documents.apart(self._db, self._numbers(ids)), "drop")
            case c.Forget(ids):
                self._forget(ids)
            case c.PutModel() | c.DropModel() | c.PutVectors() | c.PutTombstones():
                self._flush()
                self._change_beside(change)

    def _change_beside(self, change: c.Change) -> None:
        match change:
            case c.PutTombstones(hashes):
                registry.bury(self._db, self._tenant.number, hashes)
            case c.PutModel(model, state):
                models.put(self._db, self._tenant.number, model, state)
            case c.DropModel(fingerprint):
                models.drop(self._db, self._tenant.number, fingerprint)
            case c.PutVectors():
                model = self._model(change.fingerprint)
                for named, (_, codes) in change.vectors.items():
                    fitting(model, codes, f"Memory {named}")
                for cached in change.texts.values():
                    fitting(model, cached, "A cached text")
                models.put_vectors(self._db, self._tenant, self._scope, change)
        self._models = registry.registered(self._db, self._tenant.number)

    def finish(self) -> None:
        """Write the new segments, merge those that are due, and cut the log."""
        self._flush()
        self._rewrite_stale()
        merge.merge_due(self._db, self._tenant.number, self._keys(), self._tenant.generation)
        stale = "DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?"
        self._db.execute(stale, (LOG_FLOOR,))

    def _rewrite_stale(self) -> None:
        for segment in sorted(self._rewrite):
            if self._db.execute("SELECT 1 FROM segment WHERE id = ?", (segment,)).fetchone():
                merge.merge(self._db, [segment])
        self._rewrite.clear()

    def _keys(self) -> list[str]:
        found = self._db.execute(
            "SELECT DISTINCT key FROM segment WHERE tenant = ? AND generation = ?",
            (self._tenant.number, self._tenant.generation),
        ).fetchall()
        return [key for (key,) in found if self._scope is None or key in self._scope.keys]

    def _flush(self) -> None:
        by_key: dict[str, list[index.Entry]] = defaultdict(list)
        for entry in self._fresh.values():
            by_key[entry.memory.record.key].append(entry)
        self._fresh.clear()
        for key, entries in by_key.items():
            used = set().union(*(entry.memory.terms.counts for entry in entries))
            known = self._vocabulary.numbers(self._db, self._tenant.number, used)
            index.put(self._db, self._tenant.number, key, self._tenant.generation, entries, known)

    def _put_source(self, change: c.PutSource) -> None:
        s = change.source
        writable(self._scope, s.key, f"Source {s.root}")
        key = documents.source_key(self._db, self._tenant.number, s.id)
        if key is not None and not self._sees(key):
            raise InputError(f"Source id {s.id!r} belongs to another source already. {UNTOUCHED}")
        documents.put_source(self._db, self._tenant.number, s)

    def _sees_source(self, source: str) -> bool:
        key = documents.source_key(self._db, self._tenant.number, source)
        return key is not None and self._sees(key)

    def _sees(self, key: str) -> bool:
        return self._scope is None or key in self._scope.keys

    def _drop_source(self, source: str) -> None:
        own = (self._tenant.number, source)
        found = self._db.execute(
            "SELECT path FROM document WHERE tenant = ? AND source = ? AND generation = ?",
            (*own, self._tenant.generation),
        ).fetchall()
        for (path,) in found:
            self._drop_document(source, path)
        self._db.execute("DELETE FROM source WHERE tenant = ? AND id = ?", own)
        vacuum.note(self._db)

    def _put_document(self, change: c.PutDocument) -> None:
        d = change.document
        if not self._sees_source(d.source):
            raise NotFoundError(f"No source {d.source} is registered. {UNTOUCHED}")
        for kept in change.kept:
            placed(kept.id, kept.place, d)
        number = documents.find(self._db, self._tenant, d.source, d.path)
        replaced = None  # the document that stood under the path which another one takes over
        if change.moved_from not in (None, d.path):
            moved = documents.find(self._db, self._tenant, d.source, str(change.moved_from))
            if moved is not None:
                number, replaced = moved, number
                self._db.execute("DELETE FROM document WHERE id = ?", (replaced,))
        number = documents.put(self._db, self._tenant, number, d)
        self._remove(self._numbers(change.dropped), "drop")
        if not change.grows and (change.fresh or change.kept or change.dropped):
            self._remove(self._left(number, {kept.id for kept in change.kept}), "drop")
        for kept in change.kept:
            if nums := self._numbers([kept.id]):
                documents.stand(self._db, nums[0], number, kept.place)
        if replaced is not None:
            found = self._db.execute("SELECT num FROM memory WHERE document = ?", (replaced,)).fetchall()
            self._remove([num for (num,) in found], "drop")
        self._put(change.fresh, number, d)

    def _left(self, document: int, kept: set[str]) -> list[int]:
        """Return the visible passages of a document that a change of it does not keep."""
        found = self._db.execute(
            "SELECT num, hash, tier, key FROM memory WHERE document = ?", (document,)
        ).fetchall()
        return [
            n
            for n, number, tier, key in found
            if self._sees(key) and rows.from_hash(tier, number) not in kept
        ]

    def _drop_document(self, source: str, path: str) -> None:
        number = documents.find(self._db, self._tenant, source, path)
        if number is not None:
            found = self._db.execute("SELECT num FROM memory WHERE document = ?", (number,)).fetchall()
            self._remove([num for (num,) in found], "drop")
            self._db.execute("DELETE FROM document WHERE id = ?", (number,))

    def _put(self, memories: Sequence[c.Prepared], document: int | None, where: Document | None) -> None:
        last = {memory.record.id: memory for memory in memories}
        for memory in memories:
            writable(self._scope, memory.record.key, f"Memory {memory.record.id}")
            storable(memory.record)
            placed(memory.record.id, memory.record.place, where)
            for fingerprint, codes in memory.vectors.items():
                fitting(self._model(fingerprint), codes, f"Memory {memory.record.id}")
        self._remove([num for memory in last if (num := self._free(memory)) is not None], None)
        for memory in last.values():
            record = memory.record
            values = rows.to_row(record, self._tenant.number, self._tenant.generation, document)
            self._db.execute(rows.INSERT, values)
            num = self._db.last_insert_rowid()
            self._fresh[num] = index.Entry(num, memory)
            self.gained[record.key] += 1
            for tag in record.tags:
                self._db.execute("INSERT INTO tag VALUES (?, ?)", (tag, num))
            for fingerprint, (number, _, _) in self._models.items():
                if fingerprint not in memory.vectors:
                    self._db.execute(
                        "INSERT INTO pending VALUES (?, ?, ?)", (number, rows.sort_hash(record.id), num)
                    )
            self._log(record.key, record.id, "put")

    def _model(self, fingerprint: str) -> Model:
        if fingerprint not in self._models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. {UNTOUCHED}")
        return self._models[fingerprint][1]

    def _holder(self, memory: str) -> tuple[int, str, str] | None:
        """Return the row, key and tier of the memory that has an id's number."""
        row = self._db.execute(
            "SELECT num, key, tier FROM memory WHERE tenant = ? AND hash = ? AND generation = ?",
            (self._tenant.number, rows.sort_hash(memory), self._tenant.generation),
        ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]), str(row[2]))

    def _free(self, memory: str) -> int | None:
        """Return the row that a memory replaces, None where its number is free."""
        row = self._holder(memory)
        if row is not None and not (self._sees(row[1]) and row[2] == rows.tier_of(memory)):
            raise taken(memory)
        return None if row is None else row[0]

    def _numbers(self, ids: Iterable[str]) -> list[int]:
        """Return the rows of those of these ids that are there and visible, each once."""
        held = {memory: self._holder(memory) for memory in ids if rows.is_id(memory)}
        return [
            row[0]
            for memory, row in held.items()
            if row is not None and self._sees(row[1]) and row[2] == rows.tier_of(memory)
        ]

    def _remove(self, nums: Sequence[int], op: str | None) -> None:
        self._rewrite |= set(
            index.take_out(self._db, [num for num in nums if self._fresh.pop(num, None) is None])
        )
        for num in nums:
            key, tier, number = self._db.execute(
                "SELECT key, tier, hash FROM memory WHERE num = ?", (num,)
            ).fetchone()
            self._removed.setdefault(number, (tier, key))
            self.gained[key] -= 1
            if op is not None:
                self._log(key, rows.from_hash(tier, number), op)
            for table in ("memory", "tag", "pending", "reading"):
                self._db.execute(f"DELETE FROM {table} WHERE num = ?", (num,))

    def _log(self, key: str, memory: str, op: str) -> None:
        self._db.execute(
            "INSERT INTO change (tenant, key, memory, op) VALUES (?, ?, ?, ?)",
            (self._tenant.number, key, memory, op),
        )

    def _forget(self, ids: Sequence[str]) -> None:
        self._flush()
        nums = self._numbers(ids)
        touched: set[int] = set()
        for num in nums:
            asked = "SELECT content, key FROM memory WHERE num = ?"
            content, key = self._db.execute(asked, (num,)).fetchone()
            registry.bury(self._db, self._tenant.number, [tombstone_hash(self._tenant.secret, content, key)])
            touched |= terms.of(self._db, num)
        self._remove(nums, "forget")
        self._rewrite_stale()
        self._db.execute("DELETE FROM cache WHERE tenant = ?", (self._tenant.number,))
        self._vocabulary.prune(self._db, self._tenant.number, touched)
        vacuum.note(self._db)
        self.forgot = True
