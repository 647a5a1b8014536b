"""Settle: a source that has just been written -> what can be told only when all of it is stored.

A sync that is cut short leaves its source without a time of its last sync; the next one then settles all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final

from scrubjay.ingest.folders import refile
from scrubjay.ingest.label import Labelled
from scrubjay.ingest.resolve import Resolver, Standing, pages, put, relink
from scrubjay.ingest.run import Run
from scrubjay.ingest.write import Ready
from scrubjay.memory.dates import now_micros
from scrubjay.memory.records import Document, Record, Source

MOST_HELD: Final = 50_000
"""Passages whose place is remembered through one sync instead of being read again: 15 MB."""


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
        self._keys: set[str] = set()
        self._held: dict[str, tuple[Standing, ...]] = {}
        self._room = MOST_HELD

    def note(self, batch: Sequence[Ready]) -> None:
        """Remember what is about to be written."""
        labelled = [document.labelled for document in batch]
        before = [
            m for one in labelled for m in (*one.dropped, *one.renewed, *(kept.id for kept in one.kept))
        ]
        self.going(before)
        self._keys.update(*(document.keys for document in batch))
        for one in labelled:
            if one.fresh or one.kept or one.dropped:
                self._written.add(one.document.path)
            if one.shown:
                self._shown.add(one.document.path)
            self._resolver.gather((memory.record for memory in one.fresh), one.renewed)
            self._hold(one)

    def _hold(self, one: Labelled) -> None:
        """Remember the passages of a document that is whole in what is about to be written, while there is room."""
        path = one.document.path
        parts = one.kept or one.dropped or one.grows or one.moved_from is not None or path in self._held
        if parts or self._known or len(one.fresh) > self._room:
            self._held[path] = ()  # read, when it is asked for
            return
        records = [memory.record for memory in one.fresh]
        self._held[path] = tuple(Standing(r.id, r.key, r.heading_path, r.title) for r in records)
        self._room -= len(records)

    def gone(self, records: Sequence[Record]) -> None:
        """Remember passages whose documents are about to go."""
        self._keys.update(record.key for record in records)
        self.going([record.id for record in records])

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
        run = self._run
        with run.store.reader(run.scope) as reader:
            documents = pages(reader.documents(self._source.id))
        if "links" in run.weaver.stages:
            self._link(documents, everything=everything)
        if "categories" in run.weaver.stages:
            self._file(documents.keys(), everything=everything)

    def _link(self, documents: Mapping[str, Document], *, everything: bool) -> None:
        run = self._run
        if everything:
            relink(run.store, run.scope, self._source)
            return
        with run.store.reader(run.scope) as reader:
            if self._known:
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
            found = self._resolver.edges(reader, documents, now_micros(), self._held)
        put(run.store, run.scope, found)

    def _file(self, now: Set[str], *, everything: bool) -> None:
        run, before = self._run, pages(self._known).keys()
        touched = self._written & now | now ^ before
        if everything or not before:
            held = {} if everything else self._held
            refile(run.store, run.scope, self._source, now_micros(), held=held)
        elif touched:
            # What happens to documents of one key does not bring the places of another in step: that would be felt.
            refile(run.store, run.scope, self._source, now_micros(), sorted(touched), keys=self._keys)
