"""Valid: candidates -> those that are true at a time.

Valid time: when a thing was true, as far as it was ever said, and not what the index held at that time. What has no
beginning was always so; but what took another's place did so when that one ended. What tells of a later day is left out
where a caller sets the time, and not where the question's words do: what was written later may tell of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.memory.edges import NEWER
from scrubjay.memory.ranking import Candidate
from scrubjay.memory.records import Record, said
from scrubjay.recall.grouped import Group
from scrubjay.store.base import Reader

MOST_AHEAD: Final = 4
"""Memories, each to replace the one before and none true yet, behind which what is true now is looked for."""


def valid(
    candidates: Sequence[Candidate],
    records: Mapping[str, Record],
    at: int,
    began: Mapping[str, int] | None = None,
) -> list[Candidate]:
    """Return the candidates that are true at a time.

    Args:
        candidates: Candidates, best first.
        records: Their records.
        at: UTC microseconds.
        began: Where the time is another than now: when those began to be true that say it in no field.
    """
    return [one for one in candidates if true(records[one.id], at, began)]


def true(record: Record, at: int, began: Mapping[str, int] | None = None) -> bool:
    """Return whether a memory is true at a time; with ``began``, also whether it was already so."""
    if record.valid_until is not None and record.valid_until <= at:
        return False
    if record.valid_from is not None:
        return record.valid_from <= at
    return began is None or began.get(record.id, at) <= at


def meanwhile(
    candidates: Sequence[Candidate], records: Mapping[str, Record], reader: Reader, at: int
) -> tuple[list[Candidate], dict[str, Record]]:
    """Let what is true until then stand where something stands that will replace it and is not true yet.

    Returns:
        The candidates, and the records of those that were not among them.
    """
    found: dict[str, Record] = {}
    ahead = {one.id: one.id for one in candidates if (records[one.id].valid_from or at) > at}
    replaced: dict[str, str] = {}
    for _ in range(MOST_AHEAD if ahead else 0):
        edges = [edge for edge in reader.edges(sorted(ahead), ["supersedes"]) if edge.src in ahead]
        older = reader.get([edge.dst for edge in edges])
        found |= older
        steps = [(ahead[edge.src], older[edge.dst]) for edge in edges if edge.dst in older]
        replaced |= {first: old.id for first, old in steps if true(old, at)}
        ahead = {old.id: first for first, old in steps if (old.valid_from or at) > at}
        if not ahead:
            break
    there = {one.id for one in candidates}
    kept = [
        replace(one, id=replaced[one.id]) if replaced.get(one.id, one.id) not in there else one
        for one in candidates
    ]
    return kept, found


def beginnings(records: Sequence[Record], reader: Reader, *, told: bool) -> dict[str, int]:
    """Return when memories began to be true that do not say it: when the last that they replaced ended.

    Args:
        records: The memories.
        reader: Where what they replaced is.
        told: Whether what tells of a day began with it.
    """
    found = {one.id: one.event.start for one in records if told and one.event is not None}
    edges = reader.edges([one.id for one in records], ["supersedes"])
    replaced = reader.get(sorted({edge.dst for edge in edges}))
    for edge in edges:
        old = replaced.get(edge.dst)
        if old is not None and old.valid_until is not None:
            found[edge.src] = max(found.get(edge.src, old.valid_until), old.valid_until)
    return found


def newer(reader: Reader, records: Mapping[str, Record], at: int) -> dict[str, tuple[str, ...]]:
    """Return the active memories that may have changed each memory: joined with it, and said later; the newest first.

    Args:
        reader: Where they are.
        records: Memories, by their ids.
        at: UTC microseconds: what is not true then is left out.
    """
    pairs = set()
    for inward in (False, True):
        for edge in reader.edges(sorted(records), ["contradicts", "similar", "supersedes"], inward=inward):
            one, other = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
            if edge.kind == "contradicts" or (inward and (edge.kind == "supersedes" or edge.rule == NEWER)):
                pairs.add((one, other))
    others = reader.get(sorted({other for _, other in pairs}))
    found: dict[str, list[Record]] = {}
    for memory, other in sorted(pairs):
        late = others.get(other)
        if late is None or late.status != "active" or not true(late, at):
            continue
        if said(records[memory]) < said(late) <= at:
            found.setdefault(memory, []).append(late)
    return {
        memory: tuple(one.id for one in sorted(late, key=lambda one: (-said(one), one.id)))
        for memory, late in found.items()
    }


def newest_first(groups: Sequence[Group], newer: Mapping[str, Sequence[str]]) -> list[Group]:
    """Return groups in their order, but none before one whose memory is newer than its own."""
    by_id = {group.lead.id: group for group in groups}
    order: dict[str, Group] = {}
    for memory, group in by_id.items():
        order |= {late: by_id[late] for late in newer.get(memory, ()) if late in by_id and late not in order}
        order.setdefault(memory, group)
    return list(order.values())
