"""M005: what the night read from memories.

A row goes with the row of its memory, whose number is never used again: what is written anew is read anew.
"""

from __future__ import annotations

from typing import Final

M005: Final = """
CREATE TABLE reading (num INTEGER PRIMARY KEY, mark TEXT NOT NULL, data BLOB NOT NULL) STRICT;
"""
