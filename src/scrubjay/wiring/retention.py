"""Retention: a desk and its settings -> what is too old or too much, put away or forgotten.

Passages of files are left alone, and not counted: the file is the person's, and decides what is kept of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.audit.trait import youth
from scrubjay.ingest.turned import turning
from scrubjay.memory.audits import Retained
from scrubjay.memory.dates import DAY, now_micros
from scrubjay.memory.life import Life
from scrubjay.memory.records import Record, Where
from scrubjay.memory.runs import new_run_id
from scrubjay.memory.tiers import STATUSES
from scrubjay.store.base import Reader
from scrubjay.wiring.auditing import undo_command
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.forgetting import forget

AT_ONCE: Final = 1_000
"""Memories in hand at once, and of one transaction."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A memory that retention may end: its id, when it was young last, whether it is active, whether too old."""

    id: str
    young: int
    active: bool
    old: bool


def retain(desk: Desk, *, dry_run: bool = False, now: int | None = None) -> Retained:
    """Put away, or forget, the caller's own memories that the settings no longer keep.

    First what is older than its tier's days since it was written, happened or was used; then, of what is active,
    the oldest beyond the most. What is to be forgotten is so from the archive, too.
    """
    wish = desk.settings.retention
    days, at = wish.lives(), now_micros() if now is None else now
    if not days and not wish.most:
        return Retained((), (), dry_run, "")
    with desk.store.reader(desk.scope) as reader:
        active = 0
        kept: list[_Kept] = []
        for record in _own(reader, desk.scope.user):
            active += record.status == "active"
            if not record.pinned:
                kept.append(_kept(record, days, at))
    over = _over(kept, active, wish.most)
    gone = [one.id for one in over if wish.action == "forget"]
    away = [one.id for one in over if one.active and wish.action == "archive"]
    if dry_run:
        return Retained(tuple(away), tuple(gone), True, "")
    run = new_run_id()
    forgotten: list[str] = []
    for first in range(0, len(gone), AT_ONCE):
        done = forget(desk, gone[first : first + AT_ONCE])
        forgotten += [*done.ids, *done.derived]
    archived = [
        one
        for first in range(0, len(away), AT_ONCE)
        for one in _put_away(desk, away[first : first + AT_ONCE], run)
    ]
    return Retained(tuple(archived), tuple(forgotten), False, undo_command(run) if archived else "")


def _own(reader: Reader, user: str) -> Iterator[Record]:
    """Yield the memories that a user wrote; what others share with them, others keep, and files their own."""
    after = ""
    while page := reader.page(after, AT_ONCE, Where(statuses=STATUSES)):
        yield from (record for record in page if record.owner == user and not _passage(record))
        after = page[-1].id


def _passage(record: Record) -> bool:
    return record.place is not None and record.turn is None


def _kept(record: Record, days: Mapping[str, int], now: int) -> _Kept:
    young = youth(record)
    old = record.tier in days and now - young > days[record.tier] * DAY
    return _Kept(record.id, young, record.status == "active", old)


def _over(kept: Sequence[_Kept], active: int, most: int) -> list[_Kept]:
    """Return what is no longer kept, the oldest first."""
    ordered = sorted(kept, key=lambda one: (one.young, one.id))
    over = [one for one in ordered if one.old]
    if most:
        left = active - sum(1 for one in over if one.active)
        over += [one for one in ordered if one.active and not one.old][: max(0, left - most)]
    return over


def _put_away(desk: Desk, ids: Sequence[str], run: str) -> list[str]:
    at = now_micros()
    with desk.store.reader(desk.scope) as reader:
        held = [one for one in reader.get(ids).values() if one.status == "active" and not one.pinned]
    if held:
        away = turning(held, Life(status="archived"), "archived", at, run)
        desk.store.write(desk.scope, away, durable=True)
    return [one.id for one in held]
