"""Histories: what became of memories, as a caller is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scrubjay.memory.events import Event
from scrubjay.memory.records import Record


@dataclass(frozen=True, slots=True)
class Changed:
    """What a call made of memories.

    Attributes:
        ids: Those that are now as asked.
        unchanged: Those that were so before.
        unknown: What is not there, or not to be seen.
    """

    ids: tuple[str, ...]
    unchanged: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Updated:
    """What changing a memory did.

    Attributes:
        id: The memory; it keeps its id.
        changed: Names of its fields that are others now; none where it was so before.
        before: The memory that keeps the text it had, superseded; None where the text stays.
        scrubbed: Kind of secret to how many were replaced.
    """

    id: str
    changed: tuple[str, ...]
    before: str | None
    scrubbed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What writing a passage's new text into its file did.

    Attributes:
        id: The passage as it is found now; the id it had, where enough of it stayed.
        path: Absolute path of the file.
        line_start: First line of the passage now.
        line_end: Last line, inclusive.
        changed: False where it said so before, and nothing was written.
    """

    id: str
    path: str
    line_start: int
    line_end: int
    changed: bool


@dataclass(frozen=True, slots=True)
class History:
    """What happened to one memory, and what it rests on.

    Attributes:
        memory: The memory as it is.
        events: What happened to it, oldest first.
        evidence: Ids of the memories that it was made from.
        rules: Who or what found it in each piece of evidence: ``statement`` for the rules, ``read by MODEL``, …
        derived: Ids of those that were made from it.
        supersedes: Ids of those whose place it took.
        superseded_by: Ids of those that took its place.
        contradicts: Ids of those that cannot be so if it is.
    """

    memory: Record
    events: tuple[Event, ...]
    evidence: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
