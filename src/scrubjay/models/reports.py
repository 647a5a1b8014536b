"""Return values of every call except searches; apart from `results`, so that a search loads fewer classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from scrubjay.frozen import frozen
from scrubjay.models.records import QuotaUsage

if TYPE_CHECKING:
    from scrubjay.models.records import Record


@frozen
class FetchReport:
    """Result of `get`.

    Attributes:
        records: The memories in the order asked for, each with its neighbours in document order.
        paths: Memory id to the absolute path of its file.
        unknown: Ids and paths that do not exist or are not visible.
        next_offset: Character offset at which to continue reading a single memory; None at its end.
        evidence: Derived memory to what it was derived from, the most important first, texts cut short.
        rules: Derived memory to the rule or model that found it in each piece of evidence: ``statement``, ``read by
            MODEL``, …
        forgotten: Passages of the file that are left out, since they were forgotten.
    """

    records: tuple[Record, ...]
    paths: Mapping[str, str]
    unknown: tuple[str, ...]
    next_offset: int | None = None
    evidence: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    forgotten: int = 0


@frozen
class MemoryPage:
    """One page of memories, ordered by the digits of their ids.

    Attributes:
        paths: Memory id to the absolute path of its file.
        next: Cursor of the next page; None at the end.
    """

    records: tuple[Record, ...]
    paths: Mapping[str, str]
    next: str | None


@frozen
class VectorReport:
    """Result of embedding texts.

    Attributes:
        rows: One unit vector for each text; zeros for a text without a word.
        tokens: Approximate tokens of the texts.
    """

    model: str
    rows: tuple[tuple[float, ...], ...]
    tokens: int


@frozen
class AddReport:
    """Result of `add`.

    Attributes:
        existed: True when the same text (ignoring whitespace and Unicode form) already existed in this scope;
            ``id`` is that memory's.
        scrubbed: Number of redacted secrets by kind.
        note: Path and lines of the daily note it was appended to, or None.
        supersedes: Memories it replaced.
        contradicts: Memories that contradict it; both stay.
        learned: Facts extracted from it, when it is a turn of a conversation.
        passed: Why nothing was stored, and then ``id`` is empty; else an empty string.
        similar: Similar memories, most similar first; they stay as they are and are linked with it.
        status: Status of the memory: an existing one may be superseded or archived, and stays so.
        notices: Sentences about a new memory that its writer may not expect.
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
    status: str = "active"
    notices: tuple[str, ...] = ()


@frozen
class ForgetReport:
    """Result of `forget`.

    Attributes:
        ids: Memories deleted for good.
        unknown: Ids that do not exist.
        still: Places where the text remains: ``path:first-last`` of files that scrubjay does not edit.
        derived: Previous versions, and memories derived from them with the same content; deleted too.
        restored: Memories that a consolidation had archived because of a deleted digest; active again.
        reactivated: Memories that only the deleted ones superseded; active again.
    """

    ids: tuple[str, ...]
    unknown: tuple[str, ...]
    still: tuple[str, ...]
    derived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    reactivated: tuple[str, ...] = ()


@frozen
class FileError:
    """An error on one file or folder; the others were processed."""

    path: str
    message: str
    hint: str = ""


@frozen
class SyncReport:
    """Result of a sync.

    Attributes:
        files: Files found.
        passages: Passages the synced sources hold now.
        added: New passages.
        updated: Passages whose text changed.
        unchanged: Passages that stayed.
        removed: Passages that are gone.
        forgotten: Passages and turns skipped because they were forgotten; their text is still in the files.
        linked: Entity mentions found, counted once per memory.
        learned: Facts extracted from people's statements.
        embedded: Passages embedded by backfilled models in this call.
        waiting: Passages pending a backfilled model.
        scrubbed: Number of redacted secrets by kind.
        problems: Files that could not be read.
        changed: Absolute paths of files with new, changed or removed passages, at most 100.
        notices: Decisions made for the caller, such as untrusted files, and how to change them.
        commits: Commits that the synced histories hold now.
        left_out: Commits of them that say nothing and were left out: merges, bots, version bumps.
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
    commits: int = 0
    left_out: int = 0

    def with_enriched(self, report: EnrichReport) -> SyncReport:
        return replace(
            self,
            linked=self.linked + report.linked,
            learned=self.learned + report.learned,
            problems=(*self.problems, *report.problems),
            notices=(*self.notices, *report.notices),
            seconds=self.seconds + report.seconds,
        )

    def with_embedded(self, report: EmbedReport) -> SyncReport:
        return replace(
            self,
            embedded=self.embedded + report.embedded,
            waiting=report.waiting,
            seconds=self.seconds + report.seconds,
        )


@frozen
class Progress:
    """Progress of a long call.

    Attributes:
        stage: ``write``, ``history``, ``connect``, ``distil``, ``embed``, ``export``, ``import``, ``copy``, ``verify``,
            ``words`` or ``vectors``.
        done: Units done (files, or passages when embedding).
        total: Units in all.
        seconds: Wall time so far.
        bytes: Bytes of files done; half of a file counts when read, the rest when stored.
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
        """Estimated seconds left, by bytes where they are counted; None before the first unit."""
        done, total = (self.bytes, self.all_bytes) if self.all_bytes else (self.done, self.total)
        return self.seconds * (total - done) / done if done > 0 else None


ProgressCallback = Callable[[Progress], None]
"""Called now and then with the progress of a long call."""


@frozen
class IndexReport:
    """Result of building the index of a large tenant.

    Attributes:
        words: Memories whose postings were packed into blocks.
        models: Models whose vectors are indexed now.
        without: Why vectors have no index; empty where they have one.
    """

    words: int
    models: tuple[str, ...]
    without: str
    seconds: float


@frozen
class EmbedReport:
    """Result of a backfill: memories embedded, memories that this user sees and that still wait, and wall time."""

    embedded: int
    waiting: int
    seconds: float


@frozen
class EnrichReport:
    """Result of an enrichment.

    Attributes:
        linked: Entity mentions found, counted once per memory.
        learned: Facts extracted from people's statements.
        waiting: Memories that still wait: another process is at work on them, or ``problems`` says why.
        problems: What could not be stored.
        notices: Edited memory notes that were stored.
    """

    linked: int
    learned: int
    waiting: int
    seconds: float
    problems: tuple[FileError, ...] = ()
    notices: tuple[FileError, ...] = ()


@frozen
class ModelStatus:
    """A registered model and its coverage.

    Attributes:
        name: Its name, unique among the registered.
        provider: Who computes it.
        fingerprint: Fingerprint stored with its vectors.
        dimensions: Length of a vector.
        state: ``active`` or ``adding``.
        covered: Memories with its vectors.
        waiting: Memories pending.
        problem: Why it cannot be used now, or an empty string.
        hint: What may be done with it, or an empty string.
    """

    name: str
    provider: str
    fingerprint: str
    dimensions: int
    state: str
    covered: int
    waiting: int
    problem: str = ""
    hint: str = ""


@frozen
class SourceStatus:
    """A source: its id, root, description, documents, passages, last sync (ISO, or None) and whether it exists.

    Attributes:
        project: Project of its files, or None. Files of a repository inside it belong to that repository's project.
        trust: ``trusted`` or ``untrusted`` where a person set it; else the least own of its files: ``own``, ``joint``
            (mostly others' work with the owner's) or ``foreign``.
        share: Whether front matter may make its notes visible to others.
        untrusted: Number of untrusted documents.
        commits: Commits that it holds, where it is the history of a git repository; its root is the ``.git``.
        left_out: Commits that were left out, since they say nothing.
        forgotten: Passages of its files that are left out, since they were forgotten.
        imported: Whether it came with an import and was never synced here.
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
    commits: int = 0
    left_out: int = 0
    forgotten: int = 0
    imported: bool = False


@frozen
class RemovedSource(SourceStatus):
    """A removed source, as it was; ``commits`` are also those of the history that went with a folder.

    Attributes:
        derived: Deleted memories that were derived from its content alone.
    """

    derived: int = 0


@frozen
class ArchivedByRun:
    """Memories that one consolidation run archived and that are still archived.

    Attributes:
        run: Id of the run.
        memories: Number of memories.
        unasked: Whether an earlier version archived them without being asked.
        undo: Command that restores them.
    """

    run: str
    memories: int
    unasked: bool
    undo: str


@frozen
class StoreStatus:
    """Facts about a store for one scope.

    Attributes:
        quota: Configured limits and their use; that of a tenant counts all of its memories.
        warnings: Problems for the operator to fix.
        notes: Decisions made for this store automatically, and suggestions.
        archived: Memories archived by consolidation runs and not restored, newest run first.
        unread: Files whose stored state is incomplete: unreadable, or their sync did not end.
        unenriched: Documents that wait for enrichment: concepts, links, categories and facts.
        unenriched_since: When the first of them was stored, or None.
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
    notes: tuple[str, ...] = ()
    archived: tuple[ArchivedByRun, ...] = ()
    unread: tuple[FileError, ...] = ()
    unenriched: int = 0
    unenriched_since: str | None = None


@frozen
class ExportReport:
    """Result of an export.

    Attributes:
        path: The file or folder, or an empty string for a stream.
        counts: Number of lines by type (``memory``, ``edge``, …); of Markdown ``memory``, ``written`` and ``removed``.
        lines: Lines in all; 0 for Markdown.
        bytes: Bytes in all; 0 for Markdown.
        problems: Files that were left as they are, and why.
    """

    path: str
    counts: Mapping[str, int]
    lines: int
    bytes: int
    seconds: float
    problems: tuple[FileError, ...] = ()


@frozen
class NotesReport:
    """Result of writing memories as Markdown files.

    Attributes:
        memories: Memories that have a file there.
        written: Files that were written.
        removed: Files of forgotten memories that were removed.
        amended: Memories whose file a person had edited.
        added: Memories that were read from new files.
        problems: Files that were left as they are, and why.
        stored: Files whose text was stored, and as which memory.
    """

    path: str
    memories: int
    written: int
    removed: int
    amended: int
    added: int
    problems: tuple[FileError, ...]
    seconds: float
    stored: tuple[FileError, ...] = ()


@frozen
class BackupReport:
    """Result of a backup.

    Attributes:
        path: The file: a complete store.
    """

    path: str
    bytes: int
    seconds: float


@frozen
class RejectedItem:
    """A line or file that an import rejected.

    Attributes:
        where: ``line 7``, or a file and line.
    """

    where: str
    message: str


@frozen
class ImportSample:
    """One of the first memories of an import.

    Attributes:
        date: ISO date of its event, or an empty string.
    """

    tier: str
    title: str
    text: str
    date: str


@frozen
class KeptMemory:
    """A memory that an import kept though the store of the export forgot it.

    Attributes:
        place: ``path:first-last`` of the file that holds its text, or None.
        reason: Why it was kept.
    """

    id: str
    short: str
    place: str | None
    reason: str


@frozen
class ImportReport:
    """Result of an import or its dry run.

    Attributes:
        added: New memories.
        existed: Memories that already existed.
        statuses: Those of them that were archived, superseded or made active, as the export's store did later.
        forgotten: Memories skipped because their text was forgotten here.
        passed: Memories skipped because their file exists in another version, or because they only repeat recalled
            text.
        edges: New edges.
        concepts: New dictionary entries.
        events: New history entries.
        runs: New consolidation runs.
        documents: New documents.
        sources: Folders and files that the next sync will read.
        scrubbed: Number of redacted secrets by kind.
        broken: Rejected items, at most one hundred.
        failures: Number of all rejected items.
        samples: The first new memories.
        passed_files: Files here that are missing or have another version.
        forgotten_there: Memories here that were forgotten in the store that wrote the export.
        forgotten_too: Those of them that were forgotten here, too, as asked for.
        kept: Those of them that were not, though asked for.
        still: Places where the text of those forgotten here remains: ``path:first-last`` of files.
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
    passed_files: tuple[str, ...] = ()
    forgotten_there: tuple[str, ...] = ()
    forgotten_too: tuple[str, ...] = ()
    kept: tuple[KeptMemory, ...] = ()
    still: tuple[str, ...] = ()
    statuses: int = 0


@frozen
class CopyReport:
    """Verified result of copying a tenant to another store.

    Attributes:
        store: Target store.
        counts: Number of rows by part (``memories``, ``edges``, …).
        digests: Digest of each part, equal in both stores.
        resumed: Whether an earlier, interrupted copy was continued.
    """

    tenant: str
    store: str
    counts: Mapping[str, int]
    digests: Mapping[str, str]
    resumed: bool
    seconds: float


@frozen
class MemoryLine:
    """A memory on one line.

    Attributes:
        text: Beginning of its text.
        date: Date of its event, else when it was recorded; None for an undated passage or import.
        where: ``path:first-last`` for a passage of a file, else an empty string.
    """

    id: str
    text: str
    date: str | None
    where: str
    status: str


@frozen
class FaultExample:
    """A memory with a fault.

    Attributes:
        other: The memory that would be kept instead, or None.
        fix: Status it would get: ``archived``, ``superseded``, or empty.
    """

    why: str
    memory: MemoryLine
    other: MemoryLine | None
    fix: str


@frozen
class FaultRate:
    """Frequency of one kind of fault.

    Attributes:
        kind: ``junk``, ``near-duplicate``, …
        count: Memories with it.
        share: Share of all active memories, 0..1.
        fixable: How many of them the fix would archive.
        examples: The worst ones.
        fix: Command that fixes it, or an empty string.
    """

    kind: str
    count: int
    share: float
    fixable: int
    reasons: Mapping[str, int]
    tiers: Mapping[str, int]
    examples: tuple[FaultExample, ...]
    fix: str


@frozen
class AuditReport:
    """Quality of the stored memories.

    Attributes:
        memories: Active memories visible to the caller.
        rates: One entry for each kind of fault.
        missing: Sources whose folder or file is gone, with what they hold.
        fixed: Ids archived by kind of fault; with ``dry_run``, those that would be.
        undo: Command that reverts it, or an empty string.
    """

    memories: int
    tiers: Mapping[str, int]
    rates: tuple[FaultRate, ...]
    missing: tuple[SourceStatus, ...]
    fixed: Mapping[str, tuple[str, ...]]
    dry_run: bool
    undo: str
    seconds: float


@frozen
class RetentionReport:
    """Result of applying the retention settings, or of a dry run.

    Attributes:
        forgotten: Deleted memories, with the earlier versions of those that were edited.
        undo: Command that reverts the archiving, or an empty string.
    """

    archived: tuple[str, ...]
    forgotten: tuple[str, ...]
    dry_run: bool
    undo: str


@frozen
class CreatedMemory:
    """A memory that a consolidation created or would create.

    Attributes:
        key: Visibility key, the same as that of all of its sources.
        title: Its title, or an empty string.
        sources: Ids of the memories it was derived from.
    """

    id: str
    tier: str
    key: str
    title: str
    content: str
    sources: tuple[str, ...]


@frozen
class ConsolidationReport:
    """Result of a consolidation or its dry run.

    Attributes:
        run: Id of the run, for undo; None where nothing was written.
        made: Digests created.
        kinds: Number of memories covered by digests, by kind: ``turn``, ``note`` or ``tool``.
        tokens: Tokens of those memories.
        kept: Tokens of their digests.
        undigested: Conversations without a digest by the reason: ``recent`` (the last turn is not old enough) or
            ``short`` (too little was said in them to quote).
        archived: Archived memories: none, unless asked for.
        files: Notes with archived passages, and how many of each.
        renewed: Digests and facets removed because their sources changed or are gone, or this run derives them again.
        promoted: Memories derived from others: facts, facets, procedures, crystals, insights.
        supported: Known facts that gained evidence.
        read: Turns read by a language model.
        found: Facts found by the language model only.
        rephrased: Digests rewritten by the language model.
        refused: Statements of the language model that no source supports; not stored.
        partial: Problems, such as a model that did not answer.
        interrupted: Earlier runs that were killed; what they wrote is complete and stays.
        passed: Why nothing was done: ``busy`` (another process consolidates), ``not due``; else empty.
    """

    run: str | None = None
    made: tuple[CreatedMemory, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict)
    tokens: int = 0
    kept: int = 0
    undigested: Mapping[str, int] = field(default_factory=dict)
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


@frozen
class UndoReport:
    """Result of undoing a consolidation.

    Attributes:
        removed: Memories it had created, now deleted.
        restored: Memories it had archived, active again. Memories a person changed since then stay.
        already: Whether it was undone before.
    """

    run: str
    removed: int
    restored: int
    already: bool = False


@frozen
class Redaction:
    """One secret or private span that was redacted before its text was stored.

    Attributes:
        memory: Id of the memory that holds the marker.
        kind: Kind of secret, such as ``password``; ``private`` for a private span.
        path: The file, absolute where the source is a local folder; empty for an addition.
        line: Line of the file, from 1; 0 for an addition, and for a document that has no lines.
        before: At most 24 characters before the marker on its line.
        after: At most 24 characters after it.
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


@frozen
class Check:
    """Result of one diagnostic check.

    Attributes:
        about: Stable name: ``store``, ``claude-code capture``.
        state: ``ok``, ``warning`` (works, but the operator should know) or ``problem``.
        found: Finding, one sentence without anybody's text.
        fix: Next command or step, or an empty string.
        mended: Whether it was repaired just now.
    """

    about: str
    state: str
    found: str
    fix: str = ""
    mended: bool = False


def check_ok(about: str, found: str, *, mended: bool = False) -> Check:
    return Check(about, OK, found, "", mended)


def check_warning(about: str, found: str, fix: str = "") -> Check:
    return Check(about, WARNING, found, fix)


def check_problem(about: str, found: str, fix: str = "") -> Check:
    return Check(about, PROBLEM, found, fix)
