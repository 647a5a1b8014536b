"""Columns: a word that names a secret, in a table's heading -> the tokens below it, row by row.

Tables of Markdown, values parted by commas, semicolons or tabs, and what a command prints in columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scrubjay.ingest.scrub_cues import LONGEST, Candidate, Cue

MOST_ROWS: Final = 60
MOST_COLUMNS: Final = 14
MOST_AFTER: Final = 24
"""Characters that a column's heading goes on with behind the word."""
SHORTEST: Final = 4

_RULE: Final = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*\|[ \t:|-]*\r?\Z")
_HEADED: Final = re.compile(r"[\"']?[^\W\d][^\W\d/-]{0,23}(?: [^\W\d]{1,24}){0,2}[\"']?\r?\Z")
_HEAD: Final = re.compile(r"[\w \"'/-]{0,32}(?=[,;\t\r]|\Z)")
_PRINTED: Final = re.compile(r"[A-Z][A-Z0-9_/-]*(?:[ ]{1,8}[A-Z][A-Z0-9_/-]*){1,12}[ ]*\r?\Z")
_TOKEN: Final = re.compile(r"(?<!\S)[^\s\"'`,;<>()\[\]{}|\\]{6,128}")


def column(text: str, at: int, end: int, cue: Cue) -> Iterator[Candidate]:
    """What a table of Markdown has in the column of whose heading a word is a part."""
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
    lead = text[start:at].split("|")[-1]
    yield from _rows(text, here + 1, text.count("|", start, at), "|", cue._replace(lead=lead), cell)


def listed(text: str, at: int, end: int, cue: Cue) -> Iterator[Candidate]:
    """What values parted by a sign have in the column of whose heading a word is a part."""
    line_end = text.find("\n", end, end + LONGEST)
    start = text.rfind("\n", max(0, at - LONGEST), at) + 1
    if line_end < 0 or not (head := _HEAD.match(text, end, line_end)):
        return
    sign = text[head.end() : head.end() + 1] if head.end() < line_end else ""
    if sign not in {",", ";", "\t"}:
        sign = next((one for one in ",;\t" if text.find(one, start, at) >= 0), "")
    if not sign or text.count(sign, start, line_end) > MOST_COLUMNS:
        return
    cells = text[start:line_end].split(sign)
    if len(cells) < 2 or not all(map(_HEADED.match, cells)):
        return
    following = text.find("\n", line_end + 1, line_end + 1 + LONGEST)
    row = text[line_end + 1 : following if following >= 0 else line_end + 1 + LONGEST]
    if row.count(sign) == len(cells) - 1:
        lead = text[start:at].split(sign)[-1]
        number = text.count(sign, start, at)
        yield from _rows(text, line_end + 1, number, sign, cue._replace(lead=lead), head[0])


def printed(text: str, at: int, end: int, cue: Cue) -> Iterator[Candidate]:
    """What a command has printed below a heading in capitals, where the heading begins."""
    line_end = text.find("\n", end, end + LONGEST)
    start = text.rfind("\n", max(0, at - LONGEST), at) + 1
    if line_end < 0 or not _PRINTED.match(text[start:line_end]):
        return
    offset = max(text.rfind("  ", start, at) + 2, start) - start
    here = line_end + 1
    for _ in range(MOST_ROWS):
        stop = text.find("\n", here, here + LONGEST)
        stop = len(text) if stop < 0 else stop
        match = _TOKEN.match(text, here + offset, stop) if here + offset < stop else None
        if match is None:
            return
        found = cue.candidate(match.start(), match[0], "column", text[end:line_end].split(" ")[0])
        yield found._replace(lead="", around=match[0])
        here = stop + 1
        if here >= len(text):
            return


def _rows(text: str, here: int, column: int, sign: str, cue: Cue, cell: str) -> Iterator[Candidate]:
    for _ in range(MOST_ROWS):
        stop = text.find("\n", here, here + 4 * LONGEST)
        stop = len(text) if stop < 0 else stop
        if _RULE.match(text, here, stop):
            return  # the next table's heading has been passed
        cells = text[here:stop].split(sign)
        if len(cells) <= column:
            return
        first = here + sum(len(one) + 1 for one in cells[:column])
        body = cells[column]
        value = body.strip(" \t`*\"'\r")
        if len(value) >= SHORTEST:
            first += body.index(value)
            yield cue.candidate(first, value, "column", cell)._replace(around=body)
        here = stop + 1
        if here >= len(text):
            return
