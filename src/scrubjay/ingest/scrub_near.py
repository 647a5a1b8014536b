"""Near: the words that name a secret -> the tokens that stand where its value would.

A token stands behind such a word on its line (`scrub_behind`), before it ("… is the password"), on the lines below a
label, a heading, a command or a question (`scrub_below`), in the column of a table (`scrub_columns`), beside who logs
in (`scrub_pairs`) or in a later turn of a talk (`scrub_turns`). Whether it is one is judged elsewhere
(`scrub_judge`): here every token is a candidate that could be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_behind import DIGIT, FOUR, TELLS, again, behind, quoted_words
from scrubjay.ingest.scrub_below import COMMAND, below, reach
from scrubjay.ingest.scrub_columns import column, listed, printed
from scrubjay.ingest.scrub_cues import WEAK, Candidate, Cue, cues
from scrubjay.ingest.scrub_pairs import pairs
from scrubjay.ingest.scrub_things import things
from scrubjay.ingest.scrub_turns import opened, turns
from scrubjay.ingest.scrub_users import users
from scrubjay.ingest.scrub_values import Places

WINDOW: Final = 120
"""Characters of a line behind a word that are looked at, and before it."""
LEAST: Final = 6
"""Characters of what somebody made up, where it stands before its name."""
FAR: Final = 90
"""Characters before a word in which what it names can stand."""
MOST_LINKS: Final = 6
"""Words between the two, and what they name."""
AROUND: Final = 100
BEHIND: Final = 60
"""Characters before a word, and behind its line, in which somebody may be named who logs in."""

# What is called a key beside one of these is a password.
_WIRELESS: Final = (
    "wlan", "wifi", "wi-fi", "ssid", "wireless", "hotspot", "kablosuz", " rete", " rede:", " сет", " ağ\n",
)  # fmt: skip
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
_NO_HEAD: Final = re.compile(r"[:(){}=?!|<>]|\.(?:\s|\Z)")
_PIECE: Final = re.compile(r"\S+")


def candidates(text: str, low: bytes, places: Places) -> Iterator[Candidate]:
    """The tokens near words that name a secret.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
    """
    yield from pairs(text, low, places)
    yield from users(text, low, places)
    yield from things(text, low, places)
    yield from opened(text, low, places)
    words = sorted(cues(text, low, places), reverse=True)
    if not words:
        return
    ahead = {True: len(text), False: len(text)}
    found = []
    for at, end, password in words:
        found.append((at, end, password, ahead[password]))
        if not text[at : at + 5].lower().startswith(WEAK):
            ahead[password] = at
    for at, end, password, limit in reversed(found):
        yield from _near(text, at, end, password, limit)
    yield from turns(text, [(at, end) for at, end, password in words if password])


def _near(text: str, at: int, end: int, password: bool, limit: int) -> Iterator[Candidate]:
    """What stands near one word; ``limit``: where the next of its sort stands, which names what follows it."""
    start = max(text.rfind("\n", max(0, at - WINDOW), at) + 1, at - WINDOW, 0)
    stop = text.find("\n", end, end + WINDOW)
    whole = stop >= 0 or end + WINDOW >= len(text)
    stop = stop if stop >= 0 else min(len(text), end + WINDOW)
    lead = text[start:at]
    if not password:
        line = text[start:stop]
        near = text[max(0, at - AROUND) : stop].lower()
        password = any(name in near for name in _WIRELESS)
        if ('"' in line or "'" in line) and (words := quoted_words(text, end, stop, text[at:end], lead)):
            yield words
            return
        # Nothing drawn by lot is without a digit: most lines are done with here.
        bare = not password and "|" not in line and not DIGIT.search(line) and not FOUR.search(line)
        if bare and not (whole and (_head(line) or reach(text, start, end, stop, found=False))):
            return
    around = text[max(0, at - AROUND) : at] + "\n" + text[stop : stop + BEHIND]
    cue = Cue(text[at:end], password, lead, around)
    found = False
    if password or DIGIT.search(text, end, stop) or FOUR.search(text, end, stop):
        for candidate in behind(text, end, stop, limit, cue):
            found = found or TELLS.search(candidate.value) is not None
            yield candidate
    yield from _before(text, start, end, stop, cue)
    if password:
        yield from again(text, end, cue)
    yield from _lower(text, (at, end), (start, stop), cue, whole=whole, found=found)


def _lower(
    text: str, word: tuple[int, int], line: tuple[int, int], cue: Cue, *, whole: bool, found: bool
) -> Iterator[Candidate]:
    """What stands below the line of a word; ``whole``: it ends within sight; ``found``: it has a value itself."""
    (at, end), (start, stop) = word, line
    tabled = text.find("|", start, stop) >= 0
    if tabled:
        yield from column(text, at, end, cue)
    if not whole:
        return
    far = reach(text, start, end, stop, found=found)
    if far and (far is COMMAND or not tabled):
        yield from below(text, end, stop, cue, far)
    if _head(text[start:stop]):
        yield from listed(text, at, end, cue)
        yield from printed(text, at, end, cue)


def _head(line: str) -> bool:
    """Whether it may be the heading of values in columns."""
    return ("," in line or ";" in line or "\t" in line or "  " in line) and not _NO_HEAD.search(line)


def _before(text: str, start: int, end: int, stop: int, cue: Cue) -> Iterator[Candidate]:
    """The token before a word that says what it was."""
    if not cue.lead.endswith((" ", " (")) or not TELLS.search(cue.lead) or not _SAID.match(text, end, stop):
        return
    pieces = list(_PIECE.finditer(cue.lead, max(0, len(cue.lead) - FAR)))[-MOST_LINKS:]
    links = 0
    while pieces and pieces[-1][0].lower().lstrip("(") in _LINKS | {""}:
        pieces.pop()
        links += 1
    if not pieces or not (links or cue.lead.endswith("(")):
        return
    value = pieces[-1][0].strip("\"'`*,;<>()[]{}")
    if len(value) >= LEAST and TELLS.search(value) and not value.endswith((".", ":", "?")):
        first = start + pieces[-1].start() + pieces[-1][0].index(value)
        lead, gap = cue.lead[: pieces[-1].start()], cue.lead[pieces[-1].end() :]
        yield cue.candidate(first, value, "before", gap, text[end:stop])._replace(lead=lead)
