"""Write changes to SQLite: memories, documents, the graph and histories.

A live store's file is never replaced: with another process holding its log, that would lose the whole rebuild.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from scrubjay.models.graph import Edge
from scrubjay.models.ids import EmbeddingModel, tombstone_hash
from scrubjay.models.records import Record, Scope, SourcePlace
from scrubjay.storage import changes as c
from scrubjay.storage.absent_passages import ABSENT
from scrubjay.storage.changes import Change, PreparedMemory, PutVersions, QuantizedVectors
from scrubjay.storage.interface import in_batches
from scrubjay.storage.rows import (
    FROM_MEMORY,
    MEMORY_EDGE_KINDS,
    PLACE_COLUMNS,
    SELECTED_COLUMNS,
    TARGET_KIND,
    VISIBLE,
    RegisteredModel,
    Tenant,
    id_from_hash,
    memory_hash,
    memory_hashes,
    node_hash,
    node_hashes,
    place_to_row,
    record_from_row,
)
from scrubjay.storage.sqlite import graph, maintenance, postings, segments
from scrubjay.storage.sqlite.blobs import MAX_SLOTS, NEXT_VERSION, VectorLayout, unpack_terms
from scrubjay.storage.sqlite.connection import SQLiteStatements, write_transaction
from scrubjay.storage.sqlite.graph import BY_TARGET_INDEX, KIND_CODE, EdgeVisibility
from scrubjay.storage.sqlite.postings import Vocabulary
from scrubjay.storage.sqlite.rows import (
    INSERT_MEMORY,
    decode_strings,
    encode_strings,
    memory_to_row,
    registered_models,
)
from scrubjay.storage.sqlite.vectors import VectorCache, read_token_rows
from scrubjay.storage.table import COLUMNS, TIER_CODE, TablePart
from scrubjay.storage.validation import check_rebuild_changes
from scrubjay.storage.writer import GraphWriter, HistoryWriter, MemoryWriter, PriorMemory, SQLRebuild
from scrubjay.text.tokenizer import Terms

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database


_KIND_CODES: Final = ",".join(str(KIND_CODE[kind]) for kind in MEMORY_EDGE_KINDS)
EDGE_SIDES: Final = (
    ("edge", "tenant = ?1 AND src = ?2", 1),
    (f"edge {BY_TARGET_INDEX}", f"tenant = ?1 AND kind IN ({_KIND_CODES}) AND dst = ?2", 3),
)
"""SQL of the edges that leave a memory and of those that lead to it, and the index of its key in `VisibilityKeys`."""

DELETE_EVENTS: Final = (
    "DELETE FROM event WHERE tenant = ?1 AND memory = ?2 AND NOT EXISTS "
    f"(SELECT 1 FROM event a WHERE a.tenant = ?1 AND a.memory = ?2 AND a.op = '{ABSENT}')",
    "UPDATE event SET other = NULL WHERE tenant = ? AND other = ?",
)
"""Deletes the events of a memory, unless it is an absent passage, and its mentions in others."""


def clean_up_edges(db: Database, tenant: Tenant, before: Mapping[int, tuple[str, str]]) -> None:
    """Clean up after memories that were removed or replaced; ``before`` maps a memory's hash to its old tier and key.

    One that is gone loses its edges on both sides, and, unless it is an absent passage, its events; edges of one that
    has another key now get its visibility.
    """
    connected, recorded = (
        db.execute(f"SELECT 1 FROM {table} WHERE tenant = ? LIMIT 1", (tenant.number,)).fetchone()
        for table in ("edge", "event")
    )
    if connected is None and recorded is None:
        return
    for number, (tier, key) in before.items():
        row = db.execute(
            "SELECT tier, key FROM memory WHERE tenant = ? AND hash = ? AND generation = ?",
            (tenant.number, number, tenant.generation),
        ).fetchone()
        if row is None or row[0] != tier:
            for edges, condition, _ in EDGE_SIDES:
                db.execute(f"DELETE FROM {edges} WHERE {condition}", (tenant.number, number))
            for statement in DELETE_EVENTS:
                db.execute(statement, (tenant.number, number))
        elif row[1] != key:
            _update_visibility(db, tenant.number, number, row[1])


def _update_visibility(db: Database, tenant: int, memory: int, key: str) -> None:
    for edges, condition, place in EDGE_SIDES:
        rows = db.execute(
            "SELECT id, key, src_key, src_tier, dst_key, dst_tier FROM sight "
            f"WHERE id IN (SELECT sight FROM {edges} WHERE {condition})",
            (tenant, memory),
        ).fetchall()
        for code, *name in rows:
            name[place] = key
            visibility = graph.get_or_create_visibility(db, tenant, tuple(name))
            db.execute(
                f"UPDATE {edges} SET sight = ?3 WHERE {condition} AND sight = ?4",
                (tenant, memory, visibility, code),
            )


IS_FOUND: Final = "EXISTS (SELECT 1 FROM maker k WHERE k.id = {0}.maker AND k.origin = 'found')"
# A found edge never replaces a given one.
PUT_EDGE: Final = (
    "INSERT INTO edge VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET weight = excluded.weight, "
    f"at = excluded.at, maker = excluded.maker WHERE {IS_FOUND.format('edge')} OR NOT {IS_FOUND.format('excluded')}"
)


class EdgeEnd(NamedTuple):
    """One end of an edge. A concept or category has no key, and tier -1."""

    number: int
    key: str
    tier: int


class SQLiteGraphWriter(SQLiteStatements, GraphWriter):
    _encode = staticmethod(encode_strings)
    _decode = staticmethod(decode_strings)
    _node = "node"

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self._makers: dict[tuple[str, str, str | None], int] = {}
        self._codes: dict[graph.VisibilityKeys, int] = {}

    def _drop_references(self, concept: int, key: str) -> None:
        self._all(
            f"DELETE FROM edge {BY_TARGET_INDEX} WHERE tenant = ? AND kind = ? AND dst = ? AND sight IN "
            "(SELECT id FROM sight WHERE tenant = ? AND key = ?)",
            self._tenant, KIND_CODE["references"], concept, self._tenant, key,
        )  # fmt: skip

    def _drop_memberships(self, category: int | None) -> None:
        statement = f"DELETE FROM edge {BY_TARGET_INDEX} WHERE tenant = ? AND kind = ? AND dst = ?"
        self._all(statement, self._tenant, KIND_CODE["belongs"], category)

    def _find_node(self, kind: str, node: str) -> int | None:
        rows = self._all(
            "SELECT num FROM node WHERE tenant = ? AND kind = ? AND hash IN ?",
            self._tenant, kind, node_hashes([node], kind),
        )  # fmt: skip
        return rows[0][0] if rows else None

    def _get_or_create_node(self, kind: str, node: str) -> int:
        number = self._find_node(kind, node)
        if number is None:
            insert = "INSERT INTO node (tenant, kind, hash) VALUES (?, ?, ?)"
            self._db.execute(insert, (self._tenant, kind, node_hash(node)))
            number = self._db.last_insert_rowid()
        return number

    def _put_edges(self, change: c.PutEdges) -> None:
        self._remove_found(change)
        ends = self._ends(node for edge in change.edges for node in (edge.src, edge.dst))
        fresh = []
        for edge in change.edges:
            src, dst = ends.get(edge.src), ends.get(edge.dst)
            if src is not None and dst is not None:
                name = (src.number, KIND_CODE[edge.kind], dst.number, self._visibility(edge.key, src, dst))
                fresh.append((self._tenant, *name, *graph.encode_weight_and_time(edge), self._maker(edge)))
        fresh.sort(key=lambda row: row[:4])  # stable: of two of one identity the later one wins
        self._db.executemany(PUT_EDGE, fresh)

    def _remove_found(self, change: c.PutEdges) -> None:
        kinds = [kind for kind in dict.fromkeys(change.kinds) if kind in KIND_CODE]
        visibilities = self._visibilities() if change.of and kinds else []
        if not visibilities:
            return
        ends = list(self._ends(change.of).values())
        sources = [end.number for end in ends if end.tier >= 0]
        for kind in kinds:
            self._remove(visibilities, kind, {"src": sources}, IS_FOUND.format("e"))
        for kind in kinds if change.inward else ():
            targets = [end.number for end in ends if (end.tier < 0) == (kind in TARGET_KIND)]
            self._remove(visibilities, kind, {"dst": targets}, IS_FOUND.format("e"))

    def _drop_edges(self, names: Sequence[tuple[str, str, str]]) -> None:
        edges = [name for name in names if name[1] in KIND_CODE]
        visibilities = self._visibilities()
        ends = self._ends(node for src, _, dst in edges for node in (src, dst))
        for src, kind, dst in edges:
            if src in ends and dst in ends and (ends[dst].tier < 0) == (kind in TARGET_KIND):
                near = {"src": [ends[src].number], "dst": [ends[dst].number]}
                self._remove(visibilities, kind, near, "1")

    def _remove(
        self, visibilities: Iterable[EdgeVisibility], kind: str, ends: Mapping[str, list[int]], only: str
    ) -> None:
        if not all(ends.values()):
            return
        codes = graph.visibility_codes_sql(visibilities)
        end_condition = " AND ".join(f"e.{name} IN ?" for name in ends)
        node_visible, keys = "", list[object]()
        if (to := TARGET_KIND.get(kind)) is not None:
            node_visible, keys = f"AND {graph.node_condition(to)}", [self._scope_keys[2]]
        self._all(
            f"DELETE FROM edge AS e {'' if 'src' in ends else BY_TARGET_INDEX} WHERE e.tenant = ? AND e.kind = ? "
            f"AND {end_condition} {node_visible} AND e.sight IN ({codes}) AND {only}",
            self._tenant, KIND_CODE[kind], *ends.values(), *keys,
        )  # fmt: skip

    def _ends(self, nodes: Iterable[str]) -> dict[str, EdgeEnd]:
        wanted = set(nodes)
        rows = self._all(
            f"SELECT m.tier, m.hash, m.key FROM memory m WHERE {VISIBLE} AND m.hash IN ?",
            *self._scope_keys, memory_hashes(wanted),
        )  # fmt: skip
        ends = {
            id_from_hash(tier, number): EdgeEnd(number, key, TIER_CODE[tier]) for tier, number, key in rows
        }
        for kind in TARGET_KIND.values():
            visible_nodes = graph.visible_nodes(self._db, self._scope_keys, kind, node_hashes(wanted, kind))
            ends |= {node: EdgeEnd(number, "", -1) for number, node in visible_nodes.items()}
        return {node: end for node, end in ends.items() if node in wanted}

    def _visibilities(self) -> list[EdgeVisibility]:
        return graph.load_visibilities(self._db, self._tenant, self._scope_keys[2])

    def _visibility(self, key: str, src: EdgeEnd, dst: EdgeEnd) -> int:
        name = (key, src.key, src.tier, dst.key, dst.tier)
        if name not in self._codes:
            self._codes[name] = graph.get_or_create_visibility(self._db, self._tenant, name)
        return self._codes[name]

    def _maker(self, edge: Edge) -> int:
        name = (edge.origin, edge.rule, edge.run)
        if name not in self._makers:
            row = self._db.execute(
                "SELECT id FROM maker WHERE tenant = ? AND origin = ? AND rule = ? AND run IS ?",
                (self._tenant, *name),
            ).fetchone()
            if row is None:
                insert = "INSERT INTO maker (tenant, origin, rule, run) VALUES (?, ?, ?, ?)"
                self._db.execute(insert, (self._tenant, *name))
            self._makers[name] = self._db.last_insert_rowid() if row is None else int(row[0])
        return self._makers[name]


class SQLiteHistoryWriter(SQLiteStatements, HistoryWriter):
    """Writes history into SQLite. A memory whose status changes is in a segment already."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self._statuses: dict[int, str] = {}

    def apply(self, change: c.HistoryChange) -> None:
        super().apply(change)
        segments.set_statuses(self._db, self._statuses)
        self._statuses.clear()

    def _update(self, prior: PriorMemory, values: Mapping[str, Any]) -> None:
        if "tags" in values:
            self._all("DELETE FROM tag WHERE num = ?", prior.num)
            self._many("INSERT INTO tag VALUES (?, ?)", [(tag, prior.num) for tag in values["tags"]])
            values = {**values, "tags": encode_strings(values["tags"])}
        super()._update(prior, values)
        if values.get("status", prior.status) != prior.status:
            self._statuses[prior.num] = values["status"]

    def _write_extractions(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        self._many("INSERT OR REPLACE INTO reading VALUES (?, ?, ?)", rows)


class SQLiteWriter(SQLiteStatements, MemoryWriter):
    """One transaction's work. `finish` must be called before the commit."""

    _window_column = "window"
    _encode = staticmethod(json.dumps)
    _decode = staticmethod(decode_strings)

    def __init__(
        self, db: Database, tenant: Tenant, scope: Scope | None, vocabulary: postings.Vocabulary
    ) -> None:
        self._db = db
        super().__init__(tenant, scope)
        self._vocabulary = vocabulary
        self._fresh: dict[int, PreparedMemory] = {}
        self._rewrite: set[int] = set()
        self._removed: dict[int, tuple[str, str]] = {}
        self._graph = None if scope is None else SQLiteGraphWriter(db, tenant, scope)
        self._history = None if scope is None else SQLiteHistoryWriter(db, tenant, scope)
        self.forgot = False

    def _read_models(self) -> dict[str, RegisteredModel]:
        return registered_models(self._db, self._number)

    def _apply(self, change: c.Change) -> None:
        if isinstance(change, c.HistoryChange):
            self._flush()  # a status is changed in a segment
        super()._apply(change)

    def _clean_up_edges(self) -> None:
        if self._removed and self._graph is not None:  # a rebuild cleans up its edges at its end
            clean_up_edges(self._db, self._tenant, self._removed)
        self._removed.clear()

    def finish(self) -> None:
        """Write the new segments, and merge those that are due."""
        self._flush()
        self._rewrite_stale()
        statement = "SELECT DISTINCT key FROM segment WHERE tenant = ? AND generation = ?"
        rows = self._all(statement, self._number, self._tenant.generation)
        keys = [key for (key,) in rows if self._sees(key)]
        segments.merge_due(self._db, self._number, keys, self._tenant.generation)

    def _rewrite_stale(self) -> None:
        for segment in sorted(self._rewrite):
            if self._db.execute("SELECT 1 FROM segment WHERE id = ?", (segment,)).fetchone():
                segments.merge_segments(self._db, [segment])
        self._rewrite.clear()

    def _flush(self) -> None:
        by_key: dict[str, list[tuple[int, PreparedMemory]]] = defaultdict(list)
        for num, memory in self._fresh.items():
            by_key[memory.record.key].append((num, memory))
        self._fresh.clear()
        for key, entries in by_key.items():
            terms = set().union(*(memory.terms.counts for _, memory in entries))
            known = self._vocabulary.numbers(self._db, self._number, terms)
            for batch in in_batches(entries, MAX_SLOTS):
                segments.insert_segment(self._db, self._number, key, self._tenant.generation, batch, known)

    def _delete_source(self, source: str) -> None:
        super()._delete_source(source)
        maintenance.note_leftovers(self._db)

    def _write_place(self, num: int, document: int, place: SourcePlace) -> None:
        columns = ", ".join(("document", *PLACE_COLUMNS))
        values = (document, *place_to_row(place))
        marks = ",".join("?" * len(values))
        self._all(  # nothing is written where the place is the same
            f"UPDATE memory SET ({columns}) = ({marks}) WHERE num = ? AND ({columns}) IS NOT ({marks})",
            *values, num, *values,
        )  # fmt: skip

    def _insert(self, memories: Mapping[str, PreparedMemory], document: int | None) -> None:
        pending: list[tuple[int, int, int]] = []
        for memory in memories.values():
            record = memory.record
            values = memory_to_row(record, self._number, self._tenant.generation, document)
            self._db.execute(INSERT_MEMORY, values)
            num = self._db.last_insert_rowid()
            self._fresh[num] = memory
            self.gained[record.key] += 1
            for tag in record.tags:
                self._db.execute("INSERT INTO tag VALUES (?, ?)", (tag, num))
            pending += [
                (registered.number, memory_hash(record.id), num)
                for fingerprint, registered in self._models.items()
                if fingerprint not in memory.vectors
            ]
        self._db.executemany("INSERT INTO pending VALUES (?, ?, ?)", pending)

    def _remove(self, nums: Sequence[int]) -> None:
        self._rewrite |= set(
            segments.remove_memories(self._db, [num for num in nums if self._fresh.pop(num, None) is None])
        )
        for num in nums:
            key, tier, number = self._db.execute(
                "SELECT key, tier, hash FROM memory WHERE num = ?", (num,)
            ).fetchone()
            self._removed.setdefault(number, (tier, key))
            self.gained[key] -= 1
            for table in ("memory", "tag", "pending", "reading"):
                self._db.execute(f"DELETE FROM {table} WHERE num = ?", (num,))

    def _forget(self, nums: Sequence[int]) -> None:
        self._flush()
        terms: set[int] = set()
        for num in nums:
            ((content, key, packed),) = self._all(
                "SELECT m.content, m.key, s.terms FROM memory m JOIN slot s ON s.num = m.num WHERE m.num = ?",
                num,
            )
            self._write_tombstones([tombstone_hash(self._tenant.secret, content, key)])
            terms.update(unpack_terms(packed))
        self._remove(nums)
        self._rewrite_stale()
        self._all("DELETE FROM cache WHERE tenant = ?", self._number)
        self._vocabulary.prune(self._db, self._number, terms)
        maintenance.note_leftovers(self._db)
        self.forgot = True

    def _drop_user(self, user: str, key: str) -> None:
        self._all(
            "DELETE FROM edge WHERE tenant = ? AND sight IN (SELECT id FROM sight WHERE tenant = ? AND key = ?)",
            self._number, self._number, key,
        )  # fmt: skip
        super()._drop_user(user, key)
        maintenance.drop_unused_edge_parts(self._db)
        maintenance.note_leftovers(self._db)
        self.forgot = True

    def _write_model(self, model: EmbeddingModel, state: str) -> None:
        self._flush()
        is_new = model.fingerprint not in self._models
        super()._write_model(model, state)
        if is_new:
            self._all(
                "INSERT INTO pending SELECT ?, hash, num FROM memory WHERE tenant = ?",
                self._models[model.fingerprint].number, self._number,
            )  # fmt: skip

    def _delete_model(self, fingerprint: str) -> None:
        self._flush()
        if fingerprint in self._models:
            number = self._models[fingerprint].number
            for table in ("vector", "pending", "cache"):
                self._all(f"DELETE FROM {table} WHERE model = ?", number)
            self._all("DELETE FROM model WHERE id = ?", number)
            self._all(f"UPDATE segment SET version = {NEXT_VERSION} WHERE tenant = ?", self._number)
            self._models = self._read_models()

    def _write_vectors(self, registered: RegisteredModel, change: c.PutVectors) -> None:
        self._flush()
        db, number = self._db, registered.number
        by_segment: dict[int, list[tuple[int, QuantizedVectors]]] = defaultdict(list)
        for memory, num in ((memory, holder.num) for memory, holder in self._visible(change.vectors).items()):
            content_hash, codes = change.vectors[memory]
            rows = self._all(
                "SELECT m.hash, s.segment, s.slot FROM memory m JOIN slot s ON s.num = m.num "
                "WHERE m.num = ? AND m.content_hash = ?",
                num, content_hash,
            )  # fmt: skip
            for key, segment, slot in rows:
                self._all("DELETE FROM pending WHERE model = ? AND hash = ? AND num = ?", number, key, num)
                if db.changes():
                    by_segment[segment].append((slot, codes))
        for segment, vectors in by_segment.items():
            segments.append_vectors(db, segment, number, vectors)
            segments.join_vectors(db, segment, number)
            self._all(f"UPDATE segment SET version = {NEXT_VERSION} WHERE id = ?", segment)
        self._many(
            "INSERT OR REPLACE INTO cache (tenant, model, hash, rows, data) VALUES (?, ?, ?, ?, ?)",
            (
                (self._number, number, text, len(codes.scales),
                 codes.scales.astype("<f4").tobytes() + codes.data.tobytes())
                for text, codes in change.texts.items()
            ),
        )  # fmt: skip


DROP_BATCH: Final = 2_000
"""Rows of an old generation removed in one transaction, so that no lock is held for long."""


class SQLiteRebuild(SQLiteStatements, SQLRebuild):
    def __init__(self, db: Database, old: Tenant, vocabulary: Vocabulary) -> None:
        self._db = db
        self._old = old
        self._next = replace(old, generation=old.generation + 1)
        self._vocabulary = vocabulary
        self._versions: list[Change] = []
        self._models = registered_models(db, old.number)
        self._vectors = VectorCache(None)

    def _prepared_memories(self, condition: str, *values: object) -> list[PreparedMemory]:
        rows = self._all(
            f"SELECT m.num, {SELECTED_COLUMNS} {FROM_MEMORY} WHERE m.tenant = ? AND m.generation = ? AND {condition}",
            self._old.number, self._old.generation, *values,
        )  # fmt: skip
        return [self._with_vectors(num, record_from_row(row, decode_strings)) for num, *row in rows]

    def _with_vectors(self, num: int, record: Record) -> PreparedMemory:
        ((segment, version, slot, slots, columns),) = self._all(
            "SELECT g.id, g.version, s.slot, g.slots, g.columns FROM slot s JOIN segment g ON g.id = s.segment "
            "WHERE s.num = ?",
            num,
        )  # fmt: skip
        part = TablePart(segment, version, 0, slots)
        vectors = {}
        for fingerprint, registered in self._models.items():
            layout = VectorLayout.of(registered.model)
            if not layout.scaled:
                blobs = self._vectors.token_places(self._db, part, registered.number, layout)
                for _, data in read_token_rows(self._db, blobs, layout, np.array([slot])):
                    vectors[fingerprint] = QuantizedVectors(data, np.ones(len(data), np.float32))
                continue
            for places, scales, data in self._vectors.get(self._db, part, registered.number, layout):
                own = places == slot
                if own.any():
                    vectors[fingerprint] = QuantizedVectors(data[own], scales[own])
        language = int(np.frombuffer(columns, COLUMNS)["language"][slot])
        (code,) = self._db.execute("SELECT code FROM language WHERE id = ?", (language,)).fetchone()
        return PreparedMemory(record, Terms({}, 0), vectors, code)

    def write(self, changes: Sequence[Change]) -> None:
        check_rebuild_changes(changes)
        # Stamped with the flip, not before.
        self._versions += [change for change in changes if isinstance(change, PutVersions)]
        try:
            with write_transaction(self._db):
                writer = SQLiteWriter(self._db, self._next, None, self._vocabulary)
                writer.apply_all([change for change in changes if not isinstance(change, PutVersions)])
                writer.finish()
        except BaseException:
            self._vocabulary.discard()
            raise

    def flip(self) -> None:
        with write_transaction(self._db):
            SQLiteWriter(self._db, self._next, None, self._vocabulary).apply_all(self._versions)
            self._all(
                "UPDATE tenant SET generation = ? WHERE id = ?", self._next.generation, self._next.number
            )
            self._db.execute("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
            clean_up_edges(self._db, self._next, self._changed_memories())

    def _changed_memories(self) -> dict[int, tuple[str, str]]:
        """Return old tier and key of the memories that the next generation does not hold with the same."""
        rows = self._all(
            "SELECT o.hash, o.tier, o.key FROM memory o LEFT JOIN memory n ON n.tenant = o.tenant "
            "AND n.hash = o.hash AND n.generation = ? WHERE o.tenant = ? AND o.generation = ? "
            "AND (n.tier, n.key) IS NOT (o.tier, o.key)",
            self._next.generation, self._old.number, self._old.generation,
        )  # fmt: skip
        return {number: (tier, key) for number, tier, key in rows}


def drop_stale_generations(db: Database, tenant: int) -> None:
    """Remove every generation of a tenant but the current one, a little at a time."""
    stale = "tenant = ?1 AND generation <> (SELECT generation FROM tenant WHERE id = ?1)"
    has_more = True
    while has_more:
        with write_transaction(db):
            nums = db.execute(
                f"SELECT num FROM memory WHERE {stale} LIMIT {DROP_BATCH}", (tenant,)
            ).fetchall()
            has_more = bool(nums)
            for table in ("slot", "tag", "pending", "reading", "memory"):
                db.executemany(f"DELETE FROM {table} WHERE num = ?", nums)
            if not has_more:
                segments = f"SELECT id FROM segment WHERE {stale}"
                for table in ("posting", "vector"):
                    db.execute(f"DELETE FROM {table} WHERE segment IN ({segments})", (tenant,))
                db.execute(f"DELETE FROM segment WHERE {stale}", (tenant,))
                db.execute(f"DELETE FROM document WHERE {stale}", (tenant,))
