"""Transcript importer: recognise a conversation log and turn it into documents.

A turn's id derives from what its tool calls it, so a copy in another file (a resumed session) is the same memory.
Turns stay when the tool deletes its log.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from scrubjay.errors import SourceError
from scrubjay.ingest.additions import private_tags
from scrubjay.ingest.alignment import FreshPassage, PreparedDocument
from scrubjay.ingest.chunker import chunk_text
from scrubjay.ingest.deletion import find_forgotten
from scrubjay.ingest.files import open_file
from scrubjay.ingest.reader import stage_versions
from scrubjay.ingest.scanner import FileState, is_automatic
from scrubjay.ingest.sync_run import SyncRun
from scrubjay.ingest.transcripts import chatgpt, claude, codex, gemini, generic, openclaw, opencode
from scrubjay.ingest.transcripts.base import (
    HEAD_BYTES,
    BrokenRow,
    LogRow,
    SkippedItem,
    TranscriptFormat,
    branch_session,
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
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import memory_id, memory_key, text_hash
from scrubjay.models.records import (
    NEVER_INJECT,
    NOT_A_TRANSCRIPT,
    OWN,
    UNTRUSTED,
    Document,
    EventTime,
    Record,
    Source,
    SourcePlace,
    Turn,
)
from scrubjay.models.sources import authorship
from scrubjay.redaction.dialogue import CONTEXT_TURNS
from scrubjay.redaction.redactor import RedactedText, redact_text
from scrubjay.storage.interface import Reader

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
MAX_TITLE_CHARACTERS = 200
TURN_TEXTS: Final = ("key", "role", "text", "session", "cwd", "remote", "project", "agent", "title")


@dataclass(frozen=True, slots=True)
class LogStep:
    """One record: the cursor after it, and its turns, skipped items and errors."""

    end: int
    items: tuple[Turn | SkippedItem | BrokenRow, ...]


def follow_log(
    file: BinaryIO, form: TranscriptFormat, root: Path, path: str, cursor: int = 0
) -> Iterator[LogStep]:
    """Read a log from a cursor on; resuming at any step's end gives the same turns as reading all at once."""
    reader = form.reader(root, path)
    for row in form.rows(file, cursor):
        items = (row,) if isinstance(row, BrokenRow) else tuple(reader(row))
        if row.start >= cursor:
            yield LogStep(row.end, tuple(_storable(one, row, form) for one in items))


def _storable(
    one: Turn | SkippedItem | BrokenRow, row: LogRow | BrokenRow, form: TranscriptFormat
) -> Turn | SkippedItem | BrokenRow:
    """Return an item that a store accepts: no blank turn, no unstorable character, no endless title or kind."""
    if isinstance(one, Turn):
        if not one.text or one.text.isspace():
            return SkippedItem("blank")
        texts: dict[str, Any] = {
            name: storable_text(text) for name in TURN_TEXTS if (text := getattr(one, name))
        }
        texts["title"] = texts.get("title", "")[:MAX_TITLE_CHARACTERS]
        texts.setdefault("agent", form.name)
        return replace(one, **texts, line=one.line or row.line, start=row.start, end=row.end)
    if isinstance(one, SkippedItem) and not (len(one.kind) <= MAX_KIND_CHARACTERS and one.kind.isprintable()):
        shown = "".join(char if char.isprintable() else "\ufffd" for char in one.kind[:MAX_KIND_CHARACTERS])
        return replace(one, kind=shown)
    return one


TURN_BATCH: Final = 500
"""Turns of one part of a transcript, which is held in memory and lost if the process is killed."""
FINGERPRINT_BYTES: Final = 4_096
"""Bytes at the beginning of a log and before its cursor by which it is recognised."""
ORDINALS_PER_LINE: Final = 1_000
"""Ordinals of one line of a transcript; further pieces of a turn share the last."""
TURN_TIER: Final = "observation"
SKIPPED_IN_PAUSE: Final = SkippedItem("said during a pause")
SKIPPED_RECALLED: Final = SkippedItem("recalled memories")


def format_of_file(root: str, path: str) -> TranscriptFormat | None:
    """Return a file's format, None for a file that is no transcript or cannot be read."""
    try:
        return _detect_format(root, path)
    except (OSError, SourceError):
        return None


def _detect_format(root: str, path: str) -> TranscriptFormat | None:
    with open_file(Path(root), path) as file:
        return recognise_format((Path(root) / path).as_posix(), file.read(HEAD_BYTES))


def import_transcript(
    run: SyncRun, source: Source, state: FileState, known: Mapping[str, Document], gone: list[str]
) -> Iterator[PreparedDocument] | None:
    """Return the turns of a transcript as documents to be written one after the other, None for another file.

    A transcript that was moved from one of the paths ``gone`` removes it from that list.
    """
    stored, moved_from = known.get(state.path), None
    try:
        form = _detect_format(source.root, state.path)
    except (OSError, SourceError) as error:
        reason = _report_unreadable(run, source, state, error)
        return iter(() if stored else (run.unreadable_document(source, state, None, reason),))
    if form is None and stored is not None and stored.cursor:
        # Emptied or replaced: its turns stay.
        return iter([PreparedDocument(replace(stored, mtime_ns=state.mtime_ns, size=state.size))])
    if form is None:
        if not is_automatic(source):
            return None
        versions = replace(stage_versions(run.chunks), extractor=NOT_A_TRANSCRIPT)
        document = Document(
            source.id, state.path, NOT_A_TRANSCRIPT, state.mtime_ns, state.size, state.path, versions
        )
        return iter([PreparedDocument(document)])
    if stored is None:
        moved_from = _moved_from(source, state, known, gone)
        stored = known[moved_from] if moved_from is not None else None
    own = authorship(source, state.path) == OWN
    kept = stored is not None and stored.versions.extractor == form.first_version
    version = form.first_version if kept else form.version
    return _TranscriptImport(run, source, state, form, own, version).documents(stored, moved_from)


def _moved_from(
    source: Source, state: FileState, known: Mapping[str, Document], gone: list[str]
) -> str | None:
    with open_file(Path(source.root), state.path) as file:
        for path in gone:
            old = known[path]
            if 0 < old.cursor <= state.size and log_fingerprint(file, old.cursor) == old.content_hash:
                gone.remove(path)
                return path
    return None


def _report_unreadable(run: SyncRun, source: Source, state: FileState, error: OSError | SourceError) -> str:
    if isinstance(error, SourceError):
        message, hint = str(error), error.hint
    else:
        message, hint = f"It cannot be read: {error.strerror}.", "check its rights"
    run.report_problem(source, state.path, message, hint)
    return message


def log_fingerprint(file: BinaryIO, cursor: int) -> str:
    """Return a hash of a log's first bytes and of those before the cursor, to recognise it again."""
    file.seek(0)
    head = file.read(min(FINGERPRINT_BYTES, cursor))
    file.seek(max(0, cursor - FINGERPRINT_BYTES))
    return hashlib.sha256(head + b"\x00" + file.read(min(FINGERPRINT_BYTES, cursor))).hexdigest()


@dataclass(frozen=True, slots=True)
class _TurnDraft:
    """A turn as memories without turn numbers.

    ``raw_text`` is its text before redaction, "" if that is the same; ``old_ids`` are those of its ``old_key``.
    """

    session: str
    text: str
    raw_text: str
    records: Sequence[Record]
    old_ids: Sequence[str] = ()


@dataclass(slots=True)
class _TranscriptImport:
    """The import of one transcript.

    Attributes:
        version: Version of the reader that the document has.
        recent: The last turns read of each session.
        continued: The session that a file continues which may be written anew, by the name that it gives.
    """

    run: SyncRun
    source: Source
    state: FileState
    form: TranscriptFormat
    is_own: bool
    version: str
    skipped: Counter[SkippedItem] = field(default_factory=Counter)
    last_numbers: dict[str, int] = field(default_factory=dict)
    recent: dict[str, list[StoredTurn]] = field(default_factory=dict)
    continued: dict[str, str] = field(default_factory=dict)

    def documents(self, stored: Document | None, moved_from: str | None) -> Iterator[PreparedDocument]:
        """Yield the turns that are not stored yet, in parts of `TURN_BATCH` turns."""
        try:
            yield from self._document_parts(stored, moved_from)
        except (OSError, SourceError) as error:
            _report_unreadable(self.run, self.source, self.state, error)
        unknown = [f"{one.kind} ({n})" for one, n in sorted(self.skipped.items(), key=str) if one.unknown]
        if unknown:
            message = f"The reader of {self.form.version} does not know these records and left them out: "
            hint = "a newer scrubjay may know them"
            self.run.report_problem(self.source, self.state.path, f"{message}{', '.join(unknown)}.", hint)

    def _document_parts(self, stored: Document | None, moved_from: str | None) -> Iterator[PreparedDocument]:
        root, path = Path(self.source.root), self.state.path
        versions = replace(stage_versions(self.run.chunks), extractor=self.version)
        with open_file(root, path) as file, open_file(root, path) as second:
            cursor = end = self._resume_cursor(file, stored)
            title = stored.title if stored is not None and cursor else Path(path).name
            turns: list[Turn] = []

            def part(mtime_ns: int) -> PreparedDocument:
                digest = log_fingerprint(second, end)
                document = Document(
                    self.source.id, path, digest, mtime_ns, self.state.size, title, versions, end
                )
                fresh = self._new_memories(turns, resumed=cursor > 0)
                return PreparedDocument(document, tuple(fresh), moved_from=moved_from, grows=True)

            for step in follow_log(file, self.form, root, path, cursor):
                for one in step.items:
                    if isinstance(one, Turn):
                        turns += self._without_injected(self._named(one))
                        title = (one.title if self.form.lines else "") or title
                    elif isinstance(one, SkippedItem):
                        self.skipped[one] += 1
                    else:
                        message = f"Line {one.line} {one.message}; it was left out, the rest was taken."
                        self.run.report_problem(self.source, path, message)
                end = step.end
                if len(turns) >= TURN_BATCH:
                    yield part(0)  # only with the last part is the file stored as it is
                    turns, moved_from = [], None
            yield part(self.state.mtime_ns)

    def _resume_cursor(self, file: BinaryIO, stored: Document | None) -> int:
        if stored is None or not self.form.lines or stored.versions.extractor != self.version:
            return 0
        if not is_cursor_valid(file, stored.cursor):
            return 0
        return stored.cursor if log_fingerprint(file, stored.cursor) == stored.content_hash else 0

    def _named(self, turn: Turn) -> Turn:
        if not turn.is_unnamed or self.version == self.form.first_version:
            return turn
        source = self.source.id
        return replace(turn, key=f"{source}:{turn.key}", session=f"{turn.session}@{source}")

    def _without_injected(self, turn: Turn) -> list[Turn]:
        if self.run.paused(turn.agent, turn.session, turn.at):
            self.skipped[SKIPPED_IN_PAUSE] += 1
            return []
        stripped = strip_injected(turn.text)
        if not stripped.blocks:
            return [turn]
        self.skipped[SKIPPED_RECALLED] += stripped.blocks
        return [replace(turn, text=stripped.text)] if stripped.text.strip() else []

    def _new_memories(self, turns: Sequence[Turn], *, resumed: bool) -> list[FreshPassage]:
        run = self.run
        with run.store.reader(run.scope) as reader:
            redacted, secret_ids = self._redact(reader, turns, resumed=resumed)
            drafts = [self._draft_turn(turn, clean) for turn, clean in zip(turns, redacted, strict=True)]
            fresh = self._number_turns(reader, drafts)
        for draft in drafts:
            stored = StoredTurn(draft.text, tuple(record.id for record in draft.records))
            self.recent[draft.session] = [*self.recent[draft.session], stored][-CONTEXT_TURNS:]
        if secret_ids:
            run.tally.scrubbed["password"] += redact_stored_turns(run.store, run.scope, run.base, secret_ids)
        return fresh

    def _redact(
        self, reader: Reader, turns: Sequence[Turn], *, resumed: bool
    ) -> tuple[list[RedactedText], list[str]]:
        """Return redacted turns, and the ids of stored ones that they call a secret.

        Only where the file was read before (``resumed``) does the store know what was said last.
        """
        by_session: dict[str, list[int]] = {}
        for place, turn in enumerate(turns):
            by_session.setdefault(turn.session, []).append(place)
        clean: dict[int, RedactedText] = {}
        secret_ids: list[str] = []
        for session, places in by_session.items():
            if session not in self.recent:
                last = reader.last_turn(session) if resumed else None
                self.recent[session] = (
                    [] if last is None else read_stored_turns(reader, session, last + 1 - CONTEXT_TURNS, last)
                )
            before = self.recent[session]
            texts = [turns[place].text for place in places]
            result = redact_turns(texts, self.run.chunks.allow, [one.text for one in before])
            clean |= dict(zip(places, result.redacted, strict=True))
            secret_ids += [memory for place in result.secret_places for memory in before[place].ids]
        return [clean[place] for place in range(len(turns))], secret_ids

    def _draft_turn(self, turn: Turn, clean: RedactedText) -> _TurnDraft:
        run, source, path = self.run, self.source, self.state.path
        run.tally.scrubbed.update(clean.counts)
        now = now_micros()
        said_at = turn.at if turn.at is not None else self.state.mtime_ns // 1000 or now
        event = EventTime(turn.at, turn.at, "second", "UTC") if turn.at is not None else None
        project = run.projects.resolve(turn.project) if turn.project else None
        if project is None and (turn.cwd or turn.remote):
            project = run.projects.of_directory(turn.cwd or "", turn.remote)
        title, line = "", turn.line
        if not self.form.lines:  # an export in one piece has titles, and its line numbers mean nothing
            title, line = redact_text(turn.title, run.chunks.allow).text, 0
        records: list[Record] = []
        old_ids: list[str] = []
        for piece, passage in enumerate(chunk_text(clean.text, name="", settings=run.chunks)):
            content = clean.text[passage.start : passage.end]
            ordinal = turn.line * ORDINALS_PER_LINE + min(piece, ORDINALS_PER_LINE - 1)
            ids = [
                memory_id(
                    TURN_TIER, memory_key(run.secret, ("turn", source.key, turn.agent, key, str(piece)))
                )
                for key in (turn.key, turn.old_key)
                if key
            ]
            old_ids += ids[1:]
            record = Record(
                id=ids[0],
                tier=TURN_TIER,
                content=content,
                content_hash=text_hash(content),
                title=title,
                tags=private_tags(content, turn.role),
                key=source.key,
                owner=run.scope.user,
                recorded_at=min(said_at, now),
                updated_at=now,
                place=SourcePlace(source.id, path, ordinal, turn.start, turn.end, line, line),
                project=project,
                agent=turn.agent or None,
                session=turn.session,
                role=turn.role,
                origin=turn.origin if self.is_own else UNTRUSTED,
                event=event,
            )
            records.append(record)
        return _TurnDraft(turn.session, clean.text, turn.text if clean.counts else "", records, old_ids)

    def _forgettable_texts(self, draft: _TurnDraft) -> Iterator[str]:
        """Yield the texts by which a turn may have been forgotten."""
        yield draft.text
        if draft.raw_text:  # redacted without context
            yield redact_text(draft.raw_text, self.run.chunks.allow).text

    def _number_turns(self, reader: Reader, drafts: Sequence[_TurnDraft]) -> list[FreshPassage]:
        run = self.run
        drafts = self._continued(reader, drafts)
        present = reader.get([record.id for draft in drafts for record in draft.records])
        forgotten = find_forgotten(reader, run.secret, drafts, self._forgettable_texts, run.scope.keys)
        fresh: dict[str, FreshPassage] = {}
        for draft, gone in zip(drafts, forgotten, strict=True):
            session = draft.session
            new = [one for one in draft.records if one.id not in present and one.id not in fresh]
            if gone:
                run.tally.forgotten += 1
                continue
            if grown := self._grown_turn(reader, draft, present):
                fresh |= {one.record.id: one for one in grown}
                continue
            if not new:
                continue
            if session not in self.last_numbers:
                last = reader.last_turn(session)
                self.last_numbers[session] = -1 if last is None else last
            self.last_numbers[session] += 1
            number = self.last_numbers[session]
            for one in new:  # the title of the conversation in every turn would rank all of them
                title = "" if number else one.title
                fresh[one.id] = FreshPassage(replace(one, turn=number, title=title))
        return list(fresh.values())

    def _continued(self, reader: Reader, drafts: Sequence[_TurnDraft]) -> list[_TurnDraft]:
        """Give the turns of a file that may be written anew their stored ids, and the session that they continue.

        If the first turn is another one, the file holds another conversation than before.
        """
        ids = [
            memory for one in drafts if one.old_ids for memory in (*one.old_ids, *(r.id for r in one.records))
        ]
        present = reader.get(ids) if ids else {}
        result = []
        for draft in drafts:
            if draft.old_ids:
                name = draft.session
                old = [present[memory] for memory in draft.old_ids if memory in present]
                is_old = self.continued.get(name, name) == name and (
                    [one.content for one in old] == [one.content for one in draft.records]
                )
                ids = [one.id for one in (old if is_old else draft.records)]
                if name not in self.continued:
                    stored = present.get(ids[0])
                    is_first = stored is None and reader.last_turn(name) is None
                    branch = name if is_first else branch_session(name, draft.records[0].id.partition("_")[2])
                    self.continued[name] = branch if stored is None else stored.session or name
                draft = replace(
                    draft,
                    session=self.continued[name],
                    records=[
                        replace(one, id=memory, session=self.continued[name])
                        for one, memory in zip(draft.records, ids, strict=True)
                    ],
                )
            result.append(draft)
        return result

    def _grown_turn(
        self, reader: Reader, draft: _TurnDraft, present: Mapping[str, Record]
    ) -> list[FreshPassage]:
        """Return the changed and the new pieces of a turn that was stored while it was still being written."""
        stored = [present[one.id] for one in draft.records if one.id in present]
        text = "".join(one.content for one in stored)
        if not stored or len(text) >= len(draft.text) or not draft.text.startswith(text.rstrip()):
            return []
        number, path = stored[0].turn, self.state.path
        if number is None or any(
            one.turn != number
            or one.place is None
            or (one.place.source, one.place.path) != (self.source.id, path)
            for one in stored
        ):
            return []
        if {one.id for one in reader.turns(draft.session, number, number)} != {one.id for one in stored}:
            return []
        withheld = {NEVER_INJECT}.intersection(*(one.tags for one in stored))
        pieces = []
        for one in draft.records:
            old = present.get(one.id)
            if old is None:
                tags = tuple(sorted({*one.tags, *withheld}))
                pieces.append(FreshPassage(replace(one, turn=number, tags=tags, title="")))
            elif old.content != one.content:
                at = max(one.updated_at, old.updated_at + 1)
                grown = replace(
                    old, content=one.content, content_hash=one.content_hash, updated_at=at, place=one.place
                )
                pieces.append(FreshPassage(grown, old=old))
        return pieces
