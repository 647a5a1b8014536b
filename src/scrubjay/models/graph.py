"""Entities, categories and the edges between memories."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.errors import NotFoundError
from scrubjay.frozen import frozen
from scrubjay.models.records import CATEGORY_PREFIX

EDGE_KINDS: Final = (
    "belongs", "contradicts", "derived_from", "follows", "links", "references", "related_to", "similar", "supersedes",
)  # fmt: skip
"""``references`` leads to a concept, ``belongs`` to a category, ``related_to`` from concept to concept, all
others from memory to memory. ``follows`` (later to earlier) and ``related_to`` are read off what is stored
and never stored themselves, so that they are always in step and never reveal what a reader may not see."""

MEMORY_EDGE_KINDS: Final = ("contradicts", "derived_from", "links", "similar", "supersedes")
"""Stored kinds from memory to memory."""

STORED_EDGE_KINDS: Final = tuple(kind for kind in EDGE_KINDS if kind not in ("follows", "related_to"))
"""Kinds that a store keeps, in the order of their codes."""

EDITED_RULE: Final = "edited"
"""Rule of an edge ``supersedes`` from a memory to the text that it had before somebody changed it."""

REPEATED_RULE: Final = "again"
"""Rule of an edge ``derived_from`` from a statement to a turn that repeats it."""

NEWER_RULE: Final = "newer"
"""Rule of an edge ``similar`` to a statement that may be out of date, from the later one that may have changed it."""

SUPERSEDES_RULE: Final = "supersedes"
SUPERSEDED_BY_RULE: Final = "superseded_by"
"""Rules of ``links`` from the passage of a note that says so to each passage of the note that it replaced, or that
replaced it. They are no edges ``supersedes``: both notes stay active."""

EDGE_ORIGINS: Final = ("found", "given")
"""Who made an edge: the write path, from text and vectors, or a caller. What is found again replaces what was
found before; what was given stays until it is taken away."""


@frozen
class Edge:
    """One typed, weighted connection, identified by source, kind, target and key.

    The key is part of the identity: an edge that one user adds between two shared memories neither replaces nor hides
    another user's edge or one found in the shared text.

    Attributes:
        src: Id of a memory (of an entity for ``related_to``).
        kind: One of ``EDGE_KINDS``.
        dst: Id of a memory, an entity or a category.
        key: Visibility key of the edge. Only those who read this key and both ends see it.
        weight: 0..1.
        at: UTC microseconds when it was created; for ``follows``, when the earlier memory happened.
        origin: One of ``EDGE_ORIGINS``.
        rule: What created it: ``wikilink``, ``markdown``, ``session``, ``dictionary``, … or an empty string.
        run: Consolidation run that created it, or None.
    """

    src: str
    kind: str
    dst: str
    key: str
    weight: float = 1.0
    at: int = 0
    origin: str = "found"
    rule: str = ""
    run: str | None = None


ENTITY_KINDS: Final = ("given", "code", "heading", "name", "page", "refused", "tag")
"""How a concept became known: by a person's word, or found as a code name, a heading, a repeated capitalised
name, a linked page, a tag. A refused one was taken out by a person and is not found again."""

_VISIBILITY_ORDER: Final = {"user": 0, "group": 1, "public": 2}


@frozen
class Entity:
    """One named thing, as one visibility key knows it.

    Several keys have several rows with one id for the same thing. A reader sees only the rows of its own keys, so a
    name that occurs only in another user's private text stays private.

    Attributes:
        id: ``con_`` and a keyed hash of its first name; renaming keeps it.
        key: Visibility key that knows it.
        aliases: Other names, sorted, without the display name.
        kind: One of ``ENTITY_KINDS``.
        at: UTC microseconds of the last write.
    """

    id: str
    key: str
    name: str
    aliases: tuple[str, ...] = ()
    kind: str = "given"
    at: int = 0


EntityRow = tuple[str, str, str, tuple[str, ...] | None, str, int]
"""A `Entity`'s attributes in their order, with None for no aliases: 100,000 of them cost a third of the objects."""


def entity_from_row(row: EntityRow) -> Entity:
    identity, key, name, aliases, kind, at = row
    return Entity(identity, key, name, aliases or (), kind, at)


def entity_to_row(concept: Entity) -> EntityRow:
    return concept.id, concept.key, concept.name, concept.aliases or None, concept.kind, concept.at


def merge_entities(rows: Iterable[Entity]) -> list[Entity]:
    """Merge the rows of each entity into one, as the reader of these rows sees it; keyed by id.

    Names given by a person precede found ones, own rows precede shared ones; the names of the other rows become
    aliases. An entity whose nearest row is marked as refused is left out.

    >>> rows = [Entity("con_1", "public", "Go", ("golang",), "name"), Entity("con_1", "user:a", "Go language")]
    >>> [(c.name, c.aliases, c.kind) for c in merge_entities(rows)]
    [('Go language', ('Go', 'golang'), 'given')]
    """
    by_id: dict[str, list[Entity]] = {}
    for row in rows:
        by_id.setdefault(row.id, []).append(row)
    return [one for _, same in sorted(by_id.items()) if (one := _merge_rows(same)) is not None]


def _merge_rows(rows: list[Entity]) -> Entity | None:
    if len(rows) == 1:  # nearly all of a large dictionary
        return rows[0] if rows[0].kind != "refused" else None
    first, *others = sorted(
        rows,
        key=lambda row: (
            row.kind not in ("given", "refused"),
            _VISIBILITY_ORDER.get(row.key.partition(":")[0], 3),
            row.key,
        ),
    )
    if first.kind == "refused":
        return None
    names = {name for row in (first, *others) if row.kind != "refused" for name in (row.name, *row.aliases)}
    return replace(first, aliases=tuple(sorted(names - {first.name})))


def npmi(shared: float, one: float, other: float, total: float) -> float:
    """Return normalised pointwise mutual information, 0..1 (Bouma, 2009).

    ``ln(p(a,b) / (p(a) p(b))) / -ln p(a,b)``: 1 when the two always occur together, 0 when they co-occur by chance or
    less. ``shared``, ``one``, ``other`` and ``total`` count memories that mention both, each, and all memories.

    >>> npmi(4, 4, 4, 100), round(npmi(4, 20, 20, 100), 3), npmi(1, 50, 50, 100)
    (1.0, 0.0, 0.0)
    """
    if shared <= 0 or one <= 0 or other <= 0 or total <= 0:
        return 0.0
    if shared >= total:
        return 1.0
    joint = shared / total
    association = math.log(shared * total / (one * other)) / -math.log(joint)
    return round(min(max(association, 0.0), 1.0), 6)


CATEGORY_KINDS: Final = ("topic", "path")
"""Found in the content (clusters of vectors), or in folders and headings."""


@frozen
class Category:
    """One node of the category tree, built from the memories of a single visibility key.

    Attributes:
        id: ``cat_`` and a keyed hash of its key, kind, parent and original name.
        key: Visibility key of all of its memories.
        kind: One of ``CATEGORY_KINDS``.
        name: Display name: a topic's distinctive terms, or the name of a folder or heading.
        parent: Id of the parent category, or None at the top.
        abstract: L0: one phrase.
        overview: L1: one paragraph.
        model: Fingerprint of the model of ``centroid``, or an empty string.
        centroid: Mean direction of its members' vectors as int8 codes, one byte a dimension; empty for paths.
        at: UTC microseconds of the last write.
        built: Memories its key held when the hierarchy was last built in full; 0 for paths.
    """

    id: str
    key: str
    kind: str
    name: str
    parent: str | None = None
    abstract: str = ""
    overview: str = ""
    model: str = ""
    centroid: bytes = b""
    at: int = 0
    built: int = 0


def find_categories(categories: Sequence[Category], name: str) -> list[Category]:
    """Return the categories named by an id, a unique prefix of one, a name, or a path of names.

    Several keys may each have a category of the same name; all of them are returned.

    Raises:
        NotFoundError: No category matches.
    """
    matches = [c for c in categories if c.id == name]
    if not matches and name.startswith(CATEGORY_PREFIX) and len(name) > len(CATEGORY_PREFIX):
        matches = [c for c in categories if c.id.startswith(name)]
        matches = matches if len(matches) == 1 else []
    parts = [part.strip().casefold() for part in name.split(" > ")]
    if not matches:
        by_id = {c.id: c for c in categories}
        matches = [
            c
            for c in categories
            if [p.name.casefold() for p in category_path(c, by_id)][-len(parts) :] == parts
        ]
    if not matches:
        raise NotFoundError(f"No category {name!r} is known.", hint="`scrubjay categories` lists them")
    return matches


def category_ids_below(categories: Sequence[Category], names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the named categories and all of their descendants, sorted."""
    children: dict[str, list[str]] = {}
    for category in categories:
        if category.parent is not None:
            children.setdefault(category.parent, []).append(category.id)
    queue = [category.id for name in names for category in find_categories(categories, name)]
    visited: set[str] = set()
    while queue:
        category_id = queue.pop()
        if category_id not in visited:
            visited.add(category_id)
            queue += children.get(category_id, ())
    return tuple(sorted(visited))


def category_path(category: Category, by_id: dict[str, Category]) -> list[Category]:
    path = [category]
    visited = {category.id}
    while (parent := by_id.get(path[0].parent or "")) is not None and parent.id not in visited:
        visited.add(parent.id)
        path.insert(0, parent)
    return path
