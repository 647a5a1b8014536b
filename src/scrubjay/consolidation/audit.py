"""Audit: find memories that are junk, duplicates, stale or orphaned, without a model, and propose a fix for each.

Duplicates are equal words in the same order, whatever their case, punctuation and markup. Only texts that are equal
as written (whitespace and Unicode form aside) are archived: "C" and "C++" have the same words. Memories that are
merely alike are left alone ("30 seconds", "90 seconds"), and so are turns of conversations, since people repeat
themselves. Equal passages of two files are listed and left alone.

Memories are read a page at a time and their texts are not kept. Edges to deleted memories need no fix: every store
drops them with the memory.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from sys import intern
from typing import Final

from scrubjay.facts.reconciliation import REDACTION_MARKS
from scrubjay.models.dates import DAY
from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import Event, LifecycleChange
from scrubjay.models.records import NO_FILTER, Record, said_at
from scrubjay.search.features import HALF_LIFE
from scrubjay.storage.changes import Change, PutEdges, PutEvents, PutLifecycle
from scrubjay.storage.interface import Reader
from scrubjay.text.normalize import has_unspaced, normalize_content, split_scripts

FAULT_KINDS: Final = ("junk", "near-duplicate", "stale", "orphaned")
"""Kinds of fault, in the order in which they are reported and fixed."""


@dataclass(frozen=True, slots=True)
class AuditFault:
    """One faulty memory.

    Attributes:
        memory: Its id.
        why: The reason, as the end of a sentence: "says nothing".
        reason: The same without figures, by which faults are counted.
        weight: How bad; the examples are those that weigh most.
        mend: Status that the fix sets: ``archived``, ``superseded``, or empty where only a person can decide.
        other: The memory that stays instead of it, or None.
    """

    memory: str
    why: str
    reason: str
    weight: float
    mend: str = ""
    other: str | None = None


_WORD: Final = re.compile(r"[^\W_]+")


def level_words(text: str) -> list[str]:
    """Return a text's words without case, punctuation and markup; a character of an unspaced script is a word.

    >>> level_words("The **mast** is 12 m."), level_words("好的 OK")
    (['the', 'mast', 'is', '12', 'm'], ['好', '的', 'ok'])
    """
    if text.isascii() or not has_unspaced(text):
        return _WORD.findall(text.casefold())
    found: list[str] = []
    for run, start, end in split_scripts(text):
        part = text[start:end]
        found += part if run else _WORD.findall(part.casefold())
    return found


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")


FEW_WORDS: Final = 2
"""Words up to which a text says nothing, unless one of them names something: "yes", "thank you"."""
CHARACTERS_PER_WORD: Final = 2
"""Characters that are about a word in a script without spaces."""
_NAMES: Final = re.compile(r"\d|[^\W_]_[^\W_]|[a-z][A-Z]|[A-Z]{2}|\w[./:@\\-]\w")
"""What is in identifiers, paths, addresses, numbers and acronyms: "ECONNRESET" and "port 8080" say a lot."""


@dataclass(frozen=True, slots=True)
class MemoryTraits:
    """What an audit keeps of one active memory.

    Attributes:
        id: Its id.
        key: Its visibility key.
        tier: Its tier.
        derived: Whether it was made from others.
        kind: ``addition``, ``passage`` of a file, or ``turn`` of a conversation.
        document: Hash of its document's path; of its id, if it has none.
        subject: Hash of key, tier, project and date, which two duplicates share.
        text: Hash of its words in order.
        words: How many words it has.
        empty: Whether it says nothing.
        dated: Whether it has an event of its own.
        recorded: UTC microseconds when it was first written.
        active_at: UTC microseconds when it was last written, used, or happened.
        ends: UTC microseconds from which it is no longer true, or None.
        used: Whether it was ever used.
        pinned: Whether only its owner may archive it.
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


def memory_traits(record: Record) -> MemoryTraits:
    """Return what is compared of a memory."""
    place, event, words = record.place, record.event, level_words(record.content)
    subject = (record.key, record.tier, record.project, event.start if event is not None else None)
    return MemoryTraits(
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


def last_activity(record: Record) -> int:
    """Return when a memory was last written, used, or happened, in UTC microseconds.

    A memory written today about the year 1815 counts from today.
    """
    happened = record.event.start if record.event is not None else 0
    return max(record.recorded_at, happened, record.last_used or 0)


def _says_nothing(record: Record, words: Sequence[str]) -> bool:
    """Tell whether a memory has no letter at all, or one or two words that name nothing."""
    text = record.content
    if not words:
        return not any(char.isalnum() for char in text)
    if len(words) > FEW_WORDS * CHARACTERS_PER_WORD or _NAMES.search(text):
        return False
    count = -(-len(words) // CHARACTERS_PER_WORD) if has_unspaced(text) else len(words)
    if count > FEW_WORDS:
        return False
    # A title of its own is half of the content ("wifi password": "bluebunny").
    return record.tier == "observation" and set(level_words(record.title)) <= set(words)


AUDIT_PAGE: Final = 1_000
"""Memories in hand at once."""


def active_memories(reader: Reader) -> Iterator[Record]:
    """Yield every visible active memory, in the order of the ids' digits."""
    after = ""
    while page := reader.page(after, AUDIT_PAGE, NO_FILTER):
        yield from page
        after = page[-1].id


BOILERPLATE_COPIES: Final = 20
"""Memories with one text from which on it is boilerplate: a form, a signature, a licence."""


def find_junk(traits: Sequence[MemoryTraits]) -> list[AuditFault]:
    """Return the memories that say nothing, and all but the best of those with a boilerplate text.

    An event of a day of its own ("ran 5 km", thirty times) is no boilerplate.
    """
    faults = [
        AuditFault(one.id, "says nothing", "says nothing", 1.0 / (1 + one.words), "archived")
        for one in traits
        if one.empty and not one.pinned
    ]
    empty = {fault.memory for fault in faults}
    texts: defaultdict[tuple[str, int], list[MemoryTraits]] = defaultdict(list)
    for one in traits:
        if one.id not in empty and not (one.dated and one.kind == "addition"):
            texts[one.key, one.text].append(one)
    for same in texts.values():
        if len(same) >= BOILERPLATE_COPIES:
            first, *others = best_first(same)
            why = f"one text in {len(same):,} memories"
            faults += [
                AuditFault(one.id, why, "boilerplate", len(same), "archived", first.id)
                for one in others
                if not one.pinned
            ]
    return faults


def best_first(traits: Iterable[MemoryTraits]) -> list[MemoryTraits]:
    """Return memories with the same words in the order in which one would keep them: pinned, used, oldest."""
    return sorted(traits, key=lambda one: (not one.pinned, not one.used, one.recorded, one.id))


def find_duplicates(reader: Reader, traits: Iterable[MemoryTraits]) -> Iterator[AuditFault]:
    """Yield all but the best of the memories with the same words.

    Args:
        reader: What the caller sees.
        traits: The active memories that say something.
    """
    same: defaultdict[tuple[int, int], list[MemoryTraits]] = defaultdict(list)
    for one in traits:
        if one.kind != "turn" and one.words:
            same[one.subject, one.text].append(one)
    for group in same.values():
        if len(group) > 1:
            yield from _duplicates(reader, best_first(group))


def _duplicates(reader: Reader, group: Sequence[MemoryTraits]) -> Iterator[AuditFault]:
    """Yield the faults of memories with the same words, one a document, the best first."""
    best, documents = group[0], {group[0].document}
    others: list[MemoryTraits] = []
    for one in group[1:]:
        if one.document not in documents:
            documents.add(one.document)
            others.append(one)
    records = reader.get([one.id for one in (best, *others)])
    for one in others:
        text = records[one.id].content
        equal = normalize_content(text) == normalize_content(records[best.id].content) and not any(
            mark in text for mark in REDACTION_MARKS
        )
        why = "the same text" if equal else "the same words"
        mend = "archived" if equal and one.kind == "addition" and not one.pinned else ""
        yield AuditFault(one.id, why, why, len(others), mend, best.id)


STALE_HALF_LIVES: Final = 4
"""Half-lives after which the age penalty has reached fifteen sixteenths of its maximum."""


def find_stale(
    traits: Sequence[MemoryTraits], superseded: Mapping[str, str], now: int
) -> Iterator[AuditFault]:
    """Yield memories that are superseded, no longer true, or old and never used.

    Args:
        traits: The active memories.
        superseded: Id of a memory to the active one that superseded it.
        now: UTC microseconds.
    """
    for one in traits:
        if one.pinned:
            continue
        days = (now - one.active_at) / DAY
        newer = superseded.get(one.id)
        if newer is not None:
            yield AuditFault(
                one.id, "superseded, and active all the same", "superseded", 1e6, "superseded", newer
            )
        elif one.ends is not None and one.ends <= now:
            yield AuditFault(
                one.id, "no longer true", "no longer true", 1e5 + (now - one.ends) / DAY, "archived"
            )
        elif not one.used and days > STALE_HALF_LIVES * HALF_LIFE[one.tier]:
            yield AuditFault(
                one.id, f"{days:,.0f} days old, and never used", "old and never used", days, "archived"
            )


def find_orphaned(traits: Sequence[MemoryTraits], grounded: Collection[str]) -> Iterator[AuditFault]:
    """Yield derived memories without evidence.

    Args:
        traits: The active memories.
        grounded: Ids of those that have evidence, of whatever status.
    """
    for one in traits:
        if one.derived and not one.pinned and one.id not in grounded:
            why = "nothing it was made from is left"
            yield AuditFault(one.id, why, "no evidence left", float(-one.recorded), "archived")


EDGE_PAGE: Final = 500
"""Memories whose edges or events are read at once."""
MAX_PAGE_EVENTS: Final = 100_000
"""Events of one page: 200 a memory."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """Faults of all active memories that a reader sees.

    Attributes:
        memories: How many memories are active.
        tiers: How many of them are of each tier.
        faults: Kind to faults, the worst first.
        tiers_of: Id to tier of every memory with a fault.
    """

    memories: int
    tiers: Mapping[str, int]
    faults: Mapping[str, Sequence[AuditFault]]
    tiers_of: Mapping[str, str]


def run_audit(reader: Reader, now: int) -> AuditResult:
    """Check every active memory that a reader sees.

    Args:
        reader: What the caller sees.
        now: UTC microseconds.
    """
    traits = {record.id: memory_traits(record) for record in active_memories(reader)}
    every = tuple(traits.values())
    junk = find_junk(every)
    junk_ids = {fault.memory for fault in junk}
    found: dict[str, Iterable[AuditFault]] = {
        "junk": junk,
        "near-duplicate": find_duplicates(reader, (one for one in every if one.id not in junk_ids)),
        "stale": find_stale(every, _superseded(reader, traits), now),
        "orphaned": find_orphaned(every, _grounded(reader, every)),
    }
    faults = {kind: _ranked(reader, found[kind]) for kind in FAULT_KINDS}
    tiers = Counter(one.tier for one in every)
    tiers_of = {fault.memory: traits[fault.memory].tier for some in faults.values() for fault in some}
    return AuditResult(len(traits), dict(sorted(tiers.items())), faults, tiers_of)


def _superseded(reader: Reader, traits: Mapping[str, MemoryTraits]) -> dict[str, str]:
    """Return which active memory superseded an active one; private memories never supersede shared ones."""
    ids = list(traits)
    return {
        edge.dst: edge.src
        for first in range(0, len(ids), EDGE_PAGE)
        for edge in reader.edges(ids[first : first + EDGE_PAGE], ["supersedes"])
        if edge.dst in traits and edge.dst != edge.src and traits[edge.dst].key == traits[edge.src].key
    }


def _grounded(reader: Reader, traits: Sequence[MemoryTraits]) -> set[str]:
    derived = [one.id for one in traits if one.derived]
    found: set[str] = set()
    for first in range(0, len(derived), EDGE_PAGE):
        found.update(edge.src for edge in reader.edges(derived[first : first + EDGE_PAGE], ["derived_from"]))
    return found


def _ranked(reader: Reader, faults: Iterable[AuditFault]) -> list[AuditFault]:
    """Return faults, the worst first, without the memories that somebody restored."""
    ranked = sorted(faults, key=lambda fault: (-fault.weight, fault.other or "", fault.memory))
    restored = restored_by_hand(reader, [fault.memory for fault in ranked])
    return [fault for fault in ranked if fault.memory not in restored]


def restored_by_hand(reader: Reader, ids: Sequence[str]) -> Collection[str]:
    """Return the memories that a person restored, as opposed to an undone run."""
    restored: set[str] = set()
    for first in range(0, len(ids), EDGE_PAGE):
        events = reader.events(ids[first : first + EDGE_PAGE], limit=MAX_PAGE_EVENTS)
        restored.update(event.memory for event in events if event.op == "restored" and event.run is None)
    return restored


MEND_BATCH: Final = 1_000
"""Memories of one transaction."""
AUDIT_RULE: Final = "audit"
"""Rule of the edges that an audit writes."""


def select_faults(
    faults: Mapping[str, Sequence[AuditFault]], kinds: Sequence[str]
) -> dict[str, list[AuditFault]]:
    """Return which faults a run fixes, by kind: no memory twice, and none that stays instead of another."""
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
) -> Iterator[tuple[list[str], list[Change]]]:
    """Yield the changes of each transaction with the ids of the memories that they archive or supersede.

    Args:
        reader: What the caller sees now; memories archived, pinned or restored meanwhile are skipped.
        faults: Each memory once.
        run: Id of the run, for the events.
        at: UTC microseconds.
        actor: User who fixes them.
    """
    for first in range(0, len(faults), MEND_BATCH):
        some = faults[first : first + MEND_BATCH]
        records = reader.get([memory for fault in some for memory in (fault.memory, fault.other) if memory])
        restored = restored_by_hand(reader, [fault.memory for fault in some])
        statuses: dict[str, LifecycleChange] = {}
        events: list[Event] = []
        edges: list[Edge] = []
        for fault in some:
            old, new = records.get(fault.memory), records.get(fault.other or "")
            if old is None or old.pinned or old.status != "active" or old.id in restored:
                continue
            if fault.other is not None and (new is None or new.status != "active"):
                continue
            statuses[old.id] = _lifecycle(fault, old, new)
            other = fault.other if fault.mend == "superseded" else None
            events.append(Event(old.id, fault.mend, at, old.key, run, other, before=old.status, actor=actor))
            if fault.mend == "superseded" and new is not None:
                edges.append(Edge(new.id, "supersedes", old.id, old.key, 1.0, at, rule=AUDIT_RULE, run=run))
        if statuses:
            yield list(statuses), [PutLifecycle(statuses), PutEdges(tuple(edges)), PutEvents(tuple(events))]


def _lifecycle(fault: AuditFault, old: Record, new: Record | None) -> LifecycleChange:
    if fault.mend == "archived" or new is None:
        return LifecycleChange(status="archived")
    return LifecycleChange(status="superseded", valid_until=max(said_at(new), old.valid_from or 0))
