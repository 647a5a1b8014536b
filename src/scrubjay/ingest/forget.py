"""Forget: ids -> gone for good, with what would still tell of them, and where the words still stand.

What was made from forgotten texts and says what they said goes with them (`resting`), and so does a concept that was
found in them alone. So does a category whose name or digest says what they said: its key, or its source, is told
to the caller, to be sorted anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final

from scrubjay.ingest.resting import resting, said
from scrubjay.ingest.turned import EVERY, turned, turning
from scrubjay.memory.categories import Category
from scrubjay.memory.dates import now_micros
from scrubjay.memory.events import Event
from scrubjay.memory.life import Life
from scrubjay.memory.records import Document, Record, Source
from scrubjay.memory.reports import Forgotten
from scrubjay.memory.scope import Scope
from scrubjay.memory.tree import path
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Change, DropCategory, DropConcept, Forget, PutDocument
from scrubjay.text.tokens import groups

MOST_WORDS: Final = 400
"""Words of one category that are looked up: its digest has 150."""
AGAIN: Final = "to be read again"
"""Stands for the hash of a file whose passages are fewer than what it holds."""


@dataclass(frozen=True, slots=True)
class Gone:
    """What forgetting did.

    Attributes:
        report: For who asked.
        keys: Visibility keys whose topics lost one that told of what is forgotten.
        fewer: Visibility keys that hold fewer memories now.
        sources: The caller's sources in whose places something stood, with its visibility keys.
    """

    report: Forgotten
    keys: tuple[str, ...] = ()
    fewer: tuple[str, ...] = ()
    sources: Mapping[Source, frozenset[str]] = field(default_factory=dict)


def forget(store: Store, scope: Scope, ids: Sequence[str]) -> Gone:
    """Remove memories with their vectors, postings and cached texts, and keep only keyed hashes.

    A synced file is not edited: its lines are named, and the next sync leaves the passage out as long as
    its text stays the same.
    """
    with store.reader(scope) as reader:
        records = reader.get(ids)
        sources = {source.id: source for source in reader.sources()}
        records |= _versions(reader, records)  # what they said before somebody changed them
        rests = resting(reader, records)
        last = turned(reader, [record.id for record in rests.beside])
    made = records.keys() | rests.gone.keys()
    # What somebody archived by hand, or a run for another reason, stays where they put it.
    freed = {one.id: (one, last[one.id].run) for one in rests.beside if _told(last.get(one.id), made)}
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
        told, placed = _telling(store, scope, records)
        changes: list[Change] = [
            Forget(tuple(records)),
            *_restored(freed.values()),
            *_concepts(store, scope, records),
            *_reread(store, scope, asked, records),
        ]
        store.write(scope, [*changes, *(DropCategory(category.id) for category in told)], durable=True)
    unknown = tuple(memory for memory in dict.fromkeys(ids) if memory not in records)
    derived = tuple(memory for memory in (*records, *rests.gone) if memory not in gone)
    report = Forgotten(gone, unknown, tuple(still), tuple(dict.fromkeys(derived)), tuple(freed))
    stood: dict[str, set[str]] = {}
    for record in placed:
        if record.place is not None and record.place.source in sources:
            stood.setdefault(record.place.source, set()).add(record.key)
    return Gone(
        report,
        tuple(sorted({category.key for category in told if category.kind == "topic"})),
        tuple(sorted({record.key for record in records.values()})),
        {sources[one]: frozenset(stood[one]) for one in sorted(stood)},
    )


def _versions(reader: Reader, records: Iterable[str]) -> dict[str, Record]:
    """Return the memories that keep the texts which these had before."""
    events = reader.events(list(records), limit=EVERY)
    return reader.get(sorted({one.other for one in events if one.op == "changed" and one.other is not None}))


def _told(last: Event | None, made: Collection[str]) -> bool:
    """Tell whether a memory is archived because one of these tells what it says."""
    return last is not None and last.op == "archived" and last.run is not None and last.other in made


def _restored(freed: Iterable[tuple[Record, str | None]]) -> list[Change]:
    """Return what makes the other sources of what goes active again, in the name of the run that archived them.

    So they are known from what a person restores, which no night archives again.
    """
    at, active = now_micros(), Life(status="active")
    return [change for one, run in freed for change in turning([one], active, "restored", at, run)]


def title_left(document: Document, gone: Iterable[Sequence[str]], left: Sequence[Sequence[str]]) -> str:
    """Return the title that a document keeps when passages of it are forgotten: its own, or the name of its file.

    A title goes with the last passage, and a heading with the last passage that stands below it.

    Args:
        document: The document.
        gone: Headings above each passage that is forgotten.
        left: Headings above each that stays.
    """
    title = document.title
    heading = any(title in one for one in gone) and not any(title in one for one in left)
    return title if left and not heading else PurePosixPath(document.path).name


def _reread(
    store: Store, scope: Scope, records: dict[str, Record], forgotten: Mapping[str, Record]
) -> list[Change]:
    """Return what makes the next sync read these memories' files again and say that it leaves them out.

    Titles that no other passage has go at once. A transcript is read on from its cursor alone.

    Args:
        store: Where.
        scope: For whom.
        records: The memories.
        forgotten: All that are forgotten with them.
    """
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
            titled = replace(document, title=title_left(document, gone, left))
            if not document.cursor:
                titled = replace(titled, mtime_ns=0, content_hash=AGAIN)
            if titled != document:
                changes.append(PutDocument(titled))
    return changes


def _concepts(store: Store, scope: Scope, records: dict[str, Record]) -> list[Change]:
    """Return what takes out the concepts that nobody gave and that no other memory refers to, key by key."""
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


def _telling(store: Store, scope: Scope, records: dict[str, Record]) -> tuple[list[Category], list[Record]]:
    """Return the categories around memories that say what they said or hold nothing else, and who has a place.

    Those are the categories that hold any of them, or stand above one that does. Their own source brings places in
    step; but who forgets what somebody else shared cannot see that source, and leaves no empty places behind.
    """
    with store.reader(scope) as reader:
        by_id = {category.id: category for category in reader.categories()}
        homes = [edge for edge in reader.edges(list(records), ["belongs"]) if edge.dst in by_id]
    placed = [records[home.src] for home in homes if by_id[home.dst].kind == "path"]
    trails = [path(by_id[home.dst], by_id) for home in homes]
    near = {one.id: depth for trail in trails for depth, one in enumerate(trail)}
    told: dict[str, Category] = {}
    for one in sorted(near, key=lambda one: (-near[one], one)):  # what is below comes first
        category = by_id[one]
        bears = any(other.parent == one and other.id not in told for other in by_id.values())
        empty = category.kind == "path" and not bears and _emptied(store, scope, category, records)
        if empty or _tells(store, scope, category, records.values()):
            told[one] = category
    return list(told.values()), placed


def _emptied(store: Store, scope: Scope, category: Category, records: Collection[str]) -> bool:
    """Tell whether none but these memories belongs to a category."""
    with store.reader(scope.seen_with(category.key)) as reader:
        held = reader.edges([category.id], ["belongs"], inward=True, limit=len(records) + 1)
    return all(edge.src in records for edge in held)


def _tells(store: Store, scope: Scope, category: Category, records: Iterable[Record]) -> bool:
    """Tell whether a category's words are in part those of memories of its key that are to be forgotten."""
    own = [record for record in records if record.key == category.key]
    words = "\n".join((category.name, category.abstract, category.overview))
    texts = [f"{record.content}\n{record.title}" for record in own]
    titles = [record.title.casefold() for record in own if record.title.strip()]
    if not said(texts).isdisjoint(said([words])) or any(title in words.casefold() for title in titles):
        return True
    held = {group for text in texts for group in groups(text)}
    shared = [group for group in groups(words)[:MOST_WORDS] if group in held]
    with store.reader(scope.seen_with(category.key)) as reader:
        return any(count <= len(own) for count in reader.frequencies(shared))
