"""Audit: find memories that are junk, duplicates, stale or orphaned, and propose a fix for each.

Duplicates have equal words in the same order. Only texts that are equal as written are archived, since "C" and "C++"
have the same words; turns of conversations and passages of files are left alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from sys import intern
from typing import Final

from scrubjay.facts.reconciliation import REDACTION_MARKS
from scrubjay.frozen import frozen
from scrubjay.models.dates import DAY
from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import Event, LifecycleChange, stored_end
from scrubjay.models.records import NO_FILTER, Record, said_at
from scrubjay.search.fusion import HALF_LIFE
from scrubjay.storage.changes import Change, PutEdges, PutEvents, PutLifecycle, RequireUnchanged
from scrubjay.storage.interface import Reader, all_records, in_batches
from scrubjay.text.dialogue import is_small_talk
from scrubjay.text.normalize import has_unspaced, normalize_content, split_scripts

FAULT_KINDS: Final = ("junk", "near-duplicate", "stale", "orphaned")
"""Kinds of fault, in the order in which they are reported and fixed."""
FEW_WORDS: Final = 2
"""Words of a text that says nothing: "yes", "thank you"."""
CHARACTERS_PER_WORD: Final = 2
"""Characters of a word in a script without spaces, on average."""
BOILERPLATE_COPIES: Final = 20
"""Memories with one text from which on it is a form, a signature or a licence."""
STALE_HALF_LIVES: Final = 4
"""Half-lives after which the age penalty has reached fifteen sixteenths of its maximum."""
EDGE_PAGE: Final = 500
"""Memories whose edges or events are read together."""
MAX_PAGE_EVENTS: Final = 100_000
"""Events of one page: 200 a memory."""
AUDIT_RULE: Final = "audit"
"""Rule of the edges that an audit writes."""

_WORD: Final = re.compile(r"[^\W_]+")


@frozen
class AuditFault:
    """One faulty memory.

    Attributes:
        why: The reason, as the end of a sentence: "says nothing".
        reason: The same without figures; faults are counted by it.
        weight: Severity; the worst are shown as examples.
        mend: Status that the fix sets: ``archived``, ``superseded``, or empty if only a person can decide.
        other: The memory that stays instead of it, or None.
    """

    memory: str
    why: str
    reason: str
    weight: float
    mend: str = ""
    other: str | None = None


@frozen
class AuditResult:
    """Faults of all active memories that a reader sees.

    Attributes:
        faults: Faults by kind, the worst first.
        tiers_of: Tier of every memory with a fault, by id.
    """

    memories: int
    tiers: Mapping[str, int]
    faults: Mapping[str, Sequence[AuditFault]]
    tiers_of: Mapping[str, str]


@frozen
class _Traits:
    """Properties of one active memory that an audit compares.

    Attributes:
        kind: ``addition``, ``passage`` of a file, or ``turn`` of a conversation.
        document: Hash of its document's path, else of its id.
        subject: Hash of key, tier, project and date, which duplicates share.
        ends: When it stops being true, UTC microseconds, or None.
    """

    id: str
    key: str
    tier: str
    derived: bool
    kind: str
    document: int
    subject: int
    text: int
    words: int
    empty: bool
    dated: bool
    recorded: int
    active_at: int
    ends: int | None
    used: bool
    pinned: bool


def run_audit(reader: Reader, now: int) -> AuditResult:
    """Check every active memory that a reader sees."""
    traits = {record.id: _traits(record) for record in all_records(reader, NO_FILTER)}
    every = tuple(traits.values())
    junk = _junk(every)
    junk_ids = {fault.memory for fault in junk}
    found: dict[str, Iterable[AuditFault]] = {
        "junk": junk,
        "near-duplicate": _duplicates(reader, (memory for memory in every if memory.id not in junk_ids)),
        "stale": _stale(every, _superseded(reader, traits), now),
        "orphaned": _orphaned(reader, every),
    }
    faults: dict[str, list[AuditFault]] = {}
    for kind in FAULT_KINDS:
        ranked = sorted(found[kind], key=lambda fault: (-fault.weight, fault.other or "", fault.memory))
        restored = _restored_by_hand(reader, [fault.memory for fault in ranked])
        faults[kind] = [fault for fault in ranked if fault.memory not in restored]
    tiers = Counter(memory.tier for memory in every)
    tiers_of = {fault.memory: traits[fault.memory].tier for own in faults.values() for fault in own}
    return AuditResult(len(traits), dict(sorted(tiers.items())), faults, tiers_of)


def _traits(record: Record) -> _Traits:
    place, event, words = record.place, record.event, level_words(record.content)
    subject = (record.key, record.tier, record.project, event.start if event is not None else None)
    return _Traits(
        id=record.id,
        key=intern(record.key),
        tier=intern(record.tier),
        derived=record.origin == "derived",
        kind="turn" if record.turn is not None else "addition" if place is None else "passage",
        document=_hash(f"{place.source}/{place.path}" if place is not None else record.id),
        subject=_hash(repr(subject)),
        text=_hash(" ".join(words)),
        words=len(words),
        empty=_says_nothing(record, words),
        dated=event is not None,
        recorded=record.recorded_at,
        active_at=last_activity(record),
        ends=record.valid_until,
        used=record.last_used is not None,
        pinned=record.pinned,
    )


def level_words(text: str) -> list[str]:
    """Return a text's words, casefolded, without punctuation; a character of an unspaced script is a word.

    >>> level_words("The **mast** is 12 m."), level_words("好的 OK")
    (['the', 'mast', 'is', '12', 'm'], ['好', '的', 'ok'])
    """
    if text.isascii() or not has_unspaced(text):
        return _WORD.findall(text.casefold())
    found: list[str] = []
    for unspaced, start, end in split_scripts(text):
        part = text[start:end]
        found += part if unspaced else _WORD.findall(part.casefold())
    return found


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def last_activity(record: Record) -> int:
    """Return when a memory was last written, used, or happened, in UTC microseconds."""
    happened = record.event.start if record.event is not None else 0
    return max(record.recorded_at, happened, record.last_used or 0)


def _says_nothing(record: Record, words: Sequence[str]) -> bool:
    text = record.content
    if not words:
        return not any(char.isalnum() for char in text)
    count = -(-len(words) // CHARACTERS_PER_WORD) if has_unspaced(text) else len(words)
    # A title of its own is half of the content ("ready?": "yes").
    titled = not set(level_words(record.title)) <= set(words)
    return record.tier == "observation" and count <= FEW_WORDS and not titled and is_small_talk(text)


def _best_first(traits: Iterable[_Traits]) -> list[_Traits]:
    return sorted(traits, key=lambda memory: (not memory.pinned, not memory.used, memory.recorded, memory.id))


def _junk(traits: Sequence[_Traits]) -> list[AuditFault]:
    """Return the memories that say nothing, and boilerplate; dated additions ("ran 5 km") are none."""
    faults = [
        AuditFault(memory.id, "says nothing", "says nothing", 1.0 / (1 + memory.words), "archived")
        for memory in traits
        if memory.empty and not memory.pinned
    ]
    empty = {fault.memory for fault in faults}
    texts: defaultdict[tuple[str, int], list[_Traits]] = defaultdict(list)
    for memory in traits:
        if memory.id not in empty and not (memory.dated and memory.kind == "addition"):
            texts[memory.key, memory.text].append(memory)
    for same in texts.values():
        if len(same) >= BOILERPLATE_COPIES:
            best, *others = _best_first(same)
            why = f"one text in {len(same):,} memories"
            faults += [
                AuditFault(memory.id, why, "boilerplate", len(same), "archived", best.id)
                for memory in others
                if not memory.pinned
            ]
    return faults


def _duplicates(reader: Reader, traits: Iterable[_Traits]) -> Iterator[AuditFault]:
    """Yield all but the best of the memories with the same words, one a document."""
    same: defaultdict[tuple[int, int], list[_Traits]] = defaultdict(list)
    for memory in traits:
        if memory.kind != "turn" and memory.words:
            same[memory.subject, memory.text].append(memory)
    for group in same.values():
        if len(group) == 1:
            continue
        by_document: dict[int, _Traits] = {}
        for memory in _best_first(group):
            by_document.setdefault(memory.document, memory)
        best, *others = by_document.values()
        records = reader.get([memory.id for memory in by_document.values()])
        for memory in others:
            text = records[memory.id].content
            equal = normalize_content(text) == normalize_content(records[best.id].content) and not any(
                mark in text for mark in REDACTION_MARKS
            )
            why = "the same text" if equal else "the same words"
            mend = "archived" if equal and memory.kind == "addition" and not memory.pinned else ""
            yield AuditFault(memory.id, why, why, len(others), mend, best.id)


def _stale(traits: Sequence[_Traits], superseded: Mapping[str, str], now: int) -> Iterator[AuditFault]:
    """Yield memories that are superseded, no longer true, or old and never used."""
    for memory in traits:
        if memory.pinned:
            continue
        days = (now - memory.active_at) / DAY
        newer = superseded.get(memory.id)
        if newer is not None:
            yield AuditFault(memory.id, "superseded but still active", "superseded", 1e6, "superseded", newer)
        elif memory.ends is not None and memory.ends <= now:
            yield AuditFault(
                memory.id, "no longer true", "no longer true", 1e5 + (now - memory.ends) / DAY, "archived"
            )
        elif not memory.used and days > STALE_HALF_LIVES * HALF_LIFE[memory.tier]:
            yield AuditFault(
                memory.id, f"{days:,.0f} days old and never used", "old and never used", days, "archived"
            )


def _superseded(reader: Reader, traits: Mapping[str, _Traits]) -> dict[str, str]:
    """Map superseded active memories to the active one that supersedes them under the same key."""
    ids = list(traits)
    return {
        edge.dst: edge.src
        for batch in in_batches(ids, EDGE_PAGE)
        for edge in reader.edges(batch, ["supersedes"])
        if edge.dst in traits and edge.dst != edge.src and traits[edge.dst].key == traits[edge.src].key
    }


def _orphaned(reader: Reader, traits: Sequence[_Traits]) -> Iterator[AuditFault]:
    derived = [memory for memory in traits if memory.derived]
    for page in in_batches(derived, EDGE_PAGE):
        grounded = {edge.src for edge in reader.edges([memory.id for memory in page], ["derived_from"])}
        for memory in page:
            if not memory.pinned and memory.id not in grounded:
                why = "all of its sources are gone"
                yield AuditFault(memory.id, why, "no evidence left", float(-memory.recorded), "archived")


def _restored_by_hand(reader: Reader, ids: Sequence[str]) -> set[str]:
    """Return the memories that a person restored, as opposed to an undone run."""
    restored: set[str] = set()
    for batch in in_batches(ids, EDGE_PAGE):
        events = reader.events(batch, limit=MAX_PAGE_EVENTS)
        restored.update(event.memory for event in events if event.op == "restored" and event.run is None)
    return restored


def select_faults(
    faults: Mapping[str, Sequence[AuditFault]], kinds: Sequence[str]
) -> dict[str, list[AuditFault]]:
    """Return the faults that a run fixes, by kind: no memory twice, and none that stays instead of another."""
    done: set[str] = set()
    stays: set[str] = set()
    found: dict[str, list[AuditFault]] = {}
    for kind in (kind for kind in FAULT_KINDS if kind in kinds):
        found[kind] = []
        for fault in faults[kind]:
            free = fault.memory not in done and fault.memory not in stays
            if fault.mend and free and fault.other not in done:
                found[kind].append(fault)
                done.add(fault.memory)
                if fault.other is not None:
                    stays.add(fault.other)
    return found


def mend_changes(
    reader: Reader, faults: Sequence[AuditFault], run: str, at: int, actor: str = ""
) -> tuple[list[str], list[Change]]:
    """Return the changes of one transaction, with the ids of the memories that they archive or supersede.

    Memories that were archived, pinned, restored, changed or used since ``at``, when the audit began, are skipped, and
    so are those whose other memory was archived or changed.
    """
    records = reader.get([memory for fault in faults for memory in (fault.memory, fault.other) if memory])
    restored = _restored_by_hand(reader, [fault.memory for fault in faults])
    unchanged: dict[str, Record] = {}
    statuses: dict[str, LifecycleChange] = {}
    events: list[Event] = []
    edges: list[Edge] = []
    for fault in faults:
        old, new = records.get(fault.memory), records.get(fault.other or "")
        if old is None or old.pinned or old.status != "active" or old.id in restored:
            continue
        if fault.other is not None and (new is None or new.status != "active" or new.updated_at > at):
            continue
        if max(old.updated_at, old.last_used or 0) > at:
            continue
        unchanged |= {record.id: record for record in (old, new) if record is not None}
        statuses[old.id] = LifecycleChange(status="archived")
        other, end = None, 0
        if fault.mend == "superseded" and new is not None:
            ended = max(said_at(new), old.valid_from or 0)
            statuses[old.id] = LifecycleChange(status="superseded", valid_until=ended)
            other, end = new.id, stored_end(old.valid_until)
            edges.append(Edge(new.id, "supersedes", old.id, old.key, 1.0, at, rule=AUDIT_RULE, run=run))
        events.append(Event(old.id, fault.mend, at, old.key, run, other, end, old.status, actor))
    if not statuses:
        return [], []
    return list(statuses), [
        RequireUnchanged(unchanged),
        PutLifecycle(statuses),
        PutEdges(tuple(edges)),
        PutEvents(tuple(events)),
    ]
