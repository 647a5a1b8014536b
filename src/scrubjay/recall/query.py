"""Query: what a caller types -> words, phrases and exclusions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MOST_CHARACTERS: Final = 20_000
"""Characters of a query that are read: a pasted log still finds its passage, a megabyte does not stall."""
SENTENCE: Final = 4
"""Words beside its quotes from which on a query is a sentence that quotes something, not a search for the quote:
half of HotpotQA's evidence does not hold what its question quotes."""
_PART: Final = re.compile(r'(?<!\S)-"([^"]*)"|"([^"]*)"|(?<!\S)-([^\s"-][^\s"]*)')


@dataclass(frozen=True, slots=True)
class Query:
    """A query taken apart.

    Attributes:
        text: What is asked, quotes and exclusions taken out of their marks or away.
        phrases: Quoted texts that a result must hold.
        excluded: Words and phrases that a result must not hold.
        cut: Whether the query was longer than is read.
        wished: Quoted texts that a result had better hold: those of a sentence that quotes something.
    """

    text: str
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]
    cut: bool
    wished: tuple[str, ...] = ()


def read_query(query: str) -> Query:
    """Take a query apart. An odd quote is a character like any other; nothing here is an error.

    >>> read_query('deploy "blue bunny" -staging')
    Query(text='deploy blue bunny', phrases=('blue bunny',), excluded=('staging',), cut=False, wished=())
    >>> read_query('who directed "Blue Bunny" and when did it open?').wished
    ('Blue Bunny',)
    >>> read_query('what is -5 minus "x').phrases
    ()
    """
    text = query.replace("\x00", " ")[:MOST_CHARACTERS]
    phrases: list[str] = []
    excluded: list[str] = []

    def part(match: re.Match[str]) -> str:
        unwanted = match.group(1) or match.group(3)
        if match.group(3) is not None and not re.search(r"[^\W\d]", match.group(3)):
            return match.group()  # -5 is a number
        if unwanted is not None:
            excluded.append(unwanted.strip())
            return " "
        phrase = (match.group(2) or "").strip()
        if phrase:
            phrases.append(phrase)
        return f" {phrase} "

    rest = _PART.sub(part, text)
    own = len(rest.split()) - sum(len(phrase.split()) for phrase in phrases)
    sentence = own >= SENTENCE
    return Query(
        text=" ".join(rest.split()),
        phrases=() if sentence else tuple(phrases),
        wished=tuple(phrases) if sentence else (),
        excluded=tuple(e for e in excluded if e),
        cut=len(query) > MOST_CHARACTERS,
    )
