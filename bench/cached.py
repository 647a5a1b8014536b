"""Cached: a slow embedder -> the same embedder that looks into a file first.

A model's windows depend on nothing but the text, so the file spares an hour when the same sets are measured
again. Only the computing is skipped: what is embedded, stored and ranked stays the product's affair.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder, TextKind
    from scrubjay.models.ids import EmbeddingModel


class CachedEmbedder:
    """An ``Embedder`` in front of another.

    Windows are kept as float16 rows, which moves a cosine by less than 1e-3; the store keeps int8.

    Args:
        inner: Who computes what the file does not hold. It must treat questions and passages alike.
        file: SQLite file; made when it is not there. It belongs to one process at a time.
    """

    def __init__(self, inner: Embedder, file: Path) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._db = sqlite3.connect(file, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS windows (key BLOB PRIMARY KEY, rows BLOB) WITHOUT ROWID")
        self.found = 0
        self.computed = 0

    @property
    def model(self) -> EmbeddingModel:
        """The inner embedder's model."""
        return self._inner.model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        """Embed texts; those not in the file are computed and kept."""
        with self._lock:
            keys = [cache_key(self.model.fingerprint, text) for text in texts]
            known = {key: self._read(key) for key in set(keys)}
            missing = {key: text for key, text in zip(keys, texts, strict=True) if known[key] is None}
            if missing:
                made = self._inner.embed(list(missing.values()), kind=kind)
                self.store(zip(missing, made, strict=True))
                known |= {key: self._read(key) for key in missing}
            self.found += len(texts) - len(missing)
            self.computed += len(missing)
            return [rows for rows in map(known.get, keys) if rows is not None]

    def store(self, windows: Iterable[tuple[bytes, NDArray[np.floating]]]) -> None:
        """Keep windows by key.

        Args:
            windows: Pairs of a key and float rows of shape (windows, dimensions).
        """
        pairs = ((key, rows.astype("<f2").tobytes()) for key, rows in windows)
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO windows VALUES (?, ?)", pairs)

    def _read(self, key: bytes) -> NDArray[np.float32] | None:
        row = self._db.execute("SELECT rows FROM windows WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        rows = np.frombuffer(row[0], "<f2").astype(np.float32).reshape(-1, self.model.dimensions)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float32)


def cache_key(fingerprint: str, text: str) -> bytes:
    """Key of a text's windows under a model: sha256 of both."""
    return hashlib.sha256(f"{fingerprint}\x1f{text}".encode("utf-8", "surrogatepass")).digest()
