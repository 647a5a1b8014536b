"""Write: Labelled documents -> the store, whole documents at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.embed import embed
from scrubjay.ingest.label import Labelled
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Change, Prepared, PutDocument

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

DOCUMENTS_AT_ONCE: Final = 64
"""Most documents of one transaction."""
PASSAGES_AT_ONCE: Final = 1_000
"""Passages after which a transaction is full: about 50 ms of holding the lock."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A labelled document with what each fresh passage borrows from the piece before it."""

    labelled: Labelled
    befores: Sequence[str]


def batches(ready: Iterable[Ready]) -> Iterable[list[Ready]]:
    """Group documents into what one transaction takes."""
    batch: list[Ready] = []
    passages = 0
    for document in ready:
        batch.append(document)
        passages += len(document.labelled.fresh)
        # What a transcript says next is judged by what is stored of it, so a part of one ends its batch.
        if len(batch) >= DOCUMENTS_AT_ONCE or passages >= PASSAGES_AT_ONCE or document.labelled.grows:
            yield batch
            batch, passages = [], 0
    if batch:
        yield batch


def write(store: Store, scope: Scope, batch: Sequence[Ready], base: Embedder, overlap: int) -> None:
    """Embed the fresh passages with the base model, then store the batch in one transaction."""
    fresh = [memory for document in batch for memory in document.labelled.fresh]
    befores = [before for document in batch for before in document.befores]
    embedded = iter(embed(fresh, befores, base, overlap))
    store.write(scope, [_put(document.labelled, embedded) for document in batch])


def _put(labelled: Labelled, embedded: Iterable[Prepared]) -> Change:
    fresh = tuple(islice(embedded, len(labelled.fresh)))
    return PutDocument(
        labelled.document, fresh, labelled.kept, labelled.dropped, labelled.moved_from, labelled.grows
    )
