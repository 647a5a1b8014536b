"""Probe: two views of one tenant -> the first search that they answer differently, or None."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.memory.records import ANY
from scrubjay.text.tokens import TermGroup, terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.memory.ranking import Hit
    from scrubjay.memory.records import Record
    from scrubjay.store.base import Reader, Scored, Whole

SAMPLES: Final = 20
"""Memories whose words and vectors are searched for."""
WORDS: Final = 4
HITS: Final = 10
EXACT: Final = 100_000
"""Memories from which on a store may look at a choice of vectors, and two need not choose alike."""


def probe(here: Whole, there: Whole) -> str | None:
    """Search for samples in both; return what was asked where the answers are not the same in the same order."""
    models = [one.model.fingerprint for one in here.models()] if here.counts().memories < EXACT else []
    for record in here.page("", SAMPLES):
        for asked, mine in _searches(here, here, record, models):
            theirs = dict(_searches(there, here, record, models))[asked]
            if mine != theirs:
                return asked
    return None


def _searches(
    reader: Reader, here: Whole, record: Record, models: list[str]
) -> Iterator[tuple[str, list[Hit]]]:
    words = list(terms(record.content).counts)[:WORDS]
    if words:
        groups = [TermGroup(word, (word,)) for word in words]
        yield f"the words of {record.id}", _top(reader.words(groups, ANY))
    for fingerprint in models:
        held = here.vectors(fingerprint, [record.id]).get(record.id)
        if held is not None and held.scales[0] > 0:
            row = held.data[0].astype(np.float64)
            query = (row / np.sqrt((row**2).sum())).astype(np.float32)
            yield (
                f"the vector of {record.id} by {fingerprint}",
                _top(reader.nearest(fingerprint, query, ANY)),
            )


def _top(found: Scored) -> list[Hit]:
    return found.top(HITS)
