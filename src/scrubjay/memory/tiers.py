"""Tiers: the kinds of memory, and the id prefix of each."""

from __future__ import annotations

from typing import Final

TIERS: Final[tuple[str, ...]] = (
    "crystal",
    "facet",
    "insight",
    "lesson",
    "observation",
    "procedural",
    "semantic",
)
"""Every tier, in the order of its prefix, so that a tier's place here sorts as its ids do."""

PREFIX: Final[dict[str, str]] = {
    "crystal": "crys_",
    "facet": "fac_",
    "insight": "ins_",
    "lesson": "les_",
    "observation": "obs_",
    "procedural": "proc_",
    "semantic": "sem_",
}
"""What an id of each tier begins with."""

STATUSES: Final[tuple[str, ...]] = ("active", "archived", "superseded")
"""States in which a memory still has its text. A forgotten one leaves only a keyed hash."""

UNTRUSTED: Final = "untrusted"
ORIGINS: Final[tuple[str, ...]] = ("owner", "agent", "tool", "derived", UNTRUSTED)
"""Who said it."""

CONCEPT_PREFIX: Final = "con_"
"""What an id of a concept begins with."""

CATEGORY_PREFIX: Final = "cat_"
"""What an id of a category begins with."""
