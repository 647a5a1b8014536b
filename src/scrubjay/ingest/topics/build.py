"""Build: all memories of one key -> its topics and themes; what stood before keeps its id and name.

The order in which memories come changes nothing. A new cluster goes on from the old category that it shares
most of its members with, if those are more than half of either; so a rebuild after some growth renames what
has become something else, and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from scrubjay.errors import InputError
from scrubjay.ingest.directions import unit
from scrubjay.ingest.topics.bags import Bags, bags
from scrubjay.ingest.topics.cluster import cluster, sample
from scrubjay.ingest.topics.features import features
from scrubjay.ingest.topics.join import join
from scrubjay.ingest.topics.leaf import Known, Leaf, Matrix, Topic
from scrubjay.ingest.topics.name import name
from scrubjay.ingest.topics.overview import listed, overview
from scrubjay.ingest.topics.spell import said
from scrubjay.ingest.topics.worths import worths


def build(
    leaves: Sequence[Leaf],
    vectors: Matrix,
    old: Sequence[Known] = (),
    *,
    finer: Matrix | None = None,
    plain: Collection[str] = frozenset(),
) -> tuple[Topic, ...]:
    """Find, name and describe the topics of some memories.

    Args:
        leaves: The memories, each once.
        vectors: The direction of each, unit rows of the model in which memories join topics, or zeros, (n, d).
        old: What a build before made of them.
        finer: Directions of a model that tells more apart, by which topics are found; None takes ``vectors``.
        plain: Folded words that name nothing.

    Returns:
        Themes, then topics, the largest first; empty where there are too few memories, or all are alike.

    Raises:
        InputError: There are not as many vectors as memories, or an id comes twice.
    """
    found = vectors if finer is None else finer
    if not len(vectors) == len(found) == len(leaves) == len({leaf.id for leaf in leaves}):
        raise InputError(f"{len(leaves)} memories came with {len(vectors)} vectors, or one came twice.")
    order = sorted(range(len(leaves)), key=lambda row: leaves[row].id)
    ordered, rows = [leaves[row] for row in order], np.asarray(vectors, dtype=np.float32)[order]
    counted = bags(leaf.terms for leaf in ordered)
    members, themes = _found(ordered, counted, rows, np.asarray(found, dtype=np.float32)[order])
    parents = [[row for topic in theme for row in members[topic]] for theme in themes]
    known_themes = [one for one in old if one.theme]
    known_topics = [one for one in old if not one.theme]
    teller = Teller(ordered, counted, rows, plain)
    same = match(ordered, members, known_topics)
    staying = [one.name for one in same if one is not None]
    above = teller.describe(parents, match(ordered, parents, known_themes), taken=staying)
    home = {topic: above[number].name for number, theme in enumerate(themes) for topic in theme}
    topics = teller.describe(members, same, taken=home.values())
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
    leaves: Sequence[Leaf], counted: Bags, vectors: Matrix, finer: Matrix
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the rows of each topic, and the topics of each theme."""
    chosen = sample([leaf.id for leaf in leaves])
    clusters = cluster(features(finer[chosen], counted if len(chosen) == len(leaves) else counted.of(chosen)))
    members = [[chosen[place] for place in topic] for topic in clusters.topics]
    if not members:
        return [], []
    placed = {row for rows in members for row in rows}
    rest = [row for row in range(len(leaves)) if row not in placed]
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


class Teller:
    """Names and describes groups of memories."""

    def __init__(
        self, leaves: Sequence[Leaf], counted: Bags, vectors: Matrix, plain: Collection[str]
    ) -> None:
        """Args: all memories, their terms, their directions, words that name nothing."""
        self._leaves = leaves
        self._counted = counted
        self._vectors = vectors
        self._plain = plain

    def describe(
        self, groups: Sequence[Sequence[int]], known: Sequence[Known | None], *, taken: Iterable[str] = ()
    ) -> list[Topic]:
        """Return groups of rows as topics; those that go on from a known category keep its name.

        Args:
            groups: Rows of each.
            known: What each goes on from.
            taken: Names in use elsewhere.
        """
        leaves, vectors = self._leaves, self._vectors
        centroids = _centroids(vectors, groups)
        nearness = [
            vectors[list(group)].astype(np.float64) @ centroids[number].astype(np.float64)
            for number, group in enumerate(groups)
        ]
        used = {*taken, *(one.name for one in known if one is not None)}
        held = Counter(
            title for group in groups for title in {leaves[row].title.strip().casefold() for row in group}
        )
        elsewhere = {title for title, times in held.items() if times > 1}
        topics = []
        for number, worth in enumerate(worths(groups, leaves, self._counted)):
            order = sorted(zip((-nearness[number]).tolist(), groups[number], strict=True))
            central = [leaves[row] for _, row in order]
            told = said(central, worth)
            before = known[number]
            titles = [leaf.title for leaf in central]
            label = before.name if before else name(told, titles, used, self._plain)
            used.add(label)
            topics.append(
                Topic(
                    label,
                    *overview(label, central, told, elsewhere),
                    tuple(leaves[row].id for row in groups[number]),
                    tuple(float(min(1.0, max(0.0, near))) for near in nearness[number]),
                    centroids[number],
                    None,
                    before.id if before else None,
                )
            )
        return topics


def _centroids(vectors: Matrix, groups: Sequence[Sequence[int]]) -> Matrix:
    if not groups:
        return np.zeros((0, vectors.shape[1]), dtype=np.float32)
    # Summed in twice the digits: the order of the ids, which differs between stores, shall not be felt.
    return unit(np.stack([vectors[list(group)].sum(axis=0, dtype=np.float64) for group in groups]))
