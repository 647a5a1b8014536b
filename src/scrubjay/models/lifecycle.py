"""New memories, changes to them, events, and consolidation runs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final

from scrubjay.frozen import frozen
from scrubjay.models.options import option
from scrubjay.models.records import NEVER_INJECT, ORIGINS, TIERS, UNCHANGED, VISIBILITIES, Record, Unchanged


@frozen
class LifecycleChange:
    """Changes to a memory's lifecycle fields (see `Record`); fields left at `UNCHANGED` stay."""

    status: str | Unchanged = UNCHANGED
    pinned: bool | Unchanged = UNCHANGED
    strength: float | Unchanged = UNCHANGED
    confidence: float | Unchanged = UNCHANGED
    valid_from: int | Unchanged | None = UNCHANGED
    valid_until: int | Unchanged | None = UNCHANGED
    last_used: int | Unchanged | None = UNCHANGED
    project: str | Unchanged | None = UNCHANGED
    origin: str | Unchanged = UNCHANGED
    tags: tuple[str, ...] | Unchanged = UNCHANGED


def changed_fields(life: LifecycleChange) -> dict[str, Any]:
    """Return the changed fields by name.

    >>> changed_fields(LifecycleChange(pinned=True, valid_until=None))
    {'pinned': True, 'valid_until': None}
    """
    values = ((field.name, getattr(life, field.name)) for field in fields(life))
    return {name: value for name, value in values if value is not UNCHANGED}


def merge_lifecycle(new: Record, read: Record, stored: Record) -> Record:
    """Return a memory that was made from ``read``, with the lifecycle changes that ``stored`` has had since."""
    names = (field.name for field in fields(LifecycleChange))
    changed = {name: value for name in names if (value := getattr(stored, name)) != getattr(read, name)}
    if "tags" in changed:
        added, removed = set(stored.tags) - set(read.tags), set(read.tags) - set(stored.tags)
        changed["tags"] = tuple(sorted((set(new.tags) | added) - removed))
    return replace(new, **changed)


@frozen
class NewMemory:
    """One memory to add. Fields as in `Record`, with its defaults.

    Attributes:
        date: When it was said, written or happened, not the day of an appointment in it: a datetime (naive: local
            time) or ISO text; a date means the whole day.
        visibility: ``user``, ``group`` or ``public``.
        group: The group, when visibility is ``group``.
        role: Who said it. Facts are learned from ``user`` and ``human`` alone, in any case; any other role, such as
            ``customer``, is another speaker's.
    """

    content: str
    tier: str = option(
        "observation",
        "--tier",
        noun="Tier",
        choices=TIERS,
        help="Tier of the memory.",
    )
    title: str = option("", "--title", help="Title.")
    tags: Sequence[str] = option((), "--tag", help="Tag; repeatable.")
    date: str | datetime | None = option(
        None, "--date", metavar="DATE", help="Day it was said or written, not that of an appointment in it."
    )
    session: str | None = option(None, "--session", help="Conversation it belongs to.")
    role: str | None = option(None, "--role", help="Speaker's role in the conversation.")
    turn: int | None = option(
        None, "--turn", metavar="N", bounds=(0, None), help="Position in the conversation, from 0."
    )
    project: str | None = option(
        None, "--project", project=True, help="Project it belongs to: a name, a suffix of one, or a path."
    )
    agent: str | None = option(None, "--agent", help="Agent that recorded it.")
    visibility: str = option("user", noun="Visibility", choices=VISIBILITIES)
    group: str | None = option(
        None, "--group", help="Make it visible to this group, one of yours in the settings."
    )
    confidence: float = option(
        1.0, "--confidence", metavar="NUMBER", bounds=(0, 1), help="Confidence, 0 to 1."
    )
    valid_from: str | datetime | None = option(
        None, "--valid-from", metavar="DATE", help="Start of validity."
    )
    valid_until: str | datetime | None = option(
        None, "--valid-until", metavar="DATE", help="End of validity."
    )
    origin: str = option("owner", "--origin", noun="Origin", choices=ORIGINS, help="Who stated it.")
    pinned: bool = option(False, "--pin", help="Pin it: its score does not decay with age.")


@frozen
class Amendment:
    """Edits to a memory; fields left out stay. Fields as in `NewMemory`; None clears a date.

    Attributes:
        origin: Author of the new text. Left out, a derived or untrusted memory becomes the owner's.
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


INJECTION_VERDICTS: Final = (NEVER_INJECT, "inject")
VERDICTS: Final = ("used", "useful", "wrong", "not-wrong", *INJECTION_VERDICTS)
"""Verdicts of a caller on a memory. ``used``: it was read and acted on; ``useful`` and ``wrong`` judge it;
``not-wrong`` and ``inject`` take ``wrong`` and ``never-inject`` back."""

EVENT_OPS: Final = (
    "added", "archived", "changed", "contradicted", "derived", "imported", "inject", NEVER_INJECT, "not-wrong",
    "pinned", "read", "reinforced", "restored", "superseded", "unpinned", "used", "useful", "wrong",
)  # fmt: skip
"""What can happen to a memory. Forgetting is no event: nothing of it is kept. ``read``: by a language model.
``added``: it was added again. ``imported``: the memory was in an export of another store, whether or not it was new
here."""


@frozen
class Event:
    """One entry in a memory's history. It holds no text.

    Attributes:
        memory: Id of the memory.
        op: One of ``EVENT_OPS``.
        at: UTC microseconds.
        key: Visibility key of the memory at that time.
        run: Consolidation run that caused it; for ``imported``, store and id that it was exported under; or None.
        other: Id of another memory involved, or None; for ``changed``, the memory that keeps the previous text.
        count: For ``derived``, the number of sources; for ``imported``, ``updated_at`` of the exported memory if it had
            the same text; for ``superseded``, the previous ``valid_until``, at least 1, if it had one; else 0.
        before: For a change of status, the previous status; for ``reinforced``, the previous confidence as `repr`
            writes it; else an empty string.
        actor: User who did it; empty when unknown, as for a run.
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


def stored_end(valid_until: int | None) -> int:
    """Return a ``valid_until`` as the `Event.count` of a ``superseded`` event: 0 for None, and no time before 1970.

    >>> stored_end(None), stored_end(1_780_000_000_000_000), stored_end(-5)
    (0, 1780000000000000, 1)
    """
    return 0 if valid_until is None else max(valid_until, 1)


def name_imported(event: Event, unchanged_since: int) -> str:
    """Return the name that an ``imported`` event records, with a version if the memory still has the exported text.

    ``unchanged_since`` is its ``updated_at``.
    """
    same = event.count and unchanged_since <= event.at
    return versioned_name(event.run or "", event.count) if same else event.run or ""


def versioned_name(name: str, updated_at: int) -> str:
    """Return the name of one text of a memory, which its ``updated_at`` identifies in its store."""
    return f"{name}@{updated_at}"


def previous_confidence(before: str) -> float | None:
    """Parse the confidence that a ``reinforced`` event recorded; None where there is none.

    >>> previous_confidence(repr(0.7)), previous_confidence(""), previous_confidence("1.5"), previous_confidence("nan")
    (0.7, None, None, None)
    """
    try:
        confidence = float(before)
    except ValueError:
        return None
    return confidence if 0 <= confidence <= 1 and repr(confidence) == before else None


MIN_STRENGTH: Final = 0.3
"""Minimum strength after any number of "wrong": an exact question still finds the memory."""


def strength_after(events: Sequence[Event]) -> float:
    """Return the strength after events, newest first; a "not-wrong" revokes each earlier "wrong" of its cause.

    One that a person gave revokes those of every cause.
    """
    taken_back: set[str | None] = set()
    wrong = 0
    for event in events:
        if event.op == "not-wrong":
            taken_back.add(event.other)
        wrong += event.op == "wrong" and taken_back.isdisjoint((None, event.other))
    return feedback_strength(sum(event.op == "useful" for event in events), wrong)


def feedback_strength(useful: int, wrong: int) -> float:
    """Return the strength after so many useful and wrong verdicts.

    >>> (
    ...     feedback_strength(0, 0), feedback_strength(3, 0), feedback_strength(0, 1),
    ...     feedback_strength(1, 1), feedback_strength(0, 1000)
    ... )
    (1.0, 1.0, 0.5, 0.6666666666666666, 0.3)
    """
    return max(MIN_STRENGTH, (1 + useful) / (1 + useful + wrong))


RUN_STATES: Final = ("running", "done", "undone")
"""States of a run."""
RUN_ID_DIGITS: Final = 10
"""Hex digits of a run's id: 40 random bits, far more than a store has nights."""


@frozen
class ConsolidationRun:
    """One run over the memories of one visibility key; identified by id and key.

    Attributes:
        id: As `new_run_id` makes it.
        key: Visibility key.
        state: One of ``RUN_STATES``.
        rules: Version of the consolidation rules.
        started: UTC microseconds.
        ended: UTC microseconds, or None while it runs.
        counts: Numbers of memories by action.
    """

    id: str
    key: str
    state: str
    rules: str
    started: int
    ended: int | None
    counts: Mapping[str, int]


def new_run_id() -> str:
    """Return ``run_`` and ten random hex digits."""
    return f"run_{secrets.token_hex(RUN_ID_DIGITS // 2)}"


@frozen
class CachedExtraction:
    """Cached output of an extractor for one memory. Rewriting the memory deletes it.

    Attributes:
        memory: Id of the memory.
        mark: Input and rule version it was computed from; another mark means the entry is stale.
        data: Serialised output, private to the extractor.
    """

    memory: str
    mark: str
    data: bytes
