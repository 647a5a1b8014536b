"""Build: all memories of one key -> its topics and themes; what stood before keeps its id and name.

The order in which memories come changes nothing. A new cluster goes on from the old category that it shares
most of its members with, if those are more than half of either; so a rebuild after some growth renames what
has become something else, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from scrubjay.errors import InputError
from scrubjay.ingest.topics.cluster import cluster, sample
from scrubjay.ingest.topics.features import features
from scrubjay.ingest.topics.join import join
from scrubjay.ingest.topics.leaf import Known, Leaf, Matrix, Topic, unit
from scrubjay.ingest.topics.name import name, worths
from scrubjay.ingest.topics.overview import listed, overview


def build(leaves: Sequence[Leaf], vectors: Matrix, old: Sequence[Known] = ()) -> tuple[Topic, ...]:
    """Find, name and describe the topics of some memories.

    Args:
        leaves: The memories, each once.
        vectors: The direction of each, unit rows of one model, or zeros, (n, d).
        old: What a build before made of them.

    Returns:
        Themes, then topics, the largest first; empty where there are too few memories, or all are alike.

    Raises:
        InputError: There are not as many vectors as memories, or an id comes twice.
    """
    if len(vectors) != len(leaves) or len({leaf.id for leaf in leaves}) != len(leaves):
        raise InputError(f"{len(leaves)} memories came with {len(vectors)} vectors, or one came twice.")
    order = sorted(range(len(leaves)), key=lambda row: leaves[row].id)
    ordered, rows = [leaves[row] for row in order], np.asarray(vectors, dtype=np.float32)[order]
    members, themes = _found([leaf.id for leaf in ordered], ordered, rows)
    parents = [[row for topic in theme for row in members[topic]] for theme in themes]
    known_themes = [one for one in old if one.theme]
    known_topics = [one for one in old if not one.theme]
    same = match(ordered, members, known_topics)
    staying = [one.name for one in same if one is not None]
    above = describe(ordered, rows, parents, match(ordered, parents, known_themes), taken=staying)
    home = {topic: above[number].name for number, theme in enumerate(themes) for topic in theme}
    topics = describe(ordered, rows, members, same, taken=home.values())
    return (
        *(
            replace(
                theme,
                members=(),
                weights=(),
                abstract=listed(theme.name, [topics[one].name for one in below]),
            )
            for theme, below in zip(above, themes, strict=True)
        ),
        *(replace(topic, parent=home.get(number)) for number, topic in enumerate(topics)),
    )


def _found(
    ids: Sequence[str], leaves: Sequence[Leaf], vectors: Matrix
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the rows of each topic, and the topics of each theme."""
    chosen = sample(ids)
    clusters = cluster(features(vectors[chosen], [leaves[row].terms for row in chosen]))
    members = [[chosen[place] for place in topic] for topic in clusters.topics]
    if not members:
        return [], []
    placed = {row for rows in members for row in rows}
    rest = [row for row in range(len(ids)) if row not in placed]
    near = join(vectors[rest], _centroids(vectors, members), [len(rows) for rows in members])
    for row, topic in zip(rest, near, strict=True):
        if topic >= 0:
            members[topic].append(row)
    return [sorted(rows) for rows in members], [list(theme) for theme in clusters.themes]


def match(
    leaves: Sequence[Leaf], groups: Sequence[Sequence[int]], old: Sequence[Known]
) -> list[Known | None]:
    """Return for each group the category it goes on from: one to one, the largest overlaps first."""
    ids = [{leaves[row].id for row in group} for group in groups]
    pairs = sorted(
        (-shared, one.id, number)
        for number, group in enumerate(ids)
        for one in old
        if 2 * (shared := len(group & one.members)) > min(len(group), len(one.members))
    )
    by_id = {one.id: one for one in old}
    found: list[Known | None] = [None] * len(groups)
    for _, known, number in pairs:
        if found[number] is None and known in by_id:
            found[number] = by_id.pop(known)
    return found


def describe(
    leaves: Sequence[Leaf],
    vectors: Matrix,
    groups: Sequence[Sequence[int]],
    known: Sequence[Known | None],
    *,
    taken: Iterable[str] = (),
    others: Iterable[Leaf] = (),
) -> list[Topic]:
    """Name and describe groups of rows; those that go on from a known category keep its name.

    Args:
        leaves: Memories, also those in no group.
        vectors: Their directions.
        groups: Rows of each.
        known: What each goes on from.
        taken: Names in use elsewhere.
        others: More memories that are in none of the groups.
    """
    centroids = _centroids(vectors, groups)
    nearness = [vectors[list(group)] @ centroids[number] for number, group in enumerate(groups)]
    central = [
        [leaves[row] for _, row in sorted(zip((-near).tolist(), group, strict=True))]
        for group, near in zip(groups, nearness, strict=True)
    ]
    placed = {row for group in groups for row in group}
    rest = chain((leaf for row, leaf in enumerate(leaves) if row not in placed), others)
    used = {*taken, *(one.name for one in known if one is not None)}
    topics = []
    for number, worth in enumerate(worths(central, rest)):
        before = known[number]
        label = before.name if before else name(central[number], worth, used)
        used.add(label)
        weights = tuple(float(min(1.0, max(0.0, near))) for near in nearness[number])
        ids = tuple(leaves[row].id for row in groups[number])
        told = overview(label, central[number], worth)
        topics.append(
            Topic(label, *told, ids, weights, centroids[number], None, before.id if before else None)
        )
    return topics


def _centroids(vectors: Matrix, groups: Sequence[Sequence[int]]) -> Matrix:
    if not groups:
        return np.zeros((0, vectors.shape[1]), dtype=np.float32)
    return unit(np.stack([vectors[list(group)].sum(axis=0) for group in groups]))
