"""Stored records: memories, sources, documents and turns, with their tiers, filters and scopes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Final

from scrubjay.errors import InputError
from scrubjay.frozen import frozen


class Unchanged(Enum):
    """The type of `UNCHANGED`, so that None can be a value of its own."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
"""Value of a field that a change leaves as it is."""

TIER_PREFIXES: Final[dict[str, str]] = {
    "crystal": "crys_",
    "facet": "fac_",
    "insight": "ins_",
    "lesson": "les_",
    "observation": "obs_",
    "procedural": "proc_",
    "semantic": "sem_",
}
"""Prefix of the ids of each tier."""

TIERS: Final[tuple[str, ...]] = tuple(TIER_PREFIXES)
"""Every tier, in the order of its prefix, so that a tier's place here sorts as its ids do."""

STATUSES: Final[tuple[str, ...]] = ("active", "archived", "superseded")
"""States in which a memory still has its text. A forgotten one leaves only a keyed hash."""

NEVER_INJECT: Final = "never-inject"
"""Tag of a memory that hooks and the proxy leave out; search still finds it."""

UNDATED: Final = "undated"
"""Tag of a memory that came from another tool without a date: the day of the import is not the day of its text."""
MARK_TAGS: Final = frozenset({NEVER_INJECT, UNDATED})
"""Tags that say how a memory is treated, not which topic it has."""

UNTRUSTED: Final = "untrusted"
MARKED_WRONG: Final = "marked wrong"
"""Mark of a memory that feedback calls wrong."""
WRONG_STRENGTH: Final = 0.5
"""Strength up to which a memory is marked wrong: one verdict that no "useful" contradicts."""
ORIGINS: Final[tuple[str, ...]] = ("owner", "agent", "tool", "derived", UNTRUSTED)
"""Who said it."""

ENTITY_PREFIX: Final = "con_"
"""Prefix of a concept's id."""

CATEGORY_PREFIX: Final = "cat_"
"""Prefix of a category's id."""


PRECISIONS: Final = ("second", "day", "month", "year")
"""Precisions of a time, finest first."""


@frozen
class EventTime:
    """When something happened.

    Attributes:
        start: First instant, UTC microseconds since 1970.
        end: First instant after it; equal to ``start`` for a point in time.
        precision: One of ``PRECISIONS``.
        zone: Zone it was written in (IANA name or offset), or None.
    """

    start: int
    end: int
    precision: str = "second"
    zone: str | None = None


TRUST_LEVELS: Final = ("", "trusted", "untrusted")
"""Levels of trust that a person can set for a source's files."""
OWN: Final = "own"
JOINT: Final = "joint"
FOREIGN: Final = "foreign"
"""Whose words a file holds: its owner's; others' with whom the owner works on it; strangers'."""


IMPORTED_AT: Final = 0
"""`Source.synced_at` of a source that came with an import and was never synced here."""


@frozen
class Source:
    """A registered folder or file that documents come from.

    Attributes:
        id: Stable name; document paths are relative to its root.
        root: Current absolute path. Moving the folder changes only this.
        description: One line, returned with the source's results.
        include: Glob patterns of files to read; empty for the defaults.
        exclude: Glob patterns of files to skip.
        key: Visibility key of its documents, unless a document sets another.
        added_at: UTC microseconds.
        synced_at: UTC microseconds of the last finished sync, None if the last one was interrupted, or ``IMPORTED_AT``.
        trust: One of ``TRUST_LEVELS``, as set by a person; ``""`` when not set.
        share: Whether front matter may make a note visible to others; None for a source of an earlier version.
        repositories: Git repositories its files lie in: folder relative to the root, ``OWN``, ``JOINT`` or ``FOREIGN``,
            and the head at which that was determined (empty if unknown). None before the first look.
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


@frozen
class StageVersions:
    """Versions of the ingest stages that produced a document's memories."""

    chunker: str
    tokenizer: str
    scrubber: str
    extractor: str
    labeller: str


UNFINISHED: Final = "unfinished"
"""Content hash of a document that is being written in parts: the sync that began it has not ended."""
FAILED_PREFIX: Final = "failed: "
"""Prefix of the content hash of a document whose file could not be read; the reason follows."""
REREAD: Final = "to be read again"
"""Content hash of a document whose file must be read again."""
KEPT_PRIVATE_PREFIX: Final = "kept private: "
"""Stands for the extractor of a note that names a group its owner is not in; the group follows."""
FORGOTTEN_PREFIX: Final = "forgotten: "
"""Stands for the extractor of a note of which passages were forgotten; their number follows."""
MISREAD_PREFIX: Final = "metadata: "
"""Stands for the extractor of a note whose front matter could not be read as a whole; the reason follows."""
UNCONVERTED: Final = "unconverted"
"""Extractor of a document, such as a PDF, that failed because of its content: it is not tried again unchanged."""


@frozen
class Document:
    """One ingested file.

    Attributes:
        source: Id of its source.
        path: POSIX path relative to the source's root.
        content_hash: sha256 of its bytes in hex; `UNFINISHED` or `FAILED_PREFIX` when it was not read to the end, or
            `REREAD`.
        mtime_ns: Modification time when it was read.
        size: Bytes; -1 - bytes for an imported document whose file was never seen here, and whose passages stay.
        cursor: Bytes read of an append-only document; 0 for one that is read whole.
        title: Its title, or its file name.
        versions: Versions of the stages that produced its memories.
    """

    source: str
    path: str
    content_hash: str
    mtime_ns: int
    size: int
    title: str
    versions: StageVersions
    cursor: int = 0

    @property
    def is_unseen(self) -> bool:
        """Whether it was imported, and its file was never seen here."""
        return self.size < 0

    @property
    def file_size(self) -> int:
        """Bytes of its file, here or where it was read."""
        return -1 - self.size if self.is_unseen else self.size

    @property
    def trouble(self) -> str:
        """Why the stored state differs from the file, else an empty string."""
        if self.content_hash == UNFINISHED:
            return "It is not stored as it is now: the sync that read it did not end."
        return _after_prefix(self.content_hash, FAILED_PREFIX)

    @property
    def misread(self) -> str:
        """What of its front matter could not be read, else an empty string."""
        return _after_prefix(self.versions.extractor, MISREAD_PREFIX)

    @property
    def forgotten(self) -> int:
        """Number of its passages that are left out, since they were forgotten."""
        return int(_after_prefix(self.versions.extractor, FORGOTTEN_PREFIX) or 0)

    @property
    def refused_group(self) -> str:
        """The group that a note names and its owner is not in, so that it was kept private; else an empty string."""
        return _after_prefix(self.versions.extractor, KEPT_PRIVATE_PREFIX)

    @property
    def is_unconverted(self) -> bool:
        return self.versions.extractor == UNCONVERTED

    @property
    def is_commit(self) -> bool:
        """Whether it is a commit of a repository, stored or left out."""
        return self.versions.extractor in (COMMIT, LEFT_OUT)

    @property
    def is_to_reread(self) -> bool:
        return self.content_hash == REREAD

    def to_reread(self) -> Document:
        """Return it as a document whose file the next sync reads again."""
        return replace(self, mtime_ns=0, content_hash=REREAD)

    def with_extractor(self, extractor: str) -> Document:
        return replace(self, versions=replace(self.versions, extractor=extractor))


def _after_prefix(text: str, prefix: str) -> str:
    return text.removeprefix(prefix) if text.startswith(prefix) else ""


@frozen
class SourcePlace:
    """Location of a passage in its document.

    Attributes:
        source: Id of the source.
        path: POSIX path relative to the source's root.
        ordinal: Index among the document's passages, from 0.
        start: First character (code point) in the document; for a transcript, first byte of the turn's record.
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


@frozen
class Record:
    """One stored memory.

    Attributes:
        id: Tier prefix and keyed hash.
        tier: One of `TIERS`.
        content: The full text (L2).
        content_hash: sha256 of ``content`` in hex.
        title: Nearest heading, else the document's name, else the given title.
        heading_path: Enclosing headings, outermost first.
        tags: Lower-cased, sorted, unique.
        key: Visibility key, exactly one.
        owner: User that wrote it.
        place: Location in a document, or None for an addition.
        project: Project it belongs to.
        agent: Agent that wrote it.
        session: Conversation it belongs to.
        role: Speaker, in a conversation.
        turn: Position within the session, from 0.
        origin: One of `ORIGINS`.
        status: One of `STATUSES`.
        pinned: Exempt from decay and forgetting by age.
        confidence: 0..1.
        strength: 0..1, set by feedback; at most `WRONG_STRENGTH` where it is marked wrong.
        event: When its event happened, or None.
        valid_from: UTC microseconds from which it is true, or None.
        valid_until: UTC microseconds from which it is no longer true, or None.
        recorded_at: UTC microseconds of the first write.
        updated_at: UTC microseconds of the last write.
        last_used: UTC microseconds of the last use, or None.
        due: Pending enrichment (`due_mark`), 0 for none.
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
    place: SourcePlace | None = None
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
    event: EventTime | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    last_used: int | None = None
    due: int = 0

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a conversation, numbered or not."""
        return is_turn(self.tier, self.session, self.role, self.turn)

    @property
    def is_dated(self) -> bool:
        """Whether the date of its text is known: that of its event, or the day on which it was added."""
        return self.event is not None or (self.place is None and UNDATED not in self.tags)

    @property
    def is_undated_import(self) -> bool:
        """Whether it was imported from another tool without a date."""
        return self.place is None and not self.is_dated

    @property
    def marked_wrong(self) -> bool:
        """Whether feedback calls it wrong."""
        return self.strength <= WRONG_STRENGTH


def is_turn(tier: str, session: str | None, role: str | None, turn: int | None) -> bool:
    """Return whether an observation is a turn: programs that add turns as they come need not number them."""
    return turn is not None or (tier == "observation" and None not in (session, role))


DUE_LINKS: Final = 1
"""Enrichment that is due: the links of the memory's document."""
DUE_PLACE: Final = 2
"""Also its categories of folders, and the links of other documents to a new page."""
DUE_EDGES: Final = 3
"""Also its entities, similar memories and topics."""
DUE_FACTS: Final = 4
"""Also the facts in a turn."""
_LEVEL_BITS: Final = 3


def due_mark(level: int, at: int) -> int:
    """Return the mark of a memory that enrichment is due for since ``at`` (UTC microseconds).

    >>> due_level(due_mark(DUE_EDGES, 5)), due_since(due_mark(DUE_EDGES, 5))
    (3, 5)
    """
    return at << _LEVEL_BITS | level


def due_level(mark: int) -> int:
    return mark & ((1 << _LEVEL_BITS) - 1)


def due_since(mark: int) -> int:
    return mark >> _LEVEL_BITS


def said_at(record: Record) -> int:
    """Return when a memory became true: its validity, else its event, else when it was recorded."""
    if record.valid_from is not None:
        return record.valid_from
    return record.event.start if record.event is not None else record.recorded_at


def known_later(new: Record, old: Record) -> bool:
    """Return whether a memory became true after another; an undated import may be older than anything."""
    return said_at(new) > said_at(old) and not (new.is_undated_import and new.valid_from is None)


def is_own_turn(turn: Record) -> bool:
    return turn.role in PERSON_ROLES and turn.origin == "owner"


@frozen
class RecordFilter:
    """Filters of a search. An empty filter passes every active memory; no filter changes a statistic.

    Attributes:
        tiers: Any of these tiers.
        tags: All of these tags.
        path: Glob over the relative path (``*`` crosses folders), or a plain prefix of it.
        sources: Any of these source ids.
        since: Event (else recorded) at or after, UTC microseconds.
        until: Event (else recorded) before, UTC microseconds.
        since_day: The first day as stored (`scrubjay.models.dates.stored_day`), which passes though before ``since``.
        until_day: The first day after the time as stored, which does not pass.
        statuses: Any of these statuses.
        projects: Any of these projects; None matches memories without a project.
        agents: Any of these agents.
        sessions: Any of these sessions.
        apart_from: Session to exclude.
        categories: Any of these category ids. Descendants are not implied.
        pinned: Only pinned memories.
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
    since_day: int | None = None
    until_day: int | None = None


NO_FILTER: Final = RecordFilter()
"""Lets every active memory pass."""
PERSON_ROLES: Final = frozenset(("user", "human"))
"""Roles of the people in a conversation; all others are programs."""
GENERIC_ROLES: Final = PERSON_ROLES | {"ai", "assistant", "developer", "function", "model", "system", "tool"}
"""Roles that are no names: a question with such a word in it rarely asks who said something."""


@frozen
class Turn:
    """One message of a transcript, before redaction and chunking.

    Attributes:
        key: Permanent name in its tool (the message's uuid, else session and position): a copy in another file has
            the same key and is the same turn.
        role: ``user``, ``assistant`` or the speaker's name in the log.
        text: Text without tool noise; never blank.
        session: Conversation, as the tool names it. A sidechain or an abandoned branch has its own.
        at: UTC microseconds, or None.
        cwd: Working directory according to the log, or None.
        remote: URL of the repository, or None.
        project: Name of the project in the log; empty to take that of ``cwd``.
        agent: Agent program: ``claude-code``, ``codex``, …
        origin: One of `ORIGINS`: ``owner`` for a person's words, ``agent`` for the model's.
        title: Title of the conversation, or an empty string.
        line: Line in the file, from 1; for a format without lines, the message's number.
        start: First byte of its record in the file.
        end: First byte after it.
        is_unnamed: Whether key and session only name the file in its source, so that other sources may have them, too.
        old_key: Key that earlier versions gave the turn, if it is a place in a file that may be written anew.
    """

    key: str
    role: str
    text: str
    session: str
    at: int | None = None
    cwd: str | None = None
    remote: str | None = None
    project: str = ""
    agent: str = ""
    origin: str = "owner"
    title: str = ""
    line: int = 0
    start: int = 0
    end: int = 0
    is_unnamed: bool = False
    old_key: str = ""


VISIBILITIES = ("user", "group", "public")


@frozen
class Scope:
    """The principal of one call. Every store call takes one; there is no default.

    Attributes:
        tenant: Isolation boundary; nothing crosses it, statistics included.
        user: The caller. What they write belongs to them.
        groups: Groups they belong to.
    """

    tenant: str
    user: str
    groups: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The visibility keys this principal reads, sorted.

        >>> Scope("t", "ann", ("dev",)).keys
        ('group:dev', 'public', 'user:ann')
        """
        return tuple(sorted({f"user:{self.user}", "public", *(f"group:{name}" for name in self.groups)}))

    @property
    def token_options(self) -> str:
        """Options of `scrubjay token create` for this principal.

        >>> Scope("t", "ann lee", ("dev",)).token_options
        "--tenant t --user 'ann lee' --group dev"
        """
        import shlex

        groups = [part for group in self.groups for part in ("--group", group)]
        return shlex.join(["--tenant", self.tenant, "--user", self.user, *groups])

    def joined(self, groups: Iterable[str]) -> Scope:
        """Return the same user as a member of more groups.

        >>> Scope("t", "ann", ("dev",)).joined(["ops"]).keys
        ('group:dev', 'group:ops', 'public', 'user:ann')
        """
        return Scope(self.tenant, self.user, tuple(sorted({*self.groups, *groups})))

    def seen_with(self, key: str) -> Scope:
        """Return the narrowest principal that reads ``key``: the user, a bare member of the group, or anybody.

        Decisions about a shared memory are made with this scope, so nothing private of the writer affects other users.

        >>> Scope("t", "ann", ("dev", "ops")).seen_with("group:dev").keys
        ('group:dev', 'public', 'user:')
        """
        kind, _, name = key.partition(":")
        if kind == "user":
            return self
        return Scope(self.tenant, "", (name,) if kind == "group" else ())

    def key(self, visibility: str = "user", group: str | None = None) -> str:
        """Return the key under which this principal writes a memory.

        Raises:
            InputError: The visibility is unknown, or the principal is not in the group.
        """
        if visibility == "user":
            return f"user:{self.user}"
        if visibility == "public":
            return "public"
        if visibility != "group":
            raise InputError(
                f"Visibility {visibility!r} is not one of {', '.join(VISIBILITIES)}. Nothing was written."
            )
        if group is None or group not in self.groups:
            known = f"{self.user}'s groups ({', '.join(self.groups) or 'none'})"
            raise InputError(
                f"Visibility is group, but no group is named: one of {known}. Nothing was written."
                if group is None
                else f"Group {group!r} is not one of {known}. Nothing was written."
            )
        return f"group:{group}"


@frozen
class UnrestrictedScope(Scope):
    """Reads every key of a tenant: for copies of whole tenants, and to forget a user; no caller ever gets one."""

    held: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return self.held

    def seen_with(self, key: str) -> Scope:
        kind, _, name = key.partition(":")
        return Scope(self.tenant, name) if kind == "user" else Scope.seen_with(self, key)


@frozen
class QuotaUsage:
    """One configured limit and its use.

    Attributes:
        setting: ``memories_per_user`` or ``memories_per_tenant`` of section ``[quota]``.
        allowed: Maximum number of memories of every status.
        used: Current number; above ``allowed`` where the limit was lowered.
    """

    setting: str
    allowed: int
    used: int


# Stands for the extractor of a file that is named like a transcript and is none, so that it is read once.
NOT_A_TRANSCRIPT = "no transcript"
COMMIT: Final = "git commit 1"
"""Extractor of a commit's document, whose passages are not cut anew."""
_COMMIT_TITLE: Final = re.compile(r"commit [0-9a-f]{12} by ")


def commit_title(commit: str, author: str) -> str:
    return f"commit {commit[:12]} by {author}"


def is_commit_title(title: str) -> bool:
    """Return whether a memory with an author and this title is a commit.

    >>> is_commit_title(commit_title("0123456789abcdef", "Ann")), is_commit_title("commit often")
    (True, False)
    """
    return _COMMIT_TITLE.match(title) is not None


LEFT_OUT: Final = "git commit left out"
"""Stands for the extractor of a commit that says nothing, so that it is read once."""


@frozen
class PassageRef:
    """Id, key and headings of a passage, without its text."""

    id: str
    key: str
    heading_path: tuple[str, ...]
    title: str


PassageRefs = Mapping[str, Sequence[PassageRef]]
"""Path of a document to its passages: those that need not be read, for they were just written."""


def note_documents(documents: Mapping[str, Document]) -> dict[str, Document]:
    """Return the documents that are notes, not transcripts, data files or commits."""
    return {
        path: document
        for path, document in documents.items()
        if not document.cursor and not document.is_commit and document.versions.extractor != NOT_A_TRANSCRIPT
    }
