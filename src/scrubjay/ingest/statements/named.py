"""Named: a clause that begins with the name of somebody or something -> the rule that keeps it, or None."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.said import points
from scrubjay.ingest.statements.things import MOMENT, ROLES, WELL_KNOWN, WORLD
from scrubjay.ingest.statements.words import ABSTAIN, bag

SHORT: Final = 8
"""Words of "Marcus doesn't drive" at most; longer ones tell what happened."""

_BEING: Final = bag(
    """allergic vegan vegetarian our my asthma diabetes pregnant on-call diabetic deaf dyslexic coeliac
    celiac"""
)


def person(words: list[str], at: int, last: int) -> str | None:
    """Return the rule that a clause falls under which begins with a name: "Priya owns the payments part"."""
    name = words[at].removesuffix("'s")
    if name in WELL_KNOWN or name in WORLD or at + 2 >= last:
        return None
    verb, rest = words[at + 1], words[at + 2 : last]
    if name != words[at]:
        got = verb == "got" and rest[0] in ("his", "her", "their", "a", "an") and MOMENT.isdisjoint(rest[:4])
        return "person" if got else None
    if verb in ("doesn't", "don't", "can't", "cannot") and rest[0] in ABSTAIN and len(rest) < SHORT:
        return "person"
    if verb in ("has", "is") and rest[0] in _BEING:
        return "person"
    return (
        "person"
        if verb in ROLES and not points(rest) and rest[0] not in ("like", "to", "out", "off")
        else None
    )


def ended(words: list[str], at: int, last: int) -> str | None:
    """Return the rule of a known thing that is so no longer: "`core` isn't a package any more"."""
    if words[at] in WELL_KNOWN and words[at] not in ("the", "our", "my"):
        return None
    if (
        words[last - 1] != "anymore"
        and words[max(at, last - 2) : last] != ["any", "more"]
        and "longer" not in words[at:last]
    ):
        return None
    denied = not {"isn't", "aren't", "doesn't", "don't", "longer"}.isdisjoint(words[at + 1 : last])
    return "no longer" if denied else None
