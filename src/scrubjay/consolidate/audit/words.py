"""Words: str -> its words levelled, and a 64-bit number for each few in a row.

Case, punctuation and markup do not count. A character of a script without spaces is a word of its own. It does
not know what the texts are of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from scrubjay.text.scripts import holds_run, pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RUN: Final = 5
"""Words in a row that two texts share by copying; four are still an idiom."""
WINDOW: Final = 8
"""Of so many runs in a row the smallest is kept: any common stretch of so many runs leaves a common number."""
KNOWN: Final = 200_000
"""Words whose number is remembered: 30 MB."""
_FACTOR: Final = 0x9E3779B97F4A7C15
"""An odd number whose powers tell the places of a run apart (2**64 over the golden ratio)."""
_WORD: Final = re.compile(r"[^\W_]+")


def levelled(text: str) -> list[str]:
    """Return a text's words.

    >>> levelled("The **mast** is 12 m."), levelled("好的 OK")
    (['the', 'mast', 'is', '12', 'm'], ['好', '的', 'ok'])
    """
    if text.isascii() or not holds_run(text):
        return _WORD.findall(text.casefold())
    found: list[str] = []
    for run, start, end in pieces(text):
        part = text[start:end]
        found += part if run else _WORD.findall(part.casefold())
    return found


class Numbers:
    """Words to numbers that are the same in every process."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, words: Sequence[str]) -> NDArray[np.uint64]:
        """Return a number for each word, shape (words,)."""
        import numpy as np

        known = self._known
        if len(known) > KNOWN:
            known.clear()
        for word in [word for word in set(words) if word not in known]:
            known[word] = digest(word.encode("utf-8", "replace"))
        return np.array([known[word] for word in words], dtype=np.uint64)


def digest(data: bytes) -> int:
    """Return 64 bits of a hash of bytes."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def runs(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a number for each run of words.

    Args:
        numbers: One a word, shape (words,).

    Returns:
        Shape (words - RUN + 1,), empty for a shorter text.
    """
    import numpy as np

    count = max(0, len(numbers) - RUN + 1)
    mixed = np.zeros(count, np.uint64)
    for place in range(RUN):
        mixed += numbers[place : place + count] * np.uint64(pow(_FACTOR, place + 1, 2**64))
    return mixed ^ (mixed >> np.uint64(29))  # the low bits of products are the poorest


def winnowed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the smallest of every few runs in a row, each once (Schleimer et al., Winnowing, 2003).

    Two texts that share ``WINDOW`` runs in a row share one of these at least.
    """
    import numpy as np

    if len(numbers) < WINDOW:
        return numbers[:0]
    least = numbers
    for step in (1, 2, 4):  # of two, of four, of eight in a row
        least = np.minimum(least[:-step], least[step:])
    return np.unique(least)
