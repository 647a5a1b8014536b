"""Lent: what speaks for memories, and what led to them -> the same, with the relevance that a second step is lent.

Who is asked for the mayor of the town where a painter was born is answered by a memory that names no painter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

from scrubjay.memory.ranking import LINK, Candidate
from scrubjay.recall.relevance import Sign


def leads(
    shown: Iterable[str], every: Sequence[Candidate], ways: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return what led to memories, by a way or a link that their score has a part of, and what led to that, and so on.

    Args:
        shown: Memories.
        every: All candidates.
        ways: Memory to the hit and the name that led to it.
    """
    scored = {one.id: one for one in every}
    found: dict[str, tuple[str, ...]] = {}
    waiting = list(shown)
    while waiting:
        memory = waiting.pop()
        if memory in found or memory not in scored:
            continue
        parts = [part.channel for part in scored[memory].contributions if part.amount > 0]
        by = [channel.removeprefix(LINK) for channel in parts if channel.startswith(LINK)]
        by += ways.get(memory, ())[:1] if "graph" in parts else ()
        found[memory] = tuple(dict.fromkeys(by))
        waiting += by
    return {memory: by for memory, by in found.items() if by}


def lent(signs: Mapping[str, Sign], led: Mapping[str, Sequence[str]]) -> dict[str, Sign]:
    """Return the signs with the relevance of the best that led to each; nothing is lent more than that has.

    The most relevant lend first, so that what is lent is lent on, and two that lead to each other gain nothing.

    Args:
        signs: What speaks for memories, and for those that led to them.
        led: Memory to those that led to it.
    """
    found = dict(signs)
    onward: defaultdict[str, list[str]] = defaultdict(list)
    for memory, by in led.items():
        for referrer in by:
            onward[referrer].append(memory)
    heap = [(-sign.relevance, memory) for memory, sign in found.items()] if onward else []
    heapify(heap)
    done: set[str] = set()
    while heap:
        minus, referrer = heappop(heap)
        done.add(referrer)
        for memory in onward.pop(referrer, ()):
            if memory not in found or memory in done:
                continue
            raised = replace(found[memory], lent=-minus)
            if raised.relevance > found[memory].relevance:
                found[memory] = raised
                heappush(heap, (-raised.relevance, memory))
    return found
