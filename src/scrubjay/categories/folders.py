"""Folder categories: a hierarchy of sources, folders, documents and headings.

A document or heading with three passages is a category, a folder or source with two documents, and everything above a
category. A memory belongs to the deepest category above it. If few documents changed, only they are read, unless a
folder becomes a category or stops being one.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from scrubjay.categories.labels import L1_TOKENS, list_titles
from scrubjay.frozen import frozen
from scrubjay.models.graph import Category, Edge
from scrubjay.models.ids import category_id
from scrubjay.models.records import Document, PassageRef, PassageRefs, Record, Scope, Source, note_documents
from scrubjay.storage.changes import Change, DropCategory, DropEdges, PutCategory, PutEdges
from scrubjay.storage.interface import Reader, Store, in_batches

MIN_DOCUMENTS: Final = 2
"""Documents of a folder that is a category."""
MIN_PASSAGES: Final = 3
"""Passages of a document or heading that is a category."""

EDGE_BATCH: Final = 2_000
"""Edges of one transaction."""

Trail = tuple[str, ...]
"""Names from the source downwards."""
FiledPassage = Record | PassageRef


@frozen
class PassageLocation:
    """Location of one memory.

    Attributes:
        path: POSIX path relative to the source's root.
        document: Title of its document; a first heading of the same text is no level of its own.
        headings: Headings above it, outermost first.
    """

    id: str
    source: str
    path: str
    document: str = ""
    headings: tuple[str, ...] = ()
    title: str = ""


@frozen
class FolderNode:
    """One folder category.

    Attributes:
        trail: Names from its source down to its own.
        parent: Trail of the category above, or None.
        members: Ids of the memories that belong to it and to none below it, sorted.
        abstract: L0: its name and what is directly below it.
    """

    trail: Trail
    name: str
    parent: Trail | None
    members: tuple[str, ...]
    abstract: str
    overview: str


def folder_nodes(locations: Sequence[PassageLocation]) -> tuple[FolderNode, ...]:
    """Return the categories of some locations, parents before children, siblings by name.

    ``locations`` are the passages of one key, in any order.

    >>> found = folder_nodes([PassageLocation(f"m{n}", "notes", f"garden/{n}.md", title=f"Bed {n}") for n in range(2)])
    >>> [(node.name, node.parent, node.members) for node in found]
    [('notes', None, ()), ('garden', ('notes',), ('m0', 'm1'))]
    """
    documents: defaultdict[Trail, set[str]] = defaultdict(set)
    passages: Counter[Trail] = Counter()
    trails = {location.id: _trails(location) for location in locations}
    for location in locations:
        above, inside = trails[location.id]
        for trail in above:
            documents[trail].add(location.path)
        passages.update(inside)
    folders = {trail for trail, below in documents.items() if len(below) >= MIN_DOCUMENTS}
    for trail in [trail for trail, count in passages.items() if count >= MIN_PASSAGES]:
        folders |= {trail[:depth] for depth in range(1, len(trail) + 1)}
    members: defaultdict[Trail, list[PassageLocation]] = defaultdict(list)
    for location in sorted(locations, key=lambda location: location.id):
        above, inside = trails[location.id]
        deepest = next((trail for trail in reversed([*above, *inside]) if trail in folders), None)
        if deepest is not None:
            members[deepest].append(location)
    below: defaultdict[Trail, list[str]] = defaultdict(list)
    for trail in sorted(folders):
        below[trail[:-1]].append(trail[-1])
    nodes = []
    for trail in sorted(folders):
        names = dict.fromkeys([*below[trail], *(location.title for location in members[trail])])
        titles = [name for name in names if name and name.casefold() != trail[-1].casefold()]
        abstract, overview = list_titles(trail[-1], titles), list_titles(trail[-1], titles, L1_TOKENS)
        ids = tuple(location.id for location in members[trail])
        nodes.append(FolderNode(trail, trail[-1], trail[:-1] or None, ids, abstract, overview))
    return tuple(nodes)


def _trails(location: PassageLocation) -> tuple[list[Trail], list[Trail]]:
    *folders, file = (part for part in location.path.split("/") if part)
    base = (location.source, *folders)
    headings = tuple(" ".join(heading.split()) for heading in location.headings)
    if headings and headings[0].casefold() == " ".join(location.document.split()).casefold():
        headings = headings[1:]
    inner = [(*base, file, *headings[:depth]) for depth in range(len(headings) + 1)]
    return [base[:depth] for depth in range(1, len(base) + 1)], inner


def update_folders(store: Store, scope: Scope, source: Source, at: int, keys: Set[str] | None = None) -> None:
    """Update the folder categories of one source.

    ``keys`` are the visibility keys whose categories are updated; None for all.
    """
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        changes = folder_changes(reader, secret, source, at, keys=keys)
    for batch in in_batches(changes, EDGE_BATCH):
        store.write(scope, batch)


def folder_changes(
    reader: Reader,
    secret: bytes,
    source: Source,
    at: int,
    *,
    changed: Sequence[str] | None = None,
    passages: PassageRefs | None = None,
    keys: Set[str] | None = None,
) -> list[Change]:
    """Return the changes that update the folder categories of one source.

    Args:
        reader: What the writer sees.
        secret: The tenant's key of ids.
        source: The source.
        at: UTC microseconds.
        changed: Paths of the documents that were changed, added or removed; None reads all.
        passages: Passages of documents, which are not read then.
        keys: Visibility keys whose categories are updated; None for all.
    """
    documents = note_documents(reader.documents(source.id))
    stored = {c.id: c for c in reader.categories() if c.kind == "path"}
    own = _FolderUpdater(secret, source.key, source, stored)
    paths = changed if changed is not None and _keeps_folders(own, documents, changed) else None
    read = documents if paths is None else set(paths) & set(documents)
    by_key = _passages_by_key(reader, source, read, passages or {})
    others = {*by_key, *_tree_keys(secret, source, stored)} - {source.key}
    if paths is not None and others:  # a document that changes its key leaves one tree for another
        paths, by_key = None, _passages_by_key(reader, source, documents, {})
    every = {source.key, *others, *by_key}
    changes: list[Change] = []
    for key in sorted(every if keys is None else every & keys):
        updater = _FolderUpdater(secret, key, source, {i: c for i, c in stored.items() if c.key == key})
        changes += updater.changes(reader, by_key.get(key, {}), documents, at, paths)
    return changes


def remove_folders(store: Store, scope: Scope, source: Source) -> None:
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        stored = {c.id: c for c in reader.categories() if c.kind == "path"}
    drops = [
        DropCategory(identity)
        for key in _tree_keys(secret, source, stored)
        for identity in _FolderUpdater(secret, key, source, stored).obsolete_ids(set(), None)
    ]
    if drops:
        store.write(scope, drops)


def _tree_keys(secret: bytes, source: Source, stored: Mapping[str, Category]) -> set[str]:
    """Return the keys with a tree of this source."""
    keys = {category.key for category in stored.values()}
    return {key for key in keys if _FolderUpdater(secret, key, source, stored).exists(())}


def _keeps_folders(updater: _FolderUpdater, documents: Iterable[str], changed: Sequence[str]) -> bool:
    """Return whether every folder above the changed documents is a category exactly if it holds enough documents."""
    below: Counter[tuple[str, ...]] = Counter()
    for path in documents:
        folders = tuple(path.split("/")[:-1])
        below.update(folders[:depth] for depth in range(len(folders) + 1))
    above = {tuple(path.split("/")[:depth]) for path in changed for depth in range(path.count("/") + 1)}
    return all(updater.exists(folders) == (below[folders] >= MIN_DOCUMENTS) for folders in above)


def _passages_by_key(
    reader: Reader, source: Source, documents: Iterable[str], passages: PassageRefs
) -> dict[str, dict[str, list[FiledPassage]]]:
    found: dict[str, dict[str, list[FiledPassage]]] = defaultdict(lambda: defaultdict(list))
    for path in documents:
        for record in passages.get(path) or reader.passages(source.id, path):
            found[record.key][path].append(record)
    return found


class _FolderUpdater:
    def __init__(self, secret: bytes, key: str, source: Source, stored: Mapping[str, Category]) -> None:
        self._secret = secret
        self._key = key
        self._source = source
        self._stored = stored
        self._root = os.path.basename(source.root.rstrip("/")) or source.root

    def id_of(self, trail: Trail) -> str:
        """Return the id of a place; the source's id replaces the name of its root."""
        return category_id(self._secret, (self._key, "path", "\x1f".join((self._source.id, *trail[1:]))))

    def exists(self, folders: Sequence[str]) -> bool:
        """Return whether a folder, given from the root downwards, is a category."""
        return self.id_of((self._root, *folders)) in self._stored

    def changes(
        self,
        reader: Reader,
        passages: Mapping[str, Sequence[FiledPassage]],
        documents: Mapping[str, Document],
        at: int,
        changed: Sequence[str] | None,
    ) -> list[Change]:
        """Return the changes of categories and members, of all documents or of the changed ones."""
        locations = [
            PassageLocation(
                record.id, self._root, path, documents[path].title, record.heading_path, record.title
            )
            for path, records in passages.items()
            for record in records
        ]
        nodes = folder_nodes(locations if changed is None else [*locations, *self._placeholders(passages)])
        puts: list[Change] = []
        ids: set[str] = set()
        for node in nodes:
            if changed is None or any(
                "/".join(node.trail[1 : 1 + len(path.split("/"))]) == path for path in passages
            ):
                category = self._category(node, at)
                ids.add(category.id)
                if not self._is_stored(category):
                    puts.append(PutCategory(category))
        records = {record.id: record for own in passages.values() for record in own}
        homes = {
            member: self.id_of(node.trail) for node in nodes for member in node.members if member in records
        }
        drops = [DropCategory(category) for category in self.obsolete_ids(ids, changed)]
        return [*puts, *self._member_changes(reader, records, homes, at), *drops]

    def _placeholders(self, passages: Iterable[str]) -> list[PassageLocation]:
        """Return locations that make each existing folder above the changed documents a category."""
        found = []
        for path in passages:
            folders = path.split("/")[:-1]
            for depth in range(len(folders) + 1):
                if self.exists(folders[:depth]):
                    base = "/".join(folders[:depth])
                    found += [
                        PassageLocation(f"{base}/{n}", self._root, f"{base}/\x00{n}".lstrip("/"))
                        for n in range(MIN_DOCUMENTS)
                    ]
        return found

    def _category(self, node: FolderNode, at: int) -> Category:
        parent = self.id_of(node.parent) if node.parent is not None else None
        return Category(
            self.id_of(node.trail), self._key, "path", node.name, parent, node.abstract, node.overview, at=at
        )

    def _is_stored(self, category: Category) -> bool:
        old = self._stored.get(category.id)
        return (
            old is not None
            and old.name == category.name
            and old.parent == category.parent
            and old.abstract == category.abstract
            and old.overview == category.overview
        )

    def _member_changes(
        self, reader: Reader, records: Mapping[str, FiledPassage], homes: Mapping[str, str], at: int
    ) -> list[Change]:
        stored = {
            edge.src: edge.dst
            for edge in reader.edges(list(records), ["belongs"])
            if edge.dst in self._stored
        }
        wrong = [(src, "belongs", dst) for src, dst in stored.items() if homes.get(src) != dst]
        edges = [
            Edge(memory, "belongs", home, records[memory].key, 1.0, at, rule="path")
            for memory, home in homes.items()
            if stored.get(memory) != home
        ]
        drops = [DropEdges(tuple(wrong[n : n + EDGE_BATCH])) for n in range(0, len(wrong), EDGE_BATCH)]
        puts = [PutEdges(tuple(edges[n : n + EDGE_BATCH])) for n in range(0, len(edges), EDGE_BATCH)]
        return [*drops, *puts]

    def obsolete_ids(self, ids: Set[str], changed: Sequence[str] | None) -> list[str]:
        """Return this source's stored categories that are not among some, below its root or the changed documents."""
        children: dict[str, list[str]] = defaultdict(list)
        for category in self._stored.values():
            children[category.parent or ""].append(category.id)
        trails = [()] if changed is None else [tuple(path.split("/")) for path in changed]
        found, pending = [], [self.id_of((self._root, *trail)) for trail in trails]
        while pending:
            id = pending.pop()
            if id in self._stored:
                if id not in ids:
                    found.append(id)
                pending += children[id]
        return found
