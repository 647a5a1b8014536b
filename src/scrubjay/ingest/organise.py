"""Organise: all memories of one key -> its topics, found anew; what stood before keeps its id and name.

New memories are put under standing topics as they are written (`shelve`), which renames nothing. All of it is
found anew whenever the memories of a key have doubled, so the cost of it, spread over what was written, stays
the same however many there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.concepts.common import COMMON
from scrubjay.ingest.directions import directions
from scrubjay.ingest.leaves import gather
from scrubjay.ingest.shelve import DIGITS, Shelves
from scrubjay.ingest.topics.build import build
from scrubjay.ingest.topics.leaf import Known, Topic
from scrubjay.ingest.worth import worth
from scrubjay.memory.categories import Category
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import category_id
from scrubjay.memory.records import Record
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Change, DropCategory, DropEdges, PutCategory, PutEdges

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

FEWEST: Final = 16
"""Memories of a key below which nobody needs topics to find their way."""
SAMPLE: Final = 2_000
"""Memories from which topics are found, the first by the hash of their ids; the others join them."""
PAGE: Final = 1_000


def held(store: Store, scope: Scope, key: str) -> int:
    """Return how many memories of one key there are."""
    with store.reader(scope) as reader:
        return reader.amount(key)


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


def behind(store: Store, scope: Scope, key: str, finer: Sequence[Embedder], *, none: bool = True) -> bool:
    """Return whether the topics of a key were found without any of the finer models, ``none`` where there are none yet.

    What put a memory into a topic is noted with it. Those that came later joined by the base model, so it is
    enough that one of all topics' nearest members was put there by a finer one.
    """
    with store.reader(scope.seen_with(key)) as reader:
        topics = [c.id for c in reader.categories() if c.key == key and c.kind == "topic" and c.centroid]
        if not topics:
            return none
        nearest = reader.edges(topics, ["belongs"], inward=True, limit=1)
    return {edge.rule for edge in nearest}.isdisjoint(_rule(embedder.model.name) for embedder in finer)


def _rule(model: str) -> str:
    """Return what is noted with a member of a topic that was found by a finer model; empty for the base model."""
    return f"topic, {model}" if model else "topic"


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
        stands = reader.edges([r.id for r in chosen], ["belongs"]) if old else []  # else nobody belongs
        found: Sequence[Topic] = ()
        model = ""
        if len(chosen) >= FEWEST:
            told = gather(reader, chosen, base.model, [embedder.model for embedder in finer])
            found = build(told.leaves, told.vectors, _known(old, stands), finer=told.finer, plain=COMMON)
            model = told.model
    made, homes = _categories(store.secret(scope), key, base.model.fingerprint, found, (at, built))
    edges = [
        Edge(member, "belongs", home, key, round(weight, DIGITS), at, rule=_rule(model))
        for home, members in homes.items()
        for member, weight in members
    ]
    topics = {c.id for c in old} | set(made)
    store.write(scope, [*map(PutCategory, made.values()), *_moves(topics, stands, edges)])
    if old or len(chosen) == SAMPLE or held(store, scope, key) != built:
        shelves = Shelves([made[topic] for topic in homes], [len(members) for members in homes.values()])
        placed = {record.id for record in chosen}
        _reshelve(store, scope, key, base, (shelves, placed, topics if old else set(), at))
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


def _known(old: Sequence[Category], stands: Sequence[Edge]) -> list[Known]:
    by_id = {category.id: category for category in old}
    members: dict[str, set[str]] = defaultdict(set)
    for edge in stands:
        if edge.dst in by_id:
            members[edge.dst].add(edge.src)
    themes = {category.parent for category in old if category.parent in by_id}
    for category in old:
        if category.parent in by_id:
            members[category.parent or ""] |= members[category.id]
    return [Known(c.id, c.name, frozenset(members[c.id]), c.id in themes) for c in old if members[c.id]]


def _categories(
    secret: bytes, key: str, fingerprint: str, topics: Sequence[Topic], when: tuple[int, int]
) -> tuple[dict[str, Category], dict[str, list[tuple[str, float]]]]:
    """Return topics as categories by id, and the members with their weights of those that hold memories.

    Two that are born with one name in one key are one.
    """
    import numpy as np

    at, built = when
    ids = {t.name: t.id or category_id(secret, (key, "topic", "", t.name)) for t in topics}
    made: dict[str, Category] = {}
    homes: dict[str, list[tuple[str, float]]] = {}
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
            homes[identity] = list(zip(topic.members, topic.weights, strict=True))
    return made, homes


def _reshelve(
    store: Store,
    scope: Scope,
    key: str,
    base: Embedder,
    known: tuple[Shelves, Set[str], Set[str], int],
) -> None:
    """Put every memory of a key but those that are placed under the topic it is nearest to."""
    shelves, placed, topics, at = known
    after = ""
    while True:
        with store.reader(scope.seen_with(key)) as reader:
            page = reader.page(after, PAGE)
            if not page:
                return
            after = page[-1].id
            own = [r for r in page if r.key == key and r.id not in placed]
            wanted = [r for r in own if r.status == "active" and worth(r)]
            codes = reader.vectors(base.model.fingerprint, [r.id for r in wanted])
            rows = directions([codes.get(r.id) for r in wanted], base.model.dimensions)
            stands = reader.edges([r.id for r in own], ["belongs"]) if topics else []
        changes = _moves(topics, stands, shelves.edges(wanted, rows, at))
        if changes:
            store.write(scope, changes)


def _moves(topics: Set[str], stands: Sequence[Edge], edges: Sequence[Edge]) -> list[Change]:
    """Return what makes the members of topics right; an edge that is right stays."""
    was = {(e.src, e.dst): (e.weight, e.rule) for e in stands if e.dst in topics and e.origin == "found"}
    new = {(edge.src, edge.dst): edge for edge in edges}
    gone = tuple((src, "belongs", dst) for src, dst in was if (src, dst) not in new)
    fresh = tuple(edge for pair, edge in new.items() if was.get(pair) != (edge.weight, edge.rule))
    changes: list[Change] = [DropEdges(gone)] if gone else []
    return [*changes, PutEdges(fresh)] if fresh else changes
