"""M009: what a large tenant is searched by, once somebody has asked for it (`enlarging`); of any other it stays empty.

pgvector's own table is not made here: most databases do not have its type.
"""

from __future__ import annotations

from typing import Final

LARGE: Final = """
-- neighbours: how far the index of a model's vectors is: '', 'filling' (written, not asked yet) or 'ready'.
ALTER TABLE model ADD COLUMN neighbours text NOT NULL DEFAULT '';
-- posted: the words of memories up to this number stand in posting; those of later ones only beside their memories.
ALTER TABLE tenant ADD COLUMN posted bigint NOT NULL DEFAULT 0;
-- Memories from first to last that hold a word, by their numbers, and how often, side by side.
CREATE TABLE posting (
    tenant bigint NOT NULL, term integer NOT NULL, first bigint NOT NULL, last bigint NOT NULL, nums bigint[] NOT NULL,
    tfs smallint[] NOT NULL, PRIMARY KEY (tenant, term, first)
);
-- nums: what the write that left this mark on its tenant has touched (`marks`).
CREATE TABLE change (
    tenant bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, mark bigint NOT NULL, nums bigint[] NOT NULL,
    PRIMARY KEY (tenant, seq)
);
"""
