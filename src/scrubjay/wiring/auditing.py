"""Auditing: a desk -> which memories are of no use, put away where asked; and all of it taken back."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.audit.audit import Audited
from scrubjay.consolidate.audit.audit import audit as look
from scrubjay.consolidate.audit.fault import KINDS, MENDED, Fault
from scrubjay.consolidate.audit.mend import chosen, mend
from scrubjay.errors import InputError, NotFoundError
from scrubjay.ingest.turned import taken_back
from scrubjay.memory.audits import Audit, Example, Rate, Shown
from scrubjay.memory.dates import date_of, now_micros
from scrubjay.memory.events import Event
from scrubjay.memory.histories import Changed
from scrubjay.memory.runs import new_run_id
from scrubjay.store.base import Reader
from scrubjay.store.changes import Change, DropEdges
from scrubjay.wiring import facts
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.permissions import changeable

if TYPE_CHECKING:
    from scrubjay.memory.records import Record

TEXT: Final = 120
"""Characters of a memory's text that are shown."""
MOST_EVENTS: Final = 1_000_000
"""Events of one run: more than it puts away."""
AT_ONCE: Final = 1_000
"""Memories of one transaction."""


def audit(
    desk: Desk, fix: Sequence[str] = (), limit: int = 20, *, dry_run: bool = False, now: int | None = None
) -> Audit:
    """Look at every active memory, and put away those with the kinds of fault that are to be mended.

    Args:
        desk: Where.
        fix: Kinds of fault to mend.
        limit: Most examples of each kind.
        dry_run: Write nothing.
        now: To which everything has its age, UTC microseconds; None for this moment.

    Raises:
        InputError: A kind is none that can be mended, or the limit is below 0.
    """
    started = time.monotonic()
    _check(fix, limit)
    at = now_micros()
    with desk.store.reader(desk.scope) as reader:
        found = look(reader, at if now is None else now)
        wanted = chosen(found.faults, KINDS if dry_run and not fix else fix)
        rates = tuple(_rate(reader, found, kind, limit) for kind in KINDS)
    run = new_run_id()
    fixed = {kind: tuple(fault.memory for fault in faults) for kind, faults in wanted.items()}
    if not dry_run:
        fixed = {kind: _mended(desk, faults, run, at) for kind, faults in wanted.items()}
    return Audit(
        memories=found.memories,
        tiers=found.tiers,
        rates=rates,
        missing=tuple(source for source in facts.sources(desk) if not source.present),
        fixed=fixed,
        dry_run=dry_run,
        undo=undo_command(run) if any(fixed.values()) and not dry_run else "",
        seconds=time.monotonic() - started,
    )


def undo_command(run: str) -> str:
    """Return what takes a run back."""
    return f"scrubjay audit --undo {run}"


def _check(fix: Sequence[str], limit: int) -> None:
    if limit < 0:
        raise InputError(f"limit is {limit}; it must be 0 or more. Nothing was written.")
    for kind in fix:
        if kind not in MENDED:
            near = get_close_matches(kind, MENDED, n=1)
            raise InputError(
                f"{kind!r} cannot be fixed; what can is {', '.join(MENDED)}. Nothing was written.",
                hint=f"scrubjay audit --fix {near[0]}" if near else "scrubjay audit",
            )


def _mended(desk: Desk, faults: Sequence[Fault], run: str, at: int) -> tuple[str, ...]:
    done: list[str] = []
    with desk.store.reader(desk.scope) as reader:
        held = reader.get(sorted({fault.memory for fault in faults}))
        mine = [fault for fault in faults if fault.memory in held and changeable(desk, held[fault.memory])]
        steps = list(mend(reader, mine, run, at, desk.scope.user))
    for ids, changes in steps:
        desk.store.write(desk.scope, changes, durable=True)
        done += ids
    return tuple(done)


def _rate(reader: Reader, found: Audited, kind: str, limit: int) -> Rate:
    faults = found.faults[kind]
    fixable = sum(1 for fault in faults if fault.mend)
    reasons = Counter(fault.reason for fault in faults)
    return Rate(
        kind=kind,
        count=len(faults),
        share=round(len(faults) / found.memories, 6) if found.memories else 0.0,
        fixable=fixable,
        reasons=dict(reasons.most_common()),
        tiers=dict(sorted(Counter(found.tiers_of[fault.memory] for fault in faults).items())),
        examples=_examples(reader, faults[:limit]),
        fix=f"scrubjay audit --fix {kind}" if fixable else "",
    )


def _examples(reader: Reader, faults: Sequence[Fault]) -> tuple[Example, ...]:
    held = reader.get(sorted({memory for one in faults for memory in (one.memory, one.other) if memory}))
    roots = {source.id: source.root for source in reader.sources()}
    return tuple(
        Example(
            one.why,
            _shown(held[one.memory], roots),
            _shown(held[one.other], roots) if one.other in held else None,
            one.mend,
        )
        for one in faults
    )


def _shown(record: Record, roots: Mapping[str, str]) -> Shown:
    place = record.place
    where = ""
    if place is not None:
        path = os.path.join(roots.get(place.source, ""), place.path)
        where = f"{path}:{place.line_start}-{place.line_end}"
    text = " ".join(record.content.split())
    text = text if len(text) <= TEXT else f"{text[: TEXT - 1].rstrip()}…"
    return Shown(record.id, text, date_of(record), where, record.status)


def undo(desk: Desk, run: str) -> Changed:
    """Take back what a run of an audit or of retention put away; what was changed since stays.

    Raises:
        NotFoundError: No such run did anything to memories that the caller sees.
    """
    with desk.store.reader(desk.scope) as reader:
        events = reader.events(run=run, limit=MOST_EVENTS)
        if not events:
            raise NotFoundError(
                f"No run {run} put anything away that you see.",
                hint="scrubjay history ID tells of one memory",
            )
        records: dict[str, Record] = {}
        ids = sorted({event.memory for event in events})
        for first in range(0, len(ids), AT_ONCE):
            records |= reader.get(ids[first : first + AT_ONCE])
    back = [
        one
        for one in events
        if one.before and one.op == records[one.memory].status and changeable(desk, records[one.memory])
    ]
    at = now_micros()
    for first in range(0, len(back), AT_ONCE):
        desk.store.write(desk.scope, _taken_back(back[first : first + AT_ONCE], records, at), durable=True)
    turned = tuple(event.memory for event in back)
    return Changed(turned, tuple(sorted(set(ids) - set(turned))), ())


def _taken_back(events: Sequence[Event], records: Mapping[str, Record], at: int) -> list[Change]:
    edges = tuple((one.other, "supersedes", one.memory) for one in events if one.other is not None)
    now = [replace(one, key=records[one.memory].key) for one in events]  # it may be another's by now
    return [DropEdges(edges), *taken_back(now, at)]
