"""Signal: a small word among its neighbours -> what it says of time: changed, over, planned, not yet, one more."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.change.levels import level
from scrubjay.ingest.change.words import ALSO, CHANGE, ENDS, FUTURE, MOVES, PLANS, STEPS

_TOWARDS: Final = frozenset(("to", "from", "by", "into", "back"))
_PLANNING: Final = frozenset(("to", "on", "of", "about"))
_CONTENT: Final = frozenset(("cancelled", "canceled", "closed", "tomorrow", "additional", "reopened"))
"""Words that say something besides, and are compared like any other."""
_WAITING: Final = frozenset(("yet", "still", "not-yet"))

SIGNALS: Final = ALSO | CHANGE | ENDS | FUTURE | PLANS | _WAITING
"""Every word that may be a signal."""


def signal(low: str, following: str, sided: bool) -> tuple[str, bool] | None:
    """Return what a word of ``SIGNALS`` says of time, and whether it says nothing else.

    Args:
        low: The folded word.
        following: The folded word behind it.
        sided: Whether "left" stands where it is the side, not the verb.

    Returns:
        The signal and whether the word is used up by it; None where it is an ordinary word here.
    """
    used = low not in _CONTENT
    if low in ENDS and not (low == "left" and sided) and not (low == "dropped" and following in _TOWARDS):
        return "over", used
    if low in CHANGE and (low not in STEPS or following in _TOWARDS):
        return "changed", used and level(low, "en").key not in MOVES
    if low in PLANS:
        return ("planned", True) if following in _PLANNING or following.endswith("ing") else None
    if low in FUTURE:
        return "planned", used
    if low in _WAITING:
        return "waited", True
    return ("also", used) if low in ALSO else None
