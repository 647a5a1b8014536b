"""Clustering: feature rows of memories, their topics, and themes above the topics.

Two halves beside each other. Vectors are centred first: all texts of one person point the same way, and it
is the rest that tells them apart. Words are weighed by tf-idf and hashed with signs into a fixed number of
columns (Weinberger et al., 2009), so that 2,000 memories with 50,000 terms take eight megabytes. Over nine
pairs of set and model the adjusted Rand index at the best cut is .46 with both halves, .44 with the vectors
alone, .43 with the words alone; hashing moves it by .01.

A term tells of a topic by how many of its memories hold it and how few of the others do,

    share inside * log(share inside / share outside) * (1 + share of the topic's titles that hold it)

(a term's part of the divergence between the two).

Average linkage is reducible, so following nearest neighbours until two are each other's, and merging those,
gives the same tree as always merging the closest pair, in O(n^2) time (Murtagh, 1983; Müllner, 2011).

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
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import Record
from scrubjay.storage.interface import Reader
from scrubjay.storage.scoring import mean_directions, unit_rows
from scrubjay.text.language import detect_language
from scrubjay.text.markdown import normalize_newlines
from scrubjay.text.normalize import has_unspaced, split_scripts
from scrubjay.text.summaries import text_units
from scrubjay.text.tokenizer import index_terms

if TYPE_CHECKING:
    from scrubjay.storage.changes import QuantizedVectors


MIN_WORDS: Final = 8
"""Words below which a memory has no topic and is like no other: "yes, thanks" is like every other thanks."""
LONG_TEXT: Final = 200
"""Characters above which nobody need count."""
CHARACTERS_PER_WORD: Final = 2
"""Characters that are about a word in a script without spaces."""


def has_enough_words(record: Record) -> bool:
    """Return whether a memory has words enough.

    >>> from scrubjay.models.records import Record
    >>> texts = ("yes, thanks", "好的👍")
    >>> [has_enough_words(Record("obs_0", "observation", text, "", "", "user:a", "a", 0, 0)) for text in texts]
    [False, False]
    """
    text = record.content
    words = len(text.split())
    if len(text) > LONG_TEXT or words >= MIN_WORDS:
        return True
    if text.isascii() or not has_unspaced(text):
        return False
    return (
        words + sum(end - start for run, start, end in split_scripts(text) if run) // CHARACTERS_PER_WORD
        >= MIN_WORDS
    )


Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TopicMember:
    """One memory, as far as categories are concerned.

    Attributes:
        id: Its id.
        title: Its title, or an empty string.
        text: What names and overviews are read from: its overview, else its content.
        terms: The terms it is indexed under, with their counts.
        language: Language of the text, as it was indexed.
    """

    id: str
    title: str
    text: str
    terms: Mapping[str, int]
    language: str = "en"


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """One category of kind ``topic``: a topic, or a theme above topics.

    Attributes:
        name: Unlike that of every other topic of this result.
        abstract: L0, at most 30 tokens.
        overview: L1, at most 120 tokens.
        members: Ids of the memories that belong to it, sorted; of a theme none, they belong to its topics.
        weights: How near each member is to the middle of the topic, 0..1.
        centroid: Direction of its members' mean vector, unit length, (dimensions,).
        parent: Name of the theme above it, or None.
        id: Id of the category that it goes on from, or None when it is new.
    """

    name: str
    abstract: str
    overview: str
    members: tuple[str, ...]
    weights: tuple[float, ...]
    centroid: Matrix
    parent: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class KnownCategory:
    """A category that a build before has made.

    Attributes:
        id: Its id.
        name: Its name.
        members: Ids of its memories; of a theme, those of its topics.
        theme: Whether it stands above topics.
    """

    id: str
    name: str
    members: frozenset[str]
    theme: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TermMatrix:
    """Which memory holds which terms, how often: a sparse matrix, one row a memory.

    Attributes:
        words: The terms, sorted.
        rows: Memory of each entry, ascending, (entries,).
        terms: Term of each entry, index into ``words``, (entries,).
        counts: How often the memory holds it, (entries,).
        size: Memories.
    """

    words: tuple[str, ...]
    rows: NDArray[np.intp]
    terms: NDArray[np.intp]
    counts: NDArray[np.float32]
    size: int

    def held(self) -> NDArray[np.intp]:
        """Return how many memories hold each term, (words,)."""
        return np.bincount(self.terms, minlength=len(self.words))

    def of(self, rows: Sequence[int]) -> TermMatrix:
        """Return the bags of some of the memories, in this order; the terms keep their numbers."""
        place = np.full(self.size, -1, dtype=np.intp)
        place[list(rows)] = np.arange(len(rows))
        kept = place[self.rows] >= 0
        moved = place[self.rows[kept]]
        order = np.argsort(moved, kind="stable")
        return TermMatrix(
            self.words, moved[order], self.terms[kept][order], self.counts[kept][order], len(rows)
        )


def term_matrix(counted: Iterable[Mapping[str, int]]) -> TermMatrix:
    """Return the bags of memories, given their terms with counts."""
    places: defaultdict[str, int] = defaultdict(count().__next__)
    sizes: list[int] = []
    terms: list[int] = []
    counts: list[int] = []
    for bag in counted:
        sizes.append(len(bag))
        terms += map(places.__getitem__, bag)
        counts += bag.values()
    words = sorted(places)
    moved = np.empty(len(words), dtype=np.intp)
    moved[np.fromiter(map(places.__getitem__, words), dtype=np.intp, count=len(words))] = np.arange(
        len(words)
    )
    return TermMatrix(
        tuple(words),
        np.repeat(np.arange(len(sizes)), sizes),
        moved[np.array(terms, dtype=np.intp)],
        np.array(counts, dtype=np.float32),
        len(sizes),
    )


WORD_WEIGHT: Final = 0.7
"""Length of the words' half, the vectors' being 1: a third of the similarity. .5 to 1 do about as well."""
HASH_COLUMNS: Final = 1024
COMMON_SHARE: Final = 0.25
"""A term in more than this share of the memories tells none of them apart."""


def feature_rows(vectors: Matrix, bags: TermMatrix) -> Matrix:
    """Return unit rows, (n, d + ``HASH_COLUMNS``); zeros where a memory has neither a vector nor a shared term.

    Args:
        vectors: Unit rows or zeros, (n, d).
        bags: The terms of each memory, in the same order.
    """
    present = np.any(vectors != 0, axis=1, keepdims=True)
    middle = vectors.sum(axis=0) / max(1, int(present.sum()))
    centred = unit_rows(np.where(present, vectors - middle, 0).astype(np.float32))
    return unit_rows(np.hstack([centred, WORD_WEIGHT * _word_rows(bags)]))


def _word_rows(bags: TermMatrix) -> Matrix:
    """Unit rows of tf-idf, each term in the column and with the sign that its hash gives."""
    held = bags.held()
    kept = np.flatnonzero((held >= 2) & (held <= max(2, COMMON_SHARE * bags.size)))
    codes = np.zeros(len(bags.words), dtype=np.int64)
    codes[kept] = [zlib.crc32(bags.words[term].encode("utf-8", "surrogatepass")) for term in kept.tolist()]
    weights = np.zeros(len(bags.words))
    weights[kept] = np.log(bags.size / held[kept]) * np.where(codes[kept] >> 31, 1, -1)
    places = bags.rows * HASH_COLUMNS + codes[bags.terms] % HASH_COLUMNS
    values = (1 + np.log(bags.counts)) * weights[bags.terms]
    sums = np.bincount(places, values, minlength=bags.size * HASH_COLUMNS)
    return unit_rows(sums.reshape(bags.size, HASH_COLUMNS).astype(np.float32))


MAX_TERMS: Final = 300
"""Terms of one topic that are kept: names take three of the first, sentences are rated by all."""
TITLE_TERMS: Final = 60
"""Of these, terms that are looked up in titles."""

TermWeights = dict[str, float]
"""Term to what it tells, above zero, the best first."""


def term_weights(
    groups: Sequence[Sequence[int]], leaves: Sequence[TopicMember], bags: TermMatrix
) -> list[TermWeights]:
    """Return what terms tell of each topic.

    Args:
        groups: Rows of each topic's memories; none empty.
        leaves: All memories; what those in no topic say is not distinctive either.
        bags: Their terms.
    """
    everywhere = bags.held()
    starts = np.searchsorted(bags.rows, np.arange(bags.size + 1))
    return [
        _weights_of(
            [leaves[row] for row in group],
            np.concatenate([bags.terms[starts[row] : starts[row + 1]] for row in group]),
            everywhere,
            bags,
        )
        for group in groups
    ]


def _weights_of(
    group: Sequence[TopicMember],
    inside: np.ndarray[tuple[int], np.dtype[np.intp]],
    everywhere: np.ndarray[tuple[int], np.dtype[np.intp]],
    bags: TermMatrix,
) -> TermWeights:
    held = np.bincount(inside, minlength=len(bags.words))
    shared = np.flatnonzero(held > 1)
    share = held[shared] / len(group)
    outside = (everywhere[shared] - held[shared] + 0.5) / (bags.size - len(group) + 1)
    telling = share > outside
    shared, share, outside = shared[telling], share[telling], outside[telling]
    worth = share * np.log(share / outside)
    best = np.argsort(-worth, kind="stable")[:MAX_TERMS]
    found = {bags.words[shared[place]]: float(worth[place]) for place in best.tolist()}
    titles = "\n".join(leaf.title for leaf in group).casefold()
    for term in list(found)[:TITLE_TERMS]:
        found[term] *= 1 + min(1.0, titles.count(term) / len(group))
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


UNINFORMATIVE_KINDS: Final = frozenset(("more code", "row"))
"""Kinds of lines that tell least, as in a memory's own overview."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicInput:
    """Memories as topics are found from them.

    Attributes:
        leaves: The memories, in the order of the records.
        vectors: Direction of each in the base model, unit rows, zeros for one without vectors.
        finer: Directions in a finer model of which every one has any; None if there is none.
        model: The name of that model, else an empty string.
    """

    leaves: list[TopicMember]
    vectors: NDArray[np.float32]
    finer: NDArray[np.float32] | None = None
    model: str = ""


def gather_members(
    reader: Reader, records: Sequence[Record], base: EmbeddingModel, finer: Sequence[EmbeddingModel] = ()
) -> TopicInput:
    """Read what topics are found from.

    Args:
        reader: What the key's viewers see.
        records: The memories.
        base: The base model.
        finer: Models that tell more apart, the best first; they need not have vectors of all memories.
    """
    tongues = reader.languages()
    leaves = [_member(record, tongues[0] if len(tongues) == 1 else "") for record in records]
    ids = [record.id for record in records]
    vectors = _rows(ids, reader.vectors(base.fingerprint, ids), base)
    mute = [place for place, leaf in enumerate(leaves) if not leaf.terms]
    vectors[mute] = 0  # a comment, a picture: it is about nothing, and in no topic
    for model in finer:
        if reader.coverage(model.fingerprint).covered >= len(ids):
            codes = reader.vectors(model.fingerprint, ids)
            if len(codes) == len(ids):
                rows = _rows(ids, codes, model)
                rows[mute] = 0
                return TopicInput(leaves, vectors, rows, model.name)
    return TopicInput(leaves, vectors)


def _member(record: Record, tongue: str) -> TopicMember:
    text = record.overview or plain_sentences(record.content)
    tongue = tongue or detect_language(text)
    return TopicMember(record.id, record.title, text, index_terms(text, tongue).counts, tongue)


def plain_sentences(content: str) -> str:
    """Return what a short memory says, a sentence a line, without marks, comments and links' ends."""
    return "\n".join(
        text for kind, text in text_units(normalize_newlines(content)) if kind not in UNINFORMATIVE_KINDS
    )


def _rows(
    ids: Sequence[str], codes: Mapping[str, QuantizedVectors], model: EmbeddingModel
) -> NDArray[np.float32]:
    return mean_directions([codes.get(one) for one in ids], model.dimensions)


class ClusterMerge(NamedTuple):
    """Two clusters become one: the clusters that hold points ``left`` and ``right``, at this similarity."""

    similarity: float
    left: int
    right: int


def average_linkage(similarity: Matrix) -> list[ClusterMerge]:
    """Return the n - 1 merges of n points, most similar first.

    Args:
        similarity: Symmetric, (n, n); it is overwritten.
    """
    rows = similarity
    np.fill_diagonal(rows, -np.inf)
    sizes = [1] * len(rows)
    alive = dict.fromkeys(range(len(rows)))
    merges: list[ClusterMerge] = []
    chain: list[int] = []
    while len(alive) > 1:
        chain = chain or [next(iter(alive))]
        while True:
            last = rows[chain[-1]]
            nearest = int(last.argmax())
            if len(chain) > 1 and last[chain[-2]] >= last[nearest]:
                break
            chain.append(nearest)
        right, left = chain.pop(), chain.pop()
        merges.append(ClusterMerge(float(rows[left, right]), left, right))
        total = sizes[left] + sizes[right]
        joined = rows[left]
        joined *= sizes[left] / total
        joined += rows[right] * np.float32(sizes[right] / total)
        joined[left] = -np.inf
        rows[:, left] = joined
        rows[:, right] = -np.inf
        sizes[left] = total
        del alive[right]
    return sorted(merges, key=lambda merge: -merge.similarity)


NEIGHBOURS: Final = 5
TOPIC_RESOLUTION: Final = 2.0
"""Resolution of the cut into topics."""
THEME_RESOLUTION: Final = 0.5
"""Resolution of the cut into themes: of 577 notes 21 to 42 topics, 6 to 9 themes."""
MAX_TREE_POINTS: Final = 2_000
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


def min_topic_size(total: int) -> int:
    """Return how many memories make a topic among ``total``: 2 of 30, 3 of 100, 5 of 2,000, 8 of 100,000."""
    return max(2, int(math.log2(max(2, total)) / 2))


def sample_rows(ids: Sequence[str]) -> list[int]:
    """Return the rows of the tree: all, or the ``MAX_TREE_POINTS`` with the smallest hashes of their ids."""
    if len(ids) <= MAX_TREE_POINTS:
        return list(range(len(ids)))
    digests = [hashlib.blake2b(one.encode(), digest_size=8).digest() for one in ids]
    return sorted(sorted(range(len(ids)), key=lambda row: (digests[row], ids[row]))[:MAX_TREE_POINTS])


def cluster_rows(rows: Matrix) -> Clusters:
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
    merges = average_linkage(similarity)
    fine, coarse = _cuts(merges, graph)
    found = [
        group
        for group in clusters_after(merges[:fine], len(points))
        if len(group) >= min_topic_size(len(points))
    ]
    found.sort(key=lambda group: (-len(group), group))
    if len(found) == 1 and len(found[0]) == len(points):
        return Clusters()
    topics = tuple(tuple(int(points[place]) for place in group) for group in found)
    home = {
        place: number
        for number, group in enumerate(clusters_after(merges[:coarse], len(points)))
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


def _cuts(merges: Sequence[ClusterMerge], graph: list[dict[int, float]]) -> tuple[int, int]:
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
        for level, resolution in enumerate((TOPIC_RESOLUTION, THEME_RESOLUTION)):
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


def clusters_after(merges: Sequence[ClusterMerge], points: int) -> list[list[int]]:
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
