"""Third: words of a clause whose subject is mine, ours or has a name -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.first import points
from scrubjay.ingest.statements.words import ADVERBS, BE, KIN, MOMENT, NEGATIVE, OWN_THINGS, PASSING, STATES

NAME: Final = 8
"""Words within which what is spoken of is named."""

_FAVOURITES: Final = frozenset("favourite favorite favourites favorites preferred preference preferences go-to peeve".split())
_HAD: Final = frozenset("has have had".split())
_PLACES: Final = re.compile(
    r"(?:called|named|at|from|made of|\d|written in|hosted|based|due (?:in|on|by)|owned|deployed|backed|built|stored|older|younger|born|located|spelled"
    r"|on (?!fire|hold|the fritz|top|track|my|it)|in (?!progress|trouble|place|my way|the way|need)|an? (?!bit|little|mess|lot|problem|issue|pain|disaster|joke|nightmare|few|good|bad|great|big))"
)
_WORLD: Final = frozenset(
    """server staging production prod database db repo repository api service backend frontend app build pipeline ci deploy release branch
    key meeting standup retro deadline wifi bucket cluster queue job cron script backups backup docs config secrets logs team office clinic
    shop site website domain project codebase monorepo package company worker cache registry proxy dashboard wiki runner runbook migration
    migrations tests schema port host machine vm nas router printer demo launch conference wedding party course exam invoice invoices
    warehouse kitchen garden car van boat cabin house flat lab greenhouse shed rota calendar spreadsheet folder drive newsletter endpoint
    gateway token certificate licence license contract lease webhook bot""".split()
)
_FACTS: Final = re.compile(
    r"(?:(?:is|are) (?:now |always |actually |only |still |currently |both |all )*(?:on (?:port|an? |the \w+ (?:box|server|host|node|machine|floor|shelf|network|cluster)|\w+\.|[\w-]+$)"
    r"|at (?!least|most|all|risk|fault|the moment)|in (?:\S*[/.~]|the \w+ (?:repo|folder|bucket|branch|vault|channel|drawer)|aws|gcp|azure|eu-|us-|\w+/)|called|named|hosted|deployed|written in|stored|kept|owned by"
    r"|maintained by|backed up|due (?:on|by|in)|behind (?:a |the )|pinned (?:to|at)|protected|mirrored|:?\d{2,5}\b|from \w+ to)|lives? (?:in|at|on|under|behind)|runs? (?:on|at|every|in|as|behind|under|nightly|weekly|daily)"
    r"|listens? on|sits? (?:behind|in|on)|deploys? (?:to|from|with|on|every)|points? (?:to|at)|goes (?:live|out)|go out|ships (?:on|every)|expires? (?:on|in)|talks to|starts (?:on|at)|closes (?:on|at)|opens (?:on|at)"
    r"|(?:uses?|targets?|requires?|supports?|follows?) (?!it|this|that|the same|too|a lot|up\b|more|less|\d+ ?%)\w)"
)


def third(words: list[str], at: int, last: int) -> str | None:
    """Return the rule that a clause about my sister, our server or the repo falls under."""
    owner = words[at]
    verb = next((number for number in range(at + 1, min(at + NAME, last)) if words[number] in STATES or words[number][-2:] == "ed"), last)
    if verb >= last:
        return None
    noun, rest = words[at + 1 : verb], words[verb + 1 : last]
    while rest and (rest[0] in ADVERBS or rest[0] in NEGATIVE):
        rest = rest[1:]
    if owner in ("my", "our") and noun:
        return _mine(noun, words[verb], rest, " ".join(rest))
    if words[verb] in BE and rest[:1] in (["my"], ["our"]) and verb - at <= NAME // 2 and owner not in ("it", "this", "that", "what", "which", "who", "these", "those", "he", "she"):
        return "is mine" if not (KIN | OWN_THINGS | _FAVOURITES | {"main", "default", "primary", "lead", "maintainer", "designer", "teacher", "client"}).isdisjoint(rest[1:5]) else None
    if owner in ("the", "this", "our") and noun and not _WORLD.isdisjoint(noun):
        return "world" if _FACTS.match(" ".join(words[verb:last])) else None
    return None


def _mine(noun: list[str], verb: str, rest: list[str], text: str) -> str | None:
    if not rest:
        return "kin" if verb in ("died", "graduated", "retired", "snores") and not KIN.isdisjoint(noun) else None
    if not _FAVOURITES.isdisjoint(noun):
        return None if points(rest) else "favourite"
    passes = verb in BE and rest[0] in PASSING
    if not KIN.isdisjoint(noun) and noun[-1] not in MOMENT:
        return None if passes or verb in ("needs", "called", "had", "wanted", "asked") or (verb[-2:] == "ed" and verb not in STATES) else "kin"
    if not MOMENT.isdisjoint(noun) or passes:
        return None
    if not OWN_THINGS.isdisjoint(noun):
        return None if (verb in ("works", "needs", "stopped", "can't", "won't", "don't", "doesn't", "goes", "keeps", "got") or points(rest)) or rest[0] == "n't" else "name"
    if verb in BE or verb in _HAD:
        return "possession" if verb in _HAD and rest[0] in ("a", "an", "two", "three", "four") and MOMENT.isdisjoint(rest[:4]) or verb in BE and _PLACES.match(text) else None
    return None
