"""Migrations: numbered, in order, each committed together with the record that it ran."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from scrubjay.errors import StoreDamagedError, StoreVersionError
from scrubjay.store.sqlite.m002 import M002
from scrubjay.store.sqlite.m003 import M003
from scrubjay.store.sqlite.m004 import M004
from scrubjay.store.sqlite.m005 import M005
from scrubjay.store.sqlite.m006 import M006

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

APPLICATION_ID: Final = 0x534A4159
"""``SJAY``: what tells a scrubjay store from any other SQLite file."""

M001: Final = """
CREATE TABLE migration (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
-- generation: which memories answer now. versions: what made them, as JSON.
CREATE TABLE tenant (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL, generation INTEGER NOT NULL DEFAULT 1, versions TEXT
) STRICT;
CREATE TABLE language (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES ('epoch', 1);
CREATE TABLE source (
    tenant INTEGER NOT NULL, id TEXT NOT NULL, root TEXT NOT NULL, description TEXT NOT NULL,
    include TEXT NOT NULL, exclude TEXT NOT NULL, key TEXT NOT NULL, added_at INTEGER NOT NULL, synced_at INTEGER,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE document (
    id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, source TEXT NOT NULL, path TEXT NOT NULL,
    generation INTEGER NOT NULL, content_hash TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    cursor INTEGER NOT NULL, title TEXT NOT NULL,
    chunker TEXT NOT NULL, tokenizer TEXT NOT NULL, scrubber TEXT NOT NULL, extractor TEXT NOT NULL, labeller TEXT NOT NULL,
    UNIQUE (tenant, source, generation, path)
) STRICT;
-- hash is the id's number moved by 2^63, so that it sorts as the id's digits do.
CREATE TABLE memory (
    num INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, key TEXT NOT NULL, generation INTEGER NOT NULL,
    hash INTEGER NOT NULL, tier TEXT NOT NULL, status TEXT NOT NULL,
    document INTEGER, ordinal INTEGER, char_start INTEGER, char_end INTEGER, line_start INTEGER, line_end INTEGER,
    owner TEXT NOT NULL, project TEXT, agent TEXT, session TEXT, role TEXT, turn INTEGER, origin TEXT NOT NULL,
    title TEXT NOT NULL, heading_path TEXT NOT NULL, content_hash TEXT NOT NULL,
    event_start INTEGER, event_end INTEGER, event_precision TEXT, event_zone TEXT,
    recorded_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, last_used INTEGER,
    valid_from INTEGER, valid_until INTEGER,
    pinned INTEGER NOT NULL, confidence REAL NOT NULL, strength REAL NOT NULL, tags TEXT NOT NULL, content TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX memory_hash ON memory (tenant, hash, generation);
CREATE INDEX memory_document ON memory (document, ordinal) WHERE document IS NOT NULL;
CREATE INDEX memory_session ON memory (tenant, session, turn) WHERE session IS NOT NULL;
CREATE TABLE tag (tag TEXT NOT NULL, num INTEGER NOT NULL, PRIMARY KEY (tag, num)) STRICT, WITHOUT ROWID;
CREATE TABLE edge (
    tenant INTEGER NOT NULL, src TEXT NOT NULL, kind TEXT NOT NULL, dst TEXT NOT NULL, key TEXT NOT NULL,
    weight REAL NOT NULL, at INTEGER NOT NULL, origin TEXT NOT NULL, run TEXT, rule TEXT,
    PRIMARY KEY (tenant, src, kind, dst)
) STRICT, WITHOUT ROWID;
CREATE INDEX edge_dst ON edge (tenant, dst, kind);
CREATE TABLE tombstone (tenant INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (tenant, hash)) STRICT, WITHOUT ROWID;
CREATE TABLE change (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, key TEXT NOT NULL, memory TEXT NOT NULL, op TEXT NOT NULL
) STRICT;
-- Words. A segment holds up to MOST memories of one key; a posting is u16 slots, then u8 frequencies.
CREATE TABLE term (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE (tenant, text)) STRICT;
CREATE VIRTUAL TABLE term_gram USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1');
CREATE TABLE segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, key TEXT NOT NULL, generation INTEGER NOT NULL,
    slots INTEGER NOT NULL, live INTEGER NOT NULL, length INTEGER NOT NULL, version INTEGER NOT NULL, columns BLOB NOT NULL
) STRICT;
CREATE INDEX segment_key ON segment (tenant, key, generation);
CREATE TABLE posting (segment INTEGER NOT NULL, term INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (segment, term)) STRICT, WITHOUT ROWID;
-- Where each memory stands in the segments, and its own terms, so that it can be taken out again.
CREATE TABLE slot (num INTEGER PRIMARY KEY, segment INTEGER NOT NULL, slot INTEGER NOT NULL, terms BLOB NOT NULL) STRICT;
CREATE TABLE model (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, fingerprint TEXT NOT NULL, provider TEXT NOT NULL,
    name TEXT NOT NULL, revision TEXT NOT NULL, dimensions INTEGER NOT NULL, pooling TEXT NOT NULL,
    window INTEGER NOT NULL, state TEXT NOT NULL, UNIQUE (tenant, fingerprint)
) STRICT;
-- Rows of a segment's vectors: u16 slots, f32 scales, then int8 windows, in the order of the slots.
CREATE TABLE vector (id INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER NOT NULL, model INTEGER NOT NULL, rows INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
CREATE INDEX vector_segment ON vector (segment, model);
CREATE TABLE pending (model INTEGER NOT NULL, hash INTEGER NOT NULL, num INTEGER NOT NULL, PRIMARY KEY (model, hash, num)) STRICT, WITHOUT ROWID;
CREATE INDEX pending_num ON pending (num);
CREATE TABLE cache (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, model INTEGER NOT NULL, hash TEXT NOT NULL,
    rows INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (tenant, model, hash)
) STRICT;
"""

MIGRATIONS: Final[tuple[tuple[int, str, str], ...]] = (
    (1, "first", M001),
    (2, "connected", M002),
    (3, "lived", M003),
    (4, "pinned", M004),
    (5, "read", M005),
    (6, "trusted", M006),
)


def recognise(connection: Database, path: str) -> int:
    """Return the schema of a store, 0 of an empty file, and refuse any other file.

    Raises:
        StoreDamagedError: The file is an SQLite database of something else.
        StoreVersionError: A newer scrubjay made it.
    """
    connection.execute("BEGIN")  # one snapshot: another process may be making the tables just now
    try:
        found = connection.pragma("application_id")
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        done = connection.pragma("user_version") if tables else 0
    finally:
        connection.execute("COMMIT")
    if found != APPLICATION_ID and tables:
        raise StoreDamagedError(
            f"{path} is an SQLite database, but not a scrubjay store (application id {found:#x}). It was not touched.",
            hint="name another file with --store",
        )
    newest = MIGRATIONS[-1][0]
    if done > newest:
        raise StoreVersionError(
            f"{path} has schema {done}; this scrubjay knows {newest}. It was not touched.",
            hint="upgrade scrubjay: `pip install --upgrade scrubjay`",
        )
    return int(done)


def migrate(connection: Database, done: int) -> None:
    """Bring a store of schema ``done`` to the newest."""
    for number, name, script in MIGRATIONS:
        if number > done:
            _run(connection, number, name, script)


def _run(connection: Database, number: int, name: str, script: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have run it between our look and our lock.
        if connection.pragma("user_version") < number:
            connection.execute(script)
            connection.execute(
                "INSERT INTO migration VALUES (?, ?, ?)", (number, name, time.time_ns() // 1000)
            )
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", number)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
