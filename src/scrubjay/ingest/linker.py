"""Linker: connect written memories by links, entities, similarity and topics.

A link may be written before its page is, so links are gathered while a source is synced and looked up when all
of it is stored. When a page comes in a later sync, the notes that already speak of it are looked through.

Each memory is joined with the few nearest that were there before it. A link is stored once, from the later
one, and read from both ends, so what others write never uses up anybody's room. Whoever sees a memory must
see what it is joined with: a shared memory is joined with shared ones, a private one with any that its owner
sees.

Concepts are found and linked, and each memory is joined with what tells of the same and put under its topic.
All of it is done key by key: what the text of one visibility key teaches is kept under that key, and judged by
what everybody sees who sees that key. So nothing that a person writes for themselves moves what others see.

Only links within the notes are taken: a URL leads out of them, an image is not a memory. What stands in code
is an example of a link and no link.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from scrubjay.categories.clustering import has_enough_words
from scrubjay.categories.topics import TopicAssigner
from scrubjay.entities.dictionary import (
    DictionaryCache,
    EntityDictionary,
    NameStats,
    cached_dictionary,
    earlier_mentions,
)
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge, Entity
from scrubjay.models.records import Document, PassageRefs, Record, RecordFilter, Scope, Source, note_documents
from scrubjay.models.results import MICRO
from scrubjay.storage.changes import Change, PreparedMemory, PutConcept, PutEdges, QuantizedVectors
from scrubjay.storage.interface import Reader, Store
from scrubjay.storage.scoring import MAX_FLOAT32_DIMENSIONS, mean_directions, quantize
from scrubjay.text.markdown import LinkTarget, extract_links, heading_slug
from scrubjay.text.tokenizer import query_groups

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


EDGE_BATCH: Final = 2_000
"""Memories whose edges one transaction puts."""
MAX_MENTIONS: Final = 200
"""Stored passages looked through for links to a page that has just come."""
DOCUMENTS_PER_LOOKUP: Final = 50
"""Documents that are read in the time in which the words of one new page's names are looked up."""


@dataclass(frozen=True, slots=True)
class _LinkingPassage:
    """A passage with links: its id, its key, the path of its document and what it links to."""

    id: str
    key: str
    path: str
    targets: tuple[LinkTarget, ...]


class LinkResolver:
    """The links of one source, while it is synced."""

    def __init__(self, source: str, scope: Scope) -> None:
        """Args: the source, and who syncs it."""
        self._source = source
        self._scope = scope
        self._linking: dict[str, _LinkingPassage] = {}

    def gather(self, records: Iterable[Record], stale: Collection[str] | None = ()) -> None:
        """Remember the links of passages.

        Args:
            records: The passages.
            stale: Those that may have had links before and have none now; None for any.
        """
        for record in records:
            place = record.place
            if place is not None and place.source == self._source and record.session is None:
                targets = extract_links(record.content)
                if targets or stale is None or record.id in stale:
                    self._linking[record.id] = _LinkingPassage(record.id, record.key, place.path, targets)

    def touched(self, reader: Reader, passages: Sequence[str]) -> None:
        """Remember the passages that link to others which are about to change, move or go.

        Their page may still be there, or another of its name; a heading that they name may come.
        """
        sources = {
            edge.src for edge in reader.edges(passages, ["links"], inward=True) if edge.origin == "found"
        }
        self.gather(reader.get(sorted(sources)).values(), sources)

    def came(self, reader: Reader, new: Sequence[Document], documents: Mapping[str, Document]) -> None:
        """Remember the stored passages that may link to pages which have just come, or have a new title.

        Args:
            reader: What the writer sees.
            new: The pages.
            documents: All documents of the source, these included.
        """
        if len(documents) < DOCUMENTS_PER_LOOKUP * len(new):
            for path in documents:
                self.gather(reader.passages(self._source, path))
            return
        tongues = reader.languages() or ("en",)
        for document in new:
            for name in {PurePosixPath(document.path).stem, document.title}:
                asked = query_groups(name, tongues)
                hits = (
                    reader.words(asked, RecordFilter(sources=(self._source,))).top(MAX_MENTIONS)
                    if asked
                    else []
                )
                held = reader.get([hit.id for hit in hits]).values()
                self.gather(record for record in held if "[" in record.content)

    def edges(
        self, reader: Reader, documents: Mapping[str, Document], at: int, held: PassageRefs
    ) -> dict[str, list[Edge]]:
        """Return, for every passage that was remembered, the edges of its links as things are now.

        A shared passage links to what all see who see it: a private page takes no name from a shared one. What
        its writer alone can follow is an edge of their own.
        """
        seen = _VisiblePages(reader, self._source, documents, held)
        found: dict[str, list[Edge]] = {}
        for one in self._linking.values():
            edges: dict[str, Edge] = {}
            for target in one.targets:
                for key in dict.fromkeys((one.key, self._scope.key())):
                    end = seen.end(target, one.path, self._scope.seen_with(key).keys)
                    if end is not None and end != one.id:
                        edges.setdefault(end, Edge(one.id, "links", end, key, 1.0, at, rule=target.rule))
            found[one.id] = list(edges.values())
        return found


class _VisiblePages:
    """The pages of one source, as they look to who sees some visibility keys."""

    def __init__(
        self, reader: Reader, source: str, documents: Mapping[str, Document], standing: PassageRefs
    ) -> None:
        self._reader = reader
        self._standing = standing
        self._source = source
        self._documents = documents
        self._pages: dict[tuple[str, ...], PageIndex] = {}
        self._hidden: dict[tuple[str, ...], set[str]] = {}
        self._held: dict[str, list[tuple[str, str, str]]] = {}

    def end(self, target: LinkTarget, start: str, keys: tuple[str, ...]) -> str | None:
        """Return the passage that a link in the document ``start`` means, None where they see none.

        Under the heading that it names, else the first of the document.
        """
        hidden = self._hidden.setdefault(keys, set())
        while True:
            if keys not in self._pages:
                self._pages[keys] = PageIndex({p: d for p, d in self._documents.items() if p not in hidden})
            path = self._pages[keys].find(target, start)
            if path is None:
                return None
            seen = [(memory, heading) for memory, heading, key in self._passages(path) if key in keys]
            if seen or path == start:
                break
            hidden.add(path)  # its name may be that of a page that they see
            del self._pages[keys]
        wanted = heading_slug(target.heading)
        named = (memory for memory, heading in seen if wanted and heading == wanted)
        return next(named, seen[0][0] if seen else None)

    def _passages(self, path: str) -> list[tuple[str, str, str]]:
        """Return id, anchor and visibility key of a document's passages."""
        if path not in self._held:
            self._held[path] = [
                (p.id, heading_slug(p.heading_path[-1]) if p.heading_path else "", p.key)
                for p in self._standing.get(path) or self._reader.passages(self._source, path)
            ]
        return self._held[path]


def relink_source(store: Store, scope: Scope, source: Source) -> None:
    """Look up the links of all documents of a source anew."""
    resolver = LinkResolver(source.id, scope)
    with store.reader(scope) as reader:
        documents = note_documents(reader.documents(source.id))
        for path in documents:
            resolver.gather(reader.passages(source.id, path), None)
        found = resolver.edges(reader, documents, now_micros(), {})
    put_link_edges(store, scope, found)


def put_link_edges(store: Store, scope: Scope, found: Mapping[str, Sequence[Edge]]) -> None:
    """Write the edges of passages' links in place of those that they had."""
    ids = list(found)
    for first in range(0, len(ids), EDGE_BATCH):
        some = ids[first : first + EDGE_BATCH]
        edges = tuple(edge for memory in some for edge in found[memory])
        store.write(scope, [PutEdges(edges, tuple(some), ("links",))])


WIDENING: Final = 8
"""Times as many are asked for once more, where of those that came nearest too many cannot be joined with."""
MAX_KNOWN: Final = 100_000
"""Memories whose place is remembered through one sync: 20 MB."""


@dataclass(frozen=True, slots=True)
class SimilarityOptions:
    """When two memories are joined.

    Attributes:
        floor: Least cosine. With the static model, of pairs from two documents of the Rust book .75 still tells
            of one thing ("Sharing Data", "Reference Cycles"); of a handbook's tables it joins any two tables.
        links: Most links that a memory makes.
    """

    floor: float = 0.8
    links: int = 10


@dataclass(frozen=True, slots=True)
class SimilaritySubject:
    """What decides whether another memory may be joined with one.

    Attributes:
        key: Its visibility key.
        document: Where it stands: passages of one document are joined by it. Its own id, if in none.
        tells: Whether it says enough to be like another.
    """

    key: str
    document: tuple[str, str]
    tells: bool


class SimilarityLinker:
    """Joins the memories that one call writes."""

    def __init__(self, fingerprint: str, nearness: SimilarityOptions) -> None:
        """Args: the base model, whose vectors are compared, and when two are joined."""
        self._fingerprint = fingerprint
        self._nearness = nearness
        self._spots: dict[str, SimilaritySubject] = {}

    def similar(
        self,
        reader: Reader,
        fresh: Sequence[PreparedMemory],
        at: int,
        *,
        beside: Sequence[PreparedMemory] = (),
        again: bool = False,
    ) -> list[Edge]:
        """Return the edges from memories that are about to be written to those nearest to them.

        Args:
            reader: What whoever sees the memories sees: they share one visibility key.
            fresh: The memories, none of them stored as they are now.
            at: UTC microseconds of the edges.
            beside: What else is about to be written and seen by all who see these: of wider keys.
            again: The memories are stored as they are, and all are joined anew: of two with one key, the one
                with the greater id makes their link.
        """
        import numpy as np

        if len(self._spots) > MAX_KNOWN:
            self._spots.clear()
        self._remember([memory.record for memory in (*fresh, *beside)])
        telling = self._telling(fresh)
        if not telling:
            return []
        codes = [memory.vectors[self._fingerprint] for memory in telling]
        queries = mean_directions(codes, codes[0].data.shape[1])
        others = [*telling, *self._telling(beside)]
        now = {memory.record.id for memory in (*fresh, *beside)}
        found = self._stored(reader, [memory.record for memory in telling], queries, now, again=again)
        micro = _products(queries, [memory.vectors[self._fingerprint] for memory in others])
        ids = np.array([memory.record.id for memory in others])
        documents = np.unique(["\n".join(self._spots[one].document) for one in ids], return_inverse=True)[1]
        near = (micro / MICRO >= self._nearness.floor) & (documents != documents[: len(telling), None])
        near[:, : len(telling)] &= np.tri(len(telling), k=-1, dtype=bool)  # the later of two makes their link
        beside_it = near.any(axis=1)
        edges = []
        for place, memory in enumerate(telling):
            if beside_it[place]:
                rows = np.flatnonzero(near[place])
                order = np.lexsort((ids[rows], -micro[place, rows]))[: self._nearness.links]
                found[place] |= {str(ids[row]): float(micro[place, row] / MICRO) for row in rows[order]}
            edges += self._best(memory.record, found[place], at)
        return edges

    def _telling(self, memories: Sequence[PreparedMemory]) -> list[PreparedMemory]:
        return [m for m in memories if self._fingerprint in m.vectors and self._spots[m.record.id].tells]

    def _stored(
        self,
        reader: Reader,
        records: Sequence[Record],
        queries: NDArray[np.float32],
        now: set[str],
        *,
        again: bool,
    ) -> list[dict[str, float]]:
        """Return for each memory the stored ones it may be joined with, and how near they are."""
        found: list[dict[str, float]] = [{} for _ in records]
        if not reader.windows(self._fingerprint):
            return found
        links, texts = self._nearness.links, [query.tobytes() for query in queries]
        wanted, rows = links * 2, list(range(len(records)))
        for most in (wanted, wanted * WIDENING):
            # Each text once: of a thousand that are the same, every one is as near to every other.
            first: dict[bytes, int] = {}
            for row in rows:
                first.setdefault(texts[row], row)
            asked = queries[list(first.values())]
            nearest = reader.alike(self._fingerprint, asked, most, self._nearness.floor)
            hits = dict(zip(first, nearest, strict=True))
            unknown = {hit.id for some in nearest for hit in some} - self._spots.keys()
            self._remember(list(reader.get(list(unknown)).values()))
            short = []
            for row in rows:
                some = hits[texts[row]]
                fit = [hit for hit in some if hit.id not in now and self._fits(records[row], hit.id, again)]
                found[row] = {hit.id: hit.score for hit in fit}
                if len(some) == most and len(fit) < links:
                    short.append(row)
            rows = short
            if not rows:
                break
        return found

    def _fits(self, record: Record, other: str, again: bool) -> bool:
        spot = self._spots.get(other)
        if spot is None or not spot.tells or spot.document == self._spots[record.id].document:
            return False
        return not again or spot.key != record.key or _digits(other) < _digits(record.id)

    def _remember(self, records: Sequence[Record]) -> None:
        for record in records:
            place = record.place
            document = (place.source, place.path) if place is not None else ("", record.id)
            self._spots[record.id] = SimilaritySubject(record.key, document, has_enough_words(record))

    def _best(self, record: Record, found: Mapping[str, float], at: int) -> list[Edge]:
        ranked = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[: self._nearness.links]
        return [
            Edge(record.id, "similar", other, record.key, min(score, 1.0), at, rule="cosine")
            for other, score in ranked
        ]


def _digits(memory: str) -> str:
    return memory.partition("_")[2]


def _products(queries: NDArray[np.float32], held: Sequence[QuantizedVectors]) -> NDArray[np.int64]:
    """Return the cosine of each query with each memory's best window, in millionths, as a store scores them."""
    import numpy as np

    packed = [quantize(query) for query in queries]
    kind = np.dtype(np.float32 if queries.shape[1] <= MAX_FLOAT32_DIMENSIONS else np.float64)
    rows = np.concatenate([codes.data for codes in held]).astype(kind)
    scores = (np.stack([row for row, _ in packed]).astype(kind) @ rows.T).astype(np.float64)
    scales = np.concatenate([codes.scales for codes in held]).astype(np.float64)
    scores *= scales * np.array([scale for _, scale in packed])[:, None]
    scores *= MICRO
    micro = np.rint(scores, out=scores).astype(np.int64)
    if len(rows) == len(held):
        return micro
    first = np.cumsum([0, *(len(codes.scales) for codes in held[:-1])])
    return np.maximum.reduceat(micro, first, axis=1)


DERIVED_EDGE_KINDS: Final = ("belongs", "references", "similar")
"""Kinds of edges that are made anew with every change of a memory."""


@dataclass(frozen=True, slots=True)
class LinkingOptions:
    """What is done to connect memories.

    Attributes:
        stages: Any of ``concepts``, ``links`` (by name), ``similar``, ``categories``.
        nearness: When two memories are joined by likeness.
    """

    stages: tuple[str, ...] = ("concepts", "links", "similar", "categories")
    nearness: SimilarityOptions = field(default_factory=SimilarityOptions)


LINK_EVERYTHING: Final = LinkingOptions()


class EdgeBuilder:
    """Connects what one call writes.

    Attributes:
        linked: Concepts that memories were found to refer to, counted once a memory.
        written: Visibility key to memories that were connected.
    """

    def __init__(
        self,
        store: Store,
        scope: Scope,
        fingerprint: str,
        lexicons: DictionaryCache,
        wish: LinkingOptions = LINK_EVERYTHING,
    ) -> None:
        """Args: where to, who writes, the base model whose vectors tell what is alike, what is known, what to do."""
        self._wish = wish
        self._store = store
        self._scope = scope
        self._fingerprint = fingerprint
        self._secret = store.secret(scope)
        self._lexicons = lexicons
        self._shared: DictionaryCache = {}
        self._words: dict[str, EntityDictionary] = {}
        self._taught: dict[str, list[Entity]] = {}
        self._concepts: list[Change] = []
        self._earlier: list[Change] = []
        self._last: tuple[list[Change], list[Change]] = ([], [])
        self._neighbours = SimilarityLinker(fingerprint, wish.nearness)
        self._shelves: dict[str, TopicAssigner] = {}
        self.linked = 0
        self.written: Counter[str] = Counter()

    @property
    def stages(self) -> tuple[str, ...]:
        """What is done."""
        return self._wish.stages

    def learn(self, records: Sequence[Record], stored: Collection[str] = ()) -> None:
        """Find the concepts of memories that are about to be written, a window of them at a time.

        Memories that were written before and name one of them are linked with the next `changes`.

        Args:
            records: The memories.
            stored: Ids of those of them that are there already, as they are or as they were.
        """
        if "concepts" not in self._wish.stages:
            return
        at = now_micros()
        for key, same in _records_by_key(records).items():
            with self._store.reader(self._scope.seen_with(key)) as reader:
                words = self._known(reader, key)
                before = list(reader.get([r.id for r in same if r.id in stored]).values()) if stored else []
                new = words.taught(same, self._secret, key, at, NameStats(reader, before).count)
            self._concepts += [PutConcept(concept) for concept in new]
            if new:
                # The call's own: should the write fail, nobody else takes them for known.
                self._words[key] = words.grown(new)
                self._taught.setdefault(key, []).extend(new)
                mark, shared = self._shared[key]
                shared.promise(mark + len(self._taught[key]), self._taught[key], self._words[key])
                self._look_back(new, key, at)

    def changes(
        self, fresh: Sequence[PreparedMemory], renewed: Sequence[str], *, again: bool = False
    ) -> tuple[list[Change], list[Change]]:
        """Return what to write before these memories, and what after them, in the same transaction.

        Args:
            fresh: Memories that are about to be written, with their vectors.
            renewed: Ids of those that replace an earlier text of theirs.
            again: They are stored as they are, and all memories are connected anew in the order of their ids.
        """
        at = now_micros()
        edges: list[Edge] = []
        for key, same in _prepared_by_key(fresh).items():
            viewers = self._scope.seen_with(key)
            with self._store.reader(viewers) as reader:
                if "concepts" in self._wish.stages:
                    edges += self._references(reader, key, same, at)
                if "similar" in self._wish.stages:
                    beside = [m for m in fresh if m.record.key != key and m.record.key in viewers.keys]
                    edges += self._neighbours.similar(reader, same, at, beside=beside, again=again)
                if "categories" in self._wish.stages:
                    edges += self._belongs(reader, key, same, at)
            self.written[key] += len(same)
        before, after = self._concepts, self._earlier
        self._last = list(before), list(after)
        self._concepts, self._earlier = [], []
        if renewed:  # what others said of the earlier text may no longer hold
            after.append(PutEdges((), tuple(renewed), ("similar",), inward=True))
        after.append(PutEdges(tuple(edges), tuple(renewed), DERIVED_EDGE_KINDS))
        return before, after

    def refused(self) -> None:
        """Keep for the next write what was to go with one that was refused: who comes next may name the same."""
        concepts, earlier = self._last
        self._concepts, self._earlier = [*concepts, *self._concepts], [*earlier, *self._earlier]
        self._last = [], []

    def _known(self, reader: Reader, key: str) -> EntityDictionary:
        if key not in self._words:
            self._words[key] = cached_dictionary(reader, key, self._lexicons)
            self._shared[key] = reader.concept_mark(), self._words[key]
        return self._words[key]

    def _references(self, reader: Reader, key: str, same: Sequence[PreparedMemory], at: int) -> list[Edge]:
        words = self._known(reader, key)
        named = [edge for memory in same for edge in words.references(memory.record, at)]
        self.linked += len(named)
        return named

    def _belongs(self, reader: Reader, key: str, same: Sequence[PreparedMemory], at: int) -> list[Edge]:
        if key not in self._shelves:
            self._shelves[key] = TopicAssigner.standing(reader, key, self._fingerprint)
        shelves = self._shelves[key]
        about = (
            [m for m in same if self._fingerprint in m.vectors and has_enough_words(m.record)]
            if shelves.topics
            else []
        )
        if not about:
            return []
        codes = [memory.vectors[self._fingerprint] for memory in about]
        rows = mean_directions(codes, codes[0].data.shape[1])
        return shelves.edges([memory.record for memory in about], rows, at)

    def _look_back(self, new: Sequence[Entity], key: str, at: int) -> None:
        """Link the stored memories that name new concepts: those that all see who know them, and the writer's own."""
        words = EntityDictionary(new)
        for own in self._scope.keys:
            viewers = self._scope.seen_with(own)
            if key not in viewers.keys:
                continue
            with self._store.reader(viewers) as reader:
                found = [r for r in earlier_mentions(reader, new) if own in (key, r.key)]
            edges = tuple(edge for record in found for edge in words.references(record, at, own))
            if edges:
                self.linked += len(edges)
                self._earlier.append(PutEdges(edges))


def _records_by_key(records: Sequence[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.key, []).append(record)
    return found


def _prepared_by_key(memories: Sequence[PreparedMemory]) -> dict[str, list[PreparedMemory]]:
    found: dict[str, list[PreparedMemory]] = {}
    for memory in memories:
        found.setdefault(memory.record.key, []).append(memory)
    return found


class PageIndex:
    """The documents of one source by every name that a link may give them."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._paths = {path.casefold(): path for path in sorted(documents, reverse=True)}
        self._names: dict[str, str] = {}
        # A shorter path wins a name that two pages bear, then the smaller one: `seeds.md` before `old/seeds.md`.
        for path in sorted(documents, key=lambda path: (path.count("/"), path)):
            pure = PurePosixPath(path)
            title = documents[path].title
            for name in (pure.stem, str(pure.with_suffix("")), title, pure.stem.replace("___", "/")):
                self._names.setdefault(_page_name(name), path)

    def find(self, target: LinkTarget, path: str) -> str | None:
        """Return the path of the document that a link in the document ``path`` leads to, None for none."""
        if not target.name:
            return path
        if target.rule == "wikilink":
            return self._names.get(_page_name(target.name)) or self._paths.get(target.name.casefold())
        start = "" if target.name.startswith("/") else posixpath.dirname(path)
        full = posixpath.normpath(posixpath.join(start, target.name.lstrip("/"))).casefold()
        for ending in ("", ".md", "/index.md", "/readme.md", ".markdown"):
            if full + ending in self._paths:
                return self._paths[full + ending]
        # Rendered sites link to `page.html`, whose source is `page.md`.
        return self._paths.get(full.removesuffix(".html") + ".md") if full.endswith(".html") else None


def _page_name(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().removesuffix(".md").split())
