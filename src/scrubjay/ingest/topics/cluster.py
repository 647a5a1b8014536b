"""Cluster: memories' features -> topics, and themes above them.

The tree of average linkage is cut twice, where the modularity of the graph of nearest neighbours is greatest
(Newman and Girvan, 2004; with a resolution, Reichardt and Bornholdt, 2006):

    sum over clusters of inside / all - resolution * (degrees / all) ** 2

with each edge weighed by its similarity. The cut thus follows what is there: thirty memories about one
program fall into five topics, three hundred turns of thirty conversations into thirty. Resolutions of 1.5 to
3 and 3 to 5 neighbours give nearly the same cuts. Best silhouette cut far too fine (237 clusters of 577
notes), a fixed threshold suits one size of store only.

What is in too small a cluster is in none. A cut into one cluster is no cut: then there are no topics.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scrubjay.ingest.topics.leaf import Matrix
from scrubjay.ingest.topics.linkage import Merge, linkage

NEIGHBOURS: Final = 5
TOPICS: Final = 2.0
"""Resolution of the cut into topics."""
THEMES: Final = 0.5
"""Resolution of the cut into themes: of 577 notes 21 to 42 topics, 6 to 9 themes."""
MOST: Final = 2_000
"""Points of one tree: 16 MB of similarities and about half a second. Of more a sample is taken, the
rest joins by centroid."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """Two levels of clusters.

    Attributes:
        topics: Rows of each topic, ascending; the largest topic first, then the one with the smallest row.
        themes: Indexes into ``topics`` of each theme; a topic without a theme is in none.
    """

    topics: tuple[tuple[int, ...], ...] = ()
    themes: tuple[tuple[int, ...], ...] = ()


def least(total: int) -> int:
    """Return how many memories make a topic among ``total``: 2 of 30, 3 of 100, 5 of 2,000, 8 of 100,000."""
    return max(2, int(math.log2(max(2, total)) / 2))


def sample(ids: Sequence[str]) -> list[int]:
    """Return the rows that the tree is made of: all, or those of the ``MOST`` smallest hashes of their ids."""
    if len(ids) <= MOST:
        return list(range(len(ids)))
    digests = [hashlib.blake2b(one.encode(), digest_size=8).digest() for one in ids]
    return sorted(sorted(range(len(ids)), key=lambda row: (digests[row], ids[row]))[:MOST])


def cluster(rows: Matrix) -> Clusters:
    """Find the topics among some points.

    Args:
        rows: Unit rows, (n, d), in an order that depends on nothing but the memories (by id); rows of zeros
            are in no topic.
    """
    points = np.flatnonzero(np.any(rows != 0, axis=1))
    if len(points) < 4:  # two topics of two
        return Clusters()
    some = rows[points]
    similarity = some @ some.T  # of one array with itself: half the work
    graph = _graph(similarity)
    merges = linkage(similarity)
    fine, coarse = _cuts(merges, graph)
    found = [group for group in groups_of(merges[:fine], len(points)) if len(group) >= least(len(points))]
    found.sort(key=lambda group: (-len(group), group))
    if len(found) == 1 and len(found[0]) == len(points):
        return Clusters()
    topics = tuple(tuple(int(points[place]) for place in group) for group in found)
    home = {
        place: number
        for number, group in enumerate(groups_of(merges[:coarse], len(points)))
        for place in group
    }
    themes: dict[int, list[int]] = defaultdict(list)
    for number, group in enumerate(found):
        themes[home[group[0]]].append(number)
    broad = [tuple(theme) for theme in themes.values() if 1 < len(theme) < len(topics)]
    return Clusters(topics, tuple(broad))


def _graph(similarity: Matrix) -> list[dict[int, float]]:
    """Return each point's edges: to its nearest neighbours and to whom it is one, none below zero."""
    edges: list[dict[int, float]] = [{} for _ in similarity]
    own = similarity.copy()
    np.fill_diagonal(own, -np.inf)
    everyone = np.arange(len(own))
    for _ in range(min(NEIGHBOURS, len(own) - 1)):
        nearest = own.argmax(axis=1)  # of equal ones the first
        weights = own[everyone, nearest]
        own[everyone, nearest] = -np.inf
        for point, other, weight in zip(everyone.tolist(), nearest.tolist(), weights.tolist(), strict=True):
            if weight > 0:
                edges[point][other] = edges[other][point] = weight
    return edges


def _cuts(merges: Sequence[Merge], graph: list[dict[int, float]]) -> tuple[int, int]:
    """Return after how many merges the modularity is greatest, for topics and for themes."""
    degree = [math.fsum(edges.values()) for edges in graph]
    whole = math.fsum(degree)
    if whole == 0:
        return 0, 0
    home = list(range(len(graph)))
    between = [dict(edges) for edges in graph]
    worth, best, cuts = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for number, merge in enumerate(merges, 1):
        left, right = _root(home, merge.left), _root(home, merge.right)
        if len(between[left]) < len(between[right]):
            left, right = right, left
        shared = 2 * between[left].pop(right, 0.0) / whole
        chance = 2 * degree[left] * degree[right] / whole**2
        for level, resolution in enumerate((TOPICS, THEMES)):
            worth[level] += shared - resolution * chance
            if worth[level] > best[level] + 1e-12:
                best[level], cuts[level] = worth[level], number
        between[right].pop(left, None)
        for other, weight in between[right].items():
            del between[other][right]
            between[left][other] = between[other][left] = between[left].get(other, 0.0) + weight
        between[right] = {}
        degree[left] += degree[right]
        home[right] = left
    return cuts[0], cuts[1]


def groups_of(merges: Sequence[Merge], points: int) -> list[list[int]]:
    """Return the points of each cluster after these merges, by their smallest."""
    home = list(range(points))
    for merge in merges:
        home[_root(home, merge.right)] = _root(home, merge.left)
    groups: dict[int, list[int]] = defaultdict(list)
    for point in range(points):
        groups[_root(home, point)].append(point)
    return list(groups.values())


def _root(home: list[int], point: int) -> int:
    while home[point] != point:
        home[point] = home[home[point]]
        point = home[point]
    return point
