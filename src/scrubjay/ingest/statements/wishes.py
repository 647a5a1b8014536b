"""Wishes: a clause that says how things are wanted from now on -> its rule, or None."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.statements.said import points
from scrubjay.ingest.statements.words import bag

_LASTING: Final = (
    r"\b(?:from now on|going forward|from here on|in (?:the )?future|anymore|any more|ever again|ever[.!]*$|"
    r", always|whenever|only (?:when|if|after)|every time|by default|in general|at all times|each time|at all$"
    r"|in (?:all|any|every|my|our) (?:of )?(?:my |our |your |the )?(?:\w+ )?(?:commits?|commit messages|code|"
    r"files?|answers?|replies|messages?|responses?|tests?|e?mails|docs|prs|reviews)"
    r"|in everything (?:you|i|we) |in our |unless i (?:ask|say|tell))"
)
_NEVER = re.compile(
    r"(?:please |pls |you (?:should |must |have to |need to )|always(?= never))*(?:always|never|don't ever|"
    r"do not ever|don't you ever) (?!(?:mind|ever|again|heard|knew|been|seen|had|thought|said|used|tried"
    r"|the|a|an|my|works?|fails?|gonna|too|got|understood|worked|failed|returns?|gets?|has|is|was|been|in|on|"
    r"sure|wanted|happens?|happened|fun|nice|good|great|wrong|right)\b)[a-z'-]+ \S"
)
_FROM_NOW = re.compile(
    r"(?:when(?:ever)? i (?:say|ask|paste|post|send|write|give|share|mention|talk about|"
    r"tell you)\b.{2,60}[, ] ?(?:i mean|i want|i only|i'm|just|only|don't|do not|give|do|answer|treat|assume|"
    r"it means)|from now on|from (?:this|next|today|tomorrow|monday|january)\b(?: \w+){0,2} on(?:wards)?|"
    r"going forward|from here on(?: out)?|in (?:the )?future|as a (?:general )?rule|by default|every time you|"
    r"when(?:ever)? you (?:write|answer|reply|give|suggest|explain|generate|create|refactor|commit|respond|"
    r"send|show))\b,? \S+ \S"
)
_UNTIL = re.compile(
    r"(?:please |pls )?stop \w+ing (?:every|each|all|my|your) \S|"
    r"(?:please |pls )*(?:use|write|answer|reply|respond|call|keep|give|format|address|stick|avoid|don't|"
    r"do not|stop|no|speak|talk|commit|prefix|name|put|show|explain|ask|make|skip|leave|refer|add"
    rf"|don't \w+|do not \w+|include|sign|run|treat|remind|assume|correct|translate|mark|quote|cite|"
    rf"spell)\b.*{_LASTING}"
)
_CALL = re.compile(
    r"(?:please |just |you can |everyone |everybody |people |my friends |they |friends )*calls? me (?!back|"
    r"when|if|later|crazy|at|on|an?|tomorrow|today|stupid|old|once)[\w'-]+"
)
_LETS = re.compile(
    r"(?:let's|lets|let us) (?:just |all |always |never |go |and )*(?:use|with|stick (?:with|to)|switch to|"
    r"standardi[sz]e on|settle on|move to|adopt|drop|call|name|pin|store|host|deploy|keep) "
    r"(?!sleep|bed|next|back|over|through|in mind|going|an?\b|some\b|more\b|another\b|different\b)"
)
_NOTED = re.compile(
    r"(?:final answer|it's decided|it is decided|final decision|verdict|decision|decided|convention|rule|"
    r"house rule|policy|preference|agreed)$"
)
_NO = re.compile(
    r"(?:please |pls )?no (?!idea|luck|need|problem|errors?|response|reply|change|changes|difference|output|"
    r"sign|way|one|news|rush|worries|wonder|doubt|matter|longer|clue|thanks|chance|reason|point|pressure|"
    r"hurry|success|answer|results?|big)"
    r"(?:[\w-]+ ){1,3}(?:outside|inside|in (?!the|this|it|a\b|an\b|your head)\w+s\b|at the (?:top|start|end|"
    r"beginning) of your|in (?:my|our|the code|any|your|code|commit|commits|tests|replies|answers|emails|"
    r"docs)|without|before|unless|except|ever|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?) ?\S"
)
_FEELS = re.compile(
    r"(?!it |this |that |these |those |you |your )(?:[\w'-]+ ){1,8}?(?:drives? me (?:up|crazy|mad|nuts|insane|"
    r"bonkers)|(?:is|are)(?:n't| not| so not) (?:my (?:thing|cup of tea|style|jam|idea of fun)|for me\b)"
    r"|gives? me (?:migraines?|headaches|heartburn|hives|anxiety|a rash)|makes? me (?:sick|ill|anxious|cringe|"
    r"break out|sleepy|sneeze)|do(?:es)?n't agree with me|works? best for me|suits? me best|(?:is|"
    r"are) my (?:jam|thing|happy place|comfort food|guilty pleasure))"
)
_VERBLESS = re.compile(
    r"(?!i |we |it |you |he |she |they |there |that |this |the |my |as )(?:[\w'-]+,? ){1,6}(?:always|never|"
    r"only|by default|everywhere)(?:,? (?:please|pls|thanks))?[.!]*$(?<!not only)"
    r"|[\w-]+(?: [\w-]+)? over [\w-]+(?: [\w-]+)?,? (?:always|any day|every time|in \w+)\b"
)
_THERE = re.compile(
    r"there(?:'s| is| are) (?:an? |only |two |three |four |five |six |seven |eight |nine |ten |\d+ |"
    r"no )(?:.{3,60} (?:in|at|on|for|behind|under|next to) (?:my|our) |of us\b|.{3,40} of us\b)"
)

_USING: Final = bag("use with to on adopt drop call name pin store host deploy keep")
_RULES: Final = (
    ("feels", bag("drives drive me my thing"), _FEELS),
    ("house style", bag("always never only default everywhere over"), _VERBLESS),
    ("there is", frozenset(("there", "there's")), _THERE),
    ("no such", frozenset(("no",)), _NO),
    ("call me", frozenset(("call", "calls")), _CALL),
    (
        "from now on",
        bag("from forward here future rule default every when whenever"),
        _FROM_NOW,
    ),
    (
        "until further",
        bag(
            """from forward here future anymore more again ever always whenever only every default general
            times time all any my our everything unless stop"""
        ),
        _UNTIL,
    ),
)
"""Name, words of which one must stand there, pattern: looking for a word is cheaper than matching."""
CUES: Final = bag("always never ever let's lets let").union(*(needed for _, needed, _ in _RULES))
"""Without one of these no rule here finds anything."""


def wish(text: str, start: int, end: int, words: list[str]) -> str | None:
    """Return the rule that a clause without a subject of its own falls under: always, never, let us."""
    there = frozenset(words)
    if (
        not there.isdisjoint(("always", "never", "ever"))
        and _NEVER.match(text, start, end)
        and not points(words[2:])
    ):
        return "always do"
    if not there.isdisjoint(("let's", "lets", "let")) and _LETS.match(text, start, end):
        used = next((number for number, word in enumerate(words) if word in _USING), 1)
        return None if points(words[used + 1 :]) else "let us"
    for rule, needed, pattern in _RULES:
        if not needed.isdisjoint(there) and pattern.match(text, start, end):
            return rule
    return None


def noted(text: str, start: int, end: int) -> bool:
    """Tell whether a label says that what follows it is settled."""
    return _NOTED.match(text, start, end) is not None
