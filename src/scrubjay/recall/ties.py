"""Ties: the concepts that most memories refer to -> which of them are referred to together.

Counted from a bounded number of memories: a share of all, chosen by the digits of their ids and so by chance, and all
that refer to a rare concept. So it takes as long in a large store as in a small one, but for the count that says which
concepts come first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Final

from scrubjay.memory.looks import Tie, Web
from scrubjay.recall.webs import concepts
from scrubjay.store.base import Reader

LOOKED_AT: Final = 3_000
"""Memories of the share: a name that one in a hundred holds is met thirty times."""
RARE: Final = 40
"""Memories of a concept that are all looked at: fewer of them than a few would be in the share."""
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
    wanted = {known.id for known in shown}
    rare = [known.id for known in shown if known.memories <= RARE]
    memories = {edge.src for edge in reader.edges(rare, ["references"], inward=True)}
    memories |= {record.id for record in reader.page("", LOOKED_AT)}
    named: dict[str, set[str]] = defaultdict(set)
    for edge in reader.edges(sorted(memories), ["references"]):
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
