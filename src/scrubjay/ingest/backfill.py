"""Backfill: memories that wait for a model -> their vectors, a little at a time, resumable."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.embed import OVERLAP, embedded_text, encode
from scrubjay.memory.ids import text_hash
from scrubjay.memory.reports import Embedded, Progress
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store, Waiting
from scrubjay.store.changes import Codes, PutVectors

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

AT_ONCE: Final = 64
"""Memories embedded and stored at a time: about a second of MiniLM, all that a kill can lose."""


def backfill(
    store: Store,
    scope: Scope,
    embedders: Sequence[Embedder],
    *,
    overlap: int = OVERLAP,
    seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Embedded:
    """Embed what waits, in hash order, so that a half-done backfill covers an even sample.

    Args:
        store: Where.
        scope: Whose memories.
        embedders: Models to bring up to date, in this order.
        overlap: Tokens of the piece before that are embedded with a piece of a cut section.
        seconds: Stop after this long, between two batches; None goes on to the end.
        progress: Told after each batch.
    """
    started = time.monotonic()
    done = 0
    total = _waiting(store, scope, embedders)
    for embedder in embedders:
        while seconds is None or time.monotonic() - started < seconds:
            with store.reader(scope) as reader:
                batch = reader.waiting(embedder.model.fingerprint, AT_ONCE)
            if not batch:
                break
            texts = [embedded_text(item.record, item.before, overlap) for item in batch]
            _embed(store, scope, embedder, batch, texts)
            done += len(batch)
            if progress is not None:
                progress(Progress("embed", done, max(total, done), time.monotonic() - started))
    return Embedded(done, _waiting(store, scope, embedders), time.monotonic() - started)


def _waiting(store: Store, scope: Scope, embedders: Sequence[Embedder]) -> int:
    with store.reader(scope) as reader:
        return sum(reader.coverage(embedder.model.fingerprint).waiting for embedder in embedders)


def _embed(
    store: Store, scope: Scope, embedder: Embedder, batch: Sequence[Waiting], texts: Sequence[str]
) -> None:
    fingerprint = embedder.model.fingerprint
    hashes = [text_hash(text) for text in texts]
    with store.reader(scope) as reader:
        known = dict(reader.cached(fingerprint, hashes))
    missing = {h: text for h, text in zip(hashes, texts, strict=True) if h not in known}
    made: dict[str, Codes] = dict(zip(missing, encode(embedder, list(missing.values())), strict=True))
    known.update(made)
    vectors = {
        item.record.id: (item.record.content_hash, known[h]) for item, h in zip(batch, hashes, strict=True)
    }
    store.write(scope, [PutVectors(fingerprint, vectors, made)])
