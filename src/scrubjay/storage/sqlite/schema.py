"""SQLite schema: numbered migrations in order, each committed together with the record that it ran.

An edge is two rows of a B-tree, and there may be ten a memory, so each is made of small numbers (about 65 bytes):

* A memory is the hash of its id, as in `memory.hash`: it stays when the memory is replaced, moved or rebuilt.
* A concept or a category is a number of `node`. It stays when the node goes: edges of other keys may name it.
* `sight` numbers who may see an edge: its own key, and the keys and tiers of those ends that are memories. When a
  memory's key changes, its edges get other numbers in the same transaction.
* ``maker`` numbers what made an edge: origin, rule, run.
* A weight is a whole number of millionths where that is exact, else the number itself.
* A time counts from 2030, which takes six bytes instead of eight from 2025 to 2034.

An event names its memory by the same hash and holds no text. A row of ``reading`` is deleted with its memory's row.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from scrubjay.errors import StoreDamagedError, StoreVersionError

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database


APPLICATION_ID: Final = 0x534A4159
"""``SJAY``: identifies a scrubjay store."""

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
-- Words. A segment holds up to MAX_SLOTS memories of one key; a posting is u16 slots, then u8 frequencies.
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

M002: Final = """
ALTER TABLE memory ADD COLUMN abstract TEXT;
ALTER TABLE memory ADD COLUMN overview TEXT;
CREATE INDEX memory_project ON memory (tenant, project) WHERE project IS NOT NULL;
-- Removing a memory looked through all tags.
CREATE INDEX tag_num ON tag (num);
CREATE INDEX memory_agent ON memory (tenant, agent) WHERE agent IS NOT NULL;
-- The heads of a project, in the order of time; the condition is `graph.IS_HEAD`.
CREATE INDEX memory_head ON memory (tenant, project, coalesce(event_start, recorded_at)) WHERE project IS NOT NULL
    AND ((session IS NOT NULL AND turn = 0) OR (session IS NULL AND turn IS NULL AND coalesce(ordinal, 0) = 0));
-- kind: concept or category. hash: the number of its id, moved as memory.hash is.
CREATE TABLE node (
    num INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, kind TEXT NOT NULL, hash INTEGER NOT NULL,
    UNIQUE (tenant, kind, hash)
) STRICT;
CREATE TABLE concept (
    tenant INTEGER NOT NULL, key TEXT NOT NULL, node INTEGER NOT NULL, name TEXT NOT NULL, aliases TEXT NOT NULL,
    kind TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (tenant, key, node)
) STRICT, WITHOUT ROWID;
-- How often a key's concepts were changed.
CREATE TABLE concept_mark (
    tenant INTEGER NOT NULL, key TEXT NOT NULL, changes INTEGER NOT NULL, PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE category (
    node INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    parent TEXT, abstract TEXT NOT NULL, overview TEXT NOT NULL, model TEXT NOT NULL, centroid BLOB NOT NULL,
    at INTEGER NOT NULL, built INTEGER NOT NULL
) STRICT;
CREATE INDEX category_key ON category (tenant, key);
CREATE TABLE project (
    tenant INTEGER NOT NULL, key TEXT NOT NULL, place TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (tenant, key, place)
) STRICT, WITHOUT ROWID;
-- Tiers are places in TIERS. dst_key is empty and dst_tier -1 where the end is a concept or a category.
CREATE TABLE sight (
    id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, key TEXT NOT NULL,
    src_key TEXT NOT NULL, src_tier INTEGER NOT NULL, dst_key TEXT NOT NULL, dst_tier INTEGER NOT NULL,
    UNIQUE (tenant, key, src_key, src_tier, dst_key, dst_tier)
) STRICT;
CREATE TABLE maker (
    id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, origin TEXT NOT NULL, rule TEXT NOT NULL, run TEXT
) STRICT;
CREATE INDEX maker_name ON maker (tenant, rule, origin, run);
DROP TABLE edge;
-- kind is a place in STORED_EDGE_KINDS. One edge a source, kind, end and key; the key is a part of the sight.
CREATE TABLE edge (
    tenant INTEGER NOT NULL, src INTEGER NOT NULL, kind INTEGER NOT NULL, dst INTEGER NOT NULL, sight INTEGER NOT NULL,
    weight ANY NOT NULL, at INTEGER NOT NULL, maker INTEGER NOT NULL, PRIMARY KEY (tenant, src, kind, dst, sight)
) STRICT, WITHOUT ROWID;
CREATE INDEX edge_inward ON edge (tenant, kind, dst, src, sight);
"""

M003: Final = """
CREATE TABLE event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, key TEXT NOT NULL, memory INTEGER NOT NULL,
    op TEXT NOT NULL, at INTEGER NOT NULL, run TEXT, other INTEGER, count INTEGER NOT NULL, before TEXT NOT NULL
) STRICT;
-- Each ends with the number of the row, so that one time's events come in the order of writing.
CREATE INDEX event_at ON event (tenant, at);
CREATE INDEX event_memory ON event (tenant, memory, at);
CREATE INDEX event_run ON event (tenant, run, at) WHERE run IS NOT NULL;
CREATE INDEX event_other ON event (tenant, other) WHERE other IS NOT NULL;
-- counts: as JSON.
CREATE TABLE run (
    tenant INTEGER NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, rules TEXT NOT NULL,
    started INTEGER NOT NULL, ended INTEGER, counts TEXT NOT NULL, PRIMARY KEY (tenant, key, id)
) STRICT, WITHOUT ROWID;
"""

M004: Final = "CREATE INDEX memory_pinned ON memory (tenant) WHERE pinned = 1;"

M005: Final = """
CREATE TABLE reading (num INTEGER PRIMARY KEY, mark TEXT NOT NULL, data BLOB NOT NULL) STRICT;
"""

M006: Final = """
-- share: NULL where nobody decided since this migration. repositories: JSON, NULL before anybody looked.
ALTER TABLE source ADD COLUMN trust TEXT NOT NULL DEFAULT '';
ALTER TABLE source ADD COLUMN share INTEGER;
ALTER TABLE source ADD COLUMN repositories TEXT;
ALTER TABLE event ADD COLUMN actor TEXT NOT NULL DEFAULT '';
"""

M007: Final = """
-- due: what enrichment is still to do, and since when (`records.due_mark`). What was written before is enriched.
ALTER TABLE memory ADD COLUMN due INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memory_due ON memory (tenant, num) WHERE due > 0;
"""

M008: Final = """
-- Abstract and overview are computed on display.
ALTER TABLE memory DROP COLUMN abstract;
ALTER TABLE memory DROP COLUMN overview;
-- The next VACUUM frees their space (`maintenance.is_vacuum_due`).
INSERT OR REPLACE INTO counter SELECT 'leftovers', 1 WHERE EXISTS (SELECT 1 FROM memory);
"""

MIGRATIONS: Final[tuple[tuple[int, str, str], ...]] = (
    (1, "first", M001),
    (2, "connected", M002),
    (3, "lived", M003),
    (4, "pinned", M004),
    (5, "read", M005),
    (6, "trusted", M006),
    (7, "enriched", M007),
    (8, "shortened", M008),
)


def schema_version(connection: Database, path: str) -> int:
    """Return a file's schema number, 0 for an empty file."""
    connection.execute("BEGIN")  # one snapshot: another process may be making the tables just now
    try:
        application_id = connection.pragma("application_id")
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        version = connection.pragma("user_version") if tables else 0
    finally:
        connection.execute("COMMIT")
    if application_id != APPLICATION_ID and tables:
        raise StoreDamagedError(
            f"{path} is an SQLite database, but not a scrubjay store (application id {application_id:#x}). It was not touched.",
            hint="name another file with --store",
        )
    newest = MIGRATIONS[-1][0]
    if version > newest:
        raise StoreVersionError(
            f"{path} has schema {version}; this scrubjay knows {newest}. It was not touched.",
            hint="upgrade scrubjay: `pip install --upgrade scrubjay`",
        )
    return int(version)


def migrate(connection: Database, version: int) -> None:
    for number, name, script in MIGRATIONS:
        if number > version:
            _run_migration(connection, number, name, script)


def _run_migration(connection: Database, number: int, name: str, script: str) -> None:
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
