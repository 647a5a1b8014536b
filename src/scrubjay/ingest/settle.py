"""Settle: a source that has just been written -> what can be told only when all of it is stored.

A sync that is cut short leaves its source without a time of its last sync; the next one then settles all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.ingest.folders import refile
from scrubjay.ingest.resolve import Resolver, pages
from scrubjay.ingest.run import Run
from scrubjay.ingest.write import Ready
from scrubjay.memory.dates import now_micros
from scrubjay.memory.records import Document, Source
from scrubjay.store.changes import PutEdges

AT_ONCE: Final = 2_000
"""Memories whose edges one transaction puts."""


class Settler:
    """One source, while it is synced."""

    def __init__(self, run: Run, source: Source, known: Mapping[str, Document]) -> None:
        """Args: the sync, the source, and its documents before it."""
        self._run = run
        self._source = source
        self._known = known
        self._resolver = Resolver(source.id, run.scope)
        self._written: set[str] = set()
        self._shown: set[str] = set()

    def note(self, batch: Sequence[Ready]) -> None:
        """Remember what is about to be written."""
        labelled = [document.labelled for document in batch]
        before = [
            m for one in labelled for m in (*one.dropped, *one.renewed, *(kept.id for kept in one.kept))
        ]
        self.going(before)
        for one in labelled:
            if one.fresh or one.kept or one.dropped:
                self._written.add(one.document.path)
            if one.shown:
                self._shown.add(one.document.path)
            self._resolver.gather((memory.record for memory in one.fresh), one.renewed)

    def going(self, passages: Sequence[str]) -> None:
        """Remember who links to passages that are about to change or go."""
        if passages and "links" in self._run.weaver.stages:
            with self._run.store.reader(self._run.scope) as reader:
                self._resolver.touched(reader, passages)

    def settle(self, *, everything: bool) -> None:
        """Write what was waited with: the links by name, the categories by place.

        Args:
            everything: Look at all documents of the source, not only at those that were written.
        """
        at = now_micros()
        if "links" in self._run.weaver.stages:
            self._link(at, everything=everything)
        if "categories" in self._run.weaver.stages:
            self._file(at, everything=everything)

    def _link(self, at: int, *, everything: bool) -> None:
        with self._run.store.reader(self._run.scope) as reader:
            documents = pages(reader.documents(self._source.id))
            if everything:
                for path in documents:
                    self._resolver.gather(reader.passages(self._source.id, path), None)
            elif self._known:
                # What stays in a document may name a heading that came, or be read from another folder now.
                for path in sorted(self._written & documents.keys()):
                    self._resolver.gather(reader.passages(self._source.id, path))
                titles = {path: document.title for path, document in self._known.items()}
                new = [
                    document
                    for path, document in documents.items()
                    if titles.get(path) != document.title or path in self._shown
                ]
                self._resolver.came(reader, new, documents)
            found = self._resolver.edges(reader, documents, at)
        ids = list(found)
        for first in range(0, len(ids), AT_ONCE):
            some = ids[first : first + AT_ONCE]
            edges = tuple(edge for memory in some for edge in found[memory])
            self._run.store.write(self._run.scope, [PutEdges(edges, tuple(some), ("links",))])

    def _file(self, at: int, *, everything: bool) -> None:
        run = self._run
        with run.store.reader(run.scope) as reader:
            now = {
                path for path, document in reader.documents(self._source.id).items() if not document.cursor
            }
        before = {path for path, document in self._known.items() if not document.cursor}
        touched = self._written & now | now ^ before
        if everything or not before:
            refile(run.store, run.scope, self._source, at)
        elif touched:
            refile(run.store, run.scope, self._source, at, sorted(touched))
