"""Deletion: delete memories with what was derived from them, and change or restore statuses.

A derived memory that repeats words of a deleted one is deleted too, and so on upward; its archived sources become
active again, so that consolidation can derive it anew from what is left. One that merely cites the memory loses that
edge. Where a person deletes, what only deleted memories superseded becomes active again. Entities found only in deleted
memories and categories that quote them go as well. A memory in somebody's own words that a deleted one repeats stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Final, TypeVar

from scrubjay.models.dates import now_micros
from scrubjay.models.graph import EDITED_RULE, REPEATED_RULE, Category, Edge, category_path
from scrubjay.models.ids import forgotten_prefix, tombstone_hashes
from scrubjay.models.lifecycle import (
    INJECTION_VERDICTS,
    Event,
    LifecycleChange,
    name_imported,
    versioned_name,
)
from scrubjay.models.records import (
    FORGOTTEN_PREFIX,
    NEVER_INJECT,
    STATUSES,
    Document,
    Record,
    RecordFilter,
    Scope,
    Source,
    note_documents,
)
from scrubjay.models.reports import ForgetReport
from scrubjay.models.results import position
from scrubjay.storage.changes import (
    Change,
    DropCategory,
    DropConcept,
    Forget,
    PutDocument,
    PutEdges,
    PutEvents,
    PutLifecycle,
    PutTombstones,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader, Store, all_records, in_batches, retry_conflicts
from scrubjay.storage.validation import is_unchanged
from scrubjay.text.tokenizer import query_groups

T = TypeVar("T")

STATUS_EVENTS: Final = frozenset(("archived", "restored", "superseded"))
ALL_EVENTS: Final = 2**31
"""More events than any memories have."""
STATUS_BATCH: Final = 1_000
"""Memories of one query."""


def last_status_events(reader: Reader, ids: Sequence[str]) -> dict[str, Event]:
    return last_events(reader, ids, STATUS_EVENTS)


def withheld_ids(reader: Reader, records: Iterable[Record]) -> set[str]:
    """Return the ids of the memories that have the tag `NEVER_INJECT` by feedback and not from their file."""
    tagged = [record.id for record in records if NEVER_INJECT in record.tags]
    last = last_events(reader, tagged, INJECTION_VERDICTS)
    return {memory for memory, event in last.items() if event.op == NEVER_INJECT}


def archived_by_hand(reader: Reader, records: Iterable[Record]) -> set[str]:
    """Return the ids of the archived memories that no run archived."""
    archived = [record.id for record in records if record.status == "archived"]
    last = last_status_events(reader, archived)
    return {memory for memory in archived if memory not in last or last[memory].run is None}


def find_forgotten(
    reader: Reader,
    secret: bytes,
    items: Sequence[T],
    texts_of: Callable[[T], Iterable[str]],
    keys: Sequence[str],
) -> list[bool]:
    """Return, for each item, whether one of its texts was forgotten under one of the visibility keys.

    Tombstone hashes cost as much as the rest of an ingest: a store that has forgotten nothing computes none.
    """

    def hashes(item: T) -> set[str]:
        return {one for text in texts_of(item) for one in tombstone_hashes(secret, text, keys)}

    forgotten = reader.forgotten_hashes(chain.from_iterable(map(hashes, items)))
    return [bool(forgotten) and not forgotten.isdisjoint(hashes(item)) for item in items]


def last_events(reader: Reader, ids: Sequence[str], ops: Collection[str]) -> dict[str, Event]:
    """Return, by memory, its last event of these operations."""
    last: dict[str, Event] = {}
    for batch in in_batches(ids, STATUS_BATCH):
        for event in reader.events(batch, limit=ALL_EVENTS):
            if event.op in ops:
                last.setdefault(event.memory, event)
    return last


def status_changes(
    records: Iterable[Record],
    life: LifecycleChange,
    op: str,
    at: int,
    run: str | None = None,
    actor: str = "",
) -> list[Change]:
    records = list(records)
    events = tuple(Event(one.id, op, at, one.key, run, before=one.status, actor=actor) for one in records)
    return [PutLifecycle({one.id: life for one in records}), PutEvents(events)]


def revert_status_events(events: Iterable[Event], at: int, run: str | None = None) -> list[Change]:
    """Return the changes that revert status events, one of each memory."""
    events = list(events)
    lives = {
        one.memory: LifecycleChange(status=one.before or "active", valid_until=one.count or None)
        if one.op == "superseded"
        else LifecycleChange(status=one.before or "active")
        for one in events
    }
    restored = tuple(Event(one.memory, "restored", at, one.key, run, before=one.op) for one in events)
    return [PutLifecycle(lives), PutEvents(restored)]


def reactivate_superseded(
    reader: Reader, removed: Collection[str], at: int, run: str | None = None
) -> tuple[list[Change], tuple[str, ...]]:
    """Return the changes that make active again what only memories about to be removed superseded, and its ids.

    A memory that superseded a removed one supersedes the older one from now on: "I moved to Berlin" supersedes
    "I live in Porto" even when "I moved to Lisbon" is deleted.
    """
    gone = frozenset(removed)
    replaced: dict[str, Edge] = {}
    for batch in in_batches(sorted(gone), STATUS_BATCH):
        for edge in reader.edges(batch, ["supersedes"]):
            if edge.dst not in gone and edge.rule != EDITED_RULE:  # the text before an edit stays as it is
                replaced.setdefault(edge.dst, edge)
    if not replaced:
        return [], ()
    older = {
        memory: one for memory, one in reader.get(sorted(replaced)).items() if one.status == "superseded"
    }
    later: dict[str, set[str]] = {}
    wave = sorted(older)
    while wave:
        for memory in wave:
            later[memory] = set()
        for edge in reader.edges(wave, ["supersedes"], inward=True):
            later[edge.dst].add(edge.src)
        wave = sorted(set().union(*(later[memory] for memory in wave)).intersection(gone) - later.keys())
    inherited: list[Edge] = []
    for memory in list(older):
        reached, unvisited = {memory}, [memory]
        while unvisited:
            newer_ids = later.get(unvisited.pop(), set()) - reached
            reached |= newer_ids
            unvisited += newer_ids & gone
        if newer := reached - gone - {memory}:
            inherited += [replace(replaced[memory], src=one, at=at) for one in sorted(newer - later[memory])]
            del older[memory]
    changes: list[Change] = [PutEdges(tuple(inherited))] if inherited else []
    if older:
        last = last_events(reader, sorted(older), ("superseded",))
        events = []
        for memory, one in older.items():
            event = last.get(memory, Event(memory, "superseded", at, one.key))
            until = max(event.count, one.valid_from or 0) if event.count else 0
            events.append(replace(event, key=one.key, count=until))
        changes += revert_status_events(events, at, run)
    return changes, tuple(older)


SHINGLE_WORDS: Final = 4
"""Shared words in a row by which a text counts as derived from another."""
_WORD: Final = re.compile(r"\w+")


def _find_dependents(
    reader: Reader, records: Mapping[str, Record], repeated: Mapping[str, Record]
) -> tuple[dict[str, Record], list[Record]]:
    """Return the derived memories that repeat deleted ones, transitively, and archived sources that stay.

    ``repeated`` are those of the deleted ``records`` whose dependents go.
    """
    gone: dict[str, Record] = {}
    derived = [memory for memory, record in records.items() if record.origin == "derived"]
    sources_of_gone = reader.get(sorted({edge.dst for edge in reader.edges(derived, ["derived_from"])}))
    wave = dict(repeated)
    while wave:
        edges = reader.edges(list(wave), ["derived_from"], inward=True)
        upward = reader.get(sorted({edge.src for edge in edges} - gone.keys() - records.keys()))
        next_wave: dict[str, Record] = {}
        for memory, record in upward.items():
            own = record.origin != "derived"
            found = [edge for edge in edges if edge.src == memory and edge.origin == "found"]
            if own and (record.pinned or not _was_made_from(reader, memory, found)):
                continue  # a person linked it, or said it before: it has its own words
            sources = reader.get([edge.dst for edge in reader.edges([memory], ["derived_from"])])
            deleted = {one for one in sources if one in wave or one in gone or one in records}
            left = [sources[one].content for one in sources.keys() - deleted]
            lost = [sources[one].content for one in deleted]
            if (not left and not own) or repeats_deleted(record, lost, left):
                next_wave[memory] = record
                sources_of_gone |= sources
        gone |= next_wave
        wave = next_wave
    stay = sorted(sources_of_gone.keys() - gone.keys() - records.keys())
    return gone, [sources_of_gone[one] for one in stay if sources_of_gone[one].status == "archived"]


def _counts_without(reader: Reader, gone: Mapping[str, Record], at: int) -> Iterator[Event]:
    """Yield events that say of how many sources derived memories are that stay while these go.

    With fewer sources than that a memory would count as out of date, and be withdrawn.
    """
    edges = reader.edges(list(gone), ["derived_from"], inward=True)
    lost: Counter[tuple[str, str | None]] = Counter(
        (edge.src, edge.run) for edge in edges if edge.src not in gone and edge.run is not None
    )
    last = last_events(reader, sorted({memory for memory, _ in lost}), ("derived",))
    for memory, event in last.items():
        if number := lost[memory, event.run]:
            yield replace(event, at=at, count=max(event.count - number, 0))


def _was_made_from(reader: Reader, memory: str, edges: Iterable[Edge]) -> bool:
    """Return whether a memory was made from one of its sources; the others repeat it."""
    events = reader.events([memory], limit=ALL_EVENTS)
    runs = {None} | {event.run for event in events if event.op == "derived"}
    return any(edge.rule != REPEATED_RULE and edge.run in runs for edge in edges)


def repeats_deleted(record: Record, deleted: Sequence[str], left: Iterable[str]) -> bool:
    """Return whether a memory has words in a row that only deleted sources have."""
    left_shingles, lost = _shingles(left), _shingles(deleted)
    own = f"{record.title} {record.content}"
    if not left_shingles.issuperset(_shingles([own]) & lost):
        return True
    short = {" ".join(words) for words in lost - left_shingles if len(words) < SHINGLE_WORDS}
    plain = f" {' '.join(_WORD.findall(own.casefold()))} "
    return any(words and f" {words} " in plain for words in short)


def _shingles(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """Return every run of `SHINGLE_WORDS` words of the texts; a shorter text is one run."""
    shingles = set()
    for text in texts:
        words = _WORD.findall(text.casefold())
        for at in range(max(1, len(words) - SHINGLE_WORDS + 1)):
            shingles.add(tuple(words[at : at + SHINGLE_WORDS]))
    return shingles


ORPHAN_BATCH: Final = 1_000


def find_orphans(reader: Reader, source: str) -> set[str]:
    """Return the ids of the memories whose only evidence is a source, as the reader sees it."""
    orphans: set[str] = set()
    lost = {record.id for record in all_records(reader, RecordFilter(sources=(source,), statuses=STATUSES))}
    wave = sorted(lost)
    while wave:
        derived: set[str] = set()
        for batch in in_batches(wave, ORPHAN_BATCH):
            edges = reader.edges(batch, ["derived_from"], inward=True)
            derived |= {edge.src for edge in edges}
        wave = sorted(_without_evidence(reader, sorted(derived - lost), lost))
        orphans |= set(wave)
        lost |= set(wave)
    return orphans


def _without_evidence(reader: Reader, derived: Sequence[str], lost: set[str]) -> Iterator[str]:
    for batch in in_batches(derived, ORPHAN_BATCH):
        records = reader.get(batch)
        own = [
            memory
            for memory, one in records.items()
            if one.origin == "derived" and one.place is None and not one.pinned
        ]
        supported = {edge.src for edge in reader.edges(own, ["derived_from"]) if edge.dst not in lost}
        yield from (memory for memory in own if memory not in supported)


MAX_CATEGORY_WORDS: Final = 400
"""Words of one category that are looked up."""


@dataclass(frozen=True, slots=True)
class DeletionResult:
    """Result of a deletion.

    Attributes:
        topic_keys: Visibility keys that lost a topic.
        keys: Visibility keys that lost a memory.
        sources: The caller's sources that lost categorised passages, with their visibility keys.
    """

    report: ForgetReport
    topic_keys: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    sources: Mapping[Source, frozenset[str]] = field(default_factory=dict)


def earlier_versions(reader: Reader, ids: Sequence[str]) -> list[str]:
    """Return the ids of the memories that keep what these said before they were amended."""
    events = reader.events(ids, limit=ALL_EVENTS)
    return sorted({event.other for event in events if event.op == "changed" and event.other is not None})


def forget_memories(
    store: Store,
    scope: Scope,
    ids: Sequence[str],
    *,
    reactivate: bool = False,
    dependents: bool = True,
    unchanged: Mapping[str, Record] | None = None,
) -> DeletionResult:
    """Delete memories with vectors, postings and cached texts, keeping only keyed hashes.

    With ``reactivate``, what only they superseded becomes active again. With ``dependents``, what repeats them and was
    derived from them is deleted, too. Those of ``unchanged`` are only deleted if they are as they were read. Synced
    files are not edited: their lines are reported, and later syncs skip the passage while its text is the same.
    """
    expected = unchanged or {}
    return retry_conflicts(
        lambda: _forget_memories(
            store, scope, ids, reactivate=reactivate, dependents=dependents, expected=expected
        )
    )


def _forget_memories(
    store: Store,
    scope: Scope,
    ids: Sequence[str],
    *,
    reactivate: bool,
    dependents: bool,
    expected: Mapping[str, Record],
) -> DeletionResult:
    with store.reader(scope) as reader:
        stored = reader.get(ids)
        changed = {
            memory
            for memory, record in expected.items()
            if memory in stored and not is_unchanged(record, stored[memory])
        }
        ids = [memory for memory in ids if memory not in changed]
        requested = {memory: record for memory, record in stored.items() if memory not in changed}
        gone = tuple(memory for memory in dict.fromkeys(ids) if memory in requested)
        unknown = tuple(memory for memory in dict.fromkeys(ids) if memory not in requested)
        if not gone:
            if unknown:  # one may be of a passage whose file is away
                store.write(scope, [Forget(unknown)], durable=True)
            return DeletionResult(ForgetReport((), unknown, ()))
        sources = {source.id: source for source in reader.sources()}
        requested |= reader.get(earlier_versions(reader, list(requested)))
        derived_records, archived = _find_dependents(reader, requested, requested if dependents else {})
        records = {**requested, **derived_records}
        now = now_micros()
        restored = _sources_to_restore(reader, archived, records)
        reactivation, reactivated = reactivate_superseded(reader, records if reactivate else (), now)
        categories, in_folders = _affected_categories(store, scope, reader, records)
        unchanged = {**records, **{record.id: record for record, _ in restored}, **reader.get(reactivated)}
        changes = [
            RequireUnchanged(unchanged),
            Forget((*records, *unknown)),
            # With the run that archived them, which distinguishes this from a restore by a person.
            *(
                change
                for record, run in restored
                for change in status_changes([record], LifecycleChange(status="active"), "restored", now, run)
            ),
            *reactivation,
            *_entity_changes(store, scope, reader, records),
            *([] if dependents else [PutEvents(tuple(_counts_without(reader, requested, now)))]),
            *_reread_changes(reader, requested.values(), records),
            *(DropCategory(category.id) for category in categories),
            PutTombstones(tuple(_forgotten_names(store.secret(scope), reader, records))),
        ]
    store.write(scope, changes, durable=True)
    places = []
    for record in requested.values():
        place = record.place
        if place is not None and place.source in sources:
            root = sources[place.source].root
            places.append(f"{root}/{place.path}{position(record)}")
    source_keys: dict[str, set[str]] = {}
    for record in in_folders:
        if record.place is not None and record.place.source in sources:
            source_keys.setdefault(record.place.source, set()).add(record.key)
    derived = tuple(memory for memory in records if memory not in gone)
    return DeletionResult(
        ForgetReport(
            gone, unknown, tuple(places), derived, tuple(one.id for one, _ in restored), reactivated
        ),
        tuple(sorted({category.key for category in categories if category.kind == "topic"})),
        tuple(sorted({record.key for record in records.values()})),
        {sources[one]: frozenset(source_keys[one]) for one in sorted(source_keys)},
    )


def _forgotten_names(secret: bytes, reader: Reader, records: Mapping[str, Record]) -> Iterator[str]:
    """Yield tombstones that name the memories, here and in the stores whose exports they were in."""
    prefixes = {key: forgotten_prefix(secret, key) for key in {record.key for record in records.values()}}
    for memory, record in records.items():
        yield prefixes[record.key] + versioned_name(memory, record.updated_at)
    for event in reader.events(list(records), limit=ALL_EVENTS):
        if event.op == "imported" and event.run is not None:
            record = records[event.memory]
            yield prefixes[record.key] + name_imported(event, record.updated_at)


def _sources_to_restore(
    reader: Reader, archived: Sequence[Record], deleted: Collection[str]
) -> list[tuple[Record, str]]:
    """Return the sources that a run archived because of a deleted digest, with that run."""
    last = last_status_events(reader, [record.id for record in archived])
    restorable = []
    for record in archived:
        event = last.get(record.id)
        # A source that a person archived, or a run for another reason, stays archived.
        if event is not None and event.op == "archived" and event.run is not None and event.other in deleted:
            restorable.append((record, event.run))
    return restorable


def remaining_title(document: Document, gone: Iterable[Sequence[str]], left: Sequence[Sequence[str]]) -> str:
    """Return a document's title after passages are forgotten: its own, or its file name if the title was forgotten too.

    ``gone`` and ``left`` are the heading paths of the forgotten and of the remaining passages.
    """
    title = document.title
    heading = any(title in one for one in gone) and not any(title in one for one in left)
    return title if left and not heading else PurePosixPath(document.path).name


def _reread_changes(
    reader: Reader, requested: Iterable[Record], records: Collection[str]
) -> Iterator[PutDocument]:
    """Make the next sync read the memories' files again; remove forgotten titles at once."""
    places = {(record.place.source, record.place.path) for record in requested if record.place is not None}
    for source, path in sorted(places):
        document = reader.documents(source).get(path)
        if document is None:
            continue
        passages = reader.passages(source, path)
        gone = [one.heading_path for one in passages if one.id in records]
        left = [one.heading_path for one in passages if one.id not in records]
        changed = replace(document, title=remaining_title(document, gone, left))
        if not document.cursor:  # a transcript is only read on from its cursor
            changed = changed.to_reread()
        if gone and note_documents({path: document}) and not document.refused_group:
            changed = changed.with_extractor(f"{FORGOTTEN_PREFIX}{document.forgotten + len(gone)}")
        if changed != document:
            yield PutDocument(changed)


def _entity_changes(
    store: Store, scope: Scope, reader: Reader, records: Mapping[str, Record]
) -> Iterator[DropConcept]:
    referenced = {edge.dst for edge in reader.edges(list(records), ["references"])}
    rows = reader.concepts(sorted(referenced)) if referenced else []
    keys = {record.key for record in records.values()}  # an entity of a key rests on texts of that key alone
    for row in rows:
        if row.key in keys and row.kind not in ("given", "refused"):
            with store.reader(scope.seen_with(row.key)) as viewers:
                references = viewers.edges([row.id], ["references"], inward=True, limit=len(records) + 1)
            if all(edge.src in records for edge in references):
                yield DropConcept(row.id, row.key, (row,))


def _affected_categories(
    store: Store, scope: Scope, reader: Reader, records: Mapping[str, Record]
) -> tuple[list[Category], list[Record]]:
    """Return categories that quote deleted memories or become empty, and the memories that had a folder category.

    Folder categories are updated with their source, which a user who forgets another's shared note cannot see.
    """
    by_id = {category.id: category for category in reader.categories()}
    memberships = [edge for edge in reader.edges(list(records), ["belongs"]) if edge.dst in by_id]
    in_folders = [records[home.src] for home in memberships if by_id[home.dst].kind == "path"]
    paths = [category_path(by_id[home.dst], by_id) for home in memberships]
    depths = {one.id: depth for path in paths for depth, one in enumerate(path)}
    affected: dict[str, Category] = {}
    for one in sorted(depths, key=lambda one: (-depths[one], one)):  # children first
        category = by_id[one]
        with store.reader(scope.seen_with(category.key)) as viewers:
            has_child = any(other.parent == one and other.id not in affected for other in by_id.values())
            empty = category.kind == "path" and not has_child
            if empty:
                members = viewers.edges([one], ["belongs"], inward=True, limit=len(records) + 1)
                empty = all(edge.src in records for edge in members)
            if empty or _quotes_deleted(viewers, category, records.values()):
                affected[one] = category
    return list(affected.values()), in_folders


def _quotes_deleted(viewers: Reader, category: Category, records: Iterable[Record]) -> bool:
    """Return whether a category's words come from deleted memories of its key."""
    own = [record for record in records if record.key == category.key]
    words = "\n".join((category.name, category.abstract, category.overview))
    texts = [f"{record.content}\n{record.title}" for record in own]
    titles = [record.title.casefold() for record in own if record.title.strip()]
    if any(title in words.casefold() for title in titles) or _shingles(texts) & _shingles([words]):
        return True
    groups = {group for text in texts for group in query_groups(text)}
    shared = [group for group in query_groups(words)[:MAX_CATEGORY_WORDS] if group in groups]
    return any(count <= len(own) for count in viewers.frequencies(shared))
