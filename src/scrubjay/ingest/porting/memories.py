"""Memories: documents and memories of another store -> those that are not here yet, written a batch at a time.

What is here wins: a memory that was changed here since stays as it is, a file that is here in another version keeps
its passages, and what was forgotten here does not come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scrubjay.errors import InputError
from scrubjay.ingest.draw import added_key
from scrubjay.ingest.embed import embed
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.porting.into import Into
from scrubjay.ingest.porting.values import stands_in
from scrubjay.memory.ids import memory_id, memory_key, tombstones
from scrubjay.memory.records import Document, Record, Source
from scrubjay.store.base import Reader
from scrubjay.store.changes import Change, Prepared, PutDocument, PutMemory

AT_ONCE: Final = 500
"""Memories of one transaction."""
CHARACTERS: Final = 4_000_000
"""Characters after which a transaction is full, however few memories they are."""


@dataclass(slots=True)
class _Open:
    """A document whose passages are coming in.

    Attributes:
        document: As it is called here.
        left: Passages that are still to come.
        held: Content hash to ids of the passages that the document has here, where it is here already.
        begun: Whether a part of it was written.
        torn: Whether a passage of it stands elsewhere here, so that the file must be read again.
    """

    document: Document
    left: int
    held: dict[str, list[str]] | None = None
    begun: bool = False
    torn: bool = False


@dataclass(slots=True)
class _Piece:
    """Passages of a document that were read so far, each with whether it may keep its id; or additions."""

    opened: _Open | None
    records: list[tuple[Record, bool]] = field(default_factory=list)
    last: bool = False


class Memories:
    """Takes memories in, in the order of the lines."""

    def __init__(self, into: Into) -> None:
        self._into = into
        self._pieces: list[_Piece] = []
        self._waiting = self._characters = 0
        self._open: _Open | None = None
        self._documents: dict[str, dict[str, Document]] = {}

    def document(self, document: Document, source: Source, memories: int) -> None:
        """Begin a document of a source, as both are called here."""
        self.whole()
        opened = _Open(document, memories)
        with self._into.store.reader(self._into.scope) as reader:
            if source.id not in self._documents:
                self._documents = {source.id: reader.documents(source.id)}  # lines are by source
            known = self._documents[source.id].get(document.path)
            if known is not None and known.content_hash:
                opened.held = {}
                for record in reader.passages(source.id, document.path):
                    opened.held.setdefault(record.content_hash, []).append(record.id)
            opened.begun = known is not None and not known.content_hash
        self._open = opened
        self._pieces.append(_Piece(opened, last=memories == 0))
        self._into.sources.add(source.id)

    def memory(self, record: Record, *, keep: bool) -> None:
        """Take a memory; a passage must be of the document that was begun last.

        Args:
            record: The memory, with the id that it had.
            keep: Whether it may keep that.
        """
        if record.place is not None:
            record = self._passage(record)
        elif self._open is not None:
            self.whole()
        if not self._pieces or self._pieces[-1].last or (self._pieces[-1].opened is not self._open):
            self._pieces.append(_Piece(self._open))
        self._pieces[-1].records.append((record, keep))
        if self._open is not None:
            self._open.left -= 1
            self._pieces[-1].last = self._open.left == 0
            if self._open.left == 0:
                self._open = None
        self._waiting += 1
        self._characters += len(record.content)
        if self._waiting >= AT_ONCE or self._characters >= CHARACTERS:
            self.flush()

    def _passage(self, record: Record) -> Record:
        if self._open is None:
            raise InputError("it stands in a document that does not stand above it")
        return stands_in(record, self._open.document)

    def whole(self) -> None:
        """Demand that no passage of a document is missing.

        Raises:
            InputError: One is.
        """
        if self._open is not None and self._open.left > 0:
            raise InputError(f"{self._open.left:,} passages of {self._open.document.path} are missing above")
        self._open = None

    def flush(self) -> None:
        """Write what is waiting."""
        pieces, self._pieces = self._pieces, []
        self._waiting = self._characters = 0
        records = [pair for piece in pieces for pair in piece.records]
        with self._into.store.reader(self._into.scope) as reader:
            sight = _Sight(self._into, reader, records)
            fresh = [[one for record, _ in p.records if (one := sight.new(record, p))] for p in pieces]
        prepared = iter(self._embedded(fresh))
        changes: list[Change] = []
        for piece, mine in zip(pieces, fresh, strict=True):
            own = tuple(next(prepared) for _ in mine)
            if piece.opened is None:
                changes += [PutMemory(memory) for memory in own]
            else:
                changes += self._put(piece.opened, own, last=piece.last)
        self._into.write(changes)

    def _put(self, opened: _Open, fresh: tuple[Prepared, ...], *, last: bool) -> list[Change]:
        """Return what writes a part of a document.

        Until its last passage is written it has no content hash: a sync in between reads the file again.
        """
        document = opened.document
        if opened.held is not None or not (fresh or (opened.begun and last) or (last and not opened.torn)):
            return []
        if not last or opened.torn:
            document = replace(document, content_hash="", mtime_ns=0, size=0, cursor=0)
        if not opened.begun:
            self._into.counts["documents"] += 1
        grows, opened.begun = opened.begun, True
        return [PutDocument(document, fresh, grows=grows)]

    def _embedded(self, fresh: Sequence[Sequence[Record]]) -> list[Prepared]:
        befores: list[str] = []
        for records in fresh:
            for place, record in enumerate(records):
                before = records[place - 1] if place and record.place is not None else record
                same = (before.heading_path, before.key) == (record.heading_path, record.key)
                befores.append(before.content if same and before is not record else "")
        prepared = [prepare(record) for records in fresh for record in records]
        if self._into.dry:
            return prepared
        return embed(prepared, befores, self._into.base, self._into.overlap)


class _Sight:
    """What of a batch is here already."""

    def __init__(self, into: Into, reader: Reader, records: Sequence[tuple[Record, bool]]) -> None:
        self._into = into
        self._told = reader.get([record.id for record, _ in records])
        self._ids = {record.id: self._candidates(record, keep=keep) for record, keep in records}
        self._here = reader.get([made for several in self._ids.values() for made in several])
        self._marks = {r.id: tombstones(into.secret, r.content, into.scope.keys) for r, _ in records}
        self._gone = reader.forgotten([mark for marks in self._marks.values() for mark in marks])

    def _candidates(self, record: Record, *, keep: bool) -> list[str]:
        """Return the ids that a memory may get here, the best first: its own, what an addition would get, a new one."""
        into = self._into
        found = [record.id] if keep and into.own else []
        if not found and record.place is None and record.origin != "derived":
            found.append(memory_id(record.tier, added_key(into.secret, record)))
        return [*found, memory_id(record.tier, memory_key(into.secret, ("import", into.store_of, record.id)))]

    def new(self, record: Record, piece: _Piece) -> Record | None:
        """Return a memory with the id that it gets here, None where it is not to be written; name and count it."""
        into, opened = self._into, piece.opened
        here = self._told.get(record.id)
        if here is not None and (into.own or here.content_hash == record.content_hash):
            self._known(record, here, opened)
            return None
        # Of two memories that say the same, only the first gets the id of an addition.
        made = next(one for one in self._ids[record.id] if not into.names.taken(one, record.id))
        if made in self._here:
            self._known(record, self._here[made], opened)
            return None
        if opened is not None and opened.held is not None:
            alike = opened.held.get(record.content_hash)
            into.names.put(record.id, alike.pop(0) if alike else None)
            into.counts["existed" if alike is not None else "passed"] += 1
            return None
        if not self._gone.isdisjoint(self._marks[record.id]):
            into.names.put(record.id, None)
            into.counts["forgotten"] += 1
            return None
        into.names.put(record.id, made)
        named = replace(record, id=made)
        into.added(named)
        return named

    def _known(self, record: Record, here: Record, opened: _Open | None) -> None:
        if opened is not None and opened.held is None:
            stands = None if here.place is None else (here.place.source, here.place.path)
            opened.torn |= stands != (opened.document.source, opened.document.path)
        self._into.names.put(record.id, here.id)
        self._into.counts["existed"] += 1
