"""Organise: all memories of one key -> its topics, found anew; what stood before keeps its id and name.

New memories are put under standing topics as they are written (`shelve`), which renames nothing. All of it is
found anew whenever the memories of a key have doubled, so the cost of it, spread over what was written, stays
the same however many there are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.shelve import Shelves, directions, unit_rows
from scrubjay.ingest.topics.build import build
from scrubjay.ingest.topics.leaf import Known, Leaf, Topic
from scrubjay.ingest.worth import worth
from scrubjay.memory.categories import Category
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import category_id
from scrubjay.memory.records import Record
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Change, DropCategory, DropEdges, PutCategory, PutEdges
from scrubjay.text.languages import language
from scrubjay.text.tokens import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.providers.embedders.port import Embedder

FEWEST: Final = 16
"""Memories of a key below which nobody needs topics to find their way."""
SAMPLE: Final = 2_000
"""Memories from which topics are found, the first by the hash of their ids; the others join them."""
PAGE: Final = 1_000


def held(store: Store, scope: Scope, key: str) -> int:
    """Return how many memories of one key there are."""
    viewers = scope.seen_with(key)
    alone = Scope(viewers.tenant, viewers.user, viewers.groups if key.startswith("group:") else ())
    with store.reader(alone) as reader:
        count = reader.counts().memories
    if key == "public":
        return count
    with store.reader(Scope(scope.tenant, "")) as reader:
        return count - reader.counts().memories


def due(store: Store, scope: Scope, key: str, base: Embedder, written: int, *, patient: bool = True) -> bool:
    """Return whether the topics of a key must be found anew.

    They must when its memories have doubled since, or when they are half as many; where none were found yet,
    when there are 16 and the number has passed a power of two.

    Args:
        store: Where.
        scope: Who writes.
        key: The key.
        base: The base model; topics that were found with another are found anew.
        written: Memories of the key that were just written, of them those that were there before included.
        patient: Where none were found yet, look whenever something was written: a call before may have been
            cut short.
    """
    now = held(store, scope, key)
    with store.reader(scope.seen_with(key)) as reader:
        topics = [c for c in reader.categories() if c.key == key and c.kind == "topic"]
    if any(topic.model not in ("", base.model.fingerprint) for topic in topics):
        return True
    built = max((topic.built for topic in topics), default=0)
    if built:
        return now >= 2 * built or 2 * now <= built
    grown = written > 0 if patient else max(0, now - written).bit_length() < now.bit_length()
    return now >= FEWEST and grown


def organise(store: Store, scope: Scope, key: str, base: Embedder, finer: Sequence[Embedder] = ()) -> int:
    """Find the topics of one key anew and put every memory of it under its own.

    Memories that topics were found from stay where they were found; the others join the nearest. Nothing that
    another process adds meanwhile is taken away: only what stood at the beginning is replaced.

    Args:
        store: Where.
        scope: Who writes.
        key: The key.
        base: The base model: memories join topics by it, now and as they are written.
        finer: Models that are filled in behind. Topics are found with the first that covers every memory they
            are found from, else with the base model.

    Returns:
        How many topics there are now, themes included.
    """
    at = now_micros()
    built = held(store, scope, key)
    with store.reader(scope.seen_with(key)) as reader:
        old = [c for c in reader.categories() if c.key == key and c.kind == "topic"]
        chosen = list(islice(_wordy(reader, key), SAMPLE))
        found: Sequence[Topic] = ()
        if len(chosen) >= FEWEST:
            rows = _vectors(reader, chosen, base)
            assert rows is not None
            best = next(
                (v for model in finer if (v := _vectors(reader, chosen, model, whole=True)) is not None), rows
            )
            found = build(_leaves(chosen), best, _known(reader, chosen, old))
            if best is not rows:
                found = _in_space(found, {record.id: row for row, record in enumerate(chosen)}, rows)
    made, sizes = _categories(store.secret(scope), key, base.model.fingerprint, found, (at, built))
    store.write(scope, [PutCategory(category) for category in made.values()])
    ids = {category.name: category.id for category in made.values()}
    placed = {
        memory: (ids[topic.name], round(weight, 6))
        for topic in found
        for memory, weight in zip(topic.members, topic.weights, strict=True)
    }
    shelves = Shelves([made[topic] for topic in sizes], list(sizes.values()))
    topics = {c.id for c in old} | set(made) if old else set()  # where none were, nothing belongs to one
    _reshelve(store, scope, key, base, (shelves, placed, topics, at))
    gone = [c.id for c in old if c.id not in made]
    if gone:
        store.write(scope, [DropCategory(category) for category in gone])
    return len(made)


def _wordy(reader: Reader, key: str) -> Iterator[Record]:
    """Yield a key's active memories that have words enough, in the order of their ids' hashes."""
    after = ""
    while page := reader.page(after, PAGE):
        after = page[-1].id
        for record in page:
            if record.key == key and record.status == "active" and worth(record):
                yield record


_UNREAD: Final = re.compile(r"<!--.*?-->|(?<=\])\([^()\s]*\)|\b[a-z]{2,9}://\S+|<[^<>\n]{1,200}>", re.DOTALL)
"""Comments, targets of links, addresses, tags: what no topic is called after."""


def _leaves(records: Sequence[Record]) -> list[Leaf]:
    leaves = []
    for record in records:
        # An overview is plain text already; of a short memory, marks that are not read are taken out here.
        text = record.overview or _UNREAD.sub(" ", record.content)
        tongue = language(text)
        leaves.append(Leaf(record.id, record.title, text, terms(text, tongue).counts, tongue))
    return leaves


def _vectors(
    reader: Reader, records: Sequence[Record], model: Embedder, *, whole: bool = False
) -> NDArray[np.float32] | None:
    """Return memories' directions by a model; None when all must have one and do not, or nobody knows the model."""
    if whole and reader.coverage(model.model.fingerprint).covered < len(records):
        return None
    codes = reader.vectors(model.model.fingerprint, [record.id for record in records])
    if whole and len(codes) < len(records):
        return None
    return directions([codes.get(record.id) for record in records], model.model.dimensions)


def _in_space(topics: Sequence[Topic], place: Mapping[str, int], rows: NDArray[np.float32]) -> list[Topic]:
    """Return topics with the middle of their members by another model's vectors."""
    return [
        replace(topic, centroid=unit_rows(rows[[place[m] for m in topic.members]].sum(0, keepdims=True))[0])
        if topic.members
        else topic
        for topic in topics
    ]


def _known(reader: Reader, records: Sequence[Record], old: Sequence[Category]) -> list[Known]:
    by_id = {category.id: category for category in old}
    members: dict[str, set[str]] = defaultdict(set)
    for edge in reader.edges([record.id for record in records], ["belongs"]):
        if edge.dst in by_id:
            members[edge.dst].add(edge.src)
    themes = {category.parent for category in old if category.parent in by_id}
    for category in old:
        if category.parent in by_id:
            members[category.parent or ""] |= members[category.id]
    return [Known(c.id, c.name, frozenset(members[c.id]), c.id in themes) for c in old if members[c.id]]


def _categories(
    secret: bytes, key: str, fingerprint: str, topics: Sequence[Topic], when: tuple[int, int]
) -> tuple[dict[str, Category], dict[str, int]]:
    """Return topics as categories by id, and how many members those have that hold memories themselves.

    Two that are born with one name in one key are one.
    """
    import numpy as np

    at, built = when
    ids = {t.name: t.id or category_id(secret, (key, "topic", "", t.name)) for t in topics}
    made: dict[str, Category] = {}
    sizes: dict[str, int] = {}
    for topic in topics:
        peak = float(np.abs(topic.centroid).max()) or 1.0
        codes = np.rint(topic.centroid * (127.0 / peak)).astype(np.int8).tobytes() if topic.members else b""
        parent = ids[topic.parent] if topic.parent is not None else None
        identity = ids[topic.name]
        made[identity] = Category(
            identity, key, "topic", topic.name, parent, topic.abstract, topic.overview,
            fingerprint if codes else "", codes, at, built,
        )  # fmt: skip
        if topic.members:
            sizes[identity] = len(topic.members)
    return made, sizes


def _reshelve(
    store: Store,
    scope: Scope,
    key: str,
    base: Embedder,
    known: tuple[Shelves, Mapping[str, tuple[str, float]], set[str], int],
) -> None:
    """Put every memory of a key under its topic; an edge that stays right stays."""
    shelves, placed, topics, at = known
    after = ""
    while True:
        with store.reader(scope.seen_with(key)) as reader:
            page = reader.page(after, PAGE)
            if not page:
                return
            after = page[-1].id
            own = [r for r in page if r.key == key]
            wanted = [r for r in own if r.status == "active" and worth(r)]
            joining = [r for r in wanted if r.id not in placed]
            codes = reader.vectors(base.model.fingerprint, [r.id for r in joining])
            edges = shelves.edges(
                joining, directions([codes.get(r.id) for r in joining], base.model.dimensions), at
            )
            edges += [
                Edge(r.id, "belongs", placed[r.id][0], key, min(placed[r.id][1], 1.0), at, rule="topic")
                for r in wanted
                if r.id in placed
            ]
            members = reader.edges([r.id for r in own], ["belongs"]) if topics else []
            stands = {(e.src, e.dst): e for e in members if e.dst in topics and e.origin == "found"}
        new = {(edge.src, edge.dst): edge for edge in edges}
        gone = tuple((src, "belongs", dst) for src, dst in stands if (src, dst) not in new)
        fresh = tuple(
            edge for pair, edge in new.items() if pair not in stands or stands[pair].weight != edge.weight
        )
        changes: list[Change] = [DropEdges(gone)] if gone else []
        if fresh:
            changes.append(PutEdges(fresh))
        if changes:
            store.write(scope, changes)
