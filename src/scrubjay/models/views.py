"""Memories with their history and surroundings, timeline pages, entity and category pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scrubjay.models.lifecycle import Event
from scrubjay.models.records import Record


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """Result of a status change.

    Attributes:
        ids: Memories that changed.
        unchanged: Memories that already had that status.
        unknown: Ids that do not exist or are not visible.
        also: Memories derived from these that are marked wrong with them, or no longer.
    """

    ids: tuple[str, ...]
    unchanged: tuple[str, ...]
    unknown: tuple[str, ...]
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """Result of editing a memory.

    Attributes:
        id: The memory; it keeps its id.
        changed: Names of the fields that changed; empty where nothing did.
        before: Superseded memory that keeps the previous text, or None where the text stayed.
        scrubbed: Number of redacted secrets by kind.
        notices: Sentences about the memory that the caller may not expect.
    """

    id: str
    changed: tuple[str, ...]
    before: str | None
    scrubbed: Mapping[str, int]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """Result of writing a passage's new text into its file.

    Attributes:
        id: The passage's id now; the previous id where enough of the text stayed.
        path: Absolute path of the file.
        line_start: First line of the passage now.
        line_end: Last line, inclusive.
        changed: False where the file already had this text and nothing was written.
    """

    id: str
    path: str
    line_start: int
    line_end: int
    changed: bool


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """A memory's events and evidence.

    Attributes:
        events: Its events, oldest first.
        evidence: Ids of the memories it was derived from.
        rules: Rule or model that found it in each piece of evidence: ``statement``, ``read by MODEL``, …
        derived: Ids of memories derived from it.
        supersedes: Ids of memories it replaced.
        superseded_by: Ids of memories that replaced it.
        contradicts: Ids of memories that contradict it.
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
    """An entity, as its reader sees it.

    Attributes:
        id: ``con_`` and sixteen hex digits.
        aliases: Other names.
        kind: ``given`` by a person, or where it was found: ``code``, ``heading``, ``name``, ``page``, ``tag``.
        memories: Number of visible memories that mention it.
    """

    id: str
    name: str
    aliases: tuple[str, ...]
    kind: str
    memories: int


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """A related entity: id, name, association (0..1) and number of memories that mention both."""

    id: str
    name: str
    association: float
    support: int


@dataclass(frozen=True, slots=True)
class MemoryCitation:
    """A memory in a list: id, one phrase (L0, else its beginning), date and citation."""

    id: str
    phrase: str
    date: str | None
    citation: str


@dataclass(frozen=True, slots=True)
class EntityPage:
    """An entity with its neighbourhood.

    Attributes:
        related: The most closely related entities, closest first.
        memories: Some memories that mention it, most mentions first.
        looked_at: Number of memories from which ``related`` was computed.
    """

    concept: EntitySummary
    related: tuple[RelatedEntity, ...]
    memories: tuple[MemoryCitation, ...]
    looked_at: int


@dataclass(frozen=True, slots=True)
class DictionaryReport:
    """Result of adding names to the dictionary.

    Attributes:
        added: New entities.
        changed: Entities with a new name, alias or kind.
        linked: Memories linked to them.
        refused: Refused names and the reason.
        clashes: One sentence for each spelling that several entities claim: which one it means and who else claims it.
    """

    added: int
    changed: int
    linked: int
    refused: tuple[tuple[str, str], ...] = ()
    clashes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CategorySummary:
    """A category and its size.

    Attributes:
        id: ``cat_`` and sixteen hex digits.
        kind: ``topic`` or ``path``.
        parent: Id of the parent category, or None.
        depth: Number of ancestors.
        memories: Visible memories in it and its descendants.
        abstract: L0: one phrase.
        overview: L1: one paragraph.
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
    """A category with its children and some of its memories."""

    category: CategorySummary
    below: tuple[CategorySummary, ...]
    memories: tuple[MemoryCitation, ...]


@dataclass(frozen=True, slots=True)
class MemoryLink:
    """One end of an edge, seen from a memory.

    Attributes:
        kind: ``links``, ``similar``, ``derived_from``, ``supersedes`` or ``contradicts``.
        direction: ``to`` for an edge to the other memory, ``from`` for an edge from it.
        weight: 0..1.
        rule: What created it: ``wikilink``, ``markdown``, ``cosine``, or the caller's own text.
        given: Whether a caller created it, not the write path.
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
    """A memory with its surroundings.

    Attributes:
        path: Absolute path of its file, or None for an addition.
        source: Description of its source, or an empty string.
        around: Its neighbours in the document or conversation, including itself.
        links: Its edges, the heaviest ten of each kind.
        concepts: Entities it mentions, the most mentioned first.
        categories: For each of its categories the id and the names from the top.
        history: Its events and evidence.
        named: One line about each visible memory that ``history`` names, by id.
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
    """One page of the timeline, newest first.

    Attributes:
        paths: Memory id to the absolute path of its file.
        more: Whether there are older ones.
    """

    memories: tuple[Record, ...]
    paths: Mapping[str, str]
    more: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in a list.

    Attributes:
        opening: Its title, else the beginning of the first words a person said in it, else of its first turn.
        started: ISO date or time of its first turn, or None.
        ended: ISO date or time of its last turn, or None.
        agent: Agent that recorded it, or None.
    """

    session: str
    opening: str
    started: str | None
    ended: str | None
    turns: int
    agent: str | None
    project: str | None


@dataclass(frozen=True, slots=True)
class ConversationList:
    """One page of the conversations, the latest first, and whether there are earlier ones."""

    conversations: tuple[Conversation, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Some turns of a conversation, in order.

    Attributes:
        turns: Memories of these turns: what was said, and what was learned from it.
        paths: Memory id to the absolute path of its file.
        more: Whether there are later turns.
    """

    conversation: Conversation
    turns: tuple[Record, ...]
    paths: Mapping[str, str]
    more: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two visible memories that contradict each other, the later one first; ``rule`` says who found it."""

    one: MemoryCitation
    other: MemoryCitation
    rule: str


@dataclass(frozen=True, slots=True)
class EntityPair:
    """Two entity ids and the number of examined memories that mention both."""

    one: str
    other: str
    together: int


@dataclass(frozen=True, slots=True)
class EntityNetwork:
    """The most mentioned entities and their associations.

    Attributes:
        concepts: The entities, most mentioned first.
        ties: Pairs of them, the closest first.
        known: Number of all entities.
        looked_at: Number of memories from which the ties were computed.
    """

    concepts: tuple[EntitySummary, ...]
    ties: tuple[EntityPair, ...]
    known: int
    looked_at: int
