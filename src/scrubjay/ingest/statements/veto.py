"""Veto: words -> whether they are said in earnest, of the world as it is and will still be in a month.

`earnest` finds where a turn stops being earnest: from there on it is fiction, a hypothesis, or a part that
somebody plays. The others look at a sentence or a clause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from scrubjay.ingest.statements.words import bag

_TALES: Final = (
    r"story|stories|tale|novel|poem|haiku|sonnet|limerick|scene|dialogue|monologue|screenplay|script for|"
    r"sketch|song|lyrics"
    r"|rap|fanfic\w*|fiction|fable|jokes?|short film|diary entry|backstory|villanelle|ballad|parody|vignette|"
    r"role-?play"
)
_TRIGGERS: Final = bag(
    """you you're act be behave respond answer talk speak roleplay role-play pretend character voice
    persona dungeon protagonist narrator heroine time suppose imagine let's assume assuming
    hypothetical hypothetically thought if world exercise homework practice riddle quiz word your
    story stories tale novel poem haiku sonnet limerick scene dialogue monologue screenplay script
    sketch song lyrics rap fanfic fanfiction fiction fable joke jokes film diary backstory villanelle
    ballad parody vignette book game dream i'm style role"""
)
"""Without one of these there is no frame to look for."""
_FRAME = re.compile(
    r"\b(?:"
    r"(?:you are|you're|you will be|you'll be|act like|act as|(?<![\w',] )be|behave as|respond as|answer "
    r"as|talk like|"
    r"speak as|speak like) "
    r"(?:now |no longer |going to be )?(?:an? (?!bit|little|lifesaver|star|legend|genius|gem|hero|champ|saint|"
    r"angel|king|queen|treasure)"
    r"|the (?:narrator|captain|hero|main|dungeon|king|queen|interviewer))"
    rf"|(?:write|tell|compose|make up|invent|continue|create|draft|generate|"
    rf"give)\b[^.?!\n]{{0,60}}\b(?:{_TALES})\b"
    r"|you (?:are|'re) now \w|you will (?:play|act)|i (?:am|'m) your (?:first|new|old|loyal|humble|captain|"
    r"knight|patient|client|boss|king|queen|[a-z]+master|squire|student|servant|apprentice|pupil)\b"
    r"|in (?:the|this|my) (?:poem|story|novel|song|book|scene|game|dream)\b"
    r"|role-?play|pretend\b|act as\b|in character\b|in the (?:voice|style|role|persona) of|dungeon master|"
    r"your character"
    r"|(?:the |my |our )?(?:protagonist|narrator|main character|heroine)\b|once upon a time"
    r"|(?<!i )suppose\b|imagine\b|let's (?:say|pretend|imagine|assume)|assume (?:that |i|we|my|you)|"
    r"assuming (?:that )?(?:i|we|my)"
    r"|hypothetical\w*|thought experiment|what if\b|in a world where|(?:exercise|homework|practice|riddle|"
    r"quiz|word problem)s?:"
    r")"
)
TELLS: Final = bag(
    """say says saying said tell tells telling told explain explains explaining explained mention
    mentions mentioned claim claims claimed wrote writes reads announced announcing think thinks
    thought believes believe insists insisted swears argues asks asked heard apparently rumour rumor
    rumours rumors supposedly allegedly suggest suggests suggested recommends recommended promised
    dreamed dreamt quote gather according"""
)
_MINE = re.compile(
    r"\b(?:(?:i|we) (?:should|want to|wanted to|forgot to|have to|must|will|meant to)? ?(?:also )?(?:say|"
    r"mention|add|tell you|told you|said|mentioned)"
    r"|i(?:'ve| have) (?:told you|said|mentioned)|being told"
    r"|i(?:'ve| have|'m| am| was) (?:just |now )?(?:been )?told|(?:wrote|got|said) back"
    r"|(?:never|don't|not|stop) (?:ever )?(?:suggest|mention|say|tell|explain|quote|recommend)\w*"
    r"|did i mention|forgot to (?:say|mention)|"
    r"that said)\b"
)
_JOKES: Final = bag("lol lmao rofl haha hahaha hehe jk kidding joking sarcasm xd /s 😂 🤣 😜 🙃 😉 😏 🤪")
_DROPPED = re.compile(
    r"\b(?:scrapped|abandoned|(?:dropped|cancell?ed) (?:that|it|this|the (?:idea|plan|trip|project|whole))|"
    r"(?:called|calling) (?:it |that )?off|changed (?:my|our) minds?|fell through"
    r"|yeah right|in my dreams|as a joke|as (?:if|though))\b|[😂🤣😜🙃😉😏🤪]"
)
_DROPS: Final = bag(
    """scrapped abandoned dropped canceled cancelled called calling changed fell right dreams joke as"""
)
_PASSING = re.compile(
    r"\b(?:right now|at the moment|this (?:minute|second|instant|morning|afternoon|evening|lunch)|tonight|"
    r"for now|in a (?:minute|sec|second|bit|hurry|rush)"
    r"|rn|atm|today|just now|tomorrow|in (?:an|one|two|ten|\d+) (?:hours?|minutes?|mins?)|for the moment|"
    r"temporarily)\b"
)
_UNSAID = re.compile(
    r"(?:\W*\b(?:ha|haha|lol|no|oh|ok|actually|and|but|well)\b\W*)*(?:jk|just kidding|"
    r"(?:i'?m )?(?:just )?(?:kidding|joking)|never ?mind|nvm|scratch that"
    r"|forget (?:that|it|what i)|ignore that|strike that|not really|not!)(?!\w)"
)


def earnest(text: str, bag: frozenset[str]) -> int:
    """Return where fiction, a part to play or a hypothesis begins; the length of the text where none does."""
    if bag.isdisjoint(_TRIGGERS):
        return len(text)
    found = _FRAME.search(text)
    return found.start() if found else len(text)


def unreal(text: str, start: int, end: int, words: Sequence[str]) -> bool:
    """Tell whether a sentence jokes or speaks of a plan that was dropped."""
    if not _JOKES.isdisjoint(words):
        return True
    return not (_DROPS.isdisjoint(words) and text.isascii()) and _DROPPED.search(text, start, end) is not None


def unsaid(text: str, start: int, end: int) -> bool:
    """Tell whether a sentence takes back the one before it."""
    return _UNSAID.match(text, start, end) is not None


def told(text: str, start: int, end: int, words: Sequence[str]) -> bool:
    """Tell whether a clause hands on what others say; so does what follows it in the sentence."""
    return not TELLS.isdisjoint(words) and not _MINE.search(text, start, end)


def passing(text: str, start: int, end: int) -> bool:
    """Tell whether a clause says of itself that it holds now and not for long."""
    return _PASSING.search(text, start, end) is not None
