"""Rebuild: chunk, embed and link all stored memories again, after an upgrade or a change of settings.

No file is read: passages partition their document, so the stored text is their join. Ids, additions, pins and
tombstones stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
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
from scrubjay.ingest.embedder import embed_memories, preceding_texts, prepare_memory
from scrubjay.ingest.finalizer import relink_source
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.ingest.reader import draft_passages, stage_versions
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import text_hash
from scrubjay.models.records import (
    COMMIT,
    LEFT_OUT,
    NEVER_INJECT,
    UNTRUSTED,
    Document,
    Record,
    Scope,
    StageVersions,
)
from scrubjay.models.reports import Progress
from scrubjay.storage.changes import (
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
REBUILD_BATCH: Final = 64
"""Documents of one transaction, and sixteen times as many additions."""
NO_TERMS: Final = Terms({}, 0)


def rebuild_edges(
    store: Store,
    scope: Scope,
    base: Embedder,
    edge_builder: EdgeBuilder,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Connect every memory of a principal again; each page is one transaction."""
    started = time.monotonic()
    fingerprint = base.model.fingerprint
    after, done = "", 0
    with store.reader(scope) as reader:
        total = reader.counts().memories
        sources = reader.sources()
        embedded = any(one.model.fingerprint == fingerprint for one in reader.models())
    own = {source.id for source in sources}
    while True:
        with store.reader(scope) as reader:
            page = reader.page(after, REBUILD_PAGE)
            vectors = reader.vectors(fingerprint, [record.id for record in page]) if embedded else {}
        if not page:
            break
        after = page[-1].id
        memories = [
            PreparedMemory(one, NO_TERMS, {fingerprint: vectors[one.id]} if one.id in vectors else {})
            for one in page
        ]
        ids = [record.id for record in page]
        edge_builder.add_entities(page, ids)
        # Only who syncs a shared note can tell its folder.
        foreign = {one.id for one in page if one.place is not None and one.place.source not in own}
        first, last = edge_builder.changes(memories, [one for one in ids if one not in foreign], rejoin=True)
        cleared = [PutEdges((), tuple(sorted(foreign)), ("references", "similar"))] if foreign else []
        store.write(scope, [*first, *cleared, *last])
        done += len(page)
        if progress is not None:
            progress(Progress("connect", done, total, time.monotonic() - started))
    if "links" in edge_builder.stages:
        for source in sources:
            relink_source(store, scope, source)
    if "categories" in edge_builder.stages:
        for key in scope.keys:
            organise_topics(store, scope, key, base)
        for source in sources:
            update_folders(store, scope, source, now_micros())
    else:
        with store.reader(scope) as reader:
            categories = [DropCategory(category.id) for category in reader.categories()]
        store.write(scope, categories)


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
        done, total = 0, sum(document.source in own for document in documents)
        for first in range(0, len(documents), REBUILD_BATCH):
            batch = documents[first : first + REBUILD_BATCH]
            generation.write([_rebuilt(generation, document, base, chunks, secret) for document in batch])
            if progress is not None:
                done += sum(document.source in own for document in batch)
                progress(Progress("write", done, total, time.monotonic() - started))
        additions = generation.additions()
        for first in range(0, len(additions), REBUILD_BATCH * 16):
            some = additions[first : first + REBUILD_BATCH * 16]
            fresh = [prepare_memory(memory.record) for memory in some]
            embedded = embed_memories(fresh, [""] * len(fresh), base)
            generation.write([PutMemory(memory) for memory in embedded])
        generation.write([PutVersions(stamp or stage_versions(chunks))])


def _rebuilt(
    generation: Rebuild, document: Document, base: Embedder, chunks: ChunkSettings, secret: bytes
) -> PutDocument:
    old = [memory.record for memory in generation.passages(document)]
    versions = stage_versions(chunks)
    if document.cursor or document.versions.extractor in (COMMIT, LEFT_OUT):
        # Turns and commits are not cut anew, and a cursor belongs to the version of its reader.
        versions = replace(versions, extractor=document.versions.extractor)
        turns = [prepare_memory(record) for record in old]
        embedded = embed_memories(turns, [""] * len(turns), base, chunks.overlap)
        rebuilt = replace(document, versions=versions)
        if versions.extractor == COMMIT and document.versions.scrubber != versions.scrubber:
            rebuilt = replace(rebuilt, mtime_ns=0, content_hash=REREAD_HASH)
        return PutDocument(rebuilt, tuple(embedded))
    rebuilt = replace(document, versions=versions)
    damaged = any(text_hash(record.content) != record.content_hash for record in old)
    if damaged or document.versions.scrubber != versions.scrubber:
        # Only the file has the text as it was written: the next sync reads it again.
        rebuilt = replace(rebuilt, mtime_ns=0, content_hash=REREAD_HASH)
    if not old:
        return PutDocument(rebuilt)
    text = "".join(record.content for record in old)
    cut = restore_offsets(draft_passages(document.source, document.path, text, chunks, document.title), old)
    stored = {record.id: record for record in old}
    ids = IdFactory(secret, taken=lambda memory: False, find=stored.get)
    withheld = {record.id for record in old if NEVER_INJECT in record.tags}
    prepared = plan_document(rebuilt, cut, _traits(old), old, ids, withheld).prepared()
    memories = list(prepared.fresh)
    memories += [prepare_memory(replace(stored[kept.id], place=kept.place)) for kept in prepared.kept]
    memories.sort(key=lambda memory: memory.record.place.ordinal if memory.record.place else 0)
    preceding = preceding_texts(memory.record for memory in memories)
    return PutDocument(rebuilt, tuple(embed_memories(memories, preceding, base, chunks.overlap)))


def _traits(old: Sequence[Record]) -> DocumentTraits:
    """Where a note holds additions alone only its owner is known, so a new piece is private."""
    shared = next((record for record in old if note_marker_id(record.content) is None), None)
    if shared is None:
        first = old[0]
        shared = replace(first, key=f"user:{first.owner}", tags=(), event=None, pinned=False)
    return DocumentTraits(
        shared.key,
        shared.owner,
        tuple(tag for tag in shared.tags if tag != NEVER_INJECT),
        shared.event,
        shared.pinned,
        shared.recorded_at,
        shared.updated_at,
        shared.project,
        shared.origin if shared.origin == UNTRUSTED else None,
    )
