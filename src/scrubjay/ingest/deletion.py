"""Deletion: delete memories with what was derived from them, and change or restore statuses.

A derived memory that repeats words of a deleted one is deleted too, and so on upward; its archived sources become
active again, so that consolidation can derive it anew from what is left. One that merely cites the memory loses that
edge. Entities found only in deleted memories and categories that quote them go as well; pinned memories and those in
somebody's own words stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Final

from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Category, category_path
from scrubjay.models.lifecycle import Event, LifecycleChange
from scrubjay.models.records import STATUSES, Document, Record, RecordFilter, Scope, Source
from scrubjay.models.reports import ForgetReport
from scrubjay.storage.changes import (
    Change,
    DropCategory,
    DropConcept,
    Forget,
    PutDocument,
    PutEvents,
    PutLifecycle,
)
from scrubjay.storage.interface import Reader, Store
from scrubjay.text.tokenizer import query_groups

STATUS_EVENTS: Final = frozenset(("archived", "restored", "superseded"))
"""What gives a memory another status."""
ALL_EVENTS: Final = 2**31
"""More events than any memories have."""
STATUS_BATCH: Final = 1_000
"""Memories that are asked for together."""


def last_status_events(reader: Reader, ids: Sequence[str]) -> dict[str, Event]:
    """Return the newest status event of each memory that has one."""
    found: dict[str, Event] = {}
    for first in range(0, len(ids), STATUS_BATCH):
        for event in reader.events(ids[first : first + STATUS_BATCH], limit=ALL_EVENTS):
            if event.op in STATUS_EVENTS:
                found.setdefault(event.memory, event)
    return found


def status_changes(
    records: Iterable[Record],
    life: LifecycleChange,
    op: str,
    at: int,
    run: str | None = None,
    actor: str = "",
) -> list[Change]:
    """Return the changes that give memories another status, with their events."""
    turned_ones = list(records)
    events = tuple(Event(one.id, op, at, one.key, run, before=one.status, actor=actor) for one in turned_ones)
    return [PutLifecycle({one.id: life for one in turned_ones}), PutEvents(events)]


def revert_status_events(events: Iterable[Event], at: int, run: str | None = None) -> list[Change]:
    """Return the changes that revert status events, one of each memory."""
    back = list(events)
    lives = {
        # Superseding ended its time of being true; nothing else did.
        one.memory: LifecycleChange(status=one.before or "active", valid_until=None)
        if one.op == "superseded"
        else LifecycleChange(status=one.before or "active")
        for one in back
    }
    restored = tuple(Event(one.memory, "restored", at, one.key, run, before=one.op) for one in back)
    return [PutLifecycle(lives), PutEvents(restored)]


SHINGLE_WORDS: Final = 4
"""Words in a row that a text shares with a memory when it was taken from it."""
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Dependents:
    """What depends on deleted memories.

    Attributes:
        gone: Derived memories that are deleted too.
        beside: Archived sources of deleted memories that stay.
    """

    gone: Mapping[str, Record]
    beside: tuple[Record, ...]


def find_dependents(reader: Reader, records: Mapping[str, Record]) -> Dependents:
    """Find the derived memories that repeat what deleted ones say, transitively."""
    gone: dict[str, Record] = {}
    made = [memory for memory, record in records.items() if record.origin == "derived"]
    beside = reader.get(sorted({edge.dst for edge in reader.edges(made, ["derived_from"])}))
    wave = dict(records)
    while wave:
        edges = reader.edges(list(wave), ["derived_from"], inward=True)
        upward = reader.get(sorted({edge.src for edge in edges} - gone.keys() - records.keys()))
        going: dict[str, Record] = {}
        for memory, record in upward.items():
            own = record.origin != "derived"
            if own and not any(edge.src == memory and edge.origin == "found" for edge in edges):
                continue  # a person joined it: it says what it says by itself
            sources = reader.get([edge.dst for edge in reader.edges([memory], ["derived_from"])])
            lost = {one for one in sources if one in wave or one in gone or one in records}
            left = [sources[one].content for one in sources.keys() - lost]
            if (not left and not own) or _repeats_deleted(
                record, [sources[one].content for one in lost], left
            ):
                going[memory] = record
                beside |= sources
        gone |= going
        wave = going
    stay = [one for memory, one in sorted(beside.items()) if memory not in gone and memory not in records]
    return Dependents(gone, tuple(one for one in stay if one.status == "archived"))


def _repeats_deleted(record: Record, lost: Iterable[str], left: Iterable[str]) -> bool:
    kept, lost = text_shingles(left), list(lost)
    own = f"{record.title} {record.content}"
    if not kept.issuperset(text_shingles([own]) & text_shingles(lost)):
        return True
    short = {" ".join(run) for run in text_shingles(lost) - kept if len(run) < SHINGLE_WORDS}
    plain = f" {' '.join(_WORD.findall(own.casefold()))} "
    return any(words and f" {words} " in plain for words in short)


def text_shingles(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """Return every run of `SHINGLE_WORDS` words of the texts; a shorter text is one run."""
    return set(chain.from_iterable(_runs(_WORD.findall(text.casefold())) for text in texts))


def _runs(words: list[str]) -> Iterator[tuple[str, ...]]:
    yield from (tuple(words[at : at + SHINGLE_WORDS]) for at in range(max(1, len(words) - SHINGLE_WORDS + 1)))


ORPHAN_PAGE: Final = 1_000
"""Memories that are read together."""


def find_orphans(reader: Reader, source: str) -> set[str]:
    """Return the ids of the memories whose only evidence is a source, as the reader sees it."""
    gone: set[str] = set()
    lost = set(chain.from_iterable(_brought(reader, source)))
    wave = sorted(lost)
    while wave:
        found: set[str] = set()
        for first in range(0, len(wave), ORPHAN_PAGE):
            edges = reader.edges(wave[first : first + ORPHAN_PAGE], ["derived_from"], inward=True)
            found |= {edge.src for edge in edges}
        wave = sorted(_without_evidence(reader, sorted(found - lost), lost))
        gone |= set(wave)
        lost |= set(wave)
    return gone


def _brought(reader: Reader, source: str) -> Iterator[list[str]]:
    after, where = "", RecordFilter(sources=(source,), statuses=STATUSES)
    while page := reader.page(after, ORPHAN_PAGE, where):
        after = page[-1].id
        yield [record.id for record in page]


def _without_evidence(reader: Reader, made: Sequence[str], lost: set[str]) -> Iterator[str]:
    for first in range(0, len(made), ORPHAN_PAGE):
        records = reader.get(made[first : first + ORPHAN_PAGE])
        own = [
            memory
            for memory, one in records.items()
            if one.origin == "derived" and one.place is None and not one.pinned
        ]
        borne = {edge.src for edge in reader.edges(own, ["derived_from"]) if edge.dst not in lost}
        yield from (memory for memory in own if memory not in borne)


MAX_CATEGORY_WORDS: Final = 400
"""Words of one category that are looked up: its digest has 150."""
REREAD_HASH: Final = "to be read again"
"""Stands for the hash of a file whose passages are fewer than what it holds."""


@dataclass(frozen=True, slots=True)
class DeletionResult:
    """What a deletion did.

    Attributes:
        keys: Visibility keys that lost a topic.
        fewer: Visibility keys that lost a memory.
        sources: The caller's sources that lost categorised passages, with their visibility keys.
    """

    report: ForgetReport
    keys: tuple[str, ...] = ()
    fewer: tuple[str, ...] = ()
    sources: Mapping[Source, frozenset[str]] = field(default_factory=dict)


def forget_memories(store: Store, scope: Scope, ids: Sequence[str]) -> DeletionResult:
    """Delete memories with vectors, postings and cached texts, keeping only keyed hashes.

    Synced files are not edited: their lines are reported, and later syncs skip the passage while its text is the same.
    """
    with store.reader(scope) as reader:
        records = reader.get(ids)
        sources = {source.id: source for source in reader.sources()}
        records |= _versions(reader, records)  # what they said before somebody changed them
        rests = find_dependents(reader, records)
        last = last_status_events(reader, [record.id for record in rests.beside])
    made = records.keys() | rests.gone.keys()
    # What somebody archived by hand, or a run for another reason, stays where they put it.
    freed = {one.id: (one, last[one.id].run) for one in rests.beside if _is_digested(last.get(one.id), made)}
    still = []
    for record in records.values():
        place = record.place
        if place is not None and place.source in sources:
            root = sources[place.source].root
            still.append(f"{root}/{place.path}:{place.line_start}-{place.line_end}")
    gone = tuple(memory for memory in dict.fromkeys(ids) if memory in records)
    told: list[Category] = []
    placed: list[Record] = []
    if gone:
        asked, records = records, {**records, **rests.gone}
        told, placed = _affected_categories(store, scope, records)
        changes: list[Change] = [
            Forget(tuple(records)),
            *_restored(freed.values()),
            *_concepts(store, scope, records),
            *_reread(store, scope, asked, records),
        ]
        store.write(scope, [*changes, *(DropCategory(category.id) for category in told)], durable=True)
    unknown = tuple(memory for memory in dict.fromkeys(ids) if memory not in records)
    derived = tuple(memory for memory in (*records, *rests.gone) if memory not in gone)
    report = ForgetReport(gone, unknown, tuple(still), tuple(dict.fromkeys(derived)), tuple(freed))
    stood: dict[str, set[str]] = {}
    for record in placed:
        if record.place is not None and record.place.source in sources:
            stood.setdefault(record.place.source, set()).add(record.key)
    return DeletionResult(
        report,
        tuple(sorted({category.key for category in told if category.kind == "topic"})),
        tuple(sorted({record.key for record in records.values()})),
        {sources[one]: frozenset(stood[one]) for one in sorted(stood)},
    )


def _versions(reader: Reader, records: Iterable[str]) -> dict[str, Record]:
    events = reader.events(list(records), limit=ALL_EVENTS)
    return reader.get(sorted({one.other for one in events if one.op == "changed" and one.other is not None}))


def _is_digested(last: Event | None, made: Collection[str]) -> bool:
    return last is not None and last.op == "archived" and last.run is not None and last.other in made


def _restored(freed: Iterable[tuple[Record, str | None]]) -> list[Change]:
    """In the name of the run that archived them, which distinguishes them from what a person restores."""
    at, active = now_micros(), LifecycleChange(status="active")
    return [change for one, run in freed for change in status_changes([one], active, "restored", at, run)]


def remaining_title(document: Document, gone: Iterable[Sequence[str]], left: Sequence[Sequence[str]]) -> str:
    """Return a document's title after passages are forgotten: its own, or its file name if the title was forgotten too.

    ``gone`` and ``left`` are the heading paths of the forgotten and of the remaining passages.
    """
    title = document.title
    heading = any(title in one for one in gone) and not any(title in one for one in left)
    return title if left and not heading else PurePosixPath(document.path).name


def _reread(
    store: Store, scope: Scope, records: dict[str, Record], forgotten: Mapping[str, Record]
) -> list[Change]:
    places = {(r.place.source, r.place.path) for r in records.values() if r.place is not None}
    changes: list[Change] = []
    with store.reader(scope) as reader:
        for source, path_ in sorted(places):
            document = reader.documents(source).get(path_)
            if document is None:
                continue
            passages = reader.passages(source, path_)
            gone = [one.heading_path for one in passages if one.id in forgotten]
            left = [one.heading_path for one in passages if one.id not in forgotten]
            titled = replace(document, title=remaining_title(document, gone, left))
            if not document.cursor:
                titled = replace(titled, mtime_ns=0, content_hash=REREAD_HASH)
            if titled != document:
                changes.append(PutDocument(titled))
    return changes


def _concepts(store: Store, scope: Scope, records: dict[str, Record]) -> list[Change]:
    with store.reader(scope) as reader:
        named = {edge.dst for edge in reader.edges(list(records), ["references"])}
        rows = reader.concepts(sorted(named)) if named else []
    keys = {record.key for record in records.values()}  # what one key knows rests on texts of that key alone
    found: list[Change] = []
    for row in rows:
        if row.key in keys and row.kind not in ("given", "refused"):
            with store.reader(scope.seen_with(row.key)) as reader:
                held = reader.edges([row.id], ["references"], inward=True, limit=len(records) + 1)
            if all(edge.src in records for edge in held):
                found.append(DropConcept(row.id, row.key))
    return found


def _affected_categories(
    store: Store, scope: Scope, records: dict[str, Record]
) -> tuple[list[Category], list[Record]]:
    """Return categories that quote deleted memories or become empty, and the memories that had a folder category.

    Folder categories are updated with their source; who forgets another's shared note cannot see that source.
    """
    with store.reader(scope) as reader:
        by_id = {category.id: category for category in reader.categories()}
        homes = [edge for edge in reader.edges(list(records), ["belongs"]) if edge.dst in by_id]
    placed = [records[home.src] for home in homes if by_id[home.dst].kind == "path"]
    trails = [category_path(by_id[home.dst], by_id) for home in homes]
    near = {one.id: depth for trail in trails for depth, one in enumerate(trail)}
    told: dict[str, Category] = {}
    for one in sorted(near, key=lambda one: (-near[one], one)):  # what is below comes first
        category = by_id[one]
        bears = any(other.parent == one and other.id not in told for other in by_id.values())
        empty = category.kind == "path" and not bears and _becomes_empty(store, scope, category, records)
        if empty or _category_quotes(store, scope, category, records.values()):
            told[one] = category
    return list(told.values()), placed


def _becomes_empty(store: Store, scope: Scope, category: Category, records: Collection[str]) -> bool:
    with store.reader(scope.seen_with(category.key)) as reader:
        held = reader.edges([category.id], ["belongs"], inward=True, limit=len(records) + 1)
    return all(edge.src in records for edge in held)


def _category_quotes(store: Store, scope: Scope, category: Category, records: Iterable[Record]) -> bool:
    own = [record for record in records if record.key == category.key]
    words = "\n".join((category.name, category.abstract, category.overview))
    texts = [f"{record.content}\n{record.title}" for record in own]
    titles = [record.title.casefold() for record in own if record.title.strip()]
    if not text_shingles(texts).isdisjoint(text_shingles([words])) or any(
        title in words.casefold() for title in titles
    ):
        return True
    held = {group for text in texts for group in query_groups(text)}
    shared = [group for group in query_groups(words)[:MAX_CATEGORY_WORDS] if group in held]
    with store.reader(scope.seen_with(category.key)) as reader:
        return any(count <= len(own) for count in reader.frequencies(shared))
