"""Pipeline: one visibility key -> what a night made of its old observations. The stages, in order.

What was told of things that changed is taken back first, so that it is told anew. Where a language model is named, it
reads the turns that it did not read yet. Then group after group is read whole, told, and written; a process killed
between two of them leaves whole groups, and the next run goes on with what no digest tells of. Sources stay active,
unless archiving was asked for. In the end what several sources say is promoted.
"""

from __future__ import annotations

from typing import Final

from scrubjay.consolidate.digest_coverage import coverage
from scrubjay.consolidate.gather import concepts, gather
from scrubjay.consolidate.group import Group, group
from scrubjay.consolidate.night import Night
from scrubjay.consolidate.order import order
from scrubjay.consolidate.promoting import borne, patterns
from scrubjay.consolidate.select import select
from scrubjay.consolidate.stale import grown
from scrubjay.consolidate.work import Tally, Work
from scrubjay.memory.dates import DAY
from scrubjay.memory.records import Record

AT_ONCE: Final = 64
"""Groups of one transaction. Of 10,000 turns in a thousand conversations, 8 take 38 s, 32 28 s, 64 25 s: what is
alike is looked for once for all of them, and other writers wait for two tenths of a second."""
ROUNDS: Final = 3
"""Times that facts are drawn where one took another's place: what said the same as the other is said no more."""


def consolidate(night: Night) -> Tally:
    """Consolidate what one visibility key holds; the run is written down once there is something to do."""
    work = Work(night)
    freed = work.renew()
    work.refine()
    parted = coverage(night, _chosen(night, freed))
    if parted.grown:
        freed |= work.retake(grown(night, parted.grown))
        parted = coverage(night, _chosen(night, freed))
    work.put_away(parted.known)
    groups = sorted(group(parted.new, concepts(night.store, night.viewers, parted.new)), key=_written)
    del parted
    for first in range(0, len(groups), AT_ONCE):
        work.tell(groups[first : first + AT_ONCE], freed)
        night.report(min(first + AT_ONCE, len(groups)), len(groups))
    if work.tally.wrote or work.tally.made or not night.idle:
        for _ in range(ROUNDS):
            found = borne(night)
            work.support(found.supports)
            if not work.promote(found.facts):
                break
        work.promote(patterns(night))
    work.end()
    return work.tally


def _chosen(night: Night, freed: set[str]) -> list[Record]:
    """Return what a digest may tell of, told or not."""
    limit = night.now - night.after_days * DAY  # a day's note is over a day after it began
    records = gather(night.store, night.viewers, night.key, limit - DAY, freed)
    return list(select(records, night.now, night.after_days, night.archive))


def _written(one: Group) -> tuple[int, tuple[int, int, int, str]]:
    """Return when a group was written: what was written together lies together, and is changed together."""
    return (one.records[0].recorded_at, order(one.records[0]))
