"""Tally: Whole -> how many rows each part has, and a digest of them; equal where two stores hold the same.

A digest is the sum of its rows' hashes, so it does not depend on the order in which a store tells them; histories,
whose order means something, are hashed with their place. Not in it: the cache of embedded texts, which each store
bounds in its own way, and the mark of a copy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrubjay.store.base import Whole
    from scrubjay.store.changes import Prepared

MARK: Final = "copy:"
"""Visibility key of the row that tells of a copy. No scope of a caller has it, so nobody is shown the row."""
BITS: Final = 256
EVERY: Final = 10_000_000
"""More nights than a tenant has."""

Seen = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Tally:
    """What a tenant's parts hold.

    Attributes:
        counts: Part (``memories``, ``edges``, …) to its rows.
        digests: Part to the digest of its rows, in hex.
    """

    counts: Mapping[str, int]
    digests: Mapping[str, str]


def tally(whole: Whole, seen: Seen | None = None) -> Tally:
    """Count and digest all that a view holds; ``seen`` is told how many memories were looked at."""
    counts: dict[str, int] = {}
    digests: dict[str, str] = {}
    for part, rows in _parts(whole, seen):
        count, total = 0, 0
        for row in rows:
            count += 1
            total += int.from_bytes(hashlib.sha256(row).digest())
        counts[part] = count
        digests[part] = f"{total % (1 << BITS):064x}"
    return Tally(counts, digests)


def _parts(whole: Whole, seen: Seen | None) -> Iterator[tuple[str, Iterable[bytes]]]:
    sources = whole.sources()
    yield "sources", map(_raw, sources)
    yield "documents", (_raw(one) for source in sources for one in whole.documents(source.id).values())
    yield "models", map(_raw, whole.models())
    yield "memories", _memories(whole, seen)
    yield "readings", _readings(whole)
    yield "edges", (_raw(edge) for piece in whole.connections() for edge in piece)
    yield "concepts", map(_raw, whole.concepts())
    yield "categories", map(_raw, whole.categories())
    yield "projects", map(_raw, whole.places())
    yield "events", _placed(event for piece in whole.past() for event in piece)
    yield "runs", (_raw(run) for run in whole.runs(EVERY) if run.key != MARK)
    yield "tombstones", (_raw(mark) for piece in whole.tombstones() for mark in piece)
    yield "versions", (_raw(one) for one in [whole.versions()] if one is not None)


def _raw(row: object) -> bytes:
    return repr(row).encode()


def _placed(rows: Iterable[object]) -> Iterator[bytes]:
    return (_raw(pair) for pair in enumerate(rows))


def _memories(whole: Whole, seen: Seen | None) -> Iterator[bytes]:
    done = 0
    for piece in whole.memories():
        yield from map(memory, piece)
        done += len(piece)
        if seen is not None:
            seen(done)


def _readings(whole: Whole) -> Iterator[bytes]:
    for piece in whole.memories():
        yield from map(_raw, whole.readings([one.record.id for one in piece]).values())


def memory(one: Prepared) -> bytes:
    """Return all that is kept of a memory as bytes."""
    terms = sorted(one.terms.counts.items())
    parts = [repr((one.record, terms, one.terms.length, one.language)).encode()]
    for fingerprint, codes in sorted(one.vectors.items()):
        parts += [fingerprint.encode(), codes.scales.astype("<f4").tobytes(), codes.data.tobytes()]
    return b"\0".join(parts)
