"""Clauses: str -> (start, end, asked) of each clause of a sentence; sentences: str -> (start, end).

Both read what ``prose`` returns. A sentence ends at a full stop, a list item's or a line's end; a clause where
somebody is said to be or do something anew ("..., and my sister ..."), or where a question or an order begins.
Lists ("a dog, two cats and a parrot") stay whole. Who dictates sets no marks: a long sentence without any is cut
before each new "I have", "my ... is", "can you".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

WRAPPED: Final = 60
"""Characters of a line that may go on in the next: shorter ones end what they say."""
DICTATED: Final = 90
"""Characters without a mark after which there will be none."""

_END = re.compile(
    r"[.!?]+[\"')\]]*(?:(?<!\b[a-z]\.)(?<!\b[dms][rt]\.)(?<!\bvs\.)(?<!\bmrs\.)(?<!\betc\.)(?<!\bapprox\.)(?<!\bno\.)(?=\s)|$)"
    r"|\n(?=\s*\n)|\n(?=[ ]*(?:[-*+•]|\d{1,3}[.)]|#+) )|\n"
)
_ITEM = re.compile(r"\s*(?:(?:[-*+•#]+|\d{1,3}[.)]|\[[ x]?\])\s+)*")
_VERB: Final = (
    r"(?:is|are|was|were|has|have|had|lives?|works?|likes?|loves?|hates?|goes|go|starts?|started|runs?|uses?|needs?|wants?"
    r"|doesn't|don't|can't|won't|isn't|aren't|just|always|never|also|turns?|speaks?|keeps?|gets?|got|moved|died|\w{3,}ed)\b"
)
_NEW: Final = (
    r"(?:(?:i|we|he|she|they|you|it|there)(?:'\w+|\b)(?! (?:and|or)\b)"
    rf"|(?:my|our|his|her|their|the|this) (?:[\w'-]+ ){{1,4}}?{_VERB}"
    r"|that's|let's|please\b|(?:can|could|would|will|should) (?:you|i|we)\b|(?:do|does|did|is|are|was|were) (?:you|i|we|there|it|that|this|my|the)\b"
    r"|(?:what|how|which|where|who|why|any (?:tips|ideas|advice|suggestions|recommendations))\b(?! (?:i|we|it|is|are)\b)"
    r"|(?:always|never) \w+|i[md]\b|ive\b)"
)
_CUT = re.compile(
    rf"(?:[,;]\s*|\s+)(?:and|but|so|because|since|although|though|whereas|plus|yet|or)(?: (?:also|then|now|that))?,?\s+(?={_NEW})"
    rf"|,\s+(?={_NEW})"
    r"|;\s+|:\s+|\s+-{1,3}\s+|\s*[()]\s*|,? (?:btw|fyi),?\s+|\.\.+\s*"
)
_BREATH = re.compile(
    r"(?<!\bthat)(?<!\bwhich)(?<!\bwho)(?<!\bif)(?<!\bwhen)(?<!\bwhat)(?<!\bwhere)(?<!\bthan)(?<!\bthink)(?<!\bbecause)(?<!\bas)"
    r"(?<!\bhope)(?<!\bguess)(?<!\bhow)(?<!\ball)(?<!\bbut)(?<!\band)(?<!\bto)(?<!\bof)(?<!\bfor)(?<!\bwith)(?<!\bin)(?<!\bat)\s+"
    r"(?=(?:i'm|im|i am|i have|i've|ive|i live|i work|i like|i prefer|i hate|i bought|i use|i got|we have|we use|we're|we live|we are|we run"
    rf"|my (?:[\w'-]+ ){{1,3}}?(?:is|has|lives|works)|can you|could you|what should|how do|please|so|also|but)\b)"
)
_RELATIVE = re.compile(
    r"\b(?:the|a|an|any|every|all|some|thing|stuff|only|same|whatever|my|our)(?: [\w'-]+){0,2}$"
)
_ASKS = re.compile(
    r"(?:(?:and|but|so|or|also|then|ok(?:ay)?|well|hi|hey|hello|please|now|btw|by the way|quick question|question)\b[\s,:!-]*)*"
    r"(?:(?:what|how|which|where|who|whose|why|when)(?:'s|'re|s| (?:is|are|was|were|do|does|did|can|could|should|would|will|about"
    r"|to|many|much|long|often|far|old|kind|sort|type|time|else|i|we|[\w-]+ (?:is|are|do|does|should|would|can))\b|$)"
    r"|(?:can|could|would|will|should|do|does|did|is|are|was|were|am|have|has|may|might|shall|don't|doesn't|isn't|aren't|won't|can't)"
    r" (?:you|i|we|he|she|they|it|there|that|this|these|those|my|our|the|a|an|any|anyone|someone)\b"
    r"|any (?:tips|ideas|advice|suggestions|recommendations|chance|thoughts|way)\b|got any\b)"
)


class Clause(NamedTuple):
    """A clause: where it stands, and whether it asks."""

    start: int
    end: int
    asked: bool


def sentences(text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences before `limit`, trimmed, without the marks of list items."""
    start, line = 0, 0
    for found in _END.finditer(text, 0, limit):
        end = found.end()
        if found[0] == "\n":
            wrapped = (
                end - line > WRAPPED
                and text[end : end + 1].islower()
                and text[end - 2 : end - 1] not in ",:;"
            )
            line = end
            if wrapped:
                continue
        yield from _trimmed(text, start, end)
        start = end
    yield from _trimmed(text, start, limit)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    found = _ITEM.match(text, start, end)
    start = found.end() if found else start
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end


def clauses(text: str, start: int, end: int) -> list[Clause]:
    """Return the clauses of one sentence in order; what follows a question in it is asked too."""
    bounds = [start]
    for found in _CUT.finditer(text, start, end):
        bounds += (found.start(), found.end())
    bounds.append(end)
    pieces: list[tuple[int, int]] = []
    for first, last in zip(bounds[::2], bounds[1::2], strict=True):
        if last - first > DICTATED:
            pieces += _breaths(text, first, last)
        elif last > first:
            pieces.append((first, last))
    asks = text[start:end].rstrip("\"')]").endswith("?")
    found_clauses, asked = [], False
    for number, (first, last) in enumerate(pieces):
        asked = asked or _ASKS.match(text, first, last) is not None
        final = number == len(pieces) - 1 or (number == len(pieces) - 2 and _tag(text, *pieces[-1]))
        found_clauses.append(Clause(first, last, asked or (asks and final)))
        asked = asked and asks
    return found_clauses


def _tag(text: str, start: int, end: int) -> bool:
    """Tell whether a clause only makes a question of the one before it: "..., right?"."""
    return end - start <= len("isn't that right?") and text[start:end].count(" ") <= 1


def _breaths(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what somebody says in one breath who sets no marks."""
    for found in _BREATH.finditer(text, start, end):
        if found.start() > start and not _RELATIVE.search(
            text, max(start, found.start() - 40), found.start()
        ):
            yield start, found.start()
            start = found.end()
    if end > start:
        yield start, end
