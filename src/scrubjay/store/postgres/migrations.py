"""Migrations: numbered, in order, each committed together with the record that it ran."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from scrubjay.errors import StoreVersionError
from scrubjay.store.postgres.connect import SCHEMA, shown, transaction

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database

LOCK: Final = 0x534A4159
"""``SJAY``: the advisory lock under which one process at a time makes tables."""

M001: Final = """
-- generation: which memories answer now. versions: what made them, as JSON.
CREATE TABLE tenant (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, secret bytea NOT NULL,
    generation integer NOT NULL DEFAULT 1, versions text
);
CREATE TABLE source (
    tenant bigint NOT NULL, id text NOT NULL, root text NOT NULL, description text NOT NULL,
    include text[] NOT NULL,
    exclude text[] NOT NULL, key text NOT NULL, added_at bigint NOT NULL, synced_at bigint,
    PRIMARY KEY (tenant, id)
);
CREATE TABLE document (
    tenant bigint NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY, generation integer NOT NULL,
    source text NOT NULL,
    path text NOT NULL, content_hash text NOT NULL, mtime_ns bigint NOT NULL, size bigint NOT NULL,
    title text NOT NULL, cursor bigint NOT NULL, chunker text NOT NULL, tokenizer text NOT NULL,
    scrubber text NOT NULL, extractor text NOT NULL, labeller text NOT NULL,
    PRIMARY KEY (tenant, id), UNIQUE (tenant, generation, source, path)
);
-- hash is the id's number moved by 2^63, so that it sorts as its digits do. at: event start, else recorded.
-- terms and tfs lie side by side: a row a posting would be twenty rows where this is one.
CREATE TABLE memory (
    tenant bigint NOT NULL, num bigint GENERATED ALWAYS AS IDENTITY, generation integer NOT NULL,
    key text NOT NULL,
    hash bigint NOT NULL, tier text NOT NULL, status text NOT NULL, document bigint, ordinal integer,
    char_start bigint, char_end bigint, line_start bigint, line_end bigint, owner text NOT NULL, project text,
    agent text, session text, role text, turn bigint, origin text NOT NULL, title text NOT NULL,
    heading_path text[] NOT NULL, content_hash text NOT NULL, event_start bigint, event_end bigint,
    event_precision text, event_zone text, recorded_at bigint NOT NULL, updated_at bigint NOT NULL,
    last_used bigint,
    valid_from bigint, valid_until bigint, pinned boolean NOT NULL, confidence double precision NOT NULL,
    strength double precision NOT NULL, tags text[] NOT NULL, content text NOT NULL, language text NOT NULL,
    at bigint NOT NULL, length bigint NOT NULL, terms integer[] NOT NULL, tfs smallint[] NOT NULL,
    PRIMARY KEY (tenant, num), UNIQUE (tenant, generation, hash)
);
CREATE INDEX memory_key ON memory (tenant, generation, key);
CREATE INDEX memory_document ON memory (tenant, document) WHERE document IS NOT NULL;
CREATE INDEX memory_terms ON memory USING gin (terms);
CREATE TABLE term (
    tenant bigint NOT NULL, id integer GENERATED ALWAYS AS IDENTITY, text text NOT NULL,
    PRIMARY KEY (tenant, id), UNIQUE (tenant, text)
);
CREATE TABLE model (
    tenant bigint NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY, fingerprint text NOT NULL,
    provider text NOT NULL,
    name text NOT NULL, revision text NOT NULL, dimensions integer NOT NULL, pooling text NOT NULL,
    most_tokens integer NOT NULL, state text NOT NULL, PRIMARY KEY (tenant, id), UNIQUE (tenant, fingerprint)
);
CREATE TABLE vector (
    tenant bigint NOT NULL, memory bigint NOT NULL, model bigint NOT NULL, place integer NOT NULL,
    scale real NOT NULL, data bytea NOT NULL, PRIMARY KEY (tenant, memory, model, place),
    FOREIGN KEY (tenant, memory) REFERENCES memory ON DELETE CASCADE,
    FOREIGN KEY (tenant, model) REFERENCES model ON DELETE CASCADE
);
CREATE INDEX vector_model ON vector (tenant, model);
CREATE TABLE cache (
    tenant bigint NOT NULL, model bigint NOT NULL, hash text NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    scales real[] NOT NULL, data bytea NOT NULL, PRIMARY KEY (tenant, model, hash),
    FOREIGN KEY (tenant, model) REFERENCES model ON DELETE CASCADE
);
CREATE TABLE tombstone (tenant bigint NOT NULL, hash text NOT NULL, PRIMARY KEY (tenant, hash));
"""

M002: Final = """
ALTER TABLE memory ADD COLUMN abstract text, ADD COLUMN overview text;
-- Hashed: a name may be longer than a B-tree's row.
CREATE INDEX memory_session ON memory USING hash (session);
CREATE INDEX memory_project ON memory USING hash (project);
-- hash, src, dst: numbers of ids, moved as memory.hash is; what dst is an id of, the edge's kind tells.
CREATE TABLE concept (
    tenant bigint NOT NULL, key text NOT NULL, hash bigint NOT NULL, name text NOT NULL, aliases text[] NOT NULL,
    kind text NOT NULL, at bigint NOT NULL, PRIMARY KEY (tenant, key, hash)
);
-- How often a key's concepts were changed.
CREATE TABLE concept_mark (
    tenant bigint NOT NULL, key text NOT NULL, changes bigint NOT NULL, PRIMARY KEY (tenant, key)
);
CREATE TABLE category (
    tenant bigint NOT NULL, hash bigint NOT NULL, key text NOT NULL, kind text NOT NULL, name text NOT NULL,
    parent text, abstract text NOT NULL, overview text NOT NULL, model text NOT NULL, centroid bytea NOT NULL,
    at bigint NOT NULL, built bigint NOT NULL, PRIMARY KEY (tenant, hash)
);
-- One row a key and place: a tenant has one writer at a time, who deletes before inserting.
CREATE TABLE project (tenant bigint NOT NULL, key text NOT NULL, place text NOT NULL, name text NOT NULL);
CREATE INDEX project_key ON project (tenant, key);
CREATE TABLE edge (
    tenant bigint NOT NULL, src bigint NOT NULL, kind text NOT NULL, dst bigint NOT NULL, key text NOT NULL,
    weight double precision NOT NULL, at bigint NOT NULL, origin text NOT NULL, rule text NOT NULL, run text,
    PRIMARY KEY (tenant, src, kind, dst, key)
);
CREATE INDEX edge_inward ON edge (tenant, dst, kind);
"""

M003: Final = """
-- memory, other: numbers of ids, moved as memory.hash is. A tenant has one writer at a time: seq is their order.
CREATE TABLE event (
    tenant bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, key text NOT NULL, memory bigint NOT NULL,
    op text NOT NULL, at bigint NOT NULL, run text, other bigint, count bigint NOT NULL, before text NOT NULL,
    PRIMARY KEY (tenant, seq)
);
CREATE INDEX event_at ON event (tenant, at, seq);
CREATE INDEX event_memory ON event (tenant, memory);
CREATE INDEX event_run ON event USING hash (run);
CREATE INDEX event_other ON event (tenant, other) WHERE other IS NOT NULL;
-- counts: as JSON.
CREATE TABLE run (
    tenant bigint NOT NULL, key text NOT NULL, id text NOT NULL, state text NOT NULL, rules text NOT NULL,
    started bigint NOT NULL, ended bigint, counts text NOT NULL, PRIMARY KEY (tenant, key, id)
);
"""

M004: Final = """
-- A row goes with the row of its memory, whose number is never used again: what is written anew is read anew.
CREATE TABLE reading (
    tenant bigint NOT NULL, memory bigint NOT NULL, mark text NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (tenant, memory), FOREIGN KEY (tenant, memory) REFERENCES memory ON DELETE CASCADE
);
"""

MIGRATIONS: Final[tuple[tuple[int, str, str], ...]] = (
    (1, "first", M001),
    (2, "connected", M002),
    (3, "lived", M003),
    (4, "read", M004),
)


def migrate(db: Database, url: str) -> None:
    """Bring a database's schema to the newest.

    Raises:
        StoreVersionError: A newer scrubjay made it.
    """
    newest = MIGRATIONS[-1][0]
    if _done(db, url) == newest:
        return
    # The lock is taken before the transaction: what a session knows of tables is brought up to date at BEGIN.
    db.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
    try:
        _run_missing(db, url)
    finally:
        db.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def _run_missing(db: Database, url: str) -> None:
    with transaction(db):
        done = _done(db, url)  # another process may have run some while we waited
        db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        db.execute(
            "CREATE TABLE IF NOT EXISTS migration "
            "(id integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)"
        )
        for number, name, script in MIGRATIONS:
            if number > done:
                db.execute(script)
                db.execute(
                    "INSERT INTO migration VALUES (%s, %s, %s)", (number, name, time.time_ns() // 1000)
                )


def _done(db: Database, url: str) -> int:
    (there,) = db.execute("SELECT to_regclass(%s)::text", (f"{SCHEMA}.migration",)).fetchall()[0]
    if there is None:
        return 0
    (done,) = db.execute("SELECT coalesce(max(id), 0) FROM migration").fetchall()[0]
    newest = MIGRATIONS[-1][0]
    if done > newest:
        raise StoreVersionError(
            f"{shown(url)} has schema {done}; this scrubjay knows {newest}. It was not touched.",
            hint="upgrade scrubjay: `pip install --upgrade scrubjay`",
        )
    return int(done)
