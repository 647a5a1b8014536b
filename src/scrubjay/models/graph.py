"""Graph: entities, categories and the edges between memories."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.errors import NotFoundError
from scrubjay.frozen import frozen
from scrubjay.models.records import CATEGORY_PREFIX

EDGE_KINDS: Final = (
    "belongs",
    "contradicts",
    "derived_from",
    "follows",
    "links",
    "references",
    "related_to",
    "similar",
    "supersedes",
)
"""``references`` leads to a concept, ``belongs`` to a category, ``related_to`` from concept to concept, all
others from memory to memory. ``follows`` (later to earlier) and ``related_to`` are read off what is stored
and never stored themselves, so that they are always in step and never tell of what a reader may not see."""

MEMORY_EDGE_KINDS: Final = ("contradicts", "derived_from", "links", "similar", "supersedes")
"""Stored kinds from memory to memory."""

STORED_EDGE_KINDS: Final = tuple(kind for kind in EDGE_KINDS if kind not in ("follows", "related_to"))
"""Kinds that a store keeps, in the order of their codes."""

EDITED_RULE: Final = "edited"
"""Rule of an edge ``supersedes`` from a memory to the text that it had before somebody changed it."""

NEWER_RULE: Final = "newer"
"""Rule of an edge ``similar`` to a statement that may be out of date, from the later one that may have changed it."""

EDGE_ORIGINS: Final = ("found", "given")
"""Who made an edge: the write path, from text and vectors, or a caller. What is found again replaces what was
found before; what was given stays until it is taken away."""


@frozen
class Edge:
    """One typed, weighted connection, told by its source, kind, end and key.

    The key is part of its name: what a person adds for themselves between two shared memories neither
    replaces nor hides what another added, or what the shared text itself says.

    Attributes:
        src: Id of a memory (of a concept for ``related_to``).
        kind: One of ``EDGE_KINDS``.
        dst: Id of a memory, a concept or a category.
        key: Visibility key of the edge itself. It is seen by who sees this key and both of its ends.
        weight: 0..1.
        at: UTC microseconds when it was made; of ``follows``, when the earlier one happened.
        origin: One of ``EDGE_ORIGINS``.
        rule: What made it: ``wikilink``, ``markdown``, ``session``, ``dictionary``, … or an empty string.
        run: Run of a consolidation that made it, or None.
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

    What several keys know of the same thing are several rows with one id; a reader sees the rows of its own
    keys and no other, so that a name that stands in a stranger's private text alone is never seen.

    Attributes:
        id: ``con_`` and a keyed hash of the name it was first known by; it stays when the name changes.
        key: Visibility key: who knows it.
        name: How it is shown.
        aliases: Other names that mean it, sorted, without the name itself.
        kind: One of ``ENTITY_KINDS``.
        at: UTC microseconds when it was last written.
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
    """Return a row as the concept that it is."""
    identity, key, name, aliases, kind, at = row
    return Entity(identity, key, name, aliases or (), kind, at)


def entity_to_row(concept: Entity) -> EntityRow:
    """Return a concept as a row."""
    return concept.id, concept.key, concept.name, concept.aliases or None, concept.kind, concept.at


def merge_entities(rows: Iterable[Entity]) -> list[Entity]:
    """Return each concept once, as the reader of these rows knows it, by id.

    What a person said goes before what was found, and what is one's own before what is shared; the names of
    the other rows are aliases. A concept that its nearest row refuses is left out.

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


def npmi(together: float, one: float, other: float, total: float) -> float:
    """Return normalised pointwise mutual information, 0..1 (Bouma, 2009).

    ``ln(p(a,b) / (p(a) p(b))) / -ln p(a,b)``: 1 when the two never stand apart, 0 when they meet as often as
    chance would have it or less.

    Args:
        together: Memories that refer to both.
        one: Memories that refer to the one.
        other: Memories that refer to the other.
        total: Memories in all.

    >>> npmi(4, 4, 4, 100), round(npmi(4, 20, 20, 100), 3), npmi(1, 50, 50, 100)
    (1.0, 0.0, 0.0)
    """
    if together <= 0 or one <= 0 or other <= 0 or total <= 0:
        return 0.0
    if together >= total:
        return 1.0
    joint = together / total
    found = math.log(together * total / (one * other)) / -math.log(joint)
    return round(min(max(found, 0.0), 1.0), 6)


CATEGORY_KINDS: Final = ("topic", "path")
"""Found in the content (clusters of vectors), or in folders and headings."""


@frozen
class Category:
    """One node, made of the memories of one visibility key alone.

    Attributes:
        id: ``cat_`` and a keyed hash of its key, kind, parent and the name it was born with.
        key: Visibility key of all of its memories.
        kind: One of ``CATEGORY_KINDS``.
        name: How it is shown; a topic's distinctive terms, a folder's or heading's name.
        parent: Id of the category above, or None at the top.
        abstract: L0: one phrase of what it holds.
        overview: L1: a paragraph of what it holds.
        model: Fingerprint of the model of ``centroid``, empty without one.
        centroid: Direction of its members' mean vector as int8 codes, one byte a dimension; empty for paths.
        at: UTC microseconds when it was last written.
        built: Memories that its key held when its hierarchy was last built in full; 0 for paths.
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
    """Return the categories that a text names: an id, a unique beginning of one, a name, or a path of names.

    Several keys may each have a category of one name; all of them are meant.

    Raises:
        NotFoundError: There is none.
    """
    found = [c for c in categories if c.id == name]
    if not found and name.startswith(CATEGORY_PREFIX) and len(name) > len(CATEGORY_PREFIX):
        found = [c for c in categories if c.id.startswith(name)]
        found = found if len(found) == 1 else []
    wanted = [part.strip().casefold() for part in name.split(" > ")]
    if not found:
        by_id = {c.id: c for c in categories}
        found = [
            c
            for c in categories
            if [p.name.casefold() for p in category_path(c, by_id)][-len(wanted) :] == wanted
        ]
    if not found:
        raise NotFoundError(f"No category {name!r} is known.", hint="`scrubjay categories` lists them")
    return found


def category_ids_below(categories: Sequence[Category], names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the categories that are named and of all below them, sorted."""
    children: dict[str, list[str]] = {}
    for category in categories:
        if category.parent is not None:
            children.setdefault(category.parent, []).append(category.id)
    waiting = [category.id for name in names for category in find_categories(categories, name)]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += children.get(one, ())
    return tuple(sorted(seen))


def category_path(category: Category, by_id: dict[str, Category]) -> list[Category]:
    """Return a category with those above it, outermost first; a parent that is not seen ends the path."""
    found = [category]
    seen = {category.id}
    while (parent := by_id.get(found[0].parent or "")) is not None and parent.id not in seen:
        seen.add(parent.id)
        found.insert(0, parent)
    return found
