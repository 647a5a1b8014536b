"""Export: Reader -> Iterator[line]. All that a principal sees of a store, in one consistent view, a page at a time.

Settings, vectors, categories and readings are left out: they are elsewhere, or made again. So are the hashes of
what was forgotten: nobody without the tenant's key can use them, and the key is not for a file that is handed on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any, Final

from scrubjay.ingest.porting.layout import FORMAT, VERSION, Teller
from scrubjay.memory.dates import moment, now_micros
from scrubjay.memory.edges import STORED
from scrubjay.memory.records import Record
from scrubjay.store.base import Reader

PAGE: Final = 500
"""Memories that are held at once, and documents' passages as many as one document has."""
KINDS: Final = tuple(kind for kind in STORED if kind != "belongs")
"""Edges that are carried; where a memory is filed is found anew."""
EVERY: Final = 10_000_000
"""More events and runs than a page of memories has."""


def export(reader: Reader, teller: Teller, mark: str, groups: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of an export, but for the footer.

    Args:
        reader: What is seen; it must stay open until the last line was taken.
        teller: Tells values as lines.
        mark: What tells this principal's store from any other.
        groups: Groups of the principal.
    """
    counts, stamped = reader.counts(), reader.versions()
    yield {
        "line": "header",
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"scrubjay {version('scrubjay')}",
        "created": moment(now_micros()).isoformat(timespec="seconds"),
        "store": mark,
        "groups": list(groups),
        "versions": None if stamped is None else asdict(stamped),
        "counts": {"memories": counts.memories, "documents": counts.documents, "sources": counts.sources},
    }
    sources = reader.sources()
    yield from map(teller.source, sources)
    yield from map(teller.concept, reader.concepts())
    yield from map(teller.run, reader.runs(EVERY))
    told: set[str] = set()
    for source in sources:
        told.add(source.id)
        yield from _documents(reader, teller, source.id)
    for page in _pages(reader):
        apart = [r for r in page if r.place is None or r.place.source not in told]
        yield from (teller.memory(record, placed=False) for record in apart)
    for page in _pages(reader):
        yield from map(teller.edge, reader.edges([record.id for record in page], KINDS))
    for page in _pages(reader):
        events = reader.events([record.id for record in page], limit=EVERY)
        yield from map(teller.event, reversed(events))


def _documents(reader: Reader, teller: Teller, source: str) -> Iterator[dict[str, Any]]:
    for path, document in reader.documents(source).items():
        passages = reader.passages(source, path)
        yield teller.document(document, len(passages))
        yield from (teller.memory(record, placed=True) for record in passages)


def _pages(reader: Reader) -> Iterator[list[Record]]:
    after = ""
    while page := reader.page(after, PAGE):
        yield page
        after = page[-1].id
