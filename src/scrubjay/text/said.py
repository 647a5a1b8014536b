"""Said: str -> the words by which two texts can differ in what they say, in their order.

Everything may be such a word: a number, a sign, a negation, a name, "production" for "staging". Only case, the marks
around words, marks of lists and headings, articles, the present of "to be" and a few fillers are not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scrubjay.text.reworded import bag

SMALL: Final = bag("a an the is are am be it its this that these those very just also please really quite")
"""Words with and without which the same is said where all others are equal. Neither "was" (it is no longer) nor "to"
and "from", "only", "if" or any word that denies; English alone, so that in all others nothing is passed over."""
_MARKS: Final = ".,;:!?…()[]{}\"“”„«»'’‘*_~`"
KEPT: Final = 64
"""Characters of a piece up to which what it says is kept: texts share most of theirs."""
_LAYOUT: Final = re.compile(r"[-*•·|>#+]+|[-=_*~`]{3,}")
"""A bullet, a table's line, a heading's signs, a rule."""


def said(text: str) -> tuple[str, ...]:
    """Return a text's words without what makes no difference; a question keeps its mark.

    >>> said("- The **timeout** is 30 seconds.") == said("timeout: 30 seconds")
    True
    >>> said("We can use AWS"), said("we can use C++?")
    (('we', 'can', 'use', 'aws'), ('we', 'can', 'use', 'c++', '?'))
    """
    pieces = text.casefold().split()
    return tuple(word for piece in pieces for word in (_kept if len(piece) <= KEPT else _words)(piece))


def _words(piece: str) -> tuple[str, ...]:
    """Return what a piece between blanks says."""
    word = piece.strip(_MARKS)
    if word in SMALL and word:
        word = ""
    elif not word or not any(character.isalnum() for character in word):
        word = "" if not piece.strip(_MARKS[:5]) or _LAYOUT.fullmatch(piece) else piece
    asks = "?" in piece[-3:] and piece != word
    return (*((word,) if word else ()), *(("?",) if asks else ()))


_kept: Final = lru_cache(1 << 14)(_words)
