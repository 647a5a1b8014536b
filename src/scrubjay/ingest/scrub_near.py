"""Near: the words that name a secret -> the tokens that stand where its value would.

A token stands behind such a word on its line (after a sign, a word like "is", or nothing), before it ("… is the
password"), on the lines below a label that ends its line, or in the column of a table below its heading.
Whether it is one is judged elsewhere (`scrub_judge`): here every token is a candidate that could be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_below import below, column
from scrubjay.ingest.scrub_cues import LONGEST, Candidate, Cue, cues
from scrubjay.ingest.scrub_values import Places

WINDOW: Final = 120
"""Characters of a line behind a word that are looked at, and before it."""
MOST_TOKENS: Final = 6
LEAST: Final = 6
"""Characters of what somebody made up, where it stands before its name."""
LEAST_KEY: Final = 8
"""Characters of what was drawn by lot."""
SHORTEST: Final = 4
FAR: Final = 90
"""Characters before a word in which what it names can stand."""
MOST_LINKS: Final = 6
"""Words between the two, and what they name."""
AROUND: Final = 100
BEHIND: Final = 60
"""Characters before a word, and behind its line, in which somebody may be named who logs in."""

# What is called a key beside one of these is a password.
_WIRELESS: Final = ("wlan", "wifi", "wi-fi", "ssid")
_TAIL: Final = re.compile(r"[\w-]*(?:\.[\w-]+)*")
_STOPS: Final = "\\s\"'`,;<>()\\[\\]{}|\\\\=「」『』“”„«»：，。、！？（）→"
_TOKEN: Final = re.compile(
    "(?P<quote>[\"'`「“„«])(?P<quoted>[^\n\"'`」”“»]{4,128})[\"'`」”“»]"
    "|(?<=>)(?P<held>[^<>\n]{4,128})(?=</)"
    "|(?P<groups>(?<![\\w-])[A-Z0-9]{4,6}(?:[ -][A-Z0-9]{4,6}){3,12}(?![\\w-]))"
    f"|(?P<bare>[^{_STOPS}:][^{_STOPS}]{{3,{LONGEST - 1}}}={{0,2}})"
)
_TRAILING: Final = ".:?*_,"
_PARAMETER: Final = re.compile(r"&[\w.-]{1,40}=?\Z|&[\w.-]{1,40}=")
_TELLS: Final = re.compile(r"[0-9!#$%&*+@^~]|[a-z][A-Z]|[A-Z]{2}[a-z]|\w[._-]\w")
_DIRECT: Final = re.compile(
    r"(?:[=:：>]|\b(?:is|are|was|be|now|to|ist|war|auf|lautet|est|es|era|er|är|è|é)|[は是为為]|\s|^)[\s\"'`*(「“„]*\Z",
    re.IGNORECASE,
)
# Between a token and the word that says afterwards what it was: "… is our new password", "… (password)".
_LINKS: Final = frozenset(
    ("is", "was", "are", "as", "als", "ist", "war", "es", "est", "son", "como", "comme", "the", "my", "our", "your",
     "a", "das", "der", "die", "dein", "mein", "unser", "le", "la", "el", "new", "old", "(")
)  # fmt: skip
# After that word nothing of which it could be a part: no "password manager", no "key effectors".
_SAID: Final = re.compile(
    r"[^\w\s-]|\s*\Z|\s+(?:for|of|to|on|from|in|at|now|and|but|until|today|since"
    r"|für|von|zu|im|auf|und|aber|seit|jetzt|pour|del?|para)\b"
)
_STATEMENT: Final = re.compile(r"\s*(?:async |el)?(?:def|if|for|while|with|class|try|except|return)\b")
_PIECE: Final = re.compile(r"\S+")
_DIGIT: Final = re.compile(r"[0-9]")


def candidates(text: str, low: bytes, places: Places) -> Iterator[Candidate]:
    """The tokens near words that name a secret.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    words = sorted(cues(text, low, places), reverse=True)
    ahead = {True: len(text), False: len(text)}
    found = []
    for at, end, password in words:
        found.append((at, end, password, ahead[password]))
        ahead[password] = at
    for at, end, password, limit in reversed(found):
        yield from _near(text, at, end, password, limit)


def _near(text: str, at: int, end: int, password: bool, limit: int) -> Iterator[Candidate]:
    """What stands near one word; ``limit``: where the next of its sort stands, which names what follows it."""
    start = max(text.rfind("\n", max(0, at - WINDOW), at) + 1, at - WINDOW, 0)
    stop = text.find("\n", end, end + WINDOW)
    whole = stop >= 0 or end + WINDOW >= len(text)
    stop = stop if stop >= 0 else min(len(text), end + WINDOW)
    if not password:
        line = text[start:stop].lower()
        password = any(name in line for name in _WIRELESS)
        # Nothing drawn by lot is without a digit: most lines are done with here.
        bare = not password and "|" not in line and not _DIGIT.search(line)
        if bare and not (whole and _opens_list(text, start, end, stop, found=False)):
            return
    lead = text[start:at]
    around = text[max(0, at - AROUND) : at] + "\n" + text[stop : stop + BEHIND]
    cue = Cue(text[at:end], password, lead, around)
    found = False
    if password or _DIGIT.search(text, end, stop):
        for candidate in _after(text, end, stop, limit, cue):
            found = found or _TELLS.search(candidate.value) is not None
            yield candidate
    yield from _before(text, start, end, stop, cue)
    if text.find("|", start, stop) >= 0:
        yield from column(text, at, end, cue)
    elif whole and _opens_list(text, start, end, stop, found=found):
        yield from below(text, end, stop, cue)


def _opens_list(text: str, start: int, end: int, stop: int, *, found: bool) -> bool:
    """Whether what the word names stands below: the line ends in a colon, or is a heading with no value in it."""
    rest = text[end:stop].rstrip(" \t\r*_`")
    if rest.count(")") > rest.count("(") or _STATEMENT.match(text, start, end):
        return False  # the head of a function
    return rest.endswith((":", "：")) or (not found and text.startswith("#", start))


def _before(text: str, start: int, end: int, stop: int, cue: Cue) -> Iterator[Candidate]:
    """The token before a word that says what it was."""
    if not cue.lead.endswith((" ", " (")) or not _TELLS.search(cue.lead) or not _SAID.match(text, end, stop):
        return
    pieces = list(_PIECE.finditer(cue.lead, max(0, len(cue.lead) - FAR)))[-MOST_LINKS:]
    links = 0
    while pieces and pieces[-1][0].lower().lstrip("(") in _LINKS | {""}:
        pieces.pop()
        links += 1
    if not pieces or not (links or cue.lead.endswith("(")):
        return
    value = pieces[-1][0].strip("\"'`*,;<>()[]{}")
    if len(value) >= LEAST and _TELLS.search(value) and not value.endswith((".", ":", "?")):
        first = start + pieces[-1].start() + pieces[-1][0].index(value)
        lead, gap = cue.lead[: pieces[-1].start()], cue.lead[pieces[-1].end() :]
        yield cue.candidate(first, value, "before", gap, text[end:stop])._replace(lead=lead)


def _after(text: str, end: int, stop: int, limit: int, cue: Cue) -> Iterator[Candidate]:
    """The tokens behind a word, up to the end of its line and to the next word of its sort."""
    limit = min(stop, limit)
    count = 0
    tail = _TAIL.match(text, end, stop)
    here = tail.end() if tail else end
    while count < MOST_TOKENS and (match := _TOKEN.search(text, here, limit)):
        count += 1
        if match.end() == limit:  # it may be cut off there
            match = _TOKEN.match(text, match.start(), match.start() + LONGEST) or match
        group = match.lastgroup or "bare"
        group = "quoted" if group in {"quote", "quoted"} else group
        first, last = match.span(group)
        value = match[group]
        if group == "bare":
            value = _PARAMETER.split(value, maxsplit=1)[0].rstrip(_TRAILING)
            last = first + len(value)
        here = match.end()
        if len(value) < SHORTEST or not (cue.password or (len(value) >= LEAST_KEY and _DIGIT.search(value))):
            continue
        gap = text[end : match.start()]
        if _TELLS.search(value) or _DIRECT.search(gap):
            held = group in {"quoted", "held"}
            yield cue.candidate(first, value, "after", gap, text[last:stop])._replace(quoted=held)
        if group == "quoted" and " " in value:
            here = match.start() + 1  # the quote may close one that was open before
