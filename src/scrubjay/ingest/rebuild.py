"""Rebuild: chunk and embed all stored memories again, after an upgrade or a change of settings.

No file is read: passages partition their document, so the stored text is their join. Ids, additions, pins and
tombstones stay. All of them are marked to be connected again (`enrichment.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.alignment import (
    DocumentTraits,
    IdFactory,
    note_marker_id,
    plan_document,
    preceding_texts,
    restore_offsets,
)
from scrubjay.ingest.chunker import ChunkSettings
from scrubjay.ingest.embedder import embed_memories, prepare_memory, text_to_embed
from scrubjay.ingest.reader import draft_passages, headings_date, stage_versions
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import text_hash
from scrubjay.models.records import (
    COMMIT,
    DUE_EDGES,
    NEVER_INJECT,
    UNTRUSTED,
    Document,
    Record,
    Scope,
    due_level,
    due_mark,
)
from scrubjay.models.reports import Progress
from scrubjay.models.results import position_unit
from scrubjay.storage.changes import PreparedMemory, PutDocument, PutMemory, PutVersions
from scrubjay.storage.interface import Rebuild, Store, in_batches

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


REBUILD_BATCH: Final = 64
"""Documents of one transaction, and sixteen times as many additions."""


def rebuild_tenant(
    store: Store,
    scope: Scope,
    base: Embedder,
    chunks: ChunkSettings,
    progress: Callable[[Progress], None] | None = None,
    *,
    keep_vectors: bool = False,
) -> None:
    """Rebuild every memory of the tenant beside the old ones, then switch at once.

    Progress counts the caller's own documents only. With ``keep_vectors``, other models keep the vectors of the texts
    that stay, which is right only if chunk settings and `text_to_embed` are the same as before.
    """
    started = time.monotonic()
    secret = store.secret(scope)
    with store.reader(scope) as reader:
        own = {source.id for source in reader.sources()}
    with store.rebuild(scope) as generation:
        documents = generation.documents()
        done, total = 0, sum(document.source in own for document in documents)
        for batch in in_batches(documents, REBUILD_BATCH):
            changes = [
                _rebuild_document(generation, document, base, chunks, secret, keep_vectors=keep_vectors)
                for document in batch
            ]
            generation.write(changes)
            if progress is not None:
                done += sum(document.source in own for document in batch)
                progress(Progress("write", done, total, time.monotonic() - started))
        additions = generation.additions()
        for some in in_batches(additions, REBUILD_BATCH * 16):
            fresh = [prepare_memory(memory.record) for memory in some]
            if keep_vectors:
                fresh = _with_vectors(fresh, some, chunks.overlap)
            embedded = embed_memories(fresh, [""] * len(fresh), base)
            generation.write([PutMemory(memory) for memory in _mark_due(embedded)])
        generation.write([PutVersions(stage_versions(chunks))])


def _rebuild_document(
    generation: Rebuild,
    document: Document,
    base: Embedder,
    chunks: ChunkSettings,
    secret: bytes,
    *,
    keep_vectors: bool,
) -> PutDocument:
    stored_memories = generation.passages(document)
    old = [memory.record for memory in stored_memories]
    versions = stage_versions(chunks)
    if document.cursor or document.is_commit:
        # Turns and commits are not cut again, and a cursor is only valid for the version of its reader.
        versions = replace(versions, extractor=document.versions.extractor)
        turns = [prepare_memory(record) for record in old]
        if keep_vectors:
            turns = _with_vectors(turns, stored_memories, chunks.overlap)
        embedded = embed_memories(turns, [""] * len(turns), base, chunks.overlap)
        rebuilt = replace(document, versions=versions)
        if versions.extractor == COMMIT and document.versions.scrubber != versions.scrubber:
            rebuilt = rebuilt.to_reread()
        return PutDocument(rebuilt, _mark_due(embedded))
    rebuilt = replace(document, versions=versions)
    damaged = any(text_hash(record.content) != record.content_hash for record in old)
    known = document.versions
    if damaged or (known.scrubber, known.extractor) != (versions.scrubber, versions.extractor):
        # Only the file has the original text, so the next sync reads it again.
        rebuilt = rebuilt.to_reread()
    if not old:
        return PutDocument(rebuilt)
    text = "".join(record.content for record in old)
    unit = position_unit(document.path, old[0].place)
    drafts = draft_passages(document.source, document.path, text, chunks, document.title, unit)
    cut = restore_offsets(drafts, old, unit)
    stored = {record.id: record for record in old}
    ids = IdFactory(secret, is_taken=lambda memory: False, find=stored.get)
    withheld = {record.id for record in old if NEVER_INJECT in record.tags}
    archived = {record.id for record in old if record.status == "archived"}  # no text was edited
    planned = plan_document(rebuilt, cut, _traits(old), old, ids, withheld, archived)
    memories = [prepare_memory(one.record, one.language) for one in planned.fresh]
    memories += [prepare_memory(replace(stored[kept.id], place=kept.place)) for kept in planned.kept]
    memories.sort(key=lambda memory: memory.record.place.ordinal if memory.record.place else 0)
    if keep_vectors:
        memories = _with_vectors(memories, stored_memories, chunks.overlap)
    preceding = preceding_texts(memory.record for memory in memories)
    return PutDocument(rebuilt, _mark_due(embed_memories(memories, preceding, base, chunks.overlap)))


def _with_vectors(
    memories: Sequence[PreparedMemory], stored_memories: Sequence[PreparedMemory], overlap: int
) -> list[PreparedMemory]:
    """Return memories with the stored vectors of those whose embedded text stays."""
    known = {
        (one.record.id, text): one.vectors
        for one, text in zip(stored_memories, _embedded_texts(stored_memories, overlap), strict=True)
    }
    return [
        replace(one, vectors=known.get((one.record.id, text), {}))
        for one, text in zip(memories, _embedded_texts(memories, overlap), strict=True)
    ]


def _embedded_texts(memories: Sequence[PreparedMemory], overlap: int) -> list[str]:
    records = [one.record for one in memories]
    return [
        text_to_embed(record, before, overlap)
        for record, before in zip(records, preceding_texts(records), strict=True)
    ]


def _mark_due(memories: Sequence[PreparedMemory]) -> tuple[PreparedMemory, ...]:
    """Mark memories to be connected; a turn still due for fact extraction stays so."""
    now = now_micros()
    levels = (max(DUE_EDGES, due_level(memory.record.due)) for memory in memories)
    return tuple(
        replace(memory, record=replace(memory.record, due=due_mark(level, now)))
        for memory, level in zip(memories, levels, strict=True)
    )


def _traits(old: Sequence[Record]) -> DocumentTraits:
    """Return the traits of new passages; they are private in a note that holds additions alone."""
    passages = [record for record in old if note_marker_id(record.content) is None]
    shared = next(iter(passages), None)
    event = next((record.event for record in passages if headings_date(record.heading_path) is None), None)
    if shared is None:
        first = old[0]
        shared = replace(first, key=f"user:{first.owner}", tags=(), pinned=False)
    return DocumentTraits(
        shared.key,
        shared.owner,
        tuple(tag for tag in shared.tags if tag != NEVER_INJECT),
        event,
        shared.pinned,
        shared.recorded_at,
        shared.updated_at,
        shared.project,
        shared.origin if shared.origin == UNTRUSTED else None,
    )
