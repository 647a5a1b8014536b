"""Behind: a word that names a secret -> the tokens behind it on its line, words told as one, what is told of it again.

Words are one token where they stand in quotes, or behind a sign or "is" up to where the sentence pauses. What is spoken
of as "it" or "the new one" some words later is told there: "I changed it to …", "no, the new one is …".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_cues import LONGEST, Candidate, Cue
from scrubjay.ingest.scrub_words import binds, said

MOST_TOKENS: Final = 6
LEAST_KEY: Final = 8
"""Characters of what was drawn by lot."""
SHORTEST: Final = 4
ANEW: Final = 260
"""Characters behind a word for a password in which it is spoken of again."""
REST: Final = 60

_TAIL: Final = re.compile(r"[\w-]*(?:\.[\w-]+)*")
_STOPS: Final = "\\s\"'`,;<>()\\[\\]{}|\\\\=「」『』“”„«»：，。、！？（）→"
# What Google calls an app password, and a second factor's key as people are shown it: fours of small letters, of
# which one has no vowel, as words have.
FOURS: Final = re.compile(
    r"(?<![\w-])(?=(?:[a-z2-7]{4} ){0,7}[b-df-hj-np-tv-xz2-7]{4}\b)[a-z2-7]{4}(?: [a-z2-7]{4}){3}"
    r"(?:(?: [a-z2-7]{4}){4})?(?![\w-]| [a-z2-7]{4}\b)"
)
FOUR: Final = re.compile(r" [a-z2-7]{4} [a-z2-7]{4} [a-z2-7]{4}\b")
"""What there must be for them: looked for at once."""
DIGIT: Final = re.compile(r"[0-9]")
TELLS: Final = re.compile(r"[0-9!#$%&*+@^~]|[a-z][A-Z]|[A-Z]{2}[a-z]|\w[._-]\w")
_MADE_UP: Final = re.compile(r"[0-9!#$%&*+@^~]|[a-z][A-Z]")
# PASSWORD=words to the end of the line, in settings.
_SET_WORDS: Final = re.compile(r"=(?P<value>[a-z][\w'’-]{0,24}(?:,? [\w'’-]{1,24}){2,8})[ \t]*\r?\Z")
_QUOTED_WORDS: Final = re.compile(
    r"[\"']?\]?[ \t]{0,4}[:=][ \t]{0,4}b?[\"']"
    r"(?P<value>[^\W\d_][\w'’-]{0,24}(?: [\w'’-]{1,24}){2,8})[\"'][ \t]*(?:[,;)}\]]|\r?\Z)"
)
_ANEW: Final = re.compile(
    r"\b(?:(?:changed|reset|set|switched|updated)[ ]it[ ]to"
    r"|(?:new|old|current|other|that)[ ]one(?:[ ]is|'s|[ ]was|:)(?:[ ]now)?"
    r"|it(?:'s|[ ]is)(?:[ ]now)?|here(?:[ ]is|'s)[ ]one:|here[ ]it[ ]is:"
    r"|(?:das|die)[ ]neue(?:[ ]ist|:)|(?:es|sie)[ ](?:ist|lautet)(?:[ ]jetzt)?"
    r"|la[ ]nu(?:eva|ova)[ ](?:es|è)|a[ ]nova[ ]é|c'est[ ](?:désormais|maintenant)(?:[ ]:)?"
    r"|нов(?:ый|ая)[^\n:]{0,12}:)"
    r"\s{1,4}[\"'`]?(?P<value>[^\s\"'`,;<>()\[\]{}|\\]{5,128})",
    re.IGNORECASE,
)
_SPOKEN_AGAIN: Final = (
    " one", "it's", " it ", "neue", " ist ", "lautet", "nueva", "nuova", "nova ", "c'est", "нов",
)  # fmt: skip
_TOKEN: Final = re.compile(
    "(?P<quote>[\"'`「“„«])(?P<quoted>[^\n\"'`」”“»]{4,128})[\"'`」”“»]"
    "|(?<=>)(?P<held>[^<>\n]{4,128})(?=</)"
    "|(?P<groups>(?<![\\w-])[A-Z0-9]{4,6}(?:[ -][A-Z0-9]{4,6}){3,12}(?![\\w-]))"
    f"|(?P<fours>{FOURS.pattern})"
    f"|(?P<bare>[^{_STOPS}:][^{_STOPS}]{{3,{LONGEST - 1}}}={{0,2}})"
)
_TRAILING: Final = ".:?*_,"
_PARAMETER: Final = re.compile(r"&[\w.-]{1,40}=?\Z|&[\w.-]{1,40}=")
_DIRECT: Final = re.compile(
    r"(?:[=:：>]|\b(?:is|are|was|be|now|to|ist|war|auf|lautet|est|es|era|er|är|è|é)|[は是为為]|\s|^)[\s\"'`*(「“„]*\Z",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(
    r"[^\n.!?;:=：()\[\]{}<>|/\\]{0,60}?"
    r"(?:[:=：—–]|\b(?:is|are|was|ist|war|lautet|est|es|era|er|är)\b:?|[èé]|c'est"
    r"|(?:changed|set|reset|geändert|gesetzt)[^\n.:]{0,24}? (?:to|auf))[ \t]{1,3}[*_]{0,2}"
    r"(?P<words>(?P<first>[^\W\d_][^\W\d_'’&-]{0,24})(?: [^\W\d_][^\W\d_'’&-]{0,24}){1,7})"
    r"(?=[.!]?[*_)]{0,2}[ \t]*(?:\Z|[\n\r])|[.,;!] |[ \t][(–—-])",
    re.IGNORECASE,
)


def behind(text: str, end: int, stop: int, limit: int, cue: Cue) -> Iterator[Candidate]:
    """The tokens behind a word, up to the end of its line and to the next word of its sort.

    Args:
        text: The text.
        end: Where the word ends.
        stop: Where its line does.
        limit: Where the next word of its sort stands.
        cue: The word.
    """
    tail = _TAIL.match(text, end, stop)
    here = tail.end() if tail else end
    if cue.password:
        if cue.word.isupper() and (settled := _SET_WORDS.match(text, here, stop)):
            yield cue.candidate(settled.start("value"), settled["value"], "after", "=")
            return
        for one in _told(text, end, here, min(stop, limit), stop, cue):
            here = one.end
            yield one
    yield from _tokens(text, end, here, stop, min(stop, limit), cue)


def _told(text: str, end: int, here: int, limit: int, stop: int, cue: Cue) -> Iterator[Candidate]:
    """Several words that are told as one."""
    words = _WORDS.match(text, here, limit)
    if words is None or binds(words["first"]):
        return
    gap = text[end : words.start("words")]
    if not said(words["first"]) or gap.strip(" \t*_") in {":", "=", "："}:
        yield cue.candidate(words.start("words"), words["words"], "after", gap, text[words.end() : stop])


def _tokens(text: str, end: int, here: int, stop: int, limit: int, cue: Cue) -> Iterator[Candidate]:
    count, given = 0, False
    while count < MOST_TOKENS and (match := _TOKEN.search(text, here, limit)):
        count += 1
        if match.end() == limit:  # it may be cut off there
            match = _TOKEN.match(text, match.start(), match.start() + LONGEST) or match
        group = match.lastgroup or "bare"
        group = "quoted" if group in {"quote", "quoted"} else group
        first, value = match.start(group), match[group]
        if group == "bare":
            if "&" in value and any(sign in cue.lead for sign in "?&/"):
                value = _PARAMETER.split(value, maxsplit=1)[0]  # of an address' parameters only this one
            value = value.rstrip(_TRAILING)
        here = match.end()
        drawn = len(value) >= LEAST_KEY and (DIGIT.search(value) or group == "fours")
        if len(value) < SHORTEST or not (cue.password or drawn):
            continue
        gap = text[end : match.start()]
        if _DIRECT.search(gap) or TELLS.search(value):
            place = "later" if given or "[secret:" in gap else "after"
            found = cue.candidate(first, value, place, gap, text[first + len(value) : stop])
            yield found._replace(quoted=group in {"quoted", "held"})
            given = given or _MADE_UP.search(value) is not None
        if group == "quoted" and " " in value:
            here = match.start() + 1  # the quote may close one that was open before


def quoted_words(text: str, end: int, stop: int, word: str, lead: str) -> Candidate | None:
    """Words in quotes that a key or a secret is set to: somebody made them up."""
    match = _QUOTED_WORDS.match(text, end, stop)
    if match is None:
        return None
    found = Cue(word, True, lead, lead).candidate(
        match.start("value"), match["value"], "after", text[end : match.start("value")]
    )
    return found._replace(quoted=True)


def again(text: str, end: int, cue: Cue) -> Iterator[Candidate]:
    """What is told of a password some words later, where it is spoken of again."""
    near = text[end : end + ANEW].lower()
    if not any(sign in near for sign in _SPOKEN_AGAIN):
        return
    match = _ANEW.search(text, end, end + ANEW)
    if match and TELLS.search(match["value"]):
        first, value = match.start("value"), match["value"].rstrip(_TRAILING)
        rest = text[first + len(value) : match.end() + REST]
        yield cue.candidate(first, value, "again", text[match.start() : first], rest)._replace(lead="")
