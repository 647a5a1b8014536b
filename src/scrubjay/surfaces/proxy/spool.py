"""Spool: turns that passed -> a small durable queue on disk, from which they are remembered once.

One SQLite file (0600) beside the memories for each store. A turn is scrubbed before it is written, written before its
answer ends, and taken out when the store has it: what a killed process left is there for the next. A request that is
sent again brings nothing twice: which turns have passed is kept as hashes. It is bounded for each principal; what
comes when it is full is dropped and counted, for what waits was accepted before. A damaged file is put aside (`held`).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from scrubjay.ingest.scrub import scrub
from scrubjay.ingest.scrub_answers import TAIL, TURNS
from scrubjay.ingest.scrub_turns import scrub_turns
from scrubjay.surfaces.proxy.conversation import Said
from scrubjay.surfaces.proxy.held import DamagedError, Held
from scrubjay.surfaces.proxy.wish import Wish
from scrubjay.verbs.tokens import USUAL, Principal

MOST_TEXT: Final = 400_000
"""Characters of one turn that are remembered, its first: more is a file that somebody pasted."""
MOST_SEEN: Final = 50_000
"""Turns that are known again when they pass once more."""
MOST_SESSIONS: Final = 5_000
"""Conversations whose turns are counted on."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, user TEXT NOT NULL, groups TEXT NOT NULL, turn TEXT NOT NULL,
    size INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, last INTEGER NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Waiting:
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


class Spool:
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
        self._held = Held(first, _TABLES, damaged)

    @property
    def path(self) -> Path:
        """Where the queue is now."""
        return self._held.path

    def put(
        self, who: Principal, wish: Wish, session: str, turns: Sequence[Said], before: Sequence[Said] = ()
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
            *(one.text[-TAIL:] for one in before[-2 * TURNS :]),
            *(one.text[:MOST_TEXT] for one in turns),
        ]
        found = scrub_turns(texts, self._allow).found[-len(turns) :] if turns else ()
        clean = [(one, scrubbed.text) for one, scrubbed in zip(turns, found, strict=True)]
        names = [scrub(name, self._allow).text for name in (session, wish.project or "", wish.agent)]
        owner = (who.tenant, who.user, json.dumps(list(who.groups)))

        def write(base: sqlite3.Connection, _file: str) -> tuple[int, int]:
            written = dropped = 0
            base.execute("BEGIN IMMEDIATE")
            held: int = base.execute(
                "SELECT coalesce(sum(size), 0) FROM turns WHERE tenant = ? AND user = ?", owner[:2]
            ).fetchone()[0]
            for one, text in clean:
                key = _mark(*owner[:2], names[0], one.role, str(one.number), text)
                if base.execute("SELECT 1 FROM seen WHERE key = ?", (key,)).fetchone():
                    continue
                size = len(text.encode("utf-8", "replace"))
                if held + size > self._most:
                    dropped += 1
                    continue
                number = _number(base, _mark(*owner[:2], names[0]), one.number)
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
            _bounded(base, "seen", MOST_SEEN)
            _bounded(base, "sessions", MOST_SESSIONS)
            return written, dropped

        return self._held.do(write)

    def first(self, most: int) -> list[Waiting]:
        """Return the turns that wait longest, all of one principal."""

        def read(base: sqlite3.Connection, file: str) -> list[Waiting]:
            # Read as bytes: what is no text any more is told by who reads the JSON.
            rows = base.execute(
                "SELECT id, tenant, user, CAST(groups AS BLOB), CAST(turn AS BLOB) FROM turns ORDER BY id LIMIT ?",
                (most,),
            ).fetchall()
            try:
                return [
                    Waiting(
                        file,
                        row[0],
                        Principal(row[1], row[2], tuple(json.loads(row[3])), scopes=USUAL),
                        json.loads(row[4]),
                    )
                    for row in rows
                ]
            except ValueError as error:
                raise DamagedError("a turn is no JSON") from error

        found = self._held.do(read)
        return [one for one in found if one.who == found[0].who]

    def done(self, turns: Sequence[Waiting]) -> None:
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


def _mark(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:16]


def _number(base: sqlite3.Connection, session: bytes, said: int) -> int:
    """Return the number of a conversation's next turn: that of the request, or one more than the last had.

    A client that sends only what is new begins from 0 each time.
    """
    row = base.execute("SELECT last FROM sessions WHERE key = ?", (session,)).fetchone()
    number = said if row is None else max(said, row[0] + 1)
    base.execute("INSERT OR REPLACE INTO sessions (key, last) VALUES (?, ?)", (session, number))
    return number


def _bounded(base: sqlite3.Connection, table: str, most: int) -> None:
    base.execute(f"DELETE FROM {table} WHERE id <= (SELECT max(id) FROM {table}) - ?", (most,))
