"""Rebuild: every memory -> a new generation, made from what is stored, with the stages as they are now.

Passages partition their document, so its stored text is their join, but for what was forgotten (`gaps`): no file is
read, and a folder that is not mounted today loses nothing. Ids, additions, pins and tombstones stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.chunk import ChunkSettings
from scrubjay.ingest.embed import embed
from scrubjay.ingest.forget import AGAIN
from scrubjay.ingest.gaps import whole
from scrubjay.ingest.label import Ids, Traits, label
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.noted import noted
from scrubjay.ingest.read import drafts, versions
from scrubjay.memory.ids import text_hash
from scrubjay.memory.records import Document, Record, Versions
from scrubjay.memory.reports import Progress
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import UNTRUSTED
from scrubjay.store.base import Rebuild, Store
from scrubjay.store.changes import Change, Prepared, PutDocument, PutMemory, PutVersions

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

AT_ONCE: Final = 64
"""Documents of one transaction, and sixteen times as many additions."""


def rebuild(
    store: Store,
    scope: Scope,
    base: Embedder,
    chunks: ChunkSettings,
    progress: Callable[[Progress], None] | None = None,
    stamp: Versions | None = None,
) -> None:
    """Make every memory of the tenant anew beside the old ones, then switch to them at once.

    Args:
        store: Where.
        scope: Who asks for it. They are told of their own documents alone.
        base: The base model.
        chunks: How documents are cut.
        progress: Told how far it is.
        stamp: What the new generation is stamped with, instead of the versions of the stages as they are now.
    """
    started = time.monotonic()
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        own = {source.id for source in reader.sources()}
    with store.rebuild(scope) as generation:
        documents = generation.documents()
        for first in range(0, len(documents), AT_ONCE):
            batch = documents[first : first + AT_ONCE]
            changes = [_remade(generation, document, base, chunks, secret) for document in batch]
            generation.write(changes)
            if progress is not None:
                done, total = (
                    sum(1 for document in some if document.source in own)
                    for some in (documents[: first + AT_ONCE], documents)
                )
                progress(Progress("write", done, total, time.monotonic() - started))
        additions = generation.additions()
        for first in range(0, len(additions), AT_ONCE * 16):
            generation.write(_again(additions[first : first + AT_ONCE * 16], base))
        generation.write([PutVersions(stamp or versions(chunks))])


def _remade(
    generation: Rebuild, document: Document, base: Embedder, chunks: ChunkSettings, secret: bytes
) -> PutDocument:
    old = [memory.record for memory in generation.passages(document)]
    fresh_document = replace(document, versions=versions(chunks))
    redacted = document.versions.scrubber != fresh_document.versions.scrubber
    # Its file says what was written, and what an earlier version redacted: the next sync reads it again.
    if not document.cursor and (redacted or any(map(_altered, old))):
        fresh_document = replace(fresh_document, mtime_ns=0, content_hash=AGAIN)
    if not old:
        return PutDocument(fresh_document if not document.cursor else _read_by(document, fresh_document))
    if document.cursor:  # turns are kept as they were said: a transcript is no text that can be cut anew
        turns = [prepare(record) for record in old]
        return PutDocument(
            _read_by(document, fresh_document), tuple(embed(turns, [""] * len(turns), base, chunks.overlap))
        )
    text = "".join(record.content for record in old)
    cut = whole(drafts(document.source, document.path, text, chunks, document.title), old)
    traits = _traits(old)
    ids = Ids(secret, taken=lambda memory: False, find={record.id: record for record in old}.get)
    labelled = label(fresh_document, cut, traits, old, ids)
    made = {memory.record.id: memory for memory in labelled.fresh}
    by_id = {record.id: record for record in old}
    for kept in labelled.kept:
        made[kept.id] = prepare(replace(by_id[kept.id], place=kept.place))
    ordered = sorted(
        made.values(), key=lambda memory: memory.record.place.ordinal if memory.record.place else 0
    )
    return PutDocument(fresh_document, tuple(embed(ordered, _befores(ordered), base, chunks.overlap)))


def _altered(record: Record) -> bool:
    """Return whether a text is not what was written: a disk gave back other letters than it was given."""
    return text_hash(record.content) != record.content_hash


def _read_by(document: Document, remade: Document) -> Document:
    """Return a transcript's document with the version of the reader that its cursor belongs to."""
    return replace(remade, versions=replace(remade.versions, extractor=document.versions.extractor))


def _traits(old: Sequence[Record]) -> Traits:
    """Return what the passages of a document share; an addition among them has traits of its own.

    Of a note of additions alone nothing is known but its owner: a new piece stays private to them.
    """
    shared = next((record for record in old if noted(record.content) is None), None)
    if shared is None:
        first = old[0]
        shared = replace(first, key=f"user:{first.owner}", tags=(), event=None, pinned=False)
    return Traits(
        shared.key,
        shared.owner,
        shared.tags,
        shared.event,
        shared.pinned,
        shared.recorded_at,
        shared.updated_at,
        shared.project,
        shared.origin if shared.origin == UNTRUSTED else None,
    )


def _befores(ordered: Sequence[Prepared]) -> list[str]:
    befores = [""] if ordered else []
    for before, memory in pairwise(ordered):
        one, other = before.record, memory.record
        same = (one.heading_path, one.key) == (other.heading_path, other.key)
        befores.append(before.record.content if same else "")
    return befores


def _again(memories: Sequence[Prepared], base: Embedder) -> list[Change]:
    fresh = [prepare(memory.record) for memory in memories]
    return [PutMemory(memory) for memory in embed(fresh, [""] * len(fresh), base)]
