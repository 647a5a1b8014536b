"""M002: what connects memories (edges, concepts, categories), projects, and each memory's L0 and L1.

An edge is two rows of a B-tree, and there may be ten a memory, so each is made of small numbers:

* A memory is the hash of its id, as in `memory.hash`: it stays when the memory is replaced, moved or rebuilt.
* A concept or a category is a number of `node`. It stays when the thing goes: edges of other keys may name it.
* `sight` numbers who may see an edge: its own key, and the keys of those ends that are memories. Their tiers
  are there too, so that an edge is read without looking at its memories. When a memory's key changes, the
  edges at both its sides are renumbered in the same transaction.
* `maker` numbers what made an edge: origin, rule, run.
* A weight is a whole number of millionths where that is exact, else the number itself.
* A time is counted from 2030, which takes six bytes instead of eight from 2025 to 2034.

Measured (tests/store/sqlite): about 65 bytes an edge, the index that leads back included.
"""

from __future__ import annotations

from typing import Final

M002: Final = """
ALTER TABLE memory ADD COLUMN abstract TEXT;
ALTER TABLE memory ADD COLUMN overview TEXT;
CREATE INDEX memory_project ON memory (tenant, project) WHERE project IS NOT NULL;
-- Removing a memory looked through all tags.
CREATE INDEX tag_num ON tag (num);
CREATE INDEX memory_agent ON memory (tenant, agent) WHERE agent IS NOT NULL;
-- The heads of a project, in the order of time; the condition is `chains.HEAD`.
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
-- kind is a place in STORED. One edge a source, kind, end and key; the key is a part of the sight.
CREATE TABLE edge (
    tenant INTEGER NOT NULL, src INTEGER NOT NULL, kind INTEGER NOT NULL, dst INTEGER NOT NULL, sight INTEGER NOT NULL,
    weight ANY NOT NULL, at INTEGER NOT NULL, maker INTEGER NOT NULL, PRIMARY KEY (tenant, src, kind, dst, sight)
) STRICT, WITHOUT ROWID;
CREATE INDEX edge_inward ON edge (tenant, kind, dst, src, sight);
"""
