"""Finalizer: resolve the links and folder categories of a source once its documents are stored.

A link may precede its page, so links are collected during a sync and resolved at its end; when a page is new, stored
notes that may link to it are searched for. URLs, images and links in code do not count.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from scrubjay.categories.folders import folder_changes
from scrubjay.ingest.alignment import PreparedDocument
from scrubjay.ingest.sync_run import LINK_BATCH, SyncRun
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge
from scrubjay.models.records import (
    Document,
    PassageRef,
    PassageRefs,
    Record,
    RecordFilter,
    Scope,
    Source,
    note_documents,
)
from scrubjay.storage.changes import Change, PutEdges
from scrubjay.storage.interface import Reader, Store
from scrubjay.text.markdown import LinkTarget, extract_links, heading_slug
from scrubjay.text.tokenizer import query_groups

MAX_CACHED_PASSAGES: Final = 50_000
"""Passages cached through one sync: 15 MB."""
MAX_MENTIONS: Final = 200
"""Stored passages searched for links to a new page."""
DOCUMENTS_PER_LOOKUP: Final = 50
"""Documents that can be read in the time of one word lookup."""


class SourceFinalizer:
    """Collects what a sync changes in one source, and derives links and folder categories from it at the end."""

    def __init__(self, run: SyncRun, source: Source, known: Mapping[str, Document]) -> None:
        self._stages = run.edges.stages
        self._scope = run.scope
        self._secret = run.secret
        self._source = source
        self._known = known
        self._resolver = LinkResolver(source.id, run.scope)
        self._changed_paths: set[str] = set()
        self._shown_paths: set[str] = set()
        self._keys: set[str] = set()
        self._passages: dict[str, tuple[PassageRef, ...]] = {}
        self._room = MAX_CACHED_PASSAGES

    def note_batch(self, reader: Reader, batch: Sequence[PreparedDocument]) -> None:
        """Record documents that are about to be written, and which passages link to the ones they replace."""
        replaced = [
            memory
            for one in batch
            for memory in (*one.dropped, *one.renewed, *(kept.id for kept in one.kept))
        ]
        if replaced and "links" in self._stages:
            self._resolver.add_linking(reader, replaced)
        for one in batch:
            self._keys |= one.keys
            if one.fresh or one.kept or one.dropped:
                self._changed_paths.add(one.path)
            if one.shown:
                self._shown_paths.add(one.path)
            self._resolver.add((memory.record for memory in one.fresh), one.renewed)
            self._cache_passages(one)

    def note_dropped(self, reader: Reader, records: Sequence[Record]) -> None:
        """Record which passages link to those that are about to be dropped."""
        self._keys.update(record.key for record in records)
        if records and "links" in self._stages:
            self._resolver.add_linking(reader, [record.id for record in records])

    def changes(self, reader: Reader, *, everything: bool) -> list[Change]:
        """Return what brings links and folder categories up to date, of all documents with ``everything``."""
        documents = note_documents(reader.documents(self._source.id))
        changes: list[Change] = []
        if "links" in self._stages:
            if everything:
                changes += relink_changes(reader, self._scope, self._source)
            else:
                changes += self._link_changes(reader, documents)
        if "categories" in self._stages:
            changes += self._folder_changes(reader, documents.keys(), everything=everything)
        return changes

    def _link_changes(self, reader: Reader, documents: Mapping[str, Document]) -> list[Change]:
        if self._known:
            # Unchanged passages may link to a new heading, or resolve from another folder now.
            for path in sorted(self._changed_paths & documents.keys()):
                self._resolver.add(reader.passages(self._source.id, path))
            titles = {path: document.title for path, document in self._known.items()}
            new = [
                document
                for path, document in documents.items()
                if titles.get(path) != document.title or path in self._shown_paths
            ]
            self._resolver.add_mentions(reader, new, documents)
        return put_links(self._resolver.edges(reader, documents, now_micros(), self._passages))

    def _folder_changes(self, reader: Reader, now: Set[str], *, everything: bool) -> list[Change]:
        before = note_documents(self._known).keys()
        touched = self._changed_paths & now | now ^ before
        if everything or not before:
            passages = {} if everything else self._passages
            return folder_changes(reader, self._secret, self._source, now_micros(), passages=passages)
        if not touched:
            return []
        # Other keys' categories stay as they are: their viewers must not notice.
        return folder_changes(
            reader, self._secret, self._source, now_micros(), changed=sorted(touched), keys=self._keys
        )

    def _cache_passages(self, one: PreparedDocument) -> None:
        path = one.path
        partial = one.kept or one.dropped or one.grows or one.moved_from is not None or path in self._passages
        if partial or self._known or len(one.fresh) > self._room:
            self._passages[path] = ()  # read when it is needed
            return
        records = [memory.record for memory in one.fresh]
        self._passages[path] = tuple(PassageRef(r.id, r.key, r.heading_path, r.title) for r in records)
        self._room -= len(records)


def relink_source(store: Store, scope: Scope, source: Source) -> None:
    with store.reader(scope) as reader:
        changes = relink_changes(reader, scope, source)
    for change in changes:
        store.write(scope, [change])


def relink_changes(reader: Reader, scope: Scope, source: Source) -> list[Change]:
    resolver = LinkResolver(source.id, scope)
    documents = note_documents(reader.documents(source.id))
    for path in documents:
        resolver.add(reader.passages(source.id, path), None)
    return put_links(resolver.edges(reader, documents, now_micros(), {}))


def put_links(links: Mapping[str, Sequence[Edge]]) -> list[Change]:
    ids = list(links)
    changes: list[Change] = []
    for first in range(0, len(ids), LINK_BATCH):
        some = ids[first : first + LINK_BATCH]
        edges = tuple(edge for memory in some for edge in links[memory])
        changes.append(PutEdges(edges, tuple(some), ("links",)))
    return changes


@dataclass(frozen=True, slots=True)
class _LinkingPassage:
    id: str
    key: str
    path: str
    targets: tuple[LinkTarget, ...]


class LinkResolver:
    def __init__(self, source: str, scope: Scope) -> None:
        self._source = source
        self._scope = scope
        self._linking: dict[str, _LinkingPassage] = {}

    def add(self, records: Iterable[Record], stale: Collection[str] | None = ()) -> None:
        """Add passages; ``stale`` are ids of passages that may have had links before, None for any."""
        for record in records:
            place = record.place
            if place is not None and place.source == self._source and record.session is None:
                targets = extract_links(record.content)
                if targets or stale is None or record.id in stale:
                    self._linking[record.id] = _LinkingPassage(record.id, record.key, place.path, targets)

    def add_linking(self, reader: Reader, passages: Sequence[str]) -> None:
        """Add the passages that link to ones which are about to change, move or go."""
        sources = {
            edge.src for edge in reader.edges(passages, ["links"], inward=True) if edge.origin == "found"
        }
        self.add(reader.get(sorted(sources)).values(), sources)

    def add_mentions(
        self, reader: Reader, new: Sequence[Document], documents: Mapping[str, Document]
    ) -> None:
        """Add stored passages that may link to new or retitled pages; ``documents`` are all of the source."""
        if len(documents) < DOCUMENTS_PER_LOOKUP * len(new):
            for path in documents:
                self.add(reader.passages(self._source, path))
            return
        languages = reader.languages() or ("en",)
        for document in new:
            for name in {PurePosixPath(document.path).stem, document.title}:
                groups = query_groups(name, languages)
                if groups:
                    scores = reader.words(groups, RecordFilter(sources=(self._source,)))
                    records = reader.get([hit.id for hit in scores.top(MAX_MENTIONS)]).values()
                    self.add(record for record in records if "[" in record.content)

    def edges(
        self, reader: Reader, documents: Mapping[str, Document], at: int, passages: PassageRefs
    ) -> dict[str, list[Edge]]:
        """Return the link edges of each added passage.

        A shared passage links to what all its viewers see, so a private page never shadows a shared one; a link
        that only its writer can follow becomes an edge of their own.
        """
        pages = _VisiblePages(reader, self._source, documents, passages)
        resolved: dict[str, list[Edge]] = {}
        for one in self._linking.values():
            edges: dict[str, Edge] = {}
            for target in one.targets:
                for key in dict.fromkeys((one.key, self._scope.key())):
                    end = pages.target_of(target, one.path, self._scope.seen_with(key).keys)
                    if end is not None and end != one.id:
                        edges.setdefault(end, Edge(one.id, "links", end, key, 1.0, at, rule=target.rule))
            resolved[one.id] = list(edges.values())
        return resolved


class _VisiblePages:
    def __init__(
        self, reader: Reader, source: str, documents: Mapping[str, Document], cached: PassageRefs
    ) -> None:
        self._reader = reader
        self._cached = cached
        self._source = source
        self._documents = documents
        self._pages: dict[tuple[str, ...], PageIndex] = {}
        self._hidden: dict[tuple[str, ...], set[str]] = {}
        self._by_path: dict[str, list[tuple[str, str, str]]] = {}
        self._by_heading: dict[tuple[str, tuple[str, ...]], dict[str, str]] = {}

    def target_of(self, target: LinkTarget, origin: str, keys: tuple[str, ...]) -> str | None:
        """Return the passage that a link leads to: under the heading it names, else the first."""
        hidden = self._hidden.setdefault(keys, set())
        while True:
            if keys not in self._pages:
                self._pages[keys] = PageIndex({p: d for p, d in self._documents.items() if p not in hidden})
            path = self._pages[keys].find(target, origin)
            if path is None:
                return None
            visible = self._first_by_heading(path, keys)
            if visible or path == origin:
                break
            hidden.add(path)  # a visible page may have the same name
            del self._pages[keys]
        return visible.get(heading_slug(target.heading), visible.get(""))

    def _first_by_heading(self, path: str, keys: tuple[str, ...]) -> Mapping[str, str]:
        """Return the first visible passage under each heading, and under "" the first of all."""
        if (path, keys) not in self._by_heading:
            found = self._by_heading[path, keys] = {}
            for memory, heading, key in self._passages(path):
                if key in keys:
                    found.setdefault("", memory)
                    found.setdefault(heading, memory)
        return self._by_heading[path, keys]

    def _passages(self, path: str) -> list[tuple[str, str, str]]:
        if path not in self._by_path:
            self._by_path[path] = [
                (p.id, heading_slug(p.heading_path[-1]) if p.heading_path else "", p.key)
                for p in self._cached.get(path) or self._reader.passages(self._source, path)
            ]
        return self._by_path[path]


class PageIndex:
    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._paths = {path.casefold(): path for path in sorted(documents, reverse=True)}
        self._names: dict[str, str] = {}
        # Of two pages with one name the shallower wins: `seeds.md` before `old/seeds.md`.
        for path in sorted(documents, key=lambda path: (path.count("/"), path)):
            pure = PurePosixPath(path)
            title = documents[path].title
            for name in (pure.stem, str(pure.with_suffix("")), title, pure.stem.replace("___", "/")):
                self._names.setdefault(_page_name(name), path)

    def find(self, target: LinkTarget, path: str) -> str | None:
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
