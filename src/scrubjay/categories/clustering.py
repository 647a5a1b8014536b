"""Clustering: feature rows of memories, topics among them, and themes above the topics.

Average linkage follows chains of nearest neighbours, which gives the same tree as always merging the closest pair in
O(n^2) time (Murtagh, 1983; Müllner, 2011). The tree is cut twice, where the modularity of the graph of nearest
neighbours is greatest (Newman and Girvan, 2004; with a resolution, Reichardt and Bornholdt, 2006):

    sum over clusters of inside / all - resolution * (degrees / all) ** 2

Resolutions of 1.5 to 3 and 3 to 5 neighbours give nearly the same cuts; the best silhouette cuts far too fine.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.frozen import frozen
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import Record
from scrubjay.storage.interface import Reader
from scrubjay.storage.scoring import mean_directions, unit_rows
from scrubjay.text.language import detect_language
from scrubjay.text.markdown import normalize_newlines
from scrubjay.text.normalize import has_unspaced, split_scripts
from scrubjay.text.summaries import overview_of, text_units
from scrubjay.text.tokenizer import index_terms

if TYPE_CHECKING:
    from scrubjay.storage.changes import QuantizedVectors

MIN_WORDS: Final = 8
"""Minimum number of words of a memory with a topic."""
LONG_TEXT: Final = 200
"""Characters of a text that has enough words."""
CHARACTERS_PER_WORD: Final = 2
"""Characters of a word in a script without spaces, on average."""
WORD_WEIGHT: Final = 0.7
"""Length of the words' half, the vectors' being 1; .5 to 1 do about as well."""
HASH_COLUMNS: Final = 1024
BLOCK_ROWS: Final = 256
"""Rows that are computed at once where all would need much memory."""
COMMON_SHARE: Final = 0.25
"""Share of the memories above which a term is ignored."""
MAX_TERMS: Final = 300
"""Terms of one topic."""
TITLE_TERMS: Final = 60
"""Of these, terms that are looked up in titles."""
UNINFORMATIVE_KINDS: Final = frozenset(("more code", "row"))
"""Kinds of lines that are left out of a text."""
NEIGHBOURS: Final = 5
TOPIC_RESOLUTION: Final = 2.0
THEME_RESOLUTION: Final = 0.5
"""Of 577 notes the resolutions give 21 to 42 topics and 6 to 9 themes."""
MAX_TREE_POINTS: Final = 2_000
"""Points of one tree: 16 MB of similarities and about half a second. Of more, a sample is clustered."""

Matrix = NDArray[np.float32]


def has_enough_words(record: Record) -> bool:
    """Return whether a memory has enough words to have a topic.

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


@frozen
class TopicMember:
    """One memory, as topics read it.

    Attributes:
        title: Its title, or an empty string.
        text: Text for names and overviews: its overview, else its content.
        terms: Its indexed terms with their counts.
    """

    id: str
    title: str
    text: str
    terms: Mapping[str, int]
    language: str = "en"


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """A topic, or a theme above topics.

    Attributes:
        name: Unique among the topics of a result.
        abstract: L0, at most 30 tokens.
        overview: L1, at most 120 tokens.
        members: Ids of its memories, sorted; a theme has none of its own.
        weights: Cosine of each member to the centroid, 0..1.
        centroid: Unit vector of its members' mean, (dimensions,).
        parent: Name of its theme, or None.
        id: Id of the category that it continues, or None if it is new.
    """

    name: str
    abstract: str
    overview: str
    members: tuple[str, ...]
    weights: tuple[float, ...]
    centroid: Matrix
    parent: str | None = None
    id: str | None = None


@frozen
class KnownCategory:
    """A category of an earlier build.

    Attributes:
        members: Ids of its memories; of a theme, those of its topics.
    """

    id: str
    name: str
    members: frozenset[str]
    theme: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TermMatrix:
    """Sparse matrix of terms, one row a memory.

    Attributes:
        words: The terms, sorted.
        rows: Row of each entry, ascending, (entries,).
        terms: Term of each entry, index into ``words``, (entries,).
        counts: Occurrences, (entries,).
    """

    words: tuple[str, ...]
    rows: NDArray[np.intp]
    terms: NDArray[np.intp]
    counts: NDArray[np.float32]
    size: int

    def document_frequency(self) -> NDArray[np.intp]:
        """Return the number of rows with each term, (words,)."""
        return np.bincount(self.terms, minlength=len(self.words))

    def select(self, rows: Sequence[int]) -> TermMatrix:
        """Return the matrix of some rows, in this order; the terms keep their numbers."""
        index = np.full(self.size, -1, dtype=np.intp)
        index[list(rows)] = np.arange(len(rows))
        mask = index[self.rows] >= 0
        new_rows = index[self.rows[mask]]
        order = np.argsort(new_rows, kind="stable")
        return TermMatrix(
            self.words, new_rows[order], self.terms[mask][order], self.counts[mask][order], len(rows)
        )


def term_matrix(counted: Iterable[Mapping[str, int]]) -> TermMatrix:
    places: defaultdict[str, int] = defaultdict(count().__next__)
    sizes: list[int] = []
    terms: list[int] = []
    counts: list[int] = []
    for bag in counted:
        sizes.append(len(bag))
        terms += map(places.__getitem__, bag)
        counts += bag.values()
    words = sorted(places)
    sorted_places = np.empty(len(words), dtype=np.intp)
    sorted_places[np.fromiter(map(places.__getitem__, words), dtype=np.intp, count=len(words))] = np.arange(
        len(words)
    )
    return TermMatrix(
        tuple(words),
        np.repeat(np.arange(len(sizes)), sizes),
        sorted_places[np.array(terms, dtype=np.intp)],
        np.array(counts, dtype=np.float32),
        len(sizes),
    )


def feature_rows(vectors: Matrix, matrix: TermMatrix) -> Matrix:
    """Return unit rows of centred vectors beside hashed tf-idf words, (n, d + ``HASH_COLUMNS``).

    Over nine pairs of set and model the adjusted Rand index at the best cut is .46 with both, .44 with the vectors and
    .43 with the words alone. A memory with neither a vector nor a shared term gets zeros.

    ``vectors`` are unit rows or zeros, (n, d); ``matrix`` has the terms in the same order.
    """
    present = np.any(vectors != 0, axis=1, keepdims=True)
    mean = vectors.sum(axis=0) / max(1, int(present.sum()))
    dimensions = vectors.shape[1]
    rows = np.empty((len(vectors), dimensions + HASH_COLUMNS), np.float32)
    rows[:, :dimensions] = unit_rows(np.where(present, vectors - mean, 0).astype(np.float32))
    for first, words in _word_rows(matrix):
        block = rows[first : first + len(words)]
        block[:, dimensions:] = WORD_WEIGHT * words
        block[:] = unit_rows(block)
    return rows


def _word_rows(matrix: TermMatrix) -> Iterator[tuple[int, Matrix]]:
    """Hash each term into a column with a sign (Weinberger et al., 2009); it moves the Rand index by .01.

    Yields the first row and the rows of a block: all in double precision would be the greatest array of a sync.
    """
    frequency = matrix.document_frequency()
    frequent = np.flatnonzero((frequency >= 2) & (frequency <= max(2, COMMON_SHARE * matrix.size)))
    codes = np.zeros(len(matrix.words), dtype=np.int64)
    codes[frequent] = [
        zlib.crc32(matrix.words[term].encode("utf-8", "surrogatepass")) for term in frequent.tolist()
    ]
    weights = np.zeros(len(matrix.words))
    weights[frequent] = np.log(matrix.size / frequency[frequent]) * np.where(codes[frequent] >> 31, 1, -1)
    places = matrix.rows * HASH_COLUMNS + codes[matrix.terms] % HASH_COLUMNS
    values = (1 + np.log(matrix.counts)) * weights[matrix.terms]
    for first in range(0, matrix.size, BLOCK_ROWS):
        size = min(BLOCK_ROWS, matrix.size - first)
        start, end = np.searchsorted(matrix.rows, (first, first + size))
        own = places[start:end] - first * HASH_COLUMNS
        sums = np.bincount(own, values[start:end], minlength=size * HASH_COLUMNS)
        yield first, unit_rows(sums.reshape(size, HASH_COLUMNS).astype(np.float32))


def term_weights(
    groups: Sequence[Sequence[int]], members: Sequence[TopicMember], matrix: TermMatrix
) -> list[dict[str, float]]:
    """Return the weight of each topic's distinctive terms, the greatest first.

        share inside * log(share inside / share outside) * (1 + share of the topic's titles that hold it)

    ``groups`` are the rows of each topic, none empty.
    """
    overall = matrix.document_frequency()
    starts = np.searchsorted(matrix.rows, np.arange(matrix.size + 1))
    found = []
    for group in groups:
        inside = np.bincount(
            np.concatenate([matrix.terms[starts[row] : starts[row + 1]] for row in group]),
            minlength=len(matrix.words),
        )
        terms = np.flatnonzero(inside > 1)
        share = inside[terms] / len(group)
        outside = (overall[terms] - inside[terms] + 0.5) / (matrix.size - len(group) + 1)
        distinctive = share > outside
        terms, share, outside = terms[distinctive], share[distinctive], outside[distinctive]
        divergence = share * np.log(share / outside)
        best = np.argsort(-divergence, kind="stable")[:MAX_TERMS].tolist()
        weights = {matrix.words[terms[index]]: float(divergence[index]) for index in best}
        titles = "\n".join(members[row].title for row in group).casefold()
        for term in list(weights)[:TITLE_TERMS]:
            weights[term] *= 1 + min(1.0, titles.count(term) / len(group))
        found.append(dict(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class TopicInput:
    """Input of a topic build.

    Attributes:
        members: The memories, in the order of the records.
        vectors: Unit vector of each in the base model; zeros for one without vectors.
        finer: Vectors of a finer model that covers all memories, or None.
        model: Name of that model, else an empty string.
    """

    members: list[TopicMember]
    vectors: Matrix
    finer: Matrix | None = None
    model: str = ""


def gather_members(
    reader: Reader, records: Sequence[Record], base: EmbeddingModel, finer: Sequence[EmbeddingModel] = ()
) -> TopicInput:
    """Read the input of a topic build.

    ``finer`` are finer models, the best first; they need not cover all memories.
    """
    languages = reader.languages()
    members = []
    for record in records:
        overview = overview_of(record.title, record.content, record.heading_path)
        text = overview or plain_sentences(record.content)
        language = languages[0] if len(languages) == 1 else detect_language(text)
        terms = index_terms(text, language).counts
        members.append(TopicMember(record.id, record.title, text, terms, language))
    ids = [record.id for record in records]
    empty = [row for row, member in enumerate(members) if not member.terms]  # a comment, a picture

    def rows(model: EmbeddingModel, stored: Mapping[str, QuantizedVectors]) -> Matrix:
        found = mean_directions([stored.get(memory) for memory in ids], model.dimensions)
        found[empty] = 0
        return found

    vectors = rows(base, reader.vectors(base.fingerprint, ids))
    for model in finer:
        if reader.coverage(model.fingerprint).covered >= len(ids):
            stored = reader.vectors(model.fingerprint, ids)
            if len(stored) == len(ids):
                return TopicInput(members, vectors, rows(model, stored), model.name)
    return TopicInput(members, vectors)


def plain_sentences(content: str) -> str:
    """Return the sentences of a short memory, one a line, without markup, comments and link targets."""
    return "\n".join(
        text for kind, text in text_units(normalize_newlines(content)) if kind not in UNINFORMATIVE_KINDS
    )


class ClusterMerge(NamedTuple):
    """Merge of the clusters that hold points ``left`` and ``right``."""

    similarity: float
    left: int
    right: int


def average_linkage(similarity: Matrix) -> list[ClusterMerge]:
    """Return the n - 1 merges of n points, most similar first.

    ``similarity`` is symmetric, (n, n), and overwritten.
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


@frozen
class Clusters:
    """Two levels of clusters.

    Attributes:
        topics: Rows of each topic, ascending; the largest topic first.
        themes: Indexes into ``topics`` of each theme; not every topic has one.
    """

    topics: tuple[tuple[int, ...], ...] = ()
    themes: tuple[tuple[int, ...], ...] = ()


def min_topic_size(total: int) -> int:
    """Return the smallest size of a topic among ``total`` memories: 2 of 30, 3 of 100, 5 of 2,000, 8 of 100,000."""
    return max(2, int(math.log2(max(2, total)) / 2))


def sample_rows(ids: Sequence[str]) -> list[int]:
    """Return all rows, or the ``MAX_TREE_POINTS`` with the smallest hashes of their ids."""
    if len(ids) <= MAX_TREE_POINTS:
        return list(range(len(ids)))
    digests = [hashlib.blake2b(memory.encode(), digest_size=8).digest() for memory in ids]
    return sorted(sorted(range(len(ids)), key=lambda row: (digests[row], ids[row]))[:MAX_TREE_POINTS])


def cluster_rows(rows: Matrix) -> Clusters:
    """Find the topics among some points; a single cluster of all points is no topic.

    ``rows`` are unit rows, (n, d), in the order of the ids; rows of zeros are in no topic.
    """
    points = np.flatnonzero(np.any(rows != 0, axis=1))
    if len(points) < 4:  # two topics of two
        return Clusters()
    present = rows if len(points) == len(rows) else rows[points]
    similarity = present @ present.T  # of one array with itself: half the work
    graph = _neighbour_graph(similarity)
    merges = average_linkage(similarity)
    fine, coarse = _best_cuts(merges, graph)
    least = min_topic_size(len(points))
    groups = [group for group in clusters_after(merges[:fine], len(points)) if len(group) >= least]
    groups.sort(key=lambda group: (-len(group), group))
    if len(groups) == 1 and len(groups[0]) == len(points):
        return Clusters()
    topics = tuple(tuple(int(points[index]) for index in group) for group in groups)
    theme_of = {
        point: number
        for number, group in enumerate(clusters_after(merges[:coarse], len(points)))
        for point in group
    }
    themes: dict[int, list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        themes[theme_of[group[0]]].append(number)
    found = [tuple(theme) for theme in themes.values() if 1 < len(theme) < len(topics)]
    return Clusters(topics, tuple(found))


def _neighbour_graph(similarity: Matrix) -> list[dict[int, float]]:
    edges: list[dict[int, float]] = [{} for _ in similarity]
    found: list[list[tuple[int, int, float]]] = [[] for _ in range(min(NEIGHBOURS, len(similarity) - 1))]
    for first in range(0, len(similarity), BLOCK_ROWS):  # a copy of all would double the peak
        own = similarity[first : first + BLOCK_ROWS].copy()
        every = np.arange(len(own))
        own[every, first + every] = -np.inf
        for rank in found:
            nearest = own.argmax(axis=1)  # of equal ones the first
            weights = own[every, nearest]
            own[every, nearest] = -np.inf
            rank += zip((first + every).tolist(), nearest.tolist(), weights.tolist(), strict=True)
    for rank in found:
        for point, other, weight in rank:
            if weight > 0:
                edges[point][other] = edges[other][point] = weight
    return edges


def _best_cuts(merges: Sequence[ClusterMerge], graph: list[dict[int, float]]) -> tuple[int, int]:
    """Return the numbers of merges with the greatest modularity, for topics and for themes."""
    degree = [math.fsum(edges.values()) for edges in graph]
    total = math.fsum(degree)
    if total == 0:
        return 0, 0
    parent = list(range(len(graph)))
    between = [dict(edges) for edges in graph]
    modularity, best, cuts = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for number, merge in enumerate(merges, 1):
        left, right = _root(parent, merge.left), _root(parent, merge.right)
        if len(between[left]) < len(between[right]):
            left, right = right, left
        shared = 2 * between[left].pop(right, 0.0) / total
        expected = 2 * degree[left] * degree[right] / total**2
        for level, resolution in enumerate((TOPIC_RESOLUTION, THEME_RESOLUTION)):
            modularity[level] += shared - resolution * expected
            if modularity[level] > best[level] + 1e-12:
                best[level], cuts[level] = modularity[level], number
        between[right].pop(left, None)
        for other, weight in between[right].items():
            del between[other][right]
            between[left][other] = between[other][left] = between[left].get(other, 0.0) + weight
        between[right] = {}
        degree[left] += degree[right]
        parent[right] = left
    return cuts[0], cuts[1]


def clusters_after(merges: Sequence[ClusterMerge], points: int) -> list[list[int]]:
    """Return the points of each cluster after some merges, by their smallest."""
    parent = list(range(points))
    for merge in merges:
        parent[_root(parent, merge.right)] = _root(parent, merge.left)
    groups: dict[int, list[int]] = defaultdict(list)
    for point in range(points):
        groups[_root(parent, point)].append(point)
    return list(groups.values())


def _root(parent: list[int], point: int) -> int:
    while parent[point] != point:
        parent[point] = parent[parent[point]]
        point = parent[point]
    return point
