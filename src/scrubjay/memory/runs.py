"""Runs: what one night's consolidation did, for each visibility key apart."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

RUN_STATES: Final = ("running", "done", "undone")
"""States of a run."""
DIGITS: Final = 10
"""Hex digits of a run's id: 40 random bits, far more than a store has nights."""


@dataclass(frozen=True, slots=True)
class Run:
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
    return f"run_{secrets.token_hex(DIGITS // 2)}"
