"""Views: a memory with its history and surroundings, a timeline page, entity and category pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scrubjay.models.lifecycle import Event
from scrubjay.models.records import Record


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """What a call made of memories.

    Attributes:
        ids: Those that are now as asked.
        unchanged: Those that were so before.
        unknown: What is not there, or not to be seen.
    """

    ids: tuple[str, ...]
    unchanged: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What changing a memory did.

    Attributes:
        id: The memory; it keeps its id.
        changed: Names of its fields that are others now; none where it was so before.
        before: The memory that keeps the text it had, superseded; None where the text stays.
        scrubbed: Kind of secret to how many were replaced.
    """

    id: str
    changed: tuple[str, ...]
    before: str | None
    scrubbed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """What writing a passage's new text into its file did.

    Attributes:
        id: The passage as it is found now; the id it had, where enough of it stayed.
        path: Absolute path of the file.
        line_start: First line of the passage now.
        line_end: Last line, inclusive.
        changed: False where it said so before, and nothing was written.
    """

    id: str
    path: str
    line_start: int
    line_end: int
    changed: bool


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """What happened to one memory, and what it rests on.

    Attributes:
        memory: The memory as it is.
        events: What happened to it, oldest first.
        evidence: Ids of the memories that it was made from.
        rules: Who or what found it in each piece of evidence: ``statement`` for the rules, ``read by MODEL``, …
        derived: Ids of those that were made from it.
        supersedes: Ids of those whose place it took.
        superseded_by: Ids of those that took its place.
        contradicts: Ids of those that cannot be so if it is.
    """

    memory: Record
    events: tuple[Event, ...]
    evidence: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntitySummary:
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
class RelatedEntity:
    """A concept that is related to another: id, name, association (0..1) and memories that refer to both."""

    id: str
    name: str
    association: float
    support: int


@dataclass(frozen=True, slots=True)
class MemoryCitation:
    """A memory in a list: its id, a phrase of it (L0, else its beginning), its date and its citation."""

    id: str
    phrase: str
    date: str | None
    citation: str


@dataclass(frozen=True, slots=True)
class EntityPage:
    """One concept with what surrounds it.

    Attributes:
        concept: The concept.
        related: The concepts most closely related to it, closest first.
        memories: Some of the memories that refer to it: those that name it most, first.
        looked_at: Memories from which ``related`` was counted.
    """

    concept: EntitySummary
    related: tuple[RelatedEntity, ...]
    memories: tuple[MemoryCitation, ...]
    looked_at: int


@dataclass(frozen=True, slots=True)
class DictionaryReport:
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
class CategorySummary:
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
class CategoryPage:
    """One category with those right below it and some of its memories."""

    category: CategorySummary
    below: tuple[CategorySummary, ...]
    memories: tuple[MemoryCitation, ...]


@dataclass(frozen=True, slots=True)
class MemoryLink:
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


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory with all that surrounds it.

    Attributes:
        memory: The memory.
        path: Absolute path of its file, or None for an addition.
        source: Description of its source, or an empty string.
        around: What stands before and after it in its document or conversation, with itself among it.
        links: What it is joined with: the heaviest ten of each kind.
        concepts: The concepts that it refers to, those that most memories refer to first.
        categories: Of each category that it belongs to the id and the names from the top.
        history: What happened to it, and what it rests on.
        named: Id to a line about it, of the memories that ``history`` names and the caller sees.
    """

    memory: Record
    path: str | None
    source: str
    around: tuple[Record, ...]
    links: tuple[MemoryLink, ...]
    concepts: tuple[EntitySummary, ...]
    categories: tuple[tuple[str, tuple[str, ...]], ...]
    history: MemoryHistory
    named: Mapping[str, MemoryCitation]


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """One page of what happened, last first.

    Attributes:
        memories: The memories.
        paths: Memory id to the absolute path of its file.
        more: Whether others happened before.
    """

    memories: tuple[Record, ...]
    paths: Mapping[str, str]
    more: bool


@dataclass(frozen=True, slots=True)
class EntityPair:
    """Two concepts, by their ids, and how many of the memories that were looked at refer to both."""

    one: str
    other: str
    together: int


@dataclass(frozen=True, slots=True)
class EntityNetwork:
    """The concepts that most memories refer to, and what ties them.

    Attributes:
        concepts: The concepts, those that most memories refer to first.
        ties: Pairs of them, the closest first.
        known: How many concepts there are in all.
        looked_at: Memories from which the ties were counted.
    """

    concepts: tuple[EntitySummary, ...]
    ties: tuple[EntityPair, ...]
    known: int
    looked_at: int
