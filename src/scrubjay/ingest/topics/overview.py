"""Overview: a topic's name and memories -> its L0 and L1, both taken from the memories.

L0 is the name with the titles of the most central memories, those first that stand in no other topic. L1 is
made of sentences, one of a memory, the most central memories first: of each the one that says most of what
tells this topic from others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

from scrubjay.ingest.topics.leaf import Leaf
from scrubjay.ingest.topics.spell import READ, Said
from scrubjay.text.tokens import terms

L0_TOKENS: Final = 30
L1_TOKENS: Final = 120
TITLED: Final = 24
"""Members whose titles are read."""
FULL: Final = 3
"""Tokens of room in which nothing more finds place."""
SHORT: Final = 40
"""Characters added to a sentence's length, so that two telling words do not win by being short."""
WEIGHED: Final = 10
"""Most telling words that sentences are rated by."""
ALIKE: Final = 0.6
"""Share of the shorter title's words that two titles must have in common to be one: "Week 2", "Week 3 goals"."""

_ENDS = frozenset(".!?:;…。！？।؟۔｡：；")
_SENTENCE = re.compile(r"[.!?…](?=\s+[^\sa-z])|[。！？।؟۔｡]|;(?= )|\n")
_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_MARK = re.compile(r"\[\[|\]\]|\*\*|`|&\w+;|(?<!\w)_|_(?!\w)")
_FILE = re.compile(r"(?=\S++\Z)(?:[^/]*+/|.*\.[A-Za-z][A-Za-z0-9]{0,4}\Z)|.*___")
"""A title that is only the name of a file."""


def overview(
    name: str, central: Sequence[Leaf], said: Said, elsewhere: Collection[str] = frozenset()
) -> tuple[str, str]:
    """Return L0, at most 30 tokens, and L1, at most 120.

    Args:
        name: The topic's name; it stands first in L0, and is cut where it alone is too long.
        central: Its memories, the most central first.
        said: What they say of what tells of it.
        elsewhere: Folded titles that stand in other topics too.
    """
    return listed(name, titles(name, central, elsewhere)), _fitting(_telling(central, said), L1_TOKENS)


def listed(name: str, titles: Iterable[str], tokens: int = L0_TOKENS) -> str:
    """Return a name with as many of some titles as fit; a name that is itself too long is cut."""
    words = name.split()
    while _size(" ".join(words)) > tokens and len(words) > 1:
        words.pop()
    head = " ".join(words)
    told = _fitting(titles, tokens - _size(head))
    return f"{head}: {told}" if told else head


def titles(name: str, central: Sequence[Leaf], elsewhere: Collection[str] = frozenset()) -> Iterator[str]:
    """Yield titles of memories, or first sentences where none has one: none like the name or one before it."""
    given = [" ".join(_MARK.sub(" ", leaf.title).split()).rstrip(".:;") for leaf in central[:TITLED]]
    written = [title for title in given if title and not _FILE.match(title)]
    if not written:
        written = [next(iter(_sentences(leaf)), "").rstrip(".:;") for leaf in central[:TITLED]]
    chosen: list[frozenset[str]] = [_words(name)]
    for title in sorted(dict.fromkeys(written), key=lambda one: one.casefold() in elsewhere):
        words = _words(title)
        if words and all(len(words & one) < ALIKE * min(len(words), len(one)) for one in chosen if one):
            chosen.append(words)
            yield title


def _words(title: str) -> frozenset[str]:
    """Return what tells titles apart: no numbers, and no words of two letters but acronyms."""
    found = (word.rstrip("0123456789") for word in _WORD.findall(title) if not word[0].isdigit())
    return frozenset(
        word.casefold() for word in found if len(word) > 2 or word.isupper() or not word.isascii()
    )


def _telling(central: Sequence[Leaf], said: Said) -> Iterator[str]:
    told: set[str] = set()
    weights = [(word, said.weights[word]) for word in islice(said.spellings.values(), WEIGHED)]
    for leaf in central[:TITLED]:
        best, most = "", 0.0
        for text in _sentences(leaf):
            if text in told:
                continue
            gain = sum(weight for word, weight in weights if word in text) / (len(text) + SHORT)
            if gain > most:
                best, most = text, gain
        if best:
            told.add(best)
            yield best


def _sentences(leaf: Leaf) -> list[str]:
    text = leaf.text[:READ]
    ends = [0, *(mark.end() for mark in _SENTENCE.finditer(text)), len(text)]
    return [told for start, end in pairwise(ends) if (told := text[start:end].strip(" \n;"))]


def _fitting(texts: Iterable[str], room: int) -> str:
    """Join those texts that fit, in their order; what has no mark at its end gets one."""
    joined = ""
    for text in texts:
        size = _size(text)
        if 0 < size <= room:
            joined += (" " if joined[-1] in _ENDS else "; ") + text if joined else text
            room -= size
        if room < FULL:
            break
    return joined


@lru_cache(maxsize=4_096)
def _size(text: str) -> int:
    """Return a text's number of words; a category's titles are measured for its L0, for its L1 and above it."""
    return terms(text).length
