"""Worths: the memories of each topic -> what each term tells of it.

A term tells of a topic by how many of its memories hold it and how few of the others do,

    share inside * log(share inside / share outside) * (1 + share of the topic's titles that hold it)

(a term's part of the divergence between the two).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scrubjay.ingest.topics.bags import Bags
from scrubjay.ingest.topics.leaf import Leaf

MOST: Final = 300
"""Terms of one topic that are kept: names take three of the first, sentences are rated by all."""
TITLED: Final = 60
"""Of these, terms that are looked up in titles."""

Worth = dict[str, float]
"""Term to what it tells, above zero, the best first."""


def worths(groups: Sequence[Sequence[int]], leaves: Sequence[Leaf], bags: Bags) -> list[Worth]:
    """Return what terms tell of each topic.

    Args:
        groups: Rows of each topic's memories; none empty.
        leaves: All memories; what those in no topic say is not distinctive either.
        bags: Their terms.
    """
    everywhere = bags.held()
    starts = np.searchsorted(bags.rows, np.arange(bags.size + 1))
    return [
        _worth(
            [leaves[row] for row in group],
            np.concatenate([bags.terms[starts[row] : starts[row + 1]] for row in group]),
            everywhere,
            bags,
        )
        for group in groups
    ]


def _worth(
    group: Sequence[Leaf],
    inside: np.ndarray[tuple[int], np.dtype[np.intp]],
    everywhere: np.ndarray[tuple[int], np.dtype[np.intp]],
    bags: Bags,
) -> Worth:
    held = np.bincount(inside, minlength=len(bags.words))
    shared = np.flatnonzero(held > 1)
    share = held[shared] / len(group)
    outside = (everywhere[shared] - held[shared] + 0.5) / (bags.size - len(group) + 1)
    telling = share > outside
    shared, share, outside = shared[telling], share[telling], outside[telling]
    worth = share * np.log(share / outside)
    best = np.argsort(-worth, kind="stable")[:MOST]
    found = {bags.words[shared[place]]: float(worth[place]) for place in best.tolist()}
    titles = "\n".join(leaf.title for leaf in group).casefold()
    for term in list(found)[:TITLED]:
        found[term] *= 1 + min(1.0, titles.count(term) / len(group))
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))
