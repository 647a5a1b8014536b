"""Query: what a caller types -> words, phrases and exclusions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MOST_CHARACTERS: Final = 4_000
"""Characters of a query that are read, on every surface: what is longer is a pasted text with a question before it."""
MOST_PARTS: Final = 8
"""Quoted parts that results are held to, and parts that they must not hold: more of them stand in pasted code, and each
is looked for in every candidate."""
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
        passed: Quoted or excluded parts beyond the most; the quoted ones are words like any other.
    """

    text: str
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]
    cut: bool
    wished: tuple[str, ...] = ()
    passed: int = 0

    @property
    def partial(self) -> tuple[str, ...]:
        """What of the query was not read as it was typed, one sentence each."""
        cut = f"The question was cut: only its first {MOST_CHARACTERS:,} characters were read."
        passed = (
            f"Only the first {MOST_PARTS} quoted and the first {MOST_PARTS} excluded parts were read as such."
        )
        return (*((cut,) if self.cut else ()), *((passed,) if self.passed else ()))


def read_query(query: str) -> Query:
    """Take a query apart. An odd quote is a character like any other; nothing here is an error.

    >>> read_query('deploy "blue bunny" -staging')
    Query(text='deploy blue bunny', phrases=('blue bunny',), excluded=('staging',), cut=False, wished=(), passed=0)
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
    quoted, unwanted = tuple(dict.fromkeys(phrases)), tuple(dict.fromkeys(filter(None, excluded)))
    return Query(
        text=" ".join(rest.split()),
        phrases=() if sentence else quoted[:MOST_PARTS],
        wished=quoted[:MOST_PARTS] if sentence else (),
        excluded=unwanted[:MOST_PARTS],
        cut=len(query) > MOST_CHARACTERS,
        passed=len(quoted[MOST_PARTS:]) + len(unwanted[MOST_PARTS:]),
    )
