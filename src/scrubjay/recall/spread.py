"""Spread: what a search found -> what stands in connection with it, each memory with the way that led to it.

A hop goes from memory to memory: along an edge between the two, or over a concept that both refer to; over two
related concepts it is two hops. Of each step only the best few are followed, whatever a memory or a concept is
joined with, so that a concept of a hundred thousand memories costs no more than one of a hundred: of its memories
those are looked at that name it most and those that the query found by itself; of very many, the latter alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from scrubjay.memory.concepts import united
from scrubjay.memory.threads import Reached, Step
from scrubjay.recall.ways import KIND, Best, Way, Web, named, telling
from scrubjay.store.base import Reader

SHARE: Final = 0.8
"""What a memory is given of the score that is carried to it."""
OWN: Final = 1.0
"""What its own score weighs beside that."""
TYPED: Final = ("contradicts", "derived_from", "links", "similar", "supersedes")
CHAINS: Final = ("session", "document")
"""Chains that are followed; neighbours in a project's calendar are mostly of other matters."""
STARTS: Final = 8
"""Memories of each hop that the next one starts from, the best first."""
MEMBERS: Final = 4
"""Times ``fan_out``: memories of a concept that are looked at because they name it most."""
HUB: Final = 2_000
"""Memories above which a concept's are no longer ordered by how much they name it: of such a one, those are looked at
that the query found by itself."""
LEAST_ASSOCIATION: Final = 0.1
"""Relations below it are not followed."""


def spread(seeds: Mapping[str, float], web: Web, hops: int) -> list[Reached]:
    """Return the seeds and what can be come to from them, best first, ties to the smaller id.

    Args:
        seeds: Memories of the search to their scores.
        web: Where to look.
        hops: Most hops from a seed.
    """
    found = {memory: Reached(memory, score, memory, found=True) for memory, score in seeds.items()}
    last = list(found.values())
    concepts: dict[str, Way] = {}
    for hop in range(1, hops + 1):
        starts = {one.id: _onward(one, seeds) for one in _sorted(last)[:STARTS]}
        near = _concepts(web, starts)
        over = Best(dict(near))
        for concept, way in _related(web, concepts):
            over.offer(concept, way)
        best = Best()
        for memory, way in (*_along(web, starts), *_members(web, over.ways)):
            if memory != way.seed and all(step.id != memory for step in way.path[:-1]):
                best.offer(memory, way)
        better = _reached(web, best, hop, seeds)
        last = [one for one in better if one.id not in found or one.score > found[one.id].score]
        found |= {one.id: one for one in last}
        concepts = near
    return _sorted(found.values())


def _onward(one: Reached, seeds: Mapping[str, float]) -> Way:
    """Return the way on from a memory: what led to it, or one that begins with itself where that carries more."""
    own = max(seeds.get(one.id, 0.0), 0.0)
    return Way(one.id, (), own) if own >= one.carried else Way(one.seed, one.path, one.carried)


def _sorted(found: Iterable[Reached]) -> list[Reached]:
    return sorted(found, key=lambda one: (-one.score, one.id))


def _reached(web: Web, best: Best, hop: int, seeds: Mapping[str, float]) -> Iterator[Reached]:
    own = web.measure(list(best.ways))
    for memory, score in own.items():
        way = best.ways[memory]
        # What does not fit the question by itself may still be what led to the answer.
        yield Reached(
            memory, max(score, 0.0), way.seed, way.path, hop, way.carried, SHARE, OWN, memory in seeds
        )


def _along(web: Web, starts: Mapping[str, Way]) -> Iterator[tuple[str, Way]]:
    """Follow edges between memories, and what comes before and after, both ways."""
    for inward in (False, True):
        for edge in web.reader.edges(list(starts), TYPED, inward=inward, limit=web.fan_out):
            here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
            step = Step(edge.kind, "from" if inward else "to", there, "", KIND[edge.kind] * edge.weight)
            yield there, starts[here].on(step)
    for edge in web.reader.follows(list(starts)) if starts else ():
        if edge.rule not in CHAINS:
            continue
        for here, there, direction in ((edge.src, edge.dst, "to"), (edge.dst, edge.src, "from")):
            if here in starts:
                yield there, starts[here].on(Step("follows", direction, there, "", KIND["follows"]))


def _concepts(web: Web, starts: Mapping[str, Way]) -> dict[str, Way]:
    """Return the concepts that say most of those that the memories refer to."""
    edges = web.reader.edges(list(starts), ["references"], limit=web.fan_out)
    ids = sorted({edge.dst for edge in edges})
    names = _names(web.reader, ids)
    held = web.reader.degrees("references", ids) if ids else {}
    best = Best()
    for edge in edges:
        if edge.dst in names:
            weight = KIND["references"] * named(edge.weight) * telling(held.get(edge.dst, 1), web.memories)
            step = Step("references", "to", edge.dst, names[edge.dst], weight)
            best.offer(edge.dst, starts[edge.src].on(step))
    return best.first(web.fan_out)


def _related(web: Web, concepts: Mapping[str, Way]) -> Iterable[tuple[str, Way]]:
    """Return the concepts most closely related to those of the hop before."""
    best = Best()
    for concept, way in concepts.items():
        for near in web.related(concept)[: web.fan_out]:
            if near.association >= LEAST_ASSOCIATION and near.id not in concepts:
                weight = KIND["related_to"] * near.association
                best.offer(near.id, way.on(Step("related_to", "to", near.id, near.name, weight)))
    return best.first(web.fan_out).items()


def _members(web: Web, concepts: Mapping[str, Way]) -> Iterator[tuple[str, Way]]:
    """Return of each concept the memories that the query fits best, of those that were looked at."""
    if not concepts:
        return
    sizes = web.reader.degrees("references", list(concepts))
    small = [concept for concept in concepts if sizes.get(concept, 0) <= HUB]
    edges = web.reader.edges(small, ["references"], inward=True, limit=MEMBERS * web.fan_out)
    edges += [e for e in web.reader.edges(list(web.pool), ["references"]) if e.dst in concepts]
    held: dict[str, dict[str, float]] = {}
    for edge in edges:
        held.setdefault(edge.dst, {})[edge.src] = edge.weight
    own = web.measure(sorted({memory for members in held.values() for memory in members}))
    for concept, members in held.items():
        ranked = sorted((-own[memory], memory) for memory in members if memory in own)
        for _, memory in ranked[: web.fan_out]:
            weight = KIND["references"] * named(members[memory])
            yield memory, concepts[concept].on(Step("references", "from", memory, "", weight))


def _names(reader: Reader, ids: Sequence[str]) -> dict[str, str]:
    return {concept.id: concept.name for concept in united(reader.concepts(ids))} if ids else {}
