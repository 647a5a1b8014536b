"""M006: whose words a source holds, and who did what happened to a memory."""

from __future__ import annotations

from typing import Final

M006: Final = """
-- share: NULL where nobody decided since this migration. repositories: JSON, NULL before anybody looked.
ALTER TABLE source ADD COLUMN trust TEXT NOT NULL DEFAULT '';
ALTER TABLE source ADD COLUMN share INTEGER;
ALTER TABLE source ADD COLUMN repositories TEXT;
ALTER TABLE event ADD COLUMN actor TEXT NOT NULL DEFAULT '';
"""
