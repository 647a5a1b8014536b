"""Index: put memories into segments, and take them out again.

A segment holds the columns, postings and vectors of up to ``MOST`` memories of one visibility key. One
write makes one new segment a key; when several of one size have gathered, `merge` makes them one. So a
word's statistics are the sums over the segments that a reader may see, and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.memory.ids import parse_id
from scrubjay.memory.records import Record
from scrubjay.store.changes import Codes, Prepared
from scrubjay.store.score import MOST_COUNTED
from scrubjay.store.sqlite import pack
from scrubjay.store.table import COLUMNS, STATUS_CODE, TIER_CODE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.sqlite.database import Database


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory on its way into a segment."""

    num: int
    memory: Prepared


def put(
    db: Database, tenant: int, key: str, generation: int, entries: Sequence[Entry], terms: dict[str, int]
) -> None:
    """Write new segments for memories of one key.

    Args:
        db: Inside a transaction.
        tenant: Number of the tenant.
        key: Their visibility key.
        generation: Their generation.
        entries: The memories.
        terms: Term to its number, for all of their terms.
    """
    for first in range(0, len(entries), pack.MOST):
        _put_segment(db, (tenant, key, generation), entries[first : first + pack.MOST], terms)


def _put_segment(
    db: Database, owner: tuple[int, str, int], entries: Sequence[Entry], terms: dict[str, int]
) -> None:
    columns = np.zeros(len(entries), COLUMNS)
    languages = {
        code: language_number(db, code) for code in dict.fromkeys(entry.memory.language for entry in entries)
    }
    columns[:] = [_column(entry, languages[entry.memory.language]) for entry in entries]
    db.execute(
        "INSERT INTO segment (tenant, key, generation, slots, live, length, version, columns) "
        f"VALUES (?,?,?,?,?,?,{pack.FIRST_VERSION},?)",
        (*owner, len(entries), len(entries), int(columns["length"].sum()), columns.tobytes()),
    )
    segment = db.last_insert_rowid()
    slots, numbers, counts = _occurrences(entries, terms)
    by_memory = np.lexsort((numbers, slots))
    own = numbers[by_memory].astype("<u4").tobytes()
    ends = np.searchsorted(slots[by_memory], np.arange(len(entries) + 1)).tolist()
    db.executemany(
        "INSERT INTO slot VALUES (?, ?, ?, ?)",
        [
            (entry.num, segment, slot, own[4 * first : 4 * last])
            for slot, (entry, (first, last)) in enumerate(zip(entries, pairwise(ends), strict=True))
        ],
    )
    db.executemany("INSERT INTO posting VALUES (?, ?, ?)", lists(segment, slots, numbers, counts))
    by_model: dict[str, list[tuple[int, Codes]]] = defaultdict(list)
    for slot, entry in enumerate(entries):
        for fingerprint, codes in entry.memory.vectors.items():
            by_model[fingerprint].append((slot, codes))
    for fingerprint, rows in by_model.items():
        put_vectors(db, segment, model_number(db, owner[0], fingerprint), rows)


def _occurrences(
    entries: Sequence[Entry], terms: dict[str, int]
) -> tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint8]]:
    """Return slot, term number and count of each term of each memory, in the order of the slots."""
    held = [entry.memory.terms.counts for entry in entries]
    sizes = [len(counts) for counts in held]
    total = sum(sizes)
    numbers = np.fromiter(map(terms.__getitem__, chain.from_iterable(held)), np.uint32, total)
    counts = np.fromiter(chain.from_iterable(counts.values() for counts in held), np.int64, total)
    slots = np.repeat(np.arange(len(entries), dtype=np.uint16), sizes)
    return slots, numbers, np.minimum(counts, MOST_COUNTED).astype(np.uint8)


def lists(
    segment: int, slots: NDArray[np.uint16], numbers: NDArray[np.uint32], counts: NDArray[np.uint8]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield the rows of the posting table, by term: cut from one array, for most lists hold a few memories."""
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    firsts = np.flatnonzero(np.diff(numbers, prepend=0))  # no term has the number 0
    places, frequencies = slots[order].astype("<u2").tobytes(), counts[order].tobytes()
    bounds = pairwise([*firsts.tolist(), len(numbers)])
    for term, (first, last) in zip(numbers[firsts].tolist(), bounds, strict=True):
        yield segment, term, places[2 * first : 2 * last] + frequencies[first:last]


def _column(entry: Entry, language: int) -> tuple[int, ...]:
    record: Record = entry.memory.record
    parsed = parse_id(record.id)
    assert parsed is not None
    at = record.event.start if record.event is not None else record.recorded_at
    length = min(entry.memory.terms.length, 2**32 - 1)
    return (parsed[1], entry.num, at, length, TIER_CODE[record.tier], STATUS_CODE[record.status], 1, language)


def language_number(db: Database, code: str) -> int:
    """Return a language's number, given now to one that is new."""
    row = db.execute("SELECT id FROM language WHERE code = ?", (code,)).fetchone()
    if row is None:
        db.execute("INSERT INTO language (code) VALUES (?)", (code,))
        return db.last_insert_rowid()
    return int(row[0])


def model_number(db: Database, tenant: int, fingerprint: str) -> int:
    """Return a registered model's number."""
    (number,) = db.execute(
        "SELECT id FROM model WHERE tenant = ? AND fingerprint = ?", (tenant, fingerprint)
    ).fetchone()
    return int(number)


def put_vectors(db: Database, segment: int, model: int, rows: Sequence[tuple[int, Codes]]) -> None:
    """Append vectors of memories of one segment, given as (slot, windows)."""
    rows = sorted(rows, key=lambda row: row[0])
    slots = np.concatenate([np.full(len(codes.scales), slot, np.uint16) for slot, codes in rows])
    scales = np.concatenate([codes.scales for _, codes in rows])
    data = np.concatenate([codes.data for _, codes in rows])
    db.execute(
        "INSERT INTO vector (segment, model, rows, data) VALUES (?, ?, ?, ?)",
        (segment, model, len(slots), pack.pack_vectors(slots, scales, data)),
    )


REWRITE: Final = 64
"""Memories taken out of one segment at once, from which on writing it anew costs less than editing it: a
memory's hundred posting lists are a hundred small updates, a whole segment about as many as sixty memories."""


def take_out(db: Database, nums: Sequence[int]) -> list[int]:
    """Remove memories from their segments: columns, postings and vectors, byte by byte.

    Returns:
        Segments that must be merged (each with itself) before the transaction ends: so much was taken out
        of them that their postings were left for that.
    """
    gone: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
    rewrite = []
    for num in nums:
        row = db.execute("SELECT segment, slot, terms FROM slot WHERE num = ?", (num,)).fetchone()
        if row is not None:
            gone[row[0]].append((row[1], pack.unpack_terms(row[2])))
            db.execute("DELETE FROM slot WHERE num = ?", (num,))
    for segment, taken in gone.items():
        live = _blank_columns(db, segment, [slot for slot, _ in taken])
        if live == 0:
            drop_segment(db, segment)
        elif len(taken) >= REWRITE:
            rewrite.append(segment)
        else:
            _strip_postings(db, segment, taken)
            _blank_vectors(db, segment, {slot for slot, _ in taken})
    return rewrite


def _blank_columns(db: Database, segment: int, slots: Sequence[int]) -> int:
    (blob,) = db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
    columns = np.frombuffer(blob, COLUMNS).copy()
    columns[list(slots)] = np.zeros(1, COLUMNS)[0]
    live = int(columns["live"].sum())
    db.execute(
        f"UPDATE segment SET columns = ?, live = ?, length = ?, version = {pack.NEXT_VERSION} WHERE id = ?",
        (columns.tobytes(), live, int(columns["length"].sum()), segment),
    )
    return live


def _strip_postings(db: Database, segment: int, taken: Sequence[tuple[int, list[int]]]) -> None:
    by_term: dict[int, set[int]] = defaultdict(set)
    for slot, terms in taken:
        for term in terms:
            by_term[term].add(slot)
    for term, gone in by_term.items():
        (data,) = db.execute(
            "SELECT data FROM posting WHERE segment = ? AND term = ?", (segment, term)
        ).fetchone()
        held, counts = pack.unpack_postings(data)
        if len(held) == len(gone):
            db.execute("DELETE FROM posting WHERE segment = ? AND term = ?", (segment, term))
            continue
        kept = [place for place, slot in enumerate(held.tolist()) if slot not in gone]
        packed = pack.pack_postings(held[kept], counts[kept])
        db.execute("UPDATE posting SET data = ? WHERE segment = ? AND term = ?", (packed, segment, term))


def _blank_vectors(db: Database, segment: int, slots: set[int]) -> None:
    """Zero the rows in place: rewriting megabytes to remove one row would be the cost of every edit."""
    gone = np.array(sorted(slots), np.uint16)
    found = db.execute(
        "SELECT v.id, v.rows, m.dimensions FROM vector v JOIN model m ON m.id = v.model WHERE v.segment = ?",
        (segment,),
    ).fetchall()
    for row_id, rows, dimensions in found:
        with db.blob_open("main", "vector", "data", row_id, True) as blob:
            held = np.frombuffer(blob.read(rows * 2), "<u2")
            for row in np.flatnonzero(np.isin(held, gone)):
                scale, numbers = pack.row_offsets(int(row), rows, dimensions)
                blob.seek(scale)
                blob.write(bytes(4))
                blob.seek(numbers)
                blob.write(bytes(dimensions))


def restate(db: Database, statuses: Mapping[int, str]) -> None:
    """Give memories, told by their rows, another status in the columns of their segments.

    Whoever holds a table of these segments reads them again: their versions are others.
    """
    places: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for num, status in statuses.items():
        segment, slot = db.execute("SELECT segment, slot FROM slot WHERE num = ?", (num,)).fetchone()
        places[segment].append((slot, status))
    for segment, restated in places.items():
        (blob,) = db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
        columns = np.frombuffer(blob, COLUMNS).copy()
        for slot, status in restated:
            columns["status"][slot] = STATUS_CODE[status]
        db.execute(
            f"UPDATE segment SET columns = ?, version = {pack.NEXT_VERSION} WHERE id = ?",
            (columns.tobytes(), segment),
        )


def drop_segment(db: Database, segment: int) -> None:
    """Remove a segment whose memories have all left it, with its postings and vectors."""
    for table, column in (("posting", "segment"), ("vector", "segment"), ("segment", "id")):
        db.execute(f"DELETE FROM {table} WHERE {column} = ?", (segment,))
