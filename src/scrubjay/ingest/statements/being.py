"""Being: what somebody says they are -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.said import Said, past, points
from scrubjay.ingest.statements.things import MOMENT
from scrubjay.ingest.statements.times import COMING, EVERY, SPAN, WHEN, YEARS
from scrubjay.ingest.statements.words import (
    ARTICLES,
    CHOOSING,
    NUMBERS,
    ONGOING,
    PASSING,
    PREPOSITIONS,
    TALKED,
    TRAITS,
    bag,
)

_LITTLE: Final = bag(
    """bit little lot few bunch couple mess wreck idiot moron fool dummy same first second last next best
    worst one big huge total complete"""
)
_FANS: Final = bag("fan lover believer")
_PASSIVE: Final = bag(
    """born raised diagnosed promoted hired accepted elected adopted laid married founded acquired
    transferred awarded admitted"""
)
_WAITING: Final = bag("trying looking thinking wondering waiting struggling getting stuck")
_ENDING: Final = bag(
    """calling naming quitting killing sunsetting deprecating retiring dropping adopting keeping
    discontinuing rewriting replacing"""
)
"""What a team settles by saying that it does so."""
_MINE_TO_END: Final = bag("dropping quitting retiring")
_REFUSING: Final = bag(
    """doing renewing buying selling supporting hiring keeping taking inviting travelling traveling
    accepting extending migrating"""
)
"""What one is "not ...ing" by choice."""
_FOR_LIFE: Final = bag("move retire adopt marry divorce emigrate immigrate relocate graduate convert")
_REFUSED: Final = bag(
    """renew buy sell support use keep take move migrate switch offer extend apply hire accept have go"""
)
"""What one is "not going to" do by choice."""
_WORKING: Final = bag("training running building paying teaching raising")
_LEAVING: Final = bag("leaving quitting taking accepting")
_POSTS: Final = bag("job offer company position role team place")
_PLANNING: Final = bag("planning getting writing doing taking")
_PLANNED: Final = bag(
    """trip wedding move holiday vacation honeymoon retirement conference retreat novel book thesis
    dissertation phd masters degree apprenticeship residency classes lessons medication married"""
)
"""What is planned, written or taken for months."""
_PEOPLE: Final = bag(
    """people adults developers engineers of in students kids siblings vegetarian vegetarians vegan sisters
    brothers vegetarians vegans
    parents person student"""
)
_YEARS: Final = bag("years year yrs y/o yo and with weeks months cm")
_HEDGES: Final = bag("about around roughly almost nearly")
_SETTING: Final = (["with"], ["to"], ["on"])
_ON: Final = re.compile(
    r"in (?:my|our) (?:\w+ )?(?:teens|twenties|thirties|forties|fifties|sixties|seventies|eighties|\d0s|first|"
    r"second|third|fourth|fifth"
    r"|final|last|junior|senior|freshman)|in (?:year|grade|therapy|college|uni|university|recovery|charge)\b"
    r"|in (?:the )?\w+ (?:grade|year|semester)\b|in (?:high|med|medical|law|grad|nursing) school"
    r"|on (?:an? |the )?[\w -]{2,30}(?:diet|plan|medication|team|committee|board|tier)\b"
    r"|on (?:warfarin|insulin|metformin|statins|antidepressants|ssris?|blood thinners|lithium|hrt|beta blockers"
    r"|python|node|postgres|java|ubuntu|debian|windows|macos|linux|rails|django)"
    r"|(?:into|fond of|keen on|sensitive to|more of an?) \w|(?:scared|afraid|terrified|frightened) of (?!this|"
    r"that|it)"
    r"|(?:not )?(?:big|keen|picky|strict|fussy|particular) (?:on|about) (?!this|that|it)"
    r"|on (?:an? \w+ of \S*\d|parental|maternity|paternity|sick leave|sabbatical|benefits|call (?:every|on))"
    r"|up (?:at|by) (?:\d|five|six|four) ?.{0,6}(?:every|most|daily)|\d[\d.,]* ?(?:m|cm|kg|ft|tall|lbs)\b|"
    r"\d\d ?[fm]\b"
    r"|(?:terrible|bad|hopeless|useless|good|great) with (?!this|that|it)"
)
"""In, on and of what one is for years."""


def being(said: Said) -> str | None:
    """Return the rule that what I am or we are falls under."""
    if said.aux in ("was", "were"):
        return _was(said)
    if said.aux == "been":
        return _been(said)
    if said.verb in ARTICLES:
        return _a(said.rest)
    if said.verb == "going" and said.rest[:1] == ["to"] and len(said.rest) > 1:
        return _coming(said)
    return _trait(said) or _settled(said) or _ongoing(said) or _counted(said)


def _was(said: Said) -> str | None:
    """Tell what befell me at a time one may ask for, and what I was for years."""
    if said.verb in _PASSIVE:
        return "became"
    if said.pointed or said.denied or said.verb in PASSING:
        return None
    dated = WHEN.search(said.whole) is not None
    if said.verb in ARTICLES and (YEARS.search(said.whole) or dated) and MOMENT.isdisjoint(said.rest):
        return "used to"
    return "became" if dated and past(said.verb) and said.verb not in TALKED else None


def _coming(said: Said) -> str | None:
    """Tell what one is going to do with one's life, or on a day that is settled."""
    verb, rest = said.rest[1], said.rest[2:]
    if points(rest) and verb not in _FOR_LIFE:
        return None
    if said.denied:
        return "decided" if verb in _REFUSED else None
    return "begins" if verb in _FOR_LIFE or COMING.search(said.whole) else None


def _been(said: Said) -> str | None:
    if said.verb in _PASSIVE:
        return "became"
    if said.verb in PASSING or said.verb in _WAITING or said.pointed:
        return None
    return "for years" if SPAN.search(said.whole) or EVERY.search(said.whole) else None


def _a(rest: list[str]) -> str | None:
    """Tell what I am: a nurse, a fan of something; not a bit tired."""
    if not rest or (rest[0] in _LITTLE and _FANS.isdisjoint(rest[:4])):
        return None
    noun = next((number for number, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    if not MOMENT.isdisjoint(rest[:noun]):
        return None
    return "likes" if not _FANS.isdisjoint(rest[:noun]) and not points(rest[noun + 1 :]) else "is a"


def _trait(said: Said) -> str | None:
    verb, rest = said.verb, said.rest
    if verb in TRAITS and [verb, *rest[:1]] != ["based", "on"]:
        return "is"
    if said.named and (not rest or verb == "half"):
        return "is"
    if not _TRAITED.isdisjoint(rest[:2]):
        return "is"
    return "is" if _ON.match(said.text) else None


_TRAITED: Final = bag("born allergic intolerant")


def _settled(said: Said) -> str | None:
    """Tell what one settles by doing it: "we're going with", "I'm dropping", "we're not renewing"."""
    verb, rest = said.verb, said.rest
    if said.denied:
        return "decided" if verb in _REFUSING and not said.pointed else None
    if verb[-3:] == "ing" and verb not in PASSING and ("after all" in said.text or "in the end" in said.text):
        return "decided"
    if verb in _ENDING and (said.team or verb in _MINE_TO_END):
        return None if said.pointed else "decided"
    if verb == "giving":
        return "decided" if rest[:1] == ["up"] and not points(rest[1:]) else None
    if verb in CHOOSING and rest[:1] in _SETTING and not points(rest[1:]) and verb not in ONGOING:
        return "decided" if verb != "going" or rest[0] == "with" else None
    if verb in _LEAVING and not _POSTS.isdisjoint(rest[:5]):
        return "took" if rest[0] != "on" else None
    return None


def _ongoing(said: Said) -> str | None:
    verb, rest = said.verb, said.rest
    if verb in ONGOING or (verb == "working" and rest[:1] in (["as"], ["for"], ["at"])):
        return None if said.pointed else "is doing"
    if verb in _WORKING:
        return (
            "is doing"
            if rest[:1] in (["for"], ["a"], ["my"], ["our"], ["an"]) and not points(rest[1:])
            else None
        )
    return "is doing" if verb in _PLANNING and not _PLANNED.isdisjoint(rest) else None


def _counted(said: Said) -> str | None:
    """Tell how old, how many or how good at it: "34", "a team of five", "about 1650 on Lichess"."""
    verb, rest = said.verb, said.rest
    if verb in _HEDGES and rest and rest[0].isdigit():
        return "is"
    number = verb.isdigit() or verb.split("-")[0] in NUMBERS
    if said.team:
        told = (number and rest and rest[0] in _PEOPLE) or not _PEOPLE.isdisjoint([verb, *rest[:2]])
        told = told or (not rest and verb[-3:] in ("ers", "ors", "ans", "sts") and verb.isalpha())
        return "is a" if told and verb not in PASSING else None
    return "is" if number and (not rest or rest[0] in _YEARS or rest[0] in PREPOSITIONS) else None
