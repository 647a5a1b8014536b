"""Graph channel: memories that the best hits lead to through entities and titles, and the weight of each path.

A question that takes two steps ("the mayor of the town where X was born") is answered by two memories, of which the
second shares no word with it: the first names its subject. A path leads through an entity that both refer to, or to
a memory whose title is in the hit's text. Names in the question itself and very common entities are no paths.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import Final

from scrubjay.frozen import frozen
from scrubjay.models.graph import merge_entities
from scrubjay.models.results import Hit, round_score
from scrubjay.search.candidates import ChannelResults, Ranking, filter_records
from scrubjay.search.fusion import ScoreTable, best_first
from scrubjay.search.plan import QueryPlan
from scrubjay.storage.interface import RankingMetadata, Reader
from scrubjay.text.language import detect_language
from scrubjay.text.snippets import contains_phrase
from scrubjay.text.tokenizer import query_groups

EDGE_WEIGHTS: Final[Mapping[str, float]] = {
    "supersedes": 1.0,
    "contradicts": 1.0,
    "derived_from": 0.9,
    "links": 0.9,
    "follows": 0.7,
    "similar": 0.7,
    "references": 0.8,
    "related_to": 0.8,
}
"""Share of a score that a step of each kind carries, times the edge's own weight."""


def reference_weight(weight: float) -> float:
    """Return the weight of a memory's reference to an entity: naming it once (.5) counts nearly as much as many times.

    >>> round(reference_weight(0.5), 2), reference_weight(1.0)
    (0.71, 1.0)
    """
    return math.sqrt(weight)


def entity_weight(count: int, memories: int) -> float:
    """Return the weight of an entity as a connection: from 0, where every memory refers to it, to 1.

    >>> entity_weight(1, 1000), round(entity_weight(10, 1000), 2), entity_weight(1000, 1000)
    (1.0, 0.67, 0.0)
    """
    if memories <= 1 or count <= 1:
        return 1.0
    return max(0.0, 1.0 - math.log(count) / math.log(memories))


MAX_SEEDS: Final = 5
"""Hits that paths lead on from. 3 and 8 give the same within .01 (bench/LOG.md)."""
MAX_FAN_OUT: Final = 16
"""Maximum number of entities of one hit that are followed, the heaviest."""
MAX_FOLLOWED: Final = 48
"""Maximum number of entities that are followed in all."""
HUB_SIZE: Final = 50
"""Entities with more memories are not followed: 200 gives the same at four times the cost."""
MIN_NAME_LENGTH: Final = 3
"""Shortest title that is looked for: shorter ones are in any text."""
_QUALIFIER = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+$")


@frozen
class GraphScores:
    """The graph's scores as a channel: 0 (no path) to 1."""

    raws: Mapping[str, float]
    mean: float = 0.0
    deviation: float = 1.0

    @property
    def covered(self) -> int:
        return len(self.raws)

    def top(self, limit: int) -> list[Hit]:
        best = sorted(((-raw, memory) for memory, raw in self.raws.items()))[:limit]
        return [Hit(memory, -raw) for raw, memory in best]

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        return [self.raws.get(memory, 0.0) for memory in ids]


@frozen
class GraphRanking(Ranking):
    """The graph's ranking, with the hit and the name of the best path to each memory."""

    paths: Mapping[str, tuple[str, ...]]


GraphPaths = Iterator[tuple[str, float, tuple[str, ...]]]


def rank_by_graph(
    plan: QueryPlan,
    channels: ChannelResults,
    reader: Reader,
    seeds: Mapping[str, float],
    titles: Mapping[str, str],
) -> GraphRanking | None:
    """Rank by the paths that lead on from hits; None where none does.

    A path's weight is the share of its hit, times the rarity of its name, times how much both refer to it. ``seeds``
    are the best hits of the other channels with their share of the best score, ``titles`` other hits; names in the
    query are no paths.
    """
    query = plan.query.text
    memories = channels.terms.scored.memories if channels.terms is not None else reader.counts().memories
    raws: dict[str, float] = {}
    paths: dict[str, tuple[str, ...]] = {}
    for memory, weight, path in (
        *_entity_paths(reader, query, seeds, memories),
        *_title_paths(reader, query, seeds, titles, memories),
    ):
        if memory != path[0] and round_score(weight) > raws.get(memory, 0.0):
            raws[memory], paths[memory] = round_score(weight), path
    if not raws:
        return None
    scored = GraphScores(raws)
    return GraphRanking("graph", "graph", tuple(scored.top(len(raws))), scored, paths)


def _entity_paths(reader: Reader, query: str, seeds: Mapping[str, float], memories: int) -> GraphPaths:
    edges = reader.edges(list(seeds), ["references"], limit=MAX_FAN_OUT)
    ids = sorted({edge.dst for edge in edges})
    if not ids:
        return
    sizes = reader.degrees("references", ids)
    followed = [concept for concept in ids if 1 < sizes.get(concept, 0) <= HUB_SIZE]
    names = (
        {entity.id: entity.name for entity in merge_entities(reader.concepts(followed))} if followed else {}
    )
    unasked_names = {concept: name for concept, name in names.items() if not contains_phrase(query, name)}
    starts: dict[str, list[tuple[float, str]]] = {}
    for edge in edges:
        if edge.dst in unasked_names:
            weight = (
                seeds[edge.src] * reference_weight(edge.weight) * entity_weight(sizes[edge.dst], memories)
            )
            starts.setdefault(edge.dst, []).append((weight, edge.src))
    best = sorted(starts, key=lambda concept: (-max(starts[concept])[0], concept))[:MAX_FOLLOWED]
    for edge in reader.edges(best, ["references"], inward=True) if best else ():
        for weight, seed in starts[edge.dst]:
            if seed != edge.src:
                yield edge.src, weight * reference_weight(edge.weight), (seed, unasked_names[edge.dst])


def _title_paths(
    reader: Reader, query: str, seeds: Mapping[str, float], titles: Mapping[str, str], memories: int
) -> GraphPaths:
    names = {memory: name for memory, title in titles.items() if (name := _title_name(title))}
    if not names:
        return
    texts = {memory: record.content for memory, record in reader.get(list(seeds)).items()}
    joined = "\n".join(texts.values())
    matches: list[tuple[str, str, str]] = []
    for memory, name in names.items():
        if name not in joined:
            continue
        holders = [seed for seed, text in texts.items() if seed != memory and name in text]
        if holders:  # few titles are in any text: compiling a pattern for each took half of a search
            pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            holders = [seed for seed in holders if pattern.search(texts[seed])]
        if holders and not contains_phrase(query, name):
            matches.append((memory, name, max(holders, key=seeds.__getitem__)))
    for memory, name, seed in matches:
        words = query_groups(name, ["en", detect_language(name)])
        rare = min((df for df in reader.frequencies(words) if df), default=memories)
        yield memory, seeds[seed] * entity_weight(rare, memories), (seed, name)


def _title_name(title: str) -> str:
    """Return the name in a title, without a qualifier in parentheses; empty where it is no name."""
    name = _QUALIFIER.sub("", title)
    is_name = len(name) >= MIN_NAME_LENGTH and any(letter.isupper() or letter.isdigit() for letter in name)
    return name if is_name else ""


GRAPH_WEIGHT: Final = 2.0
"""Added to a passage by a certain and rare path. MuSiQue and HotpotQA rise from 1 on; beyond 2.5 sets of questions
with one answer fall (bench/LOG.md). Turns get nothing: BEAM loses .05 of R@5 by names that recur, and they have
neighbours."""
MAX_CLOSING: Final = 0.9
"""Maximum share of the distance to its seed that a path closes, so that the second step stays behind the first."""
COMPLETE_SHARE: Final = 0.8
"""Share of the question's idf in the best hit above which paths count less; at 1 no path is followed."""
MAX_NEW: Final = 20
"""Maximum number of memories that only the graph finds."""
ScoreIds = Callable[[Sequence[str]], tuple[ScoreTable, Mapping[str, RankingMetadata]]]


def expand_by_graph(
    reader: Reader,
    plan: QueryPlan,
    channels: ChannelResults,
    rows: ScoreTable,
    heads: Mapping[str, RankingMetadata],
    score: ScoreIds,
) -> tuple[ScoreTable, Mapping[str, RankingMetadata], Mapping[str, tuple[str, ...]]]:
    """Add graph parts to scored rows, and rows that only the graph finds; ``score`` scores those.

    Returns the rows, best first; their heads; and the path to each memory that one leads to.
    """
    rows = best_first(rows)
    best = list(islice((row for row in rows if row.head is not None and not row.head.turn), MAX_SEEDS))
    first = best[0].score if best else 0.0
    unanswered = _unanswered_share(channels, best[0].id) if first > 0 else 0.0
    if not unanswered:
        return rows, heads, {}
    shares = {row.id: max(row.score, 0.0) / first for row in best}
    titles = {row.id: row.head.title for row in rows if row.head is not None and row.head.title}
    ranking = rank_by_graph(plan, channels, reader, shares, titles)
    if ranking is None:
        return rows, heads, {}
    new_rows, new_heads = score(_unscored_ids(plan, reader, ranking, {row.id for row in rows}))
    heads = {**heads, **new_heads}
    path_scores = {hit.id: hit.score for hit in ranking.hits if hit.id in heads and not heads[hit.id].turn}
    seed_scores = {row.id: row.score for row in best}
    weight = GRAPH_WEIGHT * unanswered
    all_rows = [*rows, *(row for row in new_rows if row.id in path_scores)]
    for row in all_rows:
        if row.id in path_scores:
            # It puts no memory before the hit that the path begins with.
            distance = max(0.0, seed_scores[ranking.paths[row.id][0]] - row.score)
            gain = min(path_scores[row.id] * weight, MAX_CLOSING * distance)
            row.parts.append(("graph", path_scores[row.id], gain / weight, weight))
    return best_first(all_rows), heads, ranking.paths


def graph_ranking(
    plan: QueryPlan, channels: ChannelResults, reader: Reader, ids: Sequence[str]
) -> GraphRanking | None:
    """Rank by paths from the nearest hits, all weighing the same, as Kit does; without a model from those by words.

    None where no path leads on, or the graph has no weight.
    """
    by_kind = {ranking.kind: ranking for ranking in channels.rankings}
    first = by_kind.get("vector") or by_kind.get("bm25")
    if first is None or not plan.weights.get("graph"):
        return None
    titles = {memory: head.title for memory, head in reader.ranking_metadata(ids).items() if head.title}
    shares = {hit.id: 1.0 for hit in first.hits[:MAX_SEEDS]}
    ranking = rank_by_graph(plan, channels, reader, shares, titles)
    if ranking is None:
        return None
    wanted = {*ids, *_unscored_ids(plan, reader, ranking, set(ids))}
    return replace(ranking, hits=tuple(hit for hit in ranking.hits if hit.id in wanted))


def _unscored_ids(plan: QueryPlan, reader: Reader, ranking: GraphRanking, known: Set[str]) -> list[str]:
    ids = [hit.id for hit in ranking.hits if hit.id not in known][:MAX_NEW]
    return filter_records(reader, plan.where, reader.get(ids) if ids else {})


def _unanswered_share(channels: ChannelResults, best: str) -> float:
    """Return how open the best hit leaves a question, 0 to 1, by the words that it does not hold."""
    if channels.terms is None:
        return 1.0
    rarity = channels.rarity
    total = math.fsum(rarity)
    (group_scores,) = channels.terms.scored.group_scores([best])
    covered = math.fsum(weight for weight, score in zip(rarity, group_scores, strict=True) if score)
    return min(1.0, (1.0 - covered / total) / (1.0 - COMPLETE_SHARE)) if total else 1.0
