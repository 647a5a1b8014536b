"""Write: Labelled documents -> the store, whole documents at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from scrubjay.errors import QuotaError
from scrubjay.ingest.embed import embed
from scrubjay.ingest.label import Labelled
from scrubjay.ingest.learn import Learner
from scrubjay.ingest.weave import Weaver
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Change, Prepared, PutDocument, PutMemory

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

DOCUMENTS_AT_ONCE: Final = 64
"""Most documents of one transaction."""
PASSAGES_AT_ONCE: Final = 1_000
"""Passages after which a transaction is full: about 50 ms of holding the lock."""


PASSAGES_A_WINDOW: Final = 3_000
"""Passages that are held while their names are counted: about 100 MB with their terms."""
DOCUMENTS_A_WINDOW: Final = 3_000


@dataclass(frozen=True, slots=True)
class Ready:
    """A labelled document.

    Attributes:
        labelled: The document.
        befores: What each fresh passage borrows from the piece before it.
        keys: Visibility keys under which something of it came, changed, moved or went.
    """

    labelled: Labelled
    befores: Sequence[str]
    keys: frozenset[str] = frozenset()


def windows(ready: Iterable[Ready]) -> Iterator[list[Ready]]:
    """Group documents into what is looked through for concepts together: a whole small source, a part of a large."""
    yield from _grouped(ready, DOCUMENTS_A_WINDOW, PASSAGES_A_WINDOW)


def batches(ready: Iterable[Ready]) -> Iterator[list[Ready]]:
    """Group documents into what one transaction takes."""
    yield from _grouped(ready, DOCUMENTS_AT_ONCE, PASSAGES_AT_ONCE)


def _grouped(ready: Iterable[Ready], most_documents: int, most_passages: int) -> Iterator[list[Ready]]:
    group: list[Ready] = []
    passages = 0
    for document in ready:
        group.append(document)
        passages += len(document.labelled.fresh)
        # What a transcript says next is judged by what is stored of it, so a part of one ends its group.
        if len(group) >= most_documents or passages >= most_passages or document.labelled.grows:
            yield group
            group, passages = [], 0
    if group:
        yield group


def write(
    store: Store,
    scope: Scope,
    batch: Sequence[Ready],
    base: Embedder,
    overlap: int,
    weaver: Weaver,
    learner: Learner,
) -> None:
    """Embed the fresh passages with the base model, learn from turns, connect, then store all in one transaction."""
    fresh = [memory for document in batch for memory in document.labelled.fresh]
    befores = [before for document in batch for before in document.befores]
    embedded = embed(fresh, befores, base, overlap)
    renewed = [memory for document in batch for memory in document.labelled.renewed]
    learned = learner.learn([one for one in embedded if one.record.turn is not None], settle=False)
    weaver.learn([one.record for one in learned.fresh])
    first, last = weaver.changes([*embedded, *learned.fresh], renewed)
    passages = iter(embedded)
    said = [PutMemory(memory) for memory in learned.fresh]
    documents = [_put(document.labelled, passages) for document in batch]
    try:
        store.write(scope, [*first, *documents, *said, *last, *learned.after])
    except QuotaError:
        weaver.refused()
        raise


def _put(labelled: Labelled, embedded: Iterable[Prepared]) -> Change:
    fresh = tuple(islice(embedded, len(labelled.fresh)))
    return PutDocument(
        labelled.document, fresh, labelled.kept, labelled.dropped, labelled.moved_from, labelled.grows
    )
