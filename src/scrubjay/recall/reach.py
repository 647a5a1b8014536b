"""Reach: how far a search looks beyond what its channels found, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scrubjay.errors import InputError

MOST_LINKS: Final = 5
"""Hops over links: each looks at up to ten links of each of up to fifty memories, both ways."""
MOST_LEVELS: Final = 10
"""Levels of categories: folders and headings are seldom deeper."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a search goes on from what it found.

    Attributes:
        links: Hops over links; 0 for none.
        hierarchy: Whether categories are descended.
        depth: Levels of categories.
        alpha: What a memory's own score weighs beside its category's, 0..1.
        threshold: Least score of a result, for a fusion whose scores have a fixed unit (``raw``); None for none.
    """

    links: int = 0
    hierarchy: bool = False
    depth: int = 3
    alpha: float = 0.5
    threshold: float | None = None

    def checked(self) -> Reach:
        """Return itself.

        Raises:
            InputError: A number is out of range.
        """
        for name, value, low, most in (
            ("links", self.links, 0, MOST_LINKS),
            ("depth", self.depth, 1, MOST_LEVELS),
            ("alpha", self.alpha, 0, 1),
            ("threshold", self.threshold or 0, 0, 1),
        ):
            if not low <= value <= most:
                raise InputError(f"{name} is {value}; it must lie between {low} and {most}.")
        return self


NOWHERE: Final = Reach()
"""Nothing beyond what the channels found."""
