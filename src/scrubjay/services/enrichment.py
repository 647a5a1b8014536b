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


def recluster_due(workspace: Workspace, base: Embedder, weaver: EdgeBuilder, most: int | None = None) -> None:
    """Find the topics anew of each key whose memories have doubled since they were found.

    Args:
        workspace: Where.
        base: The base model.
        weaver: What the call wrote with.
        most: Memories above which nothing is done, for a call that must not take a second: the next sync does
            it. None for any number.
    """
    if "categories" not in weaver.stages:
        return
    for key in workspace.scope.keys if most is None else weaver.written:
        if most is not None and count_memories(workspace.store, workspace.scope, key) > most:
            continue
        if are_topics_due(
            workspace.store, workspace.scope, key, base, weaver.written[key], patient=most is None
        ):
            organise_topics(workspace.store, workspace.scope, key, base, workspace.models.backfilled())


def recluster_with_finer_model(workspace: Workspace, keys: Sequence[str], *, found: bool = False) -> None:
    """Find the topics of keys anew that were found before a finer model had come to cover every memory.

    Args:
        workspace: Where.
        keys: Keys that a finer model covers.
        found: Leave keys alone that have no topics: there is nothing to find, as was seen before.
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
    """Return the edge builder of one call, as the settings want it."""
    linking = workspace.settings.linking
    options = LinkingOptions(linking.stages, SimilarityOptions(linking.similarity, linking.links))
    return EdgeBuilder(
        workspace.store, workspace.scope, base.model.fingerprint, workspace.dictionaries, options
    )


def embed_pending(
    workspace: Workspace, seconds: float | None, progress: ProgressCallback | None
) -> EmbedReport:
    """Embed what waits; where a model has come to cover a key, its topics are found anew with it.

    A key is covered when all is that its viewers see: what else the caller embeds neither brings that about
    nor holds it up.

    Args:
        workspace: Where, for whom.
        seconds: Time to spend; None for as long as it takes.
        progress: Told how far it is.

    Raises:
        ProviderError: A model failed; what was embedded before is stored.
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
        # A call before this one may have been stopped when it had embedded the last of them.
        recluster_with_finer_model(workspace, [key for key in covered if not before[key]], found=True)
    return done


def embed_texts(workspace: Workspace, texts: Sequence[str], model: str | None) -> VectorReport:
    """Return one unit vector a text, of a bundled model.

    Raises:
        InputError: The texts are one text, or hold what is none.
        NotFoundError: No bundled model is called so.
        ProviderError: The model is missing or damaged.
    """
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
