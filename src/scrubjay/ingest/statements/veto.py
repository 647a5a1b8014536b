"""Veto: str -> whether it is said in earnest, of the world as it is and will still be in a month.

`earnest` finds where a turn stops being earnest: from there on it is fiction or a part that somebody plays.
`unreal` and `unsaid` look at a sentence; `doubted`, `told` and `passing` at a clause.
"""

from __future__ import annotations

import re
from typing import Final

_TALES: Final = (
    r"story|stories|tale|novel|poem|haiku|sonnet|limerick|scene|dialogue|monologue|screenplay|script for|sketch|song|lyrics"
    r"|rap|fanfic\w*|fiction|fable|joke|short film|diary entry|backstory|villanelle|ballad|parody|vignette|role-?play"
)
_FRAME = re.compile(
    r"\b(?:"
    r"(?:you are|you're|you will be|you'll be|act like|act as|be|behave as|respond as|answer as|talk like|speak as|speak like) "
    r"(?:now |no longer |going to be )?(?:an? (?!bit|little|lifesaver|star|legend|genius|gem|hero|champ|saint|angel|king|queen|treasure)"
    r"|the (?:narrator|captain|hero|main|dungeon|king|queen|interviewer))"
    rf"|(?:write|tell|compose|make up|invent|continue|create|draft|generate|give)\b[^.?!\n]{{0,60}}\b(?:{_TALES})\b"
    r"|role-?play|pretend\b|act as\b|in character\b|in the (?:voice|style|role|persona) of|dungeon master|your character"
    r"|(?:the |my |our )?(?:protagonist|narrator|main character|heroine)\b|once upon a time"
    r"|suppose\b|imagine\b|let's (?:say|pretend|imagine|assume)|assume (?:that |i|we|my|you)|assuming (?:that )?(?:i|we|my)"
    r"|hypothetical\w*|thought experiment|what if\b|in a world where|(?:exercise|homework|practice|riddle|quiz|word problem)s?:"
    r")"
)
_SPOKEN_FOR = re.compile(
    r"\b(?:say|says|saying|said|tell|tells|telling|told|explain\w*|mention\w*|claim\w*|wrote|writes|reads|announc\w+|thinks?"
    r"|thought|believes?|insists?|swears?|argues?|asks?|asked|heard|apparently|rumou?rs?|according to|supposedly|allegedly"
    r"|suggest\w*|recommend\w*|promised|dreamed|dreamt|dream that|read that|quote[sd]?)\b"
)
_OWN_WORDS = re.compile(
    r"(?:\bi (?:should |want to |wanted to |forgot to |have to |must |'ll |will )?(?:also )?(?:say|mention|add|tell you|told you|said|mentioned)"
    r"|\bi(?:'ve| have) (?:told you|said|mentioned)|\blike i said|\bas i (?:said|told|mentioned)|\bi'?d say|\bdid i mention|\bforgot to (?:say|mention)"
    r"|\bi meant to say|\bthat said|\bthe doctor)\b"
)
_UNREAL = re.compile(
    r"\bif (?:i|we|my|our|you|he|she|they|it|there|only|someone|somebody|one)\b(?! (?:remember|recall|am not mistaken))"
    r"|\b(?:supposing|unless)\b|\bas (?:if|though)\b"
    r"|\b(?:lol|lmao|rofl|haha\w*|hehe\w*|jk|just kidding|kidding|joking|yeah right|sarcasm|as a joke|in my dreams|xd)\b"
    r"|(?<!\S)/s\b|[😂🤣😜🙃😉😏🤪]"
    r"|\b(?:scrapped|abandoned|(?:dropped|cancell?ed) (?:the|that|it)|(?:called|calling) (?:it |that )?off|changed (?:my|our) minds?|fell through)\b"
)
_DOUBT = re.compile(
    r"\b(?:would|could|might|may|should|wouldn't|couldn't|shouldn't|maybe|perhaps|probably|possibly|wish|wished|hope|hoping|hopefully|not sure"
    r"|no idea|dunno|wonder|wondering|i guess|(?:would|could|should)'?ve|shoulda|woulda|almost|nearly|supposed to|tempted|considering"
    r"|(?:was|were|been) (?:going|about|planning|thinking|considering|meaning)|planned (?:to|on)|wanted to|no longer (?:plan|want|need)"
    r"|(?:think|thinking|thought|dreaming|dreamed|dreamt) (?:of|about)|basically|literally|practically|clearly|obviously)\b"
)
_PASSING = re.compile(
    r"\b(?:right now|at the moment|this (?:minute|second|instant)|tonight|this (?:morning|afternoon|evening|lunch)|for now|in a (?:minute|sec|second|bit|hurry|rush)"
    r"|rn|atm|today|just now|tomorrow|in (?:an|one|two|\d+) (?:hours?|minutes?|mins?)|for the moment|temporarily)\b"
)
_UNSAID = re.compile(r"\b(?:jk|just kidding|kidding|joking|never ?mind|nvm|scratch that|forget (?:that|it|what i)|ignore that|strike that|not really|not!)(?!\w)")


def earnest(text: str) -> int:
    """Return where fiction, a part to play or a hypothesis begins; the length of the text where none does."""
    found = _FRAME.search(text)
    return found.start() if found else len(text)


def unreal(text: str, start: int, end: int) -> bool:
    """Tell whether a sentence supposes, jokes, or speaks of a plan that was dropped."""
    return _UNREAL.search(text, start, end) is not None


def doubted(text: str, start: int, end: int) -> bool:
    """Tell whether a clause is a wish, a chance or a duty, not a state of affairs."""
    return _DOUBT.search(text, start, end) is not None


def told(text: str, start: int, end: int) -> bool:
    """Tell whether a clause hands on what others say; so does what follows it in the sentence."""
    return _SPOKEN_FOR.search(text, start, end) is not None and not _OWN_WORDS.search(text, start, end)


def passing(text: str, start: int, end: int) -> bool:
    """Tell whether a clause says of itself that it holds now and not for long."""
    return _PASSING.search(text, start, end) is not None


def unsaid(text: str, start: int, end: int) -> bool:
    """Tell whether a sentence takes back the one before it."""
    return _UNSAID.search(text, start, end) is not None
