"""Said: str -> the words by which two texts can differ in what they say, in their order.

Everything may be such a word: a number, a sign, a negation, a name, "production" for "staging". Only case, the marks
around words, marks of lists and headings, articles, the present of "to be" and a few fillers are not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import Final

from scrubjay.text.reworded import bag

SMALL: Final = bag("a an the is are am be it its this that these those very just also please really quite")
"""Words with and without which the same is said where all others are equal. Neither "was" (it is no longer) nor "to"
and "from", "only", "if" or any word that denies; English alone, so that in all others nothing is passed over."""
_MARKS: Final = ".,;:!?…()[]{}\"“”„«»'’‘*_~`"
KEPT: Final = 64
"""Characters of a piece up to which what it says is kept: texts share most of theirs."""
MOST_PIECES: Final = 1 << 16
"""Pieces of which is kept what they say, about 12 MB; a full memory makes way for an empty one."""
SHORT: Final = 4_096
"""Characters of a text up to which what it says is kept for a while: one search asks several times, and so may the
next. 512 of them are 8 MB at most."""
_LAYOUT: Final = re.compile(r"[-*•·|>#+]+|[-=_*~`]{3,}")
"""A bullet, a table's line, a heading's signs, a rule."""


def said(text: str) -> tuple[str, ...]:
    """Return a text's words without what makes no difference; a question keeps its mark.

    >>> said("- The **timeout** is 30 seconds.") == said("timeout: 30 seconds")
    True
    >>> said("We can use AWS"), said("we can use C++?")
    (('we', 'can', 'use', 'aws'), ('we', 'can', 'use', 'c++', '?'))
    """
    return (_lately if len(text) <= SHORT else _said)(text)[0]


def vocabulary(text: str) -> frozenset[str]:
    """Return the words of `said` as a set."""
    return (_lately if len(text) <= SHORT else _said)(text)[1]


def _said(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    # No loop of ours over all words: one whose piece was met before costs a look-up.
    words = tuple(chain.from_iterable(map(_PIECES.__getitem__, text.casefold().split())))
    return words, frozenset(words)


def _words(piece: str) -> tuple[str, ...]:
    """Return what a piece between blanks says."""
    if piece.isalnum():
        return () if piece in SMALL else (piece,)
    word = piece.strip(_MARKS)
    if word in SMALL and word:
        word = ""
    elif not word or not any(character.isalnum() for character in word):
        word = "" if not piece.strip(_MARKS[:5]) or _LAYOUT.fullmatch(piece) else piece
    asks = "?" in piece[-3:] and piece != word
    return (*((word,) if word else ()), *(("?",) if asks else ()))


class _Pieces(dict[str, tuple[str, ...]]):
    """What pieces say, each found out when it is first met; a long one hardly ever comes again."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        found = _words(piece)
        if len(piece) <= KEPT:
            if len(self) >= MOST_PIECES:
                self.clear()
            self[piece] = found
        return found


_PIECES: Final = _Pieces()
_lately: Final = lru_cache(maxsize=512)(_said)
