"""Bridged: memories that are judged -> the same and more, with what the best of them lead on to."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from scrubjay.recall.channelled import Heard
from scrubjay.recall.channels.graph import SEEDS, GraphRanking, graph
from scrubjay.recall.plan import Plan
from scrubjay.recall.slate import Row, Slate, ordered
from scrubjay.store.base import Head, Reader
from scrubjay.store.paths import passes

BRIDGE: Final = 2.0
"""What a way that is sure and rare adds to a passage, on z-scores. MuSiQue and HotpotQA rise from 1 on; beyond 2.5 sets
of questions with one answer fall (bench/LOG.md). Turns of a conversation get nothing: BEAM loses .05 of R@5 by names
that are said again and again, and their neighbours lead on."""
CLOSER: Final = 0.9
"""Share of the distance to the hit that it began with which a second step closes at most: it stands behind that, and
among several the better by itself is first."""
COMPLETE: Final = 0.8
"""Share of the question's idf above which the best hit leaves less and less to look for: at 1 the question names
nothing that it does not hold, and no second step is taken."""
NEW: Final = 20
"""Memories that no other channel found and a way leads to, the best, that are looked at."""


@dataclass(frozen=True, slots=True)
class Bridged:
    """Memories, what is known of them without their texts, and the way to each that one leads to.

    Attributes:
        rows: Memories; best first.
        heads: What is known of them.
        ways: Memory to the hit and the name that led to it.
    """

    rows: Slate
    heads: Mapping[str, Head]
    ways: Mapping[str, tuple[str, ...]]


Judge = Callable[[Sequence[str]], tuple[Slate, Mapping[str, Head]]]


def bridged(
    made: Plan, heard: Heard, reader: Reader, judged: tuple[Slate, Mapping[str, Head]], judge: Judge
) -> Bridged:
    """Add what ways from the best passages are worth, to memories and to what they lead to beside.

    Args:
        made: The query made ready.
        heard: What the other channels said.
        reader: What is visible.
        judged: Memories as they stand without ways, and their heads.
        judge: What judges memories that the other channels did not find.
    """
    found, heads = ordered(judged[0]), judged[1]
    best = list(islice((one for one in found if not _is_turn(heads, one.id)), SEEDS))
    first = best[0].score if best else 0.0
    open_ = _open(heard, best[0].id) if first > 0 else 0.0
    if not open_:
        return Bridged(found, heads, {})
    shares = {one.id: max(one.score, 0.0) / first for one in best}
    titles = {one.id: heads[one.id].title for one in found if one.id in heads and heads[one.id].title}
    led = _led(made, heard, reader, shares, titles)
    if led is None:
        return Bridged(found, heads, {})
    held = {one.id for one in found}
    new, beside = judge(allowed(made, reader, [hit.id for hit in led.hits if hit.id not in held][:NEW]))
    heads = {**heads, **beside}
    raws = {hit.id: hit.score for hit in led.hits if not _is_turn(heads, hit.id)}
    begun = {one.id: one.score for one in best}
    every = [*found, *(one for one in new if one.id in raws)]
    for one in every:
        if one.id in raws:
            _lead_to(one, raws[one.id], BRIDGE * open_, begun[led.ways[one.id][0]])
    return Bridged(ordered(every), heads, led.ways)


def _lead_to(one: Row, way: float, weight: float, seed: float) -> None:
    """Add what a way to a memory is worth: no second step stands before the hit that it began with."""
    worth = min(way * weight, CLOSER * max(0.0, seed - one.score))
    one.parts.append(("graph", way, worth / weight, weight))


def ranked_by_ways(made: Plan, heard: Heard, reader: Reader, ids: Sequence[str]) -> GraphRanking | None:
    """Rank by ways from the hits nearest in meaning, all alike, as Kit does; without a model from those by words.

    None where no way leads on, or the graph has no weight.

    Args:
        made: The query made ready.
        heard: What the other channels said.
        reader: What is visible.
        ids: What they found.
    """
    by_kind = {ranking.kind: ranking for ranking in heard.rankings}
    first = by_kind.get("vector") or by_kind.get("bm25")
    if first is None or not made.weights.get("graph"):
        return None
    titles = {memory: head.title for memory, head in reader.heads(ids).items() if head.title}
    led = _led(made, heard, reader, {hit.id: 1.0 for hit in first.hits[:SEEDS]}, titles)
    if led is None:
        return None
    held = set(ids)
    beside = set(allowed(made, reader, [hit.id for hit in led.hits if hit.id not in held][:NEW]))
    return replace(led, hits=tuple(hit for hit in led.hits if hit.id in held or hit.id in beside))


def _led(
    made: Plan, heard: Heard, reader: Reader, shares: Mapping[str, float], titles: Mapping[str, str]
) -> GraphRanking | None:
    """Rank by ways from seeds, given by id and share."""
    memories = heard.words.words.memories if heard.words is not None else reader.counts().memories
    return graph(reader, made.query.text, shares, titles, memories)


def allowed(made: Plan, reader: Reader, ids: Sequence[str]) -> list[str]:
    """Return those of these memories that pass the caller's filters."""
    records = reader.get(ids) if ids else {}
    kept = [memory for memory, record in records.items() if passes(record, made.where)]
    if made.where.categories and kept:
        edges = reader.edges(kept, ["belongs"])
        filed: Collection[str] = {edge.src for edge in edges if edge.dst in made.where.categories}
        kept = [memory for memory in kept if memory in filed]
    return kept


def _open(heard: Heard, best: str) -> float:
    """Return how far the best hit leaves a question open, 0 to 1, by the words that it does not hold."""
    if heard.words is None:
        return 1.0
    rarity = heard.rarity
    total = math.fsum(rarity)
    (parts,) = heard.words.words.parts([best])
    held = math.fsum(weight for weight, part in zip(rarity, parts, strict=True) if part)
    return min(1.0, (1.0 - held / total) / (1.0 - COMPLETE)) if total else 1.0


def _is_turn(heads: Mapping[str, Head], memory: str) -> bool:
    return memory not in heads or heads[memory].turn
