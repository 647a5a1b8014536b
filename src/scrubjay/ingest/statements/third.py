"""Third: words of a clause whose subject is mine or known -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.mine import APPRAISALS, FAVOURITES, mine
from scrubjay.ingest.statements.said import points
from scrubjay.ingest.statements.things import (
    AT_HAND,
    BARE_WORLD,
    BODIES,
    KIN,
    MOMENT,
    OWN_THINGS,
    PETS,
    WELL_KNOWN,
    WORLD,
)
from scrubjay.ingest.statements.words import (
    ADVERBS,
    BE,
    HAD,
    NEGATIVE,
    OWNED,
    PASSING,
    PLURAL,
    STATES,
    bag,
)

NAME: Final = 8
"""Words within which what is spoken of is named."""
SHORT: Final = 3
"""Words of a name that may be anything, so long as what is said of it is a fact."""
_HEDGES: Final = bag("about around roughly approximately nearly got")
_VOTED: Final = bag(
    """forbids requires insists voted decided approved agreed chose picked settled chosen signed"""
)
_MAIN: Final = bag("main default primary lead maintainer designer teacher client tech")
_KNOWN: Final = bag("the this our all")
_CONTRACTING: Final = bag("a an got called in on at from not been")
"""After "'s" when it is short for "is" or "has"."""
_STANDING: Final = bag(
    """is are has have uses runs lives costs takes starts closes opens ends stops need needs goes moves
    changes"""
)
_IDENTIFIER: Final = re.compile(r"(?=.*\d)(?=.*[a-z])[\w./:-]+")
_SPECIFIC: Final = re.compile(r".*(?:\d|`|\w[/_.]\w)")
_CODES: Final = bag("code password pin key port number id version login user username ip host path url")
_FACTS: Final = re.compile(
    r"(?:was|were) (?:(?:founded|built|started|established|opened|bought) (?:in|by)"
    r"|(?:switched off|turned off|shut down|sold|replaced|moved|renamed|merged|retired|decommissioned|"
    r"acquired))"
    r"|(?:is|are) (?:now |always |actually |only |still |currently |both |all )*"
    r"(?:on (?:port|an? (?!fire)|the \w+ (?:box|server|host|node|machine|floor|shelf|network|cluster)|\w+\.|"
    r"(?!fire|hold|it|top|track|time|sale)[\w-]+$)"
    r"|at (?!\d+ ?%|least|most|all|risk|fault|the moment)|in (?:\S*[/.~]|the \w+ (?:repo|folder|bucket|branch|"
    r"vault|channel|drawer)|aws|gcp|azure|eu-|us-)"
    r"|(?:under|behind|next to|above|below|inside|beside|opposite|near|up|being (?:retired|replaced|sold|"
    r"moved|migrated)"
    r"|going (?:away|live)) (?!it\b|that|this|the same)\w|due (?:on|in|by)"
    r"|called|named|hosted|deployed|written in|stored|kept (?:in|for|on|at)|owned by|maintained by|backed up|"
    r"due (?:on|by|in)|behind (?:a |the )"
    r"|pinned (?:to|at)|protected|mirrored|:?\d{2,5}\b|from \w+ to)"
    r"|lives? (?:in|at|on|under|behind)|runs? (?:on|at|every|in|as|behind|under|nightly|weekly|daily)|"
    r"listens? on|sits? (?:behind|in|on)"
    r"|deploys? (?:to|from|with|on|every)|points? (?:to|at)|goes? (?:live|out|to|into|via|through) |"
    r"ships (?:on|every)|expires? (?:on|in)|talks to"
    r"|(?:was|were|got|gets?|has been|have been|will be) (?:moved|pushed|postponed|delayed|brought "
    r"forward|rescheduled|put"
    r" back|changed) (?:back |forward |up )?(?:to|until|till|by|from) |will be (?:on|in|at) |has (?:no|"
    r"only|two|three|four|"
    r"\d+) (?!idea|effect|error|issue|problem|way|sense)\w|(?:faces?|seats?|weighs?|measures?|spans?|"
    r"dates from|lacks?|bans?|"
    r"allows?|forbids?|accepts?|speaks?|includes?|excludes?|covers?|belongs to|comes with|came with|goes "
    r"to|go to|"
    r"attends?|reports to|depends on|relies on|counts as|doubles as) (?!it|this|that|me|you|the same|all\b)\w"
    r"|(?:starts|closes|opens) (?:on|at)|(?:uses?|targets?|requires?|supports?|follows?) (?!it|this|that|"
    r"the same|too|a lot|up\b|more|less|\d+ ?%)\w"
)
"""What is said of things that stay where they are."""


def third(words: list[str], at: int, last: int, named: bool) -> str | None:
    """Return the rule that a clause about my sister, our server or the mortgage falls under.

    Args:
        words: All words.
        at: The clause's first word.
        last: The word after its last.
        named: Whether a name, known by its capital, stands after the first word.
    """
    owner = words[at]
    verb = at + 1
    end = min(at + NAME, last)
    while verb < end and not _is_verb(words, verb, last, verb - at):
        verb += 1
    if verb >= end:
        return None
    noun, said, rest = words[at + 1 : verb], words[verb], words[verb + 1 : last]
    if said not in STATES and said[-2:] == "'s":
        noun, said = [*noun, said[:-2]], "has" if rest[:1] in (["got"], ["been"]) else "is"
    while (
        rest
        and (rest[0] in ADVERBS or rest[0] in NEGATIVE or rest[0] in _HEDGES)
        and [said, rest[0]] != ["has", "no"]
    ):
        rest = rest[1:]
    if rest and _settles([owner, *noun], said, rest):
        return "decided"
    if owner in ("my", "our") and noun:
        return mine(noun, said, rest, " ".join(rest))
    if not rest:
        return None
    if said in BE and rest[0] in ("my", "our"):
        role = not (KIN | OWN_THINGS | FAVOURITES | _MAIN).isdisjoint(rest[1:5])
        return (
            "is mine"
            if role and len(noun) < SHORT and (owner not in WELL_KNOWN or owner in ("he", "she"))
            else None
        )
    if noun and noun[-1] in PETS and owner == "the":
        return "kin" if _of_pet(said, rest) else None
    bare = owner in BARE_WORLD or (owner in WORLD and _FACTS.match(" ".join((said, *rest))))
    return (
        _world(noun if owner in _KNOWN else [owner, *noun], said, rest, named)
        if bare or owner in _KNOWN
        else None
    )


def _is_verb(words: list[str], at: int, last: int, far: int) -> bool:
    """Tell whether a word begins what is said of the thing named before it, `far` words before."""
    word = words[at]
    if word in STATES:
        return True
    if word in PLURAL:
        return far > 1 or words[at - far] not in OWNED
    if word[-2:] == "ed" and word not in ("shared", "used", "red", "need"):
        return True
    return (
        word[-2:] == "'s" and at + 1 < last and (words[at + 1] in _CONTRACTING or words[at + 1][0].isdigit())
    )


def _settles(noun: list[str], verb: str, rest: list[str]) -> bool:
    """Tell whether those who may have settled something: the board, my family, legal."""
    if (
        BODIES.isdisjoint(noun)
        or noun[0] in ("a", "an")
        or points(rest)
        or rest[0] in ("last", "yesterday", "today")
    ):
        return False
    return verb in _VOTED or (verb in HAD and rest[0] in _VOTED)


def _of_pet(verb: str, rest: list[str]) -> bool:
    if verb in BE:
        return rest[0] not in PASSING and rest[0] not in APPRAISALS and rest[0][-3:] != "ing"
    return verb in HAD or verb in (
        "gets",
        "eats",
        "go",
        "goes",
        "attends",
        "attend",
        "sleeps",
        "speak",
        "speaks",
    )


def _world(noun: list[str], verb: str, rest: list[str], named: bool) -> str | None:
    """Tell whether a fact is said of a known thing: with a number, a name or a path, or of where it stays."""
    if not noun or len(noun) >= NAME - 2 or not MOMENT.isdisjoint(noun):
        return None
    text = " ".join((verb, *rest))
    fact, specific = _FACTS.match(text) is not None, named or _SPECIFIC.match(text) is not None
    if WORLD.isdisjoint(noun):
        if len(noun) > SHORT or not AT_HAND.isdisjoint(noun) or not WELL_KNOWN.isdisjoint(noun):
            return None
        if not specific:
            return "at large" if fact and not rest[-1][-1:].isdigit() else None
        identified = (
            verb == "is"
            and len(rest) == 1
            and (_IDENTIFIER.fullmatch(rest[0]) or not _CODES.isdisjoint(noun))
        )
        return "world" if identified or (fact and not rest[0][0].isdigit()) else None
    if fact or (verb == "is" and not _CODES.isdisjoint(noun) and specific):
        return "world"
    return (
        "world"
        if specific and verb in _STANDING and rest[0] not in PASSING and rest[0] not in APPRAISALS
        else None
    )
