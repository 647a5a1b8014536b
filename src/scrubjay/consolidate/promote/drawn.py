"""Drawn: a memory that promotion makes from others, with its evidence and how sure that makes it.

Nothing is written here and no id is given. A drawn memory of any tier but ``semantic`` is known again by its key,
project, tier and title: the next night may find the same with more evidence and other words, and what it finds
takes the place of what was found before.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.order import order, over, time
from scrubjay.memory.dates import moment
from scrubjay.memory.records import Record, When
from scrubjay.memory.turns import PERSON

ONCE: Final = 0.7
"""How sure one source makes anything; each further one halves the doubt that is left."""
MOST: Final = 100
"""Evidence that is listed: the doubt that is left after so many sources is not worth an edge each."""
_PRECISIONS: Final = ("second", "day", "month", "year")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A derived memory before it is written; its origin is ``derived``.

    Attributes:
        tier: ``crystal``, ``facet``, ``insight``, ``procedural`` or ``semantic``.
        text: All that is indexed of it.
        title: What it is called; an empty string for a ``semantic`` one, whose text is a sentence.
        tags: Those that at least half of its sources have, sorted.
        evidence: Ids of its sources, sorted, each with its share, 0..1; the shares come to 1.
        confidence: 0..1, from the number of independent sources.
        key: Visibility key of all of its sources.
        project: Project of all of them, else None.
        agent: Agent of all of them, else None.
        session: Conversation of all of them, else None.
        event: When what it tells of happened, or None.
    """

    tier: str
    text: str
    title: str
    tags: tuple[str, ...]
    evidence: tuple[tuple[str, float], ...]
    confidence: float
    key: str
    project: str | None
    agent: str | None
    session: str | None
    event: When | None


def confidence(sources: int) -> float:
    """Return how sure a number of independent sources, from 1, makes what they all say.

    >>> [round(confidence(sources), 4) for sources in (1, 2, 3)]
    [0.7, 0.85, 0.925]
    """
    return 1 - (1 - ONCE) * 0.5 ** (sources - 1)


def source(record: Record) -> str:
    """Return what names the source that a record is of: two records of one source do not bear each other out.

    It is the conversation, else the document on its day (a journal of a year is many sources), else the day.
    """
    if record.session is not None:
        return f"session {record.session}"
    day = moment(time(record)).date().isoformat() if record.event is not None or record.place is None else ""
    return (
        f"document {record.place.source} {record.place.path} {day}"
        if record.place is not None
        else f"day {day}"
    )


def number(text: str) -> int:
    """Return a number of 64 bits for a text, alike in every process."""
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


def sources(records: Collection[Record]) -> int:
    """Return how many independent sources some records are of."""
    return len({source(record) for record in records})


def spoken(record: Record) -> bool:
    """Tell whether a record is a turn of the person whose memory this is."""
    return record.session is not None and record.role in PERSON and record.origin == "owner"


def usable(record: Record) -> bool:
    """Tell whether anything may be drawn from a record: not from strangers' words, nor from what is no longer so."""
    return record.origin != "untrusted" and record.status != "superseded"


def drawn(
    tier: str,
    text: str,
    title: str,
    records: Sequence[Record],
    event: When | None,
    shares: Sequence[float] = (),
) -> Drawn:
    """Return a memory drawn from records of one visibility key.

    Args:
        tier: Its tier.
        text: Its text.
        title: Its title.
        records: Its sources, at least one, each once, in any order; more than ``MOST`` are counted, but only
            those of the greatest share, else the latest, are listed.
        event: When what it tells of happened.
        shares: What each source brought, above zero, in the order of the records; empty if all brought as much.
    """
    weights = dict(zip((record.id for record in records), shares or [1.0] * len(records), strict=True))
    listed = sorted(records, key=order, reverse=True)
    listed = sorted(listed, key=lambda record: -weights[record.id])[:MOST]
    whole = sum(sorted(weights[record.id] for record in listed))
    counts = Counter(tag for record in records for tag in set(record.tags))
    return Drawn(
        tier,
        text,
        title,
        tuple(sorted(tag for tag, count in counts.items() if 2 * count >= len(records))),
        tuple(sorted((record.id, weights[record.id] / whole) for record in listed)),
        confidence(sources(records)),
        records[0].key,
        _agreed([record.project for record in records]),
        _agreed([record.agent for record in records]),
        _agreed([record.session for record in records]),
        event,
    )


def span(records: Sequence[Record]) -> When | None:
    """Return the time from the first of some records to the last, as exact as the least exact; None if one has none."""
    events = [record.event for record in records if record.event is not None]
    if len(events) < len(records):
        return None
    coarsest = max((event.precision for event in events), key=_PRECISIONS.index)
    return When(min(map(time, records)), max(map(over, records)), coarsest)


def _agreed(values: Collection[str | None]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None
