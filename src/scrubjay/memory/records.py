"""Records: sources, documents and memories as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class When:
    """When a thing happened.

    Attributes:
        start: First instant, UTC microseconds since 1970.
        end: First instant after it, UTC microseconds; equal to ``start`` for a point.
        precision: ``second``, ``day``, ``month`` or ``year``.
        zone: The zone it was written in (IANA name or offset), or None where none was given.
    """

    start: int
    end: int
    precision: str = "second"
    zone: str | None = None


TRUST: Final = ("", "trusted", "untrusted")
"""What a person can say of a source's files."""
OWN: Final = "own"
JOINT: Final = "joint"
FOREIGN: Final = "foreign"
"""Whose words a file holds: its owner's; others' with whom the owner works on it; strangers'."""


@dataclass(frozen=True, slots=True)
class Source:
    """A registered place that documents come from.

    Attributes:
        id: Stable name of the root inside the store; paths are kept relative to it.
        root: Absolute path now. Moving the folder changes this alone.
        description: One line, returned with the source's hits.
        include: Glob patterns of files to take; empty for the defaults.
        exclude: Glob patterns of files to leave out.
        key: Visibility key of what it holds, unless a document says otherwise.
        added_at: UTC microseconds.
        synced_at: UTC microseconds of the last finished sync, or None.
        trust: One of ``TRUST``: what a person said of its files, ``""`` where they said nothing.
        share: Whether front matter may show a note to others than its owner; None for a source of an earlier version.
        repositories: Repositories its files lie in: folder relative to the root, ``OWN``, ``JOINT`` or ``FOREIGN``,
            and the state of its head that this was found at (empty if unknown); None before anybody looked.
    """

    id: str
    root: str
    description: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    key: str = ""
    added_at: int = 0
    synced_at: int | None = None
    trust: str = ""
    share: bool | None = False
    repositories: tuple[tuple[str, str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class Versions:
    """Which version of each stage made a document's memories."""

    chunker: str
    tokenizer: str
    scrubber: str
    extractor: str
    labeller: str


UNFINISHED: Final = "unfinished"
"""Content hash of a document that is being written in parts: the sync that began it has not ended."""
FAILED: Final = "failed: "
"""What the content hash of a document begins with whose file could not be read; the reason follows."""


@dataclass(frozen=True, slots=True)
class Document:
    """One ingested file.

    Attributes:
        source: Id of its source.
        path: POSIX path relative to the source's root.
        content_hash: sha256 of its bytes in hex; `UNFINISHED` or `FAILED` where they were not read to the end.
        mtime_ns: Modification time when it was read.
        size: Bytes.
        cursor: How far an append-only document was read; 0 for one read whole.
        title: What it calls itself, or its file name.
        versions: What made its memories.
    """

    source: str
    path: str
    content_hash: str
    mtime_ns: int
    size: int
    title: str
    versions: Versions
    cursor: int = 0

    @property
    def trouble(self) -> str:
        """Why the file is not stored as it is, else nothing."""
        if self.content_hash == UNFINISHED:
            return "It is not stored as it is now: the sync that read it did not end."
        return self.content_hash.removeprefix(FAILED) if self.content_hash.startswith(FAILED) else ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands in its document.

    Attributes:
        source: Id of the source.
        path: POSIX path relative to the source's root.
        ordinal: Place among the document's passages, from 0.
        start: First character (code point) in the document; of a transcript, first byte of the turn's record.
        end: First character (or byte) after it.
        line_start: First line, from 1.
        line_end: Last line, inclusive.
    """

    source: str
    path: str
    ordinal: int
    start: int
    end: int
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Record:
    """One memory as it is kept.

    Attributes:
        id: Tier prefix and keyed hash.
        tier: One of ``tiers.TIERS``.
        content: The full text (L2).
        content_hash: sha256 of ``content`` in hex.
        title: Nearest heading, else the document's name, else what was given.
        heading_path: Headings above it, outermost first.
        tags: Lower-cased, sorted, without duplicates.
        key: Visibility key: exactly one.
        owner: User that wrote it.
        place: Where it stands, or None for an addition.
        project: Project it belongs to.
        agent: Agent that wrote it.
        session: Conversation it belongs to.
        role: Who speaks, in a conversation.
        turn: Place within the session, from 0.
        origin: One of ``tiers.ORIGINS``.
        status: One of ``tiers.STATUSES``.
        pinned: Exempt from decay and forgetting by age.
        confidence: 0..1, how sure it is.
        strength: 0..1, what feedback made of it.
        event: When what it tells of happened, or None.
        valid_from: UTC microseconds from which it is true, or None.
        valid_until: UTC microseconds from which it is no longer true, or None.
        recorded_at: UTC microseconds when it was first written.
        updated_at: UTC microseconds when it was last written.
        last_used: UTC microseconds when it was last used, or None.
        abstract: L0: a phrase of at most 30 tokens, or None where ``content`` is no longer than that.
        overview: L1: at most 120 tokens, or None where ``content`` is no longer than that.
    """

    id: str
    tier: str
    content: str
    content_hash: str
    title: str
    key: str
    owner: str
    recorded_at: int
    updated_at: int
    heading_path: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    place: Place | None = None
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    role: str | None = None
    turn: int | None = None
    origin: str = "owner"
    status: str = "active"
    pinned: bool = False
    confidence: float = 1.0
    strength: float = 1.0
    event: When | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    last_used: int | None = None
    abstract: str | None = None
    overview: str | None = None


def said(record: Record) -> int:
    """Return when a memory was true first: when it was said to be, else when it was said, else written."""
    if record.valid_from is not None:
        return record.valid_from
    return record.event.start if record.event is not None else record.recorded_at


@dataclass(frozen=True, slots=True)
class Where:
    """Filters of a search. An empty one lets every active memory pass; none changes a statistic.

    Attributes:
        tiers: Any of these tiers.
        tags: All of these tags.
        path: Glob over the relative path (``*`` crosses folders), or a plain prefix of it.
        sources: Any of these source ids.
        since: Event (else recorded) at or after, UTC microseconds.
        until: Event (else recorded) before, UTC microseconds.
        statuses: Any of these statuses.
        projects: Any of these projects; None among them stands for what belongs to none.
        agents: Any of these agents.
        sessions: Any of these sessions.
        apart_from: A session whose memories do not pass.
        categories: Ids of categories; a memory that belongs to any of them. Those below one are not implied.
        pinned: Pinned memories alone.
    """

    tiers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""
    sources: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    statuses: tuple[str, ...] = ("active",)
    projects: tuple[str | None, ...] = ()
    agents: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    apart_from: str | None = None
    categories: tuple[str, ...] = ()
    pinned: bool = False


ANY: Final = Where()
"""Lets every active memory pass."""
