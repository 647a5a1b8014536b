"""Converse: a transcript and its cursor -> Ready documents, a few hundred turns at a time.

A turn's id is made of what its tool calls it for ever, so a copy of it in another file (a session that was
resumed) is the same memory, kept where it was first seen. What was said stays remembered when the tool throws
its log away; `forget` and `sources remove` take it out.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from scrubjay.ingest.chunk import ChunkSettings, chunk
from scrubjay.ingest.echo import echo
from scrubjay.ingest.label import Labelled
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.read import versions
from scrubjay.ingest.scrub import Scrubbed, scrub
from scrubjay.ingest.scrub_answers import TURNS
from scrubjay.ingest.scrub_turns import Stored, redact, scrub_turns, stored
from scrubjay.ingest.sources.files import FileState
from scrubjay.ingest.sources.read import opened
from scrubjay.ingest.sources.transcripts.due import continues
from scrubjay.ingest.sources.transcripts.follow import follow
from scrubjay.ingest.sources.transcripts.format import Broken, Format, Left
from scrubjay.ingest.write import Ready
from scrubjay.memory.dates import now_micros
from scrubjay.memory.ids import memory_id, memory_key, text_hash, tombstones
from scrubjay.memory.records import OWN, Document, Place, Record, Source, When
from scrubjay.memory.reports import Trouble
from scrubjay.memory.scope import Scope
from scrubjay.memory.sources import whose
from scrubjay.memory.tiers import UNTRUSTED
from scrubjay.memory.turns import Turn
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Prepared

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

AT_ONCE: Final = 500
"""Memories of one step: what is lost of the work when the process is killed, and what is held in memory."""
EDGE: Final = 4_096
"""Bytes at the beginning of a log and before its cursor by which it is known again."""
PIECES: Final = 1_000
"""Ordinals of one line of a transcript: more pieces than that of one turn share the last."""
TIER: Final = "observation"
PAUSED: Final = Left("said during a pause")
RECALLED: Final = Left("recalled memories")
"""What was put into a conversation from memory: it is no news."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What turns of one source share.

    Attributes:
        source: The source.
        store: Where they go. What was yielded must be written before more is asked for.
        scope: Who remembers.
        base: The base model.
        secret: The tenant's key of ids.
        chunks: How a long turn is cut.
        project: Returns the project of a turn's directory and remote.
        silent: Tells of an agent, a session and a time whether what was said there is passed over.
    """

    source: Source
    store: Store
    scope: Scope
    base: Embedder
    secret: bytes
    chunks: ChunkSettings
    project: Callable[[str, str | None], str | None]
    silent: Callable[[str, str, int | None], bool]


@dataclass(slots=True)
class Heard:
    """What reading a transcript came to, for the tally."""

    scrubbed: Counter[str]
    left: Counter[Left]
    problems: list[Trouble]
    added: int = 0
    copies: int = 0
    forgotten: int = 0


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A turn: its session, its text without secrets, what it left if it was forgotten, and its memories."""

    session: str
    whole: str
    marks: set[str]
    pieces: Sequence[Record]


def mark(file: BinaryIO, cursor: int) -> str:
    """Return what a log is known by again: a hash of its first bytes and of those before the cursor."""
    file.seek(0)
    head = file.read(min(EDGE, cursor))
    file.seek(max(0, cursor - EDGE))
    return hashlib.sha256(head + b"\x00" + file.read(min(EDGE, cursor))).hexdigest()


def resumed(file: BinaryIO, form: Format, old: Document | None) -> int:
    """Return where to read on: the cursor of what was stored, or 0 for a file that is new or another by now."""
    if old is None or not form.lines or old.versions.extractor != form.version:
        return 0
    return old.cursor if continues(file, old.cursor) and mark(file, old.cursor) == old.content_hash else 0


def converse(
    talk: Talk, state: FileState, form: Format, old: tuple[Document | None, str | None], heard: Heard
) -> Iterator[Ready]:
    """Read what a transcript says beyond what is stored.

    Args:
        talk: What the turns share.
        state: The file.
        form: Which tool wrote it.
        old: Its document as it is stored, and the path under which it stood if it was moved.
        heard: Is told what was left out and what could not be read.

    Raises:
        SourceError: The file as a whole cannot be read.
    """
    known, moved_from = old
    root = Path(talk.source.root)
    path = root / state.path
    stamp = replace(versions(talk.chunks), extractor=form.version)
    with opened(root, state.path) as file, opened(root, state.path) as again:
        cursor = resumed(file, form, known)
        title = known.title if known is not None and cursor else path.name
        numbers: dict[str, int] = {}
        before: dict[str, list[Stored]] = {}
        turns: list[Turn] = []
        end = cursor
        first = True

        def ready(*, last: bool) -> Ready:
            # What stops between two parts must be read on by the next sync: only with the last is the file as it is.
            at = state.mtime_ns if last else 0
            document = Document(
                talk.source.id, state.path, mark(again, end), at, state.size, title, stamp, end
            )
            with talk.store.reader(talk.scope) as reader:
                clean, called = _scrubbed(reader, talk, turns, before, resumed=cursor > 0)
                drawn = [_draw(talk, state, *one, heard) for one in zip(turns, clean, strict=True)]
                with_ids = _fresh(reader, talk, drawn, numbers, heard)
            _last_said(drawn, before)
            if called:
                heard.scrubbed["password"] += redact(talk.store, talk.scope, talk.base, called)
            labelled = Labelled(document, tuple(with_ids), (), (), moved_from if first else None, grows=True)
            return Ready(labelled, [""] * len(with_ids))

        for step in follow(file, form, root, state.path, cursor):
            for found in step.found:
                if isinstance(found, Turn):
                    turns += _new(talk, found, heard)
                    title = (found.title if form.lines else "") or title
                elif isinstance(found, Left):
                    heard.left[found] += 1
                else:
                    heard.problems.append(_broken(path, found))
            end = step.end
            if len(turns) >= AT_ONCE:
                yield ready(last=False)
                turns, first = [], False
        yield ready(last=True)


def _new(talk: Talk, turn: Turn, heard: Heard) -> list[Turn]:
    """Return a turn without the memories that were recalled into it; none, if that is all or nobody was to listen."""
    if talk.silent(turn.agent, turn.session, turn.at):
        heard.left[PAUSED] += 1
        return []
    found = echo(turn.text)
    if not found.blocks:
        return [turn]
    heard.left[RECALLED] += found.blocks
    return [replace(turn, text=found.text)] if found.text.strip() else []


def _broken(path: Path, found: Broken) -> Trouble:
    return Trouble(str(path), f"Line {found.line} {found.message}; it was left out, the rest was taken.")


def _scrubbed(
    reader: Reader, talk: Talk, turns: list[Turn], before: dict[str, list[Stored]], *, resumed: bool
) -> tuple[list[Scrubbed], list[str]]:
    """Return turns without secrets, and the ids of stored ones that they call a secret.

    Args:
        reader: Where.
        talk: What they share.
        turns: They, in the order of the file.
        before: Session to its last turns, as far as they were read.
        resumed: Whether the file was read up to here before: then the store knows what was said last.
    """
    by_session: dict[str, list[int]] = {}
    for place, turn in enumerate(turns):
        by_session.setdefault(turn.session, []).append(place)
    clean: dict[int, Scrubbed] = {}
    called: list[str] = []
    for session, places in by_session.items():
        if session not in before:
            last = reader.last_turn(session) if resumed else None
            before[session] = [] if last is None else stored(reader, session, last + 1 - TURNS, last)
        known = before[session]
        found = scrub_turns(
            [turns[one].text for one in places], talk.chunks.allow, [one.text for one in known]
        )
        clean |= dict(zip(places, found.found, strict=True))
        called += [memory for place in found.called for memory in known[place].ids]
    return [clean[place] for place in range(len(turns))], called


def _last_said(drawn: Sequence[_Drawn], before: dict[str, list[Stored]]) -> None:
    """Note what was said last in each session."""
    for one in drawn:
        said = Stored(one.whole, tuple(record.id for record in one.pieces))
        before[one.session] = [*before[one.session], said][-TURNS:]


def _fresh(
    reader: Reader, talk: Talk, drawn: Sequence[_Drawn], numbers: dict[str, int], heard: Heard
) -> list[Prepared]:
    """Return the turns that are not stored yet, as memories."""
    present = reader.get([record.id for one in drawn for record in one.pieces])
    forgotten = reader.forgotten(mark for one in drawn for mark in one.marks)
    fresh: dict[str, Prepared] = {}
    for one in drawn:
        session, pieces = one.session, one.pieces
        new = [record for record in pieces if record.id not in present and record.id not in fresh]
        heard.copies += len(pieces) - len(new)
        if forgotten and not forgotten.isdisjoint(one.marks):
            heard.forgotten += 1
            continue
        if not new:
            continue
        if session not in numbers:
            last = reader.last_turn(session)
            numbers[session] = -1 if last is None else last
        numbers[session] += 1
        fresh |= {record.id: prepare(replace(record, turn=numbers[session])) for record in new}
    heard.added += len(fresh)
    return list(fresh.values())


def _marks(talk: Talk, turn: Turn, clean: Scrubbed) -> set[str]:
    """Return what a turn has left behind if it was forgotten, as it reads now or before turns around it were read."""
    marks = tombstones(talk.secret, clean.text, talk.scope.keys)
    if clean.counts:
        marks |= tombstones(talk.secret, scrub(turn.text, talk.chunks.allow).text, talk.scope.keys)
    return marks


def _draw(talk: Talk, state: FileState, turn: Turn, clean: Scrubbed, heard: Heard) -> _Drawn:
    """Return the memories that a turn makes, without a number yet."""
    records = []
    heard.scrubbed.update(clean.counts)
    now = now_micros()
    said_at = turn.at
    written = said_at if said_at is not None else state.mtime_ns // 1000 or now
    event = When(said_at, said_at, "second", "UTC") if said_at is not None else None
    project = talk.project(turn.cwd or "", turn.remote) if turn.cwd or turn.remote else None
    own = whose(talk.source, state.path) == OWN
    for piece, passage in enumerate(chunk(clean.text, name="", settings=talk.chunks)):
        content = clean.text[passage.start : passage.end]
        parts = ("turn", talk.source.key, turn.agent, turn.key, str(piece))
        place = Place(
            talk.source.id, state.path, turn.line * PIECES + min(piece, PIECES - 1),
            turn.start, turn.end, turn.line, turn.line,
        )  # fmt: skip
        record = Record(
            id=memory_id(TIER, memory_key(talk.secret, parts)),
            tier=TIER,
            content=content,
            content_hash=text_hash(content),
            title="",
            key=talk.source.key,
            owner=talk.scope.user,
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
    return _Drawn(turn.session, clean.text, _marks(talk, turn, clean), records)


def unknown(path: str, form: Format, left: Mapping[Left, int]) -> list[Trouble]:
    """Return what a person should know: kinds of records that the reader has never heard of."""
    named = [f"{kind.kind} ({count})" for kind, count in sorted(left.items(), key=str) if kind.unknown]
    if not named:
        return []
    message = (
        f"The reader of {form.version} does not know these records and left them out: {', '.join(named)}."
    )
    return [Trouble(path, message, "a newer scrubjay may know them")]
