"""M010: whose words a source holds, and who did what happened to a memory."""

from __future__ import annotations

from typing import Final

M010: Final = """
-- share: NULL where nobody decided since this migration. repositories: JSON, NULL before anybody looked.
ALTER TABLE source ADD COLUMN trust text NOT NULL DEFAULT '', ADD COLUMN share boolean, ADD COLUMN repositories text;
ALTER TABLE event ADD COLUMN actor text NOT NULL DEFAULT '';
"""
