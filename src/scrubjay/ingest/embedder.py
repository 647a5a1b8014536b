"""Embedder stage: build the text that represents a memory and store its vectors."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from scrubjay.embeddings.base import TokenEmbedder, quantize_rows
from scrubjay.models.ids import text_hash
from scrubjay.models.records import Record, Scope
from scrubjay.models.reports import EmbedReport, Progress
from scrubjay.storage.changes import PreparedMemory, PutVectors, QuantizedVectors
from scrubjay.storage.interface import Reader, Store
from scrubjay.text.language import detect_language
from scrubjay.text.tokenizer import index_terms

if TYPE_CHECKING:
    from scrubjay.embeddings.base import AnyEmbedder, Embedder


HEAD_CHARACTERS: Final = 500
"""Characters at the beginning of a passage that are searched for its headings."""


def headings_above(record: Record) -> tuple[str, ...]:
    """Return the headings, or the title, that a memory does not itself begin with."""
    if record.place is not None:
        head = record.content[:HEAD_CHARACTERS]
        return tuple(name for name in dict.fromkeys(record.heading_path) if name and name not in head)
    first = record.content.lstrip("#\n ").partition("\n")[0].strip()
    return (record.title,) if record.title and first != record.title else ()


def prepare_memory(record: Record, language: str | None = None) -> PreparedMemory:
    """Return a memory with its terms.

    Its title counts twice: that finds a section by its heading first in .87 of cases instead of .79 (bench/LOG.md).
    """
    language = language or detect_language(record.content)
    indexed = "\n".join((record.title, *naming_context(record), record.content))
    return PreparedMemory(record, index_terms(indexed, language), {}, language)


def naming_context(record: Record) -> tuple[str, ...]:
    """Return the names of a memory that are not in its text: headings or title, and its file's name."""
    if record.place is None or record.turn is not None:  # a transcript's file name says nothing
        return headings_above(record)
    stem = _stem(record.place.path)
    headings = headings_above(record)
    return headings if stem in record.content[:HEAD_CHARACTERS] else (*headings, stem)


@lru_cache(maxsize=64)
def _stem(path: str) -> str:
    return PurePosixPath(path).stem


OVERLAP_TOKENS: Final = 80
"""Tokens of the preceding piece that are embedded with a piece."""
CHARACTERS_PER_TOKEN: Final = 4
_SPACE: Final = re.compile(r"\s")


def text_to_embed(record: Record, before: str = "", overlap: int = OVERLAP_TOKENS) -> str:
    """Return the text to embed for a memory: headings or title, the tail of the preceding piece, its text."""
    text = " > ".join(headings_above(record))
    return (text + "\n" if text else "") + overlap_tail(before, overlap) + record.content


def overlap_tail(before: str, overlap: int = OVERLAP_TOKENS) -> str:
    """Return about the last ``overlap`` tokens of a text, from the beginning of a word.

    >>> overlap_tail("short")
    'short'
    """
    max_characters = overlap * CHARACTERS_PER_TOKEN
    if len(before) <= max_characters:
        return before
    tail = before[len(before) - max_characters :]
    space = _SPACE.search(tail)
    return tail[space.end() :] if space else tail


def embed_memories(
    memories: Sequence[PreparedMemory],
    preceding: Sequence[str],
    embedder: Embedder,
    overlap: int = OVERLAP_TOKENS,
) -> list[PreparedMemory]:
    """Return the memories with the vectors of one more model; ``preceding`` are the texts of the preceding pieces."""
    pairs = zip(memories, preceding, strict=True)
    texts = [text_to_embed(memory.record, before, overlap) for memory, before in pairs]
    fingerprint = embedder.model.fingerprint
    return [
        PreparedMemory(memory.record, memory.terms, {**memory.vectors, fingerprint: codes}, memory.language)
        for memory, codes in zip(memories, encode_texts(embedder, texts), strict=True)
    ]


def encode_texts(embedder: AnyEmbedder, texts: Sequence[str]) -> list[QuantizedVectors]:
    """Return the quantized window vectors, or the codes of the tokens, of each text."""
    import numpy as np

    if not texts:
        return []
    if isinstance(embedder, TokenEmbedder):
        return [QuantizedVectors(rows.data, rows.scales) for rows in embedder.encode(texts)]
    windows = embedder.embed(texts)
    quantized = quantize_rows(np.concatenate(windows))
    ends = np.cumsum([len(rows) for rows in windows]).tolist()
    starts = [0, *ends[:-1]]
    return [
        QuantizedVectors(quantized.data[a:b], quantized.scales[a:b])
        for a, b in zip(starts, ends, strict=True)
    ]


BACKFILL_BATCH: Final = 64
"""Memories of one batch: about a second of a model."""


def backfill_vectors(
    store: Store,
    scope: Scope,
    embedders: Sequence[AnyEmbedder],
    *,
    overlap: int = OVERLAP_TOKENS,
    seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    proceed: Callable[[], bool] | None = None,
) -> EmbedReport:
    """Embed pending memories, model by model, in hash order so that a partial backfill is an even sample.

    Stops after ``seconds``, between two batches. With ``proceed``, which is called before each batch and may
    wait, the newest come first; it returns whether to go on.
    """
    started = time.monotonic()
    embedded = [0]
    with store.reader(scope) as reader:
        total = sum(reader.coverage(embedder.model.fingerprint).waiting for embedder in embedders)
    for embedder in embedders:
        fingerprint, by_token = embedder.model.fingerprint, isinstance(embedder, TokenEmbedder)
        embedded.append(0)
        while seconds is None or time.monotonic() - started < seconds:
            if proceed is not None and not proceed():
                break
            with store.reader(scope) as reader:
                batch = reader.pending(fingerprint, BACKFILL_BATCH, newest=proceed is not None)
                # Tokens are compared one by one, so those of the preceding piece would only be found twice.
                texts = [
                    text_to_embed(item.record, "" if by_token else item.before, overlap) for item in batch
                ]
                hashes = [text_hash(text) for text in texts]
                cached = dict(reader.cached_texts(fingerprint, hashes))
            if not batch:
                break
            missing = {key: text for key, text in zip(hashes, texts, strict=True) if key not in cached}
            new = dict(zip(missing, encode_texts(embedder, list(missing.values())), strict=True))
            cached.update(new)
            vectors = {
                item.record.id: (item.record.content_hash, cached[digest])
                for item, digest in zip(batch, hashes, strict=True)
            }
            # Cached codes of tokens would take as much room as the stored ones, and save little.
            store.write(scope, [PutVectors(fingerprint, vectors, {} if by_token else new)])
            embedded[-1] += len(batch)
            if progress is not None:
                done = sum(embedded)
                progress(Progress("embed", done, max(total, done), time.monotonic() - started))
    with store.reader(scope) as reader:
        return EmbedReport(max(embedded), count_pending(reader, embedders), time.monotonic() - started)


def count_pending(reader: Reader, embedders: Sequence[AnyEmbedder]) -> int:
    """Return how many visible memories wait for the model that covers the fewest."""
    return max((reader.coverage(embedder.model.fingerprint).waiting for embedder in embedders), default=0)
