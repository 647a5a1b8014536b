"""Association: how much more often two things meet than chance would have it."""

from __future__ import annotations

import math


def npmi(together: float, one: float, other: float, total: float) -> float:
    """Return normalised pointwise mutual information, 0..1 (Bouma, 2009).

    ``ln(p(a,b) / (p(a) p(b))) / -ln p(a,b)``: 1 when the two never stand apart, 0 when they meet as often as
    chance would have it or less.

    Args:
        together: Memories that refer to both.
        one: Memories that refer to the one.
        other: Memories that refer to the other.
        total: Memories in all.

    >>> npmi(4, 4, 4, 100), round(npmi(4, 20, 20, 100), 3), npmi(1, 50, 50, 100)
    (1.0, 0.0, 0.0)
    """
    if together <= 0 or one <= 0 or other <= 0 or total <= 0:
        return 0.0
    if together >= total:
        return 1.0
    joint = together / total
    found = math.log(together * total / (one * other)) / -math.log(joint)
    return round(min(max(found, 0.0), 1.0), 6)
