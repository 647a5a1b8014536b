"""Thread: memories that tell one story, reached from a search's best hits along edges, in chronological order.

A hop goes along an edge or through an entity that both memories refer to; through two related entities it is two
hops. Each step follows only the best few. A memory without a date is placed after the nearest dated passage before it
in its document, else before the nearest after it; undated documents come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.models.dates import DAY
from scrubjay.models.graph import MEMORY_EDGE_KINDS, merge_entities
from scrubjay.models.records import Record
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
from scrubjay.models.views import RelatedEntity
from scrubjay.search.browse import related_entities
from scrubjay.search.candidates import filter_records
from scrubjay.search.dedup import DERIVED_PREFIXES, deduplicate
from scrubjay.search.fusion import candidate_ids
from scrubjay.search.graph import (
    EDGE_WEIGHTS,
    BestPaths,
    MemoryPath,
    PathGraph,
    entity_weight,
    reference_weight,
)
from scrubjay.search.pipeline import RetrievalState, answer, retrieve, score_memories
from scrubjay.search.relevance import CLOSE_SHARE
from scrubjay.search.request import SearchRequest
from scrubjay.search.results import build_result
from scrubjay.search.validity import is_small_talk_turn, is_true_at, match_phrases, starts_as_of
from scrubjay.storage.interface import Reader
from scrubjay.text.snippets import best_snippet

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


MAX_HOPS: Final = 4
MAX_FAN_OUT: Final = 50
MAX_MEMORIES: Final = 100
POOL_SIZE: Final = 100
"""Hits a channel gives: of a concept with very many memories, the best are looked for among them."""
RELATED_SAMPLE: Final = 300
"""Memories of a concept from which its relations are counted here: a share of .5 is then known to within .06."""
MIN_SCORE_SHARE: Final = 0.15
"""Share of the best score below which what was reached over edges is too weakly connected for the story."""


@dataclass(frozen=True, slots=True)
class ThreadOptions:
    """Hops from a seed, and edges of a kind followed from one memory or entity."""

    hops: int = 2
    fan_out: int = 8

    def checked(self, limit: int) -> ThreadOptions:
        """Validate and return self."""
        for name, value, low, most in (
            ("hops", self.hops, 0, MAX_HOPS),
            ("fan_out", self.fan_out, 1, MAX_FAN_OUT),
            ("limit", limit, 1, MAX_MEMORIES),
        ):
            if not low <= value <= most:
                raise InputError(f"{name} is {value}; it must lie between {low} and {most}.")
        return self


def build_thread(
    reader: Reader, embedders: Sequence[Embedder], request: SearchRequest, bounds: ThreadOptions
) -> Thread:
    """Answer one question with a story, from one consistent view.

    Raises:
        InputError: A bound is out of range.
    """
    bounds.checked(request.limit)
    wide = replace(request, multiplier=-(-POOL_SIZE // request.limit), explain=True)
    state = retrieve(reader, embedders, wide)
    found = answer(state)
    best = max((one.relevance or 0.0 for one in found.results), default=0.0)
    seeds = {
        one.id: one for one in found.results if one.relevance is None or one.relevance >= CLOSE_SHARE * best
    }
    view = _ThreadView(state)
    reached = expand_paths(
        {one.id: one.score for one in seeds.values()}, view.path_graph(bounds.fan_out), bounds.hops
    )
    least = MIN_SCORE_SHARE * max(reached[0].score, 0.0) if reached else 0.0
    unique = view.deduplicated([one for one in reached if one.found or one.score >= least])
    chosen = unique[: request.limit]
    silence = found.silence.replace("min_relevance=0 shows it", "a search with min_relevance=0 shows it")
    knots = view.knots(chosen, seeds, request.snippet)
    return Thread(knots, len(unique) - len(chosen), found.partial, 0.0, found.notes, found.as_of, silence)


@dataclass(slots=True)
class _ThreadView:
    """One reader and one query: records and scores of memories, each read and computed once."""

    state: RetrievalState
    records: dict[str, Record] = field(default_factory=dict)
    scores: dict[str, float | None] = field(default_factory=dict)

    @property
    def reader(self) -> Reader:
        return self.state.reader

    def path_graph(self, fan_out: int) -> PathGraph:
        channels = self.state.channels
        pool = candidate_ids(channels.rankings)
        terms = channels.terms
        memories = terms.scored.memories if terms is not None else self.reader.counts().memories

        def near(concept: str) -> Sequence[RelatedEntity]:
            return related_entities(self.reader, concept, most=RELATED_SAMPLE, total=memories)[0]

        return PathGraph(self.reader, self.measure, near, pool, memories, fan_out)

    def measure(self, ids: Sequence[str]) -> dict[str, float]:
        new = sorted({memory for memory in ids if memory not in self.scores})
        if new:
            self.scores |= dict.fromkeys(new)
            self.read(new)
            allowed = self._allowed(
                {memory: self.records[memory] for memory in new if memory in self.records}
            )
            self.scores |= {one.id: one.score for one in score_memories(self.state, allowed)}
        return {memory: score for memory in ids if (score := self.scores[memory]) is not None}

    def read(self, ids: Sequence[str]) -> None:
        self.records |= self.reader.get([memory for memory in ids if memory not in self.records])

    def _allowed(self, records: Mapping[str, Record]) -> list[str]:
        plan = self.state.plan
        ids = filter_records(self.reader, plan.where, records)
        ids = [memory for memory in ids if not is_small_talk_turn(records[memory])]
        if plan.true_at is not None:
            began = starts_as_of(plan, [records[memory] for memory in ids], self.reader)
            ids = [memory for memory in ids if is_true_at(records[memory], plan.true_at, began)]
        # A quoted phrase must stand in what the search found, not in what that leads to.
        without = replace(plan.query, phrases=())
        return [one.id for one in match_phrases([Candidate(memory, ()) for memory in ids], records, without)]

    def deduplicated(self, reached: Sequence[ReachedMemory]) -> list[ReachedMemory]:
        """Leave out duplicates, and facts whose turn is there, unless another memory changed them."""
        self.read([one.id for one in reached])
        by_id = {one.id: one for one in reached}
        stated = [one.id for one in reached if one.id.startswith(DERIVED_PREFIXES)]
        turns = {
            edge.src for edge in self.reader.edges(stated, ["derived_from"]) if edge.dst in by_id
        }  # fmt: skip
        changed: set[str] = set()
        for inward in (False, True):
            edges = self.reader.edges(sorted(turns), ["supersedes", "contradicts"], inward=inward)
            changed |= {edge.dst if inward else edge.src for edge in edges}
        different, _ = deduplicate([Candidate(one.id, ()) for one in reached], self.records)
        return [by_id[one.id] for one in different if one.id not in turns or one.id in changed]

    def knots(
        self, chosen: Sequence[ReachedMemory], seeds: Mapping[str, Result], length: int
    ) -> tuple[ThreadEntry, ...]:
        by_id = {one.id: one for one in chosen}
        sources = {source.id: source for source in self.reader.sources()}
        replaced = self._ends(list(by_id), "supersedes", (True,))
        against = self._ends(list(by_id), "contradicts", (False, True))
        knots = []
        for place in chronological_order({memory: self.records[memory] for memory in by_id}):
            one, record = by_id[place.id], self.records[place.id]
            shown = seeds.get(place.id)
            if shown is None or one.path:
                text = best_snippet(record.content, self.state.plan.groups, length).text
                shown = build_result(record, sources, one.score, text, _path_explanation(one))
            ends = (tuple(replaced.get(place.id, ())), tuple(against.get(place.id, ())))
            knots.append(ThreadEntry(shown, one, place.gap, place.dated, *ends))
        return tuple(knots)

    def _ends(self, ids: Sequence[str], kind: str, ways: Sequence[bool]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for inward in ways:
            for edge in self.reader.edges(ids, [kind], inward=inward):
                here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
                found.setdefault(here, []).append(there)
        return {memory: sorted(set(ends)) for memory, ends in found.items()}


def _path_explanation(one: ReachedMemory) -> Explanation:
    carried = Contribution("carried", one.carried, one.carried, one.share)
    return Explanation((carried, Contribution("own", one.own, one.own, one.least)), ())


CARRIED_SHARE: Final = 0.8
"""What a memory is given of the score that is carried to it."""
OWN_WEIGHT: Final = 1.0
"""What its own score weighs beside that."""
SEQUENCE_RULES: Final = ("session", "document")
"""Chains that are followed; neighbours in a project's calendar are mostly of other matters."""
MAX_STARTS: Final = 8
"""Memories of each hop that the next one starts from, the best first."""
MEMBER_FACTOR: Final = 4
"""Times ``fan_out``: memories of a concept that are looked at because they name it most."""
HUB_SIZE: Final = 2_000
"""Memories above which a concept's are no longer ordered by how much they name it: of such a one, those are looked at
that the query found by itself."""
MIN_ASSOCIATION: Final = 0.1
"""Relations below it are not followed."""


def expand_paths(seeds: Mapping[str, float], graph: PathGraph, hops: int) -> list[ReachedMemory]:
    """Return the seeds (memory to score) and what they lead to, best first, ties to the smaller id."""
    found = {memory: ReachedMemory(memory, score, memory, found=True) for memory, score in seeds.items()}
    last = list(found.values())
    concepts: dict[str, MemoryPath] = {}
    for hop in range(1, hops + 1):
        starts = {one.id: _path_onward(one, seeds) for one in _by_score(last)[:MAX_STARTS]}
        near = _referenced_entities(graph, starts)
        over = BestPaths(dict(near))
        for concept, path in _related_entities(graph, concepts):
            over.offer(concept, path)
        best = BestPaths()
        for memory, path in (*_along_edges(graph, starts), *_entity_members(graph, over.paths)):
            if memory != path.seed and all(step.id != memory for step in path.steps[:-1]):
                best.offer(memory, path)
        better = _reached_memories(graph, best, hop, seeds)
        last = [one for one in better if one.id not in found or one.score > found[one.id].score]
        found |= {one.id: one for one in last}
        concepts = near
    return _by_score(found.values())


def _path_onward(one: ReachedMemory, seeds: Mapping[str, float]) -> MemoryPath:
    """Return the path to a memory, or one that begins with itself where that carries more."""
    own = max(seeds.get(one.id, 0.0), 0.0)
    return MemoryPath(one.id, (), own) if own >= one.carried else MemoryPath(one.seed, one.path, one.carried)


def _by_score(found: Iterable[ReachedMemory]) -> list[ReachedMemory]:
    return sorted(found, key=lambda one: (-one.score, one.id))


def _reached_memories(
    graph: PathGraph, best: BestPaths, hop: int, seeds: Mapping[str, float]
) -> Iterator[ReachedMemory]:
    own = graph.measure(list(best.paths))
    for memory, score in own.items():
        path = best.paths[memory]
        # What does not fit the question by itself may still be what led to the answer.
        own_part, weights = max(score, 0.0), (CARRIED_SHARE, OWN_WEIGHT)
        yield ReachedMemory(
            memory, own_part, path.seed, path.steps, hop, path.carried, *weights, memory in seeds
        )


def _along_edges(graph: PathGraph, starts: Mapping[str, MemoryPath]) -> Iterator[tuple[str, MemoryPath]]:
    for inward in (False, True):
        for edge in graph.reader.edges(list(starts), MEMORY_EDGE_KINDS, inward=inward, limit=graph.fan_out):
            here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
            step = PathStep(
                edge.kind, "from" if inward else "to", there, "", EDGE_WEIGHTS[edge.kind] * edge.weight
            )
            yield there, starts[here].extended(step)
    for edge in graph.reader.follows(list(starts)) if starts else ():
        if edge.rule not in SEQUENCE_RULES:
            continue
        for here, there, direction in ((edge.src, edge.dst, "to"), (edge.dst, edge.src, "from")):
            if here in starts:
                yield (
                    there,
                    starts[here].extended(PathStep("follows", direction, there, "", EDGE_WEIGHTS["follows"])),
                )


def _referenced_entities(graph: PathGraph, starts: Mapping[str, MemoryPath]) -> dict[str, MemoryPath]:
    edges = graph.reader.edges(list(starts), ["references"], limit=graph.fan_out)
    ids = sorted({edge.dst for edge in edges})
    names = _entity_names(graph.reader, ids)
    sizes = graph.reader.degrees("references", ids) if ids else {}
    best = BestPaths()
    for edge in edges:
        if edge.dst in names:
            weight = (
                EDGE_WEIGHTS["references"]
                * reference_weight(edge.weight)
                * entity_weight(sizes.get(edge.dst, 1), graph.memories)
            )
            step = PathStep("references", "to", edge.dst, names[edge.dst], weight)
            best.offer(edge.dst, starts[edge.src].extended(step))
    return best.first(graph.fan_out)


def _related_entities(
    graph: PathGraph, concepts: Mapping[str, MemoryPath]
) -> Iterable[tuple[str, MemoryPath]]:
    best = BestPaths()
    for concept, path in concepts.items():
        for near in graph.related(concept)[: graph.fan_out]:
            if near.association >= MIN_ASSOCIATION and near.id not in concepts:
                weight = EDGE_WEIGHTS["related_to"] * near.association
                best.offer(near.id, path.extended(PathStep("related_to", "to", near.id, near.name, weight)))
    return best.first(graph.fan_out).items()


def _entity_members(graph: PathGraph, concepts: Mapping[str, MemoryPath]) -> Iterator[tuple[str, MemoryPath]]:
    if not concepts:
        return
    sizes = graph.reader.degrees("references", list(concepts))
    small = [concept for concept in concepts if sizes.get(concept, 0) <= HUB_SIZE]
    edges = graph.reader.edges(small, ["references"], inward=True, limit=MEMBER_FACTOR * graph.fan_out)
    edges += [e for e in graph.reader.edges(list(graph.pool), ["references"]) if e.dst in concepts]
    by_entity: dict[str, dict[str, float]] = {}
    for edge in edges:
        by_entity.setdefault(edge.dst, {})[edge.src] = edge.weight
    own = graph.measure(sorted({memory for members in by_entity.values() for memory in members}))
    for concept, members in by_entity.items():
        ranked = sorted((-own[memory], memory) for memory in members if memory in own)
        for _, memory in ranked[: graph.fan_out]:
            weight = EDGE_WEIGHTS["references"] * reference_weight(members[memory])
            yield memory, concepts[concept].extended(PathStep("references", "from", memory, "", weight))


def _entity_names(reader: Reader, ids: Sequence[str]) -> dict[str, str]:
    return {concept.id: concept.name for concept in merge_entities(reader.concepts(ids))} if ids else {}


DAYS_PER_YEAR: Final = 365
DAYS_PER_MONTH: Final = 30.44
"""Days."""


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """A memory in its place: whether its date is known, and the gap to the one before, in words."""

    id: str
    dated: bool
    gap: str


def chronological_order(records: Mapping[str, Record]) -> list[StoryPlace]:
    times = {memory: _happened_at(record) for memory, record in records.items()}
    keys = {memory: _story_key(record, records, times) for memory, record in records.items()}
    order = sorted(records, key=lambda memory: keys[memory])
    places: list[StoryPlace] = []
    for place, memory in enumerate(order):
        gap = ""
        if place:
            before = order[place - 1]
            gap = _pieces_between(records[before], records[memory]) or _time_between(
                times[before], times[memory]
            )
        places.append(StoryPlace(memory, times[memory] is not None, gap))
    return places


StoryKey = tuple[bool, int, str, str, int, str]


def _story_key(record: Record, records: Mapping[str, Record], times: Mapping[str, int | None]) -> StoryKey:
    at, place = times[record.id], record.place
    number = record.turn if record.turn is not None else place.ordinal if place is not None else 0
    group = record.session or (f"{place.source}/{place.path}" if place is not None else "")
    if at is None and place is not None:
        at = _time_of_neighbour(record, list(records.values()), times)
    return at is None, at or 0, group, record.session or "", number, record.id


def _happened_at(record: Record) -> int | None:
    if record.event is not None:
        return record.event.start
    return None if record.place is not None else record.recorded_at


def _time_of_neighbour(
    record: Record, records: Sequence[Record], times: Mapping[str, int | None]
) -> int | None:
    place = record.place
    assert place is not None
    dated = [
        (other.place.ordinal, at)
        for other in records
        if other.place is not None
        and (other.place.source, other.place.path) == (place.source, place.path)
        and (at := times[other.id]) is not None
    ]
    before = [pair for pair in dated if pair[0] < place.ordinal]
    if before:
        return max(before)[1]
    return min(dated)[1] if dated else None


def _pieces_between(before: Record, after: Record) -> str:
    one, other = before.place, after.place
    if before.session is not None and before.session == after.session:
        if before.turn is not None and after.turn is not None and after.turn - before.turn > 1:
            return _count_left_out(after.turn - before.turn - 1, "turn")
        return ""
    if one is None or other is None or (one.source, one.path) != (other.source, other.path):
        return ""
    return (
        _count_left_out(other.ordinal - one.ordinal - 1, "passage") if other.ordinal - one.ordinal > 1 else ""
    )


def _count_left_out(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number > 1 else ''} left out"


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
