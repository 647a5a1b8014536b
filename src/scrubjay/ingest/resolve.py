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
from scrubjay.ingest.sources.files import NO_TRANSCRIPT
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Document, Record, Where
from scrubjay.store.base import Reader
from scrubjay.text.tokens import groups

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


class Resolver:
    """The links of one source, while it is synced."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._linking: dict[str, _Linking] = {}
        self._ends: dict[str, list[tuple[str, str]]] = {}

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
        for document in new:
            for name in {PurePosixPath(document.path).stem, document.title}:
                asked = groups(name, reader.languages() or ("en",))
                hits = reader.words(asked, Where(sources=(self._source,))).top(MOST_MENTIONS) if asked else []
                held = reader.get([hit.id for hit in hits]).values()
                self.gather(record for record in held if "[" in record.content)

    def edges(self, reader: Reader, documents: Mapping[str, Document], at: int) -> dict[str, list[Edge]]:
        """Return, for every passage that was remembered, the edges of its links as things are now."""
        pages = Pages(documents)
        found: dict[str, list[Edge]] = {}
        for one in self._linking.values():
            edges: dict[str, Edge] = {}
            for target in one.targets:
                meant = pages.find(target, one.path)
                end = self._end(reader, meant, slug(target.heading)) if meant is not None else None
                if end is not None and end != one.id:
                    edges.setdefault(end, Edge(one.id, "links", end, one.key, 1.0, at, rule=target.rule))
            found[one.id] = list(edges.values())
        return found

    def _end(self, reader: Reader, path: str, wanted: str) -> str | None:
        """Return the passage that a link into a document means: under the heading it names, else the first."""
        if path not in self._ends:
            passages = reader.passages(self._source, path)
            self._ends[path] = [(p.id, slug(p.heading_path[-1]) if p.heading_path else "") for p in passages]
        held = self._ends[path]
        named = (memory for memory, heading in held if wanted and heading == wanted)
        return next(named, held[0][0] if held else None)


def pages(documents: Mapping[str, Document]) -> dict[str, Document]:
    """Return the documents that a link may mean: conversations are none, nor data that lies beside them."""
    return {
        path: document
        for path, document in documents.items()
        if not document.cursor and document.versions.extractor != NO_TRANSCRIPT
    }
