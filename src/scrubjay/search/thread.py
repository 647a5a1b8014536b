"""Thread: memories that tell one story, reached from a search's best hits along edges, in chronological order.

A hop goes along an edge or through an entity that both memories refer to; through two related entities it is two
hops. Each step follows only the best few. A memory without a date is placed after the nearest dated passage before it
in its document, else before the nearest after it; undated documents come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.frozen import frozen
from scrubjay.models.dates import DAY
from scrubjay.models.graph import MEMORY_EDGE_KINDS, merge_entities
from scrubjay.models.records import Record, SourcePlace
from scrubjay.models.results import (
    Candidate,
    Contribution,
    Explanation,
    PathStep,
    ReachedMemory,
    Result,
    Thread,
    ThreadEntry,
)
from scrubjay.search.browse import related_entities
from scrubjay.search.candidates import filter_records
from scrubjay.search.dedup import DERIVED_PREFIXES, deduplicate
from scrubjay.search.fusion import candidate_ids
from scrubjay.search.graph import EDGE_WEIGHTS, entity_weight, reference_weight
from scrubjay.search.pipeline import RetrievalState, answer, retrieve, score_memories
from scrubjay.search.relevance import CLOSE_SHARE
from scrubjay.search.request import SearchRequest, ThreadOptions
from scrubjay.search.results import build_result, result_snippet
from scrubjay.search.validity import (
    is_small_talk_turn,
    is_true_at,
    match_phrases,
    starts_as_of,
    superseded_statements,
)
from scrubjay.storage.interface import Reader

if TYPE_CHECKING:
    from scrubjay.embeddings.base import AnyEmbedder
    from scrubjay.search.rerank import RerankOptions


POOL_SIZE: Final = 100
"""Hits read of a channel. Of a very large entity only memories among these hits are followed."""
RELATED_SAMPLE: Final = 300
"""Memories of an entity from which its relations are counted: a share of .5 is then known to within .06."""
MIN_SCORE_SHARE: Final = 0.15
"""Share of the best score below which a memory is too weakly connected."""


@frozen
class MemoryPath:
    """A path to a memory or an entity: its seed, its steps, and the share of the seed's score it carries."""

    seed: str
    steps: tuple[PathStep, ...]
    carried: float

    def extended(self, kind: str, direction: str, to: str, weight: float, name: str = "") -> MemoryPath:
        step = PathStep(kind, direction, to, name, weight)
        return MemoryPath(self.seed, (*self.steps, step), self.carried * step.weight)


class BestPaths(dict[str, MemoryPath]):
    """The best path to each memory or entity."""

    def offer(self, name: str, path: MemoryPath) -> None:
        known = self.get(name)
        if known is None or path.carried > known.carried:
            self[name] = path

    def first(self, count: int) -> dict[str, MemoryPath]:
        """Return the paths that carry most."""
        return dict(sorted(self.items(), key=lambda pair: (-pair[1].carried, pair[0]))[:count])


def build_thread(
    reader: Reader,
    embedders: Sequence[AnyEmbedder],
    request: SearchRequest,
    options: ThreadOptions,
    reranker: RerankOptions | None = None,
) -> Thread:
    """Answer one question with a story, from one consistent view."""
    wide = replace(request, multiplier=-(-POOL_SIZE // request.limit), explain=True)
    state = retrieve(reader, embedders, wide)
    found = answer(state, reranker)
    best = max((result.relevance or 0.0 for result in found.results), default=0.0)
    seeds = {
        result.id: result
        for result in found.results
        if result.relevance is None or result.relevance >= CLOSE_SHARE * best
    }
    graph = ThreadGraph(state, options.fan_out)
    reached = expand_paths({result.id: result.score for result in seeds.values()}, graph, options.hops)
    least = MIN_SCORE_SHARE * max(reached[0].score, 0.0) if reached else 0.0
    unique = graph.deduplicated([memory for memory in reached if memory.found or memory.score >= least])
    chosen = unique[: request.limit]
    entries = graph.entries(chosen, seeds)
    return Thread(
        entries, len(unique) - len(chosen), found.partial, 0.0, found.notes, found.as_of, found.silence
    )


class ThreadGraph:
    """The edges and scores that a thread expands along: records and scores of memories, each read once."""

    def __init__(self, state: RetrievalState, fan_out: int) -> None:
        self.state = state
        self.reader = state.reader
        self.fan_out = fan_out
        self.pool = candidate_ids(state.channels.rankings)
        terms = state.channels.terms
        self.memories = terms.scored.memories if terms is not None else state.reader.counts().memories
        self._records: dict[str, Record] = {}
        self._scores: dict[str, float | None] = {}

    def measure(self, ids: Sequence[str]) -> dict[str, float]:
        """Return the scores of the memories that pass the caller's filters and hold nothing excluded."""
        unscored = sorted({memory for memory in ids if memory not in self._scores})
        if unscored:
            self._scores |= dict.fromkeys(unscored)
            self._read(unscored)
            allowed = self._allowed_ids(
                {memory: self._records[memory] for memory in unscored if memory in self._records}
            )
            self._scores |= {
                candidate.id: candidate.score for candidate in score_memories(self.state, allowed)
            }
        return {memory: score for memory in ids if (score := self._scores[memory]) is not None}

    def _read(self, ids: Sequence[str]) -> None:
        self._records |= self.reader.get([memory for memory in ids if memory not in self._records])

    def _allowed_ids(self, records: Mapping[str, Record]) -> list[str]:
        plan = self.state.plan
        ids = filter_records(self.reader, plan.where, records)
        ids = [memory for memory in ids if not is_small_talk_turn(records[memory])]
        if plan.true_at is not None:
            began = starts_as_of(plan, [records[memory] for memory in ids], self.reader)
            ids = [memory for memory in ids if is_true_at(records[memory], plan.true_at, began)]
        # Quoted phrases must be in the search's results, not in what they lead to.
        unquoted = replace(plan.query, phrases=())
        return [
            candidate.id
            for candidate in match_phrases([Candidate(memory, ()) for memory in ids], records, unquoted)
        ]

    def deduplicated(self, reached: Sequence[ReachedMemory]) -> list[ReachedMemory]:
        """Leave out duplicates, and facts whose turn is there, unless another memory changed them."""
        self._read([memory.id for memory in reached])
        by_id = {memory.id: memory for memory in reached}
        facts = [memory.id for memory in reached if memory.id.startswith(DERIVED_PREFIXES)]
        stated = {edge.src for edge in self.reader.edges(facts, ["derived_from"]) if edge.dst in by_id}
        changed: set[str] = set()
        for inward in (False, True):
            edges = self.reader.edges(sorted(stated), ["supersedes", "contradicts"], inward=inward)
            changed |= {edge.dst if inward else edge.src for edge in edges}
        different, _ = deduplicate([Candidate(memory.id, ()) for memory in reached], self._records)
        return [
            by_id[candidate.id]
            for candidate in different
            if candidate.id not in stated or candidate.id in changed
        ]

    def entries(
        self, chosen: Sequence[ReachedMemory], seeds: Mapping[str, Result]
    ) -> tuple[ThreadEntry, ...]:
        """Return readable entries in chronological order."""
        plan, length, user = self.state.plan, self.state.request.snippet, self.state.request.user
        by_id = {memory.id: memory for memory in chosen}
        sources = {source.id: source for source in self.reader.sources()}
        superseding = self._neighbours(list(by_id), "supersedes", (True,))
        records = {memory: self._records[memory] for memory in by_id}
        for memory, changes in superseded_statements(self.reader, records, self.state.at).items():
            later = {change.later.id for change in changes}
            superseding[memory] = tuple(sorted({*superseding.get(memory, ()), *later}))
        contradicting = self._neighbours(list(by_id), "contradicts", (False, True))
        entries = []
        for place in chronological_order(records):
            reached, record = by_id[place.id], self._records[place.id]
            result = seeds.get(place.id)
            if result is None or reached.path:
                text = result_snippet(record.content, plan.groups, length)
                parts = (
                    Contribution("carried", reached.carried, reached.carried, reached.share),
                    Contribution("own", reached.own, reached.own, reached.least),
                )
                result = build_result(record, sources, reached.score, text, Explanation(parts, ()), user)
            others = (superseding.get(place.id, ()), contradicting.get(place.id, ()))
            entries.append(ThreadEntry(result, reached, place.gap, place.dated, *others))
        return tuple(entries)

    def _neighbours(
        self, ids: Sequence[str], kind: str, directions: Sequence[bool]
    ) -> dict[str, tuple[str, ...]]:
        neighbours: dict[str, set[str]] = {}
        for inward in directions:
            for edge in self.reader.edges(ids, [kind], inward=inward):
                here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
                neighbours.setdefault(here, set()).add(there)
        return {memory: tuple(sorted(others)) for memory, others in neighbours.items()}


CARRIED_SHARE: Final = 0.8
"""Share of the carried score that a memory gets."""
OWN_WEIGHT: Final = 1.0
"""Weight of its own score."""
SEQUENCE_RULES: Final = ("session", "document")
"""Sequences that are followed; neighbours in a project's calendar are mostly unrelated."""
MAX_STARTS: Final = 8
"""Best memories of each hop that the next one starts from."""
MEMBER_FACTOR: Final = 4
"""Times ``fan_out``: memories of an entity that are scored, the heaviest."""
HUB_SIZE: Final = 2_000
"""Of larger entities only the query's own hits are taken."""
MIN_ASSOCIATION: Final = 0.1
"""Weaker relations are not followed."""


def expand_paths(seeds: Mapping[str, float], graph: ThreadGraph, hops: int) -> list[ReachedMemory]:
    """Return the seeds (memory to score) and what they lead to, best first, ties to the smaller id."""

    def by_score(reached: Iterable[ReachedMemory]) -> list[ReachedMemory]:
        return sorted(reached, key=lambda memory: (-memory.score, memory.id))

    found = {memory: ReachedMemory(memory, score, memory, found=True) for memory, score in seeds.items()}
    last = list(found.values())
    entities: dict[str, MemoryPath] = {}
    for hop in range(1, hops + 1):
        starts = {}
        for start in by_score(last)[:MAX_STARTS]:
            # The path that led to it, or one that begins with itself where that carries more.
            own = max(seeds.get(start.id, 0.0), 0.0)
            starts_here = own >= start.carried
            starts[start.id] = (
                MemoryPath(start.id, (), own)
                if starts_here
                else MemoryPath(start.seed, start.path, start.carried)
            )
        referenced = _referenced_entity_paths(graph, starts)
        entity_paths = BestPaths(referenced)
        for entity, path in _related_entity_paths(graph, entities).items():
            entity_paths.offer(entity, path)
        best = BestPaths()
        for memory, path in (*_edge_paths(graph, starts), *_member_paths(graph, entity_paths)):
            if memory != path.seed and all(step.id != memory for step in path.steps[:-1]):
                best.offer(memory, path)
        last = []
        for memory, score in graph.measure(list(best)).items():
            path = best[memory]
            # A memory that does not fit the question may still lead to the answer.
            reached = ReachedMemory(
                memory, max(score, 0.0), path.seed, path.steps, hop, path.carried,
                CARRIED_SHARE, OWN_WEIGHT, memory in seeds,
            )  # fmt: skip
            if memory not in found or reached.score > found[memory].score:
                last.append(reached)
        found |= {memory.id: memory for memory in last}
        entities = referenced
    return by_score(found.values())


def _edge_paths(graph: ThreadGraph, starts: Mapping[str, MemoryPath]) -> Iterator[tuple[str, MemoryPath]]:
    """Follow edges between memories, and to those before and after, both ways."""
    for inward in (False, True):
        for edge in graph.reader.edges(list(starts), MEMORY_EDGE_KINDS, inward=inward, limit=graph.fan_out):
            here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
            weight = EDGE_WEIGHTS[edge.kind] * edge.weight
            yield there, starts[here].extended(edge.kind, "from" if inward else "to", there, weight)
    for edge in graph.reader.follows(list(starts)) if starts else ():
        if edge.rule not in SEQUENCE_RULES:
            continue
        for here, there, direction in ((edge.src, edge.dst, "to"), (edge.dst, edge.src, "from")):
            if here in starts:
                yield there, starts[here].extended("follows", direction, there, EDGE_WEIGHTS["follows"])


def _referenced_entity_paths(graph: ThreadGraph, starts: Mapping[str, MemoryPath]) -> dict[str, MemoryPath]:
    edges = graph.reader.edges(list(starts), ["references"], limit=graph.fan_out)
    ids = sorted({edge.dst for edge in edges})
    if not ids:
        return {}
    names = {entity.id: entity.name for entity in merge_entities(graph.reader.concepts(ids))}
    sizes = graph.reader.degrees("references", ids)
    best = BestPaths()
    for edge in edges:
        if edge.dst in names:
            rarity = entity_weight(sizes.get(edge.dst, 1), graph.memories)
            weight = EDGE_WEIGHTS["references"] * reference_weight(edge.weight) * rarity
            best.offer(
                edge.dst, starts[edge.src].extended("references", "to", edge.dst, weight, names[edge.dst])
            )
    return best.first(graph.fan_out)


def _related_entity_paths(graph: ThreadGraph, entities: Mapping[str, MemoryPath]) -> dict[str, MemoryPath]:
    best = BestPaths()
    for entity, path in entities.items():
        related, _ = related_entities(graph.reader, entity, most=RELATED_SAMPLE, total=graph.memories)
        for near in related[: graph.fan_out]:
            if near.association >= MIN_ASSOCIATION and near.id not in entities:
                weight = EDGE_WEIGHTS["related_to"] * near.association
                best.offer(near.id, path.extended("related_to", "to", near.id, weight, near.name))
    return best.first(graph.fan_out)


def _member_paths(graph: ThreadGraph, entities: Mapping[str, MemoryPath]) -> Iterator[tuple[str, MemoryPath]]:
    if not entities:
        return
    sizes = graph.reader.degrees("references", list(entities))
    small = [entity for entity in entities if sizes.get(entity, 0) <= HUB_SIZE]
    edges = graph.reader.edges(small, ["references"], inward=True, limit=MEMBER_FACTOR * graph.fan_out)
    edges_of_hits = graph.reader.edges(list(graph.pool), ["references"])
    edges += [edge for edge in edges_of_hits if edge.dst in entities]
    by_entity: dict[str, dict[str, float]] = {}
    for edge in edges:
        by_entity.setdefault(edge.dst, {})[edge.src] = edge.weight
    own = graph.measure(sorted({memory for members in by_entity.values() for memory in members}))
    for entity, members in by_entity.items():
        ranked = sorted((-own[memory], memory) for memory in members if memory in own)
        for _, memory in ranked[: graph.fan_out]:
            weight = EDGE_WEIGHTS["references"] * reference_weight(members[memory])
            yield memory, entities[entity].extended("references", "from", memory, weight)


DAYS_PER_YEAR: Final = 365
DAYS_PER_MONTH: Final = 30.44


@frozen
class StoryPlace:
    """A memory in its place: whether its date is known, and the gap to the one before, in words."""

    id: str
    dated: bool
    gap: str


def chronological_order(records: Mapping[str, Record]) -> list[StoryPlace]:
    times = {memory: _event_start(record) for memory, record in records.items()}

    def key(memory: str) -> tuple[bool, int, str, str, int, str]:
        record, at = records[memory], times[memory]
        place, group = record.place, record.session or ""
        number = record.turn or 0
        if place is not None:
            group = record.session or f"{place.source}/{place.path}"
            number = place.ordinal if record.turn is None else record.turn
            at = _neighbour_time(place, records, times) if at is None else at
        return at is None, at or 0, group, record.session or "", number, memory

    places: list[StoryPlace] = []
    before = None
    for memory in sorted(records, key=key):
        gap = ""
        if before is not None:
            gap = _left_out_between(records[before], records[memory])
            gap = gap or _time_between(times[before], times[memory])
        places.append(StoryPlace(memory, times[memory] is not None, gap))
        before = memory
    return places


def _event_start(record: Record) -> int | None:
    if record.event is not None:
        return record.event.start
    return record.recorded_at if record.is_dated else None


def _neighbour_time(
    place: SourcePlace, records: Mapping[str, Record], times: Mapping[str, int | None]
) -> int | None:
    dated = [
        (other.place.ordinal, at)
        for memory, other in records.items()
        if other.place is not None
        and _is_same_document(other.place, place)
        and (at := times[memory]) is not None
    ]
    before = [pair for pair in dated if pair[0] < place.ordinal]
    if before:
        return max(before)[1]
    return min(dated)[1] if dated else None


def _is_same_document(place: SourcePlace, other: SourcePlace) -> bool:
    return place.source == other.source and place.path == other.path


def _left_out_between(before: Record, after: Record) -> str:
    missing, unit = 0, "turn"
    first, second = before.place, after.place
    if before.session is not None and before.session == after.session:
        if before.turn is not None and after.turn is not None:
            missing = after.turn - before.turn - 1
    elif first is not None and second is not None and _is_same_document(first, second):
        missing, unit = second.ordinal - first.ordinal - 1, "passage"
    return f"{missing:,} {unit}{'s' if missing > 1 else ''} left out" if missing > 0 else ""


def _time_between(before: int | None, after: int | None) -> str:
    """Return how much later a memory is than the one before.

    >>> _time_between(0, 3 * DAY), _time_between(0, 70 * DAY), _time_between(0, 800 * DAY), _time_between(0, DAY)
    ('3 days later', '2 months later', '2 years later', '')
    """
    if before is None or after is None:
        return "not dated" if before is not None else ""
    days = (after - before) // DAY
    if days < 2:
        return ""
    if days < 2 * DAYS_PER_MONTH:
        return f"{days} days later"
    if days < 2 * DAYS_PER_YEAR:
        return f"{int(days / DAYS_PER_MONTH)} months later"
    return f"{days // DAYS_PER_YEAR} years later"
