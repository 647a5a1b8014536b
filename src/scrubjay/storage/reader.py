"""Readers: the queries that both SQL stores answer alike, from a snapshot, the memory table or the same statement.

Such a statement is written as SQLite reads it; ``IN ?`` takes a list (`rows.Statements`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.models.ids import FORGOTTEN_PREFIX, parse_id
from scrubjay.models.records import Document, Record, StageVersions
from scrubjay.storage.interface import Counts, Coverage, DueMemory, ModelState, PendingMemory
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    FROM_MEMORY,
    OF_DOCUMENT,
    SELECTED_COLUMNS,
    SIGN,
    SOURCE_COLUMNS,
    VISIBLE,
    ScopeKeys,
    Statements,
    counts_from_rows,
    document_from_row,
    event_from_row,
    id_from_hash,
    id_ranges,
    memory_hashes,
    record_from_row,
    run_from_row,
    source_from_row,
    token_codes_only,
)
from scrubjay.storage.scoring import ArrayScores, GroupScores, score_words
from scrubjay.storage.table import path_matches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event
    from scrubjay.models.records import RecordFilter, Source
    from scrubjay.storage.changes import PutProject
    from scrubjay.storage.interface import RankingMetadata
    from scrubjay.storage.rows import RegisteredModel
    from scrubjay.storage.snapshot import Snapshot
    from scrubjay.storage.table import MemoryTable
    from scrubjay.text.tokenizer import TermGroup

NO_TENANT: Final = -1
"""Number of a tenant before its first write."""
TIME: Final = "coalesce(m.event_start, m.recorded_at)"
TIER_OF: Final = f"(SELECT m.tier FROM memory m WHERE {VISIBLE} AND m.hash = e.{{0}})"
"""The tier of a visible memory that an event names by its number; none of any other. PostgreSQL would plan a join from
its statistics of the tables' sizes."""


class SQLReader(Statements):
    """A view of one scope; a store reads what its tables hold in its own way."""

    _decode: Callable[[Any], Iterable[str]]
    """Read a list as the store holds it."""
    _reading_condition: str
    """The condition that ``reading r`` is of ``memory m``."""
    _events_of_memories: str
    """``event e`` where events are read by their memories."""
    _pending: str
    """``FROM`` and ``WHERE`` of the memories without a model's vectors; values: its number, and those of `VISIBLE`."""
    _pending_hash: str
    """Column by which they are read in the order of their hashes."""
    _count_visible: Callable[[], int]
    _table: Callable[[], MemoryTable]
    _mask: Callable[[RecordFilter], NDArray[np.bool_]]
    _read_metadata: Callable[[Sequence[str]], dict[str, RankingMetadata]]
    _read_adjacent: Callable[[Sequence[str]], dict[str, tuple[str, ...]]]
    _score_groups: Callable[[Sequence[TermGroup]], dict[TermGroup, GroupScores]]
    _read_models: Callable[[], dict[str, RegisteredModel]]
    _count_windows: Callable[[str], int]

    def __init__(self, scope_keys: ScopeKeys, snapshot: Snapshot) -> None:
        self._scope_keys = scope_keys
        self._tenant, self._generation, self._keys = scope_keys
        self._snapshot = snapshot
        self._scored_groups: dict[TermGroup, GroupScores] = {}

    def _records(self, condition: str, *values: object) -> list[Record]:
        rows = self._all(
            f"SELECT {SELECTED_COLUMNS} {FROM_MEMORY} WHERE {VISIBLE} AND {condition}",
            *self._scope_keys, *values,
        )  # fmt: skip
        return [record_from_row(row, self._decode) for row in rows]

    @property
    def state(self) -> object:
        return self._snapshot.cached("state", object)

    def sources(self) -> list[Source]:
        return list(self._snapshot.cached("sources", self._read_sources))

    def _read_sources(self) -> list[Source]:
        rows = self._all(
            f"SELECT {', '.join(SOURCE_COLUMNS)} FROM source WHERE tenant = ? AND key IN ? "
            "ORDER BY root COLLATE BINARY, id COLLATE BINARY",
            self._tenant, self._keys,
        )  # fmt: skip
        return [source_from_row(row, self._decode) for row in rows]

    def files_of_others(self, ids: Sequence[str]) -> dict[str, tuple[str, Document]]:
        rows = self._all(
            f"SELECT m.tier, m.hash, s.root, {', '.join(f'd.{name}' for name in DOCUMENT_COLUMNS)} {FROM_MEMORY} "
            f"JOIN source s ON s.tenant = d.tenant AND s.id = d.source WHERE {VISIBLE} "
            "AND m.hash IN ? AND NOT s.key IN ?",
            *self._scope_keys, memory_hashes(ids), self._keys,
        )  # fmt: skip
        return {
            id_from_hash(tier, number): (root, document_from_row(row)) for tier, number, root, *row in rows
        }

    def documents(self, source: str, paths: Sequence[str] | None = None) -> dict[str, Document]:
        condition = "" if paths is None else "AND path IN ? "
        rows = self._all(
            f"SELECT {', '.join(DOCUMENT_COLUMNS)} FROM document WHERE tenant = ? AND generation = ? AND source = "
            f"(SELECT id FROM source WHERE tenant = ? AND key IN ? AND id = ?) {condition}ORDER BY path COLLATE BINARY",
            self._tenant, self._generation, self._tenant, self._keys, source, *([] if paths is None else [list(paths)]),
        )  # fmt: skip
        return {document.path: document for document in map(document_from_row, rows)}

    def _documents_of(self, where: RecordFilter) -> list[int]:
        """Return the numbers of the documents that pass a filter's sources and path."""
        statement = "SELECT id, source, path FROM document WHERE tenant = ? AND generation = ?"
        return [
            number
            for number, source, path in self._all(statement, self._tenant, self._generation)
            if (not where.sources or source in where.sources)
            and (not where.path or path_matches(path, where.path))
        ]

    def count_passages(self, sources: Sequence[str]) -> int:
        ((count,),) = self._all(
            f"SELECT count(*) {FROM_MEMORY} WHERE {VISIBLE} AND d.source IN ?",
            *self._scope_keys,
            list(sources),
        )
        return int(count)

    def passages(self, source: str, path: str) -> list[Record]:
        return self._records(
            f"{OF_DOCUMENT} ORDER BY m.ordinal, m.tier COLLATE BINARY, m.hash",
            self._tenant, source, self._generation, path,
        )  # fmt: skip

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        return self._snapshot.records.get(ids, self._read_records)

    def _read_records(self, ids: Sequence[str]) -> dict[str, Record]:
        return {record.id: record for record in self._records("m.hash IN ?", memory_hashes(ids))}

    def ranking_metadata(self, ids: Sequence[str]) -> dict[str, RankingMetadata]:
        return self._snapshot.ranking_metadata.get(ids, self._read_metadata)

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._snapshot.adjacent.get(ids, self._read_adjacent)

    def page(self, after: str, limit: int, where: RecordFilter | None = None) -> list[Record]:
        from scrubjay.storage.validation import page_start  # for writes; no cold search needs it

        number = page_start(after)
        if where is not None:
            return list(self.get(self._table().page(self._mask(where), number, limit)).values())
        first = number + 1 - SIGN
        return self._records("m.hash >= ? ORDER BY m.hash LIMIT ?", first, limit) if first < SIGN else []

    def latest(self, where: RecordFilter, limit: int, skip: int = 0) -> list[Record]:
        return list(self.get(self._table().latest(self._mask(where), limit, skip)).values())

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        return self._records(
            "m.session = ? AND m.turn BETWEEN ? AND ? "
            "ORDER BY m.turn, coalesce(m.ordinal, -1), m.tier COLLATE BINARY, m.hash",
            session, first, last,
        )  # fmt: skip

    def last_turn(self, session: str) -> int | None:
        rows = self._all(
            f"SELECT m.turn FROM memory m WHERE {VISIBLE} AND m.session = ? AND m.turn IS NOT NULL "
            "ORDER BY m.turn DESC LIMIT 1",
            *self._scope_keys, session,
        )  # fmt: skip
        return int(rows[0][0]) if rows else None

    def sessions(self, limit: int, skip: int = 0) -> list[str]:
        rows = self._all(
            f"SELECT m.session FROM memory m WHERE {VISIBLE} AND m.session IS NOT NULL AND m.turn IS NOT NULL "
            f"GROUP BY m.session ORDER BY max({TIME}) DESC, m.session COLLATE BINARY LIMIT ? OFFSET ?",
            *self._scope_keys, limit, skip,
        )  # fmt: skip
        return [str(session) for (session,) in rows]

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        ids: list[str] = []
        for tier, first, last in id_ranges(prefix):
            order = "m.hash" if tier else "m.tier COLLATE BINARY, m.hash"
            rows = self._all(
                f"SELECT m.tier, m.hash FROM memory m WHERE {VISIBLE} AND m.tier = coalesce(?, m.tier) "
                f"AND m.hash BETWEEN ? AND ? ORDER BY {order} LIMIT ?",
                *self._scope_keys, tier or None, first, last, limit - len(ids),
            )  # fmt: skip
            ids += [id_from_hash(*row) for row in rows]
        return ids

    def project_names(self) -> list[str]:
        rows = self._all(
            f"SELECT DISTINCT m.project FROM memory m WHERE {VISIBLE} AND m.project IS NOT NULL",
            *self._scope_keys,
        )
        return sorted(name for (name,) in rows)

    def projects(self) -> dict[str, str]:
        rows = self._all(
            "SELECT place, name FROM project WHERE tenant = ? AND key IN ? ORDER BY key COLLATE BINARY DESC",
            self._tenant, self._keys,
        )  # fmt: skip
        return dict(sorted(dict(rows).items()))  # the smaller key is set last

    def concept_mark(self) -> int:
        statement = "SELECT coalesce(sum(changes), 0) FROM concept_mark WHERE tenant = ? AND key IN ?"
        ((mark,),) = self._all(statement, self._tenant, self._keys)
        return int(mark)

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        return [len(rows) for rows, _ in self._group_scores(groups)]

    def words(self, groups: Sequence[TermGroup], where: RecordFilter) -> ArrayScores:
        return score_words(self._table(), self._group_scores(groups), self._mask(where))

    def _group_scores(self, groups: Sequence[TermGroup]) -> list[GroupScores]:
        new = [group for group in groups if group not in self._scored_groups]
        if new:
            self._scored_groups |= self._snapshot.words.get(new, self._score_groups)
        return [self._scored_groups[group] for group in groups]

    def models(self) -> list[ModelState]:
        states = [ModelState(model.model, model.state) for model in self._registered_models().values()]
        return sorted(states, key=lambda state: (state.model.name, state.model.fingerprint))

    def _registered_models(self) -> dict[str, RegisteredModel]:
        return self._snapshot.cached("models", self._read_models)

    def _model(self, fingerprint: str) -> RegisteredModel:
        model = self._registered_models().get(fingerprint)
        if model is None:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        return model

    def _vector_model(self, fingerprint: str, shape: tuple[int, ...], axes: int) -> RegisteredModel:
        """Return a model by which memories are ranked; a query's shape must have so many axes and fit it."""
        registered = self._model(fingerprint)
        model = registered.model
        if model.late_interaction:
            raise ModelMismatchError(token_codes_only(model))
        if len(shape) != axes or shape[-1] != model.dimensions:
            raise ModelMismatchError(
                f"The query has {shape[-1]} dimensions; {model.name} makes {model.dimensions}."
            )
        return registered

    def windows(self, fingerprint: str) -> int:
        return self._snapshot.cached(("windows", fingerprint), lambda: self._count_windows(fingerprint))

    def coverage(self, fingerprint: str) -> Coverage:
        memories, registered = self._count_visible(), self._registered_models().get(fingerprint)
        if registered is None:
            return Coverage(0, memories)
        ((pending,),) = self._all(f"SELECT count(*) {self._pending}", registered.number, *self._scope_keys)
        return Coverage(memories - pending, pending)

    def pending(self, fingerprint: str, limit: int, *, newest: bool = False) -> list[PendingMemory]:
        registered = self._registered_models().get(fingerprint)
        if registered is not None:
            source, order, values = self._pending, self._pending_hash, [registered.number]
        else:
            source, order, values = f"FROM memory m WHERE {VISIBLE}", "m.hash", []
        latest = "coalesce(m.valid_from, m.event_start, m.recorded_at) DESC, " if newest else ""
        rows = self._all(
            f"SELECT m.tier, m.hash {source} ORDER BY {latest}{order} LIMIT ?",
            *values, *self._scope_keys, limit,
        )  # fmt: skip
        ids = [id_from_hash(tier, number) for tier, number in rows]
        records = self._read_records(ids)
        return [PendingMemory(records[memory], self._text_before(records[memory])) for memory in ids]

    def oldest_pending(self, fingerprint: str) -> int | None:
        registered = self._registered_models().get(fingerprint)
        if registered is None:
            return None
        statement = f"SELECT min(m.updated_at) {self._pending}"
        ((oldest,),) = self._all(statement, registered.number, *self._scope_keys)
        return None if oldest is None else int(oldest)

    def _text_before(self, record: Record) -> str:
        place = record.place
        if place is None:
            return ""
        rows = self._all(
            f"SELECT m.heading_path, m.content FROM memory m WHERE {VISIBLE} AND {OF_DOCUMENT} "
            "AND m.ordinal = ? AND m.key = ? ORDER BY m.tier COLLATE BINARY, m.hash",
            *self._scope_keys, self._tenant, place.source, self._generation, place.path, place.ordinal - 1, record.key,
        )  # fmt: skip
        contents = (content for path, content in rows if tuple(self._decode(path)) == record.heading_path)
        return next(contents, "")

    def due(self, level: int) -> list[DueMemory]:
        rows = self._all(
            f"SELECT m.tier, m.hash, m.key, m.due, d.source, d.path {FROM_MEMORY} WHERE {VISIBLE} "
            "AND m.due > 0 AND m.due & 7 >= ? ORDER BY m.num",
            *self._scope_keys, level,
        )  # fmt: skip
        return [DueMemory(id_from_hash(tier, number), *row) for tier, number, *row in rows]

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        source, condition, memory_condition, values = "event e", "", "", list[object]()
        if run is not None:
            condition, values = " AND e.run = ?", [run]
        if ids is not None:
            # Compare the tier, too: an id of another tier may have the number of a memory.
            parsed = [pair for memory in ids if (pair := parse_id(memory)) is not None]
            source = self._events_of_memories
            condition, memory_condition = f"{condition} AND e.memory IN ?", " AND tier || memory IN ?"
            values += [memory_hashes(ids), [f"{tier}{number - SIGN}" for tier, number in parsed]]
        rows = self._all(
            "SELECT tier, memory, op, at, key, run, other_tier, other, count, before, actor FROM "
            f"(SELECT e.*, {TIER_OF.format('memory')} AS tier, {TIER_OF.format('other')} AS other_tier FROM {source} "
            f"WHERE e.tenant = ? AND e.key IN ?{condition}) seen WHERE tier IS NOT NULL{memory_condition} "
            "ORDER BY at DESC, seq DESC LIMIT ?",
            *self._scope_keys, *self._scope_keys, self._tenant, self._keys, *values, limit,
        )  # fmt: skip
        return [event_from_row(row) for row in rows]

    def extractions(self, ids: Sequence[str]) -> dict[str, CachedExtraction]:
        return self._extractions(ids, self._keys)

    def _extractions(self, ids: Sequence[str], keys: Sequence[str]) -> dict[str, CachedExtraction]:
        from scrubjay.models.lifecycle import CachedExtraction

        rows = self._all(
            f"SELECT m.tier, m.hash, r.mark, r.data FROM memory m JOIN reading r ON {self._reading_condition} "
            f"WHERE {VISIBLE} AND m.hash IN ?",
            self._tenant, self._generation, list(keys), memory_hashes(ids),
        )  # fmt: skip
        cached = {id_from_hash(tier, number): (mark, bytes(data)) for tier, number, mark, data in rows}
        return {memory: CachedExtraction(memory, *cached[memory]) for memory in ids if memory in cached}

    def runs(self, limit: int = 20) -> list[ConsolidationRun]:
        rows = self._all(
            "SELECT id, key, state, rules, started, ended, counts FROM run WHERE tenant = ? AND key IN ? "
            "ORDER BY started DESC, id COLLATE BINARY, key COLLATE BINARY LIMIT ?",
            self._tenant, self._keys, limit,
        )  # fmt: skip
        return [run_from_row(row) for row in rows]

    def forgotten_names(self, prefixes: Sequence[str]) -> set[str]:
        rows = self._all(
            f"SELECT substr(hash, {FORGOTTEN_PREFIX + 1}) FROM tombstone WHERE tenant = ? "
            f"AND substr(hash, 1, {FORGOTTEN_PREFIX}) IN ?",
            self._tenant, list(prefixes),
        )  # fmt: skip
        return {name for (name,) in rows}

    def counts(self) -> Counts:
        by_tier = self._all(
            f"SELECT m.tier, m.status, count(*) FROM memory m WHERE {VISIBLE} GROUP BY m.tier, m.status",
            *self._scope_keys,
        )
        ((documents,),) = self._all(
            "SELECT count(*) FROM document d JOIN source s ON s.tenant = d.tenant AND s.id = d.source "
            "WHERE d.tenant = ? AND d.generation = ? AND s.key IN ?",
            *self._scope_keys,
        )
        return counts_from_rows(by_tier, documents, len(self.sources()))

    def versions(self) -> StageVersions | None:
        rows = self._all("SELECT versions FROM tenant WHERE id = ?", self._tenant)
        return StageVersions(**json.loads(rows[0][0])) if rows and rows[0][0] else None


class SQLTenantReader(SQLReader):
    """Rows of a whole tenant that both stores read by the same statement."""

    def keys_of(self, ids: Iterable[str]) -> dict[str, str]:
        wanted = list(ids)
        rows = self._all(
            "SELECT tier, hash, key FROM memory WHERE tenant = ? AND generation = ? AND hash IN ?",
            self._tenant, self._generation, memory_hashes(wanted),
        )  # fmt: skip
        keys = {id_from_hash(tier, number): key for tier, number, key in rows}
        return {memory: keys[memory] for memory in wanted if memory in keys}

    def extractions(self, ids: Sequence[str]) -> dict[str, CachedExtraction]:
        """Return cached extractions, read with the memories' own keys only: a tenant may have a million."""
        return self._extractions(ids, sorted(set(self.keys_of(ids).values())))

    def all_projects(self) -> list[PutProject]:
        from scrubjay.storage.changes import PutProject

        statement = "SELECT place, name, key FROM project WHERE tenant = ?"
        projects = [PutProject(*row) for row in self._all(statement, self._tenant)]
        return sorted(projects, key=lambda project: (project.key, project.place))
