"""Select: Iterable[Record] -> Iterator[Record]. What is old enough, and of a kind, to be told in a digest.

* turns of a conversation that is closed, its tool results included: its last turn is older than the limit;
* where transcripts are archived, what tools observed outside of conversations (origin ``tool``);
* where somebody asks for it by hand, passages of a daily note: its file, its title or a heading above it is a date
  and nothing else.

Everything else stays as it is: other notes, also dated ones ("2026-01-14-postgresql.md" is a decision, not a
day), what a person added, what is pinned, no longer active or derived, and what came from an untrusted source, whose
words a digest would pass on as if they were the owner's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from pathlib import PurePosixPath
from typing import Final

from scrubjay.consolidate.night import NOTES, TRANSCRIPTS
from scrubjay.consolidate.order import over
from scrubjay.memory.dates import DAY
from scrubjay.memory.records import Record

AFTER_DAYS: Final = 14

_DATE = re.compile(
    r"(\d{4})([-_.]?)(\d{2})\2(\d{2})(?:[ ,_-]+(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)?\Z", re.IGNORECASE
)
_ORIGINS: Final = frozenset(("owner", "agent", "tool"))


def select(
    records: Iterable[Record], now: int, after_days: int = AFTER_DAYS, archive: Collection[str] = ()
) -> Iterator[Record]:
    """Yield the observations to tell of: notes and tools at once, turns when all records were read.

    A conversation is known to be closed only when its last turn is, so all of them must be given. Only the old
    turns are held until then; a caller with little memory gives records without ``content``, which is not read.

    Args:
        records: Memories of any tier and status, in any order.
        now: UTC microseconds.
        after_days: Days that must have passed since they happened, else since they were recorded.
        archive: What is archived: ``transcripts``, ``notes``.
    """
    limit = now - after_days * DAY
    held: dict[tuple[str, str], list[Record]] = {}
    open_ones: set[tuple[str, str]] = set()
    for record in records:
        if record.tier != "observation":
            continue
        old = over(record) < limit
        if record.session is not None:
            talk = (record.key, record.session)
            if not old:
                open_ones.add(talk)
                held.pop(talk, None)
            elif talk not in open_ones and _may_go(record) and (_is_turn(record) or record.origin == "tool"):
                held.setdefault(talk, []).append(record)
        elif old and _may_go(record) and _kind(record) in archive:
            yield record
    for turns in held.values():
        yield from turns


def _may_go(record: Record) -> bool:
    return record.status == "active" and not record.pinned and record.origin in _ORIGINS


def _kind(record: Record) -> str:
    """Return as what a record of no conversation may be archived, or an empty text."""
    if record.place is not None and record.turn is None:
        return NOTES if _is_daily(record) else ""
    return TRANSCRIPTS if record.origin == "tool" else ""


def _is_turn(record: Record) -> bool:
    return record.turn is not None or record.role is not None


def _is_daily(record: Record) -> bool:
    if record.place is None:
        return False
    names = (PurePosixPath(record.place.path).stem, record.title, *record.heading_path)
    return any(_is_date(name) for name in names)


def _is_date(name: str) -> bool:
    """Tell whether a name is a day and nothing else.

    >>> [_is_date(name) for name in ("2026-01-14", "2026_01_14 Wed", "2026-01-14-postgresql", "2026-13-01")]
    [True, True, False, False]
    """
    found = _DATE.match(name.strip())
    if found is None:
        return False
    try:
        date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:
        return False
    return True
