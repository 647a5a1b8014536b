"""Export: Reader -> Iterator[line]. All that a principal sees of a store, in one consistent view, a page at a time.

Settings, vectors, categories and readings are left out: they are elsewhere, or made again. So are the hashes of
what was forgotten: nobody without the tenant's key can use them, and the key is not for a file that is handed on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any, Final

from scrubjay.errors import StoreDamagedError
from scrubjay.ingest.porting.layout import FORMAT, VERSION, Teller
from scrubjay.memory.dates import moment, now_micros
from scrubjay.memory.edges import STORED
from scrubjay.memory.ids import text_hash
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

    Raises:
        StoreDamagedError: A text is not what was written, or there are fewer memories than the store says.
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
    seen = 0
    for source in sources:
        told.add(source.id)
        for path, document in reader.documents(source.id).items():
            passages = reader.passages(source.id, path)
            seen += len(passages)
            yield teller.document(document, len(passages))
            yield from (teller.memory(_sound(record), placed=True) for record in passages)
    for page in _pages(reader):
        apart = [r for r in page if r.place is None or r.place.source not in told]
        seen += len(apart)
        yield from (teller.memory(_sound(record), placed=False) for record in apart)
    if seen != counts.memories:
        raise StoreDamagedError(f"There are {counts.memories:,} memories, and {seen:,} of them can be read.")
    for page in _pages(reader):
        yield from map(teller.edge, reader.edges([record.id for record in page], KINDS))
    for page in _pages(reader):
        events = reader.events([record.id for record in page], limit=EVERY)
        yield from map(teller.event, reversed(events))


def _sound(record: Record) -> Record:
    """Return a memory whose text is what was written: a disk may give back other letters than it was given."""
    if text_hash(record.content) != record.content_hash:
        place = f" ({record.place.path})" if record.place is not None else ""
        raise StoreDamagedError(f"The text of {record.id}{place} is not the one that was written.")
    return record


def _pages(reader: Reader) -> Iterator[list[Record]]:
    after = ""
    while page := reader.page(after, PAGE):
        yield page
        after = page[-1].id
