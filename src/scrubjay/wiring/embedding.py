"""Embedding: a desk -> what waited for the backfilled models has their vectors, and topics are found with them."""

from __future__ import annotations

from collections.abc import Callable

from scrubjay.ingest.backfill import backfill
from scrubjay.memory.reports import Embedded, Progress
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
    covered = [key for key, waited in before.items() if waited and not _waiting(desk, key)]
    if covered:
        from scrubjay.wiring.weaving import organise_finer

        organise_finer(desk, covered)
    return done


def _waiting(desk: Desk, key: str) -> int:
    with desk.store.reader(desk.scope.seen_with(key)) as reader:
        return sum(reader.coverage(each.model.fingerprint).waiting for each in desk.lineup.backfilled())
