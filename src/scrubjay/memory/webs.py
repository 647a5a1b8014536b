"""Webs: what the facade tells of concepts, categories and links."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A concept as its reader knows it.

    Attributes:
        id: ``con_`` and sixteen hex digits.
        name: How it is shown.
        aliases: Other names that mean it.
        kind: ``given`` by a person, or how it was found: ``code``, ``heading``, ``name``, ``page``, ``tag``.
        memories: Visible memories that refer to it.
    """

    id: str
    name: str
    aliases: tuple[str, ...]
    kind: str
    memories: int


@dataclass(frozen=True, slots=True)
class Near:
    """A concept that is related to another: id, name, association (0..1) and memories that refer to both."""

    id: str
    name: str
    association: float
    support: int


@dataclass(frozen=True, slots=True)
class Place:
    """A memory in a list: its id, a phrase of it (L0, else its beginning), its date and its citation."""

    id: str
    phrase: str
    date: str | None
    citation: str


@dataclass(frozen=True, slots=True)
class ConceptPage:
    """One concept with what surrounds it.

    Attributes:
        concept: The concept.
        related: The concepts most closely related to it, closest first.
        memories: Some of the memories that refer to it: those that name it most, first.
        looked_at: Memories from which ``related`` was counted.
    """

    concept: Known
    related: tuple[Near, ...]
    memories: tuple[Place, ...]
    looked_at: int


@dataclass(frozen=True, slots=True)
class Learned:
    """What adding names to the dictionary did.

    Attributes:
        added: Concepts that are new.
        changed: Concepts that got another name, alias or kind.
        linked: Memories that were linked to them.
        refused: Name to why it was not taken.
        clashes: A spelling that several concepts claim, whom it means and who else claimed it, a sentence each.
    """

    added: int
    changed: int
    linked: int
    refused: tuple[tuple[str, str], ...] = ()
    clashes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shelf:
    """A category with how many memories it holds.

    Attributes:
        id: ``cat_`` and sixteen hex digits.
        name: How it is shown.
        kind: ``topic`` or ``path``.
        parent: Id of the category above, or None.
        depth: How many categories stand above it.
        memories: Visible memories in it and in those below it.
        abstract: L0: one phrase of what it holds.
        overview: L1: a paragraph of what it holds.
    """

    id: str
    name: str
    kind: str
    parent: str | None
    depth: int
    memories: int
    abstract: str
    overview: str


@dataclass(frozen=True, slots=True)
class ShelfPage:
    """One category with those right below it and some of its memories."""

    category: Shelf
    below: tuple[Shelf, ...]
    memories: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """One end of an edge as seen from a memory.

    Attributes:
        id: The other memory.
        kind: ``links``, ``similar``, ``derived_from``, ``supersedes`` or ``contradicts``.
        direction: ``to`` when the edge leads to the other memory, ``from`` when it comes from there.
        weight: 0..1.
        rule: What made it: ``wikilink``, ``markdown``, ``cosine``, or what its maker wrote.
        given: Whether a caller made it rather than the write path.
        phrase: A phrase of the other memory.
    """

    id: str
    kind: str
    direction: str
    weight: float
    rule: str
    given: bool
    phrase: str
