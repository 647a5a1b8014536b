"""Segments: insert memories into segments, remove them, and merge segments of one size.

A segment holds the columns, postings and vectors of up to ``MAX_SLOTS`` memories of one visibility key. A write makes
one new segment a key; several of one size are merged. A word's statistics are the sums over the visible segments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.models.ids import parse_id
from scrubjay.storage.changes import PreparedMemory, QuantizedVectors
from scrubjay.storage.scoring import MAX_TERM_COUNT
from scrubjay.storage.sqlite import blobs
from scrubjay.storage.sqlite.connection import select
from scrubjay.storage.table import COLUMNS, STATUS_CODE, TIER_CODE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.sqlite.connection import Database


def insert_segment(
    db: Database,
    tenant: int,
    key: str,
    generation: int,
    entries: Sequence[tuple[int, PreparedMemory]],
    terms: Mapping[str, int],
) -> None:
    columns = np.zeros(len(entries), COLUMNS)
    languages = {
        code: language_number(db, code) for code in dict.fromkeys(memory.language for _, memory in entries)
    }
    columns[:] = [_column_values(num, memory, languages[memory.language]) for num, memory in entries]
    segment = _insert_columns(db, tenant, key, generation, columns)
    slots, numbers, counts = _occurrences(entries, terms)
    packed_terms = np.sort(slots.astype(np.uint64) << 32 | numbers).astype("<u4").tobytes()
    ends = np.searchsorted(slots, np.arange(len(entries) + 1)).tolist()
    db.executemany(
        "INSERT INTO slot VALUES (?, ?, ?, ?)",
        [
            (num, segment, slot, packed_terms[4 * first : 4 * last])
            for slot, ((num, _), (first, last)) in enumerate(zip(entries, pairwise(ends), strict=True))
        ],
    )
    db.executemany("INSERT INTO posting VALUES (?, ?, ?)", posting_lists(segment, slots, numbers, counts))
    by_model: dict[str, list[tuple[int, QuantizedVectors]]] = defaultdict(list)
    for slot, (_, memory) in enumerate(entries):
        for fingerprint, codes in memory.vectors.items():
            by_model[fingerprint].append((slot, codes))
    for fingerprint, rows in by_model.items():
        append_vectors(db, segment, model_number(db, tenant, fingerprint), rows)


def _insert_columns(db: Database, tenant: int, key: str, generation: int, columns: NDArray[np.void]) -> int:
    """Insert the row of a segment whose slots are all live, and return its number."""
    slots, length = len(columns), int(columns["length"].sum())
    db.execute(
        "INSERT INTO segment (tenant, key, generation, slots, live, length, version, columns) "
        f"VALUES (?,?,?,?,?,?,{blobs.FIRST_VERSION},?)",
        (tenant, key, generation, slots, slots, length, columns.tobytes()),
    )
    return db.last_insert_rowid()


def _occurrences(
    entries: Sequence[tuple[int, PreparedMemory]], terms: Mapping[str, int]
) -> tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint8]]:
    term_counts = [memory.terms.counts for _, memory in entries]
    sizes = [len(counts) for counts in term_counts]
    total = sum(sizes)
    numbers = np.fromiter(map(terms.__getitem__, chain.from_iterable(term_counts)), np.uint32, total)
    counts = np.fromiter(chain.from_iterable(counts.values() for counts in term_counts), np.int64, total)
    slots = np.repeat(np.arange(len(entries), dtype=np.uint16), sizes)
    return slots, numbers, np.minimum(counts, MAX_TERM_COUNT).astype(np.uint8)


def posting_lists(
    segment: int, slots: NDArray[np.uint16], numbers: NDArray[np.uint32], counts: NDArray[np.uint8]
) -> Iterator[tuple[int, int, bytes]]:
    """Return the rows of the posting table, by term."""
    # To sort one number of all three takes a third of sorting by the term.
    joined = np.sort(numbers.astype(np.uint64) << 24 | slots.astype(np.uint64) << 8 | counts)
    numbers = (joined >> 24).astype(np.uint32)
    firsts = np.flatnonzero(np.diff(numbers, prepend=0))  # no term has the number 0
    sizes = np.diff(firsts, append=len(numbers))
    lists = blobs.pack_lists(sizes, (joined >> 8).astype(np.uint16), joined.astype(np.uint8))
    return zip(repeat(segment), numbers[firsts].tolist(), lists, strict=False)


def _column_values(num: int, memory: PreparedMemory, language: int) -> tuple[int, ...]:
    record = memory.record
    parsed = parse_id(record.id)
    assert parsed is not None
    at = record.event.start if record.event is not None else record.recorded_at
    length = min(memory.terms.length, 2**32 - 1)
    return (parsed[1], num, at, length, TIER_CODE[record.tier], STATUS_CODE[record.status], 1, language)


def language_number(db: Database, code: str) -> int:
    row = db.execute("SELECT id FROM language WHERE code = ?", (code,)).fetchone()
    if row is None:
        db.execute("INSERT INTO language (code) VALUES (?)", (code,))
        return db.last_insert_rowid()
    return int(row[0])


def model_number(db: Database, tenant: int, fingerprint: str) -> int:
    (number,) = db.execute(
        "SELECT id FROM model WHERE tenant = ? AND fingerprint = ?", (tenant, fingerprint)
    ).fetchone()
    return int(number)


def vector_layout(db: Database, model: int) -> blobs.VectorLayout:
    return blobs.VectorLayout.stored(
        *db.execute("SELECT dimensions, pooling FROM model WHERE id = ?", (model,)).fetchone()
    )


def append_vectors(
    db: Database, segment: int, model: int, rows: Sequence[tuple[int, QuantizedVectors]]
) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    slots = np.concatenate([np.full(len(codes.scales), slot, np.uint16) for slot, codes in rows])
    scales = np.concatenate([codes.scales for _, codes in rows])
    data = np.concatenate([codes.data for _, codes in rows])
    write_vectors(db, segment, model, vector_layout(db, model), (slots, scales, data))


REWRITE_FROM: Final = 64
"""Memories removed from one segment at once from which rewriting it costs less than editing it: a memory's
hundred posting lists are a hundred small updates, and a whole segment costs about as much as sixty memories."""


def remove_memories(db: Database, nums: Sequence[int]) -> list[int]:
    """Empty the slots of memories, and return the segments that must be rewritten."""
    removals: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
    rewrite = []
    for num in nums:
        row = db.execute("SELECT segment, slot, terms FROM slot WHERE num = ?", (num,)).fetchone()
        if row is not None:
            removals[row[0]].append((row[1], blobs.unpack_terms(row[2])))
            db.execute("DELETE FROM slot WHERE num = ?", (num,))
    for segment, slots in removals.items():
        live = _blank_columns(db, segment, [slot for slot, _ in slots])
        if live == 0:
            drop_segment(db, segment)
        elif len(slots) >= REWRITE_FROM:
            rewrite.append(segment)
        else:
            _strip_postings(db, segment, slots)
            _blank_vectors(db, segment, {slot for slot, _ in slots})
    return rewrite


def _blank_columns(db: Database, segment: int, slots: Sequence[int]) -> int:
    (blob,) = db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
    columns = np.frombuffer(blob, COLUMNS).copy()
    columns[list(slots)] = np.zeros(1, COLUMNS)[0]
    live = int(columns["live"].sum())
    db.execute(
        f"UPDATE segment SET columns = ?, live = ?, length = ?, version = {blobs.NEXT_VERSION} WHERE id = ?",
        (columns.tobytes(), live, int(columns["length"].sum()), segment),
    )
    return live


def _strip_postings(db: Database, segment: int, removals: Sequence[tuple[int, list[int]]]) -> None:
    by_term: dict[int, set[int]] = defaultdict(set)
    for slot, terms in removals:
        for term in terms:
            by_term[term].add(slot)
    for term, removed_slots in by_term.items():
        (data,) = db.execute(
            "SELECT data FROM posting WHERE segment = ? AND term = ?", (segment, term)
        ).fetchone()
        slots, counts = blobs.unpack_postings(data)
        if len(slots) == len(removed_slots):
            db.execute("DELETE FROM posting WHERE segment = ? AND term = ?", (segment, term))
            continue
        places = [place for place, slot in enumerate(slots.tolist()) if slot not in removed_slots]
        packed = blobs.pack_postings(slots[places], counts[places])
        db.execute("UPDATE posting SET data = ? WHERE segment = ? AND term = ?", (packed, segment, term))


def _blank_vectors(db: Database, segment: int, slots: set[int]) -> None:
    """Zero the rows in place: an edit must not cost rewriting megabytes."""
    blanked = np.array(sorted(slots), np.uint16)
    vectors = db.execute(
        "SELECT v.id, v.rows, m.dimensions, m.pooling FROM vector v JOIN model m ON m.id = v.model "
        "WHERE v.segment = ?",
        (segment,),
    ).fetchall()
    for row_id, rows, *model in vectors:
        layout = blobs.VectorLayout.stored(*model)
        with db.blob_open("main", "vector", "data", row_id, True) as blob:
            row_slots = np.frombuffer(blob.read(rows * 2), "<u2")
            for row in np.flatnonzero(np.isin(row_slots, blanked)).tolist():
                if layout.scaled:
                    blob.seek(layout.scale_offset(row, rows))
                    blob.write(bytes(4))
                blob.seek(layout.row_offset(row, rows))
                blob.write(bytes(layout.width))


def set_statuses(db: Database, statuses: Mapping[int, str]) -> None:
    """Set statuses, by row number, in the columns of the segments, which get new versions."""
    places: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for num, status in statuses.items():
        segment, slot = db.execute("SELECT segment, slot FROM slot WHERE num = ?", (num,)).fetchone()
        places[segment].append((slot, status))
    for segment, slots in places.items():
        (blob,) = db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
        columns = np.frombuffer(blob, COLUMNS).copy()
        for slot, status in slots:
            columns["status"][slot] = STATUS_CODE[status]
        db.execute(
            f"UPDATE segment SET columns = ?, version = {blobs.NEXT_VERSION} WHERE id = ?",
            (columns.tobytes(), segment),
        )


def drop_segment(db: Database, segment: int) -> None:
    for table, column in (("posting", "segment"), ("vector", "segment"), ("segment", "id")):
        db.execute(f"DELETE FROM {table} WHERE {column} = ?", (segment,))


FANOUT: Final = 8
"""Segments of one size that are merged into the next: each posting is rewritten at most six times on its
way to a million memories, and a reader of a million looks into some forty segments."""

VECTOR_BYTES: Final = 32 << 20
"""Maximum number of bytes of vectors of a segment: a merge holds them in memory twice."""
MERGED_POSTINGS: Final = 200_000
"""Postings merged at once, about: those of 65,536 memories together took 300 MB."""
FIRST_MERGED_TERMS: Final = 64
"""Terms merged first; how many come next follows from their postings."""
USUAL_TOKENS: Final = 20
"""Rows of a usual memory by a late-interaction model."""
TOKEN_BLOB_BYTES: Final = 64 << 10
"""Bytes of a blob of token codes: a search reads those of a few hundred memories from the middle of such blobs, and
SQLite walks all pages of a blob before the place that is read."""
VECTOR_BLOB_BYTES: Final = 4 << 20
"""Bytes of a blob of scaled vectors: to write it takes four times as much memory."""
MIN_SEGMENT_LIMIT: Final = 16_384
"""Memories that a merged segment may always have, whatever the length of their vectors."""


def size_class(live: int) -> int:
    """Return the size class of a segment: its digits in base `FANOUT`.

    >>> [size_class(n) for n in (1, 7, 8, 64, 511)]
    [0, 0, 1, 2, 2]
    """
    size = 0
    while live >= FANOUT:
        live //= FANOUT
        size += 1
    return size


def merge_due(db: Database, tenant: int, keys: Iterable[str], generation: int) -> None:
    """Merge what is due, up to a limit; the next write merges the rest."""
    merged = 0
    for key in keys:
        while segments := segments_to_merge(db, tenant, key, generation):
            merged += merge_segments(db, segments)
            if merged >= blobs.MAX_SLOTS:
                return


def segments_to_merge(db: Database, tenant: int, key: str, generation: int) -> list[int]:
    rows = db.execute(
        "SELECT id, live, slots FROM segment WHERE tenant = ? AND key = ? AND generation = ? ORDER BY id",
        (tenant, key, generation),
    ).fetchall()
    limit = _segment_limit(db, tenant)
    sizes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for segment, live, slots in rows:
        if live * 2 < slots and slots > FANOUT:
            return [segment]  # mostly empty slots: rewrite it
        sizes[size_class(live)].append((segment, live))
    for _, segments in sorted(sizes.items()):
        # One that is more than half full is left alone: as the first of the chosen it would leave no room for others.
        segments = [(segment, live) for segment, live in segments if live * 2 <= limit]
        if len(segments) >= FANOUT:
            chosen: list[int] = []
            room = limit
            for segment, live in segments:
                if live <= room:
                    chosen.append(segment)
                    room -= live
            if len(chosen) > 1:
                return chosen[: FANOUT * 2]
    return []


def _segment_limit(db: Database, tenant: int) -> int:
    rows = db.execute("SELECT dimensions, pooling FROM model WHERE tenant = ?", (tenant,)).fetchall()
    layouts = [blobs.VectorLayout.stored(*model) for model in rows]
    widest = max((layout.width * (1 if layout.scaled else USUAL_TOKENS) for layout in layouts), default=1)
    return min(blobs.MAX_SLOTS, max(MIN_SEGMENT_LIMIT, VECTOR_BYTES // widest))


def merge_segments(db: Database, segments: Sequence[int]) -> int:
    """Merge segments, in their order, into a new one, and return how many memories it has."""
    rows = select(db, "SELECT * FROM segment WHERE id IN ? ORDER BY id", list(segments))
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
    tenant, key, generation = rows[0][1:4]
    fresh = _insert_columns(db, tenant, key, generation, columns)
    for merged in _merge_postings(db, remap, fresh):
        db.executemany("INSERT INTO posting VALUES (?, ?, ?)", merged)
    _merge_vectors(db, remap, fresh)
    db.executemany(
        "UPDATE slot SET segment = ?, slot = ? WHERE num = ?",
        ((fresh, slot, int(num)) for slot, num in enumerate(columns["num"])),
    )
    for segment in segments:
        drop_segment(db, segment)
    return base


def _merge_postings(
    db: Database, remap: dict[int, NDArray[np.int32]], fresh: int
) -> Iterator[Iterator[tuple[int, int, bytes]]]:
    """Yield the rows of the merged posting lists, a range of terms at a time."""
    ((last,),) = select(db, "SELECT max(term) FROM posting WHERE segment IN ?", list(remap))
    term, width = 0, FIRST_MERGED_TERMS
    while term <= (last or 0):
        parts: list[tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint8]]] = []
        for segment, remapped in sorted(remap.items()):
            rows = db.execute(
                "SELECT term, data FROM posting WHERE segment = ? AND term >= ? AND term < ?",
                (segment, term, term + width),
            ).fetchall()
            sizes, slots, counts = blobs.unpack_lists([data for _, data in rows])
            terms = np.repeat(np.fromiter((number for number, _ in rows), np.uint32, len(rows)), sizes)
            places = remapped[slots]
            live = places >= 0
            parts.append((places[live].astype(np.uint16), terms[live], counts[live]))
        slots, numbers, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
        yield posting_lists(fresh, slots, numbers, counts)
        term += width
        width = max(1, min(4 * width, width * MERGED_POSTINGS // max(1, len(numbers))))


def _merge_vectors(db: Database, remap: dict[int, NDArray[np.int32]], fresh: int) -> None:
    for (model,) in select(db, "SELECT DISTINCT model FROM vector WHERE segment IN ?", list(remap)):
        layout = vector_layout(db, model)
        parts: list[blobs.VectorRows] = []
        for segment, places in remap.items():
            cursor = db.execute(
                "SELECT rows, data FROM vector WHERE segment = ? AND model = ? ORDER BY id", (segment, model)
            )
            for rows, data in cursor.fetchall():
                slots, scales, codes = layout.unpack(data, rows)
                moved = places[slots]
                live = moved >= 0
                if not live.all():
                    moved, scales, codes = moved[live], scales[live], codes[live]
                parts.append((moved.astype(np.uint16), scales, codes))
        joined = blobs.join_vector_rows(parts)
        parts.clear()
        write_vectors(db, fresh, model, layout, joined)


def write_vectors(
    db: Database, segment: int, model: int, layout: blobs.VectorLayout, vectors: blobs.VectorRows
) -> None:
    """Write rows, in the order of their slots, in blobs of limited size; each memory's in one."""
    slots = vectors[0]
    firsts = np.flatnonzero(np.diff(slots.astype(np.int64), prepend=-1))
    piece = firsts // (_blob_bytes(layout) // layout.width)
    cuts = [*firsts[np.flatnonzero(np.diff(piece, prepend=-1))].tolist(), len(slots)]
    db.executemany(
        "INSERT INTO vector (segment, model, rows, data) VALUES (?, ?, ?, ?)",
        (
            (segment, model, last - first, layout.pack(tuple(array[first:last] for array in vectors)))  # type: ignore[arg-type]
            for first, last in pairwise(cuts)
        ),
    )


def _blob_bytes(layout: blobs.VectorLayout) -> int:
    return VECTOR_BLOB_BYTES if layout.scaled else TOKEN_BLOB_BYTES


def join_vectors(db: Database, segment: int, model: int) -> None:
    """Join the blobs that a backfill appended to a segment, once they are `FANOUT` or more."""
    layout = vector_layout(db, model)
    max_rows = _blob_bytes(layout) // layout.width // 2  # larger blobs are as large as they get
    small = db.execute(
        "SELECT id, rows FROM vector WHERE segment = ? AND model = ? AND rows <= ? ORDER BY rows DESC, id",
        (segment, model, max_rows),
    ).fetchall()
    # Leave blobs much larger than the rest alone, so that each row is rewritten a few times only.
    while len(small) >= FANOUT and small[0][1] > FANOUT * sum(row[1] for row in small[1:]):
        small = small[1:]
    if len(small) < FANOUT:
        return
    parts = []
    for number, rows in small:
        (data,) = db.execute("SELECT data FROM vector WHERE id = ?", (number,)).fetchone()
        parts.append(layout.unpack(data, rows))
        db.execute("DELETE FROM vector WHERE id = ?", (number,))
    write_vectors(db, segment, model, layout, blobs.join_vector_rows(parts))
