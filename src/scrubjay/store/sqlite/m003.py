"""M003: what happened to memories, and what each run did.

A memory is the hash of its id, as in `memory.hash`: it stays when the memory is replaced, moved or rebuilt. Its
tier is that of the memory. An event holds no text, so what was forgotten leaves nothing here.
"""

from __future__ import annotations

from typing import Final

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
