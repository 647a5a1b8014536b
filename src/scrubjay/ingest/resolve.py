"""Resolve: what passages link to by name -> edges to the passages that are meant.

A link may be written before its page is, so links are gathered while a source is synced and looked up when all
of it is stored. When a page comes in a later sync, the notes that already speak of it are looked through.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from scrubjay.ingest.links import Pages, Target, links, slug
from scrubjay.ingest.sources.kinds import NO_TRANSCRIPT
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Document, Record, Source, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import PutEdges
from scrubjay.text.tokens import groups

AT_ONCE: Final = 2_000
"""Memories whose edges one transaction puts."""
MOST_MENTIONS: Final = 200
"""Stored passages looked through for links to a page that has just come."""
A_LOOK: Final = 50
"""Documents that are read in the time in which the words of one new page's names are looked up."""


@dataclass(frozen=True, slots=True)
class _Linking:
    """A passage with links: its id, its key, the path of its document and what it links to."""

    id: str
    key: str
    path: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """What tells where a passage stands: a record without its text.

    Attributes:
        id: Its id.
        key: Its visibility key.
        heading_path: Headings above it.
        title: Its own title.
    """

    id: str
    key: str
    heading_path: tuple[str, ...]
    title: str


Held = Mapping[str, Sequence[Standing]]
"""Path of a document to its passages: those that need not be read, for they were just written."""


class Resolver:
    """The links of one source, while it is synced."""

    def __init__(self, source: str, scope: Scope) -> None:
        """Args: the source, and who syncs it."""
        self._source = source
        self._scope = scope
        self._linking: dict[str, _Linking] = {}

    def gather(self, records: Iterable[Record], stale: Collection[str] | None = ()) -> None:
        """Remember the links of passages.

        Args:
            records: The passages.
            stale: Those that may have had links before and have none now; None for any.
        """
        for record in records:
            place = record.place
            if place is not None and place.source == self._source and record.session is None:
                targets = links(record.content)
                if targets or stale is None or record.id in stale:
                    self._linking[record.id] = _Linking(record.id, record.key, place.path, targets)

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
        if len(documents) < A_LOOK * len(new):
            for path in documents:
                self.gather(reader.passages(self._source, path))
            return
        tongues = reader.languages() or ("en",)
        for document in new:
            for name in {PurePosixPath(document.path).stem, document.title}:
                asked = groups(name, tongues)
                hits = reader.words(asked, Where(sources=(self._source,))).top(MOST_MENTIONS) if asked else []
                held = reader.get([hit.id for hit in hits]).values()
                self.gather(record for record in held if "[" in record.content)

    def edges(
        self, reader: Reader, documents: Mapping[str, Document], at: int, held: Held
    ) -> dict[str, list[Edge]]:
        """Return, for every passage that was remembered, the edges of its links as things are now.

        A shared passage links to what all see who see it: a private page takes no name from a shared one. What
        its writer alone can follow is an edge of their own.
        """
        seen = _Seen(reader, self._source, documents, held)
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


class _Seen:
    """The pages of one source, as they look to who sees some visibility keys."""

    def __init__(
        self, reader: Reader, source: str, documents: Mapping[str, Document], standing: Held
    ) -> None:
        self._reader = reader
        self._standing = standing
        self._source = source
        self._documents = documents
        self._pages: dict[tuple[str, ...], Pages] = {}
        self._hidden: dict[tuple[str, ...], set[str]] = {}
        self._held: dict[str, list[tuple[str, str, str]]] = {}

    def end(self, target: Target, start: str, keys: tuple[str, ...]) -> str | None:
        """Return the passage that a link in the document ``start`` means, None where they see none.

        Under the heading that it names, else the first of the document.
        """
        hidden = self._hidden.setdefault(keys, set())
        while True:
            if keys not in self._pages:
                self._pages[keys] = Pages({p: d for p, d in self._documents.items() if p not in hidden})
            path = self._pages[keys].find(target, start)
            if path is None:
                return None
            seen = [(memory, heading) for memory, heading, key in self._passages(path) if key in keys]
            if seen or path == start:
                break
            hidden.add(path)  # its name may be that of a page that they see
            del self._pages[keys]
        wanted = slug(target.heading)
        named = (memory for memory, heading in seen if wanted and heading == wanted)
        return next(named, seen[0][0] if seen else None)

    def _passages(self, path: str) -> list[tuple[str, str, str]]:
        """Return id, anchor and visibility key of a document's passages."""
        if path not in self._held:
            self._held[path] = [
                (p.id, slug(p.heading_path[-1]) if p.heading_path else "", p.key)
                for p in self._standing.get(path) or self._reader.passages(self._source, path)
            ]
        return self._held[path]


def relink(store: Store, scope: Scope, source: Source) -> None:
    """Look up the links of all documents of a source anew."""
    resolver = Resolver(source.id, scope)
    with store.reader(scope) as reader:
        documents = pages(reader.documents(source.id))
        for path in documents:
            resolver.gather(reader.passages(source.id, path), None)
        found = resolver.edges(reader, documents, now_micros(), {})
    put(store, scope, found)


def put(store: Store, scope: Scope, found: Mapping[str, Sequence[Edge]]) -> None:
    """Write the edges of passages' links in place of those that they had."""
    ids = list(found)
    for first in range(0, len(ids), AT_ONCE):
        some = ids[first : first + AT_ONCE]
        edges = tuple(edge for memory in some for edge in found[memory])
        store.write(scope, [PutEdges(edges, tuple(some), ("links",))])


def pages(documents: Mapping[str, Document]) -> dict[str, Document]:
    """Return the documents that are notes: conversations are none, nor data that lies beside them."""
    return {
        path: document
        for path, document in documents.items()
        if not document.cursor and document.versions.extractor != NO_TRANSCRIPT
    }
