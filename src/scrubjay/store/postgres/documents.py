"""Documents: the sources and documents that one scope sees, read in the transaction of its reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scrubjay.memory.records import Document, Record, Source
from scrubjay.store.kept import source_of
from scrubjay.store.postgres import rows
from scrubjay.store.postgres.graph import PostgresGraph
from scrubjay.store.postgres.scores import SCOPE


class Documents(PostgresGraph):
    """Sources, documents and passages."""

    def sources(self) -> list[Source]:
        """Return the visible sources, by root."""
        return list(self._kept.once("sources", self._sources))

    def _sources(self) -> list[Source]:
        found = self._all(
            "SELECT id, root, description, include, exclude, key, added_at, synced_at, trust, share, repositories "
            "FROM source "
            'WHERE tenant = %s AND key = ANY(%s) ORDER BY root COLLATE "C", id COLLATE "C"',
            self._tenant,
            self._keys,
        )
        return [source_of(row) for row in found]

    def _documents(self, condition: str, *values: Any) -> list[Document]:
        found = self._all(
            f"SELECT {rows.DOCUMENT} FROM document d JOIN source s ON s.tenant = d.tenant AND s.id = "
            "d.source "
            f"WHERE d.tenant = %s AND d.generation = %s AND s.key = ANY(%s) AND {condition}",
            *self._own,
            *values,
        )
        return sorted((rows.to_document(row) for row in found), key=lambda document: document.path)

    def documents(self, source: str) -> dict[str, Document]:
        """Return a source's documents by path."""
        return {document.path: document for document in self._documents("d.source = %s", source)}

    def held(self, sources: Sequence[str]) -> int:
        """Return how many visible passages these sources' documents hold."""
        ((found,),) = self._all(
            f"SELECT count(*) {rows.FROM} WHERE {SCOPE} AND d.source = ANY(%s)", *self._own, list(sources)
        )
        return int(found)

    def passages(self, source: str, path: str) -> list[Record]:
        """Return a document's passages in order."""
        return self._records(
            'd.source = %s AND d.path = %s ORDER BY m.ordinal, m.tier COLLATE "C", m.hash', source, path
        )
