"""Tally: Whole -> how many rows each part has, and a digest of them; equal where two stores hold the same.

A digest is the sum of its rows' hashes, so it does not depend on the order in which a store tells them; histories,
whose order means something, are hashed with their place. Not in it: the cache of embedded texts, which each store
bounds in its own way, and the mark of a copy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrubjay.store.base import Whole
    from scrubjay.store.changes import Prepared

MARK: Final = "copy:"
"""Visibility key of the row that tells of a copy. No scope of a caller has it, so nobody is shown the row."""
BITS: Final = 256
PARTS: Final = (
    "memories", "readings", "sources", "documents", "models", "edges", "concepts", "categories", "projects", "events",
    "runs", "tombstones", "versions",
)  # fmt: skip
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
    totals: dict[str, int] = {}
    for part, row in _rows(whole, seen):
        counts[part] = counts.get(part, 0) + 1
        totals[part] = totals.get(part, 0) + int.from_bytes(hashlib.sha256(row).digest())
    digests = {part: f"{totals.get(part, 0) % (1 << BITS):064x}" for part in PARTS}
    return Tally({part: counts.get(part, 0) for part in PARTS}, digests)


def _rows(whole: Whole, seen: Seen | None) -> Iterator[tuple[str, bytes]]:
    """Yield every row as bytes, with the part that it is of."""
    done = 0
    for piece in whole.memories():
        yield from (("memories", memory(one)) for one in piece)
        read = whole.readings([one.record.id for one in piece])
        yield from (("readings", _raw(one)) for one in read.values())
        done += len(piece)
        if seen is not None:
            seen(done)
    for part, rows in _parts(whole):
        yield from ((part, _raw(row)) for row in rows)


def _parts(whole: Whole) -> Iterator[tuple[str, Iterable[object]]]:
    sources = whole.sources()
    yield "sources", sources
    yield "documents", (one for source in sources for one in whole.documents(source.id).values())
    yield "models", whole.models()
    yield "edges", chain.from_iterable(whole.connections())
    yield "concepts", whole.concepts()
    yield "categories", whole.categories()
    yield "projects", whole.places()
    yield "events", enumerate(chain.from_iterable(whole.past()))
    yield "runs", (run for run in whole.runs(EVERY) if run.key != MARK)
    yield "tombstones", chain.from_iterable(whole.tombstones())
    yield "versions", (one for one in [whole.versions()] if one is not None)


def _raw(row: object) -> bytes:
    return repr(row).encode()


def memory(one: Prepared) -> bytes:
    """Return all that is kept of a memory as bytes."""
    terms = sorted(one.terms.counts.items())
    parts = [repr((one.record, terms, one.terms.length, one.language)).encode()]
    for fingerprint, codes in sorted(one.vectors.items()):
        parts += [fingerprint.encode(), codes.scales.astype("<f4").tobytes(), codes.data.tobytes()]
    return b"\0".join(parts)
