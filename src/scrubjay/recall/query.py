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
_QUOTED: Final = '"([^"]*)"|[“„]([^“”„]*)[“”]|«([^«»]*)»|»([^«»]*)«|「([^「」]*)」'
"""Quotes as keyboards and word processors of several languages set them; no other mark stands for one of these."""
_PART: Final = re.compile(rf'(?<!\S)-(?:{_QUOTED})|{_QUOTED}|(?<!\S)-([^\s"“„«»「-][^\s"]*)')
_NAMES: Final = re.compile(r"[^\W_]|[\u2190-\u2bff\U0001f000-\U0001faff]")
"""What can be looked for: a letter, a digit, a picture. To a model, marks alone are near to anything."""
_HERE: Final = 5
"""Forms of quotes, each with a group in the expression: first of what is excluded, then of what is wanted."""


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
        *quoted, word = match.groups()
        unwanted = next((text for text in (*quoted[:_HERE], word) if text is not None), None)
        if word is not None and not re.search(r"[^\W\d]", word):
            return match.group()  # -5 is a number
        if unwanted is not None:
            excluded.append(unwanted.strip())
            return " "
        phrase = next((text for text in quoted[_HERE:] if text is not None), "").strip()
        if phrase:
            phrases.append(phrase)
        return f" {phrase} "

    rest = _PART.sub(part, text)
    if not _NAMES.search(rest):
        rest = ""
    own = len(rest.split()) - sum(len(phrase.split()) for phrase in phrases)
    sentence = own >= SENTENCE
    return Query(
        text=" ".join(rest.split()),
        phrases=() if sentence else tuple(phrases),
        wished=tuple(phrases) if sentence else (),
        excluded=tuple(e for e in excluded if e),
        cut=len(query) > MOST_CHARACTERS,
    )
