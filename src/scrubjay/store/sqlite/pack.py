"""Pack: how columns, postings and vectors lie in blobs, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST: Final = 65_536
"""Most slots of a segment: a slot fits 16 bits. Of a million memories a reader looks into some forty segments."""

FIRST_VERSION: Final = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
NEXT_VERSION: Final = f"max(version + 1, {FIRST_VERSION})"
"""A segment's version, as SQL. It is a time, so that none comes again: neither in a new store where another
was removed, nor after a loss of power took back a commit. Files of vectors are named by it."""
SIGN: Final = 1 << 63
"""Moves an id's number into SQLite's signed range without changing its order."""

Postings: TypeAlias = "tuple[NDArray[np.uint16], NDArray[np.uint8]]"
Vectors: TypeAlias = "tuple[NDArray[np.uint16], NDArray[np.float32], NDArray[np.int8]]"


def pack_postings(slots: NDArray[np.uint16], frequencies: NDArray[np.uint8]) -> bytes:
    """Return a posting list as bytes: all slots (ascending), then all term frequencies."""
    return slots.astype("<u2").tobytes() + frequencies.tobytes()


def unpack_postings(data: bytes) -> Postings:
    """Return slots and term frequencies of a posting list."""
    count = len(data) // 3
    return np.frombuffer(data, "<u2", count), np.frombuffer(data, "u1", count, count * 2)


def unpack_lists(
    lists: Sequence[bytes],
) -> tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint8]]:
    """Return the sizes of many posting lists, and the slots and term frequencies of all, one list after another.

    Most lists hold a few memories, so one array for all of them costs a fraction of two arrays for each.
    """
    raw = np.frombuffer(b"".join(lists), "u1")
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    sizes = lengths // 3
    starts, firsts = np.cumsum(lengths) - lengths, np.cumsum(sizes) - sizes
    place = np.arange(sizes.sum())
    low = np.repeat(starts - firsts * 2, sizes) + place * 2
    slots = raw[low] | raw[low + 1].astype(np.uint16) << 8
    return sizes, slots, raw[np.repeat(starts + sizes * 2 - firsts, sizes) + place]


def pack_vectors(slots: NDArray[np.uint16], scales: NDArray[np.float32], data: NDArray[np.int8]) -> bytes:
    """Return rows of vectors as bytes: all slots, all scales, then the rows."""
    return (
        slots.astype("<u2").tobytes() + scales.astype("<f4").tobytes() + np.ascontiguousarray(data).tobytes()
    )


def unpack_vectors(blob: bytes, rows: int, dimensions: int) -> Vectors:
    """Return slots, scales and rows."""
    slots = np.frombuffer(blob, "<u2", rows)
    scales = np.frombuffer(blob, "<f4", rows, rows * 2)
    data = np.frombuffer(blob, "i1", rows * dimensions, rows * 6).reshape(rows, dimensions)
    return slots, scales, data


def row_offsets(row: int, rows: int, dimensions: int) -> tuple[int, int]:
    """Return where a row's scale and numbers begin inside a vector blob."""
    return rows * 2 + row * 4, rows * 6 + row * dimensions


def unpack_terms(data: bytes) -> list[int]:
    """Return a memory's term numbers."""
    return [int(term) for term in np.frombuffer(data, "<u4")]


def join(parts: Sequence[Vectors]) -> Vectors:
    """Return the rows of several vector blobs as one, in the order of their slots."""
    slots = np.concatenate([part[0] for part in parts])
    order = np.argsort(slots, kind="stable")
    scales = np.concatenate([part[1] for part in parts])[order]
    return slots[order], scales, np.concatenate([part[2] for part in parts])[order]
