"""Turn queue: a durable queue of proxied turns on disk, and the worker that stores them as memories.

One SQLite file (0600) per store. A turn is redacted before it is written, written before its answer ends, and removed
when the store has it, so a killed process loses nothing; one written twice is the same memory, because its id depends
on its text, turn and time. Hashes of past turns keep a repeated request from adding duplicates. The queue is bounded
per principal; turns beyond that are dropped and counted. Of several servers on one store one empties the queue. A
damaged file is renamed and a new one with the next number begun, so that servers that find the damage later use that.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrubjay.api.auth import DEFAULT_SCOPES, Principal
from scrubjay.atomic_files import hold_lock
from scrubjay.config.paths import make_private
from scrubjay.errors import InputError, QuotaError
from scrubjay.frozen import frozen
from scrubjay.ingest.turns import redact_turns
from scrubjay.redaction.dialogue import CONTEXT_TURNS, TAIL_CHARACTERS
from scrubjay.redaction.redactor import redact_text
from scrubjay.server.proxy.formats import MemoryOptions, Utterance

if TYPE_CHECKING:
    from scrubjay.log import Log
    from scrubjay.memory import Memory
    from scrubjay.models.lifecycle import NewMemory
    from scrubjay.server.session import Session


BUSY_SECONDS: Final = 2.0
"""Seconds to wait for another process that writes."""
CORRUPTION_CODES: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""https://www.sqlite.org/rescode.html"""
SIDE_FILES: Final = ("-wal", "-shm")

Value = TypeVar("Value")
Work = Callable[[sqlite3.Connection, str], Value]
"""Work on a connection, given the file's name."""


class CorruptFileError(Exception):
    """A file contains what was never written into it."""


class QuarantiningFile:
    """A SQLite file shared by threads and processes; a damaged one is renamed and replaced.

    ``tables`` is SQL that creates missing tables; ``on_damage`` is called with SQLite's name of the damage and the new
    name of the file.
    """

    def __init__(self, first: Path, tables: str, on_damage: Callable[[str, str], None]) -> None:
        self._first = first
        self._tables = tables
        self._on_damage = on_damage
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._connected_to: tuple[Path, tuple[int, int]] | None = None

    @property
    def path(self) -> Path:
        """The current path: the first one, or that of the last replacement."""
        replacements = self._first.parent.glob(f"{self._first.stem}-*.db")
        return max(filter(_quarantine_number, replacements), key=_quarantine_number, default=self._first)

    def run(self, work: Work[Value]) -> Value:
        """Run work on the file in a transaction, on a new file if this one is damaged."""
        with self._lock:
            path = self.path
            try:
                return self._run(path, work)
            except CorruptFileError as error:
                self._quarantine(path, str(error))
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in CORRUPTION_CODES:
                    raise
                self._quarantine(path, error.sqlite_errorname)
            return self._run(self.path, work)

    def close(self) -> None:
        with self._lock:
            self._disconnect()

    def _run(self, path: Path, work: Work[Value]) -> Value:
        if self._connection is not None and self._connected_to != (path, _file_identity(path)):
            self._disconnect()  # another server has replaced it, or somebody has removed it
        if self._connection is None:
            self._connection, self._connected_to = self._connect(path), (path, _file_identity(path))
        with self._connection:
            return work(self._connection, path.name)

    def _connect(self, path: Path) -> sqlite3.Connection:
        make_private(str(path.parent))
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.executescript(self._tables)
        except BaseException:
            connection.close()
            raise
        return connection

    def _quarantine(self, path: Path, damage: str) -> None:
        self._disconnect()
        replacement = self._first.with_name(f"{self._first.stem}-{_quarantine_number(path) + 1}.db")
        os.close(os.open(replacement, os.O_RDWR | os.O_CREAT, 0o600))
        new_name = f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        for suffix in SIDE_FILES:
            with suppress(FileNotFoundError):
                os.rename(f"{path}{suffix}", path.with_name(f"{new_name}{suffix}"))
        try:
            os.rename(path, path.with_name(new_name))
        except FileNotFoundError:  # another server was first, and reports it
            return
        self._on_damage(damage, new_name)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._connected_to = None


def _file_identity(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return stat.st_dev, stat.st_ino


def _quarantine_number(path: Path) -> int:
    """Return how many files came before one.

    >>> [_quarantine_number(Path(name)) for name in ("0a1b.db", "0a1b-1.db", "0a1b-12.db", "0a1b-x.db")]
    [0, 1, 12, 0]
    """
    tail = path.stem.partition("-")[2]
    return int(tail) if tail.isdecimal() else 0


DROP_REASONS: Final = ("full", "quota", "unwritten")
"""The queue is full, [quota] is reached, or the disk rejects the write."""


class DropCounters:
    """Turns that one server has dropped, by reason."""

    def __init__(self, log: Log) -> None:
        self.turns = dict.fromkeys(DROP_REASONS, 0)
        self._log = log
        self._lock = threading.Lock()

    def record(self, turns: int, why: str, error: str) -> None:
        """Count and log dropped turns; ``why`` is one of `DROP_REASONS`."""
        with self._lock:
            self.turns[why] += turns
            total = sum(self.turns.values())
        self._log.write("error", "proxy turns dropped", turns=turns, dropped=total, why=error)

    def report_cut(self, turns: int) -> None:
        self._log.write("warning", "proxy turns cut", turns=turns, characters=MAX_TEXT)

    def report_damage(self, damage: str, new_name: str) -> None:
        self._log.write("error", "proxy queue damaged", error=damage, file=new_name)
        logging.getLogger("scrubjay").error(
            "The proxy's queue is damaged (%s). It was put aside as proxy/%s in the data folder; its pending "
            "turns are not stored. A new queue was created and requests continue.",
            damage,
            new_name,
        )


MAX_TEXT: Final = 400_000
"""Characters of one turn that are stored; more is a pasted file."""
MAX_SEEN: Final = 50_000
"""Turns whose hash is kept to recognise them again."""
MAX_SESSIONS: Final = 5_000
"""Sessions whose turns are numbered on."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, user TEXT NOT NULL, groups TEXT NOT NULL, turn TEXT NOT NULL,
    size INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, last INTEGER NOT NULL);
"""


@frozen
class QueuedTurn:
    """A queued turn: its file and row, its principal, and the fields of the new memory."""

    file: str
    id: int
    who: Principal
    fields: dict[str, str | int | None]


class TurnQueue:
    """The queue of one store.

    ``max_bytes`` may be queued per principal; ``on_damage`` as in `QuarantiningFile`.
    """

    def __init__(
        self,
        folder: str,
        store: str,
        max_bytes: int,
        on_damage: Callable[[str, str], None],
        allow: Sequence[str] = (),
    ) -> None:
        name = hashlib.sha256(store.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        first = Path(folder) / "proxy" / f"{name}.db"
        self.lock = first.with_suffix(".lock")
        self._max_bytes = max_bytes
        self._allow = allow
        self._file = QuarantiningFile(first, _SCHEMA, on_damage)

    @property
    def path(self) -> Path:
        return self._file.path

    def put(
        self,
        who: Principal,
        options: MemoryOptions,
        session: str,
        turns: Sequence[Utterance],
        before: Sequence[Utterance] = (),
    ) -> tuple[int, int]:
        """Queue new turns durably; return how many were queued, and how many had no room.

        ``before`` are the preceding turns of the request, which help to find secrets. Turns that were queued before
        are not queued again, unless the request has no preceding turns and another answer: a client that sends only
        new turns may say "yes" twice.
        """
        if not turns:
            return 0, 0
        now = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="microseconds")
        texts = [turn.text[-TAIL_CHARACTERS:] for turn in before[-2 * CONTEXT_TURNS :]]
        texts += [turn.text[:MAX_TEXT] for turn in turns]
        redacted = redact_turns(texts, self._allow).redacted[-len(turns) :]
        session, project, agent = (
            redact_text(name, self._allow).text for name in (session, options.project or "", options.agent)
        )
        owner = (who.tenant, who.user, json.dumps(list(who.groups)))

        def write(connection: sqlite3.Connection, _file: str) -> tuple[int, int]:
            written = dropped = 0
            connection.execute("BEGIN IMMEDIATE")
            total: int = connection.execute(
                "SELECT coalesce(sum(size), 0) FROM turns WHERE tenant = ? AND user = ?", owner[:2]
            ).fetchone()[0]
            keys = [
                _turn_digest(*owner[:2], session, turn.role, str(turn.number), item.text)
                for turn, item in zip(turns, redacted, strict=True)
            ]
            seen = [
                connection.execute("SELECT 1 FROM seen WHERE key = ?", (key,)).fetchone() is not None
                for key in keys
            ]
            starts_anew = not before and turns[-1].role == "assistant" and not seen[-1]
            for turn, text, key, is_seen in zip(
                turns, (item.text for item in redacted), keys, seen, strict=True
            ):
                if is_seen and not starts_anew:
                    continue
                size = len(text.encode("utf-8", "replace"))
                if total + size > self._max_bytes:
                    dropped += 1
                    continue
                fields = {
                    "content": text,
                    "role": turn.role,
                    "session": session,
                    "turn": _next_turn_number(connection, _turn_digest(*owner[:2], session), turn.number),
                    "project": project or None,
                    "agent": agent,
                    "date": now,
                    "origin": "owner" if turn.role == "user" else "agent",
                }
                connection.execute("INSERT OR IGNORE INTO seen (key) VALUES (?)", (key,))
                connection.execute(
                    "INSERT INTO turns (tenant, user, groups, turn, size) VALUES (?, ?, ?, ?, ?)",
                    (*owner, json.dumps(fields), size),
                )
                total += size
                written += 1
            for table, limit in (("seen", MAX_SEEN), ("sessions", MAX_SESSIONS)):
                connection.execute(
                    f"DELETE FROM {table} WHERE id <= (SELECT max(id) FROM {table}) - ?", (limit,)
                )
            return written, dropped

        return self._file.run(write)

    def oldest(self, limit: int) -> list[QueuedTurn]:
        """Return the oldest turns, all of one principal."""

        def read(connection: sqlite3.Connection, file: str) -> list[QueuedTurn]:
            # As bytes: damaged text is detected by parsing the JSON.
            rows = connection.execute(
                "SELECT id, tenant, user, CAST(groups AS BLOB), CAST(turn AS BLOB) FROM turns ORDER BY id LIMIT ?",
                (limit,),
            ).fetchall()
            queued = []
            try:
                for id, tenant, user, groups, turn in rows:
                    who = Principal(tenant, user, tuple(json.loads(groups)), scopes=DEFAULT_SCOPES)
                    queued.append(QueuedTurn(file, id, who, json.loads(turn)))
                return queued
            except ValueError as error:
                raise CorruptFileError("a turn is no JSON") from error

        turns = self._file.run(read)
        return [turn for turn in turns if turn.who == turns[0].who]

    def remove(self, turns: Sequence[QueuedTurn]) -> None:
        """Remove stored turns, unless their file was replaced meanwhile."""

        def delete(connection: sqlite3.Connection, file: str) -> None:
            connection.execute("BEGIN IMMEDIATE")
            ids = [(turn.id,) for turn in turns if turn.file == file]
            connection.executemany("DELETE FROM turns WHERE id = ?", ids)

        def truncate_log(connection: sqlite3.Connection, _file: str) -> None:
            # Removed text must not stay in the write-ahead log.
            if not connection.execute("SELECT 1 FROM turns LIMIT 1").fetchone():
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        self._file.run(delete)
        self._file.run(truncate_log)

    def size(self) -> int:
        if not self.path.exists():
            return 0
        return self._file.run(
            lambda connection, _: int(connection.execute("SELECT count(*) FROM turns").fetchone()[0])
        )

    def close(self) -> None:
        self._file.close()


def _turn_digest(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:16]


def _next_turn_number(connection: sqlite3.Connection, session: bytes, number: int) -> int:
    """Return the request's number of a turn, or one more than the session's last.

    A client that sends only new turns starts from 0 each time.
    """
    row = connection.execute("SELECT last FROM sessions WHERE key = ?", (session,)).fetchone()
    number = number if row is None else max(number, row[0] + 1)
    connection.execute("INSERT OR REPLACE INTO sessions (key, last) VALUES (?, ?)", (session, number))
    return number


BATCH_SIZE: Final = 16
"""Turns of one write; other writers wait for it."""
POLL_SECONDS: Final = 5.0
"""Interval of looking for turns that another server left."""
BATCH_SECONDS: Final = 0.2
"""Seconds that a turn waits for others: writing one costs as much as writing sixteen."""
MAX_BACKOFF_SECONDS: Final = 60.0


class QueueWorker:
    def __init__(self, session: Session, queue: TurnQueue, drops: DropCounters) -> None:
        self._session = session
        self._queue = queue
        self._drops = drops
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def wake(self) -> None:
        """Look for new turns soon; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._idle.clear)
        self._loop.call_soon_threadsafe(self._wake.set)

    async def wait_until_drained(self) -> None:
        await self._idle.wait()

    async def run(self) -> None:
        backoff = 0.0
        while True:
            try:
                await self._drain()
                backoff = 0.0
                if not self._wake.is_set():
                    self._idle.set()
            except Exception as error:  # noqa: BLE001 the turns stay queued and are tried again
                backoff = min(max(1.0, backoff * 2), MAX_BACKOFF_SECONDS)
                self._session.log.write("error", "proxy remember", error=type(error).__name__)
                await asyncio.sleep(backoff)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._wake.wait()
            # Turns of the next moment are written together, after the next question was answered.
            await asyncio.sleep(BATCH_SECONDS)
            self._wake.clear()

    async def _drain(self) -> None:
        if not self._queue.path.exists():
            return
        with hold_lock(self._queue.lock) as is_alone:
            if not is_alone:
                return
            while batch := await asyncio.to_thread(self._queue.oldest, BATCH_SIZE):
                await self._store(batch)

    async def _store(self, batch: Sequence[QueuedTurn]) -> None:
        def write(memory: Memory) -> Any:
            from scrubjay.memory import Memory

            return Memory(memory.workspace.without_day_notes()).add_many(
                [new for turn in batch for new in _split_turn(turn, self._session)]
            )

        try:
            await self._session.write(batch[0].who, write)
        except (InputError, QuotaError) as error:
            if len(batch) > 1:
                for turn in batch:
                    await self._store([turn])
                return
            # Dropped, because it would block all later turns.
            if isinstance(error, QuotaError):
                self._drops.record(1, "quota", type(error).__name__)
            else:
                self._session.log.write("error", "proxy turn refused", error=type(error).__name__)
        await asyncio.to_thread(self._queue.remove, batch)


def _split_turn(turn: QueuedTurn, session: Session) -> list[NewMemory]:
    """Split a long turn into several memories, as in a transcript."""
    from scrubjay.ingest.chunker import ChunkSettings, chunk_text
    from scrubjay.models.lifecycle import NewMemory

    limits = session.settings.chunk
    fields: dict[str, Any] = dict(turn.fields)
    text = str(fields.pop("content"))
    chunks = chunk_text(text, name="", settings=ChunkSettings(limits.target, limits.overlap, limits.most))
    pieces = [text[chunk.start : chunk.end] for chunk in chunks]
    return [NewMemory(piece, **fields) for piece in pieces if piece.strip()]
