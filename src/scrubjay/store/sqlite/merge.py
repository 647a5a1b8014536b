"""Merge: make one segment of several of one size, so that a reader looks in few places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.store.sqlite import index, pack
from scrubjay.store.table import COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.sqlite.database import Database

FAN: Final = 8
"""Segments of one size that are merged into the next: each posting is rewritten at most six times on its
way to a million memories, and a reader of a million looks into some forty segments."""

VECTOR_BYTES: Final = 32 << 20
"""Bytes of vectors that one segment should not pass: a merge holds them in memory twice."""
LEAST_MOST: Final = 16_384
"""Memories that a merged segment may always have, however long their vectors are."""


def level(live: int) -> int:
    """Return the size class of a segment: its digits in base `FAN`.

    >>> [level(n) for n in (1, 7, 8, 64, 511)]
    [0, 0, 1, 2, 2]
    """
    size = 0
    while live >= FAN:
        live //= FAN
        size += 1
    return size


def merge_due(db: Database, tenant: int, keys: Iterable[str], generation: int) -> None:
    """Merge what is due; the rest is the next write's, once this one has waited long enough for it."""
    merged = 0
    for key in keys:
        while segments := due(db, tenant, key, generation):
            merged += merge(db, segments)
            if merged >= pack.MOST:
                return


def due(db: Database, tenant: int, key: str, generation: int) -> list[int]:
    """Return the segments to merge next, or an empty list."""
    rows = db.execute(
        "SELECT id, live, slots FROM segment WHERE tenant = ? AND key = ? AND generation = ? ORDER BY id",
        (tenant, key, generation),
    ).fetchall()
    most = _most(db, tenant)
    sizes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for segment, live, slots in rows:
        if live * 2 < slots and slots > FAN:
            return [segment]  # mostly empty slots: write it anew
        sizes[level(live)].append((segment, live))
    for _, held in sorted(sizes.items()):
        # One that is more than half full stays as it is: as the first of the chosen it would leave no room for others.
        held = [(segment, live) for segment, live in held if live * 2 <= most]
        if len(held) >= FAN:
            chosen: list[int] = []
            room = most
            for segment, live in held:
                if live <= room:
                    chosen.append(segment)
                    room -= live
            if len(chosen) > 1:
                return chosen[: FAN * 2]
    return []


def _most(db: Database, tenant: int) -> int:
    """Return how many memories a merged segment may have: fewer where their vectors are long."""
    (dimensions,) = db.execute("SELECT max(dimensions) FROM model WHERE tenant = ?", (tenant,)).fetchone()
    return min(pack.MOST, max(LEAST_MOST, VECTOR_BYTES // (dimensions or 1)))


def merge(db: Database, segments: Sequence[int]) -> int:
    """Make one segment of several, in their order, and drop them. Call it inside a transaction.

    Returns:
        How many memories the new one has.
    """
    marks = ",".join("?" * len(segments))
    rows = db.execute(f"SELECT * FROM segment WHERE id IN ({marks}) ORDER BY id", tuple(segments)).fetchall()
    remap: dict[int, NDArray[np.int32]] = {}
    parts = []
    base = 0
    for row in rows:
        columns = np.frombuffer(row[8], COLUMNS)
        live = columns["live"] == 1
        places = np.where(live, np.cumsum(live) - 1 + base, -1).astype(np.int32)
        remap[row[0]] = places
        parts.append(columns[live])
        base += int(live.sum())
    columns = np.concatenate(parts)
    db.execute(
        "INSERT INTO segment (tenant, key, generation, slots, live, length, version, columns) "
        f"VALUES (?,?,?,?,?,?,{pack.FIRST_VERSION},?)",
        (*rows[0][1:4], base, base, int(columns["length"].sum()), columns.tobytes()),
    )
    fresh = db.last_insert_rowid()
    db.executemany("INSERT INTO posting VALUES (?, ?, ?)", _postings(db, remap, fresh))
    _merge_vectors(db, remap, fresh)
    db.executemany(
        "UPDATE slot SET segment = ?, slot = ? WHERE num = ?",
        ((fresh, slot, int(num)) for slot, num in enumerate(columns["num"])),
    )
    for segment in segments:
        index.drop_segment(db, segment)
    return base


def _postings(
    db: Database, remap: dict[int, NDArray[np.int32]], fresh: int
) -> Iterator[tuple[int, int, bytes]]:
    """Return the posting lists of the segments as those of the new one."""
    parts: list[tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint8]]] = []
    for segment, remapped in sorted(remap.items()):
        found = db.execute("SELECT term, data FROM posting WHERE segment = ?", (segment,)).fetchall()
        sizes, slots, counts = pack.unpack_lists([data for _, data in found])
        terms = np.repeat(np.fromiter((term for term, _ in found), np.uint32, len(found)), sizes)
        places = remapped[slots]
        live = places >= 0
        parts.append((places[live].astype(np.uint16), terms[live], counts[live]))
    slots, numbers, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    return index.lists(fresh, slots, numbers, counts)


def _merge_vectors(db: Database, remap: dict[int, NDArray[np.int32]], fresh: int) -> None:
    models: dict[int, list[pack.Vectors]] = defaultdict(list)
    for segment, places in remap.items():
        found = db.execute(
            "SELECT v.model, v.rows, v.data, m.dimensions FROM vector v JOIN model m ON m.id = v.model "
            "WHERE v.segment = ? ORDER BY v.id",
            (segment,),
        ).fetchall()
        for model, rows, data, dimensions in found:
            slots, scales, codes = pack.unpack_vectors(data, rows, dimensions)
            moved = places[slots]
            live = moved >= 0
            models[model].append((moved[live].astype(np.uint16), scales[live], codes[live]))
    for model, parts in models.items():
        write_vectors(db, fresh, model, pack.join(parts))


def write_vectors(db: Database, segment: int, model: int, vectors: pack.Vectors) -> None:
    """Write rows of vectors as one blob."""
    slots, scales, data = vectors
    if len(slots):
        db.execute(
            "INSERT INTO vector (segment, model, rows, data) VALUES (?, ?, ?, ?)",
            (segment, model, len(slots), pack.pack_vectors(slots, scales, data)),
        )


def join_vectors(db: Database, segment: int, model: int) -> None:
    """Make one blob of the many that a backfill appended to a segment, once they are `FAN` or more."""
    found = db.execute(
        "SELECT v.id, v.rows, v.data, m.dimensions FROM vector v JOIN model m ON m.id = v.model "
        "WHERE v.segment = ? AND v.model = ? ORDER BY v.rows DESC, v.id",
        (segment, model),
    ).fetchall()
    # Leave blobs much larger than the rest alone, so that each row is rewritten a few times only.
    while len(found) >= FAN and found[0][1] > FAN * sum(row[1] for row in found[1:]):
        found = found[1:]
    if len(found) < FAN:
        return
    parts = [pack.unpack_vectors(data, rows, dimensions) for _, rows, data, dimensions in found]
    for row in found:
        db.execute("DELETE FROM vector WHERE id = ?", (row[0],))
    write_vectors(db, segment, model, pack.join(parts))
