"""Paths: whether a document's path passes a filter, in every store alike."""

from __future__ import annotations

import fnmatch


def path_passes(path: str, pattern: str) -> bool:
    """Return whether a relative path matches a glob, or lies at or below a plain prefix of folders.

    >>> path_passes("notes/a.md", "notes"), path_passes("notes/a.md", "*.md"), path_passes("n/a.md", "notes")
    (True, True, False)
    """
    if any(mark in pattern for mark in "*?["):
        return fnmatch.fnmatchcase(path, pattern)
    plain = pattern.rstrip("/")
    return path == plain or path.startswith(plain + "/")
