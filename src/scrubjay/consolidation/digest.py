"""Digests: select and group old observations, write digests and withdraw stale ones.

Selected are turns of conversations that are over, their tool results included; observations of tools outside of
conversations, if transcripts are archived; and passages of daily notes (whose file, title or heading is nothing but a
date), if somebody asks for it. Everything else is left alone: other notes, additions, pinned, inactive or derived
memories, and untrusted sources, whose words a digest would repeat as the owner's.

A conversation is one group; a very long one is split at its longest pauses or changes of concept. Other observations
are grouped by concept and month, a record of several concepts by the one with the highest

    records of the month that name it * ln(all records / records that name it)

Groups never mix visibility keys and do not depend on the order of their records.

An observation is digested once a digest covers it. A conversation that continues is digested anew as a whole, so no two
digests overlap. A group is written in one transaction: digest, an edge to each source (weight: its share of the
sentences) and, if archiving was asked for, the archived sources with an event each. The id is a keyed hash of key,
sources and text, so the same digest gets the same id.

A digest is stale if a source was written after it, was reactivated by anyone but the digest's own run, or is
gone. Stale
digests are removed, the sources archived for them become active, and the run digests them anew. So are digests of older
rules that no archived source depends on. Pinned digests stay.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from scrubjay.consolidation.context import (
    DIGEST_RULE,
    DIGEST_TIER,
    MEMORY_PAGE,
    NOTES,
    RULES_VERSION,
    TRANSCRIPTS,
    RunContext,
    chronological_key,
    ended_at,
    occurred_at,
)
from scrubjay.consolidation.summary import Digest
from scrubjay.ingest.deletion import ALL_EVENTS, STATUS_BATCH, last_status_events, status_changes
from scrubjay.ingest.embedder import prepare_memory
from scrubjay.models.dates import DAY, SECOND, to_datetime
from scrubjay.models.graph import Edge
from scrubjay.models.ids import memory_id, memory_key, text_hash
from scrubjay.models.lifecycle import Event, LifecycleChange
from scrubjay.models.records import STATUSES, TIERS, EventTime, Record, RecordFilter
from scrubjay.storage.changes import Change, DropMemory, PreparedMemory, PutEdges, PutEvents, PutLifecycle
from scrubjay.storage.interface import Reader

AFTER_DAYS: Final = 14

_DATE = re.compile(
    r"(\d{4})([-_.]?)(\d{2})\2(\d{2})(?:[ ,_-]+(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)?\Z", re.IGNORECASE
)
_ORIGINS: Final = frozenset(("owner", "agent", "tool"))


def select_observations(
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
        old = ended_at(record) < limit
        if record.session is not None:
            talk = (record.key, record.session)
            if not old:
                open_ones.add(talk)
                held.pop(talk, None)
            elif (
                talk not in open_ones
                and _may_be_archived(record)
                and (_is_turn(record) or record.origin == "tool")
            ):
                held.setdefault(talk, []).append(record)
        elif old and _may_be_archived(record) and _kind(record) in archive:
            yield record
    for turns in held.values():
        yield from turns


def _may_be_archived(record: Record) -> bool:
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


MAX_GROUP: Final = 40
"""Records of one group: at 20 % a digest of more turns is longer than a passage may be, or says too little of each."""
MIN_GROUP: Final = 2
"""Records that a concept needs for a group of its own: of one there is nothing to unite."""
CUT_CONTEXT: Final = 5
"""Turns on each side of a cut whose concepts are compared."""
PAUSE_MICROS: Final = 3_600 * SECOND
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


def group_records(records: Iterable[Record], concepts: Concepts) -> tuple[Group, ...]:
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
        found += [
            Group(key, "episode", session, part)
            for part in _parts(sorted(turns, key=chronological_key), concepts)
        ]
    for key, own in rest.items():
        for (kind, name), members in _by_concept(own, concepts).items():
            found += [
                Group(key, kind, name, part)
                for part in _parts(sorted(members, key=chronological_key), concepts)
            ]
    return tuple(
        sorted(found, key=lambda one: (one.key, one.kind, one.name, chronological_key(one.records[0])))
    )


def _month(record: Record) -> str:
    return to_datetime(occurred_at(record)).strftime("%Y-%m")


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
        own = [c for c in concepts.get(record.id, ()) if held[month, c] >= MIN_GROUP]
        best = min(own, key=lambda concept: tells(month, concept), default="")
        found[month, best].append(record)
    months: defaultdict[str, list[Record]] = defaultdict(list)
    groups: dict[tuple[str, str], list[Record]] = {}
    for (month, concept), members in found.items():
        if concept and len(members) >= MIN_GROUP:
            groups["concept", f"{concept} {month}"] = members
        else:
            months[month] += members
    return groups | {("month", month): members for month, members in months.items()}


def _parts(turns: Sequence[Record], concepts: Concepts) -> list[tuple[Record, ...]]:
    """Return the parts of a group of at most ``MAX_GROUP``, cut again and again where it parts most."""
    parts: list[tuple[Record, ...]] = []
    waiting = [tuple(turns)]
    while waiting:
        part = waiting.pop()
        if len(part) <= MAX_GROUP:
            parts.append(part)
            continue
        at = _cut(part, concepts)
        waiting += [part[at:], part[:at]]  # the first half is taken up next, so parts stay in order
    return parts


def _cut(turns: Sequence[Record], concepts: Concepts) -> int:
    """Return where to part a long group, in its middle half: the longest pause, the farthest other concepts."""
    gaps = [occurred_at(after) - occurred_at(before) for before, after in pairwise(turns)]

    def parted(at: int) -> tuple[float, int]:
        before = {c for turn in turns[max(0, at - CUT_CONTEXT) : at] for c in concepts.get(turn.id, ())}
        after = {c for turn in turns[at : at + CUT_CONTEXT] for c in concepts.get(turn.id, ())}
        other = 1 - len(before & after) / len(before | after) if before and after else 0.0
        return (other + math.log2(1 + gaps[at - 1] / PAUSE_MICROS), -abs(2 * at - len(turns)))

    return max(range(len(turns) // 4, len(turns) * 3 // 4 + 1), key=parted)


@dataclass(frozen=True, slots=True)
class DigestCoverage:
    """What may be told of, parted by what digests tell already.

    Attributes:
        new: What is to be told of.
        known: What a digest tells of, with the digest's id.
        grown: Digests of conversations that went on since, sorted.
    """

    new: list[Record]
    known: list[tuple[Record, str]]
    grown: list[str]


def digest_coverage(night: RunContext, records: Sequence[Record]) -> DigestCoverage:
    """Part records by whether a digest of the night's key tells of them."""
    by = _edges(night, [record.id for record in records])
    known = [(record, by[record.id].src) for record in records if record.id in by]
    told: dict[str, int] = {}
    for record, _ in known:
        if record.session is not None:
            told[record.session] = max(by[record.id].at, told.get(record.session, 0))
    new = [
        record
        for record in records
        if record.id not in by and record.updated_at > told.get(record.session or "", -1)
    ]
    went_on = {record.session for record in new if record.session in told}
    return DigestCoverage(
        new, known, sorted({digest for record, digest in known if record.session in went_on})
    )


def _edges(night: RunContext, ids: Sequence[str]) -> dict[str, Edge]:
    """Return what joins a digest with each of some memories; a dry run passes over those that it would take back."""
    found: dict[str, Edge] = {}
    for first in range(0, len(ids), STATUS_BATCH):
        with night.store.reader(night.viewers) as reader:
            edges = reader.edges(ids[first : first + STATUS_BATCH], ["derived_from"], inward=True)
        for edge in edges:
            if edge.rule == DIGEST_RULE and edge.key == night.key and edge.src not in night.foreseen.gone:
                found[edge.dst] = edge
    return found


_PRECISIONS: Final = ("second", "day", "month", "year")


@dataclass(frozen=True, slots=True)
class WrittenDigest:
    """A group that has a digest.

    Attributes:
        records: The group, whole.
        digest: What it says in short.
        memory: The digest as a memory, counted, not yet embedded.
        away: Those of the records that are archived for it.
    """

    records: tuple[Record, ...]
    digest: Digest
    memory: PreparedMemory
    away: tuple[Record, ...] = ()


def digest_memory(
    night: RunContext, secret: bytes, records: Sequence[Record], digest: Digest, at: int
) -> WrittenDigest:
    """Return a group with its digest as a memory.

    Args:
        night: The run.
        secret: The tenant's key of ids.
        records: The group, whole.
        digest: Its digest.
        at: UTC microseconds now.
    """
    sources = "\x1e".join(sorted(record.id for record in records))
    content_hash = text_hash(digest.text)
    parts = ("digest", night.key, sources, content_hash)
    record = Record(
        id=memory_id(DIGEST_TIER, memory_key(secret, parts)),
        tier=DIGEST_TIER,
        content=digest.text,
        content_hash=content_hash,
        title=digest.title,
        key=night.key,
        owner=_shared(record.owner for record in records) or night.scope.user,
        recorded_at=at,
        updated_at=at,
        tags=digest.tags,
        project=_shared(record.project for record in records),
        agent=_shared(record.agent for record in records),
        session=_shared(record.session for record in records),
        origin="derived",
        event=EventTime(digest.start, digest.end, _precision(records)),
    )
    return WrittenDigest(tuple(records), digest, prepare_memory(record))


def digest_changes(
    night: RunContext, groups: Sequence[WrittenDigest], woven: Iterable[Change], at: int
) -> list[Change]:
    """Return what is written after the digests.

    Args:
        night: The run.
        groups: What was told.
        woven: What connects the digests (`Weaver.changes`). A digest is not joined with what it tells of.
        at: UTC microseconds before the sources were read: a source that is written later is told anew.
    """
    sources_of_all = {record.id for group in groups for record in group.records}
    edges: list[Edge] = []
    events: list[Event] = []
    for group in groups:
        digest, sources = group.memory.record, group.records
        edges += [
            Edge(digest.id, "derived_from", source, night.key, weight, at, rule=DIGEST_RULE, run=night.run)
            for source, weight in _shares(group).items()
        ]
        events.append(Event(digest.id, "derived", at, night.key, night.run, count=len(sources)))
    away = [(record.id, group.memory.record.id) for group in groups for record in group.away]
    own = [_apart(change, sources_of_all) for change in woven]
    return [*own, PutEdges(tuple(edges)), PutEvents(tuple(events)), *archive_changes(night, away, at)]


def archive_changes(night: RunContext, away: Sequence[tuple[str, str]], at: int) -> list[Change]:
    """Return what archives active memories, each for the digest that tells of it.

    Args:
        night: The run.
        away: Ids of the memories, each with its digest's.
        at: UTC microseconds.
    """
    if not away:
        return []
    events = (
        Event(memory, "archived", at, night.key, night.run, digest, before="active")
        for memory, digest in away
    )
    lives = {memory: LifecycleChange(status="archived") for memory, _ in sorted(away)}
    return [PutLifecycle(lives), PutEvents(tuple(events))]


def _apart(change: Change, sources: Collection[str]) -> Change:
    if not isinstance(change, PutEdges):
        return change
    edges = (edge for edge in change.edges if not (edge.kind == "similar" and edge.dst in sources))
    return replace(change, edges=tuple(edges))


def _shares(group: WrittenDigest) -> dict[str, float]:
    """Return each source's share of the sentences; of one that several say, each has its part."""
    shares: Counter[str] = Counter({record.id: 0 for record in group.records})
    for sentence in group.digest.sentences:
        for source in sentence.sources:
            shares[source] += 1 / len(sentence.sources)  # type: ignore[assignment]
    count = len(group.digest.sentences)
    return {source: min(1.0, share / count) for source, share in shares.items()}


def _shared(values: Iterable[str | None]) -> str | None:
    """Return what all have, None where they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _precision(records: Sequence[Record]) -> str:
    known = [record.event.precision for record in records if record.event is not None]
    return max(known, key=_PRECISIONS.index, default="second")


_MADE: Final = RecordFilter(tiers=tuple(tier for tier in TIERS if tier != "observation"), statuses=STATUSES)


@dataclass(frozen=True, slots=True)
class StaleDigest:
    """A digest that no longer tells what its sources say.

    Attributes:
        digest: Its id.
        freed: What is active again without it.
    """

    digest: str
    freed: tuple[Record, ...]


def stale_digests(night: RunContext) -> Iterator[StaleDigest]:
    """Yield the digests of the night's key that are to be taken back."""
    after = ""
    with night.store.reader(night.viewers) as reader:
        earlier = {run.id for run in reader.runs(ALL_EVENTS) if run.rules != RULES_VERSION}
    while True:
        with night.store.reader(night.viewers) as reader:
            page = reader.page(after, MEMORY_PAGE, _MADE)
            own = [one for one in page if one.key == night.key and _may_be_withdrawn(one)]
            found = list(_of(reader, own, earlier))
        yield from found
        if not page:
            return
        after = page[-1].id


def withdraw_digests(night: RunContext, found: Sequence[StaleDigest], at: int) -> list[Change]:
    """Return what takes digests back and makes what they told of active again."""
    freed = {record.id: record for one in found for record in one.freed}
    back = status_changes(freed.values(), LifecycleChange(status="active"), "restored", at, night.run)
    return [DropMemory(tuple(one.digest for one in found)), *back]


def outgrown_digests(night: RunContext, digests: Sequence[str]) -> list[StaleDigest]:
    """Return those of some digests that are told anew since their conversation went on; a pinned one is not."""
    with night.store.reader(night.viewers) as reader:
        held = {memory: one for memory, one in reader.get(digests).items() if _may_be_withdrawn(one)}
        found = []
        for memory in held:
            edges = [
                edge.dst for edge in reader.edges([memory], ["derived_from"]) if edge.rule == DIGEST_RULE
            ]
            found.append(StaleDigest(memory, _archived(reader, memory, reader.get(edges))))
    return found


def _may_be_withdrawn(record: Record) -> bool:
    return record.origin == "derived" and not record.pinned


def _of(reader: Reader, digests: Sequence[Record], earlier: Collection[str]) -> Iterator[StaleDigest]:
    ids = [digest.id for digest in digests]
    facets = {digest.id for digest in digests if digest.tier == "facet"}
    made: dict[str, Event] = {}
    for event in reader.events(ids, limit=ALL_EVENTS):
        if event.op == "derived" and event.run is not None:
            made.setdefault(event.memory, event)
    edges: dict[str, list[Edge]] = {memory: [] for memory in made}
    for edge in reader.edges(list(made), ["derived_from"]):
        if edge.run == made[edge.src].run:  # not what a person joined it with
            edges[edge.src].append(edge)
    for digest, own in edges.items():
        sources = reader.get([edge.dst for edge in own])
        # A facet of a superseded value is drawn anew from what holds now; insights may rest on what changed.
        outdated = digest in facets and any(one.status == "superseded" for one in sources.values())
        if len(own) < made[digest].count or outdated or _changed(reader, own, sources):
            yield StaleDigest(digest, _archived(reader, digest, sources))
        elif (
            made[digest].run in earlier
            and any(edge.rule == DIGEST_RULE for edge in own)
            and not _archived(reader, digest, sources)
        ):
            yield StaleDigest(digest, ())


def _changed(reader: Reader, edges: Sequence[Edge], sources: dict[str, Record]) -> bool:
    if any(sources[edge.dst].updated_at > edge.at for edge in edges):
        return True
    active = [memory for memory, record in sources.items() if record.status == "active"]
    # Nobody restored it, and yet it is active: its text is another. This holds whatever the clock did.
    return any(event.op == "archived" for event in last_status_events(reader, active).values())


def _archived(reader: Reader, digest: str, sources: dict[str, Record]) -> tuple[Record, ...]:
    """Return those of a digest's sources that were archived with it, and left so since."""
    held = [memory for memory, record in sources.items() if record.status == "archived"]
    last = last_status_events(reader, held)
    return tuple(
        sources[memory]
        for memory in held
        if memory in last and last[memory].op == "archived" and last[memory].other == digest
    )
