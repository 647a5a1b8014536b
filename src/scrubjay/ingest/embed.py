"""Embed: memories -> vectors of one model, from the text that stands for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.naming import above
from scrubjay.memory.records import Record
from scrubjay.providers.embedders.quantise import quantise
from scrubjay.store.changes import Codes, Prepared

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

OVERLAP: Final = 80
"""Tokens of the piece before that are embedded with a piece of a section that was cut."""
CHARACTERS: Final = 4
"""Characters of a token, about."""
_WORD: Final = re.compile(r"\s")


def embedded_text(record: Record, before: str = "", overlap: int = OVERLAP) -> str:
    """Return what is embedded for a memory: the headings above it or its title, then its text.

    Args:
        record: The memory.
        before: Text of the piece before it, when its section was cut in several.
        overlap: Tokens to borrow of it.
    """
    text = " > ".join(above(record))
    return (text + "\n" if text else "") + tail(before, overlap) + record.content


def tail(before: str, overlap: int = OVERLAP) -> str:
    """Return the end of a text, about so many tokens of it, from a word's beginning.

    >>> tail("short")
    'short'
    """
    room = overlap * CHARACTERS
    if len(before) <= room:
        return before
    end = before[len(before) - room :]
    space = _WORD.search(end)
    return end[space.end() :] if space else end


def embed(
    memories: Sequence[Prepared], befores: Sequence[str], embedder: Embedder, overlap: int = OVERLAP
) -> list[Prepared]:
    """Return the memories with the vectors of one more model."""
    pairs = zip(memories, befores, strict=True)
    texts = [embedded_text(memory.record, before, overlap) for memory, before in pairs]
    fingerprint = embedder.model.fingerprint
    return [
        Prepared(memory.record, memory.terms, {**memory.vectors, fingerprint: codes}, memory.language)
        for memory, codes in zip(memories, encode(embedder, texts), strict=True)
    ]


def encode(embedder: Embedder, texts: Sequence[str]) -> list[Codes]:
    """Return the windows of each text as they are kept."""
    import numpy as np

    if not texts:
        return []
    windows = embedder.embed(texts)
    whole = quantise(np.concatenate(windows))
    ends = np.cumsum([len(rows) for rows in windows]).tolist()
    starts = [0, *ends[:-1]]
    return [Codes(whole.data[a:b], whole.scales[a:b]) for a, b in zip(starts, ends, strict=True)]
