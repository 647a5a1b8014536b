"""Reports: what every call but a search gives back. Apart from the answers, so that a search loads fewer classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrubjay.memory.allowances import Allowance

if TYPE_CHECKING:
    from scrubjay.memory.records import Record


@dataclass(frozen=True, slots=True)
class Fetched:
    """What `get` found.

    Attributes:
        records: The memories, in the order asked for, neighbours around each in the document's order.
        paths: Memory id to the absolute path of its file.
        unknown: Ids and paths that are not there, or not to be seen.
        next_offset: Where to read on in the characters of the only memory asked for; None at its end.
        evidence: Derived memory to what it was taken from, the weightiest first, texts cut short.
        rules: Derived memory to what found it in each of these: ``statement`` for the rules, ``read by MODEL``, …
    """

    records: tuple[Record, ...]
    paths: Mapping[str, str]
    unknown: tuple[str, ...]
    next_offset: int | None = None
    evidence: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the memories, in the order of their ids' digits.

    Attributes:
        records: The memories.
        paths: Memory id to the absolute path of its file.
        next: What to go on after; None at the end.
    """

    records: tuple[Record, ...]
    paths: Mapping[str, str]
    next: str | None


@dataclass(frozen=True, slots=True)
class Vectors:
    """What texts became.

    Attributes:
        model: The model's name.
        rows: A unit vector a text, in their order; of a text without a word zeros.
        tokens: What the texts take, by the measure of ``text.size.tokens``.
    """

    model: str
    rows: tuple[tuple[float, ...], ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did.

    Attributes:
        id: The memory.
        existed: True when a memory of the same text (but for blanks and the form of its Unicode) was there
            already in the same scope; then ``id`` is that one.
        scrubbed: Kind of secret to how many were replaced.
        note: Path and lines of the day's note that it was appended to, or None.
        supersedes: Memories whose place it took.
        contradicts: Memories that cannot be so if it is; both stay.
        learned: Memories of what a person states in it, when it is a turn of a conversation.
        passed: Why it is not remembered, where it is not: then ``id`` is an empty string. Else an empty string.
        similar: Memories that it is like, the likest first; they stay as they are and are joined with it.
    """

    id: str
    existed: bool
    scrubbed: Mapping[str, int]
    note: str | None = None
    supersedes: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    passed: str = ""
    similar: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What `forget` did.

    Attributes:
        ids: Memories that are gone for good.
        unknown: Ids that are not there.
        still: Where the words still stand: ``path:first-last`` of files that scrubjay does not edit.
        derived: What they said before somebody changed them, and memories that were made from them and said what
            they said: gone as well.
        restored: Memories that a night had archived because such, or one asked for, told of them; active again.
    """

    ids: tuple[str, ...]
    unknown: tuple[str, ...]
    still: tuple[str, ...]
    derived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that one file or folder could not do; the rest went on."""

    path: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What one sync did.

    Attributes:
        files: Files seen.
        passages: Passages the synced sources hold now.
        added: Passages that are new.
        updated: Passages whose text changed.
        unchanged: Passages that stayed.
        removed: Passages that are gone.
        forgotten: Passages and turns left out because they were forgotten: their words still stand in the files.
        linked: Concepts that memories were found to refer to, counted once a memory.
        learned: Statements of people that became memories of their own.
        embedded: Passages embedded by the backfilled models in this call.
        waiting: Passages that still wait for a backfilled model.
        scrubbed: Kind of secret to how many were replaced.
        problems: What could not be read.
        seconds: Wall time.
        changed: Files whose passages came, changed or went: absolute paths, at most 100.
        notices: What was decided for the caller, as which files are not trusted, and how to say otherwise.
    """

    files: int
    passages: int
    added: int
    updated: int
    unchanged: int
    removed: int
    forgotten: int
    linked: int
    learned: int
    embedded: int
    waiting: int
    scrubbed: Mapping[str, int]
    problems: tuple[Trouble, ...]
    seconds: float
    changed: tuple[str, ...] = ()
    notices: tuple[Trouble, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long call is.

    Attributes:
        stage: ``scan``, ``write``, ``connect``, ``embed``, ``export``, ``import``, ``copy``, ``verify``,
            ``words`` or ``vectors``.
        done: Units done (files, or passages when embedding).
        total: Units in all.
        seconds: Wall time so far.
        bytes: Bytes of files done, where files are read; half of them count when read, the rest when stored.
        all_bytes: Bytes in all, 0 where none are counted.
    """

    stage: str
    done: int
    total: int
    seconds: float
    bytes: int = 0
    all_bytes: int = 0

    @property
    def left(self) -> float | None:
        """Seconds that it takes to go on at the pace so far, judged by bytes where there are any; None before that."""
        done, total = (self.bytes, self.all_bytes) if self.all_bytes else (self.done, self.total)
        return self.seconds * (total - done) / done if done > 0 else None


@dataclass(frozen=True, slots=True)
class Enlarged:
    """What was made for a large tenant.

    Attributes:
        words: Memories whose words were put into blocks now.
        models: Models whose vectors have an index now.
        without: Why vectors have none; an empty text where they have.
        seconds: Wall time.
    """

    words: int
    models: tuple[str, ...]
    without: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Embedded:
    """What one backfill did: memories embedded now, still waiting, and its wall time."""

    embedded: int
    waiting: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A model and how far it reaches.

    Attributes:
        name: Its name, unique among the registered.
        provider: Who computes it.
        fingerprint: What its vectors are stamped with.
        dimensions: Length of a vector.
        state: ``active`` or ``adding``.
        covered: Memories that have its vectors.
        waiting: Memories that wait for them.
        problem: Why it cannot be used now, or an empty string.
    """

    name: str
    provider: str
    fingerprint: str
    dimensions: int
    state: str
    covered: int
    waiting: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source: its id, root, description, documents, passages, last sync (ISO, or None) and whether it is there.

    Attributes:
        project: Project that its files belong to, or None. Files of a repository inside it belong to that one.
        trust: ``trusted`` or ``untrusted``, where somebody said so; else ``own``, ``joint`` (mostly others' work with
            the owner's) or ``foreign``, whichever any of its files are that is least the owner's.
        share: Whether front matter may show its notes to others.
        untrusted: How many of its documents are untrusted.
    """

    id: str
    root: str
    description: str
    documents: int
    passages: int
    synced: str | None
    present: bool
    project: str | None = None
    trust: str = "own"
    share: bool = False
    untrusted: int = 0


@dataclass(frozen=True, slots=True)
class RemovedSource(SourceStatus):
    """A source that was removed, as it was.

    Attributes:
        derived: Memories that were made from what it brought and rested on that alone, gone as well.
    """

    derived: int = 0


@dataclass(frozen=True, slots=True)
class ArchivedBy:
    """What one run of consolidation archived and is archived to this day.

    Attributes:
        run: Id of the run.
        memories: How many.
        unasked: Whether an earlier version did it, which asked nobody.
        undo: The command that takes the run back.
    """

    run: str
    memories: int
    unasked: bool
    undo: str


@dataclass(frozen=True, slots=True)
class Status:
    """Facts about a store for one scope.

    Attributes:
        quota: The limits that the settings set, with what is used of them; that of a tenant tells how many memories it
            holds in all.
        warnings: What whoever runs it should put right.
        archived: What runs of consolidation archived, newest first, as far as it is archived to this day.
        unread: Files that are not stored as they are: they could not be read, or their sync did not end.
    """

    store: str
    bytes: int
    memories: int
    tiers: Mapping[str, int]
    statuses: Mapping[str, int]
    documents: int
    sources: tuple[SourceStatus, ...]
    models: tuple[ModelStatus, ...]
    quota: tuple[Allowance, ...] = ()
    warnings: tuple[str, ...] = ()
    archived: tuple[ArchivedBy, ...] = ()
    unread: tuple[Trouble, ...] = ()
