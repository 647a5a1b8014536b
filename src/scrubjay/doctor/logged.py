"""Logged: the log's files -> what was told in them last, of a level or above."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

NAMES: Final = ("log", "log.1")
"""The file, and what was put aside when it had grown."""
LEVELS: Final = ("debug", "info", "warning", "error")
MOST_READ: Final = 1_000_000
"""Bytes read from the end of a file."""


def last(folder: Path, level: str = "error", limit: int = 5, since: str = "") -> list[dict[str, Any]]:
    """Return the last entries of a log, the newest first.

    Args:
        folder: The data folder.
        level: The least level of them.
        limit: Most entries.
        since: ISO time in UTC; what is older is left out.
    """
    least = LEVELS.index(level)
    found: list[dict[str, Any]] = []
    for name in NAMES:
        for entry in _backwards(folder / name):
            if entry["time"] < since:
                return found
            if LEVELS.index(entry["level"]) >= least:
                found.append(entry)
                if len(found) == limit:
                    return found
    return found


def _backwards(path: Path) -> Iterator[dict[str, Any]]:
    """Entries of one file from its end; a line that is none is passed over."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - MOST_READ, 0))
            lines = file.read().splitlines()
    except OSError:
        return
    for line in reversed(lines):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("time"), str) and entry.get("level") in LEVELS:
            yield entry
