"""Audits: what memories are of no use, and what was put away, as a caller is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scrubjay.memory.reports import SourceStatus


@dataclass(frozen=True, slots=True)
class Shown:
    """One memory in a line.

    Attributes:
        id: Its id.
        text: How it begins, on one line.
        date: When what it tells of happened, else when it was written; None for a passage of a file without a date.
        where: ``path:first-last`` of what stands in a file, else an empty string.
        status: Its status.
    """

    id: str
    text: str
    date: str | None
    where: str
    status: str


@dataclass(frozen=True, slots=True)
class Example:
    """A memory with a fault.

    Attributes:
        why: What is wrong with it.
        memory: The memory.
        other: The one that stays in its stead or speaks against it, or None.
        fix: What the fix would make of it: ``archived``, ``superseded``, or empty.
    """

    why: str
    memory: Shown
    other: Shown | None
    fix: str


@dataclass(frozen=True, slots=True)
class Rate:
    """How many memories have one kind of fault.

    Attributes:
        kind: ``junk``, ``near-duplicate``, …
        count: How many have it.
        share: That over all active memories, 0..1.
        fixable: How many of them the fix would put away.
        reasons: Reason to how many have it for that.
        tiers: Tier to how many have it.
        examples: The worst.
        fix: The command that mends it, or an empty string.
    """

    kind: str
    count: int
    share: float
    fixable: int
    reasons: Mapping[str, int]
    tiers: Mapping[str, int]
    examples: tuple[Example, ...]
    fix: str


@dataclass(frozen=True, slots=True)
class Audit:
    """How good what is remembered is.

    Attributes:
        memories: Active memories that the caller sees.
        tiers: Tier to how many of them.
        rates: One a kind.
        missing: Sources whose folder or file is gone, with what they hold.
        fixed: Kind to the ids that were put away; with ``dry_run``, that would be.
        dry_run: Whether nothing was written.
        undo: The command that takes it back, or an empty string.
        seconds: Wall time.
    """

    memories: int
    tiers: Mapping[str, int]
    rates: tuple[Rate, ...]
    missing: tuple[SourceStatus, ...]
    fixed: Mapping[str, tuple[str, ...]]
    dry_run: bool
    undo: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Retained:
    """What keeping to the settings of retention did, or would do.

    Attributes:
        archived: Memories that were put away.
        forgotten: Memories that are gone for good, with what was made from them alone.
        dry_run: Whether nothing was written.
        undo: The command that takes the archiving back, or an empty string.
    """

    archived: tuple[str, ...]
    forgotten: tuple[str, ...]
    dry_run: bool
    undo: str
