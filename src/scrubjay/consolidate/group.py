"""Group: Iterable[Record] -> tuple[Group, ...]. What belongs together, each record in one group.

A conversation is a group of its own, an episode; a very long one is several, parted where it paused longest or
turned to other concepts. What belongs to no conversation is grouped by concept and month; a record of several
concepts goes to the one that tells most of that month,

    records of the month that hold it * ln(all records / records that hold it)

which neither a concept that everything mentions wins nor one that is mentioned once. What then stands alone is
left to its month. Groups never hold records of two visibility keys, and do not depend on the order given.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from scrubjay.consolidate.order import order, time
from scrubjay.memory.dates import SECOND, moment
from scrubjay.memory.records import Record

MOST: Final = 40
"""Records of one group: at 20 % a digest of more turns is longer than a passage may be, or says too little of each."""
LEAST: Final = 2
"""Records that a concept needs for a group of its own: of one there is nothing to unite."""
NEAR: Final = 5
"""Turns on each side of a cut whose concepts are compared."""
PAUSE: Final = 3_600 * SECOND
"""A pause that weighs as much as turning to wholly other concepts; twice as long weighs 1.6 times as much."""

Concepts = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Group:
    """Records that one digest will tell of.

    Attributes:
        key: Visibility key of all of them.
        kind: ``episode`` (of a conversation), ``concept`` or ``month``.
        name: Session, concept id or month (``2026-03``).
        records: In order of time.
    """

    key: str
    kind: str
    name: str
    records: tuple[Record, ...]


def group(records: Iterable[Record], concepts: Concepts) -> tuple[Group, ...]:
    """Return the groups, in order of key, kind, name and time.

    Args:
        records: Observations, as ``select`` yields them; ``content`` is not read.
        concepts: Memory id to ids of the concepts that it references.
    """
    talks: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    rest: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.session is not None:
            talks[record.key, record.session].append(record)
        else:
            rest[record.key].append(record)
    found = []
    for (key, session), turns in talks.items():
        found += [Group(key, "episode", session, part) for part in _parts(sorted(turns, key=order), concepts)]
    for key, own in rest.items():
        for (kind, name), members in _by_concept(own, concepts).items():
            found += [Group(key, kind, name, part) for part in _parts(sorted(members, key=order), concepts)]
    return tuple(sorted(found, key=lambda one: (one.key, one.kind, one.name, order(one.records[0]))))


def _month(record: Record) -> str:
    return moment(time(record)).strftime("%Y-%m")


def _by_concept(records: Sequence[Record], concepts: Concepts) -> dict[tuple[str, str], list[Record]]:
    """Return the members of each concept's months, and of the months that are left, by kind and name."""
    everywhere = Counter(concept for record in records for concept in set(concepts.get(record.id, ())))
    held = Counter(
        (_month(record), concept) for record in records for concept in set(concepts.get(record.id, ()))
    )

    def tells(month: str, concept: str) -> tuple[float, str]:
        return (-held[month, concept] * math.log(len(records) / everywhere[concept]), concept)

    found: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        month = _month(record)
        own = [c for c in concepts.get(record.id, ()) if held[month, c] >= LEAST]
        best = min(own, key=lambda concept: tells(month, concept), default="")
        found[month, best].append(record)
    months: defaultdict[str, list[Record]] = defaultdict(list)
    groups: dict[tuple[str, str], list[Record]] = {}
    for (month, concept), members in found.items():
        if concept and len(members) >= LEAST:
            groups["concept", f"{concept} {month}"] = members
        else:
            months[month] += members
    return groups | {("month", month): members for month, members in months.items()}


def _parts(turns: Sequence[Record], concepts: Concepts) -> list[tuple[Record, ...]]:
    """Return the parts of a group of at most ``MOST``, cut again and again where it parts most."""
    parts: list[tuple[Record, ...]] = []
    waiting = [tuple(turns)]
    while waiting:
        part = waiting.pop()
        if len(part) <= MOST:
            parts.append(part)
            continue
        at = _cut(part, concepts)
        waiting += [part[at:], part[:at]]  # the first half is taken up next, so parts stay in order
    return parts


def _cut(turns: Sequence[Record], concepts: Concepts) -> int:
    """Return where to part a long group, in its middle half: the longest pause, the farthest other concepts."""
    gaps = [time(after) - time(before) for before, after in pairwise(turns)]

    def parted(at: int) -> tuple[float, int]:
        before = {c for turn in turns[max(0, at - NEAR) : at] for c in concepts.get(turn.id, ())}
        after = {c for turn in turns[at : at + NEAR] for c in concepts.get(turn.id, ())}
        other = 1 - len(before & after) / len(before | after) if before and after else 0.0
        return (other + math.log2(1 + gaps[at - 1] / PAUSE), -abs(2 * at - len(turns)))

    return max(range(len(turns) // 4, len(turns) * 3 // 4 + 1), key=parted)
