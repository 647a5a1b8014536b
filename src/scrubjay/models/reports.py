"""Reports: what all calls but searches return. A module of its own, so that a search loads fewer classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.models.records import QuotaUsage

if TYPE_CHECKING:
    from scrubjay.models.records import Record


@dataclass(frozen=True, slots=True)
class FetchReport:
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
class MemoryPage:
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
class VectorReport:
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
class AddReport:
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
class ForgetReport:
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
class FileError:
    """Something that one file or folder could not do; the rest went on."""

    path: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport:
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
    problems: tuple[FileError, ...]
    seconds: float
    changed: tuple[str, ...] = ()
    notices: tuple[FileError, ...] = ()


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


ProgressCallback = Callable[[Progress], None]
"""Called now and then with how far a long call is."""


@dataclass(frozen=True, slots=True)
class IndexReport:
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
class EmbedReport:
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
class ArchivedByRun:
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
class StoreStatus:
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
    quota: tuple[QuotaUsage, ...] = ()
    warnings: tuple[str, ...] = ()
    archived: tuple[ArchivedByRun, ...] = ()
    unread: tuple[FileError, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote.

    Attributes:
        path: The file, or an empty string where it was written to a stream.
        counts: What a line holds (``memory``, ``edge``, …) to how many there are.
        lines: Lines in all.
        bytes: Bytes in all.
        seconds: Wall time.
    """

    path: str
    counts: Mapping[str, int]
    lines: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What a backup wrote.

    Attributes:
        path: The file: a whole store.
        bytes: Its size.
        seconds: Wall time, the check of the copy included.
    """

    path: str
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RejectedItem:
    """A line or a file of an import that could not be taken.

    Attributes:
        where: ``line 7``, or a file with its line.
        message: What is wrong with it.
    """

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class ImportSample:
    """One of the first memories of an import.

    Attributes:
        tier: Kind of memory.
        title: What it is called.
        text: The beginning of its text.
        date: When what it tells of happened, as ISO text, or an empty string.
    """

    tier: str
    title: str
    text: str
    date: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do.

    Attributes:
        format: What the file or folder was read as.
        dry_run: Whether nothing was written.
        added: Memories that are new.
        existed: Memories that were there already.
        forgotten: Memories left out since their text was forgotten here.
        passed: Memories left out for another reason: the file that they stand in is here in another version,
            or they are nothing but what was recalled.
        edges: Connections that are new.
        concepts: Names that are new in the dictionary.
        events: Entries of histories that are new.
        runs: Nights that are new in the list of nights.
        documents: Documents that are new.
        sources: Folders and files that the next sync reads from now on.
        scrubbed: Kind of secret to how many were replaced.
        broken: What could not be taken, the first hundred.
        failures: How many could not be taken in all.
        samples: The first memories that are new.
        seconds: Wall time.
    """

    format: str
    dry_run: bool
    added: int = 0
    existed: int = 0
    forgotten: int = 0
    passed: int = 0
    edges: int = 0
    concepts: int = 0
    events: int = 0
    runs: int = 0
    documents: int = 0
    sources: tuple[str, ...] = ()
    scrubbed: Mapping[str, int] | None = None
    broken: tuple[RejectedItem, ...] = ()
    failures: int = 0
    samples: tuple[ImportSample, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy of a tenant to another store holds, as was verified.

    Attributes:
        tenant: The tenant.
        store: Where it is now.
        counts: Part (``memories``, ``edges``, …) to how many there are.
        digests: Part to a digest of all of it, equal in both stores.
        resumed: Whether some or all of it was there already, of a copy before this one.
        seconds: Wall time, the verification included.
    """

    tenant: str
    store: str
    counts: Mapping[str, int]
    digests: Mapping[str, str]
    resumed: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One memory in a line.

    Attributes:
        id: Its id.
        text: How it begins, on one line.
        date: When what it tells of happened, else when it was written; None for a passage of a file without a date.
        where: ``path:first-last`` of what stands in a file, else an empty string.
        status: Its status.
    """

    id: str
    text: str
    date: str | None
    where: str
    status: str


@dataclass(frozen=True, slots=True)
class FaultExample:
    """A memory with a fault.

    Attributes:
        why: What is wrong with it.
        memory: The memory.
        other: The one that stays in its stead or speaks against it, or None.
        fix: What the fix would make of it: ``archived``, ``superseded``, or empty.
    """

    why: str
    memory: MemoryLine
    other: MemoryLine | None
    fix: str


@dataclass(frozen=True, slots=True)
class FaultRate:
    """How many memories have one kind of fault.

    Attributes:
        kind: ``junk``, ``near-duplicate``, …
        count: How many have it.
        share: That over all active memories, 0..1.
        fixable: How many of them the fix would put away.
        reasons: Reason to how many have it for that.
        tiers: Tier to how many have it.
        examples: The worst.
        fix: The command that mends it, or an empty string.
    """

    kind: str
    count: int
    share: float
    fixable: int
    reasons: Mapping[str, int]
    tiers: Mapping[str, int]
    examples: tuple[FaultExample, ...]
    fix: str


@dataclass(frozen=True, slots=True)
class AuditReport:
    """How good what is remembered is.

    Attributes:
        memories: Active memories that the caller sees.
        tiers: Tier to how many of them.
        rates: One a kind.
        missing: Sources whose folder or file is gone, with what they hold.
        fixed: Kind to the ids that were put away; with ``dry_run``, that would be.
        dry_run: Whether nothing was written.
        undo: The command that takes it back, or an empty string.
        seconds: Wall time.
    """

    memories: int
    tiers: Mapping[str, int]
    rates: tuple[FaultRate, ...]
    missing: tuple[SourceStatus, ...]
    fixed: Mapping[str, tuple[str, ...]]
    dry_run: bool
    undo: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """What keeping to the settings of retention did, or would do.

    Attributes:
        archived: Memories that were put away.
        forgotten: Memories that are gone for good, with what was made from them alone.
        dry_run: Whether nothing was written.
        undo: The command that takes the archiving back, or an empty string.
    """

    archived: tuple[str, ...]
    forgotten: tuple[str, ...]
    dry_run: bool
    undo: str


@dataclass(frozen=True, slots=True)
class CreatedMemory:
    """A memory that a night made, or would make.

    Attributes:
        id: Its id.
        tier: Its tier.
        key: Its visibility key: that of all of its sources.
        title: What it is called, or an empty string.
        content: What it says.
        sources: Ids of the memories that it was made from.
    """

    id: str
    tier: str
    key: str
    title: str
    content: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """What one consolidation did, or would do.

    Attributes:
        run: Its id, by which it is taken back; None where nothing was written.
        made: The digests it made.
        kinds: ``turn``, ``note`` or ``tool`` to how many memories of that kind are told in digests now.
        tokens: Tokens of those memories.
        kept: Tokens of the digests that tell of them.
        archived: Memories archived: none, unless that was asked for.
        files: Path of each note of which passages were archived, with how many of them.
        renewed: Digests taken back because what they told of was changed or is gone; what is left is told anew.
        promoted: What it drew from several sources: facts, facets, procedures, crystals, insights.
        supported: Known facts that more sources were found to bear out.
        read: Turns that a language model read.
        found: The statements that it found there and the rules had not.
        rephrased: Digests that are told in its words.
        refused: What it said that no source bears out; none of it was written.
        partial: What the run had to do without, such as a model that did not answer.
        interrupted: Runs that were found killed midway; what they wrote is whole, and stays.
        passed: Why nothing was looked at: ``busy`` (another process consolidates), ``not due``; else empty.
        dry_run: Whether nothing was written.
        seconds: Wall time.
    """

    run: str | None = None
    made: tuple[CreatedMemory, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict)
    tokens: int = 0
    kept: int = 0
    archived: int = 0
    files: Mapping[str, int] = field(default_factory=dict)
    renewed: int = 0
    promoted: tuple[CreatedMemory, ...] = ()
    supported: int = 0
    read: int = 0
    found: tuple[CreatedMemory, ...] = ()
    rephrased: int = 0
    refused: int = 0
    partial: tuple[str, ...] = ()
    interrupted: tuple[str, ...] = ()
    passed: str = ""
    dry_run: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What taking a consolidation back did.

    Attributes:
        run: The run.
        removed: Memories it had made, now gone.
        restored: Memories it had archived, active again. What a person archived, restored or changed since stays.
        already: Whether it was undone before.
    """

    run: str
    removed: int
    restored: int
    already: bool = False


@dataclass(frozen=True, slots=True)
class Redaction:
    """One secret or private span that was replaced before its text was stored.

    Attributes:
        memory: Id of the memory that holds the mark.
        kind: Kind of secret, such as ``password``; ``private`` for a private span.
        path: The file, absolute where the source is a folder of this machine; empty for what stands in no file.
        line: Line of the file, from 1; 0 for what stands in no file.
        before: The characters before the mark on its line, at most 24.
        after: Those behind it, at most 24.
    """

    memory: str
    kind: str
    path: str
    line: int
    before: str
    after: str


OK: Final = "ok"
WARNING: Final = "warning"
PROBLEM: Final = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        about: What it is, the same each time: ``store``, ``claude-code capture``.
        state: ``check_ok``; ``check_warning`` where it works but somebody should know; ``check_problem`` where
            it does not.
        found: What was seen, one sentence without anybody's words.
        fix: The next command or step; an empty string where there is none.
        mended: Whether it was put right just now.
    """

    about: str
    state: str
    found: str
    fix: str = ""
    mended: bool = False


def check_ok(about: str, found: str, *, mended: bool = False) -> Check:
    """Return that it is as it should be."""
    return Check(about, OK, found, "", mended)


def check_warning(about: str, found: str, fix: str = "") -> Check:
    """Return that it works, and what somebody should know of it."""
    return Check(about, WARNING, found, fix)


def check_problem(about: str, found: str, fix: str = "") -> Check:
    """Return that it does not work."""
    return Check(about, PROBLEM, found, fix)
