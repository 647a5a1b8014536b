"""Turn queue: a durable queue of proxied turns on disk, and the worker that stores them as memories.

What lay in a damaged file stays in it, for whoever can read it. The new one has another name, with a number: another
server that finds the same damage a moment later cannot put that one aside instead, and goes on with it.

One SQLite file (0600) beside the memories for each store. A turn is scrubbed before it is written, written before its
answer ends, and taken out when the store has it: what a killed process left is there for the next. A request that is
sent again brings nothing twice: which turns have passed is kept as hashes. It is bounded for each principal; what
comes when it is full is dropped and counted, for what waits was accepted before. A damaged file is put aside (`held`).

Of several servers on one store one does it. A turn is taken out of the spool when the store has it; what was written
by a process that was killed before that is written again by the next, and is the same memory, for its id is made of
what it says, of its turn and of its time.
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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrubjay.api.auth import DEFAULT_SCOPES, Principal
from scrubjay.api.jobs import try_lock
from scrubjay.errors import InputError, QuotaError
from scrubjay.ingest.turns import redact_turns
from scrubjay.redaction.dialogue import CONTEXT_TURNS, TAIL_CHARACTERS
from scrubjay.redaction.redactor import redact_text
from scrubjay.server.proxy.request import MemoryOptions, Utterance

if TYPE_CHECKING:
    from scrubjay.log import Log
    from scrubjay.memory import Memory
    from scrubjay.models.lifecycle import NewMemory
    from scrubjay.server.session import Session


BUSY_SECONDS: Final = 2.0
"""Seconds to wait for another process that writes."""
CORRUPTION_CODES: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite calls a file that is not as it was written, https://www.sqlite.org/rescode.html."""
SIDE_FILES: Final = ("-wal", "-shm")
"""What SQLite keeps beside a file; whoever reads the file needs the first."""

Value = TypeVar("Value")
Work = Callable[[sqlite3.Connection, str], Value]
"""What is done with a file, given its name besides, in one transaction."""


class CorruptFileError(Exception):
    """Work found in a file what was never written into it."""


class QuarantiningFile:
    """One file, for all threads of a process and beside other processes.

    Args:
        first: Where it is, as long as none was damaged.
        tables: What it holds, as SQL that changes nothing where it is there.
        damaged: Told SQLite's name of the damage, and the name of the file that was put aside.
    """

    def __init__(self, first: Path, tables: str, damaged: Callable[[str, str], None]) -> None:
        self._first = first
        self._tables = tables
        self._damaged = damaged
        self._guard = threading.Lock()
        self._base: sqlite3.Connection | None = None
        self._open: tuple[Path, tuple[int, int]] | None = None

    @property
    def path(self) -> Path:
        """Where it is now: the first, or the last that was begun after one that was damaged."""
        later = self._first.parent.glob(f"{self._first.stem}-*.db")
        return max(
            (one for one in later if _quarantine_number(one)), key=_quarantine_number, default=self._first
        )

    def do(self, work: Work[Value]) -> Value:
        """Return what comes of work on the file, of a new one where it is found damaged.

        Raises:
            OSError: It cannot be opened, or put aside.
            sqlite3.Error: It cannot be read or written now.
        """
        with self._guard:
            path = self.path
            try:
                return self._done(path, work)
            except CorruptFileError as error:
                self._put_aside(path, str(error))
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in CORRUPTION_CODES:
                    raise
                self._put_aside(path, error.sqlite_errorname)
            return self._done(self.path, work)

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            self._let_go()

    def _done(self, path: Path, work: Work[Value]) -> Value:
        if self._base is not None and self._open != (path, _file_identity(path)):
            self._let_go()  # another server has put it aside, or somebody has removed it
        if self._base is None:
            self._base, self._open = self._opened(path), (path, _file_identity(path))
        with self._base:
            return work(self._base, path.name)

    def _opened(self, path: Path) -> sqlite3.Connection:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        base = sqlite3.connect(path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = FULL")
            base.execute("PRAGMA secure_delete = ON")
            base.executescript(self._tables)
        except BaseException:
            base.close()
            raise
        return base

    def _put_aside(self, path: Path, damage: str) -> None:
        self._let_go()
        following = self._first.with_name(f"{self._first.stem}-{_quarantine_number(path) + 1}.db")
        os.close(os.open(following, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        aside = f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        for end in SIDE_FILES:
            with suppress(FileNotFoundError):
                os.rename(f"{path}{end}", path.with_name(f"{aside}{end}"))
        try:
            os.rename(path, path.with_name(aside))
        except FileNotFoundError:  # another server was first, and tells of it
            return
        self._damaged(damage, aside)

    def _let_go(self) -> None:
        if self._base is not None:
            self._base.close()
        self._base = self._open = None


def _file_identity(path: Path) -> tuple[int, int]:
    """Return what a file is, whatever it is called; of one that is not there, nothing that a file is."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _quarantine_number(path: Path) -> int:
    """Return how many files were begun before one.

    >>> [_quarantine_number(Path(name)) for name in ("0a1b.db", "0a1b-1.db", "0a1b-12.db", "0a1b-x.db")]
    [0, 1, 12, 0]
    """
    tail = path.stem.partition("-")[2]
    return int(tail) if tail.isdecimal() else 0


DROP_REASONS: Final = ("full", "quota", "unwritten")
"""Why a turn is dropped: no room in the queue, none in the store ([quota]), or a disk that does not take it."""


class DropCounters:
    """What one server has lost since it began.

    Attributes:
        turns: Why, to the turns that were dropped for it.
    """

    def __init__(self, log: Log) -> None:
        self.turns = dict.fromkeys(DROP_REASONS, 0)
        self._log = log
        self._guard = threading.Lock()

    def dropped(self, turns: int, why: str, error: str) -> None:
        """Count turns that could not be kept, and log them.

        Args:
            turns: How many.
            why: One of `DROP_REASONS`.
            error: The same, of the last of them, in more words.
        """
        with self._guard:
            self.turns[why] += turns
            so_far = sum(self.turns.values())
        self._log.write("error", "proxy turns dropped", turns=turns, dropped=so_far, why=error)

    def damaged(self, damage: str, aside: str) -> None:
        """Tell of a queue that was put aside, here and in the log."""
        self._log.write("error", "proxy queue damaged", error=damage, file=aside)
        logging.getLogger("scrubjay").error(
            "The proxy's queue is damaged (%s). It was put aside as proxy/%s in the data folder; its pending "
            "turns are not stored. A new queue was created and requests continue.",
            damage,
            aside,
        )


MAX_TEXT: Final = 400_000
"""Characters of one turn that are remembered, its first: more is a file that somebody pasted."""
MAX_SEEN: Final = 50_000
"""Turns that are known again when they pass once more."""
MAX_SESSIONS: Final = 5_000
"""Conversations whose turns are counted on."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, user TEXT NOT NULL, groups TEXT NOT NULL, turn TEXT NOT NULL,
    size INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, last INTEGER NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class QueuedTurn:
    """One turn that waits to be remembered.

    Attributes:
        file: Name of the file that it waits in.
        id: Its place there.
        who: Whose memory it is: tenant, user and groups.
        said: Fields of a new memory.
    """

    file: str
    id: int
    who: Principal
    said: dict[str, str | int | None]


class TurnQueue:
    """The queue of one store.

    Args:
        folder: The data folder.
        store: Which store.
        most_bytes: What may wait of one principal.
        damaged: Told of damage to the file, and of what it is called since it was put aside.
        allow: What is never replaced as a secret.

    Attributes:
        lock: File that the server locks that empties the queue.
    """

    def __init__(
        self,
        folder: str,
        store: str,
        most_bytes: int,
        damaged: Callable[[str, str], None],
        allow: Sequence[str] = (),
    ) -> None:
        name = hashlib.sha256(store.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        first = Path(folder) / "proxy" / f"{name}.db"
        self.lock = first.with_suffix(".lock")
        self._most = most_bytes
        self._allow = allow
        self._held = QuarantiningFile(first, _SCHEMA, damaged)

    @property
    def path(self) -> Path:
        """Where the queue is now."""
        return self._held.path

    def put(
        self,
        who: Principal,
        wish: MemoryOptions,
        session: str,
        turns: Sequence[Utterance],
        before: Sequence[Utterance] = (),
    ) -> tuple[int, int]:
        """Write turns down, durably, but for those that passed before; return how many, and how many had no room.

        Args:
            who: Whose they are.
            wish: What is to be done.
            session: The conversation.
            turns: They.
            before: The turns before them in the request: the new ones are read with them, to find secrets.

        Raises:
            OSError: The disk does not take them.
            sqlite3.Error: The same.
        """
        now = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="microseconds")
        texts = [
            *(one.text[-TAIL_CHARACTERS:] for one in before[-2 * CONTEXT_TURNS :]),
            *(one.text[:MAX_TEXT] for one in turns),
        ]
        found = redact_turns(texts, self._allow).redacted[-len(turns) :] if turns else ()
        clean = [(one, scrubbed.text) for one, scrubbed in zip(turns, found, strict=True)]
        names = [redact_text(name, self._allow).text for name in (session, wish.project or "", wish.agent)]
        owner = (who.tenant, who.user, json.dumps(list(who.groups)))

        def write(base: sqlite3.Connection, _file: str) -> tuple[int, int]:
            written = dropped = 0
            base.execute("BEGIN IMMEDIATE")
            held: int = base.execute(
                "SELECT coalesce(sum(size), 0) FROM turns WHERE tenant = ? AND user = ?", owner[:2]
            ).fetchone()[0]
            for one, text in clean:
                key = _turn_digest(*owner[:2], names[0], one.role, str(one.number), text)
                if base.execute("SELECT 1 FROM seen WHERE key = ?", (key,)).fetchone():
                    continue
                size = len(text.encode("utf-8", "replace"))
                if held + size > self._most:
                    dropped += 1
                    continue
                number = _next_turn_number(base, _turn_digest(*owner[:2], names[0]), one.number)
                said = {
                    "content": text, "role": one.role, "session": names[0], "turn": number,
                    "project": names[1] or None, "agent": names[2], "date": now,
                    "origin": "owner" if one.role == "user" else "agent",
                }  # fmt: skip
                base.execute("INSERT INTO seen (key) VALUES (?)", (key,))
                base.execute(
                    "INSERT INTO turns (tenant, user, groups, turn, size) VALUES (?, ?, ?, ?, ?)",
                    (*owner, json.dumps(said), size),
                )
                held += size
                written += 1
            _trim_tables(base, "seen", MAX_SEEN)
            _trim_tables(base, "sessions", MAX_SESSIONS)
            return written, dropped

        return self._held.do(write)

    def first(self, most: int) -> list[QueuedTurn]:
        """Return the turns that wait longest, all of one principal."""

        def read(base: sqlite3.Connection, file: str) -> list[QueuedTurn]:
            # Read as bytes: what is no text any more is told by who reads the JSON.
            rows = base.execute(
                "SELECT id, tenant, user, CAST(groups AS BLOB), CAST(turn AS BLOB) FROM turns ORDER BY id LIMIT ?",
                (most,),
            ).fetchall()
            try:
                return [
                    QueuedTurn(
                        file,
                        row[0],
                        Principal(row[1], row[2], tuple(json.loads(row[3])), scopes=DEFAULT_SCOPES),
                        json.loads(row[4]),
                    )
                    for row in rows
                ]
            except ValueError as error:
                raise CorruptFileError("a turn is no JSON") from error

        found = self._held.do(read)
        return [one for one in found if one.who == found[0].who]

    def done(self, turns: Sequence[QueuedTurn]) -> None:
        """Take turns out that the store has; of a file that was put aside meanwhile, nothing."""

        def remove(base: sqlite3.Connection, file: str) -> None:
            base.execute("BEGIN IMMEDIATE")
            gone = [(one.id,) for one in turns if one.file == file]
            base.executemany("DELETE FROM turns WHERE id = ?", gone)

        def tidy(base: sqlite3.Connection, _file: str) -> None:
            if not base.execute("SELECT 1 FROM turns LIMIT 1").fetchone():
                # What was said does not lie on in the log of what was written.
                base.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        self._held.do(remove)
        self._held.do(tidy)

    def waiting(self) -> int:
        """Return how many turns wait."""
        if not self.path.exists():
            return 0
        return self._held.do(lambda base, _: int(base.execute("SELECT count(*) FROM turns").fetchone()[0]))

    def close(self) -> None:
        """Let go of the file."""
        self._held.close()


def _turn_digest(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:16]


def _next_turn_number(base: sqlite3.Connection, session: bytes, said: int) -> int:
    """Return the number of a conversation's next turn: that of the request, or one more than the last had.

    A client that sends only what is new begins from 0 each time.
    """
    row = base.execute("SELECT last FROM sessions WHERE key = ?", (session,)).fetchone()
    number = said if row is None else max(said, row[0] + 1)
    base.execute("INSERT OR REPLACE INTO sessions (key, last) VALUES (?, ?)", (session, number))
    return number


def _trim_tables(base: sqlite3.Connection, table: str, most: int) -> None:
    base.execute(f"DELETE FROM {table} WHERE id <= (SELECT max(id) FROM {table}) - ?", (most,))


BATCH_SIZE: Final = 16
"""Turns of one write: others who write wait for it."""
POLL_SECONDS: Final = 5.0
"""Seconds after which it is looked whether another server left something."""
BATCH_SECONDS: Final = 0.2
"""Seconds that a turn waits for others: a write of one costs what a write of sixteen does."""
MAX_BACKOFF_SECONDS: Final = 60.0
"""Seconds between two tries while the store cannot be written."""


class QueueWorker:
    """Remembers what waits in a spool."""

    def __init__(self, session: Session, queue: TurnQueue, drops: DropCounters) -> None:
        self._session = session
        self._spool = queue
        self._losses = drops
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._rest = 0.0

    def wake(self) -> None:
        """Tell that something waits."""
        self._idle.clear()
        self._wake.set()

    async def rested(self) -> None:
        """Return when all is remembered that was there when this was asked."""
        await self._idle.wait()

    async def run(self) -> None:
        """Remember what comes, until cancelled."""
        while True:
            try:
                await self.emptied()
                self._rest = 0.0
                if not self._wake.is_set():
                    self._idle.set()
            except Exception as error:  # noqa: BLE001 whatever it is, what waits is tried again, and the worker stays
                self._rest = min(max(1.0, self._rest * 2), MAX_BACKOFF_SECONDS)
                self._session.log.write("error", "proxy remember", error=type(error).__name__)
            if self._rest:
                await asyncio.sleep(self._rest)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._wake.wait()
            # What comes in a moment is written together, and not while the next question is being answered.
            await asyncio.sleep(BATCH_SECONDS)
            self._wake.clear()

    async def emptied(self) -> None:
        """Remember all that waits, unless another server does.

        Raises:
            ScrubjayError: The store does not take it now; it waits on.
            OSError: The spool cannot be read.
            sqlite3.Error: The same.
        """
        if not self._spool.path.exists():
            return
        descriptor = os.open(self._spool.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not try_lock(descriptor):
                return
            while batch := await asyncio.to_thread(self._spool.first, BATCH_SIZE):
                await self._batch(batch)
        finally:
            os.close(descriptor)

    async def _batch(self, batch: Sequence[QueuedTurn]) -> None:
        try:
            await self._written(batch)
        except (InputError, QuotaError) as error:
            if len(batch) > 1:
                for one in batch:
                    await self._batch([one])
                return
            # It cannot be written: kept, it would keep all others from being remembered.
            if isinstance(error, QuotaError):
                self._losses.dropped(1, "quota", type(error).__name__)
            else:
                self._session.log.write("error", "proxy turn refused", error=type(error).__name__)
        await asyncio.to_thread(self._spool.done, batch)

    async def _written(self, batch: Sequence[QueuedTurn]) -> None:
        def write(memory: Memory) -> Any:
            from scrubjay.memory import without_day_notes

            return without_day_notes(memory).add_many(
                [new for one in batch for new in _split_turn(one, self._session)]
            )

        await self._session.write(batch[0].who, write)


def _split_turn(one: QueuedTurn, session: Session) -> list[NewMemory]:
    """Return a turn as memories: a long one is several, as in a transcript."""
    from scrubjay.ingest.chunker import ChunkSettings, chunk_text
    from scrubjay.models.lifecycle import NewMemory

    sizes = session.settings.chunk
    fields: dict[str, Any] = dict(one.said)
    text = str(fields.pop("content"))
    cuts = chunk_text(text, name="", settings=ChunkSettings(sizes.target, sizes.overlap, sizes.most))
    pieces = [text[each.start : each.end] for each in cuts]
    return [NewMemory(piece, **fields) for piece in pieces if piece.strip()]
