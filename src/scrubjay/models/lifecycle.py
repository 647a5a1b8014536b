"""Lifecycle: additions and amendments, status changes, events, and consolidation runs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Final

from scrubjay.models.records import UNCHANGED, Record, Unchanged


@dataclass(frozen=True, slots=True)
class LifecycleChange:
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


def changed_fields(life: LifecycleChange) -> dict[str, Any]:
    """Return, by name, what a life changes.

    >>> changed_fields(LifecycleChange(pinned=True, valid_until=None))
    {'pinned': True, 'valid_until': None}
    """
    values = ((field.name, getattr(life, field.name)) for field in fields(life))
    return {name: value for name, value in values if value is not UNCHANGED}


def apply_change(record: Record, life: LifecycleChange) -> Record:
    """Return a memory as a life makes it."""
    return replace(record, **changed_fields(life))


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


VERDICTS: Final = ("used", "useful", "wrong")
"""What a caller can say of a memory. ``used``: it was read and acted on; the others judge it."""

EVENT_OPS: Final = (
    "added",
    "archived",
    "changed",
    "contradicted",
    "derived",
    "pinned",
    "read",
    "reinforced",
    "restored",
    "superseded",
    "unpinned",
    "used",
    "useful",
    "wrong",
)
"""What can happen to a memory. That one was forgotten is no event: nothing of it is kept. What is ``read`` was read
by a language model."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one memory. It holds no text.

    Attributes:
        memory: Id of the memory.
        op: One of ``EVENT_OPS``.
        at: UTC microseconds when it happened.
        key: Visibility key: that of the memory when it happened.
        run: Run of a consolidation that did it, or None.
        other: Id of another memory that had part in it, or None; of ``changed``, the one that keeps the text before.
        count: Of ``derived``, how many sources the memory had; else 0.
        before: Of a change of status, the status before; of what a run ``reinforced``, its confidence before, as
            `repr` writes a number; else an empty string.
        actor: User who did it; an empty string where nobody is known, as in the name of a run.
    """

    memory: str
    op: str
    at: int
    key: str
    run: str | None = None
    other: str | None = None
    count: int = 0
    before: str = ""
    actor: str = ""


def previous_confidence(before: str) -> float | None:
    """Return how sure a memory was before it was reinforced, None where that is not told.

    >>> previous_confidence(repr(0.7)), previous_confidence(""), previous_confidence("1.5"), previous_confidence("nan")
    (0.7, None, None, None)
    """
    try:
        found = float(before)
    except ValueError:
        return None
    return found if 0 <= found <= 1 and repr(found) == before else None


RUN_STATES: Final = ("running", "done", "undone")
"""States of a run."""
RUN_ID_DIGITS: Final = 10
"""Hex digits of a run's id: 40 random bits, far more than a store has nights."""


@dataclass(frozen=True, slots=True)
class ConsolidationRun:
    """What one run did with the memories of one visibility key; the id and the key tell a row.

    Attributes:
        id: Id of the run, as `new_run_id` makes it.
        key: Visibility key.
        state: One of ``RUN_STATES``.
        rules: Version of the rules it went by.
        started: UTC microseconds.
        ended: UTC microseconds, or None while it runs.
        counts: What was done to how many, by name.
    """

    id: str
    key: str
    state: str
    rules: str
    started: int
    ended: int | None
    counts: Mapping[str, int]


def new_run_id() -> str:
    """Return the id of a run that begins: ``run_`` and ten random hex digits."""
    return f"run_{secrets.token_hex(RUN_ID_DIGITS // 2)}"


@dataclass(frozen=True, slots=True)
class CachedExtraction:
    """What was read from one memory. It can be made again at any time, and goes when the memory is written anew.

    Attributes:
        memory: Id of the memory.
        mark: What it was read from and by which rules; whoever finds another mark reads again.
        data: What was read, in a form that only who wrote it knows.
    """

    memory: str
    mark: str
    data: bytes
