"""Layout: a value of a store -> one line's fields. The format of an export, and which version of it this is.

A line is a JSON object whose ``line`` says what it holds. What is empty or as usual is left out. Visibility is told
as ``user`` (the exporter's own), ``group:NAME`` or ``public``; an owner is named where it is not the exporter.
docs/portability.md describes every line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.ids import memory_key
from scrubjay.memory.records import Document, Record, Source
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Scope

FORMAT: Final = "scrubjay-export"
VERSION: Final = 1
"""Version of the lines; whoever finds a greater one stops."""
LINES: Final = ("header", "source", "concept", "run", "document", "memory", "edge", "event", "footer")
"""What a line can be, in the order in which they stand."""
MOST_LINE: Final = 64 * 1024 * 1024
"""Bytes of a line: the longest memory (10,000,000 characters) with every character escaped."""
EDGE: Final = ("src", "kind", "dst", "weight", "at", "origin")
"""Fields of an edge's line that are told as they are."""
EVENT: Final = ("memory", "op", "at", "run", "other", "count", "before", "actor")
"""Fields of an event's line; its key is that of its memory."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_USUAL: Final = {field.name: field.default for field in fields(Record)}
_OWN: Final = ("id", "tier", "content", "title", "owner", "key", "place", "event", "content_hash")


class Teller:
    """Writes values as lines, for one principal; texts exactly as they are stored."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def _key(self, key: str) -> str:
        return "user" if key == f"user:{self._scope.user}" else key

    def source(self, source: Source) -> dict[str, Any]:
        """Return a source's line."""
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
        """Return a document's line; its ``memories`` follow it, so many."""
        told = asdict(document) | {"title": document.title}
        return _line("document", **told, memories=memories)

    def memory(self, record: Record, *, placed: bool) -> dict[str, Any]:
        """Return a memory's line.

        Args:
            record: The memory.
            placed: Whether its document is among the lines; else it is told as one that stands in none.
        """
        told: dict[str, Any] = {
            "id": record.id,
            "tier": record.tier,
            "title": record.title,
            "content": record.content,
            "key": self._key(record.key),
        }
        if record.owner != self._scope.user:
            told["owner"] = record.owner
        for name, usual in _USUAL.items():
            value = getattr(record, name)
            if name not in _OWN and value != usual:
                told[name] = list(value) if isinstance(value, tuple) else value
        if record.event is not None:
            told["event"] = asdict(record.event)
        if record.place is not None and placed:
            told["place"] = asdict(record.place)
        return _line("memory", **told)

    def concept(self, concept: Concept) -> dict[str, Any]:
        """Return the line of what one visibility key knows of a concept."""
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
        """Return an edge's line."""
        told = {name: getattr(edge, name) for name in EDGE}
        return _line("edge", **told, key=self._key(edge.key), rule=edge.rule, run=edge.run)

    def event(self, event: Event) -> dict[str, Any]:
        """Return an event's line."""
        return _line("event", **{name: getattr(event, name) for name in EVENT})

    def run(self, run: Run) -> dict[str, Any]:
        """Return the line of what a run did for one visibility key."""
        told = asdict(run) | {"key": self._key(run.key), "counts": dict(run.counts)}
        return _line("run", **told)


def mark(secret: bytes, scope: Scope) -> str:
    """Return what tells one principal's store from any other, and nothing about either."""
    return f"{memory_key(secret, ('export', scope.user)):016x}"


def text(line: Mapping[str, Any]) -> bytes:
    """Return a line as it stands in the file."""
    return _ENCODER.encode(line).encode() + b"\n"


def _line(what: str, /, **values: Any) -> dict[str, Any]:
    return {"line": what, **{n: v for n, v in values.items() if v is not None and v != "" and v != []}}
