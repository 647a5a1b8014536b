"""Ties: the concepts that most memories refer to -> which of them are referred to together.

Counted from a bounded number of memories: of each concept those that name it most, the fewer the more concepts there
are. So it takes as long in a large store as in a small one, but for the count that says which concepts come first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Final

from scrubjay.memory.looks import Tie, Web
from scrubjay.recall.webs import concepts
from scrubjay.store.base import Reader

LOOKED_AT: Final = 4_000
"""Memories that are looked at, all concepts together: tens of milliseconds."""
LEAST_EACH: Final = 2
MOST_EACH: Final = 60
A_CONCEPT: Final = 3
"""Ties that are shown, times the number of concepts: more cannot be told apart."""
CROWD: Final = 40
"""Concepts of one memory that are paired: a glossary ties everything to everything."""


def ties(reader: Reader, most: int, query: str = "") -> Web:
    """Return the concepts that most memories refer to, and what ties them.

    Args:
        reader: What is visible.
        most: Most concepts.
        query: Only those with this in their name or in an alias, in any case.
    """
    every = concepts(reader, query)
    shown = every[:most]
    if not shown:
        return Web((), (), 0, 0)
    each = min(MOST_EACH, max(LEAST_EACH, LOOKED_AT // len(shown)))
    wanted = {known.id for known in shown}
    heavy = reader.edges([known.id for known in shown], ["references"], inward=True, limit=each)
    memories = sorted({edge.src for edge in heavy})
    named: dict[str, set[str]] = defaultdict(set)
    for edge in reader.edges(memories, ["references"]):
        if edge.dst in wanted:
            named[edge.src].add(edge.dst)
    pairs = Counter(
        pair for found in named.values() if len(found) <= CROWD for pair in combinations(sorted(found), 2)
    )
    degrees = {known.id: known.memories for known in shown}
    # What is often with everything is close to nothing: Salton's cosine.
    close = sorted(
        pairs, key=lambda pair: (-(pairs[pair] ** 2) / (degrees[pair[0]] * degrees[pair[1]]), pair)
    )
    kept = tuple(Tie(*pair, pairs[pair]) for pair in close[: A_CONCEPT * len(shown)])
    return Web(tuple(shown), kept, len(every), len(memories))
