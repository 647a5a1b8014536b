"""Paths: where memories stand -> a hierarchy of sources, folders, documents and headings.

A document or heading is a category when three passages are below it, two being read at a glance; a folder or
source when two documents are, or one that is a category. So everything above a category is one too, and what
is added later makes new ones and moves none. A memory belongs to the deepest category above it; names are the
folders' and headings' own. Two headings of one name under one parent are one category.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.topics.overview import L1_TOKENS, listed

DOCUMENTS: Final = 2
"""Documents that make a folder a category."""
PASSAGES: Final = 3
"""Passages that make a document or heading a category."""

Trail = tuple[str, ...]
"""Names from the source downwards."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one memory stands.

    Attributes:
        id: Its id.
        source: Id of its source.
        path: POSIX path relative to the source's root.
        document: Title of its document; a first heading that says the same is no level of its own.
        headings: Headings above it, outermost first.
        title: Its own title.
    """

    id: str
    source: str
    path: str
    document: str = ""
    headings: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One category of kind ``path``.

    Attributes:
        trail: Names from its source down to its own; unlike every other node's.
        name: The last of them.
        parent: Trail of the category above, or None.
        members: Ids of the memories that belong to it and to none below it, sorted.
        abstract: L0: its name and what is right below it.
        overview: L1: the same with more room.
    """

    trail: Trail
    name: str
    parent: Trail | None
    members: tuple[str, ...]
    abstract: str
    overview: str


def paths(spots: Sequence[Spot]) -> tuple[Node, ...]:
    """Find the categories that places make.

    Args:
        spots: The memories of one key that stand in documents, in any order.

    Returns:
        Parents before children, siblings by name.

    >>> found = paths([Spot(f"m{n}", "notes", f"garden/{n}.md", title=f"Bed {n}") for n in range(2)])
    >>> [(node.name, node.parent, node.members) for node in found]
    [('notes', None, ()), ('garden', ('notes',), ('m0', 'm1'))]
    """
    documents: defaultdict[Trail, set[str]] = defaultdict(set)
    passages: Counter[Trail] = Counter()
    places = {spot.id: _trails(spot) for spot in spots}
    for spot in spots:
        above, inside = places[spot.id]
        for trail in above:
            documents[trail].add(spot.path)
        passages.update(inside)
    kept = {trail for trail, below in documents.items() if len(below) >= DOCUMENTS}
    for trail in [trail for trail, times in passages.items() if times >= PASSAGES]:
        kept |= {trail[:depth] for depth in range(1, len(trail) + 1)}
    return _nodes(spots, places, kept)


def _nodes(
    spots: Sequence[Spot], places: Mapping[str, tuple[list[Trail], list[Trail]]], kept: Set[Trail]
) -> tuple[Node, ...]:
    members: defaultdict[Trail, list[Spot]] = defaultdict(list)
    for spot in sorted(spots, key=lambda one: one.id):
        above, inside = places[spot.id]
        home = next((trail for trail in reversed([*above, *inside]) if trail in kept), None)
        if home is not None:
            members[home].append(spot)
    below: defaultdict[Trail, list[str]] = defaultdict(list)
    for trail in sorted(kept):
        below[trail[:-1]].append(trail[-1])
    nodes = []
    for trail in sorted(kept):
        titles = dict.fromkeys([*below[trail], *(spot.title for spot in members[trail])])
        told = [title for title in titles if title and title.casefold() != trail[-1].casefold()]
        ids = tuple(spot.id for spot in members[trail])
        brief, long = listed(trail[-1], told), listed(trail[-1], told, L1_TOKENS)
        nodes.append(Node(trail, trail[-1], trail[:-1] or None, ids, brief, long))
    return tuple(nodes)


def _trails(spot: Spot) -> tuple[list[Trail], list[Trail]]:
    """Return the trails of the source and folders above a memory, and of its document and headings."""
    *folders, file = (part for part in spot.path.split("/") if part)
    base = (spot.source, *folders)
    headings = tuple(" ".join(heading.split()) for heading in spot.headings)
    if headings and headings[0].casefold() == " ".join(spot.document.split()).casefold():
        headings = headings[1:]
    inner = [(*base, file, *headings[:depth]) for depth in range(len(headings) + 1)]
    return [base[:depth] for depth in range(1, len(base) + 1)], inner
