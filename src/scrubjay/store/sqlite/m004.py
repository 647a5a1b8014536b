"""M004: the pinned memories by themselves: asked for whenever a conversation begins, and few among many."""

from __future__ import annotations

from typing import Final

M004: Final = "CREATE INDEX memory_pinned ON memory (tenant) WHERE pinned = 1;"
