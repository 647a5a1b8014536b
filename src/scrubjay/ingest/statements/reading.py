"""Reading: str -> Words, and Words -> sentences as (first word, word after the last, whether it asks).

A sentence ends at a full stop, a line's or a list item's end; a wrapped line goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scrubjay.ingest.statements.marks import mark

WRAPPED: Final = 60
"""Characters of a line that may go on in the next; a shorter one ends what it says."""
INITIAL: Final = 2
"""Characters of "J."."""

_WORD = re.compile(r"[^\s;()]+|[;()]")
_CLOSING: Final = "\"')]*_"
_ABBREVIATED: Final = frozenset(
    (
        "e.g.",
        "i.e.",
        "dr.",
        "mr.",
        "mrs.",
        "ms.",
        "st.",
        "vs.",
        "etc.",
        "approx.",
        "prof.",
        "inc.",
        "ca.",
        "..",
    )
)
_ITEM = re.compile(r"(?:[-*+•#]+|\d{1,2}[.)])\Z")


class Words(NamedTuple):
    """The words of a text, without the marks around them, with their offsets and classes."""

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    raw: list[str]
    marks: list[int]


def read(text: str, limit: int) -> Words:
    """Return the words of a text before `limit`; ``;`` and brackets are words of their own."""
    found = list(_WORD.finditer(text, 0, limit))
    raw = [one[0] for one in found]
    starts = [one.start() for one in found]
    ends = [start + len(whole) for start, whole in zip(starts, raw, strict=True)]
    known = list(map(mark, raw))
    return Words(text, [word for word, _ in known], starts, ends, raw, [marks for _, marks in known])


def sentences(said: Words) -> Iterator[tuple[int, int, bool]]:
    """Yield each sentence, without the marks of list items."""
    lines = "\n" in said.text
    start, line, last = 0, 0, len(said.raw) - 1
    for at, whole in enumerate(said.raw):
        ended = at == last or (whole[-1] in ".!?\"')]*_" and _ends(whole) and not _goes_on(said, at + 1))
        if lines and at < last:
            gap = said.text[said.ends[at] : said.starts[at + 1]]
            if "\n" in gap:
                ended = ended or not _wrapped(said, line, at, gap)
                line = at + 1
        if ended:
            while start < at and _ITEM.match(said.raw[start]):
                start += 1
            yield start, at + 1, "?" in whole[-3:]
            start = at + 1


def _ends(word: str) -> bool:
    bare = word.rstrip(_CLOSING)
    if bare[-1:] != "." or bare == "...":
        return bare[-1:] in ("!", "?", ".")
    return bare not in _ABBREVIATED and not (len(bare) == INITIAL and bare[0].isalpha())


def _goes_on(said: Words, after: int) -> bool:
    """Tell whether all that follows is "Ever."."""
    return said.words[after] == "ever" and said.raw[after] != "ever"


def _wrapped(said: Words, line: int, at: int, gap: str) -> bool:
    """Tell whether a line that begins at the word `line` and ends at the word `at` goes on in the next."""
    wide = said.ends[at] - said.starts[line] > WRAPPED and gap.count("\n") == 1
    return wide and said.raw[at + 1][0].isalpha() and said.raw[at][-1] not in ":;"
