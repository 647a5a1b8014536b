"""Readings: what the night once read from a memory, so that it need not read it again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from one memory. It can be made again at any time, and goes when the memory is written anew.

    Attributes:
        memory: Id of the memory.
        mark: What it was read from and by which rules; whoever finds another mark reads again.
        data: What was read, in a form that only who wrote it knows.
    """

    memory: str
    mark: str
    data: bytes
