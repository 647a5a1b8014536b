"""Overview: a topic's name and memories -> its L0 and L1, both taken from the memories.

L0 is the name with the titles of the most central memories. L1 is made of sentences, one of a memory, the most
central memories first: of each the one that says most of what tells this topic from others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from scrubjay.ingest.sentences import sentences
from scrubjay.ingest.topics.leaf import Leaf
from scrubjay.text.markdown import even
from scrubjay.text.tokens import terms

L0_TOKENS: Final = 30
L1_TOKENS: Final = 120
CENTRAL: Final = 8
"""Members that are read."""
READ: Final = 2_000
"""Characters of each that are read."""
_ENDS = frozenset(".!?:;…。！？।؟۔｡：；")
SHORT: Final = 6
"""Tokens added to a sentence's length, so that two telling words do not win by being short."""


def overview(name: str, group: Sequence[Leaf], worth: Mapping[str, float]) -> tuple[str, str]:
    """Return L0, at most 30 tokens, and L1, at most 120.

    Args:
        name: The topic's name; it stands first in L0, and is cut where it alone is too long.
        group: Its memories, the most central first.
        worth: What each term tells of the topic.
    """
    return listed(name, _titles(name, group)), _fitting(_telling(group, worth), L1_TOKENS)


def listed(name: str, titles: Sequence[str], tokens: int = L0_TOKENS) -> str:
    """Return a name with as many of some titles as fit; a name that is itself too long is cut."""
    words = name.split()
    while _size(" ".join(words)) > tokens and len(words) > 1:
        words.pop()
    head = " ".join(words)
    told = _fitting(titles, tokens - _size(head))
    return f"{head}: {told}" if told else head


def _titles(name: str, group: Sequence[Leaf]) -> list[str]:
    """Distinct titles, or first sentences where a memory has none."""
    found: dict[str, str] = {}
    for leaf in group[:CENTRAL]:
        title = " ".join(leaf.title.split()) or next((text for _, text in _read(leaf)), "")
        found.setdefault(title.casefold(), title.rstrip(".:;"))
    return [title for folded, title in found.items() if title and folded != name.casefold()]


def _telling(group: Sequence[Leaf], worth: Mapping[str, float]) -> Iterator[str]:
    said: set[str] = set()
    for leaf in group[:CENTRAL]:
        best, most = "", 0.0
        for kind, text in _read(leaf):
            if kind != "text" or text in said:
                continue
            counted = terms(text, leaf.language)
            gain = sum(worth.get(term, 0.0) for term in counted.counts) / (counted.length + SHORT)
            if gain > most:
                best, most = text, gain
        if best:
            said.add(best)
            yield best


def _read(leaf: Leaf) -> Iterator[tuple[str, str]]:
    return sentences(even(leaf.text[:READ]))


def _fitting(texts: Iterable[str], room: int) -> str:
    """Join those texts that fit, in their order; what has no mark at its end gets one."""
    joined = ""
    for text in texts:
        size = _size(text)
        if 0 < size <= room:
            joined += (" " if joined[-1] in _ENDS else "; ") + text if joined else text
            room -= size
    return joined


@lru_cache(maxsize=8_192)
def _size(text: str) -> int:
    return terms(text).length
