"""Topics: find the topics of a visibility key and assign memories to them.

Nearness is the cosine after the middle of all topics is taken away, as in ``features``: raw cosines of one
person's texts are all high, and how high differs between models; centred ones can be held against one number.

The order in which memories come changes nothing. A new cluster goes on from the old category that it shares
most of its members with, if those are more than half of either; so a rebuild after some growth renames what
has become something else, and no more.

New memories are put under stored topics as they are written (`TopicAssigner`), which renames nothing. All of it is
found anew whenever the memories of a key have doubled, so the cost of it, spread over what was written, stays
the same however many there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from scrubjay.categories.clustering import (
    KnownCategory,
    Matrix,
    TermMatrix,
    Topic,
    TopicMember,
    cluster_rows,
    feature_rows,
    gather_members,
    has_enough_words,
    sample_rows,
    term_matrix,
    term_weights,
)
from scrubjay.categories.labels import list_titles, topic_name, topic_spelling, topic_summaries
from scrubjay.entities.normalization import COMMON_WORDS
from scrubjay.errors import InputError
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Category, Edge
from scrubjay.models.ids import category_id
from scrubjay.models.records import Record, Scope
from scrubjay.storage.changes import Change, DropCategory, DropEdges, PutCategory, PutEdges
from scrubjay.storage.interface import Reader, Store
from scrubjay.storage.scoring import mean_directions, unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import Embedder


JOIN_COSINE: Final = 0.3
"""Least centred cosine to a topic's centroid. About a tenth of the members found by clustering stand further
off, with the static model and with MiniLM; of memories held out, 65 to 90 % join."""


def join_topics(vectors: Matrix, centroids: Matrix, sizes: Sequence[int]) -> list[int]:
    """Return for each vector the index of the topic it joins, or -1.

    Args:
        vectors: Unit rows; rows of zeros join none, (n, d).
        centroids: Unit rows, (topics, d).
        sizes: Members of each topic.
    """
    if not len(vectors) or not len(centroids):
        return [-1] * len(vectors)
    near = centred_cosine(vectors, centroids, centre_of_all(vectors, centroids, sizes))
    near[~np.any(vectors != 0, axis=1)] = -1
    best = near.argmax(axis=1)
    return [int(topic) if near[row, topic] >= JOIN_COSINE else -1 for row, topic in enumerate(best)]


def centred_cosine(one: Matrix, other: Matrix, middle: Matrix) -> Matrix:
    """Return the centred cosine of each pair, but never more than the plain one, (rows of one, rows of other).

    Without that bar two texts that have nothing in common with the rest would be alike in just that.
    """
    centred = unit_rows(one - middle) @ unit_rows(other - middle).T
    return np.asarray(np.minimum(one @ other.T, centred), dtype=np.float32)


def centre_of_all(vectors: Matrix, centroids: Matrix, sizes: Sequence[int]) -> Matrix:
    """Return where the middle of all memories lies, from the topics' centroids and the memories in none, (d,)."""
    weights = np.asarray(sizes, dtype=np.float32)
    present = int(np.any(vectors != 0, axis=1).sum())
    total = (centroids * weights[:, None]).sum(axis=0) + vectors.sum(axis=0)
    return np.asarray(total / max(1.0, float(weights.sum()) + present), dtype=np.float32)


def build_topics(
    leaves: Sequence[TopicMember],
    vectors: Matrix,
    old: Sequence[KnownCategory] = (),
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
    counted = term_matrix(leaf.terms for leaf in ordered)
    members, themes = _found(ordered, counted, rows, np.asarray(found, dtype=np.float32)[order])
    parents = [[row for topic in theme for row in members[topic]] for theme in themes]
    known_themes = [one for one in old if one.theme]
    known_topics = [one for one in old if not one.theme]
    describer = TopicDescriber(ordered, counted, rows, plain)
    same = match_groups(ordered, members, known_topics)
    staying = [one.name for one in same if one is not None]
    above = describer.describe(parents, match_groups(ordered, parents, known_themes), taken=staying)
    home = {topic: above[number].name for number, theme in enumerate(themes) for topic in theme}
    topics = describer.describe(members, same, taken=home.values())
    return (
        *(
            replace(
                theme,
                members=(),
                weights=(),
                abstract=list_titles(theme.name, [topics[one].name for one in below]),
            )
            for theme, below in zip(above, themes, strict=True)
        ),
        *(replace(topic, parent=home.get(number)) for number, topic in enumerate(topics)),
    )


def _found(
    leaves: Sequence[TopicMember], counted: TermMatrix, vectors: Matrix, finer: Matrix
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the rows of each topic, and the topics of each theme."""
    chosen = sample_rows([leaf.id for leaf in leaves])
    clusters = cluster_rows(
        feature_rows(finer[chosen], counted if len(chosen) == len(leaves) else counted.of(chosen))
    )
    members = [[chosen[place] for place in topic] for topic in clusters.topics]
    if not members:
        return [], []
    placed = {row for rows in members for row in rows}
    rest = [row for row in range(len(leaves)) if row not in placed]
    near = join_topics(vectors[rest], _centroids(vectors, members), [len(rows) for rows in members])
    for row, topic in zip(rest, near, strict=True):
        if topic >= 0:
            members[topic].append(row)
    return [sorted(rows) for rows in members], [list(theme) for theme in clusters.themes]


def match_groups(
    leaves: Sequence[TopicMember], groups: Sequence[Sequence[int]], old: Sequence[KnownCategory]
) -> list[KnownCategory | None]:
    """Return for each group the category it goes on from: one to one, the largest overlaps first."""
    ids = [{leaves[row].id for row in group} for group in groups]
    pairs = sorted(
        (-shared, one.id, number)
        for number, group in enumerate(ids)
        for one in old
        if 2 * (shared := len(group & one.members)) > min(len(group), len(one.members))
    )
    by_id = {one.id: one for one in old}
    found: list[KnownCategory | None] = [None] * len(groups)
    for _, known, number in pairs:
        if found[number] is None and known in by_id:
            found[number] = by_id.pop(known)
    return found


class TopicDescriber:
    """Names and describes groups of memories."""

    def __init__(
        self, leaves: Sequence[TopicMember], counted: TermMatrix, vectors: Matrix, plain: Collection[str]
    ) -> None:
        """Args: all memories, their terms, their directions, words that name nothing."""
        self._leaves = leaves
        self._counted = counted
        self._vectors = vectors
        self._plain = plain

    def describe(
        self,
        groups: Sequence[Sequence[int]],
        known: Sequence[KnownCategory | None],
        *,
        taken: Iterable[str] = (),
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
        for number, worth in enumerate(term_weights(groups, leaves, self._counted)):
            order = sorted(zip((-nearness[number]).tolist(), groups[number], strict=True))
            central = [leaves[row] for _, row in order]
            spelling = topic_spelling(central, worth)
            before = known[number]
            titles = [leaf.title for leaf in central]
            label = before.name if before else topic_name(spelling, titles, used, self._plain)
            used.add(label)
            topics.append(
                Topic(
                    label,
                    *topic_summaries(label, central, spelling, elsewhere),
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
    return unit_rows(np.stack([vectors[list(group)].sum(axis=0, dtype=np.float64) for group in groups]))


WEIGHT_DIGITS: Final = 3
"""Of how near a memory is to its topic: the last bits of a product differ with what else is in the batch."""


class TopicAssigner:
    """Topics of one key, ready for memories to be put under."""

    def __init__(self, topics: Sequence[Category], sizes: Sequence[int]) -> None:
        """Args: topics with a centroid, of one model; how many memories each holds."""
        import numpy as np

        self._topics = topics
        self._sizes = sizes
        rows = [np.frombuffer(topic.centroid, np.int8).astype(np.float32) for topic in topics]
        self._centroids = unit_rows(np.stack(rows)) if rows else np.zeros((0, 0), np.float32)

    @classmethod
    def stored(cls, reader: Reader, key: str, fingerprint: str) -> Self:
        """Return the topics of a key as they are stored, those that were found with one model."""
        known = [c for c in reader.categories() if (c.key, c.kind, c.model) == (key, "topic", fingerprint)]
        sizes = reader.degrees("belongs", [c.id for c in known]) if known else {}
        return cls(known, [sizes.get(c.id, 0) for c in known])

    @property
    def topics(self) -> Sequence[Category]:
        """The topics, by id."""
        return self._topics

    def edges(self, records: Sequence[Record], vectors: NDArray[np.float32], at: int) -> list[Edge]:
        """Return the edge of each memory to its topic, of those that are near enough to one.

        Args:
            records: The memories.
            vectors: The direction of each, unit rows, zeros for one that has no topic.
            at: UTC microseconds of the edges.
        """
        if not self._topics or not records:
            return []
        found = []
        for row, topic in enumerate(join_topics(vectors, self._centroids, self._sizes)):
            if topic >= 0:
                near = float(vectors[row] @ self._centroids[topic])
                weight = round(min(max(near, 0.0), 1.0), WEIGHT_DIGITS)
                record = records[row]
                found.append(
                    Edge(record.id, "belongs", self._topics[topic].id, record.key, weight, at, rule="topic")
                )
        return found


MIN_MEMORIES: Final = 16
"""Memories of a key below which nobody needs topics to find their way."""
SAMPLE_SIZE: Final = 2_000
"""Memories from which topics are found, the first by the hash of their ids; the others join them."""
MEMORY_PAGE: Final = 1_000


def count_memories(store: Store, scope: Scope, key: str) -> int:
    """Return how many memories of one key there are."""
    with store.reader(scope) as reader:
        return reader.count_memories(key)


def are_topics_due(
    store: Store, scope: Scope, key: str, base: Embedder, written: int, *, patient: bool = True
) -> bool:
    """Return whether the topics of a key must be found anew.

    That is when its memories have doubled since, or are half as many; where none were found yet, when there are 16
    and their number has passed a power of two.

    Args:
        store: Where.
        scope: Who writes.
        key: The key.
        base: The base model; topics that were found with another are found anew.
        written: Memories of the key that were just written, of them those that were there before included.
        patient: Where none were found yet, look whenever something was written: a call before may have been
            cut short.
    """
    with store.reader(scope.seen_with(key)) as reader:
        now = reader.count_memories(key)
        topics = [c for c in reader.categories() if c.key == key and c.kind == "topic"]
    if any(topic.model not in ("", base.model.fingerprint) for topic in topics):
        return True
    built = max((topic.built for topic in topics), default=0)
    if built:
        return now >= 2 * built or 2 * now <= built
    grown = written > 0 if patient else max(0, now - written).bit_length() < now.bit_length()
    return now >= MIN_MEMORIES and grown


def lack_finer_model(
    store: Store, scope: Scope, key: str, finer: Sequence[Embedder], *, none: bool = True
) -> bool:
    """Return whether the topics of a key were found without any of the finer models, ``none`` where there are none yet.

    What put a memory into a topic is noted with it. Those that came later joined by the base model, so it is
    enough that one of all topics' nearest members was put there by a finer one.
    """
    with store.reader(scope.seen_with(key)) as reader:
        topics = [c.id for c in reader.categories() if c.key == key and c.kind == "topic" and c.centroid]
        if not topics:
            return none
        nearest = reader.edges(topics, ["belongs"], inward=True, limit=1)
    return {edge.rule for edge in nearest}.isdisjoint(_rule(embedder.model.name) for embedder in finer)


def _rule(model: str) -> str:
    """Return the rule of an edge to a topic that was found by a model; ``model`` is empty for the base model."""
    return f"topic, {model}" if model else "topic"


def organise_topics(
    store: Store, scope: Scope, key: str, base: Embedder, finer: Sequence[Embedder] = ()
) -> int:
    """Find the topics of one key anew and put every memory of it under its own.

    Memories that topics were found from stay where they were found; the others join the nearest. Nothing that
    another process adds meanwhile is taken away: only what stood at the beginning is replaced.

    Args:
        store: Where.
        scope: Who writes.
        key: The key.
        base: The base model: memories join topics by it, now and as they are written.
        finer: Models that are filled in behind. Topics are found with the first that covers every memory they
            are found from, else with the base model.

    Returns:
        How many topics there are now, themes included.
    """
    at = now_micros()
    built = count_memories(store, scope, key)
    with store.reader(scope.seen_with(key)) as reader:
        old = [c for c in reader.categories() if c.key == key and c.kind == "topic"]
        chosen = list(islice(_eligible_records(reader, key), SAMPLE_SIZE))
        stored = reader.edges([r.id for r in chosen], ["belongs"]) if old else []  # else nobody belongs
        found: Sequence[Topic] = ()
        model = ""
        if len(chosen) >= MIN_MEMORIES:
            gathered = gather_members(reader, chosen, base.model, [embedder.model for embedder in finer])
            found = build_topics(
                gathered.leaves,
                gathered.vectors,
                _known(old, stored),
                finer=gathered.finer,
                plain=COMMON_WORDS,
            )
            model = gathered.model
    made, homes = _categories(store.secret(scope), key, base.model.fingerprint, found, at, built)
    edges = [
        Edge(member, "belongs", home, key, round(weight, WEIGHT_DIGITS), at, rule=_rule(model))
        for home, members in homes.items()
        for member, weight in members
    ]
    topics = {c.id for c in old} | set(made)
    store.write(scope, [*map(PutCategory, made.values()), *_moves(topics, stored, edges)])
    if old or len(chosen) == SAMPLE_SIZE or count_memories(store, scope, key) != built:
        assigner = TopicAssigner(
            [made[topic] for topic in homes], [len(members) for members in homes.values()]
        )
        placed = {record.id for record in chosen}
        _reassign(store, scope, key, base, assigner, placed, topics if old else set(), at)
    gone = [c.id for c in old if c.id not in made]
    if gone:
        store.write(scope, [DropCategory(category) for category in gone])
    return len(made)


def _eligible_records(reader: Reader, key: str) -> Iterator[Record]:
    """Yield a key's active memories that have words enough, in the order of their ids' hashes."""
    after = ""
    while page := reader.page(after, MEMORY_PAGE):
        after = page[-1].id
        for record in page:
            if record.key == key and record.status == "active" and has_enough_words(record):
                yield record


def _known(old: Sequence[Category], stored: Sequence[Edge]) -> list[KnownCategory]:
    by_id = {category.id: category for category in old}
    members: dict[str, set[str]] = defaultdict(set)
    for edge in stored:
        if edge.dst in by_id:
            members[edge.dst].add(edge.src)
    themes = {category.parent for category in old if category.parent in by_id}
    for category in old:
        if category.parent in by_id:
            members[category.parent or ""] |= members[category.id]
    return [
        KnownCategory(c.id, c.name, frozenset(members[c.id]), c.id in themes) for c in old if members[c.id]
    ]


def _categories(
    secret: bytes, key: str, fingerprint: str, topics: Sequence[Topic], at: int, built: int
) -> tuple[dict[str, Category], dict[str, list[tuple[str, float]]]]:
    """Return topics as categories by id, and the members with their weights of those that hold memories.

    Two that are born with one name in one key are one.
    """
    import numpy as np

    ids = {t.name: t.id or category_id(secret, (key, "topic", "", t.name)) for t in topics}
    made: dict[str, Category] = {}
    homes: dict[str, list[tuple[str, float]]] = {}
    for topic in topics:
        peak = float(np.abs(topic.centroid).max()) or 1.0
        codes = np.rint(topic.centroid * (127.0 / peak)).astype(np.int8).tobytes() if topic.members else b""
        parent = ids[topic.parent] if topic.parent is not None else None
        identity = ids[topic.name]
        made[identity] = Category(
            identity, key, "topic", topic.name, parent, topic.abstract, topic.overview,
            fingerprint if codes else "", codes, at, built,
        )  # fmt: skip
        if topic.members:
            homes[identity] = list(zip(topic.members, topic.weights, strict=True))
    return made, homes


def _reassign(
    store: Store,
    scope: Scope,
    key: str,
    base: Embedder,
    assigner: TopicAssigner,
    placed: Set[str],
    topics: Set[str],
    at: int,
) -> None:
    """Put every memory of a key but those that are placed under the topic it is nearest to."""
    after = ""
    while True:
        with store.reader(scope.seen_with(key)) as reader:
            page = reader.page(after, MEMORY_PAGE)
            if not page:
                return
            after = page[-1].id
            own = [r for r in page if r.key == key and r.id not in placed]
            wanted = [r for r in own if r.status == "active" and has_enough_words(r)]
            codes = reader.vectors(base.model.fingerprint, [r.id for r in wanted])
            rows = mean_directions([codes.get(r.id) for r in wanted], base.model.dimensions)
            stored = reader.edges([r.id for r in own], ["belongs"]) if topics else []
        changes = _moves(topics, stored, assigner.edges(wanted, rows, at))
        if changes:
            store.write(scope, changes)


def _moves(topics: Set[str], stored: Sequence[Edge], edges: Sequence[Edge]) -> list[Change]:
    """Return what makes the members of topics right; an edge that is right stays."""
    was = {(e.src, e.dst): (e.weight, e.rule) for e in stored if e.dst in topics and e.origin == "found"}
    new = {(edge.src, edge.dst): edge for edge in edges}
    gone = tuple((src, "belongs", dst) for src, dst in was if (src, dst) not in new)
    fresh = tuple(edge for pair, edge in new.items() if was.get(pair) != (edge.weight, edge.rule))
    changes: list[Change] = [DropEdges(gone)] if gone else []
    return [*changes, PutEdges(fresh)] if fresh else changes
