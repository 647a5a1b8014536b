"""Looks: a memory with all that surrounds it, and stretches of time, as a person is shown them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scrubjay.memory.histories import History
from scrubjay.memory.records import Record
from scrubjay.memory.webs import Known, Link, Place


@dataclass(frozen=True, slots=True)
class Look:
    """A memory with all that surrounds it.

    Attributes:
        memory: The memory.
        path: Absolute path of its file, or None for an addition.
        source: Description of its source, or an empty string.
        around: What stands before and after it in its document or conversation, with itself among it.
        links: What it is joined with: the heaviest ten of each kind.
        concepts: The concepts that it refers to, those that most memories refer to first.
        categories: Of each category that it belongs to the id and the names from the top.
        history: What happened to it, and what it rests on.
        named: Id to a line about it, of the memories that ``history`` names and the caller sees.
    """

    memory: Record
    path: str | None
    source: str
    around: tuple[Record, ...]
    links: tuple[Link, ...]
    concepts: tuple[Known, ...]
    categories: tuple[tuple[str, tuple[str, ...]], ...]
    history: History
    named: Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class Stretch:
    """One page of what happened, last first.

    Attributes:
        memories: The memories.
        paths: Memory id to the absolute path of its file.
        more: Whether others happened before.
    """

    memories: tuple[Record, ...]
    paths: Mapping[str, str]
    more: bool


@dataclass(frozen=True, slots=True)
class Tie:
    """Two concepts, by their ids, and how many of the memories that were looked at refer to both."""

    one: str
    other: str
    together: int


@dataclass(frozen=True, slots=True)
class Web:
    """The concepts that most memories refer to, and what ties them.

    Attributes:
        concepts: The concepts, those that most memories refer to first.
        ties: Pairs of them, the closest first.
        known: How many concepts there are in all.
        looked_at: Memories from which the ties were counted.
    """

    concepts: tuple[Known, ...]
    ties: tuple[Tie, ...]
    known: int
    looked_at: int
