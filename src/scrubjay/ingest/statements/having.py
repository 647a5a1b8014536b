"""Having: what somebody has, or got -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.said import NOTHING, Said
from scrubjay.ingest.statements.things import AT_HAND, LASTING_HAD, MOMENT
from scrubjay.ingest.statements.times import EVERY
from scrubjay.ingest.statements.words import COUNTS, NUMBERS, PREPOSITIONS, bag

FAR: Final = 5
"""Words of an object in which its noun stands."""

_GOT: Final = bag(
    """married engaged divorced promoted laid fired hired accepted diagnosed certified tenure pregnant into"""
)
_PRIZES: Final = bag(
    """new second used old job puppy kitten dog cat car bike house flat apartment raise degree promotion
    tattoo phone laptop camera guitar piano scholarship offer baby"""
)
"""What one gets and keeps."""
_TREATED: Final = bag(
    """surgery baby twins operation stroke transplant miscarriage c-section removed replaced"""
)
_SOON_OVER: Final = bag("coming arriving visiting left due tomorrow tonight")
_VAGUE: Final = bag("way ways quick following meeting call bunch few")
_AILING: Final = bag("allergy allergies disease syndrome")
_ILLNESS: Final = re.compile(r"\w{3}(?:itis|itus|osis|emia|aemia|phobia|plegia|algia|pathy|lepsy)$")


def has(said: Said) -> str | None:
    """Return the rule that what I have or got falls under, or NOTHING where it is of the moment."""
    verb, rest = said.verb, said.rest
    if verb not in ("have", "own", "had", "got") or not rest:
        return None
    often = EVERY.search(said.whole) is not None
    counted = int(rest[0] in NUMBERS)
    object_ = rest[
        counted : min(next((n for n, word in enumerate(rest) if n and word in PREPOSITIONS), len(rest)), FAR)
    ]
    if not MOMENT.isdisjoint(object_) or (not often and not AT_HAND.isdisjoint(object_)):
        return NOTHING
    if verb == "had":
        return None if _TREATED.isdisjoint(rest) else "did"
    if verb == "got":
        gained = rest[0] in _GOT or (
            rest[0] in ("a", "an", "my", "our", "two", "three") and not _PRIZES.isdisjoint(rest[:4])
        )
        return "did" if gained else None
    if often and not said.pointed:
        return "has"
    if (
        rest[0].isdigit()
        or rest[0] in LASTING_HAD
        or rest[-1] in LASTING_HAD
        or _ILLNESS.match(rest[0])
        or not _AILING.isdisjoint(rest)
    ):
        return "has"
    if rest[0] not in COUNTS or len(rest) == 1 or rest[1] in _VAGUE or not _SOON_OVER.isdisjoint(rest):
        return NOTHING
    return "has"
