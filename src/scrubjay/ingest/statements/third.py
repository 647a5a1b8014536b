"""Third: words of a clause whose subject is mine, ours or has a name -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.first import points
from scrubjay.ingest.statements.words import ABSTAIN, ADVERBS, AT_HAND, BARE_WORLD, BE, BODIES, DATED, KIN, MOMENT, NEGATIVE, ONGOING, OWNED, OWN_THINGS, PASSING, PETS, PLURAL, ROLES, STATES, WELL_KNOWN, WORLD

NAME: Final = 8
"""Words within which what is spoken of is named."""

_FAVOURITES: Final = frozenset("favourite favorite favourites favorites preferred preference preferences go-to peeve".split())
_HEDGES: Final = frozenset("about around roughly approximately nearly".split())
_VOTED: Final = frozenset("forbids requires insists voted decided approved agreed chose picked settled".split())
_MAIN: Final = frozenset("main default primary lead maintainer designer teacher client tech".split())
_HAD: Final = frozenset("has have had".split())
_PLACES: Final = re.compile(
    r"(?:called|named|at|from|made of|\d|written in|hosted|based|due (?:in|on|by)|owned|deployed|backed|built|stored|older|younger|born|located|spelled"
    r"|on (?!fire|hold|the fritz|top|track|my|it)|in (?!progress|trouble|place|my way|the way|need|it)|an? (?!bit|little|mess|lot|problem|issue|pain|disaster|joke|nightmare|few|good|bad|great|big))"
)
_FACTS: Final = re.compile(
    r"(?:(?:was|were) (?:founded|built|started|established|opened|bought) (?:in|by)|(?:was|were) (?:switched off|turned off|shut down|sold|replaced|moved|renamed|merged|retired|decommissioned|acquired)|(?:is|are) (?:now |always |actually |only |still |currently |both |all )*(?:on (?:port|an? |the \w+ (?:box|server|host|node|machine|floor|shelf|network|cluster)|\w+\.|(?!fire|hold|it|top|track|time|sale)[\w-]+$)"
    r"|at (?!\d+ ?%|least|most|all|risk|fault|the moment)|in (?:\S*[/.~]|the \w+ (?:repo|folder|bucket|branch|vault|channel|drawer)|aws|gcp|azure|eu-|us-|\w+/)|called|named|hosted|deployed|written in|stored|kept (?:in|for|on|at)|owned by"
    r"|maintained by|backed up|due (?:on|by|in)|behind (?:a |the )|pinned (?:to|at)|protected|mirrored|:?\d{2,5}\b|from \w+ to)|lives? (?:in|at|on|under|behind)|runs? (?:on|at|every|in|as|behind|under|nightly|weekly|daily)"
    r"|listens? on|sits? (?:behind|in|on)|deploys? (?:to|from|with|on|every)|points? (?:to|at)|goes? (?:live|out|to|into|via|through) |ships (?:on|every)|expires? (?:on|in)|talks to|starts (?:on|at)|closes (?:on|at)|opens (?:on|at)"
    r"|(?:uses?|targets?|requires?|supports?|follows?) (?!it|this|that|the same|too|a lot|up\b|more|less|\d+ ?%)\w)"
)


_ENDED: Final = frozenset("changed lapsed expired closed flooded merged retired renamed switched migrated burned burnt moved".split())
_TELLING: Final = frozenset("reckons figures feels asked wants think says said told thinks claims insists complains".split())
_FAILING: Final = frozenset("starts turns comes must contains gets can't won't cannot doesn't don't consists makes takes looks shows".split())
"""What things do when they fail, or texts when they are spoken of; what is somebody's own may do it for years."""
_SINCE: Final = re.compile(r".*\b(?:since|for (?:\w+ )?(?:years|months|decades)|ever since)\b")
_IDENTIFIER: Final = re.compile(r"(?=.*\d)(?=.*[a-z])[\w./:-]+")
_DATE: Final = re.compile(r"(?:on|in) (?:the )?(?:\d|january|february|march|april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day)")
_SPECIFIC: Final = re.compile(r".*(?:\d|`|\w[/_.]\w)")
_APPRAISALS: Final = frozenset("so too very really pretty quite bit great good bad nice not".split())


def third(words: list[str], at: int, last: int, named: bool) -> str | None:
    """Return the rule that a clause about my sister, our server or Priya falls under.

    Args:
        words: All words.
        at: The clause's first word.
        last: The word after its last.
        named: Whether a name, known by its capital, stands after the first word.
    """
    owner = words[at]
    verb = next((number for number in range(at, min(at + NAME, last)) if _is_verb(words, number, last, number - at)), last)
    if verb >= last:
        return None
    noun, rest = words[at + 1 : verb], words[verb + 1 : last]
    said = words[verb]
    if said not in STATES and said[-2:] == "'s":
        noun, said = [*noun, said[:-2]], "is" if rest[:1] not in (["got"], ["been"]) else "has"
    while rest and (rest[0] in _HEDGES or rest[0] in ADVERBS or rest[0] in NEGATIVE or (said == "has" and rest[0] == "got")):
        rest = rest[1:]
    if not BODIES.isdisjoint([owner, *noun]) and not points(rest) and owner not in ("a", "an"):
        if said in _VOTED or (said in _HAD and (rest[0] in _VOTED or rest[0] in ("chosen", "signed", "picked"))):
            return "decided"
    if owner in ("my", "our") and noun:
        return _mine(noun, said, rest, " ".join(rest))
    if said in BE and rest[:1] in (["my"], ["our"]) and verb - at <= NAME // 2 and (owner not in WELL_KNOWN or owner in ("he", "she")):
        return "is mine" if not (KIN | OWN_THINGS | _FAVOURITES | _MAIN).isdisjoint(rest[1:5]) else None
    if owner in ("the", "our") and noun and noun[-1] in PETS and rest and (said in _HAD or said in ("gets", "eats") or (said in BE and rest[0][-3:] != "ing" and rest[0] not in PASSING and rest[0] not in _APPRAISALS)):
        return "kin"
    if owner in ("the", "this", "our", "all") or owner in WORLD:
        known = noun if owner in ("the", "this", "our", "all") else [owner, *noun]
        if known != noun and owner not in BARE_WORLD and not _FACTS.match(" ".join((said, *rest))):
            return None
        return _world(known, said, rest, " ".join((said, *rest)), named)
    return None


def person(words: list[str], at: int, last: int) -> str | None:
    """Return the rule that a clause falls under which begins with a name: "Priya owns the payments part"."""
    name, short = words[at].removesuffix("'s"), words[at].endswith("'s")
    if name in WELL_KNOWN or name in WORLD or at + 2 >= last:
        return None
    verb, rest = words[at + 1], words[at + 2 : last]
    if short:
        return "person" if verb == "got" and rest[0] in ("his", "her", "their", "a", "an") and MOMENT.isdisjoint(rest[:4]) else None
    if verb in ("doesn't", "don't", "can't", "cannot") and rest[0] in ABSTAIN and len(rest) < NAME:
        return "person"
    if verb in ("has", "is") and rest[0] in ("allergic", "vegan", "vegetarian", "our", "my", "asthma", "diabetes", "pregnant", "on-call", "diabetic", "deaf", "dyslexic", "coeliac", "celiac"):
        return "person"
    return "person" if verb in ROLES and not points(rest) and rest[0] not in ("like", "to", "out", "off") else None


def _is_verb(words: list[str], at: int, last: int, far: int) -> bool:
    word = words[at]
    if not far:
        return False
    if word in PLURAL:
        return far > 1 or words[at - far] not in OWNED
    if word in STATES or word in ("left", "came", "need", "chose") or (word[-2:] == "ed" and word not in ("shared", "used", "red")):
        return True
    return word[-2:] == "'s" and at + 1 < last and (words[at + 1] in ("a", "an", "got", "called", "in", "on", "at", "from", "not", "been") or words[at + 1][0].isdigit())


def _world(noun: list[str], verb: str, rest: list[str], text: str, named: bool) -> str | None:
    if WORLD.isdisjoint(noun) and MOMENT.isdisjoint(noun) and (named or _SPECIFIC.match(text)) and rest and AT_HAND.isdisjoint(noun) and len(noun) <= 3:
        if (_FACTS.match(text) and not rest[0][0].isdigit()) or (verb == "is" and len(rest) == 1 and _IDENTIFIER.fullmatch(rest[0])):
            return "world"
    if WORLD.isdisjoint(noun) or not MOMENT.isdisjoint(noun) or not rest or len(noun) >= NAME - 2:
        return None
    if _FACTS.match(text):
        return "world"
    if verb not in ("is", "are", "has", "have", "uses", "runs", "lives", "costs", "takes", "starts", "closes", "opens", "ends", "stops", "need", "needs", "goes", "moves", "changes") or rest[0] in PASSING | _APPRAISALS - {"a"}:
        return None
    return "world" if named or _SPECIFIC.match(text) else None


def ended(words: list[str], at: int, last: int) -> bool:
    """Tell whether a clause says of a known thing that it is so no longer: "`core` isn't a package any more"."""
    tail = words[max(at, last - 2) : last]
    if words[at] in WELL_KNOWN - {"the", "our", "my"} or not ("anymore" in tail or tail == ["any", "more"] or "longer" in words[at:last]):
        return False
    return not {"isn't", "aren't", "doesn't", "don't", "longer"}.isdisjoint(words[at + 1 : last])


def _mine(noun: list[str], verb: str, rest: list[str], text: str) -> str | None:
    if not rest:
        return "kin" if verb in ("died", "graduated", "retired", "snores") and not KIN.isdisjoint(noun) else None
    if not _FAVOURITES.isdisjoint(noun):
        return None if points(rest) else "favourite"
    if (verb in BE or verb in _HAD) and MOMENT.isdisjoint(noun) and _SINCE.match(text):
        return "possession"
    passes = verb in BE and rest[0] in PASSING
    if not KIN.isdisjoint(noun) and noun[-1] not in MOMENT and _TELLING.isdisjoint(noun):
        if (verb in DATED or verb in ("left", "turned", "came", "emigrated", "fought", "served")) and re.search(r"\b(?:1[89]|20)\d\d\b|\b(?:ago|last year)\b", text):
            return "kin"
        return None if passes or verb in ("needs", "called", "had", "wanted", "asked") or (verb in BE and rest[0][-3:] == "ing" and rest[0] not in ONGOING) or (verb[-2:] == "ed" and verb not in STATES) else "kin"
    if verb in BE and noun[-1] == "test" and _DATE.match(text):
        return "name"
    if not MOMENT.isdisjoint(noun) or not AT_HAND.isdisjoint(noun) or passes or not _TELLING.isdisjoint(noun):
        return None
    if verb in _ENDED and (rest[0] in ("to", "in", "on", "last", "and", "from") or verb in ("lapsed", "expired")):
        return "name"
    if points(rest) and rest[0] not in ("one", "some") or rest[0] == "n't" or verb[-2:] == "ed" or (verb in BE and rest[0][-3:] == "ing"):
        return None
    if verb in _FAILING and OWN_THINGS.isdisjoint(noun):
        return None
    if verb in ("was", "were", "had"):
        return "possession" if _PLACES.match(text) else None
    return None if verb in ("works", "needs", "stopped", "gets", "does", "can't", "won't", "don't", "doesn't", "goes", "keeps", "got") or rest[0] in _APPRAISALS else "name"
