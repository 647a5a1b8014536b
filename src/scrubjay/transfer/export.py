"""Export: what a principal may see of a store, as JSON lines (docs/portability.md).

Defaults are omitted. Settings, vectors, categories and readings are not exported: they are stored elsewhere or derived
again; neither are tombstones, which are useless without the tenant's key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from importlib.metadata import version
from typing import Any, Final

from scrubjay.errors import StoreDamagedError
from scrubjay.models.dates import now_micros, to_datetime
from scrubjay.models.graph import STORED_EDGE_KINDS, Edge, Entity
from scrubjay.models.ids import memory_key, text_hash
from scrubjay.models.lifecycle import ConsolidationRun, Event
from scrubjay.models.records import Document, Record, Scope, Source
from scrubjay.storage.interface import Reader

EXPORT_FORMAT: Final = "scrubjay-export"
EXPORT_VERSION: Final = 1
"""Version of the lines."""
LINE_KINDS: Final = ("header", "source", "concept", "run", "document", "memory", "edge", "event", "footer")
"""Kinds of lines, in order."""
MAX_LINE: Final = 64 * 1024 * 1024
"""Bytes of a line: the longest memory (10,000,000 characters) with every character escaped."""
EDGE_FIELDS: Final = ("src", "kind", "dst", "weight", "at", "origin")
EVENT_FIELDS: Final = ("memory", "op", "at", "run", "other", "count", "before", "actor")
"""Fields of an event's line; its key is that of its memory."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_USUAL: Final = {field.name: field.default for field in fields(Record)}
_OWN: Final = ("id", "tier", "content", "title", "owner", "key", "place", "event", "content_hash")


class LineWriter:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def _key(self, key: str) -> str:
        return "user" if key == f"user:{self._scope.user}" else key

    def source(self, source: Source) -> dict[str, Any]:
        return _line(
            "source",
            id=source.id,
            root=source.root,
            description=source.description,
            include=list(source.include),
            exclude=list(source.exclude),
            key=self._key(source.key),
            added_at=source.added_at,
            synced_at=source.synced_at,
            trust=source.trust,
            repositories=(
                None
                if source.repositories is None
                else {folder: work for folder, work, _ in source.repositories}
            ),
        )

    def document(self, document: Document, memories: int) -> dict[str, Any]:
        row = asdict(document) | {"title": document.title}
        return _line("document", **row, memories=memories)

    def memory(self, record: Record, *, placed: bool) -> dict[str, Any]:
        """Return a memory's line; without ``placed`` its document is not among the lines."""
        row: dict[str, Any] = {
            "id": record.id,
            "tier": record.tier,
            "title": record.title,
            "content": record.content,
            "key": self._key(record.key),
        }
        if record.owner != self._scope.user:
            row["owner"] = record.owner
        for name, usual in _USUAL.items():
            value = getattr(record, name)
            if name not in _OWN and value != usual:
                row[name] = list(value) if isinstance(value, tuple) else value
        if record.event is not None:
            row["event"] = asdict(record.event)
        if record.place is not None and placed:
            row["place"] = asdict(record.place)
        return _line("memory", **row)

    def concept(self, concept: Entity) -> dict[str, Any]:
        return _line(
            "concept",
            id=concept.id,
            key=self._key(concept.key),
            name=concept.name,
            aliases=list(concept.aliases),
            kind=concept.kind,
            at=concept.at,
        )

    def edge(self, edge: Edge) -> dict[str, Any]:
        row = {name: getattr(edge, name) for name in EDGE_FIELDS}
        return _line("edge", **row, key=self._key(edge.key), rule=edge.rule, run=edge.run)

    def event(self, event: Event) -> dict[str, Any]:
        return _line("event", **{name: getattr(event, name) for name in EVENT_FIELDS})

    def run(self, run: ConsolidationRun) -> dict[str, Any]:
        row = asdict(run) | {"key": self._key(run.key), "counts": dict(run.counts)}
        return _line("run", **row)


def principal_mark(secret: bytes, scope: Scope) -> str:
    """Return a keyed hash that identifies a principal's store."""
    return f"{memory_key(secret, ('export', scope.user)):016x}"


def line_text(line: Mapping[str, Any]) -> bytes:
    return _ENCODER.encode(line).encode() + b"\n"


def _line(what: str, /, **values: Any) -> dict[str, Any]:
    return {"line": what, **{n: v for n, v in values.items() if v is not None and v != "" and v != []}}


EXPORT_PAGE: Final = 500
"""Memories read at once."""
EXPORTED_EDGES: Final = tuple(kind for kind in STORED_EDGE_KINDS if kind != "belongs")
"""Exported edges; categories are derived again."""
ALL_ROWS: Final = 10_000_000
"""More events and runs than a page of memories has."""


def export_lines(
    reader: Reader, lines: LineWriter, mark: str, groups: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the lines of an export, except the footer; ``mark`` identifies the principal's store.

    Raises:
        StoreDamagedError: A text does not match its hash, or memories are missing.
    """
    counts, stamped = reader.counts(), reader.versions()
    yield {
        "line": "header",
        "format": EXPORT_FORMAT,
        "version": EXPORT_VERSION,
        "made_by": f"scrubjay {version('scrubjay')}",
        "created": to_datetime(now_micros()).isoformat(timespec="seconds"),
        "store": mark,
        "groups": list(groups),
        "versions": None if stamped is None else asdict(stamped),
        "counts": {"memories": counts.memories, "documents": counts.documents, "sources": counts.sources},
    }
    sources = reader.sources()
    yield from map(lines.source, sources)
    yield from map(lines.concept, reader.concepts())
    yield from map(lines.run, reader.runs(ALL_ROWS))
    exported: set[str] = set()
    read = 0
    for source in sources:
        exported.add(source.id)
        for path, document in reader.documents(source.id).items():
            passages = reader.passages(source.id, path)
            read += len(passages)
            yield lines.document(document, len(passages))
            yield from (lines.memory(_verified(record), placed=True) for record in passages)
    for page in _pages(reader):
        apart = [r for r in page if r.place is None or r.place.source not in exported]
        read += len(apart)
        yield from (lines.memory(_verified(record), placed=False) for record in apart)
    if read != counts.memories:
        raise StoreDamagedError(f"There are {counts.memories:,} memories, and {read:,} of them can be read.")
    for page in _pages(reader):
        yield from map(lines.edge, reader.edges([record.id for record in page], EXPORTED_EDGES))
    for page in _pages(reader):
        events = reader.events([record.id for record in page], limit=ALL_ROWS)
        yield from map(lines.event, reversed(events))


def _verified(record: Record) -> Record:
    if text_hash(record.content) != record.content_hash:
        place = f" ({record.place.path})" if record.place is not None else ""
        raise StoreDamagedError(f"The text of {record.id}{place} is not the one that was written.")
    return record


def _pages(reader: Reader) -> Iterator[list[Record]]:
    after = ""
    while page := reader.page(after, EXPORT_PAGE):
        yield page
        after = page[-1].id
