"""Rebuild: chunk, embed and link all stored memories again, after an upgrade or a change of settings.

No file is read: passages partition their document, so the stored text is their join. Ids, additions, pins and
tombstones stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from scrubjay.categories.folders import update_folders
from scrubjay.categories.topics import organise_topics
from scrubjay.ingest.alignment import (
    DocumentTraits,
    IdFactory,
    note_marker_id,
    plan_document,
    restore_offsets,
)
from scrubjay.ingest.chunker import ChunkSettings
from scrubjay.ingest.deletion import REREAD_HASH
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.ingest.finalizer import relink_source
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.ingest.reader import draft_passages, stage_versions
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import text_hash
from scrubjay.models.records import UNTRUSTED, Document, Record, Scope, Source, StageVersions
from scrubjay.models.reports import Progress
from scrubjay.storage.changes import (
    Change,
    DropCategory,
    PreparedMemory,
    PutDocument,
    PutEdges,
    PutMemory,
    PutVersions,
)
from scrubjay.storage.interface import Rebuild, Store
from scrubjay.text.tokenizer import Terms

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


REBUILD_PAGE: Final = 1_000
NO_TERMS: Final = Terms({}, 0)
"""Of what is stored already no terms are needed."""


def rebuild_edges(
    store: Store,
    scope: Scope,
    base: Embedder,
    edge_builder: EdgeBuilder,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Connect every memory of a principal again; each page is one transaction."""
    started = time.monotonic()
    after, done = "", 0
    with store.reader(scope) as reader:
        total = reader.counts().memories
        sources = reader.sources()
    own = {source.id for source in sources}
    while True:
        with store.reader(scope) as reader:
            page = reader.page(after, REBUILD_PAGE)
            known = any(s.model.fingerprint == base.model.fingerprint for s in reader.models())
            vectors = reader.vectors(base.model.fingerprint, [r.id for r in page]) if known else {}
        if not page:
            break
        after = page[-1].id
        memories = [
            PreparedMemory(r, NO_TERMS, {base.model.fingerprint: vectors[r.id]} if r.id in vectors else {})
            for r in page
        ]
        ids = [record.id for record in page]
        edge_builder.add_entities(page, ids)
        # In which folder a shared note stands, only they can tell anew who sync it.
        theirs = {record.id for record in page if record.place is not None and record.place.source not in own}
        first, last = edge_builder.changes(
            memories, [memory for memory in ids if memory not in theirs], again=True
        )
        anew = [PutEdges((), tuple(sorted(theirs)), ("references", "similar"))] if theirs else []
        store.write(scope, [*first, *anew, *last])
        done += len(page)
        if progress is not None:
            progress(Progress("connect", done, total, time.monotonic() - started))
    if "links" in edge_builder.stages:
        for source in sources:
            relink_source(store, scope, source)
    if "categories" in edge_builder.stages:
        _rebuild_categories(store, scope, base, sources)
    else:
        with store.reader(scope) as reader:
            gone = [DropCategory(category.id) for category in reader.categories()]
        store.write(scope, gone)


def _rebuild_categories(store: Store, scope: Scope, base: Embedder, sources: Sequence[Source]) -> None:
    for key in scope.keys:
        organise_topics(store, scope, key, base)
    for source in sources:
        update_folders(store, scope, source, now_micros())


REBUILD_BATCH: Final = 64
"""Documents of one transaction, and sixteen times as many additions."""


def rebuild_tenant(
    store: Store,
    scope: Scope,
    base: Embedder,
    chunks: ChunkSettings,
    progress: Callable[[Progress], None] | None = None,
    stamp: StageVersions | None = None,
) -> None:
    """Rebuild every memory of the tenant beside the old ones, then switch at once.

    Progress counts the caller's own documents only. ``stamp`` overrides the versions that the new generation records.
    """
    started = time.monotonic()
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        own = {source.id for source in reader.sources()}
    with store.rebuild(scope) as generation:
        documents = generation.documents()
        for first in range(0, len(documents), REBUILD_BATCH):
            batch = documents[first : first + REBUILD_BATCH]
            changes = [_remade(generation, document, base, chunks, secret) for document in batch]
            generation.write(changes)
            if progress is not None:
                done, total = (
                    sum(1 for document in some if document.source in own)
                    for some in (documents[: first + REBUILD_BATCH], documents)
                )
                progress(Progress("write", done, total, time.monotonic() - started))
        additions = generation.additions()
        for first in range(0, len(additions), REBUILD_BATCH * 16):
            generation.write(_again(additions[first : first + REBUILD_BATCH * 16], base))
        generation.write([PutVersions(stamp or stage_versions(chunks))])


def _remade(
    generation: Rebuild, document: Document, base: Embedder, chunks: ChunkSettings, secret: bytes
) -> PutDocument:
    old = [memory.record for memory in generation.passages(document)]
    fresh_document = replace(document, versions=stage_versions(chunks))
    redacted = document.versions.scrubber != fresh_document.versions.scrubber
    # Its file says what was written, and what an earlier version redacted: the next sync reads it again.
    if not document.cursor and (redacted or any(map(_altered, old))):
        fresh_document = replace(fresh_document, mtime_ns=0, content_hash=REREAD_HASH)
    if not old:
        return PutDocument(fresh_document if not document.cursor else _read_by(document, fresh_document))
    if document.cursor:  # turns are kept as they were said: a transcript is no text that can be cut anew
        turns = [prepare_memory(record) for record in old]
        return PutDocument(
            _read_by(document, fresh_document),
            tuple(embed_memories(turns, [""] * len(turns), base, chunks.overlap)),
        )
    text = "".join(record.content for record in old)
    cut = restore_offsets(draft_passages(document.source, document.path, text, chunks, document.title), old)
    traits = _traits(old)
    ids = IdFactory(secret, taken=lambda memory: False, find={record.id: record for record in old}.get)
    prepared = plan_document(fresh_document, cut, traits, old, ids).prepared()
    made = {memory.record.id: memory for memory in prepared.fresh}
    by_id = {record.id: record for record in old}
    for kept in prepared.kept:
        made[kept.id] = prepare_memory(replace(by_id[kept.id], place=kept.place))
    ordered = sorted(
        made.values(), key=lambda memory: memory.record.place.ordinal if memory.record.place else 0
    )
    return PutDocument(
        fresh_document, tuple(embed_memories(ordered, _befores(ordered), base, chunks.overlap))
    )


def _altered(record: Record) -> bool:
    return text_hash(record.content) != record.content_hash


def _read_by(document: Document, remade: Document) -> Document:
    return replace(remade, versions=replace(remade.versions, extractor=document.versions.extractor))


def _traits(old: Sequence[Record]) -> DocumentTraits:
    """Where a note holds additions alone only its owner is known, so a new piece is private."""
    shared = next((record for record in old if note_marker_id(record.content) is None), None)
    if shared is None:
        first = old[0]
        shared = replace(first, key=f"user:{first.owner}", tags=(), event=None, pinned=False)
    return DocumentTraits(
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


def _befores(ordered: Sequence[PreparedMemory]) -> list[str]:
    befores = [""] if ordered else []
    for before, memory in pairwise(ordered):
        one, other = before.record, memory.record
        same = (one.heading_path, one.key) == (other.heading_path, other.key)
        befores.append(before.record.content if same else "")
    return befores


def _again(memories: Sequence[PreparedMemory], base: Embedder) -> list[Change]:
    fresh = [prepare_memory(memory.record) for memory in memories]
    return [PutMemory(memory) for memory in embed_memories(fresh, [""] * len(fresh), base)]
