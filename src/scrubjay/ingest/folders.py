"""Folders: the documents of one source -> its categories by folder, document and heading.

When documents came or went all of a source is looked at. When only their text changed, what stands inside them
is, for a folder is a category by its documents alone.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from scrubjay.ingest.topics.paths import DOCUMENTS, Node, Spot, Trail, paths
from scrubjay.memory.categories import Category
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import category_id
from scrubjay.memory.records import Document, Record, Source
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Change, DropCategory, DropEdges, PutCategory, PutEdges

AT_ONCE: Final = 2_000
"""Edges of one transaction."""


def refile(store: Store, scope: Scope, source: Source, at: int, changed: Sequence[str] | None = None) -> None:
    """Bring the path categories of one source in step with its documents.

    Args:
        store: Where.
        scope: Who writes.
        source: The source.
        at: UTC microseconds.
        changed: Paths of the documents whose text changed while none came or went; None looks at all.
    """
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        documents = reader.documents(source.id)
        noted = {p: d for p, d in documents.items() if not d.cursor and (changed is None or p in changed)}
        by_key = _by_key(reader, source, noted)
        standing = {c.id: c for c in reader.categories() if c.kind == "path"}
        keys = sorted({*by_key, *(c.key for c in standing.values())} if changed is None else by_key)
        changes: list[Change] = []
        for key in keys:
            filer = _Filer(secret, key, source, {i: c for i, c in standing.items() if c.key == key})
            changes += filer.changes(reader, by_key.get(key, {}), documents, at, whole=changed is None)
    for first in range(0, len(changes), AT_ONCE):
        store.write(scope, changes[first : first + AT_ONCE])


def _by_key(reader: Reader, source: Source, documents: Iterable[str]) -> dict[str, dict[str, list[Record]]]:
    """Return the passages of documents by visibility key and path."""
    found: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for path in documents:
        for record in reader.passages(source.id, path):
            found[record.key][path].append(record)
    return found


class _Filer:
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

    def changes(
        self,
        reader: Reader,
        held: Mapping[str, Sequence[Record]],
        documents: Mapping[str, Document],
        at: int,
        *,
        whole: bool,
    ) -> list[Change]:
        """Return what makes the categories and their members right."""
        spots = [self._spot(record, documents[path]) for path, records in held.items() for record in records]
        nodes = paths(spots if whole else [*spots, *self._stand_ins(held)])
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
        gone = [DropCategory(identity) for identity in self._gone(set(made), held, whole=whole)]
        return [*puts, *self._members(reader, records, homes, at), *gone]

    def _spot(self, record: Record, document: Document) -> Spot:
        return Spot(record.id, self._root, document.path, document.title, record.heading_path, record.title)

    def _stand_ins(self, held: Mapping[str, Sequence[Record]]) -> list[Spot]:
        """Return documents that make each folder above a category which is one: those that are not looked at."""
        found = []
        for path in held:
            folders = path.split("/")[:-1]
            for depth in range(len(folders) + 1):
                if self.id_of((self._root, *folders[:depth])) in self._standing:
                    base = "/".join(folders[:depth])
                    found += [
                        Spot(f"{base}/{n}", self._root, f"{base}/\x00{n}".lstrip("/"))
                        for n in range(DOCUMENTS)
                    ]
        return found

    def _within(self, trail: Trail, held: Mapping[str, Sequence[Record]]) -> bool:
        """Return whether a place is one of these documents, or lies in one."""
        return any("/".join(trail[1 : 1 + len(path.split("/"))]) == path for path in held)

    def _category(self, identity: str, node: Node, at: int) -> Category:
        parent = self.id_of(node.parent) if node.parent is not None else None
        return Category(identity, self._key, "path", node.name, parent, node.abstract, node.overview, at=at)

    def _same(self, category: Category) -> bool:
        old = self._standing.get(category.id)
        names = ("name", "parent", "abstract", "overview")
        return old is not None and all(getattr(old, name) == getattr(category, name) for name in names)

    def _members(
        self, reader: Reader, records: Mapping[str, Record], homes: Mapping[str, str], at: int
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
            DropEdges(tuple(wrong[n : n + AT_ONCE])) for n in range(0, len(wrong), AT_ONCE)
        ]
        return changes + [PutEdges(tuple(edges[n : n + AT_ONCE])) for n in range(0, len(edges), AT_ONCE)]

    def _gone(self, made: set[str], held: Mapping[str, Sequence[Record]], *, whole: bool) -> list[str]:
        """Return this source's categories that are no more: found by walking down from its root, or from documents."""
        children: dict[str, list[str]] = defaultdict(list)
        for category in self._standing.values():
            children[category.parent or ""].append(category.id)
        tops = (
            [self.id_of((self._root,))] if whole else [self.id_of((self._root, *p.split("/"))) for p in held]
        )
        found, waiting = [], tops
        while waiting:
            identity = waiting.pop()
            if identity in self._standing:
                if identity not in made:
                    found.append(identity)
                waiting += children[identity]
        return found
