"""Folder categories: a hierarchy of sources, folders, documents and headings.

A document or heading is a category when three passages are below it, two being read at a glance; a folder or
source when two documents are, or one that is a category. So everything above a category is one too, and what
is added later makes new ones and moves none. A memory belongs to the deepest category above it; names are the
folders' and headings' own. Two headings of one name under one parent are one category.

When only a few documents changed, came or went, they alone are looked at, unless a folder becomes a category by
it or ceases to be one: a folder is one by the number of its documents alone. What a folder that stays says of
itself is written anew when all of its source is looked at.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from scrubjay.categories.labels import L1_TOKENS, list_titles
from scrubjay.models.graph import Category, Edge
from scrubjay.models.ids import category_id
from scrubjay.models.records import Document, PassageRef, PassageRefs, Record, Scope, Source, note_documents
from scrubjay.storage.changes import Change, DropCategory, DropEdges, PutCategory, PutEdges
from scrubjay.storage.interface import Reader, Store

MIN_DOCUMENTS: Final = 2
"""Documents that make a folder a category."""
MIN_PASSAGES: Final = 3
"""Passages that make a document or heading a category."""

Trail = tuple[str, ...]
"""Names from the source downwards."""


@dataclass(frozen=True, slots=True)
class PassageLocation:
    """Where one memory stands.

    Attributes:
        id: Its id.
        source: Id of its source.
        path: POSIX path relative to the source's root.
        document: Title of its document; a first heading that says the same is no level of its own.
        headings: Headings above it, outermost first.
        title: Its own title.
    """

    id: str
    source: str
    path: str
    document: str = ""
    headings: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class FolderNode:
    """One category of kind ``path``.

    Attributes:
        trail: Names from its source down to its own; unlike every other node's.
        name: The last of them.
        parent: Trail of the category above, or None.
        members: Ids of the memories that belong to it and to none below it, sorted.
        abstract: L0: its name and what is right below it.
        overview: L1: the same with more room.
    """

    trail: Trail
    name: str
    parent: Trail | None
    members: tuple[str, ...]
    abstract: str
    overview: str


def folder_nodes(spots: Sequence[PassageLocation]) -> tuple[FolderNode, ...]:
    """Find the categories that places make.

    Args:
        spots: The memories of one key that stand in documents, in any order.

    Returns:
        Parents before children, siblings by name.

    >>> found = folder_nodes([PassageLocation(f"m{n}", "notes", f"garden/{n}.md", title=f"Bed {n}") for n in range(2)])
    >>> [(node.name, node.parent, node.members) for node in found]
    [('notes', None, ()), ('garden', ('notes',), ('m0', 'm1'))]
    """
    documents: defaultdict[Trail, set[str]] = defaultdict(set)
    passages: Counter[Trail] = Counter()
    places = {spot.id: _trails(spot) for spot in spots}
    for spot in spots:
        above, inside = places[spot.id]
        for trail in above:
            documents[trail].add(spot.path)
        passages.update(inside)
    kept = {trail for trail, below in documents.items() if len(below) >= MIN_DOCUMENTS}
    for trail in [trail for trail, times in passages.items() if times >= MIN_PASSAGES]:
        kept |= {trail[:depth] for depth in range(1, len(trail) + 1)}
    return _nodes(spots, places, kept)


def _nodes(
    spots: Sequence[PassageLocation], places: Mapping[str, tuple[list[Trail], list[Trail]]], kept: Set[Trail]
) -> tuple[FolderNode, ...]:
    members: defaultdict[Trail, list[PassageLocation]] = defaultdict(list)
    for spot in sorted(spots, key=lambda one: one.id):
        above, inside = places[spot.id]
        home = next((trail for trail in reversed([*above, *inside]) if trail in kept), None)
        if home is not None:
            members[home].append(spot)
    below: defaultdict[Trail, list[str]] = defaultdict(list)
    for trail in sorted(kept):
        below[trail[:-1]].append(trail[-1])
    nodes = []
    for trail in sorted(kept):
        titles = dict.fromkeys([*below[trail], *(spot.title for spot in members[trail])])
        told = [title for title in titles if title and title.casefold() != trail[-1].casefold()]
        ids = tuple(spot.id for spot in members[trail])
        brief, long = list_titles(trail[-1], told), list_titles(trail[-1], told, L1_TOKENS)
        nodes.append(FolderNode(trail, trail[-1], trail[:-1] or None, ids, brief, long))
    return tuple(nodes)


def _trails(spot: PassageLocation) -> tuple[list[Trail], list[Trail]]:
    """Return the trails of the source and folders above a memory, and of its document and headings."""
    *folders, file = (part for part in spot.path.split("/") if part)
    base = (spot.source, *folders)
    headings = tuple(" ".join(heading.split()) for heading in spot.headings)
    if headings and headings[0].casefold() == " ".join(spot.document.split()).casefold():
        headings = headings[1:]
    inner = [(*base, file, *headings[:depth]) for depth in range(len(headings) + 1)]
    return [base[:depth] for depth in range(1, len(base) + 1)], inner


EDGE_BATCH: Final = 2_000
"""Edges of one transaction."""
FiledPassage = Record | PassageRef


def update_folders(store: Store, scope: Scope, source: Source, at: int, keys: Set[str] | None = None) -> None:
    """Bring the folder categories of one source up to date with its documents.

    Args:
        store: Where.
        scope: Who writes.
        source: The source.
        at: UTC microseconds.
        keys: The visibility keys whose categories are updated; None for all.
    """
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        changes = folder_changes(reader, secret, source, at, keys=keys)
    for first in range(0, len(changes), EDGE_BATCH):
        store.write(scope, changes[first : first + EDGE_BATCH])


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
    """Return what brings the folder categories of one source up to date with its documents.

    Args:
        reader: A view of whoever writes.
        secret: The tenant's key of ids.
        source: The source.
        at: UTC microseconds.
        changed: Paths of the documents that changed, came or went; None looks at all.
        passages: The passages of documents that need not be read.
        keys: The visibility keys whose categories are updated; None for all.
    """
    documents = note_documents(reader.documents(source.id))
    stored = {c.id: c for c in reader.categories() if c.kind == "path"}
    updater = _FolderUpdater(secret, source.key, source, stored)
    paths = None if changed is None or not _steady(updater, documents, changed) else changed
    wanted = documents if paths is None else set(paths) & set(documents)
    by_key = _by_key(reader, source, wanted, passages or {})
    others = {*by_key, *_keys(secret, source, stored)} - {source.key}
    if paths is not None and others:  # a document that changes its key leaves one tree for another
        paths, by_key = None, _by_key(reader, source, documents, {})
    every = {source.key, *others, *by_key}
    changes: list[Change] = []
    for key in sorted(every if keys is None else every & keys):
        updater = _FolderUpdater(secret, key, source, {i: c for i, c in stored.items() if c.key == key})
        changes += updater.changes(reader, by_key.get(key, {}), documents, at, paths)
    return changes


def remove_folders(store: Store, scope: Scope, source: Source) -> None:
    """Remove the path categories of a source that is removed."""
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        standing = {c.id: c for c in reader.categories() if c.kind == "path"}
    gone = [
        DropCategory(identity)
        for key in _keys(secret, source, standing)
        for identity in _FolderUpdater(secret, key, source, standing).gone(set(), None)
    ]
    if gone:
        store.write(scope, gone)


def _keys(secret: bytes, source: Source, standing: Mapping[str, Category]) -> set[str]:
    """Return the keys that have a tree of this source: its root is the top of each."""
    keys = {category.key for category in standing.values()}
    return {key for key in keys if _FolderUpdater(secret, key, source, standing).stands(())}


def _steady(filer: _FolderUpdater, documents: Iterable[str], changed: Sequence[str]) -> bool:
    """Return whether every folder above some documents is a category exactly when it holds enough of them."""
    below: Counter[tuple[str, ...]] = Counter()
    for path in documents:
        folders = tuple(path.split("/")[:-1])
        below.update(folders[:depth] for depth in range(len(folders) + 1))
    above = {tuple(path.split("/")[:depth]) for path in changed for depth in range(path.count("/") + 1)}
    return all(filer.stands(folders) == (below[folders] >= MIN_DOCUMENTS) for folders in above)


def _by_key(
    reader: Reader, source: Source, documents: Iterable[str], passages: PassageRefs
) -> dict[str, dict[str, list[FiledPassage]]]:
    """Return the passages of documents by visibility key and path."""
    found: dict[str, dict[str, list[FiledPassage]]] = defaultdict(lambda: defaultdict(list))
    for path in documents:
        for record in passages.get(path) or reader.passages(source.id, path):
            found[record.key][path].append(record)
    return found


class _FolderUpdater:
    """The path categories of one source and one key."""

    def __init__(self, secret: bytes, key: str, source: Source, standing: Mapping[str, Category]) -> None:
        self._secret = secret
        self._key = key
        self._source = source
        self._standing = standing
        self._root = os.path.basename(source.root.rstrip("/")) or source.root

    def id_of(self, trail: Trail) -> str:
        """Return the id of a place; the source's own id stands for its root, whatever that is called now."""
        return category_id(self._secret, (self._key, "path", "\x1f".join((self._source.id, *trail[1:]))))

    def stands(self, folders: Sequence[str]) -> bool:
        """Return whether a folder, named from the root downwards, is a category."""
        return self.id_of((self._root, *folders)) in self._standing

    def changes(
        self,
        reader: Reader,
        held: Mapping[str, Sequence[FiledPassage]],
        documents: Mapping[str, Document],
        at: int,
        changed: Sequence[str] | None,
    ) -> list[Change]:
        """Return what makes the categories and their members right, of all documents or of those that changed."""
        whole = changed is None
        spots = [self._spot(record, documents[path]) for path, records in held.items() for record in records]
        nodes = folder_nodes(spots if whole else [*spots, *self._stand_ins(held)])
        records = {record.id: record for same in held.values() for record in same}
        inside = [n for n in nodes if whole or self._within(n.trail, held)]
        made = {self.id_of(node.trail): node for node in inside}
        puts: list[Change] = [
            PutCategory(category)
            for identity, node in made.items()
            if not self._same(category := self._category(identity, node, at))
        ]
        homes = {
            member: self.id_of(node.trail) for node in nodes for member in node.members if member in records
        }
        gone = [DropCategory(identity) for identity in self.gone(set(made), changed)]
        return [*puts, *self._members(reader, records, homes, at), *gone]

    def _spot(self, record: FiledPassage, document: Document) -> PassageLocation:
        return PassageLocation(
            record.id, self._root, document.path, document.title, record.heading_path, record.title
        )

    def _stand_ins(self, held: Mapping[str, Sequence[FiledPassage]]) -> list[PassageLocation]:
        """Return documents that make each folder above a category which is one: those that are not looked at."""
        found = []
        for path in held:
            folders = path.split("/")[:-1]
            for depth in range(len(folders) + 1):
                if self.stands(folders[:depth]):
                    base = "/".join(folders[:depth])
                    found += [
                        PassageLocation(f"{base}/{n}", self._root, f"{base}/\x00{n}".lstrip("/"))
                        for n in range(MIN_DOCUMENTS)
                    ]
        return found

    def _within(self, trail: Trail, held: Mapping[str, Sequence[FiledPassage]]) -> bool:
        """Return whether a place is one of these documents, or lies in one."""
        return any("/".join(trail[1 : 1 + len(path.split("/"))]) == path for path in held)

    def _category(self, identity: str, node: FolderNode, at: int) -> Category:
        parent = self.id_of(node.parent) if node.parent is not None else None
        return Category(identity, self._key, "path", node.name, parent, node.abstract, node.overview, at=at)

    def _same(self, category: Category) -> bool:
        old = self._standing.get(category.id)
        names = ("name", "parent", "abstract", "overview")
        return old is not None and all(getattr(old, name) == getattr(category, name) for name in names)

    def _members(
        self, reader: Reader, records: Mapping[str, FiledPassage], homes: Mapping[str, str], at: int
    ) -> list[Change]:
        """Return the changes of who belongs where; what is right already is left alone."""
        stands = {e.src: e.dst for e in reader.edges(list(records), ["belongs"]) if e.dst in self._standing}
        wrong = [(src, "belongs", dst) for src, dst in stands.items() if homes.get(src) != dst]
        edges = [
            Edge(memory, "belongs", home, records[memory].key, 1.0, at, rule="path")
            for memory, home in homes.items()
            if stands.get(memory) != home
        ]
        changes: list[Change] = [
            DropEdges(tuple(wrong[n : n + EDGE_BATCH])) for n in range(0, len(wrong), EDGE_BATCH)
        ]
        return changes + [
            PutEdges(tuple(edges[n : n + EDGE_BATCH])) for n in range(0, len(edges), EDGE_BATCH)
        ]

    def gone(self, made: set[str], changed: Sequence[str] | None) -> list[str]:
        """Return this source's categories that are no more: found by walking down from its root, or from documents."""
        children: dict[str, list[str]] = defaultdict(list)
        for category in self._standing.values():
            children[category.parent or ""].append(category.id)
        trails = [()] if changed is None else [tuple(path.split("/")) for path in changed]
        found, waiting = [], [self.id_of((self._root, *trail)) for trail in trails]
        while waiting:
            identity = waiting.pop()
            if identity in self._standing:
                if identity not in made:
                    found.append(identity)
                waiting += children[identity]
        return found
