"""Blobs: the encoding of columns, postings and vectors, and memory-mapped copies of a large store's vectors.

The copies are caches beside the store, mode 0600, one file for each segment, version and model. A file never changes: a
changed segment has another version and so another file.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from scrubjay.atomic_files import BINARY
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_SLOTS: Final = 65_536
"""Maximum number of slots of a segment: a slot fits 16 bits. A reader of a million memories reads some forty
segments."""

FIRST_VERSION: Final = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
NEXT_VERSION: Final = f"max(version + 1, {FIRST_VERSION})"
"""A segment's version, as SQL. It is a time, so that none comes again: neither in a new store where another
was removed, nor after a loss of power took back a commit. Files of vectors are named by it."""

PostingList: TypeAlias = "tuple[NDArray[np.uint16], NDArray[np.uint8]]"
VectorRows: TypeAlias = "tuple[NDArray[np.uint16], NDArray[np.float32], NDArray[np.int8]]"


def pack_postings(slots: NDArray[np.uint16], frequencies: NDArray[np.uint8]) -> bytes:
    """Return a posting list as bytes: all slots (ascending), then all term frequencies."""
    return slots.astype("<u2").tobytes() + frequencies.tobytes()


def unpack_postings(data: bytes) -> PostingList:
    count = len(data) // 3
    return np.frombuffer(data, "<u2", count), np.frombuffer(data, "u1", count, count * 2)


def pack_lists(
    sizes: NDArray[np.int64], slots: NDArray[np.uint16], frequencies: NDArray[np.uint8]
) -> Iterator[bytes]:
    """Return many posting lists of these sizes as `pack_postings` does, cut from the slots and frequencies of all."""
    ends = np.cumsum(sizes)
    raw = np.empty(3 * len(slots), "u1")
    place = np.arange(len(slots))
    low = np.repeat(ends - sizes, sizes) + place * 2
    raw[low], raw[low + 1] = slots & 255, slots >> 8
    raw[np.repeat(ends, sizes) * 2 + place] = frequencies
    joined = raw.tobytes()
    return (joined[first:last] for first, last in pairwise([0, *(ends * 3).tolist()]))


def unpack_lists(
    lists: Sequence[bytes],
) -> tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint8]]:
    """Return the sizes of many posting lists, and the slots and term frequencies of all.

    Most lists hold a few memories, so one array for all costs a fraction of two arrays for each.
    """
    raw = np.frombuffer(b"".join(lists), "u1")
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    sizes = lengths // 3
    starts, firsts = np.cumsum(lengths) - lengths, np.cumsum(sizes) - sizes
    place = np.arange(sizes.sum())
    low = np.repeat(starts - firsts * 2, sizes) + place * 2
    slots = raw[low] | raw[low + 1].astype(np.uint16) << 8
    return sizes, slots, raw[np.repeat(starts + sizes * 2 - firsts, sizes) + place]


class VectorLayout(NamedTuple):
    """How rows of a model's vectors lie in a blob: all slots, all scales if any, then all rows.

    Attributes:
        width: Bytes of a row.
        scaled: Whether each row has a scale; codes of tokens have none.
    """

    width: int
    scaled: bool

    @classmethod
    def of(cls, model: EmbeddingModel) -> VectorLayout:
        return cls(model.row_bytes, not model.late_interaction)

    @classmethod
    def stored(cls, dimensions: int, pooling: str) -> VectorLayout:
        """Return the layout of a model by two columns of its row."""
        return cls.of(EmbeddingModel("", "", "", dimensions, pooling))

    def pack(self, vectors: VectorRows) -> bytes:
        slots, scales, data = vectors
        scale_bytes = scales.astype("<f4").tobytes() if self.scaled else b""
        return b"".join((slots.astype("<u2").tobytes(), scale_bytes, np.ascontiguousarray(data).data))

    def unpack(self, blob: bytes, rows: int) -> VectorRows:
        slots = np.frombuffer(blob, "<u2", rows)
        scales = np.frombuffer(blob, "<f4", rows, rows * 2) if self.scaled else np.ones(rows, np.float32)
        data = np.frombuffer(blob, "i1", rows * self.width, self.row_offset(0, rows))
        return slots, scales, data.reshape(rows, self.width)

    def row_offset(self, row: int, rows: int) -> int:
        """Return where a row's numbers begin inside a blob of so many rows."""
        return rows * (6 if self.scaled else 2) + row * self.width

    def scale_offset(self, row: int, rows: int) -> int:
        return rows * 2 + row * 4


def unpack_terms(data: bytes) -> list[int]:
    return [int(term) for term in np.frombuffer(data, "<u4")]


def join_vector_rows(parts: Sequence[VectorRows]) -> VectorRows:
    """Join the rows of several vector blobs, in the order of their slots."""
    slots, scales, data = map(np.concatenate, zip(*parts, strict=True))
    if (slots[1:] >= slots[:-1]).all():  # the rows of whole segments: tens of megabytes
        return slots, scales, data
    order = np.argsort(slots, kind="stable")
    return slots[order], scales[order], data[order]


MAX_OPEN_FILES: Final = 512
"""Maximum number of mapped files; a map costs address space, not memory."""


class MappedVectors(NamedTuple):
    """One segment's vectors of a model.

    Attributes:
        slots: Slot of each row, ascending.
        scales: Scale of each row.
        data: int8 rows.
        bits: Signs of each row, 64 to a number: shape (ceil(dimensions / 64), rows), uint64.
        dense: Whether the slots are 0, 1, 2 and so on: one window a memory.
    """

    slots: NDArray[np.uint16]
    scales: NDArray[np.float32]
    data: NDArray[np.int8]
    bits: NDArray[np.uint64]
    dense: bool


def pack_signs(rows: NDArray[np.int8] | NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return which numbers of each row are positive, 64 to a word, padded with zeros; words first, rows second."""
    packed = np.packbits(rows > 0, axis=1)
    spare = -packed.shape[1] % 8
    words = np.ascontiguousarray(np.pad(packed, ((0, 0), (0, spare)))).view(np.uint64)
    return np.ascontiguousarray(words.T)


class VectorFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[str, MappedVectors] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self, name: tuple[int, int, int], dimensions: int, read: Callable[[], Iterable[VectorRows]]
    ) -> MappedVectors:
        """Return the vectors of (segment, version, model) from their file, made by ``read`` if missing."""
        segment, version, model = name
        file = f"{segment}-{model}-{version}.vec"
        with self._lock:
            if file in self._open:
                self._open.move_to_end(file)
                return self._open[file]
        mapped = self._map(name, dimensions, read)
        with self._lock:
            # Nobody reads older versions any more, and a mapped file takes disk space.
            prefix = f"{segment}-{model}-"
            versions = [file_name for file_name in self._open if file_name.startswith(prefix)]
            for older in [file_name for file_name in versions if int(file_name[len(prefix) : -4]) < version]:
                del self._open[older]
            self._open[file] = mapped
            while len(self._open) > MAX_OPEN_FILES:
                self._open.popitem(last=False)
        return mapped

    def _map(
        self, name: tuple[int, int, int], dimensions: int, read: Callable[[], Iterable[VectorRows]]
    ) -> MappedVectors:
        segment, version, model = name
        path = self._folder / f"{segment}-{model}-{version}.vec"
        mapped = None
        try:
            if not path.exists():
                mapped = _map_in_memory(list(read()), dimensions)
                self._write_file(path, mapped)
                self._drop_older(segment, model, version)
            return _map_file(path, dimensions)
        except OSError:  # disk full or read-only: this process keeps a copy in memory
            return _map_in_memory(list(read()), dimensions) if mapped is None else mapped

    def _write_file(self, path: Path, vectors: MappedVectors) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        try:
            with os.fdopen(
                os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, 0o600), "wb"
            ) as out:
                slots, scales = vectors.slots.astype("<u2"), vectors.scales.astype("<f4")
                out.write(vectors.bits.tobytes() + scales.tobytes() + slots.tobytes())
                out.write(np.ascontiguousarray(vectors.data).tobytes())
                out.flush()
                os.fsync(out.fileno())  # else the name may survive a loss of power without its content
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def _drop_older(self, segment: int, model: int, version: int) -> None:
        for file in self._folder.glob(f"{segment}-{model}-*.vec"):
            if int(file.stem.rpartition("-")[2]) < version:
                file.unlink(missing_ok=True)

    def keep(self, current: set[tuple[int, int]]) -> None:
        """Remove every file but those of these (segment, version): no other may hold what was forgotten."""
        if not self._folder.is_dir():
            return
        with self._lock:
            self._open.clear()
        for file in self._folder.iterdir():
            parts = file.stem.split("-")
            complete = file.suffix == ".vec" and len(parts) == 3
            if not complete or (int(parts[0]), int(parts[2])) not in current:
                file.unlink(missing_ok=True)


def _map_in_memory(parts: list[VectorRows], dimensions: int) -> MappedVectors:
    empty = (np.zeros(0, np.uint16), np.zeros(0, np.float32), np.zeros((0, dimensions), np.int8))
    slots, scales, data = join_vector_rows(parts) if parts else empty
    return MappedVectors(slots, scales, data, pack_signs(data), _is_dense(slots))


def _is_dense(slots: NDArray[np.uint16]) -> bool:
    return bool((slots == np.arange(len(slots))).all())


def _map_file(path: Path, dimensions: int) -> MappedVectors:
    words = -(-dimensions // 64)
    rows = path.stat().st_size // (words * 8 + 4 + 2 + dimensions)
    if rows == 0:
        return MappedVectors(
            np.zeros(0, np.uint16), np.zeros(0, np.float32), np.zeros((0, dimensions), np.int8),
            np.zeros((words, 0), np.uint64), dense=True,
        )  # fmt: skip
    # A plain view of the map: slices of numpy's own memmap class cost microseconds each.
    array = np.memmap(path, np.uint8, "r").view(np.ndarray)
    ends = np.cumsum([rows * words * 8, rows * 4, rows * 2, rows * dimensions]).tolist()
    slots = array[ends[1] : ends[2]].view("<u2")
    return MappedVectors(
        slots=slots,
        scales=array[ends[0] : ends[1]].view("<f4"),
        data=array[ends[2] : ends[3]].view(np.int8).reshape(rows, dimensions),
        bits=array[: ends[0]].view("<u8").reshape(words, rows),
        dense=_is_dense(slots),
    )
