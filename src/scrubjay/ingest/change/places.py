"""Setting: a word among its neighbours -> the circumstance it names: production, on Linux, the left one, v2."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.change.likeness import SETTINGS
from scrubjay.ingest.change.words import DETERMINERS

_WHERE: Final = DETERMINERS | {"in", "on", "to", "for", "from", "'s", ""}
_ALSO_OTHER: Final = frozenset(
    ("read", "reads", "write", "writes", "test", "local", "preview", "sandbox", "stage", "prod", "dev")
)
"""Names of circumstances that are ordinary words as often; they need a place where a circumstance stands."""
_OWNED: Final = DETERMINERS | {"'s"}


def sided(before: str, at: int, verb_at: int) -> bool:
    """Return whether "left", "back" or "top" is a side here: behind "the", or first in the statement."""
    return before in _OWNED or (at == 0 and verb_at != 0)


def setting(low: str, raw: str, before: str, at: int, verb_at: int) -> tuple[str, str] | None:
    """Return the kind and the name of a circumstance, or None where the word is an ordinary one.

    Args:
        low: The folded word.
        raw: The word as written.
        before: The folded word before it.
        at: Place of the word.
        verb_at: Place of the statement's verb.
    """
    found = SETTINGS.get(low)
    if found is None:
        return None
    kind = found[0]
    if kind == "side":
        return found if sided(before, at, verb_at) else None
    if kind == "system":  # "is a Mac" is a thing one has
        return found if (raw[:1].isupper() or low != "windows") and before not in ("a", "an") else None
    if low in _ALSO_OTHER:
        return found if at != verb_at and before in _WHERE else None
    return found
