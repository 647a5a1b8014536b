"""Allowances: how many memories somebody may have, and has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """One limit that the settings set.

    Attributes:
        setting: Its name in the section ``[quota]``: ``memories_per_user`` or ``memories_per_tenant``.
        allowed: Most memories, of every status.
        used: How many there are; more than allowed where the limit was lowered.
    """

    setting: str
    allowed: int
    used: int
