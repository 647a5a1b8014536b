"""Graph and history of one state, as one scope sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from reference_store.state import TenantState
from scrubjay.models.graph import Category, Edge, Entity, EntityRow, entity_to_row
from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event
from scrubjay.models.records import Record, Scope
from scrubjay.storage.changes import PreparedMemory


class ReferenceGraph:
    """What connects the memories of one state that one scope sees."""

    def __init__(self, state: TenantState, scope: Scope) -> None:
        self._state = state
        self._scope = scope
        self._visible = {i: m for i, m in state.memories.items() if m.record.key in scope.keys}

    @cached_property
    def _edges(self) -> list[Edge]:
        return _merge_edges(self._state.graph.seen(self._scope, self._visible))

    def concepts(self, ids: Sequence[str] | None = None) -> list[Entity]:
        rows = sorted(self._state.graph.concepts.items())
        return [c for (i, key), c in rows if key in self._scope.keys and (ids is None or i in ids)]

    def concept_rows(self) -> list[EntityRow]:
        """Return the visible rows of concepts, as tuples."""
        return [entity_to_row(c) for c in self._state.graph.concepts.values() if c.key in self._scope.keys]

    def concept_mark(self) -> int:
        """Return how often the visible concepts were changed."""
        return sum(self._state.graph.marks.get(key, 0) for key in self._scope.keys)

    def categories(self) -> list[Category]:
        return [c for _, c in sorted(self._state.graph.categories.items()) if c.key in self._scope.keys]

    def edges(
        self,
        ids: Sequence[str],
        kinds: Sequence[str],
        *,
        inward: bool = False,
        limit: int | None = None,
        rule: str | None = None,
    ) -> list[Edge]:
        found = []
        for asked in dict.fromkeys(ids):
            for kind in sorted(set(kinds)):
                near = [e for e in self._edges if e.kind == kind and asked == (e.dst if inward else e.src)]
                near = [e for e in near if rule in (None, e.rule)]
                near.sort(key=lambda e: (-e.weight, e.src if inward else e.dst))
                found += near[:limit]
        return found

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        ends = [e.dst for e in self._edges if e.kind == kind]
        return dict(Counter(end for end in ends if ids is None or end in ids))

    def cooccurrences(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        referring = [e for e in self._edges if e.kind == "references"]
        looked = sorted((e.src for e in referring if e.dst == concept), key=_digits, reverse=True)[:limit]
        return dict(Counter(e.dst for e in referring if e.src in looked and e.dst != concept)), len(looked)

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        records = [m.record for m in self._visible.values()]
        links = [*_session_pairs(records), *_document_pairs(records), *_project_pairs(records)]
        edges = [
            Edge(later.id, "follows", earlier.id, later.key, 1.0, _event_time(earlier), rule=rule)
            for rule, later, earlier in links
            if later.id in ids or earlier.id in ids
        ]
        return sorted(edges, key=lambda e: (e.rule, e.src, e.dst))

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        found = [
            (r.turn, -1 if r.place is None else r.place.ordinal, r.id, r)
            for r in (m.record for m in self._visible.values())
            if r.session == session and r.turn is not None and first <= r.turn <= last
        ]
        return [record for *_, record in sorted(found, key=lambda row: row[:3])]

    def last_turn(self, session: str) -> int | None:
        records = [m.record for m in self._visible.values()]
        return max((r.turn for r in records if r.session == session and r.turn is not None), default=None)

    def sessions(self, limit: int, skip: int = 0) -> list[str]:
        latest: dict[str, int] = {}
        for record in (m.record for m in self._visible.values()):
            if record.session is not None and record.turn is not None:
                time = _event_time(record)
                latest[record.session] = max(latest.get(record.session, time), time)
        return sorted(latest, key=lambda session: (-latest[session], session))[skip : skip + limit]

    def projects(self) -> dict[str, str]:
        rows = sorted(self._state.graph.projects.items(), reverse=True)  # the smaller key is set last
        return {place: name for (place, key), name in rows if key in self._scope.keys}


def _merge_edges(rows: Sequence[Edge]) -> list[Edge]:
    """Return one edge for what several keys say: a given before a found one, the heaviest, the smaller key."""
    best: dict[tuple[str, str, str], Edge] = {}
    for edge in sorted(rows, key=lambda e: (e.origin == "found", -e.weight, e.key)):
        best.setdefault((edge.src, edge.kind, edge.dst), edge)
    return list(best.values())


def _digits(memory: str) -> str:
    return memory.partition("_")[2]


def _event_time(record: Record) -> int:
    return record.event.start if record.event is not None else record.recorded_at


def _session_pairs(records: Sequence[Record]) -> Iterator[tuple[str, Record, Record]]:
    said = [(r.session, r.turn, r) for r in records if r.session is not None and r.turn is not None]
    for session, turn, later in said:
        for other, before, earlier in said:
            if other == session and before == turn - 1:
                yield "session", later, earlier


def _document_pairs(records: Sequence[Record]) -> Iterator[tuple[str, Record, Record]]:
    standing = [(r.place, r) for r in records if r.place is not None and r.session is None]
    for place, later in standing:
        for other, earlier in standing:
            same = (other.source, other.path) == (place.source, place.path)
            if same and other.ordinal == place.ordinal - 1:
                yield "document", later, earlier


def _project_pairs(records: Sequence[Record]) -> Iterator[tuple[str, Record, Record]]:
    for project in {r.project for r in records if r.project is not None}:
        heads = [r for r in records if r.project == project and _is_head(r)]
        for earlier, later in pairwise(sorted(heads, key=lambda r: (_event_time(r), r.id))):
            yield "project", later, earlier


def _is_head(record: Record) -> bool:
    if record.session is not None or record.turn is not None:
        return record.session is not None and record.turn == 0
    return record.place is None or record.place.ordinal == 0


class ReferenceHistory:
    """What happened to the memories of one state that one scope sees."""

    _state: TenantState
    _scope: Scope
    _visible: dict[str, PreparedMemory]

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        found = [
            event if event.other in self._visible else replace(event, other=None)
            for event in reversed(self._state.life.events)
            if event.key in self._scope.keys
            and event.memory in self._visible
            and (ids is None or event.memory in ids)
            and (run is None or event.run == run)
        ]
        return sorted(found, key=lambda event: -event.at)[:limit]

    def extractions(self, ids: Sequence[str]) -> dict[str, CachedExtraction]:
        held = self._state.life.readings
        return {memory: held[memory] for memory in ids if memory in held and memory in self._visible}

    def runs(self, limit: int = 20) -> list[ConsolidationRun]:
        found = [run for run in self._state.life.runs.values() if run.key in self._scope.keys]
        return sorted(found, key=lambda run: (-run.started, run.id, run.key))[:limit]
