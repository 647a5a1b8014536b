"""Wanted: an imperative or a remark that says how things are wanted in general -> the rule that keeps it, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.words import bag

_GENERAL: Final = (
    r"(?:in general|generally|by default|throughout|as a rule|as standard|every time|each time|at all "
    r"times|across "
    r"the board|everywhere|consistently|in all|in every|for all|for every|for everything|with me|for good|"
    r"from here|"
    r"going forward|from now|from today|for any|in any|whenever|any time|anytime|ever\b|any ?more|unless|"
    r"always|never)"
)
_STOP: Final = re.compile(
    r"(?:please |pls |just |and |also )*(?:(?:stop|quit|no more|enough with|enough of|lay off|cut out|"
    r"drop|ditch|lose|spare me|"
    r"skip|leave out|avoid) (?:all |with |the |any |your |those |these )*(?:"
    r"calling me|address\w+ me|saying|apologi[sz]\w+|add\w+|us\w+|putt?\w+|writ\w+|giv\w+|start\w+|"
    r"end\w+|explain\w+|"
    r"repeat\w+|suggest\w+|ask\w+|wrapp\w+|assum\w+|recommend\w+|"
    r"emojis?|bullet\w*|bullet points|exclamation\w*|headings?|headers?|hashtags?|preambles?|"
    r"disclaimers?|pleasantries|"
    r"intros?|summar\w+|small talk|jargon|buzzwords|acronyms|filler|bold|tables|em[ -]?dashes|puns|jokes|"
    r"metaphors|"
    r"semicolons|comments|docstrings|mocks|abbreviations|adverbs|clich[eé]s|lectures?|lecturing|flattery|"
    r"praise)\b"
    r"(?! (?:here|in this|from this|on this|in line|for now|there)\b)(?!.*\b(?:in this|from this|line \d|"
    r"paragraph \d|here)\b))"
)
_SCOPED: Final = re.compile(
    rf"(?:please |pls |just |also )*(?:keep|use|write|answer|reply|respond|give|format|show|include|put|"
    rf"make|add|send|name|"
    rf"call|treat|assume|stick|round|quote|cite|spell|explain|address|speak|talk|check|run|ask|remember|"
    rf"prefer|avoid|don't|"
    rf"do not|no|only|start|end|sign|schedule|book|order|cook|buy|read|wait|leave|tag|commit|wrap|"
    rf"log)\b.{{3,}}?\b{_GENERAL}"
)
_WHENEVER: Final = re.compile(
    r"(?:any ?time|every time|each time|whenever|if ever|if|when) (?:i|we|you) (?:say|write|type|ask|send|"
    r"paste|post|mention|"
    r"give|show|share|suggest|recommend|quote|answer|commit|touch|change|edit|add|refer|use) .{3,80}[ "
    r",](?:i mean|it means|"
    r"that means|just|always|never|please|don't|do not|only|give|show|include|use|write|answer|treat|"
    r"assume|check|run|add|"
    r"list|start|stick|keep|cite|name|tell me|ask|put|mark|make) \S"
)
_TO_ME: Final = re.compile(
    r"(?!it |this |that |these |those |you |your |which |what |the (?:first|second|last|new|other) "
    r")(?:[\w'-]+,? ){1,6}?(?:"
    r"(?:tastes?|smells?|sounds?|feels?) (?:like|too) \w+.* (?:to|for) me\b|(?:has|have|needs?) to be .* "
    r"for me\b|"
    r"(?:aren't|isn't|are|is|does|do) (?:nothing|too \w+|always|never|wasted|hard|tough|torture|heaven|"
    r"hell|sacred|"
    r"non-?negotiable)\b.{0,20}(?: (?:for|on|to) me\b|$)(?<=me)|(?:does|do) nothing for me|(?:never|"
    r"always) agrees? with me|"
    r"bothers? me|annoys? me|stress(?:es)? me|relax(?:es)? me|scares? me|upsets? my stomach|trigger\w* my \w+)"
    r"|(?:[\w'-]+,? ){1,5}(?:only|seats?|first|every time|any day|all the way) (?:only )?for me,?(?: "
    r"please| pls| thanks| always)?[.!]*$"
    r"|.{6,60},? (?:that's|thats|is) (?:how|the way|what) (?:i|we) (?:like|take|want|prefer|drink|eat) "
    r"(?:it|them|my|our|things)"
    r"|(?!(?:i|we|it|you|this|that|it's|that's|not|\w*n't|hm|still|of|why|but|and|thanks|works?|go|just) "
    r")[\w'-]+"
    r"(?: [\w'-]+)? (?:over|instead of|rather than) [\w'-]+(?: [\w'-]+)?"
    r"(?:,? (?:please|pls|thanks|for me|always|every time|any day))?[.!]*$"
)
_CUES: Final = bag(
    """general generally default throughout rule standard time times board everywhere consistently all every with good
    forward now today any whenever anytime ever anymore unless always never"""
)
_STOPS: Final = bag("stop quit more enough lay cut drop ditch lose spare skip leave avoid")
_OPENS: Final = bag("any anytime every each whenever if when")
_MEANS: Final = bag("me how way what over instead rather not stomach my")
CUES: Final = _CUES | _STOPS | _OPENS | _MEANS
"""Without one of these no rule here finds anything."""
_SUBJECTS: Final = bag("i we it you he she they that this there what my our his her their the a an")


def wanted(text: str, start: int, end: int, words: list[str]) -> str | None:
    """Return the rule that a wish of general scope falls under."""
    there = frozenset(words)
    if not _STOPS.isdisjoint(there) and _STOP.match(text, start, end):
        return "no more"
    if words[0] in _OPENS and _WHENEVER.match(text, start, end):
        return "whenever"
    if words[0] in _SUBJECTS:
        return None
    if not _CUES.isdisjoint(there) and _SCOPED.match(text, start, end):
        return "in general"
    return "to me" if not _MEANS.isdisjoint(there) and _TO_ME.match(text, start, end) else None
