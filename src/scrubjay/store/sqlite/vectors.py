"""Vectors: cosine with each memory's best window, over the vectors of a table's segments."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.memory.models import Model
from scrubjay.store.score import products, quantised
from scrubjay.store.scored import ArrayScored, by_vectors
from scrubjay.store.sqlite.files import Files
from scrubjay.store.sqlite.nominate import LARGE, NominatedScored, Span, nominate
from scrubjay.store.sqlite.pack import Vectors, unpack_vectors
from scrubjay.store.table import Part, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.sqlite.database import Database

KEPT_BYTES: Final = 160 * 1024 * 1024
"""Bytes of vectors a process keeps; the rest is read from the file, which the system caches for all."""


class Blocks:
    """Vector rows of the segments read last, shared by one process's readers.

    Args:
        files: Where the vectors of a large table are mapped from; None scores every table exactly.
    """

    def __init__(self, files: Files | None) -> None:
        self.files = files
        self._kept: OrderedDict[tuple[int, int, int], list[Vectors]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def of(self, db: Database, part: Part, model: int, dimensions: int) -> list[Vectors]:
        """Return a segment's vectors of a model."""
        name = (part.segment, part.version, model)
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None:
                self._kept.move_to_end(name)
                return kept
        vectors = _read(db, part.segment, model, dimensions)
        with self._lock:
            for stale in [
                k for k in self._kept if k[0] == part.segment and k[2] == model and k[1] < part.version
            ]:
                self._bytes -= _size(self._kept.pop(stale))
            if name not in self._kept:
                self._kept[name] = vectors
                self._bytes += _size(vectors)
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                self._bytes -= _size(self._kept.popitem(last=False)[1])
        return vectors


def _read(db: Database, segment: int, model: int, dimensions: int) -> list[Vectors]:
    found = db.execute(
        "SELECT rows, data FROM vector WHERE segment = ? AND model = ? ORDER BY id", (segment, model)
    ).fetchall()
    return [unpack_vectors(data, rows, dimensions) for rows, data in found]


def _size(vectors: list[Vectors]) -> int:
    return sum(data.nbytes + scales.nbytes + slots.nbytes for slots, scales, data in vectors)


def score(
    db: Database,
    table: Table,
    blocks: Blocks,
    model: tuple[int, Model],
    query: NDArray[np.float32],
    passing: NDArray[np.bool_],
) -> ArrayScored | NominatedScored:
    """Score every row that has vectors of the model; in a large table, the most promising ones."""
    number, identity = model
    if table.memories >= LARGE and blocks.files is not None:
        spans = [
            Span(part.first, blocks.files.of(
                (part.segment, part.version, number), identity.dimensions,
                partial(_read, db, part.segment, number, identity.dimensions),
            ))
            for part in table.parts
        ]  # fmt: skip
        return nominate(table, spans, query, passing)
    codes, scale = quantised(query)
    best = np.full(table.rows, -np.inf, np.float64)
    for part in table.parts:
        for slots, scales, data in blocks.of(db, part, number, identity.dimensions):
            rows = slots.astype(np.int64) + part.first
            amounts = products(data, codes) * (scales.astype(np.float64) * scale)
            if len(rows) > 1 and (rows[1:] <= rows[:-1]).any():
                np.maximum.at(best, rows, amounts)
            else:
                best[rows] = amounts
    return by_vectors(table, best, passing)
