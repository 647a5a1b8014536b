"""NewMemory: what a caller says of a memory that is to be added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scrubjay.memory.life import UNCHANGED, Unchanged


@dataclass(frozen=True, slots=True)
class NewMemory:
    """One memory to add. Fields as in `Record`; those left out have its defaults.

    Attributes:
        date: When what it tells of happened: a datetime (naive ones are local time) or ISO text;
            a date alone means the whole day.
        visibility: ``user``, ``group`` or ``public``.
        group: The group, when visibility is ``group``.
    """

    content: str
    tier: str = "observation"
    title: str = ""
    tags: Sequence[str] = ()
    date: str | datetime | None = None
    session: str | None = None
    role: str | None = None
    turn: int | None = None
    project: str | None = None
    agent: str | None = None
    visibility: str = "user"
    group: str | None = None
    confidence: float = 1.0
    valid_from: str | datetime | None = None
    valid_until: str | datetime | None = None
    origin: str = "owner"
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Amendment:
    """What becomes of a memory; what is not said stays. Fields as in `NewMemory`; None takes a date away.

    Attributes:
        origin: Who says the new text. Left out, what a run or a conversation taught becomes the owner's.
    """

    content: str | Unchanged = UNCHANGED
    title: str | Unchanged = UNCHANGED
    tags: Sequence[str] | Unchanged = UNCHANGED
    date: str | datetime | Unchanged | None = UNCHANGED
    confidence: float | Unchanged = UNCHANGED
    valid_from: str | datetime | Unchanged | None = UNCHANGED
    valid_until: str | datetime | Unchanged | None = UNCHANGED
    pinned: bool | Unchanged = UNCHANGED
    origin: str | Unchanged = UNCHANGED
