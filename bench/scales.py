"""Scales: stores of a thousand to a million memories -> time to write, time to search, disk, memory."""

from __future__ import annotations

import hashlib
import itertools
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ask import HollowError, open_memory
from baselines.fts5 import Fts5
from processes import memory_of
from report import percentiles
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.lifecycle import NewMemory
from trees import generate, words_of

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder, TextKind

COMPUTED = 100_000
"""Up to here the static model embeds every text; above, synthetic vectors stand in for MiniLM's."""
BATCH = 5_000
"""Memories of one ``add_many``."""
USER = "reader"
LEAST = 0.999
"""Share of the texts that are memories of their own: words made up by lot look like passwords now and then, and texts
that say nothing but that are one."""
LIMIT = 6


class SyntheticEmbedder:
    """384-dimensional unit vectors around a thousand centres, which depend on nothing but the text.

    They have no meaning; their size, their spread and the product's path are MiniLM's.
    """

    DIMENSIONS = 384
    CENTRES = 1_000

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._centres = rng.standard_normal((self.CENTRES, self.DIMENSIONS), np.float32)
        self._model = EmbeddingModel("bench", "synthetic-384", str(seed), self.DIMENSIONS, "mean", 0)

    @property
    def model(self) -> EmbeddingModel:
        """The model stamped on its vectors."""
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        """One row a text."""
        found = []
        for text in texts:
            seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())
            rng = np.random.Generator(np.random.SFC64(seed))
            row = rng.standard_normal((1, self.DIMENSIONS), np.float32) + self._centres[seed % self.CENTRES]
            found.append(row / np.linalg.norm(row))
        return found


def texts(words: Sequence[str], count: int, seed: int, length: int = 80) -> Iterator[str]:
    """Texts of about `length` words drawn with the frequencies that `words` repeats them with.

    Each also holds a word of its own, as notes do; the vocabulary therefore grows with the store.
    """
    rng = random.Random(seed)
    for number in range(count):
        drawn = rng.choices(words, k=rng.randint(length // 2, length * 3 // 2))
        drawn[rng.randrange(len(drawn))] = f"{rng.choice(words)}{number % 50_000}"
        yield " ".join(drawn)


def questions(words: Sequence[str], count: int, seed: int) -> list[str]:
    """Queries of three to eight words, drawn like the texts."""
    rng = random.Random(seed + 1)
    return [" ".join(rng.choices(words, k=rng.randint(3, 8))) for _ in range(count)]


def turns_stored(folder: Path, count: int, seed: int) -> tuple[Path, list[str]]:
    """Write a store of so many made-up turns, forty a conversation; return it and the words they are drawn from."""
    (folder / "tree").mkdir()
    words = words_of([generate(folder / "tree", seed)])
    store = folder / "memory.db"
    with open_memory(store, [StaticEmbedder()], USER) as memory:
        for part, batch in enumerate(_batches(words, count, seed)):
            turns = enumerate(batch, part * BATCH)
            memory.add_many([NewMemory(text, session=f"s{at // 40}", turn=at % 40) for at, text in turns])
    return store, words


def measure_scale(words: Sequence[str], count: int, folder: Path, *, seed: int, asked: int) -> dict[str, Any]:
    """Write `count` memories, ask `asked` questions, and the same of bare FTS5.

    Raises:
        HollowError: The store holds another number, or no question found anything.
    """
    store = folder / f"scale-{count}.db"
    model: Embedder = StaticEmbedder() if count <= COMPUTED else SyntheticEmbedder(seed)
    queries = questions(words, asked, seed)
    length, kept, begun = 0, set[str](), time.perf_counter()
    with open_memory(store, [model], USER) as memory:
        for batch in _batches(words, count, seed):
            kept |= {added.id for added in memory.add_many([NewMemory(text) for text in batch])}
            length += sum(map(len, batch))
        wrote = time.perf_counter() - begun
    with open_memory(store, [model], USER) as memory:
        status = memory.status()
        begun = time.perf_counter()
        found = len(memory.search(queries[0], limit=LIMIT).results)
        first = (time.perf_counter() - begun) * 1000
        took = _search(lambda query: memory.search(query, limit=LIMIT), queries)
    if status.memories != len(kept) or len(kept) < LEAST * count or not found:
        raise HollowError(f"Scale {count}: {status.memories} memories written, {found} found.")
    vectors = count * (model.model.dimensions + 4)
    result: dict[str, Any] = {
        "memories": count,
        "model": model.model.name,
        "write_seconds": round(wrote, 2),
        "written_per_second": round(count / wrote),
        "first_search_ms": round(first, 2),
        "search_ms": took,
        "bytes": status.bytes,
        "text_bytes": length,
        "vector_bytes": vectors,
        "overhead_per_memory": round((status.bytes - length - vectors) / count),
    }
    options = "cold=True"
    if count > COMPUTED:
        options = f"embedders=[__import__('scales').SyntheticEmbedder({seed})]"
    result["memory_mb"] = {
        str(n): memory_of(store, USER, queries[:20], folder, processes=n, options=options) for n in (1, 5)
    }
    store.unlink()
    result["fts5"] = _baseline(words, count, folder, queries, seed)
    result["search_over_fts5"] = round(took["p50"] / result["fts5"]["search_ms"]["p50"], 2)
    return result


def _baseline(
    words: Sequence[str], count: int, folder: Path, queries: Sequence[str], seed: int
) -> dict[str, Any]:
    file = folder / f"fts5-{count}.db"
    begun = time.perf_counter()
    base = Fts5(file)
    for batch in _batches(words, count, seed):
        base.add((str(i), text) for i, text in enumerate(batch))
    wrote = time.perf_counter() - begun
    took = _search(lambda query: base.search(query, LIMIT), queries)
    base.close()
    size = file.stat().st_size
    file.unlink()
    return {"write_seconds": round(wrote, 2), "search_ms": took, "bytes": size}


def _batches(words: Sequence[str], count: int, seed: int) -> Iterator[list[str]]:
    drawn = texts(words, count, seed)
    while batch := list(itertools.islice(drawn, BATCH)):
        yield batch


def _search(search: Any, queries: Sequence[str]) -> dict[str, float]:
    """Milliseconds a query: median, 95th percentile, least and most."""
    took = []
    for query in queries:
        begun = time.perf_counter()
        search(query)
        took.append((time.perf_counter() - begun) * 1000)
    return percentiles(took)
