"""Below: a word that names a secret, in a label, a heading, a command or a question -> the tokens on the lines below.

A label ends its line in a colon, or is all of it; a heading goes for what stands up to the next one, blank lines too;
what a command asks for is printed on the line below it; what is asked for is told in the next turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scrubjay.ingest.scrub_cues import LONGEST, Candidate, Cue
from scrubjay.ingest.scrub_values import MADE_UP


class Reach(NamedTuple):
    """How far below a word of a sort is looked: lines, blank ones at a time, and whether these may part tokens."""

    place: str
    lines: int
    blanks: int
    apart: bool


LABEL: Final = Reach("below", 12, 1, apart=False)
HEADING: Final = Reach("under", 40, 2, apart=True)
ALONE: Final = Reach("alone", 2, 1, apart=False)
COMMAND: Final = Reach("output", 1, 0, apart=False)
QUESTION: Final = Reach("answer", 2, 1, apart=False)

LISTED: Final = frozenset(("below", "under", "alone", "output", "column", "entry"))
"""The places of tokens that stand in lists and tables."""
MOST_SPACES: Final = 7
"""Spaces in a password below its name."""
MOST_ALONE: Final = 40
"""Characters of a line that is all label."""
FAR: Final = 100
"""Characters of an answer in which a token is looked for."""
MOST_TOLD: Final = 3

_ITEM: Final = re.compile(
    r"[ \t>]*(?:[-*+•][ \t]+|[0-9]{1,2}[.)][ \t]+)?(?:\[[ x]\][ \t]+)?"
    r"[`\"']?(?P<value>[^\n`\"']{4,512}?)[`\"',]*[ \t]*\r?\Z"
)
_ENTRY: Final = re.compile(
    r"[ \t>]*(?:[-*+•][ \t]+|[0-9]{1,2}[.)][ \t]+)?(?P<name>[^\n:=–—→|]{1,60}?)[*_`\"']{0,3}"
    r"(?:[ \t]*[:：=→][*_]{0,2}[ \t]+|[ \t]+(?:[-–—/]|->)[ \t]+)[\"'`]?(?P<value>[^\n`\"']{4,128}?)[`\"']?"
    r"(?:[ \t]+\([^()\n]{0,60}\))?[ \t]*\r?\Z"
)
_NAMED: Final = re.compile(r"[ \t]*[\"']?[A-Za-z][\w.-]*[\"']?:(?:\s|\Z)")
_PARTING: Final = (":", "：", "=", "→", " - ", "–", "—", " / ", "->")
_PROMPT: Final = re.compile(
    r"[ \t]*(?:[$%❯➜][ \t]|PS [^\n>]{0,60}>|[\w.-]{1,32}@[\w.-]{1,40}:[^\n$#]{0,60}[$#][ \t])"
)
_STATEMENT: Final = re.compile(r"\s*(?:async |el)?(?:def|if|for|while|with|class|try|except|return)\b")
_ALONE: Final = re.compile(
    r"[ \t>]*[*_#-]{0,4}[ \t]*[^\W\d_][\w '’/&-]*(?:\([\w .@-]{1,30}\))?[*_:]{0,3}[ \t]*\r?\Z"
)
_SPEAKER: Final = re.compile(r"[ \t>*-]*(?:[^\W\d_]\w{1,20}[*_]{0,2}:[*_]{0,2}[ \t]+)?")
_TOKEN: Final = re.compile(r"[^\s\"'`,;<>()\[\]{}|\\=「」]{4,128}")
_DIGIT: Final = re.compile(r"[0-9]")


def reach(text: str, start: int, end: int, stop: int, *, found: bool) -> Reach | None:
    """How far below the line of a word its value may stand; ``found``: whether the line has one itself."""
    if text.startswith("#", start) and not found:
        return HEADING
    rest = text[end:stop].rstrip(" \t\r*_`")
    if rest.endswith((":", "：", "?", "？")):
        if rest.count(")") > rest.count("(") or _STATEMENT.match(text, start, end):
            return None  # the head of a function
        return LABEL if rest[-1] in ":：" else QUESTION
    if _PROMPT.match(text, start, end):
        return None if found else COMMAND
    short = stop - start <= MOST_ALONE and text.find("=", start, stop) < 0
    return ALONE if short and _ALONE.match(text, start, stop) else None


def below(text: str, end: int, stop: int, cue: Cue, far: Reach) -> Iterator[Candidate]:
    """What the lines below a word have, each by itself, up to the next label or heading."""
    label = text[end:stop]
    inset = _inset(text, end)
    here, blank, seen = stop + 1, 0, 0
    for _ in range(far.lines):
        line_end = _line_end(text, here)
        if line_end < 0:
            return
        line = text[here:line_end]
        if line.startswith("#") or (far is LABEL and _next_entry(line, inset)):
            return
        if not line.strip():
            blank += 1
            if (seen and not far.apart) or blank > far.blanks:
                return
        else:
            blank = 0
            if not cue.password and far.apart and not _DIGIT.search(line):
                here = line_end + 1
                continue
            one = (
                _answer(here, line, cue, label)
                if far is QUESTION
                else _one(here, line, cue, label, far, seen)
            )
            if one is None:
                return
            seen += 1
            yield from one
            if far.lines <= QUESTION.lines:
                return
        here = line_end + 1


def _inset(text: str, at: int) -> int:
    """How far the line is set in on which a word stands."""
    start = text.rfind("\n", max(0, at - LONGEST), at) + 1
    return len(text[start:at]) - len(text[start:at].lstrip())


def _next_entry(line: str, inset: int) -> bool:
    """Whether a line is set in no further than the label and has a name of its own, as in settings."""
    return len(line) - len(line.lstrip()) <= inset and _NAMED.match(line) is not None


def _line_end(text: str, here: int) -> int:
    """Where a line ends; -1 if it is too long, or if there is none."""
    if here >= len(text):
        return -1
    end = text.find("\n", here, here + LONGEST)
    return end if end >= 0 else len(text) if len(text) - here <= LONGEST else -1


def _one(here: int, line: str, cue: Cue, label: str, far: Reach, seen: int) -> list[Candidate] | None:
    """What a line below a label has; none where something else begins."""
    parted = far in (LABEL, HEADING) and any(sign in line for sign in _PARTING)
    entry = _ENTRY.match(line) if parted else None
    if entry:
        if far is LABEL and not seen and not line.lstrip().startswith(("-", "*", "•", "1")):
            return None
        value = entry["value"].rstrip()
        found = cue.candidate(here + entry.start("value"), value, "entry", label)
        return [found._replace(lead=entry["name"])] if _holds(value, cue) else []
    match = _ITEM.match(line)
    if match is None or not _holds(match["value"], cue):
        return [] if far.apart else None
    if seen and match["value"].endswith((":", "：")):
        return None  # the next label
    value = match["value"].rstrip()
    if far in (COMMAND, ALONE) and " " in value:
        return None
    return [cue.candidate(here + match.start("value"), value, far.place, label)]


def _holds(value: str, cue: Cue) -> bool:
    return value.count(" ") <= MOST_SPACES if cue.password else _DIGIT.search(value) is not None


def _answer(here: int, line: str, cue: Cue, label: str) -> list[Candidate]:
    """The tokens of an answer that are no plain words."""
    first = _SPEAKER.match(line)
    at = first.end() if first else 0
    found: list[Candidate] = []
    for match in _TOKEN.finditer(line, at, FAR):
        value = match[0].rstrip(".:?!*_")
        if len(found) < MOST_TOLD and len(value) >= 4 and MADE_UP.search(value):
            gap = line[at : match.start()]
            one = cue.candidate(
                here + match.start(), value, QUESTION.place, gap, line[match.start() + len(value) :]
            )
            found.append(one._replace(lead=label))
    return found
