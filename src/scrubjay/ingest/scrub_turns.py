"""Turns: what is told apart from the word that names it, in a later turn of a talk, or by what it opens.

Somebody asks for a password, and some turns later stands one, often alone on its line; or no word names it at all:
"sign in as editor, you get in with …", "the tablet unlocks with …". The code of a gate or a safe opens, too: a number
is one for what has a screen only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_values import MADE_UP, Places
from scrubjay.ingest.scrub_words import binds, chats, said

MOST_TURNS: Final = 7
SOON: Final = 2
"""Turns behind the question that are near it."""
SHORTEST: Final = 3
LEAST_WORD: Final = 8
"""Letters of a plain word that is a turn."""
LONGEST_TURN: Final = 200

_TURN: Final = re.compile(
    r"[ \t>*-]{0,4}(?:\[[^\]\n]{4,24}\][ \t]{0,2})?[*_]{0,2}"
    r"(?:(?P<speaker>[^\W\d_][\w\u0900-\u0e7f .-]{0,20}?)[*_]{0,2}"
    r"[ ]?[:：][*_]{0,2}[ \t]*|(?<![^\n])[—–][ \t])"
    r"(?P<said>\S[^\n]{2,120}?)[ \t]*\r?(?:\n|\Z)"
)
_TOKEN: Final = re.compile(r"[^\s\"'`,;<>()\[\]{}|\\「」]{5,64}")
_WORDS: Final = re.compile(r"[^\W\d_][\w'’&-]*(?: [\w'’&-]+){1,4}\Z")
_ALONE: Final = re.compile(
    r"(?:[^\W\d_]{1,8}(?: [^\W\d_]{1,8})?[:.,!] )?"
    r"(?P<value>[^\s\"'`<>()\[\]{}|\\,;:。]{5,64}?)[!?]{0,2}(?:[ ](?:です|입니다))?\Z"
)
_VALUE: Final = r"[ :]{1,2}[\"'`„“«]?(?P<value>[^\s\"'`,;<>()\[\]{}|\\]{4,64})"
_OPENS: Final = re.compile(
    r"unlock\w* (?:(?:my|the|your|her|his|our) )?[\w' ]{0,30}(?:is|:)(?=[ ][0-9]{4})"
    + _VALUE.replace("value", "number")
    + r"|(?:unlock(?:s|ed)?|opens?|open it|(?:log|sign|get)s?|abre|ouvre|entra)\b[^\n.!?]{0,24}? "
    + r"(?:in with|with|con|com|avec)"
    + _VALUE,
    re.IGNORECASE,
)
_TO_OPEN: Final = re.compile(
    r"\buse[ ]?[\"'`]?(?P<value>[^\s\"'`,;<>()]{5,64})[\"'`]? to (?:open|unlock|log in|sign in|get in)\b"
)
_SCREEN: Final = re.compile(
    r"phone|tablet|ipad|laptop|mac\b|computer|watch|screen|handy|rechner|móvil|portátil|ordi|télé|cellulare"
    r"|telefo",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[0-9]{4,8}\Z")
_KNOWN: Final = (b"unlock", b"open it", b"open the")
_MARKS: Final = (b"unlock", b"open", b" in with")
BEFORE: Final = 90


def turns(text: str, asked: Iterable[tuple[int, int]]) -> Iterator[Candidate]:
    """What later turns of a talk have that may answer a question.

    Args:
        text: The text.
        asked: Where the words begin and end that name a secret, or what has one.
    """
    for at, end in asked:
        start = text.rfind("\n", max(0, at - LONGEST_TURN), at) + 1
        turn = _TURN.match(text, start)
        if turn is None or turn.end() < end or at < turn.start("said"):
            continue
        here, word = turn.end(), text[at:end]
        for number in range(MOST_TURNS):
            turn = _TURN.match(text, here)
            if turn is None:
                break
            place = "turn" if number < SOON else "late turn"
            for one in _answered(text, turn.start("said"), turn["said"], word, place):
                yield one._replace(lead=turn["speaker"] or "")
            here = turn.end()


def _answered(text: str, start: int, turn: str, word: str, place: str) -> Iterator[Candidate]:
    alone = _ALONE.match(turn)
    if alone:
        value = alone["value"]
        plain = value.isalpha()
        if not plain or (len(value) >= LEAST_WORD and not (binds(value) or said(value) or chats(value))):
            yield _candidate(start + alone.start("value"), value, word, place, "", "")
    elif _WORDS.match(turn) and not any(
        binds(one) or said(one) or chats(one) for one in turn.lower().split()
    ):
        yield _candidate(start, turn, word, place, "", "")
    else:
        for match in _TOKEN.finditer(turn):
            value = match[0].rstrip(".:?!*_")
            if len(value) >= SHORTEST and MADE_UP.search(value):
                gap, rest = turn[: match.start()], turn[match.start() + len(value) :]
                yield _candidate(start + match.start(), value, word, place, gap or " ", rest or " ")


def opened(text: str, low: bytes, places: Places) -> Iterator[Candidate]:
    """What something opens with."""
    for mark in places.present(_MARKS):
        for at in places(mark):
            if b" with" not in low[at : at + BEFORE] and not low.startswith(_KNOWN, at):
                continue
            start = max(0, at - (BEFORE // 3 if mark == b" in with" else 0))
            match = (_OPENS.search if start < at else _OPENS.match)(text, start, at + BEFORE)
            if match is None and text.startswith(" to ", at - 4):
                match = _TO_OPEN.search(text, max(0, at - BEFORE), at + len(mark))
            if match is None:
                continue
            group = match.lastgroup or "value"
            value = match[group].rstrip(".:?!*_")
            line = text[max(0, match.start() - BEFORE) : match.start(group)]
            if _NUMBER.match(value):
                if not _SCREEN.search(line):
                    continue
            elif not MADE_UP.search(value):
                continue
            first = match.start(group)
            rest = text[first + len(value) : first + len(value) + BEFORE]
            gap = " to " if match.re is _TO_OPEN else " "
            found = _candidate(first, value, "unlock", "verb", gap, rest.split("\n")[0])
            yield found._replace(lead=line)


def _candidate(start: int, value: str, word: str, place: str, gap: str, rest: str) -> Candidate:
    return Candidate(start, start + len(value), word, True, place, gap, "", value, False, rest, "")
