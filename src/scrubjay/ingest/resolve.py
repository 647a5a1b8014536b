"""Resolve: what passages link to by name -> edges to the passages that are meant.

A link may be written before its page is, so links are gathered while a source is synced and looked up when all
of it is stored. When a page comes in a later sync, the notes that already speak of it are looked through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from scrubjay.ingest.links import Pages, Target, links, slug
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Document, Record, Where
from scrubjay.store.base import Reader
from scrubjay.text.tokens import groups

MOST_MENTIONS: Final = 200
"""Stored passages looked through for links to a page that has just come."""
MOST_NEW: Final = 64
"""Pages of one sync for which stored passages are looked through: more are a source that grew by itself."""


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

    def gather(self, records: Iterable[Record]) -> None:
        """Remember the links of passages that are new or changed."""
        for record in records:
            place = record.place
            if place is not None and place.source == self._source and record.session is None:
                self._linking[record.id] = _Linking(record.id, record.key, place.path, links(record.content))

    def bereft(self, reader: Reader, dropped: Sequence[str]) -> None:
        """Remember the passages that link to others which are about to go: their page may still be there."""
        sources = {
            edge.src for edge in reader.edges(dropped, ["links"], inward=True) if edge.origin == "found"
        }
        self.gather(reader.get(sorted(sources - set(dropped))).values())

    def came(self, reader: Reader, documents: Sequence[Document]) -> None:
        """Remember the stored passages that may link to pages which have just come."""
        for document in documents[:MOST_NEW]:
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
