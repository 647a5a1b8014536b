"""Below: a word that names a secret, in a label or in a table's heading -> the tokens on the lines below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_cues import LONGEST, Candidate, Cue

MOST_LINES: Final = 12
"""Lines below a label."""
MOST_ROWS: Final = 60
MOST_COLUMNS: Final = 14
MOST_AFTER: Final = 24
"""Characters that a column's heading goes on with behind the word."""
MOST_SPACES: Final = 5
"""Spaces in a password below its name."""
SHORTEST: Final = 4

_ITEM: Final = re.compile(
    r"[ \t>]*(?:[-*+•][ \t]+|[0-9]{1,2}[.)][ \t]+)?(?:\[[ x]\][ \t]+)?"
    r"[`\"']?(?P<value>[^\n`\"']{4,512}?)[`\"',]*[ \t]*\r?\Z"
)
_RULE: Final = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*\|[ \t:|-]*\r?\Z")
_DIGIT: Final = re.compile(r"[0-9]")


def below(text: str, end: int, stop: int, cue: Cue) -> Iterator[Candidate]:
    """What the lines below a label have, each by itself, up to a blank one, the next label or a heading."""
    label = text[end:stop]
    here, blank, seen = stop + 1, 0, 0
    for _ in range(MOST_LINES):
        if here >= len(text):
            return
        line_end = text.find("\n", here, here + LONGEST)
        if line_end < 0:
            if len(text) - here > LONGEST:
                return
            line_end = len(text)
        line = text[here:line_end]
        if line.startswith("#"):
            return
        if not line.strip():
            blank += 1
            if seen or blank > 1:
                return
        elif (match := _ITEM.match(line)) and (
            match["value"].count(" ") < MOST_SPACES if cue.password else _DIGIT.search(match["value"])
        ):
            if seen and match["value"].endswith((":", "：")):
                return  # the next label
            seen += 1
            value = match["value"].rstrip()
            start = here + match.start("value")
            yield cue.candidate(start, value, "below", label)
        else:
            return
        here = line_end + 1


def column(text: str, at: int, end: int, cue: Cue) -> Iterator[Candidate]:
    """What a table has in the column of whose heading a word is a part."""
    line_end = text.find("\n", end, end + LONGEST)
    if line_end < 0:
        return
    here = text.find("\n", line_end + 1, line_end + 1 + LONGEST)
    if here < 0 or not _RULE.match(text[line_end + 1 : here]):
        return
    start = text.rfind("\n", max(0, at - LONGEST), at) + 1
    cell = text[end:line_end].split("|")[0]
    if text.count("|", start, line_end) > MOST_COLUMNS + 1 or len(cell) > MOST_AFTER:
        return
    column = text.count("|", start, at)
    here += 1
    for _ in range(MOST_ROWS):
        stop = text.find("\n", here, here + 4 * LONGEST)
        stop = len(text) if stop < 0 else stop
        if _RULE.match(text, here, stop):
            return  # the next table's heading has been passed
        cells = text[here:stop].split("|")
        if len(cells) <= column:
            return
        first = here + sum(len(one) + 1 for one in cells[:column])
        body = cells[column]
        value = body.strip(" \t`*\"'\r")
        if len(value) >= SHORTEST:
            first += body.index(value)
            found = cue.candidate(first, value, "column", cell)
            yield found._replace(lead=text[start:at].split("|")[-1], around=body)
        here = stop + 1
        if here >= len(text):
            return
