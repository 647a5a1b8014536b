"""Whole: all that one tenant has, read in one transaction: memories a segment at a time, the rest row by row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from scrubjay.memory.edges import STORED, Edge
from scrubjay.memory.events import Event
from scrubjay.memory.scope import Everyone
from scrubjay.memory.tiers import TIERS
from scrubjay.store.changes import Codes, Prepared, PutProject
from scrubjay.store.sqlite import pack, registry, rows, sights
from scrubjay.store.sqlite.reader import SQLiteReader
from scrubjay.store.sqlite.sights import LEADS_TO, WEIGHT
from scrubjay.store.sqlite.tenant import find
from scrubjay.store.sqlite.told import Told
from scrubjay.store.sqlite.vectors import read
from scrubjay.store.table import COLUMNS
from scrubjay.store.whole import PIECE, Altered
from scrubjay.text.tokens import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.memory.readings import Reading
    from scrubjay.store.snapshot import Snapshot
    from scrubjay.store.sqlite.database import Database
    from scrubjay.store.sqlite.seen import Seen
    from scrubjay.store.sqlite.table import Tables
    from scrubjay.store.sqlite.vectors import Blocks

T = TypeVar("T")

KEYED: Final = ("source", "segment", "concept", "category", "project", "sight", "event", "run")
"""Tables whose rows have a visibility key. The memories' are those of their segments."""
ALTERED: Final = (
    "SELECT m.tier, m.hash, CAST(m.content AS BLOB), CAST(m.content_hash AS BLOB), d.source, d.path FROM memory m "
    "LEFT JOIN document d ON d.id = m.document "
    "WHERE m.tenant = ? AND m.generation = ? AND m.hash >= ? ORDER BY m.hash LIMIT ?"
)
EDGES: Final = (
    f"SELECT e.src, s.src_tier, e.kind, e.dst, s.dst_tier, n.hash, s.key, {WEIGHT}, e.at, k.origin, k.rule, k.run "
    "FROM edge e CROSS JOIN sight s ON s.id = e.sight CROSS JOIN maker k ON k.id = e.maker "
    "LEFT JOIN node n ON s.dst_tier < 0 AND n.num = e.dst WHERE e.tenant = ?"
)
EVENTS: Final = (
    "SELECT m.tier, e.memory, e.op, e.at, e.key, e.run, o.tier, o.hash, e.count, e.before, e.actor FROM event e "
    "CROSS JOIN memory m ON m.tenant = e.tenant AND m.hash = e.memory AND m.generation = ?1 "
    "LEFT JOIN memory o ON o.tenant = e.tenant AND o.hash = e.other AND o.generation = ?1 "
    "WHERE e.tenant = ?2 ORDER BY e.seq"
)


def keys(db: Database, tenant: str) -> tuple[str, ...]:
    """Return every visibility key of a tenant. Call it inside the transaction of the view."""
    found = find(db, tenant)
    if found is None:
        return ()
    asked = " UNION ".join(f"SELECT key FROM {table} WHERE tenant = ?1" for table in KEYED)
    return tuple(sorted(key for (key,) in db.execute(asked, (found.number,)).fetchall()))


class SQLiteWhole(SQLiteReader):
    """A view for everyone, that lasts as long as its transaction."""

    def __init__(self, db: Database, scope: Everyone, tables: Tables, blocks: Blocks, kept: Snapshot) -> None:
        super().__init__(db, scope, tables, blocks, kept)
        self.scope = scope

    @property
    def secret(self) -> bytes | None:
        """The tenant's key for ids and tombstones."""
        found = find(self._db, self.scope.tenant)
        return None if found is None else found.secret

    def keys_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the visibility keys of memories."""
        found: dict[str, str] = {}
        wanted = {one for one in ids if rows.is_id(one)}
        for batch in rows.batches([rows.sort_hash(one) for one in wanted]):
            held = self._db.execute(
                "SELECT tier, hash, key FROM memory WHERE tenant = ? AND generation = ? "
                f"AND hash IN ({','.join('?' * len(batch))})",
                (self._tenant, self._generation, *batch),
            ).fetchall()
            found |= {rows.from_hash(tier, number): key for tier, number, key in held}
        return {one: found[one] for one in wanted if one in found}

    def readings(self, ids: Sequence[str]) -> dict[str, Reading]:
        """Return what was read from memories, asked under their own keys: those of a tenant may be a million."""
        told = Told()
        told.seen = self.seen._replace(keys=tuple(set(self.keys_of(ids).values())))
        return told.readings(ids)

    def memories(self) -> Iterator[list[Prepared]]:
        """Yield every memory, by segment."""
        db, own = self._db, (self._tenant, self._generation)
        words = dict(db.execute("SELECT id, text FROM term WHERE tenant = ?", own[:1]).fetchall())
        languages = dict(db.execute("SELECT id, code FROM language").fetchall())
        segments = db.execute(
            "SELECT id, key FROM segment WHERE tenant = ? AND generation = ? ORDER BY id", own
        ).fetchall()
        for segment, key in segments:
            yield from self._segment(segment, self.seen._replace(keys=(key,)), (words, languages))

    def _segment(
        self, segment: int, seen: Seen, named: tuple[dict[int, str], dict[int, str]]
    ) -> Iterator[list[Prepared]]:
        words, languages = named
        (blob,) = self._db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
        columns = np.frombuffer(blob, COLUMNS)
        counts = self._counts(segment, len(columns), words)
        vectors = {
            fingerprint: self._windows_of(segment, number, model.dimensions)
            for fingerprint, (number, model, _) in registry.registered(self._db, self._tenant).items()
        }
        live = np.flatnonzero(columns["live"]).tolist()
        for slots in _pieces(iter(live)):
            ids = self._ids(columns, slots)
            records = seen.of(ids)
            yield [
                Prepared(
                    records[memory],
                    Terms(counts[slot], int(columns["length"][slot])),
                    {name: held[slot] for name, held in vectors.items() if slot in held},
                    languages[int(columns["language"][slot])],
                )
                for memory, slot in zip(ids, slots, strict=True)
            ]

    @staticmethod
    def _ids(columns: NDArray[np.void], slots: list[int]) -> list[str]:
        tiers, numbers = columns["tier"][slots].tolist(), columns["key"][slots].tolist()
        return [
            rows.from_hash(TIERS[tier], number - pack.SIGN)
            for tier, number in zip(tiers, numbers, strict=True)
        ]

    def _counts(self, segment: int, slots: int, words: dict[int, str]) -> list[dict[str, int]]:
        """Return the terms of each slot's memory."""
        counts: list[dict[str, int]] = [{} for _ in range(slots)]
        found = self._db.execute("SELECT term, data FROM posting WHERE segment = ?", (segment,))
        for term, data in iter(found.fetchone, None):
            word = words[term]
            places, times = pack.unpack_postings(data)
            for slot, often in zip(places.tolist(), times.tolist(), strict=True):
                counts[slot][word] = often
        return counts

    def _windows_of(self, segment: int, model: int, dimensions: int) -> dict[int, Codes]:
        """Return slot to the windows of its memory."""
        held: dict[int, Codes] = {}
        for slots, scales, data in read(self._db, segment, model, dimensions):
            firsts = np.flatnonzero(np.diff(slots.astype(np.int64), prepend=-1)).tolist()
            for first, last in pairwise([*firsts, len(slots)]):
                held[int(slots[first])] = Codes(data[first:last], scales[first:last])
        return held

    def altered(self) -> Iterator[tuple[int, list[Altered]]]:
        """Yield memories looked at, with those whose text has another hash; as bytes, for they may be no text."""
        first = -pack.SIGN
        while found := self._db.execute(ALTERED, (self._tenant, self._generation, first, PIECE)).fetchall():
            first = found[-1][1] + 1
            yield (
                len(found),
                [
                    Altered(rows.from_hash(tier, number), source, path)
                    for tier, number, content, digest, source, path in found
                    if hashlib.sha256(content).hexdigest().encode() != digest
                ],
            )

    def connections(self) -> Iterator[list[Edge]]:
        """Yield every edge."""
        found = self._db.execute(EDGES, (self._tenant,))
        return _pieces(_edge(row) for row in iter(found.fetchone, None))

    def past(self) -> Iterator[list[Event]]:
        """Yield every event."""
        found = self._db.execute(EVENTS, (self._generation, self._tenant))
        return _pieces(_event(row) for row in iter(found.fetchone, None))

    def texts(self) -> Iterator[tuple[str, dict[str, Codes]]]:
        """Yield cached texts."""
        found = self._db.execute(
            "SELECT c.hash, c.rows, c.data, m.dimensions, m.id FROM cache c JOIN model m ON m.id = c.model "
            "WHERE c.tenant = ? ORDER BY c.seq",
            (self._tenant,),
        )
        known = registry.registered(self._db, self._tenant)
        fingerprints = {number: fingerprint for fingerprint, (number, _, _) in known.items()}
        for text, count, blob, width, model in iter(found.fetchone, None):
            data = np.frombuffer(blob, "i1", count * width, count * 4).reshape(count, width)
            yield fingerprints[model], {text: Codes(data, np.frombuffer(blob, "<f4", count))}

    def tombstones(self) -> Iterator[list[str]]:
        """Yield tombstones."""
        found = self._db.execute("SELECT hash FROM tombstone WHERE tenant = ?", (self._tenant,))
        return _pieces(mark for (mark,) in iter(found.fetchone, None))

    def places(self) -> list[PutProject]:
        """Return projects by key and place."""
        asked = "SELECT place, name, key FROM project WHERE tenant = ? ORDER BY key, place"
        return [PutProject(*row) for row in self._db.execute(asked, (self._tenant,)).fetchall()]


def _edge(row: tuple[Any, ...]) -> Edge:
    src, src_tier, code, dst, dst_tier, node, key, weight, at, *made = row
    kind = STORED[code]
    end = sights.node_id(LEADS_TO[kind], node) if dst_tier < 0 else rows.from_hash(TIERS[dst_tier], dst)
    return Edge(rows.from_hash(TIERS[src_tier], src), kind, end, key, weight, at + sights.FROM, *made)


def _event(row: tuple[Any, ...]) -> Event:
    tier, number, op, at, key, run, other_tier, other, count, before, actor = row
    named = None if other is None else rows.from_hash(other_tier, other)
    return Event(rows.from_hash(tier, number), op, at, key, run, named, count, before, actor)


def _pieces(found: Iterable[T]) -> Iterator[list[T]]:
    left = iter(found)
    while piece := list(islice(left, PIECE)):
        yield piece
