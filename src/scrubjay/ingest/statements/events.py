"""Events: what somebody did or has done -> the rule that keeps it, or None.

What changes a life or a project is kept as such ("moved", "switched to"); other things that were done need a
time, a number or a name to be worth asking for later, and must not be work on what is at hand ("I ran it twice").
"""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.said import MORE, Said, past, points
from scrubjay.ingest.statements.things import MOMENT
from scrubjay.ingest.statements.times import SPAN, TODAY, WHEN
from scrubjay.ingest.statements.words import CHOSE, DATED, LIFE, LIKE, NUMBERS, TALKED, bag

_SETTLED: Final = bag("to on that against not for at we i last in")
"""After "decided": "I've decided, ship it" is an order."""
_ASKED: Final = bag("ask try check post write share look read search see give test come")
"""What one decides to do in the talk itself."""
_POSTS: Final = bag("offer job role position promotion place")
_UP: Final = bag("buying choosing going using picking moving adopting with")
_VOTED: Final = (("ruled", "out"), ("voted", "for"), ("voted", "to"), ("voted", "against"))
_FOR_YEARS: Final = LIKE | bag("wanted known owned used played taught run kept lived worked had been")
_WEAK: Final = bag("started worked won signed landed")
"""Of what changes a life, the verbs that as often begin a small thing: "I started getting errors"."""
_SMALL: Final = bag("to getting seeing feeling noticing on with")
_PRACTICES: Final = bag(
    """eat drink smok driv vap gambl fly runn climb swimm cycl danc sing paint knit teach coach freelanc
    volunteer wear
    tak us practis practic train meditat do work homeschool bak garden collect keep sew learn study"""
)
"""Stems of what people take up and give up."""
_LEARNT: Final = bag("learned learnt married smoked drank drove had")
_ENDED: Final = bag("retired graduated divorced")
_LOST: Final = bag("lost broke passed finished left")


def chosen(said: Said) -> str | None:
    """Return the rule that what was settled falls under: "decided to", "went with", "ruled out"."""
    verb, rest = said.verb, said.rest
    if verb == "made":
        return "decided" if rest[:1] == ["up"] and "mind" in rest[:3] else None
    if (verb, rest[0] if rest else "") in _VOTED or (
        verb == "said" and rest[:2] in (["yes", "to"], ["no", "to"])
    ):
        return "decided"
    if verb == "ended":
        return "decided" if rest[:1] == ["up"] and not _UP.isdisjoint(rest[1:2]) else None
    if verb == "went":
        return "decided" if rest[:1] == ["with"] and not points(rest[1:]) else None
    if verb in ("took", "accepted", "declined"):
        return "took" if not _POSTS.isdisjoint(rest[:4]) else None
    if verb not in CHOSE or rest[:1] == ["up"]:
        return None
    if rest[:1] == ["that"]:
        return "decided" if len(rest) > MORE else None
    if verb == "settled" and rest[0] not in ("on", "for", "that"):
        return None
    if said.pointed or (verb == "decided" and (rest[0] not in _SETTLED or not _ASKED.isdisjoint(rest[1:2]))):
        return None
    return "decided"


def has_done(said: Said) -> str | None:
    """Return the rule that what I have done, or have long done, falls under."""
    verb = said.verb
    found = chosen(said)
    if found or said.pointed:
        return found
    if verb == "become":
        return "did" if said.rest[0] in ("a", "an", "the", "vegan", "vegetarian") else None
    if verb in LIFE and (verb not in _WEAK or SPAN.search(said.whole)):
        return "did"
    if (
        "never" in said.manner
        and verb in _LEARNT
        and said.rest[0] not in ("a", "this", "that", "any", "such")
    ):
        return "does not"
    if "always" in said.manner or (verb in _FOR_YEARS and SPAN.search(said.whole)):
        return "for years"
    if verb in DATED and WHEN.search(said.whole):
        return "did once"
    return _told(said)


def did(said: Said) -> str | None:
    """Return the rule that what I did falls under."""
    verb, rest = said.verb, said.rest
    if said.aux or not MOMENT.isdisjoint(rest[:4]):
        return None
    if said.pointed:
        return "did" if verb in _ENDED else None
    dated = WHEN.search(said.whole) is not None
    if verb in LIFE and (dated or verb not in _WEAK or not (rest[0] in _SMALL or rest[0][-3:] == "ing")):
        return "did"
    if verb in ("stopped", "quit", "started", "began", "gave") and _practice(rest) and not points(rest[1:]):
        return "did"
    if "never" in said.manner and verb in _LEARNT:
        return "does not"
    if verb in _LOST and rest[0] in ("my", "our") and "keys" not in rest:
        return "did"
    if (
        verb == "grew"
        or (verb == "gave" and rest[0] == "birth")
        or (verb in ("handed", "turned") and rest[0] == "in")
    ):
        return "did"
    if dated and verb in DATED and _apart(rest):
        return "did once"
    return _told(said) if past(verb) else None


def _practice(rest: list[str]) -> bool:
    """Tell whether something is taken up or given up that people do for years."""
    return rest[0][-3:] == "ing" and rest[0][:-3] in _PRACTICES


def _told(said: Said) -> str | None:
    """Tell whether what was done is told with a number, a name or a day."""
    verb, rest = said.verb, said.rest
    if verb in TALKED or not _apart(rest) or "error" in rest or "errors" in rest:
        return None
    if said.named or any(word[0].isdigit() or word[0] in "$€£" or word in NUMBERS for word in rest):
        return "did so"
    if verb in DATED and TODAY.search(said.whole):
        return "did so"
    return "did so" if not {"my", "our"}.isdisjoint(rest[:3]) and WHEN.search(said.whole) else None


def _apart(rest: list[str]) -> bool:
    """Tell whether it does not end in what stands in the talk: "spent most of yesterday on this"."""
    return rest[-1] not in ("this", "it") and rest[-2:-1] != ["this"]
