"""Reshape: a concept -> the same under another name, as part of another, or taken out, with what refers to it.

A person's edit holds for every row that they see: those who share a concept share the dictionary. Rows are
written before edges are moved and dropped after, in transactions of bounded size, so that wherever it is
stopped every memory refers to one of the two, and the same call does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scrubjay.errors import InputError
from scrubjay.ingest.dictionary import check, tidy
from scrubjay.ingest.lexicon import Lexicons, lexicon
from scrubjay.ingest.lookback import look_back
from scrubjay.memory.concepts import Concept, united
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import Edge
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Change, DropConcept, DropEdges, PutConcept, PutEdges

AT_ONCE: Final = 1_000
"""Memories whose edges are moved in one transaction: two edges each, as many again where keys are several."""


def merge(store: Store, scope: Scope, one: str, into: str) -> None:
    """Make one concept part of another: its names mean the other, and what referred to it refers to the other.

    Args:
        store: Where.
        scope: Who says so.
        one: Id of the concept that ends.
        into: Id of the concept that it was all along.
    """
    now = now_micros()
    with store.reader(scope) as reader:
        rows = reader.concepts([one, into])
    ended = [row for row in rows if row.id == one and row.kind != "refused"]
    store.write(scope, [PutConcept(_grown(row, into, rows, scope, now)) for row in ended])
    moved = _edges(store, scope, one)
    there = {(edge.src, edge.key): edge for edge in _edges(store, scope, into)}
    memories: dict[str, list[Edge]] = {}
    for edge in moved:
        old = there.get((edge.src, edge.key))
        # The mentions of both names together: 1/2 and 3/4 are one and two, three are 7/8.
        weight = edge.weight if old is None else 1 - (1 - edge.weight) * (1 - old.weight)
        memories.setdefault(edge.src, []).append(replace(edge, dst=into, weight=weight, at=now))
    waiting = list(memories.items())
    for first in range(0, len(waiting), AT_ONCE):
        batch = waiting[first : first + AT_ONCE]
        put = PutEdges(tuple(edge for _, edges in batch for edge in edges))
        store.write(scope, [put, DropEdges(tuple((src, "references", one) for src, _ in batch))])
    store.write(scope, [DropConcept(one, row.key) for row in ended])


def _grown(row: Concept, into: str, rows: Sequence[Concept], scope: Scope, now: int) -> Concept:
    """Return the other concept's row of the same key, with the names of this one.

    Where the key has none it is named as its viewers know it, else as they knew this one: a name that is
    known to the writer alone does not become known by a merge.
    """
    seen = scope.seen_with(row.key).keys
    held = [other for other in rows if other.id == into and other.key == row.key]
    known = united(other for other in rows if other.id == into and other.key in seen)
    if held:
        base = replace(held[0], kind=row.kind if held[0].kind == "refused" else held[0].kind)
    elif known:
        base = Concept(into, row.key, known[0].name, (), known[0].kind)
    else:
        base = Concept(into, row.key, row.name, (), row.kind)
    names = {*base.aliases, row.name, *row.aliases} - {base.name}
    return replace(base, aliases=tuple(sorted(names)), at=now)


def _edges(store: Store, scope: Scope, concept: str) -> list[Edge]:
    """Return what refers to a concept, the edges of each key by themselves: of two keys' one may hide the other."""
    found: list[Edge] = []
    for key in scope.keys:
        with store.reader(scope.seen_with(key)) as reader:
            edges = reader.edges([concept], ["references"], inward=True)
        found += [edge for edge in edges if edge.key == key]
    return found


def rename(store: Store, scope: Scope, concept: str, to: str, kept: Lexicons) -> None:
    """Give a concept another name; the old one becomes an alias, and the id stays.

    Raises:
        InputError: The new name cannot be one, or another concept bears it.
    """
    to = tidy(to)
    check(to)
    now = now_micros()
    with store.reader(scope) as reader:
        words = lexicon(reader, scope.key(), kept)
    rows = [row for row in words.rows(concept) if row.kind != "refused"]
    meant = words.means(to)
    others = united(words.rows(meant)) if meant is not None and meant != concept else []
    for other in others:
        raise InputError(
            f'"{to}" already means {other.name} ({other.id}). Nothing was written.',
            hint=f"the two become one with `scrubjay concepts merge {concept} {other.id}`",
        )
    renamed = [
        replace(row, name=to, aliases=_without(to, (row.name, *row.aliases)), kind="given", at=now)
        for row in rows
    ]
    store.write(scope, [PutConcept(row) for row in renamed])
    look_back(store, scope, renamed, kept)


def _without(name: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({each for each in names if each != name}))


def remove(store: Store, scope: Scope, concept: str) -> None:
    """Take a concept out of the dictionary for good: nothing refers to it, and it is not found again."""
    now = now_micros()
    with store.reader(scope) as reader:
        rows = reader.concepts([concept])
        edges = reader.edges([concept], ["references"], inward=True)
    refused: list[Change] = [
        PutConcept(replace(row, kind="refused", at=now)) for row in rows if row.kind != "refused"
    ]
    if refused:
        store.write(scope, refused)
    names = [(edge.src, edge.kind, edge.dst) for edge in edges]
    for first in range(0, len(names), AT_ONCE):
        store.write(scope, [DropEdges(tuple(names[first : first + AT_ONCE]))])
