"""Mine: what is said of my sister, our server, my name -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.said import points
from scrubjay.ingest.statements.things import AT_HAND, KIN, MOMENT, OWN_THINGS
from scrubjay.ingest.statements.times import DATE, LONG_AGO
from scrubjay.ingest.statements.words import BE, DATED, HAD, ONGOING, PASSING, STATES, bag

FAVOURITES: Final = bag(
    """favourite favorite favourites favorites preferred preference preferences go-to peeve"""
)
APPRAISALS: Final = bag("so too very really pretty quite bit great good bad nice not")
"""What begins an appraisal: it says how the writer finds something today."""

_PLACES: Final = re.compile(
    r"called|named|at|from|up (?:in|on|for)|about \w|not an?|no longer|moved (?:to|from)|pushed|postponed|"
    r"rescheduled|made of|\d|written in|hosted|based|due (?:in|on|by)|owned|deployed|backed|built|"
    r"stored|older|younger|born|located"
    r"|spelled|on (?!fire|hold|the fritz|top|track|my|it)|in (?!progress|trouble|place|my way|the way|need|it)"
    r"|an? (?!bit|little|mess|lot|problem|issue|pain|disaster|joke|nightmare|few|good|bad|great|big)"
)
_DUE: Final = re.compile(
    r"(?:is|are) (?:up (?:in|on|for)|due (?:in|on|by|for)) \S|(?:got|was|were|is|has been|been|gets) "
    r"(?:moved|pushed|"
    r"postponed|rescheduled|changed|brought forward|put back) (?:back |up |forward )?(?:to|until|till|"
    r"from|by) |(?:won't|can't|"
    r"cannot|doesn't|don't) (?:take|eat|drink|drive|fly|handle|tolerate|digest|speak|allow|accept|support|"
    r"touch|sleep|go near|"
    r"like|do) (?!it\b|this\b|that\b|me\b)\S|(?:will be|turns?|is turning|are turning) \d+"
)
"""What is settled of one's own things, or what they never do."""
_SINCE: Final = re.compile(r".*\b(?:since|for (?:\w+ )?(?:years|months|decades)|ever since)\b")
_ENDED: Final = bag(
    """changed lapsed expired closed flooded merged retired renamed switched migrated burned burnt moved"""
)
_TELLING: Final = bag(
    """reckons figures feels asked wants think says said told thinks claims insists complains"""
)
_FAILING: Final = bag(
    """starts turns comes must contains gets can't won't cannot doesn't don't consists makes takes looks
    shows"""
)
"""What things do when they fail, or texts when they are spoken of; what is somebody's own may do it for"
" years."""
_BROKEN: Final = bag("works needs stopped gets does can't won't don't doesn't goes keeps got")
_FLEETING: Final = bag("needs called had wanted asked")
_MOVED: Final = DATED | bag("left turned came emigrated fought served")
_GONE: Final = bag("died graduated retired snores")


def mine(noun: list[str], verb: str, rest: list[str], text: str) -> str | None:
    """Return the rule that what is said of one's own falls under.

    Args:
        noun: What is mine or ours.
        verb: Its verb.
        rest: The words after the verb, adverbs left out.
        text: These as text.
    """
    kin = not KIN.isdisjoint(noun) and noun[-1] not in MOMENT and _TELLING.isdisjoint(noun)
    if not rest:
        return "kin" if kin and verb in _GONE else None
    if not FAVOURITES.isdisjoint(noun):
        return None if points(rest) else "favourite"
    if (verb in BE or verb in HAD) and MOMENT.isdisjoint(noun) and _SINCE.match(text):
        return "possession"
    if kin:
        return "kin" if _of_kin(verb, rest, text) else None
    if verb in BE and noun[-1] == "test" and DATE.match(text):
        return "name"
    if not MOMENT.isdisjoint(noun) or not AT_HAND.isdisjoint(noun) or not _TELLING.isdisjoint(noun):
        return None
    return _of_thing(noun, verb, rest, text)


def _of_kin(verb: str, rest: list[str], text: str) -> bool:
    if verb in _MOVED and LONG_AGO.search(text):
        return True
    if verb in _FLEETING or (verb[-2:] == "ed" and verb not in STATES):
        return False
    return verb not in BE or not (rest[0] in PASSING or (rest[0][-3:] == "ing" and rest[0] not in ONGOING))


def _of_thing(noun: list[str], verb: str, rest: list[str], text: str) -> str | None:
    if verb in _ENDED and (
        rest[0] in ("to", "in", "on", "last", "and", "from") or verb in ("lapsed", "expired")
    ):
        return "name"
    if (points(rest) and rest[0] not in ("one", "some")) or verb[-2:] == "ed":
        return None
    if _DUE.match(f"{verb} {text}"):
        return "name"
    if verb in BE and (rest[0] in PASSING or rest[0][-3:] == "ing"):
        return None
    if DATE.match(text) and verb in _FAILING:
        return "name"
    if verb in _BROKEN or (verb in _FAILING and OWN_THINGS.isdisjoint(noun)):
        return None
    if verb in ("was", "were", "had"):
        return "possession" if _PLACES.match(text) else None
    return None if rest[0] in APPRAISALS else "name"
