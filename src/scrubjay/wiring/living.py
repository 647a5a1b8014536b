"""Living: what a caller makes of memories in use: archived, restored, judged; and what became of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrubjay.errors import InputError
from scrubjay.ingest.turned import turning
from scrubjay.memory.dates import now_micros
from scrubjay.memory.events import Event
from scrubjay.memory.histories import Changed, History
from scrubjay.memory.life import Life
from scrubjay.memory.records import Record
from scrubjay.recall.get import named
from scrubjay.store.base import Reader
from scrubjay.store.changes import PutEvents, PutLife
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.linking import whole
from scrubjay.wiring.permissions import check

VERDICTS: Final = ("used", "useful", "wrong")
"""What a caller can say of a memory. ``used``: it was read and acted on; the others judge it."""
FLOOR: Final = 0.3
"""Strength that any number of "wrong" leaves: judged down, never out of reach of an exact question."""
MOST_EVENTS: Final = 1_000
"""Events of one memory that are counted, the newest."""


def archive(desk: Desk, ids: Sequence[str]) -> Changed:
    """Take memories out of default answers; they stay whole, and reachable by status."""
    return _into(desk, ids, "archived", "archived")


def restore(desk: Desk, ids: Sequence[str]) -> Changed:
    """Make archived or superseded memories active again."""
    return _into(desk, ids, "active", "restored")


def _into(desk: Desk, ids: Sequence[str], status: str, op: str) -> Changed:
    at = now_micros()
    with desk.store.reader(desk.scope) as reader:
        records, unknown = _named(reader, ids)
    check(desk, records, "archive" if op == "archived" else "restore")
    turned = [record for record in records if record.status != status]
    # What is active is true again, as far as anybody knows.
    life = Life(status=status, valid_until=None) if op == "restored" else Life(status=status)
    if turned:
        desk.store.write(desk.scope, turning(turned, life, op, at, actor=desk.scope.user), durable=True)
    same = tuple(record.id for record in records if record.status == status)
    return Changed(tuple(record.id for record in turned), same, unknown)


def feedback(desk: Desk, ids: Sequence[str], verdict: str) -> Changed:
    """Remember that memories were used, useful or wrong.

    Raises:
        InputError: The verdict is none.
    """
    if verdict not in VERDICTS:
        raise InputError(f"Feedback {verdict!r} is not one of {', '.join(VERDICTS)}. Nothing was written.")
    at = now_micros()
    with desk.store.reader(desk.scope) as reader:
        records, unknown = _named(reader, ids)
        if verdict == "wrong":
            check(desk, records, "judge")
        lives = {record.id: _judged(reader, record, verdict, at) for record in records}
    if records:
        events = tuple(Event(record.id, verdict, at, record.key, actor=desk.scope.user) for record in records)
        desk.store.write(desk.scope, [PutLife(lives), PutEvents(events)], durable=True)
    return Changed(tuple(record.id for record in records), (), unknown)


def _judged(reader: Reader, record: Record, verdict: str, at: int) -> Life:
    if verdict == "used":
        return Life(last_used=at)
    ops = [event.op for event in reader.events([record.id], limit=MOST_EVENTS)] + [verdict]
    strength = strong(ops.count("useful"), ops.count("wrong"))
    return Life(strength=strength, last_used=at) if verdict == "useful" else Life(strength=strength)


def strong(useful: int, wrong: int) -> float:
    """Return the strength of a memory that was called useful and wrong so often: bounded, whatever the numbers.

    >>> strong(0, 0), strong(3, 0), strong(0, 1), strong(1, 1), strong(0, 1000)
    (1.0, 1.0, 0.5, 0.6666666666666666, 0.3)
    """
    return max(FLOOR, (1 + useful) / (1 + useful + wrong))


def history(desk: Desk, memory: str) -> History:
    """Return what happened to a memory.

    Raises:
        InputError: Its id is not there or not told.
    """
    with desk.store.reader(desk.scope) as reader:
        one = whole(reader, memory)
        events = tuple(reversed(reader.events([one], limit=MOST_EVENTS)))
        joined: dict[tuple[str, bool], list[str]] = {}
        for kind in ("derived_from", "supersedes", "contradicts"):
            for inward in (False, True):
                edges = reader.edges([one], [kind], inward=inward)
                joined[kind, inward] = sorted(edge.src if inward else edge.dst for edge in edges)
        found = sorted((edge.dst, edge.rule) for edge in reader.edges([one], ["derived_from"]))
        record = reader.get([one])[one]
    return History(
        record,
        events,
        evidence=tuple(memory for memory, _ in found),
        rules=tuple(rule for _, rule in found),
        derived=tuple(joined["derived_from", True]),
        supersedes=tuple(joined["supersedes", False]),
        superseded_by=tuple(joined["supersedes", True]),
        contradicts=tuple(sorted({*joined["contradicts", False], *joined["contradicts", True]})),
    )


def _named(reader: Reader, ids: Sequence[str]) -> tuple[list[Record], tuple[str, ...]]:
    """Return the memories that ids or their shortest unique beginnings name, each once, and what names none."""
    found, unknown = named(reader, ids)
    records = reader.get(found)
    return [records[memory] for memory in dict.fromkeys(found)], unknown
