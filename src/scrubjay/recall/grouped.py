"""Grouped: what one result is made of: a memory, and turns of its conversation that are shown with it."""

from __future__ import annotations

from dataclasses import dataclass

from scrubjay.memory.ranking import Candidate


@dataclass(frozen=True, slots=True)
class Group:
    """A result that is being made.

    Attributes:
        lead: The memory that the result is.
        others: Candidates of its conversation that are shown with it and are no results of their own, best first.
    """

    lead: Candidate
    others: tuple[Candidate, ...] = ()
