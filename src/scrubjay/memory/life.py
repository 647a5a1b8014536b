"""Life: what becomes of a memory apart from its text and its place."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, Final

from scrubjay.memory.records import Record


class Unchanged(Enum):
    """The type of `UNCHANGED`, so that None can be a value of its own."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
"""Stands for what a change leaves as it is."""


@dataclass(frozen=True, slots=True)
class Life:
    """What becomes of a memory; whatever is not said stays. The names are those of `Record`.

    Attributes:
        status: One of ``tiers.STATUSES``.
        pinned: Exempt from decay and forgetting by age.
        strength: 0..1, what feedback made of it.
        confidence: 0..1, how sure it is.
        valid_from: UTC microseconds from which it is true, or None.
        valid_until: UTC microseconds from which it is no longer true, or None.
        last_used: UTC microseconds when it was last used, or None.
        project: Project it belongs to, or None.
        origin: One of ``tiers.ORIGINS``.
    """

    status: str | Unchanged = UNCHANGED
    pinned: bool | Unchanged = UNCHANGED
    strength: float | Unchanged = UNCHANGED
    confidence: float | Unchanged = UNCHANGED
    valid_from: int | Unchanged | None = UNCHANGED
    valid_until: int | Unchanged | None = UNCHANGED
    last_used: int | Unchanged | None = UNCHANGED
    project: str | Unchanged | None = UNCHANGED
    origin: str | Unchanged = UNCHANGED


def said(life: Life) -> dict[str, Any]:
    """Return, by name, what a life changes.

    >>> said(Life(pinned=True, valid_until=None))
    {'pinned': True, 'valid_until': None}
    """
    values = ((field.name, getattr(life, field.name)) for field in fields(life))
    return {name: value for name, value in values if value is not UNCHANGED}


def lived(record: Record, life: Life) -> Record:
    """Return a memory as a life makes it."""
    return replace(record, **said(life))
