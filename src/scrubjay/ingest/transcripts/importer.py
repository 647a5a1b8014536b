"""Transcript importer: recognise a conversation log and turn it into documents.

A turn's id derives from what its tool calls it, so a copy in another file (a resumed session) is the same memory.
Turns stay when the tool deletes its log.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from scrubjay.errors import SourceError
from scrubjay.ingest.alignment import LabelledDocument
from scrubjay.ingest.chunker import ChunkSettings, chunk_text
from scrubjay.ingest.embedder import prepare_memory
from scrubjay.ingest.files import open_file
from scrubjay.ingest.reader import stage_versions
from scrubjay.ingest.scanner import DEFAULT_INCLUDE, TRANSCRIPT_INCLUDE, FileState, may_be_transcript
from scrubjay.ingest.transcripts import chatgpt, claude, codex, gemini, generic, openclaw, opencode
from scrubjay.ingest.transcripts.base import (
    HEAD_BYTES,
    BrokenRow,
    SkippedItem,
    TranscriptFormat,
    is_cursor_valid,
    storable_text,
)
from scrubjay.ingest.turns import (
    StoredTurn,
    read_stored_turns,
    redact_stored_turns,
    redact_turns,
    strip_injected,
)
from scrubjay.ingest.writer import PreparedDocument, SyncRun, unchanged_document, unreadable_document
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import memory_id, memory_key, text_hash, tombstone_hashes
from scrubjay.models.records import (
    NOT_A_TRANSCRIPT,
    OWN,
    UNTRUSTED,
    Document,
    EventTime,
    Record,
    Scope,
    Source,
    SourcePlace,
    Turn,
)
from scrubjay.models.reports import FileError
from scrubjay.models.sources import authorship
from scrubjay.redaction.dialogue import CONTEXT_TURNS
from scrubjay.redaction.redactor import RedactedText, redact_text
from scrubjay.storage.changes import PreparedMemory
from scrubjay.storage.interface import Reader, Store

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


TRANSCRIPT_FORMATS: tuple[TranscriptFormat, ...] = (
    claude.CLAUDE_CODE,
    codex.CODEX,
    openclaw.OPENCLAW,
    gemini.GEMINI_LOG,
    opencode.OPENCODE_DATABASE,
    chatgpt.CHATGPT,
    claude.CLAUDE_EXPORT,
    gemini.GEMINI_FILE,
    opencode.OPENCODE_FILES,
    generic.GENERIC,
)


def recognise_format(path: str, head: bytes) -> TranscriptFormat | None:
    """Return the format of a file by its absolute POSIX path and first `HEAD_BYTES` bytes."""
    head = head[:HEAD_BYTES]
    return next((form for form in TRANSCRIPT_FORMATS if form.recognise(path, head)), None)


MAX_KIND_CHARACTERS = 60
"""Of the name of what was left out: it is shown on a terminal, and a log may call a record anything."""

MAX_TITLE_CHARACTERS = 200
"""As long as a first line that somebody reads."""


@dataclass(frozen=True, slots=True)
class LogStep:
    """One record: the cursor behind it, and its turns, skipped items and errors."""

    end: int
    found: tuple[Turn | SkippedItem | BrokenRow, ...]


def follow_log(
    file: BinaryIO, form: TranscriptFormat, root: Path, path: str, cursor: int = 0
) -> Iterator[LogStep]:
    """Read a log on from a cursor; resuming at any step's end gives the turns that reading at once gives."""
    reader = form.reader(root, path)
    for row in form.rows(file, cursor):
        found = (row,) if isinstance(row, BrokenRow) else tuple(reader(row))
        if row.start >= cursor:
            yield LogStep(row.end, tuple(map(_storable_turn, found)))


def _storable_turn(one: Turn | SkippedItem | BrokenRow) -> Turn | SkippedItem | BrokenRow:
    if isinstance(one, Turn):
        return _storable(one) if one.text and not one.text.isspace() else SkippedItem("blank")
    if isinstance(one, SkippedItem) and not (len(one.kind) <= MAX_KIND_CHARACTERS and one.kind.isprintable()):
        shown = "".join(char if char.isprintable() else "\ufffd" for char in one.kind[:MAX_KIND_CHARACTERS])
        return replace(one, kind=shown)
    return one


def _storable(turn: Turn) -> Turn:
    text, key, session = storable_text(turn.text), storable_text(turn.key), storable_text(turn.session)
    role, agent, title = (
        storable_text(turn.role),
        storable_text(turn.agent),
        storable_text(turn.title[:MAX_TITLE_CHARACTERS]),
    )
    cwd, remote = turn.cwd and storable_text(turn.cwd), turn.remote and storable_text(turn.remote)
    new = (text, key, session, role, agent, title, cwd, remote)
    if new == (turn.text, turn.key, turn.session, turn.role, turn.agent, turn.title, turn.cwd, turn.remote):
        return turn
    turn = replace(turn, text=text, key=key, session=session, role=role)
    return replace(turn, agent=agent, title=title, cwd=cwd, remote=remote)


TURN_BATCH: Final = 500
"""Memories of one step: what is lost of the work when the process is killed, and what is held in memory."""
FINGERPRINT_BYTES: Final = 4_096
"""Bytes at the beginning of a log and before its cursor by which it is known again."""
ORDINALS_PER_LINE: Final = 1_000
"""Ordinals of one line of a transcript: more pieces than that of one turn share the last."""
TURN_TIER: Final = "observation"
SKIPPED_IN_PAUSE: Final = SkippedItem("said during a pause")
SKIPPED_RECALLED: Final = SkippedItem("recalled memories")
"""What was put into a conversation from memory: it is no news."""


@dataclass(frozen=True, slots=True)
class TranscriptContext:
    """What the turns of one source share.

    Attributes:
        project: Returns the project of a turn's directory and remote.
        paused: Whether memory was paused for an agent, a session and a time.
    """

    source: Source
    store: Store
    scope: Scope
    base: Embedder
    secret: bytes
    chunks: ChunkSettings
    project: Callable[[str, str | None], str | None]
    paused: Callable[[str, str, int | None], bool]


@dataclass(slots=True)
class ImportStats:
    scrubbed: Counter[str]
    left: Counter[SkippedItem]
    problems: list[FileError]
    added: int = 0
    copies: int = 0
    forgotten: int = 0


@dataclass(frozen=True, slots=True)
class _TurnDraft:
    session: str
    whole: str
    marks: set[str]
    pieces: Sequence[Record]


def log_fingerprint(file: BinaryIO, cursor: int) -> str:
    """Return a hash of a log's first bytes and of those before the cursor, to recognise it again."""
    file.seek(0)
    head = file.read(min(FINGERPRINT_BYTES, cursor))
    file.seek(max(0, cursor - FINGERPRINT_BYTES))
    return hashlib.sha256(head + b"\x00" + file.read(min(FINGERPRINT_BYTES, cursor))).hexdigest()


def resume_cursor(file: BinaryIO, form: TranscriptFormat, old: Document | None) -> int:
    """Return the stored cursor, or 0 for a file that is new or was rewritten."""
    if old is None or not form.lines or old.versions.extractor != form.version:
        return 0
    return (
        old.cursor
        if is_cursor_valid(file, old.cursor) and log_fingerprint(file, old.cursor) == old.content_hash
        else 0
    )


def read_transcript(
    context: TranscriptContext,
    state: FileState,
    form: TranscriptFormat,
    known: Document | None,
    moved_from: str | None,
    stats: ImportStats,
) -> Iterator[PreparedDocument]:
    """Yield what a transcript holds beyond what is stored.

    Raises:
        SourceError: The file as a whole cannot be read.
    """
    root = Path(context.source.root)
    path = root / state.path
    stamp = replace(stage_versions(context.chunks), extractor=form.version)
    with open_file(root, state.path) as file, open_file(root, state.path) as again:
        cursor = resume_cursor(file, form, known)
        title = known.title if known is not None and cursor else path.name
        numbers: dict[str, int] = {}
        before: dict[str, list[StoredTurn]] = {}
        turns: list[Turn] = []
        end = cursor
        first = True

        def ready(*, last: bool) -> PreparedDocument:
            # What stops between two parts must be read on by the next sync: only with the last is the file as it is.
            at = state.mtime_ns if last else 0
            document = Document(
                context.source.id, state.path, log_fingerprint(again, end), at, state.size, title, stamp, end
            )
            with context.store.reader(context.scope) as reader:
                clean, called = _redacted_turns(reader, context, turns, before, resumed=cursor > 0)
                drafts = [
                    _turn_memories(context, state, *one, stats) for one in zip(turns, clean, strict=True)
                ]
                with_ids = _new_turns(reader, context, drafts, numbers, stats)
            _note_last_turns(drafts, before)
            if called:
                stats.scrubbed["password"] += redact_stored_turns(
                    context.store, context.scope, context.base, called
                )
            labelled = LabelledDocument(
                document, tuple(with_ids), (), (), moved_from if first else None, grows=True
            )
            return PreparedDocument(labelled, [""] * len(with_ids))

        for step in follow_log(file, form, root, state.path, cursor):
            for found in step.found:
                if isinstance(found, Turn):
                    turns += _turn_without_injected(context, found, stats)
                    title = (found.title if form.lines else "") or title
                elif isinstance(found, SkippedItem):
                    stats.left[found] += 1
                else:
                    stats.problems.append(_broken(path, found))
            end = step.end
            if len(turns) >= TURN_BATCH:
                yield ready(last=False)
                turns, first = [], False
        yield ready(last=True)


def _turn_without_injected(context: TranscriptContext, turn: Turn, stats: ImportStats) -> list[Turn]:
    if context.paused(turn.agent, turn.session, turn.at):
        stats.left[SKIPPED_IN_PAUSE] += 1
        return []
    found = strip_injected(turn.text)
    if not found.blocks:
        return [turn]
    stats.left[SKIPPED_RECALLED] += found.blocks
    return [replace(turn, text=found.text)] if found.text.strip() else []


def _broken(path: Path, found: BrokenRow) -> FileError:
    return FileError(str(path), f"Line {found.line} {found.message}; it was left out, the rest was taken.")


def _redacted_turns(
    reader: Reader,
    context: TranscriptContext,
    turns: list[Turn],
    before: dict[str, list[StoredTurn]],
    *,
    resumed: bool,
) -> tuple[list[RedactedText], list[str]]:
    by_session: dict[str, list[int]] = {}
    for place, turn in enumerate(turns):
        by_session.setdefault(turn.session, []).append(place)
    clean: dict[int, RedactedText] = {}
    called: list[str] = []
    for session, places in by_session.items():
        if session not in before:
            last = reader.last_turn(session) if resumed else None
            before[session] = (
                [] if last is None else read_stored_turns(reader, session, last + 1 - CONTEXT_TURNS, last)
            )
        known = before[session]
        found = redact_turns(
            [turns[one].text for one in places], context.chunks.allow, [one.text for one in known]
        )
        clean |= dict(zip(places, found.found, strict=True))
        called += [memory for place in found.called for memory in known[place].ids]
    return [clean[place] for place in range(len(turns))], called


def _note_last_turns(drafts: Sequence[_TurnDraft], before: dict[str, list[StoredTurn]]) -> None:
    for one in drafts:
        said = StoredTurn(one.whole, tuple(record.id for record in one.pieces))
        before[one.session] = [*before[one.session], said][-CONTEXT_TURNS:]


def _new_turns(
    reader: Reader,
    context: TranscriptContext,
    drafts: Sequence[_TurnDraft],
    numbers: dict[str, int],
    stats: ImportStats,
) -> list[PreparedMemory]:
    present = reader.get([record.id for one in drafts for record in one.pieces])
    forgotten = reader.forgotten(mark for one in drafts for mark in one.marks)
    fresh: dict[str, PreparedMemory] = {}
    for one in drafts:
        session, pieces = one.session, one.pieces
        new = [record for record in pieces if record.id not in present and record.id not in fresh]
        stats.copies += len(pieces) - len(new)
        if forgotten and not forgotten.isdisjoint(one.marks):
            stats.forgotten += 1
            continue
        if not new:
            continue
        if session not in numbers:
            last = reader.last_turn(session)
            numbers[session] = -1 if last is None else last
        numbers[session] += 1
        fresh |= {record.id: prepare_memory(replace(record, turn=numbers[session])) for record in new}
    stats.added += len(fresh)
    return list(fresh.values())


def _marks(context: TranscriptContext, turn: Turn, clean: RedactedText) -> set[str]:
    """Tombstones of a turn, both as it reads now and as it read before its context was known."""
    marks = tombstone_hashes(context.secret, clean.text, context.scope.keys)
    if clean.counts:
        marks |= tombstone_hashes(
            context.secret, redact_text(turn.text, context.chunks.allow).text, context.scope.keys
        )
    return marks


def _turn_memories(
    context: TranscriptContext, state: FileState, turn: Turn, clean: RedactedText, stats: ImportStats
) -> _TurnDraft:
    records = []
    stats.scrubbed.update(clean.counts)
    now = now_micros()
    said_at = turn.at
    written = said_at if said_at is not None else state.mtime_ns // 1000 or now
    event = EventTime(said_at, said_at, "second", "UTC") if said_at is not None else None
    project = context.project(turn.cwd or "", turn.remote) if turn.cwd or turn.remote else None
    own = authorship(context.source, state.path) == OWN
    for piece, passage in enumerate(chunk_text(clean.text, name="", settings=context.chunks)):
        content = clean.text[passage.start : passage.end]
        parts = ("turn", context.source.key, turn.agent, turn.key, str(piece))
        place = SourcePlace(
            context.source.id, state.path, turn.line * ORDINALS_PER_LINE + min(piece, ORDINALS_PER_LINE - 1),
            turn.start, turn.end, turn.line, turn.line,
        )  # fmt: skip
        record = Record(
            id=memory_id(TURN_TIER, memory_key(context.secret, parts)),
            tier=TURN_TIER,
            content=content,
            content_hash=text_hash(content),
            title="",
            key=context.source.key,
            owner=context.scope.user,
            recorded_at=min(written, now),
            updated_at=now,
            place=place,
            project=project,
            agent=turn.agent or None,
            session=turn.session,
            role=turn.role,
            origin=turn.origin if own else UNTRUSTED,
            event=event,
        )
        records.append(record)
    return _TurnDraft(turn.session, clean.text, _marks(context, turn, clean), records)


def unknown_kinds_notice(
    path: str, form: TranscriptFormat, left: Mapping[SkippedItem, int]
) -> list[FileError]:
    """Return a notice of record kinds that the reader does not know."""
    named = [f"{kind.kind} ({count})" for kind, count in sorted(left.items(), key=str) if kind.unknown]
    if not named:
        return []
    message = (
        f"The reader of {form.version} does not know these records and left them out: {', '.join(named)}."
    )
    return [FileError(path, message, "a newer scrubjay may know them")]


AUTOMATIC_INCLUDE: Final = (*DEFAULT_INCLUDE, *TRANSCRIPT_INCLUDE)
"""Patterns of a source in which transcripts were found when it was registered (`register`)."""


def format_of_file(root: str, path: str) -> TranscriptFormat | None:
    """Return which tool wrote a file, None for a file that is no transcript or cannot be read."""
    try:
        return _detect_format(root, path)
    except (OSError, SourceError):
        return None  # whoever reads it whole says why it cannot be read


def _detect_format(root: str, path: str) -> TranscriptFormat | None:
    with open_file(Path(root), path) as file:
        return recognise_format((Path(root) / path).as_posix(), file.read(HEAD_BYTES))


def import_transcript(
    run: SyncRun, source: Source, state: FileState, known: Mapping[str, Document], gone: list[str]
) -> Iterator[PreparedDocument] | None:
    """Return a transcript's turns as documents to be written one after the other; None for another file.

    A transcript that is found to be one of ``gone`` (moved) is removed from that list.
    """
    if not may_be_transcript(state.path):
        return None
    try:
        form = _detect_format(source.root, state.path)
    except (OSError, SourceError) as error:
        trouble = _read_trouble(str(Path(source.root) / state.path), error)
        run.tally.problems.append(trouble)
        # What was said so far stays where it was read to; the log is read on when it can be.
        return iter(
            () if known.get(state.path) else (unreadable_document(run, source, state, None, trouble.message),)
        )
    old = known.get(state.path)
    if form is None and old is not None and old.cursor:
        # Emptied, or another file by now: what was said in it stays remembered, also when it goes altogether.
        return iter([unchanged_document(old, state.mtime_ns, state.size)])
    if form is None:
        return iter(_not_a_transcript(run, source, state)) if source.include == AUTOMATIC_INCLUDE else None
    return _turns(run, source, state, form, *_stored_document(source, state, known, gone))


def _turns(
    run: SyncRun,
    source: Source,
    state: FileState,
    form: TranscriptFormat,
    stored: Document | None,
    moved_from: str | None,
) -> Iterator[PreparedDocument]:
    full = str(Path(source.root) / state.path)
    stats = ImportStats(run.tally.scrubbed, Counter(), [])
    secret = run.store.secret(run.scope)
    context = TranscriptContext(
        source, run.store, run.scope, run.base, secret, run.chunks, run.projects.of, run.paused
    )
    try:
        yield from read_transcript(context, state, form, stored, moved_from, stats)
    except (OSError, SourceError) as error:
        run.tally.problems.append(_read_trouble(full, error))
    run.tally.added += stats.added
    run.tally.forgotten += stats.forgotten
    run.tally.problems += [*stats.problems, *unknown_kinds_notice(full, form, stats.left)]


def _read_trouble(path: str, error: OSError | SourceError) -> FileError:
    if isinstance(error, SourceError):
        return FileError(path, str(error), error.hint)
    return FileError(path, f"It cannot be read: {error.strerror}.", "check its rights")


def _stored_document(
    source: Source, state: FileState, known: Mapping[str, Document], gone: list[str]
) -> tuple[Document | None, str | None]:
    if state.path in known:
        return known[state.path], None
    with open_file(Path(source.root), state.path) as file:
        for path in gone:
            old = known[path]
            if 0 < old.cursor <= state.size and log_fingerprint(file, old.cursor) == old.content_hash:
                gone.remove(path)
                return old, path
    return None, None


def _not_a_transcript(run: SyncRun, source: Source, state: FileState) -> list[PreparedDocument]:
    stamp = replace(stage_versions(run.chunks), extractor=NOT_A_TRANSCRIPT)
    document = Document(
        source.id, state.path, NOT_A_TRANSCRIPT, state.mtime_ns, state.size, state.path, stamp
    )
    return [PreparedDocument(LabelledDocument(document, (), (), ()), ())]
