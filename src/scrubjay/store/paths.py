"""Paths: whether a memory and its document's path pass a filter, in every store alike."""

from __future__ import annotations

import fnmatch

from scrubjay.memory.records import Record, Where


def path_passes(path: str, pattern: str) -> bool:
    """Return whether a relative path matches a glob, or lies at or below a plain prefix of folders.

    >>> path_passes("notes/a.md", "notes"), path_passes("notes/a.md", "*.md"), path_passes("n/a.md", "notes")
    (True, True, False)
    """
    if any(mark in pattern for mark in "*?["):
        return fnmatch.fnmatchcase(path, pattern)
    plain = pattern.rstrip("/")
    return path == plain or path.startswith(plain + "/")


def passes(record: Record, where: Where) -> bool:
    """Return whether a memory passes a filter, whatever its categories."""
    at = record.event.start if record.event is not None else record.recorded_at
    place = record.place
    return (
        record.status in where.statuses
        and (not where.tiers or record.tier in where.tiers)
        and set(where.tags) <= set(record.tags)
        and (where.since is None or at >= where.since)
        and (where.until is None or at < where.until)
        and (not where.sources or (place is not None and place.source in where.sources))
        and (not where.projects or record.project in where.projects)
        and (not where.agents or record.agent in where.agents)
        and (not where.sessions or record.session in where.sessions)
        and (where.apart_from is None or record.session != where.apart_from)
        and (record.pinned or not where.pinned)
        and (not where.path or (place is not None and path_passes(place.path, where.path)))
    )
