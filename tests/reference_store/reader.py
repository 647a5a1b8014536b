"""Reader: what the reference store answers one scope."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from reference_store.graph import ReferenceGraph, ReferenceHistory
from reference_store.state import TenantState
from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import (
    NO_FILTER,
    Document,
    Record,
    RecordFilter,
    Scope,
    Source,
    StageVersions,
    due_level,
    said_at,
)
from scrubjay.models.results import Hit, round_score
from scrubjay.storage.changes import PreparedMemory, QuantizedVectors
from scrubjay.storage.interface import (
    Counts,
    Coverage,
    DueMemory,
    ModelState,
    PendingMemory,
    RankingMetadata,
)
from scrubjay.storage.rows import token_codes_only
from scrubjay.storage.scoring import EXACT_SHARE, MAX_TERM_COUNT, idf, quantize, saturation
from scrubjay.storage.table import record_matches
from scrubjay.storage.validation import check_text
from scrubjay.storage.validation import page_start as number_after
from scrubjay.text.tokenizer import nearest_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.text.tokenizer import TermGroup


@dataclass(frozen=True, slots=True)
class ReferenceScores:
    """Scores of all visible memories, as a dictionary."""

    scores: Mapping[str, float]
    found: frozenset[str]
    blank: float | None
    visible: frozenset[str]
    terms: Mapping[str, tuple[float, ...]]
    frequencies: tuple[int, ...] = ()

    @property
    def memories(self) -> int:
        """How many memories are visible."""
        return len(self.visible)

    @property
    def covered(self) -> int:
        """How many memories the channel can score."""
        return len(self.scores)

    @property
    def mean(self) -> float:
        """Mean score over the covered."""
        return math.fsum(self.scores.values()) / len(self.scores) if self.scores else 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation over the covered."""
        if not self.scores:
            return 0.0
        mean = self.mean
        return math.sqrt(math.fsum((score - mean) ** 2 for score in self.scores.values()) / len(self.scores))

    def top(self, limit: int) -> list[Hit]:
        """Return the best memories that pass the filter."""
        hits = [Hit(memory, round_score(self.scores[memory])) for memory in self.found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of memories by id."""
        return [round_score(self.scores[i]) if i in self.scores else None for i in ids]

    def group_scores(self, ids: Sequence[str]) -> list[tuple[float, ...]]:
        """Return what each term group added to a memory."""
        return [self.terms.get(i, tuple(0.0 for _ in self.frequencies)) for i in ids]


class ReferenceReader(ReferenceGraph, ReferenceHistory):
    """A view of one state for one scope."""

    def __init__(self, state: TenantState, scope: Scope) -> None:
        super().__init__(state, scope)
        self._sources = {i: s for i, s in state.sources.items() if s.key in scope.keys}

    def sources(self) -> list[Source]:
        return sorted(self._sources.values(), key=lambda source: (source.root, source.id))

    def files_of_others(self, ids: Sequence[str]) -> dict[str, tuple[str, Document]]:
        places = {i: self._visible[i].record.place for i in ids if i in self._visible}
        return {
            i: (self._state.sources[place.source].root, self._state.documents[place.source, place.path])
            for i, place in places.items()
            if place is not None and place.source not in self._sources
        }

    def hidden_groups(self, source: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for record in (m.record for m in self._state.memories.values()):
            place, hidden = (
                record.place,
                record.key.startswith("group:") and record.key not in self._scope.keys,
            )
            if place is not None and place.source == source and source in self._sources and hidden:
                found.setdefault(record.key.removeprefix("group:"), set()).add(place.path)
        return found

    def documents(self, source: str, paths: Sequence[str] | None = None) -> dict[str, Document]:
        if source not in self._sources:
            return {}
        return {
            path: d
            for (owner, path), d in sorted(self._state.documents.items())
            if owner == source and (paths is None or path in paths)
        }

    def count_passages(self, sources: Sequence[str]) -> int:
        """Return how many visible passages these sources' documents hold."""
        places = [m.record.place for m in self._visible.values()]
        return sum(1 for place in places if place is not None and place.source in sources)

    def passages(self, source: str, path: str) -> list[Record]:
        found = [
            (m.record.place.ordinal, m.record)
            for m in self._visible.values()
            if m.record.place is not None and (m.record.place.source, m.record.place.path) == (source, path)
        ]
        return [record for _, record in sorted(found, key=lambda pair: (pair[0], pair[1].id))]

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        return {i: self._visible[i].record for i in ids if i in self._visible}

    def ranking_metadata(self, ids: Sequence[str]) -> dict[str, RankingMetadata]:
        held = {i: self._visible[i] for i in ids if i in self._visible}
        return {
            i: RankingMetadata(
                m.record.title,
                m.terms.length,
                m.record.is_turn,
                m.record.role,
                m.record.event.start if m.record.event is not None else m.record.recorded_at,
                m.record.last_used,
                m.record.pinned,
                m.record.strength,
                m.record.confidence,
                m.record.session,
                m.record.project,
            )
            for i, m in held.items()
        }

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        turns: dict[tuple[str, int], list[str]] = {}
        for i, m in sorted(self._visible.items()):
            if m.record.session is not None and m.record.turn is not None:
                turns.setdefault((m.record.session, m.record.turn), []).append(i)
        found = {}
        for i in ids:
            record = self._visible[i].record if i in self._visible else None
            if record is None or record.session is None or record.turn is None:
                continue
            before, after = ((record.session, record.turn + step) for step in (-1, 1))
            near = (*turns.get(before, ()), *turns.get(after, ()))
            if near:
                found[i] = near
        return found

    def project_names(self) -> list[str]:
        return sorted({m.record.project for m in self._visible.values() if m.record.project is not None})

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        short = len(prefix) >= 6 and set(prefix) <= set("0123456789abcdef")
        begins = (
            i for i in self._visible if i.startswith(prefix) or (short and i.split("_")[1].startswith(prefix))
        )
        return sorted(begins)[:limit]

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        return [sum(1 for m in self._visible.values() if _term_frequency(m, group)) for group in groups]

    def words(self, groups: Sequence[TermGroup], where: RecordFilter) -> ReferenceScores:
        check_text(*where.tags, *filter(None, where.projects), *where.agents, *where.sessions)
        total = len(self._visible)
        length = sum(m.terms.length for m in self._visible.values())
        average = length / total if length else 1.0
        pairs = [(group, replace(group, forms=group.forms[:1])) for group in groups]
        asked = list(chain.from_iterable(pairs))
        df = dict(zip(asked, self.frequencies(asked), strict=True))

        def earned(memory: PreparedMemory, group: TermGroup) -> float:
            tf, length = float(_term_frequency(memory, group)), float(memory.terms.length)
            return idf(total, df[group]) * saturation(tf, length, average)

        parts: dict[str, tuple[float, ...]] = {}
        for i, memory in self._visible.items():
            parts[i] = tuple(
                earned(memory, whole) * (1.0 - EXACT_SHARE) + earned(memory, exact) * EXACT_SHARE
                for whole, exact in pairs
            )
        scores = {i: _sum_in_order(values) for i, values in parts.items()}
        found = frozenset(i for i, score in scores.items() if score > 0 and self._passes(i, where))
        return ReferenceScores(
            scores, found, 0.0, frozenset(self._visible), parts, tuple(df[group] for group in groups)
        )

    def nearest(self, fingerprint: str, query: NDArray[np.float32], where: RecordFilter) -> ReferenceScores:
        model = self._vector_model(fingerprint)
        if query.shape != (model.dimensions,):
            raise ModelMismatchError(
                f"The query has {query.shape[-1]} dimensions; {model.name} makes {model.dimensions}."
            )
        codes, scale = quantize(query)
        whole = [int(x) for x in codes]
        scores = {
            i: _best_window(whole, scale, m.vectors[fingerprint])
            for i, m in self._visible.items()
            if fingerprint in m.vectors
        }
        found = frozenset(i for i in scores if self._passes(i, where))
        return ReferenceScores(scores, found, None, frozenset(self._visible), {})

    def _model(self, fingerprint: str) -> EmbeddingModel:
        if fingerprint not in self._state.models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        return self._state.models[fingerprint][0]

    def _vector_model(self, fingerprint: str) -> EmbeddingModel:
        model = self._model(fingerprint)
        if model.late_interaction:
            raise ModelMismatchError(token_codes_only(model))
        return model

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        self._model(fingerprint)
        held = {i: self._visible[i].vectors for i in ids if i in self._visible}
        return {i: vectors[fingerprint] for i, vectors in held.items() if fingerprint in vectors}

    def nearest_batch(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: RecordFilter = NO_FILTER,
    ) -> list[list[Hit]]:
        model = self._vector_model(fingerprint)
        if queries.ndim != 2 or queries.shape[1] != model.dimensions:
            raise ModelMismatchError(
                f"The queries have shape {queries.shape}; {model.name} makes {model.dimensions} dimensions."
            )
        found = [self.nearest(fingerprint, query, where).top(limit) for query in queries]
        return [[hit for hit in hits if hit.score >= floor] for hits in found]

    def page(self, after: str, limit: int, where: RecordFilter | None = None) -> list[Record]:
        number = number_after(after)
        ids = [i for i in self._visible if where is None or self._passes(i, where)]
        later = sorted((n, i) for i in ids if (n := int(i.partition("_")[2], 16)) > number)
        return [self._visible[i].record for _, i in later[:limit]]

    def latest(self, where: RecordFilter, limit: int, skip: int = 0) -> list[Record]:
        found = [m.record for i, m in self._visible.items() if self._passes(i, where)]
        return sorted(found, key=_latest_first)[skip : skip + limit]

    def _passes(self, memory: str, where: RecordFilter) -> bool:
        belongs = {e.dst for e in self.edges([memory], ["belongs"])} if where.categories else set()
        filed = not where.categories or not belongs.isdisjoint(where.categories)
        return filed and record_matches(self._visible[memory].record, where)

    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({m.language for m in self._visible.values()}))

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        vocabulary = {term for m in self._visible.values() for term in m.terms.counts if term != word}
        return list(nearest_terms(word, vocabulary, limit))

    def models(self) -> list[ModelState]:
        found = [ModelState(model, state) for model, state in self._state.models.values()]
        return sorted(found, key=lambda s: (s.model.name, s.model.fingerprint))

    def coverage(self, fingerprint: str) -> Coverage:
        covered = sum(1 for m in self._visible.values() if fingerprint in m.vectors)
        return Coverage(covered, len(self._visible) - covered)

    def windows(self, fingerprint: str) -> int:
        held = [m.vectors[fingerprint] for m in self._visible.values() if fingerprint in m.vectors]
        return sum(len(codes.scales) for codes in held)

    def pending(self, fingerprint: str, limit: int, *, newest: bool = False) -> list[PendingMemory]:
        missing = [m.record for m in self._visible.values() if fingerprint not in m.vectors]
        missing.sort(key=lambda record: (record.id.partition("_")[2], record.id))
        if newest:
            missing.sort(key=said_at, reverse=True)
        return [PendingMemory(record, self._before(record)) for record in missing[:limit]]

    def oldest_pending(self, fingerprint: str) -> int | None:
        if all(state.model.fingerprint != fingerprint for state in self.models()):
            return None
        missing = [m.record.updated_at for m in self._visible.values() if fingerprint not in m.vectors]
        return min(missing, default=None)

    def due(self, level: int) -> list[DueMemory]:
        found = []
        for record in (m.record for m in self._visible.values()):
            if record.due and due_level(record.due) >= level:
                where = (None, None) if record.place is None else (record.place.source, record.place.path)
                found.append(DueMemory(record.id, record.key, record.due, *where))
        return found

    def _before(self, record: Record) -> str:
        if record.place is None:
            return ""
        for other in self.passages(record.place.source, record.place.path):
            near = other.place is not None and other.place.ordinal == record.place.ordinal - 1
            if near and (other.heading_path, other.key) == (record.heading_path, record.key):
                return other.content
        return ""

    def cached_texts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, QuantizedVectors]:
        cache = self._state.cache
        return {text: cache[fingerprint, text] for text in hashes if (fingerprint, text) in cache}

    def forgotten_hashes(self, hashes: Iterable[str]) -> set[str]:
        return self._state.tombstones.intersection(hashes) if self._state.tombstones else set()

    def forgotten_names(self, prefixes: Sequence[str]) -> set[str]:
        known = self._state.tombstones
        return {mark.removeprefix(one) for one in prefixes for mark in known if mark.startswith(one)}

    def count_memories(self, key: str) -> int:
        return sum(1 for m in self._visible.values() if m.record.key == key)

    def counts(self) -> Counts:
        records = [m.record for m in self._visible.values()]
        documents = sum(1 for source, _ in self._state.documents if source in self._sources)
        return Counts(
            len(records),
            dict(sorted(Counter(r.tier for r in records).items())),
            dict(sorted(Counter(r.status for r in records).items())),
            documents,
            len(self._sources),
        )

    @property
    def state(self) -> object:
        return object()

    def versions(self) -> StageVersions | None:
        return self._state.versions


def _latest_first(record: Record) -> tuple[int, str, str]:
    at = record.event.start if record.event is not None else record.recorded_at
    return -at, record.id.partition("_")[2], record.tier


def _term_frequency(memory: PreparedMemory, group: TermGroup) -> int:
    return min(max((memory.terms.counts.get(form, 0) for form in group.forms), default=0), MAX_TERM_COUNT)


def _sum_in_order(values: Sequence[float]) -> float:
    total = 0.0
    for value in values:  # in the groups' order, as every store adds them
        total += value
    return total


def _best_window(query: list[int], scale: float, codes: QuantizedVectors) -> float:
    rows: Iterable[tuple[list[int], float]] = zip(codes.data.tolist(), codes.scales.tolist(), strict=True)
    return max(sum(a * b for a, b in zip(query, row, strict=True)) * (s * scale) for row, s in rows)
