"""PostgreSQL schema: numbered migrations in order, applied together in one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.errors import StoreBusyError, StoreError, StoreVersionError
from scrubjay.storage.postgres.connection import SCHEMA, hide_password, transaction

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import Database


ADVISORY_LOCK: Final = 0x534A4159
"""``SJAY``: the advisory lock of migrations."""
PATIENCE_S: Final = 30.0
"""Seconds to wait for another migration, and for open transactions."""
TRY_MS: Final = 500
"""How long one try holds up others while it waits for the tables; below the second after which PostgreSQL looks for a
deadlock, so that of two who wait for each other it is the migration that gives way, and tries again."""
PAUSE_S: Final = 0.2
"""Pause between two tries, in which blocked transactions continue."""

M001: Final = """
-- generation: which memories answer now. versions: what made them, as JSON.
CREATE TABLE tenant (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, secret bytea NOT NULL,
    generation integer NOT NULL DEFAULT 1, versions text
);
CREATE TABLE source (
    tenant bigint NOT NULL, id text NOT NULL, root text NOT NULL, description text NOT NULL,
    include text[] NOT NULL, exclude text[] NOT NULL, key text NOT NULL, added_at bigint NOT NULL, synced_at bigint,
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
    provider text NOT NULL, name text NOT NULL, revision text NOT NULL, dimensions integer NOT NULL,
    pooling text NOT NULL, most_tokens integer NOT NULL, state text NOT NULL, PRIMARY KEY (tenant, id),
    UNIQUE (tenant, fingerprint)
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

ROW_POLICY: Final = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON {table} USING ({own}) WITH CHECK ({own});
"""
OWN_TENANT: Final = "tenant = (SELECT nullif(current_setting('scrubjay.tenant', true), '')::bigint)"
"""Whether a row is of the tenant that the transaction has set, looked up once a statement; false before it has."""
NAMED_TENANT: Final = "'=' || name = (SELECT current_setting('scrubjay.tenant_name', true))"
"""How a tenant's own row is found before its number is known: by its name, after `NAME_MARK`."""
M005: Final = ROW_POLICY.format(table="tenant", own=NAMED_TENANT) + "".join(
    ROW_POLICY.format(table=table, own=OWN_TENANT)
    for table in (
        "source", "document", "memory", "term", "model", "vector", "cache", "tombstone", "concept",
        "concept_mark", "category", "project", "edge", "event", "run", "reading",
    )
)  # fmt: skip

M006: Final = """
-- mark: random, another one after each transaction that writes.
ALTER TABLE tenant ADD COLUMN mark bigint NOT NULL DEFAULT 0;
"""
M007: Final = "DROP INDEX memory_terms -- the fence kept it from being used, as && is not leakproof"
M008: Final = """
-- Memories are looked up by tenant, generation and number, and by key beside these. As long as the server has learned
-- nothing of a table that was just filled, an index that begins with tenant and generation seems to it as good as one
-- that has the number: each look read all of the tenant. Of these two, one begins otherwise, and each has all of it.
DROP INDEX memory_key;
CREATE INDEX memory_key ON memory (key, tenant, generation, hash);
ALTER TABLE memory DROP CONSTRAINT memory_tenant_generation_hash_key;
ALTER TABLE memory ADD CONSTRAINT memory_hash UNIQUE (tenant, generation, hash) INCLUDE (key);
"""
M009: Final = """
-- neighbours: how far the index of a model's vectors is: '', 'filling' (written, not asked yet) or 'ready'.
ALTER TABLE model ADD COLUMN neighbours text NOT NULL DEFAULT '';
-- posted: the words of memories up to this number stand in posting; those of later ones only beside their memories.
ALTER TABLE tenant ADD COLUMN posted bigint NOT NULL DEFAULT 0;
-- Memories from first to last that hold a word, by their numbers, and how often, side by side.
CREATE TABLE posting (
    tenant bigint NOT NULL, term integer NOT NULL, first bigint NOT NULL, last bigint NOT NULL, nums bigint[] NOT NULL,
    tfs smallint[] NOT NULL, PRIMARY KEY (tenant, term, first)
);
-- nums: what the write that left this mark on its tenant has touched (tenant_index.py).
CREATE TABLE change (
    tenant bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, mark bigint NOT NULL, nums bigint[] NOT NULL,
    PRIMARY KEY (tenant, seq)
);
""" + "".join(ROW_POLICY.format(table=table, own=OWN_TENANT) for table in ("posting", "change"))

M010: Final = """
-- share: NULL where nobody decided since this migration. repositories: JSON, NULL before anybody looked.
ALTER TABLE source ADD COLUMN trust text NOT NULL DEFAULT '', ADD COLUMN share boolean, ADD COLUMN repositories text;
ALTER TABLE event ADD COLUMN actor text NOT NULL DEFAULT '';
"""

M011: Final = """
-- due: what enrichment is still to do, and since when (`records.due_mark`). What was written before is enriched.
ALTER TABLE memory ADD COLUMN due bigint NOT NULL DEFAULT 0;
CREATE INDEX memory_due ON memory (tenant, num) WHERE due > 0;
"""

M012: Final = """
-- Abstract and overview are computed on display.
ALTER TABLE memory DROP COLUMN abstract, DROP COLUMN overview;
"""

Migration = tuple[int, str, str]
MIGRATIONS: Final[tuple[Migration, ...]] = (
    (1, "first", M001),
    (2, "connected", M002),
    (3, "lived", M003),
    (4, "read", M004),
    (5, "fenced", M005),
    (6, "marked", M006),
    (7, "lightened", M007),
    (8, "looked up", M008),
    (9, "enlarged", M009),
    (10, "trusted", M010),
    (11, "enriched", M011),
    (12, "shortened", M012),
)


def newest_schema() -> int:
    return MIGRATIONS[-1][0]


def schema_version(db: Database, url: str, known: int | None = None) -> int:
    """Return the schema number of a database, 0 where there is none.

    Raises:
        StoreVersionError: A newer scrubjay made it.
    """
    (table,) = db.execute("SELECT to_regclass(%s)::text", (f"{SCHEMA}.migration",)).fetchall()[0]
    if table is None:
        return 0
    (version,) = db.execute("SELECT coalesce(max(id), 0) FROM migration").fetchall()[0]
    known = newest_schema() if known is None else known
    if version > known:
        raise StoreVersionError(
            f"{hide_password(url)} has schema {version}; this scrubjay knows {known}. It was not touched.",
            hint="upgrade scrubjay: `pip install --upgrade scrubjay`",
        )
    return int(version)


def migrate(
    db: Database, url: str, patience: float = PATIENCE_S, migrations: Sequence[Migration] | None = None
) -> None:
    """Bring a database to the newest schema while others read and write; on an error close the connection."""
    from psycopg import errors

    wanted = MIGRATIONS if migrations is None else migrations
    deadline = time.monotonic() + patience
    try:
        # Taken before the transaction: BEGIN refreshes the session's knowledge of the tables.
        db.execute("SELECT set_config('lock_timeout', %s, false)", (f"{max(1, round(patience * 1000))}ms",))
        db.execute("SELECT pg_advisory_lock(%s)", (ADVISORY_LOCK,))
        while not _try_run_missing(db, url, wanted):
            if time.monotonic() > deadline:
                raise _busy_error(url)
            time.sleep(PAUSE_S)
        db.execute("SELECT pg_advisory_unlock(%s)", (ADVISORY_LOCK,))
    except errors.LockNotAvailable as error:
        raise _busy_error(url) from error
    except errors.InsufficientPrivilege as error:
        raise _version_error(url, schema_version(db, url), wanted[-1][0]) from error


def _busy_error(url: str) -> StoreBusyError:
    return StoreBusyError(
        f"The schema of {hide_password(url)} must be migrated, but other sessions hold its tables. It was not touched.",
        hint="try again when the longest have finished: select * from pg_stat_activity",
    )


def _version_error(url: str, version: int, wanted: int) -> StoreError:
    hint = "run `scrubjay status --store URL` once as the user who owns the schema: docs/deployment.md"
    if not version:
        return StoreError(
            f"{hide_password(url)} does not allow it: there is no schema {SCHEMA} yet, and this user may not make "
            "it. Nothing was written.",
            hint=hint,
        )
    return StoreVersionError(
        f"{hide_password(url)} has schema {version}; this scrubjay needs {wanted}, and this user may not change it. "
        "It was not touched.",
        hint=hint,
    )


def _try_run_missing(db: Database, url: str, migrations: Sequence[Migration]) -> bool:
    """Run what is missing, all of it or none; False where others held the tables."""
    from psycopg import errors

    try:
        with transaction(db):
            _run_missing(db, url, migrations)
    except (errors.LockNotAvailable, errors.DeadlockDetected):
        return False
    return True


def _run_missing(db: Database, url: str, migrations: Sequence[Migration]) -> None:
    db.execute(f"SET LOCAL lock_timeout TO {TRY_MS}")
    db.execute("SET LOCAL statement_timeout TO 0")  # an index on a large table takes as long as it takes
    (namespace,) = db.execute("SELECT to_regnamespace(%s)::text", (SCHEMA,)).fetchall()[0]
    if namespace is None:
        db.execute(f"CREATE SCHEMA {SCHEMA}")
    db.execute(
        "CREATE TABLE IF NOT EXISTS migration "
        "(id integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)"
    )
    # The gate that every transaction enters by. Those of schemas before the fifth look up their tenant first of all.
    # Behind it nobody holds a table that we need and waits for one that we have.
    db.execute("LOCK TABLE migration IN ACCESS EXCLUSIVE MODE")
    version = schema_version(db, url, migrations[-1][0])  # another process may have run some while we waited
    if version:
        db.execute("LOCK TABLE tenant IN ACCESS EXCLUSIVE MODE")
    for number, name, script in migrations:
        if number > version:
            db.execute(script)
            db.execute("INSERT INTO migration VALUES (%s, %s, %s)", (number, name, time.time_ns() // 1000))
