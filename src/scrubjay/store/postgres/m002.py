"""M002: what connects memories."""

from __future__ import annotations

from typing import Final

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
