"""Observations as values: turns, tool results, passages of notes."""

from __future__ import annotations

from typing import Any

from scrubjay.models.dates import DAY
from scrubjay.models.records import EventTime, Record, SourcePlace

NOW = 20_500 * DAY
"""A day in February 2026."""
HOUR = DAY // 24


def observation(text: str, number: int = 0, *, days: float = 30, **fields: Any) -> Record:
    """An observation that happened some days before NOW."""
    at = NOW - int(days * DAY)
    own = {"event": EventTime(at, at), "title": "", **fields}
    tier = own.pop("tier", "observation")
    return Record(
        f"obs_{number:04d}", tier, text, "", own.pop("title"), own.pop("key", "user:ada"), "ada",
        own.pop("recorded_at", at), at, **own,
    )  # fmt: skip


def turn(text: str, number: int = 0, *, role: str = "user", session: str = "s1", **fields: Any) -> Record:
    """A turn of a conversation; its number is its place."""
    origin = "owner" if role == "user" else "agent"
    return observation(
        text, number, **{"role": role, "turn": number, "session": session, "origin": origin, **fields}
    )


def passage(text: str, path: str, number: int = 0, **fields: Any) -> Record:
    """A passage of a note."""
    return observation(text, number, **{"place": SourcePlace("notes", path, number, 0, 9, 1, 2), **fields})
