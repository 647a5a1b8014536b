"""Topics: find the topics of a visibility key and assign memories to them.

Similarity is the cosine after the mean of all memories is subtracted, since raw cosines of one person's texts are all
high and differ between models. New memories join stored topics as they are written; topics are found anew when the
memories of a key have doubled, and a new topic continues the old one with which it shares most members.
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
from scrubjay.storage.interface import Reader, Store, all_records
from scrubjay.storage.scoring import mean_directions, unit_rows

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder

JOIN_COSINE: Final = 0.3
"""Minimum centred cosine to a topic's centroid. Of memories held out, 65 to 90 % join; about a tenth of the members
found by clustering are further off."""
WEIGHT_DIGITS: Final = 3
"""Digits of a membership's weight: the last bits of a product differ with the batch."""
MIN_MEMORIES: Final = 16
"""Memories from which a key has topics."""
SAMPLE_SIZE: Final = 2_000
"""Memories from which topics are found, the first by the hash of their ids; the others join them."""
MEMORY_PAGE: Final = 1_000


def join_topics(vectors: Matrix, centroids: Matrix, sizes: Sequence[int]) -> list[int]:
    """Return for each vector the index of the topic it joins, or -1.

    ``vectors`` are unit rows, or zeros, which join none; ``sizes`` counts the members of each topic.
    """
    if not len(vectors) or not len(centroids):
        return [-1] * len(vectors)
    present = np.any(vectors != 0, axis=1)
    weights = np.asarray(sizes, dtype=np.float32)
    total = (centroids * weights[:, None]).sum(axis=0) + vectors.sum(axis=0)
    mean = np.asarray(total / max(1.0, float(weights.sum()) + int(present.sum())), dtype=np.float32)
    centred = unit_rows(vectors - mean) @ unit_rows(centroids - mean).T
    # Never above the plain cosine: two texts that share only their distance to the mean are not similar.
    cosine = np.asarray(np.minimum(vectors @ centroids.T, centred), dtype=np.float32)
    cosine[~present] = -1
    best = cosine.argmax(axis=1)
    return [int(topic) if cosine[row, topic] >= JOIN_COSINE else -1 for row, topic in enumerate(best)]


def build_topics(
    members: Sequence[TopicMember],
    vectors: Matrix,
    old: Sequence[KnownCategory] = (),
    *,
    finer: Matrix | None = None,
    plain: Collection[str] = frozenset(),
) -> tuple[Topic, ...]:
    """Find, name and describe the topics of some memories.

    Args:
        members: The memories.
        vectors: Unit rows of the model by which memories join topics, or zeros, (n, d).
        old: Categories of the previous build.
        finer: Vectors of a finer model, by which topics are found; None for ``vectors``.
        plain: Folded words that name nothing.

    Returns:
        Themes, then topics, the largest first; empty if there are too few memories, or all are alike.

    Raises:
        InputError: Vectors and memories differ in number, or an id occurs twice.
    """
    if finer is None:
        finer = vectors
    if not len(vectors) == len(finer) == len(members) == len({member.id for member in members}):
        raise InputError(f"{len(members)} memories have {len(vectors)} vectors, or an id is repeated.")
    order = sorted(range(len(members)), key=lambda row: members[row].id)
    members = [members[row] for row in order]
    vectors = np.asarray(vectors, dtype=np.float32)[order]
    terms = term_matrix(member.terms for member in members)
    topic_rows, themes = _find_groups(members, terms, vectors, np.asarray(finer, dtype=np.float32)[order])
    theme_rows = [[row for topic in theme for row in topic_rows[topic]] for theme in themes]
    describer = _TopicDescriber(members, terms, vectors, plain)
    known_topics = match_groups(members, topic_rows, [one for one in old if not one.theme])
    known_themes = match_groups(members, theme_rows, [one for one in old if one.theme])
    kept_names = [one.name for one in known_topics if one is not None]
    above = describer.describe(theme_rows, known_themes, names=kept_names)
    parents = {topic: above[number].name for number, theme in enumerate(themes) for topic in theme}
    topics = describer.describe(topic_rows, known_topics, names=parents.values())
    found = []
    for theme, below in zip(above, themes, strict=True):
        abstract = list_titles(theme.name, [topics[topic].name for topic in below])
        found.append(replace(theme, members=(), weights=(), abstract=abstract))
    return (*found, *(replace(topic, parent=parents.get(number)) for number, topic in enumerate(topics)))


def _find_groups(
    members: Sequence[TopicMember], terms: TermMatrix, vectors: Matrix, finer: Matrix
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the rows of each topic, and the topics of each theme."""
    sample = sample_rows([member.id for member in members])
    sampled_terms = terms if len(sample) == len(members) else terms.select(sample)
    clusters = cluster_rows(feature_rows(finer[sample], sampled_terms))
    groups = [[sample[row] for row in topic] for topic in clusters.topics]
    if not groups:
        return [], []
    grouped = {row for group in groups for row in group}
    rest = [row for row in range(len(members)) if row not in grouped]
    joined = join_topics(vectors[rest], _centroids(vectors, groups), [len(group) for group in groups])
    for row, topic in zip(rest, joined, strict=True):
        if topic >= 0:
            groups[topic].append(row)
    return [sorted(group) for group in groups], [list(theme) for theme in clusters.themes]


def match_groups(
    members: Sequence[TopicMember], groups: Sequence[Sequence[int]], old: Sequence[KnownCategory]
) -> list[KnownCategory | None]:
    """Return the old category that each group continues: more than half of either, the largest first."""
    ids = [{members[row].id for row in group} for group in groups]
    overlaps = sorted(
        (-shared, one.id, number)
        for number, group in enumerate(ids)
        for one in old
        if 2 * (shared := len(group & one.members)) > min(len(group), len(one.members))
    )
    by_id = {one.id: one for one in old}
    found: list[KnownCategory | None] = [None] * len(groups)
    for _, category, number in overlaps:
        if found[number] is None and category in by_id:
            found[number] = by_id.pop(category)
    return found


class _TopicDescriber:
    def __init__(
        self, members: Sequence[TopicMember], terms: TermMatrix, vectors: Matrix, plain: Collection[str]
    ) -> None:
        self._members = members
        self._terms = terms
        self._vectors = vectors
        self._plain = plain

    def describe(
        self, groups: Sequence[Sequence[int]], known: Sequence[KnownCategory | None], *, names: Iterable[str]
    ) -> list[Topic]:
        """Return groups of rows as topics; one that continues a known category keeps its name."""
        members, vectors = self._members, self._vectors
        centroids = _centroids(vectors, groups)
        used = {*names, *(one.name for one in known if one is not None)}
        titles = Counter(
            title for group in groups for title in {members[row].title.strip().casefold() for row in group}
        )
        elsewhere = {title for title, count in titles.items() if count > 1}
        topics = []
        for number, weights in enumerate(term_weights(groups, members, self._terms)):
            group, old = groups[number], known[number]
            cosine = vectors[list(group)].astype(np.float64) @ centroids[number].astype(np.float64)
            central = [members[row] for _, row in sorted(zip((-cosine).tolist(), group, strict=True))]
            spelling = topic_spelling(central, weights)
            name = (
                old.name
                if old
                else topic_name(spelling, [member.title for member in central], used, self._plain)
            )
            used.add(name)
            topics.append(
                Topic(
                    name,
                    *topic_summaries(name, central, spelling, elsewhere),
                    tuple(members[row].id for row in group),
                    tuple(float(min(1.0, max(0.0, one))) for one in cosine),
                    centroids[number],
                    None,
                    old.id if old else None,
                )
            )
        return topics


def _centroids(vectors: Matrix, groups: Sequence[Sequence[int]]) -> Matrix:
    if not groups:
        return np.zeros((0, vectors.shape[1]), dtype=np.float32)
    # In double precision, so that the order of the ids, which differs between stores, makes no difference.
    return unit_rows(np.stack([vectors[list(group)].sum(axis=0, dtype=np.float64) for group in groups]))


class TopicAssigner:
    def __init__(self, topics: Sequence[Category], sizes: Sequence[int]) -> None:
        self.topics = topics
        self._sizes = sizes
        rows = [np.frombuffer(topic.centroid, np.int8).astype(np.float32) for topic in topics]
        self._centroids = unit_rows(np.stack(rows)) if rows else np.zeros((0, 0), np.float32)

    @classmethod
    def stored(cls, reader: Reader, key: str, fingerprint: str) -> Self:
        """Load the topics of a key that were found with one model."""
        topics = [c for c in reader.categories() if (c.key, c.kind, c.model) == (key, "topic", fingerprint)]
        sizes = reader.degrees("belongs", [c.id for c in topics]) if topics else {}
        return cls(topics, [sizes.get(c.id, 0) for c in topics])

    def edges(self, records: Sequence[Record], vectors: Matrix, at: int) -> list[Edge]:
        """Return an edge from each memory to its topic, if any is near enough.

        ``vectors`` are unit rows, or zeros for a memory without a topic.
        """
        if not self.topics or not records:
            return []
        found = []
        for row, topic in enumerate(join_topics(vectors, self._centroids, self._sizes)):
            if topic >= 0:
                cosine = float(vectors[row] @ self._centroids[topic])
                weight = round(min(max(cosine, 0.0), 1.0), WEIGHT_DIGITS)
                memory = records[row]
                found.append(
                    Edge(memory.id, "belongs", self.topics[topic].id, memory.key, weight, at, rule="topic")
                )
        return found


def _topics_of(reader: Reader, key: str) -> list[Category]:
    return [c for c in reader.categories() if c.key == key and c.kind == "topic"]


def count_memories(store: Store, scope: Scope, key: str) -> int:
    with store.reader(scope) as reader:
        return reader.count_memories(key)


def are_topics_due(reader: Reader, key: str, model: str, written: int, *, patient: bool = True) -> bool:
    """Return whether the topics of a key must be found anew.

    That is when its memories have doubled or halved since; without topics, when there are 16 memories and their number
    has passed a power of two.

    Args:
        reader: A view of the key's viewers.
        key: The key.
        model: Fingerprint of the base model; topics that were found with another are due.
        written: Memories of the key that were just written or rewritten.
        patient: Without topics, whether any write makes them due: an earlier call may have been interrupted.
    """
    now = reader.count_memories(key)
    topics = _topics_of(reader, key)
    if any(topic.model not in ("", model) for topic in topics):
        return True
    built = max((topic.built for topic in topics), default=0)
    if built or any(topic.model for topic in topics):  # 0 with a model: a rebuild has made them due
        return now >= 2 * built or 2 * now <= built
    grown = written > 0 if patient else max(0, now - written).bit_length() < now.bit_length()
    return now >= MIN_MEMORIES and grown


def lack_finer_model(reader: Reader, key: str, finer: Sequence[Embedder], *, none: bool) -> bool:
    """Return whether the topics of a key were found without a finer model; return ``none`` if there are no topics.

    The rule of an edge names the model. Later memories join by the base model, so one nearest member is enough.
    """
    if reader.count_memories(key) < MIN_MEMORIES:
        return False
    topics = [c.id for c in _topics_of(reader, key) if c.centroid]
    if not topics:
        return none
    nearest = reader.edges(topics, ["belongs"], inward=True, limit=1)
    return {edge.rule for edge in nearest}.isdisjoint(_edge_rule(embedder.model.name) for embedder in finer)


def _edge_rule(model: str) -> str:
    return f"topic, {model}" if model else "topic"


def organise_topics(
    store: Store, scope: Scope, key: str, base: Embedder, finer: Sequence[Embedder] = ()
) -> int:
    """Find the topics of one key anew and assign every memory of it; return their number, themes included.

    Only edges that existed at the start are replaced, so that nothing another process adds meanwhile is lost.

    Memories join topics by ``base``; topics are found with the first of the ``finer`` models that covers the sample,
    else by ``base`` too.
    """
    at = now_micros()
    built = count_memories(store, scope, key)
    with store.reader(scope.seen_with(key)) as reader:
        old = _topics_of(reader, key)
        sample = list(islice(_eligible_records(reader, key), SAMPLE_SIZE))
        stored = reader.edges([record.id for record in sample], ["belongs"]) if old else []
        topics: Sequence[Topic] = ()
        rule = _edge_rule("")
        if len(sample) >= MIN_MEMORIES:
            gathered = gather_members(reader, sample, base.model, [embedder.model for embedder in finer])
            topics = build_topics(
                gathered.members,
                gathered.vectors,
                _known_categories(old, stored),
                finer=gathered.finer,
                plain=COMMON_WORDS,
            )
            rule = _edge_rule(gathered.model)
    categories = _categories(store.secret(scope), key, base.model.fingerprint, topics, at, built)
    edges = [
        Edge(member, "belongs", category.id, key, round(weight, WEIGHT_DIGITS), at, rule=rule)
        for topic, category in categories
        for member, weight in zip(topic.members, topic.weights, strict=True)
    ]
    ids = {category.id for _, category in categories}
    every = {category.id for category in old} | ids
    puts = [PutCategory(category) for _, category in categories]
    store.write(scope, [*puts, *_membership_changes(every, stored, edges)])
    if old or len(sample) == SAMPLE_SIZE or count_memories(store, scope, key) != built:
        with_members = [(topic, category) for topic, category in categories if topic.members]
        assigner = TopicAssigner(
            [category for _, category in with_members], [len(topic.members) for topic, _ in with_members]
        )
        assigned = {record.id for record in sample}
        _reassign(store, scope, key, base, assigner, assigned, every if old else set(), at)
    obsolete = [category.id for category in old if category.id not in ids]
    if obsolete:
        store.write(scope, [DropCategory(category) for category in obsolete])
    return len(ids)


def _eligible_records(reader: Reader, key: str) -> Iterator[Record]:
    for record in all_records(reader):
        if record.key == key and record.status == "active" and has_enough_words(record):
            yield record


def _known_categories(old: Sequence[Category], stored: Sequence[Edge]) -> list[KnownCategory]:
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
) -> list[tuple[Topic, Category]]:
    ids = {topic.name: topic.id or category_id(secret, (key, "topic", "", topic.name)) for topic in topics}
    found = []
    for topic in topics:
        centroid = b""
        if topic.members:
            peak = float(np.abs(topic.centroid).max()) or 1.0
            centroid = np.rint(topic.centroid * (127.0 / peak)).astype(np.int8).tobytes()
        category = Category(
            ids[topic.name],
            key,
            "topic",
            topic.name,
            ids[topic.parent] if topic.parent is not None else None,
            topic.abstract,
            topic.overview,
            fingerprint if centroid else "",
            centroid,
            at,
            built,
        )
        found.append((topic, category))
    return found


def _reassign(
    store: Store,
    scope: Scope,
    key: str,
    base: Embedder,
    assigner: TopicAssigner,
    assigned: Set[str],
    topics: Set[str],
    at: int,
) -> None:
    after = ""
    while True:
        with store.reader(scope.seen_with(key)) as reader:
            page = reader.page(after, MEMORY_PAGE)
            if not page:
                return
            after = page[-1].id
            own = [r for r in page if r.key == key and r.id not in assigned]
            wanted = [r for r in own if r.status == "active" and has_enough_words(r)]
            codes = reader.vectors(base.model.fingerprint, [r.id for r in wanted])
            rows = mean_directions([codes.get(r.id) for r in wanted], base.model.dimensions)
            stored = reader.edges([r.id for r in own], ["belongs"]) if topics else []
        changes = _membership_changes(topics, stored, assigner.edges(wanted, rows, at))
        if changes:
            store.write(scope, changes)


def _membership_changes(topics: Set[str], stored: Sequence[Edge], edges: Sequence[Edge]) -> list[Change]:
    before = {(e.src, e.dst): (e.weight, e.rule) for e in stored if e.dst in topics and e.origin == "found"}
    new = {(edge.src, edge.dst): edge for edge in edges}
    obsolete = tuple((src, "belongs", dst) for src, dst in before if (src, dst) not in new)
    fresh = tuple(edge for pair, edge in new.items() if before.get(pair) != (edge.weight, edge.rule))
    changes: list[Change] = [DropEdges(obsolete)] if obsolete else []
    return [*changes, PutEdges(fresh)] if fresh else changes
