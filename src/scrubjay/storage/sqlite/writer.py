"""Write changes to SQLite: memories, documents, the graph and histories.

A live store's file is never replaced: with another process holding its log, that would lose the whole rebuild.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from scrubjay.models.graph import Edge, Entity
from scrubjay.models.ids import EmbeddingModel, tombstone_hash
from scrubjay.models.records import Document, Record, Scope, Source, SourcePlace, StageVersions
from scrubjay.storage import changes as c
from scrubjay.storage.changes import TEXT_CACHE_BYTES, Change, PreparedMemory, PutVersions, QuantizedVectors
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    EVENT_COLUMNS,
    MEMORY_EDGE_KINDS,
    PLACE_COLUMNS,
    RUN_COLUMNS,
    SOURCE_COLUMNS,
    TARGET_KIND,
    USER_TABLES,
    RegisteredModel,
    Tenant,
    document_from_row,
    document_to_row,
    id_from_hash,
    insert_sql,
    place_to_row,
    source_to_row,
)
from scrubjay.storage.sqlite import graph, maintenance, postings, rows, segments
from scrubjay.storage.sqlite.blobs import NEXT_VERSION, VectorLayout, unpack_terms
from scrubjay.storage.sqlite.connection import write_transaction
from scrubjay.storage.sqlite.graph import BY_TARGET_INDEX, KIND_CODE, EdgeVisibility
from scrubjay.storage.sqlite.postings import Vocabulary
from scrubjay.storage.sqlite.rows import VisibleMemories
from scrubjay.storage.sqlite.vectors import VectorCache, read_token_rows
from scrubjay.storage.table import COLUMNS, TIER_CODE, TablePart
from scrubjay.storage.validation import check_rebuild_changes, id_conflict
from scrubjay.storage.writer import GraphWriter, HistoryWriter, MemoryWriter, PriorMemory
from scrubjay.text.tokenizer import Terms

if TYPE_CHECKING:
    from scrubjay.models.graph import Category
    from scrubjay.storage.sqlite.connection import Database


_KIND_CODES: Final = ",".join(str(KIND_CODE[kind]) for kind in MEMORY_EDGE_KINDS)
EDGE_SIDES: Final = (
    ("edge", "tenant = ?1 AND src = ?2", 1),
    (f"edge {BY_TARGET_INDEX}", f"tenant = ?1 AND kind IN ({_KIND_CODES}) AND dst = ?2", 3),
)
"""SQL of the edges that leave a memory and of those that lead to it, and the index of its key in `VisibilityKeys`."""

DELETE_EVENTS: Final = (
    "DELETE FROM event WHERE tenant = ? AND memory = ?",
    "UPDATE event SET other = NULL WHERE tenant = ? AND other = ?",
)
"""Deletes the events of a memory, and its mentions in others."""


def clean_up_edges(db: Database, tenant: Tenant, before: Mapping[int, tuple[str, str]]) -> None:
    """Clean up after memories that were removed or replaced; ``before`` maps a memory's hash to its old tier and key.

    One that is gone loses its edges on both sides, and its events; edges of one that has another key now get its
    visibility.
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
        found = db.execute(
            "SELECT id, key, src_key, src_tier, dst_key, dst_tier FROM sight "
            f"WHERE id IN (SELECT sight FROM {edges} WHERE {condition})",
            (tenant, memory),
        ).fetchall()
        for code, *name in found:
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
PUT_CONCEPT: Final = "INSERT OR REPLACE INTO concept VALUES (?, ?, ?, ?, ?, ?, ?)"
PUT_CATEGORY: Final = "INSERT OR REPLACE INTO category VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
BUMP_CONCEPT_MARK: Final = (
    "INSERT INTO concept_mark VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET changes = changes + 1"
)


class EdgeEnd(NamedTuple):
    """One end of an edge. A concept or category has no key, and tier -1."""

    number: int
    key: str
    tier: int


class SQLiteGraphWriter(GraphWriter):
    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self._keys = scope.keys
        self._visible = VisibleMemories(db, tenant.number, tenant.generation, self._keys)
        self._makers: dict[tuple[str, str, str | None], int] = {}
        self._sights: dict[graph.VisibilityKeys, int] = {}

    def _write_concept(self, concept: Entity) -> None:
        values = (
            self._tenant, concept.key, self._get_or_create_node("concept", concept.id), concept.name,
            json.dumps(concept.aliases, ensure_ascii=False), concept.kind, concept.at,
        )  # fmt: skip
        self._db.execute(PUT_CONCEPT, values)
        self._db.execute(BUMP_CONCEPT_MARK, (self._tenant, concept.key))

    def _drop_concept(self, concept: str, key: str) -> None:
        node = self._node("concept", concept)
        if node is None:
            return
        own = (self._tenant, key, node)
        self._db.execute("DELETE FROM concept WHERE tenant = ? AND key = ? AND node = ?", own)
        if self._db.changes():
            self._db.execute(BUMP_CONCEPT_MARK, own[:2])
        self._db.execute(
            f"DELETE FROM edge {BY_TARGET_INDEX} WHERE tenant = ? AND kind = ? AND dst = ? AND sight IN "
            "(SELECT id FROM sight WHERE tenant = ? AND key = ?)",
            (self._tenant, KIND_CODE["references"], node, *own[:2]),
        )

    def _category_key(self, category: str) -> str | None:
        node = self._node("category", category)
        row = self._db.execute("SELECT key FROM category WHERE node = ?", (node,)).fetchone()
        return None if row is None else str(row[0])

    def _write_category(self, category: Category) -> None:
        values = (
            self._get_or_create_node("category", category.id), self._tenant, category.key, category.kind,
            category.name, category.parent, category.abstract, category.overview, category.model,
            category.centroid, category.at, category.built,
        )  # fmt: skip
        self._db.execute(PUT_CATEGORY, values)

    def _drop_category(self, category: str) -> None:
        if self._category_key(category) in self._keys:
            node = self._node("category", category)
            self._db.execute("DELETE FROM category WHERE node = ?", (node,))
            own = (self._tenant, KIND_CODE["belongs"], node)
            self._db.execute(
                f"DELETE FROM edge {BY_TARGET_INDEX} WHERE tenant = ? AND kind = ? AND dst = ?", own
            )

    def _write_project(self, place: str, name: str, key: str) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO project VALUES (?, ?, ?, ?)", (self._tenant, key, place, name)
        )

    def _node(self, kind: str, node: str) -> int | None:
        found = graph.parse_node_hash(node)
        if found is None or found[0] != kind:
            return None
        row = self._db.execute(
            "SELECT num FROM node WHERE tenant = ? AND kind = ? AND hash = ?", (self._tenant, kind, found[2])
        ).fetchone()
        return None if row is None else int(row[0])

    def _get_or_create_node(self, kind: str, node: str) -> int:
        number = self._node(kind, node)
        if number is None:
            (of,) = graph.node_hashes(kind, [node])
            self._db.execute(
                "INSERT INTO node (tenant, kind, hash) VALUES (?, ?, ?)", (self._tenant, kind, of)
            )
            number = self._db.last_insert_rowid()
        return number

    def _put_edges(self, change: c.PutEdges) -> None:
        self._remove_found(change)
        ends = self._ends(node for edge in change.edges for node in (edge.src, edge.dst))
        fresh = []
        for edge in change.edges:
            src, dst = ends.get(edge.src), ends.get(edge.dst)
            if src is not None and dst is not None:
                name = (src.number, KIND_CODE[edge.kind], dst.number, self._sight(edge.key, src, dst))
                fresh.append((self._tenant, *name, *graph.encode_weight_and_time(edge), self._maker(edge)))
        fresh.sort(key=lambda row: row[:4])  # stable: of two of one identity the later one wins
        self._db.executemany(PUT_EDGE, fresh)

    def _remove_found(self, change: c.PutEdges) -> None:
        kinds = [kind for kind in dict.fromkeys(change.kinds) if kind in KIND_CODE]
        sights = graph.load_visibilities(self._db, self._tenant, self._keys) if change.of and kinds else []
        if not sights:
            return
        ends = list(self._ends(change.of).values())
        for batch in rows.id_batches([end.number for end in ends if end.tier >= 0]):
            for kind in kinds:
                self._remove(sights, kind, {"src": batch}, IS_FOUND.format("e"))
        for kind in kinds if change.inward else ():
            of_kind = [end.number for end in ends if (end.tier < 0) == (kind in TARGET_KIND)]
            for batch in rows.id_batches(of_kind):
                self._remove(sights, kind, {"dst": batch}, IS_FOUND.format("e"))

    def _drop_edges(self, names: Sequence[tuple[str, str, str]]) -> None:
        edges = [name for name in names if name[1] in KIND_CODE]
        sights = graph.load_visibilities(self._db, self._tenant, self._keys)
        ends = self._ends(node for src, _, dst in edges for node in (src, dst))
        for src, kind, dst in edges:
            if src in ends and dst in ends and (ends[dst].tier < 0) == (kind in TARGET_KIND):
                self._remove(sights, kind, {"src": [ends[src].number], "dst": [ends[dst].number]}, "1")

    def _remove(
        self, sights: Iterable[EdgeVisibility], kind: str, ends: Mapping[str, Sequence[int]], only: str
    ) -> None:
        to = TARGET_KIND.get(kind)
        known = f"AND {graph.node_condition(to, self._keys)}" if to is not None else ""
        among = " AND ".join(f"e.{name} IN ({rows.placeholders(hashes)})" for name, hashes in ends.items())
        self._db.execute(
            f"DELETE FROM edge AS e {'' if 'src' in ends else BY_TARGET_INDEX} WHERE e.tenant = ? AND e.kind = ? "
            f"AND {among} {known} AND e.sight IN ({graph.visibility_codes_sql(sights)}) AND {only}",
            (
                self._tenant,
                KIND_CODE[kind],
                *chain(*ends.values()),
                *(self._visible.bound if to is not None else ()),
            ),
        )

    def _ends(self, nodes: Iterable[str]) -> dict[str, EdgeEnd]:
        wanted = set(nodes)
        found: dict[str, EdgeEnd] = {}
        hashes = graph.hashes_by_kind(wanted)
        for batch in rows.id_batches(hashes["memory"]):
            read = self._db.execute(
                f"SELECT m.tier, m.hash, m.key FROM memory m WHERE {self._visible.among()} AND m.hash IN "
                f"({rows.placeholders(batch)})",
                (*self._visible.own, *batch),
            ).fetchall()
            found |= {id_from_hash(tier, n): EdgeEnd(n, key, TIER_CODE[tier]) for tier, n, key in read}
        for kind in TARGET_KIND.values():
            nodes_seen = graph.visible_nodes(self._visible, kind, hashes[kind])
            found |= {node: EdgeEnd(number, "", -1) for number, node in nodes_seen.items()}
        return {node: end for node, end in found.items() if node in wanted}

    def _sight(self, key: str, src: EdgeEnd, dst: EdgeEnd) -> int:
        name = (key, src.key, src.tier, dst.key, dst.tier)
        if name not in self._sights:
            self._sights[name] = graph.get_or_create_visibility(self._db, self._tenant, name)
        return self._sights[name]

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


INSERT_DOCUMENT: Final = insert_sql("document", ("tenant", "generation", *DOCUMENT_COLUMNS))
PUT_SOURCE: Final = insert_sql("source", ("tenant", *SOURCE_COLUMNS)).replace(
    "INSERT", "INSERT OR REPLACE", 1
)
PUT_EVENT: Final = insert_sql("event", EVENT_COLUMNS)
PUT_RUN: Final = insert_sql("run", RUN_COLUMNS).replace("INSERT", "INSERT OR REPLACE", 1)
PUT_EXTRACTION: Final = "INSERT OR REPLACE INTO reading VALUES (?, ?, ?)"


class SQLiteHistoryWriter(HistoryWriter):
    """Writes history into SQLite. A memory whose status changes is in a segment already."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self._memories = VisibleMemories(db, tenant.number, tenant.generation, scope.keys)
        self._statuses: dict[int, str] = {}

    def apply(self, change: c.HistoryChange) -> None:
        super().apply(change)
        segments.set_statuses(self._db, self._statuses)
        self._statuses.clear()

    def _visible(self, ids: Iterable[str]) -> dict[str, PriorMemory]:
        wanted = {memory for memory in ids if rows.is_memory_id(memory)}
        prior: dict[str, PriorMemory] = {}
        for batch in rows.id_batches([rows.sort_hash(memory) for memory in wanted]):
            found = self._db.execute(
                "SELECT m.tier, m.num, m.hash, m.key, m.status, m.valid_from, m.valid_until FROM memory m "
                f"WHERE {self._memories.among()} AND m.hash IN ({rows.placeholders(batch)})",
                (*self._memories.own, *batch),
            ).fetchall()
            prior |= {id_from_hash(tier, row[1]): PriorMemory(*row) for tier, *row in found}
        return {memory: one for memory, one in prior.items() if memory in wanted}

    def _update(self, prior: PriorMemory, values: Mapping[str, Any]) -> None:
        if "tags" in values:
            self._db.execute("DELETE FROM tag WHERE num = ?", (prior.num,))
            self._db.executemany(
                "INSERT INTO tag VALUES (?, ?)", [(tag, prior.num) for tag in values["tags"]]
            )
            values = {**values, "tags": rows.encode_strings(values["tags"])}
        assigned = ", ".join(f"{name} = ?" for name in values)
        self._db.execute(f"UPDATE memory SET {assigned} WHERE num = ?", (*values.values(), prior.num))
        if values.get("status", prior.status) != prior.status:
            self._statuses[prior.num] = values["status"]

    def _write_events(self, rows: Sequence[tuple[object, ...]]) -> None:
        self._db.executemany(PUT_EVENT, rows)

    def _write_run(self, row: tuple[object, ...]) -> None:
        self._db.execute(PUT_RUN, row)

    def _write_extractions(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        self._db.executemany(PUT_EXTRACTION, rows)


class SQLiteWriter(MemoryWriter):
    """One transaction's work. `finish` must be called before the commit."""

    def __init__(
        self, db: Database, tenant: Tenant, scope: Scope | None, vocabulary: postings.Vocabulary
    ) -> None:
        super().__init__(tenant, scope, rows.registered_models(db, tenant.number))
        self._db = db
        self._vocabulary = vocabulary
        self._fresh: dict[int, PreparedMemory] = {}
        self._rewrite: set[int] = set()
        self._removed: dict[int, tuple[str, str]] = {}
        # A rebuild changes neither graph nor history (`check_rebuild_changes`).
        self._graph = None if scope is None else SQLiteGraphWriter(db, tenant, scope)
        self._history = None if scope is None else SQLiteHistoryWriter(db, tenant, scope)
        self.forgot = False

    def apply(self, change: c.Change) -> None:
        if isinstance(change, c.GraphChange):
            if self._graph is not None:
                self._graph.apply(change)
        elif isinstance(change, c.HistoryChange):
            if self._history is not None:
                self._flush()  # a status is changed in a segment
                self._history.apply(change)
        else:
            self._apply_to_memories(change)
            if self._removed and self._graph is not None:  # a rebuild cleans up its edges at its end
                clean_up_edges(self._db, self._tenant, self._removed)
            self._removed.clear()

    def finish(self) -> None:
        """Write the new segments, and merge those that are due."""
        self._flush()
        self._rewrite_stale()
        found = self._db.execute(
            "SELECT DISTINCT key FROM segment WHERE tenant = ? AND generation = ?",
            (self._tenant.number, self._tenant.generation),
        ).fetchall()
        keys = [key for (key,) in found if self._sees(key)]
        segments.merge_due(self._db, self._tenant.number, keys, self._tenant.generation)

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
            used = set().union(*(memory.terms.counts for _, memory in entries))
            known = self._vocabulary.numbers(self._db, self._tenant.number, used)
            segments.insert_memories(
                self._db, self._tenant.number, key, self._tenant.generation, entries, known
            )

    def _write_versions(self, versions: str) -> None:
        self._db.execute("UPDATE tenant SET versions = ? WHERE id = ?", (versions, self._tenant.number))

    def _source_key(self, source: str) -> str | None:
        row = self._db.execute(
            "SELECT key FROM source WHERE tenant = ? AND id = ?", (self._tenant.number, source)
        ).fetchone()
        return None if row is None else str(row[0])

    def _write_source(self, source: Source) -> None:
        self._db.execute(PUT_SOURCE, (self._tenant.number, *source_to_row(source, json.dumps)))

    def _delete_source(self, source: str) -> None:
        self._db.execute("DELETE FROM source WHERE tenant = ? AND id = ?", (self._tenant.number, source))
        maintenance.note_leftovers(self._db)

    def _paths(self, source: str) -> list[str]:
        found = self._db.execute(
            "SELECT path FROM document WHERE tenant = ? AND source = ? AND generation = ?",
            (self._tenant.number, source, self._tenant.generation),
        ).fetchall()
        return [path for (path,) in found]

    def _find_document(self, source: str, path: str) -> int | None:
        row = self._db.execute(
            "SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?",
            (self._tenant.number, source, self._tenant.generation, path),
        ).fetchone()
        return None if row is None else int(row[0])

    def _write_document(self, number: int | None, document: Document) -> int:
        values = document_to_row(document)
        if number is not None:
            assigned = ", ".join(f"{name} = ?" for name in DOCUMENT_COLUMNS)
            self._db.execute(f"UPDATE document SET {assigned} WHERE id = ?", (*values, number))
            return number
        self._db.execute(INSERT_DOCUMENT, (self._tenant.number, self._tenant.generation, *values))
        return self._db.last_insert_rowid()

    def _delete_document(self, number: int) -> None:
        self._db.execute("DELETE FROM document WHERE id = ?", (number,))

    def _passage_rows(self, document: int) -> list[tuple[int, str, int, str]]:
        return self._db.execute(
            "SELECT num, tier, hash, key FROM memory WHERE document = ?", (document,)
        ).fetchall()

    def _remove_passages(self, document: int) -> None:
        self._remove([num for num, *_ in self._passage_rows(document)])

    def _write_place(self, num: int, document: int, place: SourcePlace) -> None:
        columns = ", ".join(("document", *PLACE_COLUMNS))
        values = (document, *place_to_row(place))
        marks = rows.placeholders(values)
        self._db.execute(  # nothing is written where the place is the same
            f"UPDATE memory SET ({columns}) = ({marks}) WHERE num = ? AND ({columns}) IS NOT ({marks})",
            (*values, num, *values),
        )

    def _write_memories(self, memories: Mapping[str, PreparedMemory], document: int | None) -> None:
        replaced: list[int] = []
        pending: list[tuple[int, int, int]] = []
        for memory_id in memories:
            row = self._holder(memory_id)
            if row is not None:
                num, key, tier = row
                if not (self._sees(key) and tier == rows.tier_of(memory_id)):
                    raise id_conflict(memory_id)
                replaced.append(num)
        self._remove(replaced)
        for memory in memories.values():
            record = memory.record
            values = rows.memory_to_row(record, self._tenant.number, self._tenant.generation, document)
            self._db.execute(rows.INSERT_MEMORY, values)
            num = self._db.last_insert_rowid()
            self._fresh[num] = memory
            self.gained[record.key] += 1
            for tag in record.tags:
                self._db.execute("INSERT INTO tag VALUES (?, ?)", (tag, num))
            pending += [
                (registered.number, rows.sort_hash(record.id), num)
                for fingerprint, registered in self._models.items()
                if fingerprint not in memory.vectors
            ]
        self._db.executemany("INSERT INTO pending VALUES (?, ?, ?)", pending)

    def _holder(self, memory: str) -> tuple[int, str, str] | None:
        """Return the row, key and tier of the memory that has an id's number."""
        row = self._db.execute(
            "SELECT num, key, tier FROM memory WHERE tenant = ? AND hash = ? AND generation = ?",
            (self._tenant.number, rows.sort_hash(memory), self._tenant.generation),
        ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]), str(row[2]))

    def _numbers(self, ids: Iterable[str]) -> list[int]:
        holders = {memory: self._holder(memory) for memory in ids if rows.is_memory_id(memory)}
        return [
            row[0]
            for memory, row in holders.items()
            if row is not None and self._sees(row[1]) and row[2] == rows.tier_of(memory)
        ]

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

    def _remove_without_document(self, nums: Sequence[int]) -> None:
        found = (
            self._db.execute("SELECT num FROM memory WHERE num = ? AND document IS NULL", (num,)).fetchone()
            for num in nums
        )
        self._remove([row[0] for row in found if row is not None])

    def _forget(self, ids: Sequence[str]) -> None:
        self._flush()
        nums = self._numbers(ids)
        terms: set[int] = set()
        for num in nums:
            content, key, packed = self._db.execute(
                "SELECT m.content, m.key, s.terms FROM memory m JOIN slot s ON s.num = m.num WHERE m.num = ?",
                (num,),
            ).fetchone()
            self._write_tombstones([tombstone_hash(self._tenant.secret, content, key)])
            terms.update(unpack_terms(packed))
        self._remove(nums)
        self._rewrite_stale()
        self._db.execute("DELETE FROM cache WHERE tenant = ?", (self._tenant.number,))
        self._vocabulary.prune(self._db, self._tenant.number, terms)
        maintenance.note_leftovers(self._db)
        self.forgot = True

    def _drop_user(self, user: str, key: str) -> None:
        own = (self._tenant.number, key)
        self._db.execute(
            "DELETE FROM edge WHERE tenant = ?1 AND sight IN (SELECT id FROM sight WHERE tenant = ?1 AND key = ?2)",
            own,
        )
        for table in USER_TABLES:
            self._db.execute(f"DELETE FROM {table} WHERE tenant = ? AND key = ?", own)
        self._db.execute(
            "UPDATE event SET actor = '' WHERE tenant = ? AND actor = ?", (self._tenant.number, user)
        )
        maintenance.drop_unused_edge_parts(self._db)
        maintenance.note_leftovers(self._db)
        self.forgot = True

    def _write_tombstones(self, hashes: Sequence[str]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO tombstone VALUES (?, ?)", [(self._tenant.number, mark) for mark in hashes]
        )

    def _write_model(self, model: EmbeddingModel, state: str) -> None:
        self._flush()
        if model.fingerprint in self._models:
            number = self._models[model.fingerprint].number
            self._db.execute("UPDATE model SET state = ? WHERE id = ?", (state, number))
        else:
            values = (
                self._tenant.number, model.fingerprint, model.provider, model.name, model.revision,
                model.dimensions, model.pooling, model.window, state,
            )  # fmt: skip
            self._db.execute(
                "INSERT INTO model (tenant, fingerprint, provider, name, revision, dimensions, pooling, window, state) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            self._db.execute(
                "INSERT INTO pending SELECT ?, hash, num FROM memory WHERE tenant = ?",
                (self._db.last_insert_rowid(), self._tenant.number),
            )
        self._models = rows.registered_models(self._db, self._tenant.number)

    def _delete_model(self, fingerprint: str) -> None:
        self._flush()
        if fingerprint in self._models:
            number = self._models[fingerprint].number
            for table in ("vector", "pending", "cache"):
                self._db.execute(f"DELETE FROM {table} WHERE model = ?", (number,))
            self._db.execute("DELETE FROM model WHERE id = ?", (number,))
            self._db.execute(
                f"UPDATE segment SET version = {NEXT_VERSION} WHERE tenant = ?", (self._tenant.number,)
            )
            self._models = rows.registered_models(self._db, self._tenant.number)

    def _write_vectors(self, registered: RegisteredModel, change: c.PutVectors) -> None:
        self._flush()
        db, tenant, number = self._db, self._tenant, registered.number
        by_segment: dict[int, list[tuple[int, QuantizedVectors]]] = defaultdict(list)
        for memory, (content_hash, codes) in change.vectors.items():
            if not rows.is_memory_id(memory):
                continue
            row = db.execute(
                "SELECT m.num, m.hash, m.key, s.segment, s.slot FROM memory m JOIN slot s ON s.num = m.num "
                "WHERE m.tenant = ? AND m.hash = ? AND m.generation = ? AND m.content_hash = ? AND m.tier = ?",
                (
                    tenant.number,
                    rows.sort_hash(memory),
                    tenant.generation,
                    content_hash,
                    rows.tier_of(memory),
                ),
            ).fetchone()
            if row is None or not self._sees(row[2]):
                continue
            db.execute(
                "DELETE FROM pending WHERE model = ? AND hash = ? AND num = ?", (number, row[1], row[0])
            )
            if db.changes():
                by_segment[row[3]].append((row[4], codes))
        for segment, late in by_segment.items():
            segments.append_vectors(db, segment, number, late)
            segments.join_vectors(db, segment, number)
            db.execute(f"UPDATE segment SET version = {NEXT_VERSION} WHERE id = ?", (segment,))
        for text, codes in change.texts.items():
            data = codes.scales.astype("<f4").tobytes() + codes.data.tobytes()
            db.execute(
                "INSERT OR REPLACE INTO cache (tenant, model, hash, rows, data) VALUES (?, ?, ?, ?, ?)",
                (tenant.number, number, text, len(codes.scales), data),
            )
        if change.texts:
            (size,) = db.execute(
                "SELECT total(length(data)) FROM cache WHERE tenant = ?", (tenant.number,)
            ).fetchone()
            if size > TEXT_CACHE_BYTES:  # the oldest eighth goes
                db.execute(
                    "DELETE FROM cache WHERE seq IN (SELECT seq FROM cache WHERE tenant = ? ORDER BY seq LIMIT "
                    "(SELECT count(*) / 8 + 1 FROM cache WHERE tenant = ?))",
                    (tenant.number, tenant.number),
                )

    def _write_due(self, change: c.PutDue) -> None:
        was = change.was
        for memory, mark in change.marks.items():
            for num in self._numbers([memory]):
                if was is None:
                    values = (mark, mark, num)
                    self._db.execute(
                        "UPDATE memory SET due = (? & ~7) | max(? & 7, due & 7) WHERE num = ?", values
                    )
                else:
                    values = (mark, num, was[memory])
                    self._db.execute("UPDATE memory SET due = ? WHERE num = ? AND due = ?", values)


DROP_BATCH: Final = 2_000
"""Rows of an old generation removed in one transaction, so that no lock is held for long."""


class SQLiteRebuild:
    def __init__(self, db: Database, old: Tenant, vocabulary: Vocabulary) -> None:
        self._db = db
        self._old = old
        self._next = replace(old, generation=old.generation + 1)
        self._vocabulary = vocabulary
        self._versions: StageVersions | None = None
        self._models = rows.registered_models(db, old.number)
        self._vectors = VectorCache(None)

    def documents(self) -> list[Document]:
        found = self._db.execute(
            f"SELECT {', '.join(DOCUMENT_COLUMNS)} FROM document WHERE tenant = ? AND generation = ? "
            "ORDER BY source, path",
            (self._old.number, self._old.generation),
        ).fetchall()
        return [document_from_row(row) for row in found]

    def passages(self, document: Document) -> list[PreparedMemory]:
        return self._records(
            "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?) "
            "ORDER BY m.ordinal, m.tier, m.hash",
            (self._old.number, document.source, self._old.generation, document.path),
        )

    def additions(self) -> list[PreparedMemory]:
        return self._records("m.document IS NULL ORDER BY m.hash", ())

    def _records(self, condition: str, values: tuple[object, ...]) -> list[PreparedMemory]:
        found = self._db.execute(
            f"{rows.SELECT_MEMORY} WHERE m.tenant = ? AND m.generation = ? AND {condition}",
            (self._old.number, self._old.generation, *values),
        ).fetchall()
        return [self._prepared(rows.memory_from_row(row)) for row in found]

    def _prepared(self, record: Record) -> PreparedMemory:
        segment, version, slot, slots, columns = self._db.execute(
            "SELECT g.id, g.version, s.slot, g.slots, g.columns FROM memory m JOIN slot s ON s.num = m.num "
            "JOIN segment g ON g.id = s.segment WHERE m.tenant = ? AND m.hash = ? AND m.generation = ?",
            (self._old.number, rows.sort_hash(record.id), self._old.generation),
        ).fetchone()
        part = TablePart(segment, version, 0, slots)
        vectors = {}
        for fingerprint, one in self._models.items():
            layout = VectorLayout.of(one.model)
            if not layout.scaled:
                blobs = self._vectors.token_places(self._db, part, one.number, layout)
                for _, data in read_token_rows(self._db, blobs, layout, np.array([slot])):
                    vectors[fingerprint] = QuantizedVectors(data, np.ones(len(data), np.float32))
                continue
            for places, scales, data in self._vectors.get(self._db, part, one.number, layout):
                own = places == slot
                if own.any():
                    vectors[fingerprint] = QuantizedVectors(data[own], scales[own])
        language = int(np.frombuffer(columns, COLUMNS)["language"][slot])
        (code,) = self._db.execute("SELECT code FROM language WHERE id = ?", (language,)).fetchone()
        return PreparedMemory(record, Terms({}, 0), vectors, code)

    def write(self, changes: Sequence[Change]) -> None:
        check_rebuild_changes(changes)
        try:
            with write_transaction(self._db):
                writer = SQLiteWriter(self._db, self._next, None, self._vocabulary)
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
        with write_transaction(self._db):
            if self._versions is not None:
                SQLiteWriter(self._db, self._next, None, self._vocabulary).apply(PutVersions(self._versions))
            self._db.execute(
                "UPDATE tenant SET generation = ? WHERE id = ?", (self._next.generation, self._next.number)
            )
            self._db.execute("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
            clean_up_edges(self._db, self._next, self._changed())

    def _changed(self) -> dict[int, tuple[str, str]]:
        """Return old tier and key of the memories that the next generation does not hold with the same."""
        found = self._db.execute(
            "SELECT o.hash, o.tier, o.key FROM memory o LEFT JOIN memory n ON n.tenant = o.tenant "
            "AND n.hash = o.hash AND n.generation = ? WHERE o.tenant = ? AND o.generation = ? "
            "AND (n.tier, n.key) IS NOT (o.tier, o.key)",
            (self._next.generation, self._old.number, self._old.generation),
        ).fetchall()
        return {number: (tier, key) for number, tier, key in found}


def drop_stale_generations(db: Database, tenant: int) -> None:
    """Remove every generation of a tenant but the current one, a little at a time."""
    stale = "tenant = ?1 AND generation <> (SELECT generation FROM tenant WHERE id = ?1)"
    left = True
    while left:
        with write_transaction(db):
            nums = db.execute(
                f"SELECT num FROM memory WHERE {stale} LIMIT {DROP_BATCH}", (tenant,)
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
