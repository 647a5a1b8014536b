"""Resolve: what passages link to by name -> edges to the passages that are meant.

A link may be written before its page is. Within a sync such a link waits for its page; when a page comes in a
later sync, the notes that already speak of it are looked through (`spoken_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from scrubjay.ingest.links import Pages, Target, links, slug
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Document, Record, Where
from scrubjay.store.base import Reader
from scrubjay.text.tokens import groups

MOST_MENTIONS: Final = 200
"""Stored passages looked through for links to a page that has just come."""


End = tuple[str, str]
"""A passage as links find it: its id, and the anchor of its nearest heading."""


class Resolver:
    """The links of one source, while it is synced."""

    def __init__(self, source: str, documents: Mapping[str, Document]) -> None:
        self._source = source
        self._pages = Pages(documents)
        self._waiting: dict[str, list[tuple[Record, Target]]] = {}
        self._ends: dict[str, list[End]] = {}

    def edges(
        self, reader: Reader, fresh: Sequence[Record], ends: Mapping[str, Sequence[End]], at: int
    ) -> list[Edge]:
        """Return the edges of the links in passages that are about to be written, and of links that waited for them.

        Args:
            reader: The store as it is.
            fresh: Passages that are new or changed, of documents of this source.
            ends: Path to the passages of each document that is written, as they will be, in order.
            at: UTC microseconds of the edges.
        """
        self._ends.update((path, list(passages)) for path, passages in ends.items())
        found = self.renewed(reader, fresh, at)
        for path in ends:
            for record, target in self._waiting.pop(path, ()):
                found += self._edge(reader, record, target, at)
        return found

    def renewed(self, reader: Reader, records: Iterable[Record], at: int) -> list[Edge]:
        """Return the edges of passages' links, looked up as things are now."""
        found = []
        for record in records:
            if record.place is not None and record.place.source == self._source:
                for target in links(record.content):
                    found += self._edge(reader, record, target, at)
        return found

    def spoken_of(self, reader: Reader, path: str, title: str) -> list[Record]:
        """Return stored passages of this source that may link to a page which has just come."""
        found: dict[str, Record] = {}
        for name in {PurePosixPath(path).stem, title}:
            asked = groups(name, reader.languages() or ("en",))
            if asked:
                hits = reader.words(asked, Where(sources=(self._source,))).top(MOST_MENTIONS)
                found |= reader.get([hit.id for hit in hits])
        return [record for record in found.values() if "[" in record.content]

    def _edge(self, reader: Reader, record: Record, target: Target, at: int) -> list[Edge]:
        assert record.place is not None
        meant = self._pages.find(target, record.place.path)
        if meant is None:
            return []
        passages = self._held(reader, meant)
        if not passages:
            slim = replace(record, content="", abstract=None, overview=None)
            self._waiting.setdefault(meant, []).append((slim, target))
            return []
        end = _passage(passages, slug(target.heading))
        if end == record.id:
            return []
        return [Edge(record.id, "links", end, record.key, 1.0, at, rule=target.rule)]

    def _held(self, reader: Reader, path: str) -> list[End]:
        if path not in self._ends:
            found = [end_of(record) for record in reader.passages(self._source, path)]
            if not found:
                return []
            self._ends[path] = found
        return self._ends[path]


def end_of(record: Record) -> End:
    """Return a passage as links find it."""
    return record.id, slug(record.heading_path[-1]) if record.heading_path else ""


def _passage(passages: Sequence[End], wanted: str) -> str:
    """Return the id of the passage that a link into a document means: under the heading it names, else the first."""
    return next((memory for memory, heading in passages if wanted and heading == wanted), passages[0][0])
