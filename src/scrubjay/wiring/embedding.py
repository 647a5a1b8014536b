"""Embedding: a desk -> what waited for the backfilled models has their vectors; or texts -> their vectors alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scrubjay.errors import InputError
from scrubjay.ingest.backfill import backfill
from scrubjay.memory.reports import Embedded, Progress, Vectors
from scrubjay.text.size import tokens
from scrubjay.wiring.desk import Desk


def embed(desk: Desk, seconds: float | None, progress: Callable[[Progress], None] | None) -> Embedded:
    """Embed what waits; where a model has come to cover a key, its topics are found anew with it.

    A key is covered when all is that its viewers see: what else the caller embeds neither brings that about
    nor holds it up.

    Args:
        desk: Where, for whom.
        seconds: Time to spend; None for as long as it takes.
        progress: Told how far it is.

    Raises:
        ProviderError: A model failed; what was embedded before is stored.
    """
    before = {key: _waiting(desk, key) for key in desk.scope.keys}
    overlap = desk.settings.chunk.overlap
    models = desk.lineup.backfilled()
    done = backfill(desk.store, desk.scope, models, overlap=overlap, seconds=seconds, progress=progress)
    covered = [key for key, waited in before.items() if not (waited and _waiting(desk, key))]
    if models and covered:
        from scrubjay.wiring.weaving import organise_finer

        organise_finer(desk, [key for key in covered if before[key]])
        # A call before this one may have been stopped when it had embedded the last of them.
        organise_finer(desk, [key for key in covered if not before[key]], found=True)
    return done


def vectors(desk: Desk, texts: Sequence[str], model: str | None) -> Vectors:
    """Return one unit vector a text, of a bundled model.

    Raises:
        InputError: The texts are one text, or hold what is none.
        NotFoundError: No bundled model is called so.
        ProviderError: The model is missing or damaged.
    """
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError("texts must be a list of texts.")
    embedder = desk.lineup.bundled(model)
    rows = []
    for windows in embedder.embed(texts):
        mean = windows.astype(np.float64).mean(axis=0)
        length = float(np.linalg.norm(mean))
        rows.append(tuple((mean / length if length else mean).astype(np.float32).tolist()))
    return Vectors(embedder.model.name, tuple(rows), sum(map(tokens, texts)))


def _waiting(desk: Desk, key: str) -> int:
    with desk.store.reader(desk.scope.seen_with(key)) as reader:
        return sum(reader.coverage(each.model.fingerprint).waiting for each in desk.lineup.backfilled())
