"""Enrichment: what a write derives besides the text: edges, facts, categories and backfilled vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.categories.topics import (
    MIN_MEMORIES,
    are_topics_due,
    count_memories,
    lack_finer_model,
    organise_topics,
)
from scrubjay.errors import InputError
from scrubjay.ingest.embedder import backfill_vectors
from scrubjay.ingest.linker import EdgeBuilder, LinkingOptions, SimilarityOptions
from scrubjay.models.reports import EmbedReport, ProgressCallback, VectorReport
from scrubjay.services.workspace import Workspace
from scrubjay.text.display import estimate_tokens

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


def recluster_due(
    workspace: Workspace, base: Embedder, edges: EdgeBuilder, max_memories: int | None = None
) -> None:
    """Recompute the topics of each key whose memories have doubled since they were computed.

    Args:
        workspace: The workspace.
        base: The base model.
        edges: The edge builder of the call.
        max_memories: Memories above which nothing is done, for a call that must be fast: the next sync does it.
    """
    if "categories" not in edges.stages:
        return
    for key in workspace.scope.keys if max_memories is None else edges.written:
        if max_memories is not None and count_memories(workspace.store, workspace.scope, key) > max_memories:
            continue
        if are_topics_due(
            workspace.store, workspace.scope, key, base, edges.written[key], patient=max_memories is None
        ):
            organise_topics(workspace.store, workspace.scope, key, base, workspace.models.backfilled())


def recluster_with_finer_model(workspace: Workspace, keys: Sequence[str], *, found: bool = False) -> None:
    """Recompute the topics of keys whose topics are older than a finer model's full coverage.

    Args:
        workspace: The workspace.
        keys: Keys that a finer model covers.
        found: Skip keys without topics: none were found before.
    """
    if "categories" not in workspace.settings.linking.stages:
        return
    base, finer = workspace.models.writer(), workspace.models.backfilled()
    for key in keys:
        if count_memories(workspace.store, workspace.scope, key) >= MIN_MEMORIES and lack_finer_model(
            workspace.store, workspace.scope, key, finer, none=not found
        ):
            organise_topics(workspace.store, workspace.scope, key, base, finer)


def edge_builder(workspace: Workspace, base: Embedder) -> EdgeBuilder:
    linking = workspace.settings.linking
    options = LinkingOptions(linking.stages, SimilarityOptions(linking.similarity, linking.links))
    return EdgeBuilder(
        workspace.store, workspace.scope, base.model.fingerprint, workspace.dictionaries, options
    )


def embed_pending(
    workspace: Workspace, seconds: float | None, progress: ProgressCallback | None
) -> EmbedReport:
    """Compute pending embeddings, and recompute the topics of keys that a model now covers.

    A key is covered when every memory with that key is embedded; the caller's other memories do not matter.
    """
    before = {key: _pending_count(workspace, key) for key in workspace.scope.keys}
    overlap = workspace.settings.chunk.overlap
    models = workspace.models.backfilled()
    done = backfill_vectors(
        workspace.store, workspace.scope, models, overlap=overlap, seconds=seconds, progress=progress
    )
    covered = [key for key, waited in before.items() if not (waited and _pending_count(workspace, key))]
    if models and covered:
        recluster_with_finer_model(workspace, [key for key in covered if before[key]])
        # An earlier call may have been interrupted after it embedded the last of them.
        recluster_with_finer_model(workspace, [key for key in covered if not before[key]], found=True)
    return done


def embed_texts(workspace: Workspace, texts: Sequence[str], model: str | None) -> VectorReport:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError("texts must be a list of texts.")
    embedder = workspace.models.bundled(model)
    rows = []
    for windows in embedder.embed(texts):
        mean = windows.astype(np.float64).mean(axis=0)
        length = float(np.linalg.norm(mean))
        rows.append(tuple((mean / length if length else mean).astype(np.float32).tolist()))
    return VectorReport(embedder.model.name, tuple(rows), sum(map(estimate_tokens, texts)))


def _pending_count(workspace: Workspace, key: str) -> int:
    with workspace.store.reader(workspace.scope.seen_with(key)) as reader:
        return sum(reader.coverage(each.model.fingerprint).waiting for each in workspace.models.backfilled())
