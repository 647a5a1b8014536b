"""Doing: what I or we do, have, like or will do -> the rule that keeps it, or None.

``doing`` asks its questions in turn; each gives the name of a rule, ``NOTHING`` where it knows that there is
nothing to keep, or None where it has no say.
"""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.belonging import belongs
from scrubjay.ingest.statements.events import chosen, did
from scrubjay.ingest.statements.having import has
from scrubjay.ingest.statements.said import NOTHING, Said, past, points
from scrubjay.ingest.statements.things import AT_HAND, MOMENT
from scrubjay.ingest.statements.times import COMING, EVERY
from scrubjay.ingest.statements.words import (
    ABSTAIN,
    ARTICLES,
    FLEETING,
    HABIT,
    HABITUAL,
    LIKE,
    LIVE,
    SOON,
    TEAMWORK,
    bag,
)

FAR: Final = 5
"""Words of an object in which its noun stands."""

_BEGIN: Final = bag(
    """start begin move leave fly finish graduate retire marry turn join return depart sail"""
)
_LASTING: Final = bag("always never general generally default every")
_ORDERING: Final = bag("when whenever before after always never every each if")
_EXCEPT: Final = bag("unless ever any anymore")
_STYLED: Final = re.compile(
    r"\b(?:rather than|instead of|not \w+$|throughout|everywhere|across the board|in (?:all |my |our |"
    r"every )?(?:tests?|commits?|code|docs|e?mails|answers|replies|reviews|messages|prs|comments|"
    r"reports|notes|plots|tables|figures)\b|in (?:english|german|french|spanish|"
    r"lower ?case|markdown|plain \w+|iso|metric|celsius|british|american|utc|24))"
)
_FEELS: Final = re.compile(
    r"\b(?:annoying|confusing|ugly|tedious|distracting|relaxing|easier|boring|unreadable|hard to|harder|"
    r"irritating|exhausting|calming|soothing|disgusting|creepy|off-putting)\b"
)
_UNSPOKEN: Final = bag("wondered seem seems forget get want need mean feel love")
"""What "always" does not make a habit of: "I always forget the syntax"."""
_KEEPING: Final = bag("drop keep stay stick ditch adopt retire skip switch")
_FAILING: Final = bag("getting seeing having running failing")
_ALONE: Final = bag("drink smoke drive swim fly cook eat")
"""What one says not to do with nothing behind it."""
_WILL: Final = bag("use go stick stay standardise standardize move switch migrate keep adopt")
_WONT: Final = bag("support use sell buy renew take offer ship accept touch fly eat work move")
_SCHOLARLY: Final = AT_HAND | MOMENT | bag("model method technique data")
"""What "we use" in papers."""


def doing(said: Said) -> str | None:
    """Return the rule that what I do or we do falls under."""
    for ask in (_likes, _wants, chosen, _goes, has, _keeps, _always, _denies, belongs, _lives):
        found = ask(said)
        if found is not None:
            return found or None
    return None if said.aux else did(said)


def will(said: Said) -> str | None:
    """Return the rule that what I will do, would rather or won't do falls under."""
    verb, rest = said.verb, said.rest
    if said.aux == "would":
        if verb not in ("prefer", "rather", "like", "want") or said.pointed:
            return None
        if verb == "like":
            return None
        lasting = (
            "not" in said.manner
            or rest[0] == "not"
            or not _LASTING.isdisjoint(said.whole.split())
            or _STYLED.search(said.text)
        )
        return "likes" if lasting else None
    if said.denied:
        return "decided" if verb in _WONT and not said.pointed else None
    if not said.team or verb not in _WILL or not rest or rest[0] in ("to", "back", "ahead", "and"):
        return None
    return None if points(rest[rest[0] in ("with", "on") :]) else "decided"


def _likes(said: Said) -> str | None:
    verb, rest = said.verb, said.rest
    if verb == "swear" and rest[:1] == ["by"]:
        return "likes"
    if verb == "find" and _FEELS.search(said.text):
        return NOTHING if said.pointed else "likes"
    if verb == "tend":
        return "used to"
    if verb not in LIKE and (verb != "care" or rest[:1] != ["for"]):
        return None
    if rest[:2] in (["it", "when"], ["that", "my"]):
        return "likes"
    if said.pointed or past(verb) or (verb in ("like", "love", "enjoy") and rest[0] == "the"):
        return NOTHING
    if verb in ("stand", "bear"):
        return "likes" if said.denied else NOTHING
    soon = rest[0] == "to" and not SOON.isdisjoint(rest[1:2]) and said.manner.isdisjoint(HABITUAL)
    return NOTHING if soon else "likes"


def _wants(said: Said) -> str | None:
    verb, rest = said.verb, said.rest
    if verb not in ("want", "need", "insist", "expect"):
        return None
    if said.pointed or said.team or rest[0] == "to":
        return NOTHING
    if rest[:2] == ["you", "to"]:
        return "likes" if not _ORDERING.isdisjoint(rest) else NOTHING
    if not {"always", "never", "every", "all"}.isdisjoint([*said.manner, *rest[:4]]):
        return "likes"
    if verb == "need" and not said.denied and _STYLED.search(said.text) and rest[0] not in ARTICLES:
        return "likes"
    if verb != "want" or rest[0] in ARTICLES or rest[0] in ("my", "our", "you"):
        return NOTHING
    return "likes" if _STYLED.search(said.text) or (said.denied and not _EXCEPT.isdisjoint(rest)) else NOTHING


def _goes(said: Said) -> str | None:
    """Tell how one is called ("I go by Sam"), and what begins on a day that is settled."""
    if said.verb == "go" and said.rest[:1] == ["by"]:
        return "named" if len(said.rest) <= FAR else NOTHING
    if said.verb in _BEGIN and COMING.search(said.whole):
        return "begins"
    if said.verb == "used" and said.rest[:1] == ["to"]:
        return "used to" if len(said.rest) > 2 else NOTHING
    return None


def _keeps(said: Said) -> str | None:
    """Tell what a team stays with, and what somebody keeps or does: bees, kosher, yoga."""
    verb, rest = said.verb, said.rest
    if said.pointed or said.aux or rest[0][-3:] == "ing":
        return None
    kept = verb == "keep" and rest[0] not in ("the", "our", "to", "using", "with", "on")
    if said.team and verb in _KEEPING and not said.denied and not kept:
        return "decided" if rest[0] not in _FAILING and rest[0] not in ("a", "an") else NOTHING
    if verb == "keep":
        return "does" if rest[0] not in ARTICLES and rest[0] not in ("my", "our", "on", "up") else NOTHING
    if verb == "do" and not said.denied and rest[0] not in FLEETING and rest[0] not in ARTICLES:
        return "does" if rest[0] not in ("my", "our", "some", "well", "so") else NOTHING
    return None


def _always(said: Said) -> str | None:
    verb = said.verb
    if said.manner.isdisjoint(HABITUAL) or said.aux or verb in _UNSPOKEN:
        return None
    if past(verb) and verb not in ("read", "put", "cut", "set"):
        return NOTHING
    if "only" in said.manner and verb in FLEETING and verb not in HABIT:
        return NOTHING
    return NOTHING if said.rest and said.pointed else "always does"


def _denies(said: Said) -> str | None:
    """Tell what one does not do, or does no longer."""
    verb, rest = said.verb, said.rest
    ended = "longer" in said.manner or rest[-1:] == ["anymore"] or rest[-2:] == ["any", "more"]
    if not said.denied and not ended:
        return None
    if "still" in said.manner:
        return NOTHING
    if verb in _ALONE and (not rest or rest[:2] in (["anything", "with"], ["anything", "containing"])):
        return "does not"
    if said.pointed or rest[0] in ("time", "access", "enough", "well", "much", "any"):
        return NOTHING
    if ended:
        return "does not" if verb not in ("want", "need", "know", "see", "think") else NOTHING
    return "does not" if verb in ABSTAIN or verb in LIVE or (said.team and verb in TEAMWORK) else NOTHING


def _lives(said: Said) -> str | None:
    """Tell what one does for years, or again and again."""
    verb, rest = said.verb, said.rest
    if (
        said.aux
        or said.pointed
        or past(verb)
        or (said.team and verb == "use" and not _SCHOLARLY.isdisjoint(rest[:4]))
    ):
        return NOTHING if said.aux and not past(verb) else None
    if verb in LIVE or (said.team and verb in TEAMWORK):
        return (
            "does" if rest[0] not in ("to", "some", "another", "next") or rest[1:2] == ["call"] else NOTHING
        )
    if verb in FLEETING and (verb not in HABIT or not EVERY.search(said.whole)):
        return None
    return "does every" if EVERY.search(said.whole) else "does"
