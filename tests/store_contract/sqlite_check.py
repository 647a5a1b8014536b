"""SQLite check: whether everything that an SQLite store keeps twice agrees.

A memory's words stand in its slot, in the postings and in the vocabulary; its filter values in its row and
in its segment's columns; whether it waits for a model in the pending table and in the vectors; its key and
tier in the sights of its edges. After any fault, whatever was committed must agree with itself.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scrubjay.models.graph import STORED_EDGE_KINDS
from scrubjay.storage.rows import SIGN, TARGET_KIND
from scrubjay.storage.sqlite import blobs
from scrubjay.storage.sqlite.connection import connect
from scrubjay.storage.table import COLUMNS, STATUS_CODE, TIER_CODE

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database, EncryptionKey


def disagreements(path: Path, key: EncryptionKey | None = None) -> list[str]:
    """Return what does not agree in a store that nobody writes to, empty when it is sound."""
    db = connect(path, key=key)
    try:
        (sound,) = db.execute("PRAGMA integrity_check").fetchall()[0]
        found = [] if sound == "ok" else [f"integrity_check: {sound}"]
        for check in (
            _slots,
            _segments,
            _postings,
            _vocabulary,
            _vectors,
            _tags,
            _documents,
            _edges,
            _events,
            _readings,
        ):
            found += check(db)
        return found
    finally:
        db.close()


def _rows(db: Database, statement: str) -> list[tuple[Any, ...]]:
    return db.execute(statement).fetchall()


def _slots(db: Database) -> Iterator[str]:
    """Every memory has one live slot, whose column says what its row says."""
    columns = {
        number: np.frombuffer(blob, COLUMNS) for number, blob in _rows(db, "SELECT id, columns FROM segment")
    }
    found = _rows(
        db,
        "SELECT m.num, m.hash, m.tier, m.status, coalesce(m.event_start, m.recorded_at), m.tenant, m.key, "
        "m.generation, s.segment, s.slot, g.tenant, g.key, g.generation FROM memory m "
        "LEFT JOIN slot s ON s.num = m.num LEFT JOIN segment g ON g.id = s.segment",
    )
    for num, number, tier, status, at, *own, segment, slot, tenant, key, generation in found:
        if segment is None:
            yield f"memory {num} has no slot"
        elif own != [tenant, key, generation]:
            yield f"memory {num} of {own} stands in a segment of {[tenant, key, generation]}"
        else:
            row = columns[segment][slot]
            wanted = (number + SIGN, num, at, TIER_CODE[tier], STATUS_CODE[status], 1)
            held = tuple(int(row[name]) for name in ("key", "num", "at", "tier", "status", "live"))
            if held != wanted:
                yield f"memory {num} is {wanted}, its column {held}"
    (orphans,) = _rows(db, "SELECT count(*) FROM slot WHERE num NOT IN (SELECT num FROM memory)")[0]
    if orphans:
        yield f"{orphans} slots belong to no memory"


def _segments(db: Database) -> Iterator[str]:
    """A segment counts what it holds."""
    slots = Counter(segment for (segment,) in _rows(db, "SELECT segment FROM slot"))
    for number, size, live, length, blob in _rows(db, "SELECT id, slots, live, length, columns FROM segment"):
        columns = np.frombuffer(blob, COLUMNS)
        held = columns[columns["live"] == 1]
        counted = (len(columns), len(held), int(held["length"].sum(dtype=np.int64)), slots[number])
        if counted != (size, live, length, live):
            yield f"segment {number} says {(size, live, length, live)} and holds {counted}"
        if columns[columns["live"] == 0].tobytes().strip(b"\0"):
            yield f"segment {number} still says something of what was taken out"


def _postings(db: Database) -> Iterator[str]:
    """A slot's own terms are those whose postings name it."""
    named: dict[tuple[int, int], set[int]] = defaultdict(set)
    for segment, term, data in _rows(db, "SELECT segment, term, data FROM posting"):
        slots, counts = blobs.unpack_postings(data)
        if len(data) != 3 * len(slots) or (np.diff(slots.astype(int)) <= 0).any() or not counts.all():
            yield f"posting {segment}/{term} is not in order"
        for slot in slots.tolist():
            named[segment, slot].add(term)
    for num, segment, slot, terms in _rows(db, "SELECT num, segment, slot, terms FROM slot"):
        if set(blobs.unpack_terms(terms)) != named.pop((segment, slot), set()):
            yield f"memory {num} has other terms than its postings"
    if named:
        yield f"postings name {len(named)} slots that no memory has"


def _vocabulary(db: Database) -> Iterator[str]:
    """Every term in a posting is known to its tenant, and every known term has its trigrams."""
    (unknown,) = _rows(
        db,
        "SELECT count(*) FROM posting p JOIN segment g ON g.id = p.segment LEFT JOIN term t ON t.id = p.term "
        "WHERE t.tenant IS NOT g.tenant",
    )[0]
    if unknown:
        yield f"{unknown} postings are of terms that their tenant does not have"
    terms = {number for (number,) in _rows(db, "SELECT id FROM term")}
    grams = {number for (number,) in _rows(db, "SELECT rowid FROM term_gram")}
    if terms != grams:
        yield f"{len(terms ^ grams)} terms have no trigrams, or trigrams no term"


def _vectors(db: Database) -> Iterator[str]:
    """A memory either waits for a model of its tenant or has its vectors."""
    having: set[tuple[int, int]] = set()
    live = {(segment, slot): num for num, segment, slot in _rows(db, "SELECT num, segment, slot FROM slot")}
    models = _rows(db, "SELECT id, dimensions, pooling FROM model")
    layouts = {number: blobs.VectorLayout.stored(*model) for number, *model in models}
    for segment, model, rows, data in _rows(db, "SELECT segment, model, rows, data FROM vector"):
        layout = layouts.get(model)
        if layout is None or len(data) != layout.row_offset(rows, rows):
            yield f"vectors of segment {segment}, model {model}, are of no model or of another size"
            continue
        slots, scales, numbers = layout.unpack(data, rows)
        for slot, scale, row in zip(slots.tolist(), scales.tolist(), numbers, strict=True):
            num = live.get((segment, slot))
            if num is not None:
                having.add((model, num))
            elif (layout.scaled and scale) or row.any():
                yield f"segment {segment} still has vectors of what was taken out of slot {slot}"
    waiting = {(model, num) for model, num in _rows(db, "SELECT model, num FROM pending")}
    every = set(_rows(db, "SELECT m.id, k.num FROM model m JOIN memory k ON k.tenant = m.tenant"))
    if having & waiting:
        yield f"{len(having & waiting)} memories wait for vectors that they have"
    if having | waiting != every:
        yield f"{len((having | waiting) ^ every)} memories neither have nor await vectors, or are not there"


def _tags(db: Database) -> Iterator[str]:
    """The tag table says what the memories say."""
    wanted = {
        (tag, num) for num, tags in _rows(db, "SELECT num, tags FROM memory") for tag in json.loads(tags)
    }
    held = set(_rows(db, "SELECT tag, num FROM tag"))
    if wanted != held:
        yield f"{len(wanted ^ held)} tags differ"


def _documents(db: Database) -> Iterator[str]:
    """A passage's document is there and of the same tenant and generation; its source is registered."""
    (lost,) = _rows(
        db,
        "SELECT count(*) FROM memory m LEFT JOIN document d ON d.id = m.document WHERE m.document IS "
        "NOT NULL "
        "AND (d.tenant, d.generation) IS NOT (m.tenant, m.generation)",
    )[0]
    if lost:
        yield f"{lost} passages stand in no document of theirs"
    (adrift,) = _rows(
        db,
        "SELECT count(*) FROM document d LEFT JOIN source s ON s.tenant = d.tenant AND s.id = d.source "
        "WHERE s.id IS NULL",
    )[0]
    if adrift:
        yield f"{adrift} documents belong to no source"


def _edges(db: Database) -> Iterator[str]:
    """An edge's ends are there, and its sight says of them what they say; so do its kind and what made it."""
    ends = {
        tenant: {
            (number, key, TIER_CODE[tier])
            for number, key, tier in _rows(
                db,
                "SELECT m.hash, m.key, m.tier FROM memory m JOIN tenant t ON t.id = m.tenant "
                f"AND t.generation = m.generation WHERE t.id = {tenant}",
            )
        }
        for (tenant,) in _rows(db, "SELECT id FROM tenant")
    }
    nodes = {(tenant, num): kind for num, tenant, kind in _rows(db, "SELECT num, tenant, kind FROM node")}
    found = _rows(
        db,
        "SELECT e.tenant, e.src, e.kind, e.dst, s.tenant, s.src_key, s.src_tier, s.dst_key, s.dst_tier, k.tenant "
        "FROM edge e LEFT JOIN sight s ON s.id = e.sight LEFT JOIN maker k ON k.id = e.maker",
    )
    for tenant, src, kind, dst, seen, src_key, src_tier, dst_key, dst_tier, made in found:
        name = f"edge {src} -{STORED_EDGE_KINDS[kind]}-> {dst}"
        if (seen, made) != (tenant, tenant):
            yield f"{name} has no sight or maker of its tenant"
        elif (src, src_key, src_tier) not in ends[tenant]:
            yield f"{name} leaves no memory of its sight"
        elif STORED_EDGE_KINDS[kind] in TARGET_KIND:
            if (nodes.get((tenant, dst)), dst_key, dst_tier) != (
                TARGET_KIND[STORED_EDGE_KINDS[kind]],
                "",
                -1,
            ):
                yield f"{name} leads to no {TARGET_KIND[STORED_EDGE_KINDS[kind]]}"
        elif (dst, dst_key, dst_tier) not in ends[tenant]:
            yield f"{name} leads to no memory of its sight"
    for table in ("concept", "category"):
        (lost,) = _rows(
            db,
            f"SELECT count(*) FROM {table} c LEFT JOIN node n ON n.num = c.node "
            f"WHERE (n.tenant, n.kind) IS NOT (c.tenant, '{table}')",
        )[0]
        if lost:
            yield f"{lost} rows of {table} have no node of theirs"


def _events(db: Database) -> Iterator[str]:
    """An event is of a memory that is there or of an absent passage, and names no other that is not there."""
    for column in ("memory", "other"):
        (lost,) = _rows(
            db,
            f"SELECT count(*) FROM event e JOIN tenant t ON t.id = e.tenant WHERE e.{column} IS NOT NULL "
            f"AND NOT ('{column}' = 'memory' AND EXISTS (SELECT 1 FROM event a WHERE a.tenant = e.tenant "
            "AND a.memory = e.memory AND a.op = 'absent')) "
            "AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.tenant = e.tenant AND m.generation = t.generation "
            f"AND m.hash = e.{column})",
        )[0]
        if lost:
            yield f"{lost} events have as {column} what is not there"


def _readings(db: Database) -> Iterator[str]:
    """What was read is of a memory that is there."""
    (lost,) = _rows(db, "SELECT count(*) FROM reading WHERE num NOT IN (SELECT num FROM memory)")[0]
    if lost:
        yield f"{lost} readings are of no memory"
