"""Finalizer: resolve the links and folder categories of a source once its documents are connected.

A link may precede its page, so all links are resolved together; when a page is new or changed, stored notes that may
link to it are searched for. URLs, images and links in code do not count.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from scrubjay.categories.folders import folder_changes
from scrubjay.ingest.sync_run import LINK_BATCH
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge
from scrubjay.models.records import (
    DUE_PLACE,
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
from scrubjay.storage.interface import Reader
from scrubjay.text.markdown import LinkTarget, extract_links, heading_slug
from scrubjay.text.tokenizer import query_groups

MAX_CACHED_PASSAGES: Final = 50_000
"""Passages cached while one source is finalized: 15 MB."""
MAX_MENTIONS: Final = 200
"""Stored passages searched for links to a new page."""
DOCUMENTS_PER_LOOKUP: Final = 50
"""Documents that can be read in the time of one word lookup."""


def finalize_source(
    reader: Reader,
    secret: bytes,
    scope: Scope,
    source: Source,
    due: Mapping[str, int],
    stages: Collection[str],
) -> list[Change]:
    """Return what brings links and folder categories of a source up to date.

    Args:
        reader: A view of ``scope``.
        secret: The tenant's key of ids.
        scope: Who writes.
        source: The source.
        due: Path of a document that is due to its level: at `DUE_LINKS` only its own links are resolved.
        stages: As in `LinkingOptions`.
    """
    at = now_micros()
    documents = note_documents(reader.documents(source.id))
    relinked = sorted(due.keys() & documents.keys())
    placed = [path for path in relinked if due[path] >= DUE_PLACE]
    resolver = LinkResolver(source.id, scope)
    passages: dict[str, tuple[PassageRef, ...]] = {}
    keys: set[str] = set()
    room = MAX_CACHED_PASSAGES
    for path in relinked:
        records = reader.passages(source.id, path)
        if due[path] >= DUE_PLACE:
            keys.update(record.key for record in records)
        if "links" in stages:
            resolver.add(records, None)
        if len(records) <= room:
            passages[path] = tuple(PassageRef(r.id, r.key, r.heading_path, r.title) for r in records)
            room -= len(records)
    changes: list[Change] = []
    if "links" in stages:
        if len(relinked) < len(documents):
            resolver.add_mentions(reader, [documents[path] for path in placed], documents)
        changes += put_links(resolver.edges(reader, documents, at, passages))
    if placed and "categories" in stages:
        # Other keys' categories stay as they are: their viewers must not notice.
        changed = None if len(placed) == len(documents) else placed
        changes += folder_changes(reader, secret, source, at, changed=changed, passages=passages, keys=keys)
    return changes


def linking_passages(reader: Reader, passages: Sequence[str]) -> set[str]:
    """Return the passages with found links to some that are about to change, move or go."""
    edges = reader.edges(passages, ["links"], inward=True) if passages else ()
    return {edge.src for edge in edges if edge.origin == "found"}


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
