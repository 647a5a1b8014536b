"""Count: Gathered -> None. In how many passages each phrase stands: with a capital, without, or as code.

All phrases are looked for in all passages at once; no token is looked at one by one.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import ahocorasick

from scrubjay.ingest.concepts.evidence import Gathered
from scrubjay.ingest.concepts.level import level
from scrubjay.ingest.concepts.plural import plural
from scrubjay.ingest.concepts.prose import BREAK, CODE_MARK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LONGEST_SMALL: Final = 4
_SMALL: Final = (
    "is are was and or to in of that for with on from has have can will as by at but if so than "
    "may must do not when who"
)
"""English words before which a noun's phrase is over; an adjective's or a verb's is not."""


def count(gathered: Gathered) -> None:
    """Write into the signs of all phrases how they stand in the passages."""
    import numpy as np

    signs, passages_ = gathered.signs, len(gathered.sizes)
    if not signs:
        return
    automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
    sizes: list[int] = []
    owners: list[int] = []
    plurals = ((owner, (plural(form),)) for owner, form in enumerate(signs))
    own = ((owner, (form, *sign.apart)) for owner, (form, sign) in enumerate(signs.items()))
    # What is a name itself is no other's plural: macos, of "maco".
    for owner, spellings in chain(plurals, own):
        for spelling in spellings:
            automaton.add_word(f" {spelling} ", len(sizes))
            sizes.append(len(spelling))
            owners.append(owner)
    automaton.make_automaton()
    hits = np.fromiter(
        chain.from_iterable(automaton.iter(f" {level(gathered.whole, blotted=True)} ")), np.int64
    ).reshape(-1, 2)
    if not len(hits):
        return
    first = hits[:, 0] - np.array(sizes)[hits[:, 1]] - 1
    owner_of = np.array(owners)[hits[:, 1]]
    bounds = np.cumsum([size + len(BREAK) for size in gathered.sizes])
    passage = np.searchsorted(bounds, first - 1, side="right")
    padded = (gathered.prose + " " * (_LONGEST_SMALL + 2)).encode("utf-32-le", "surrogatepass")
    chars = np.frombuffer(padded, "<u4")[first]
    high = np.isin(chars, [int(char) for char in np.unique(chars) if chr(char).isupper()])
    case = np.where(chars == ord(CODE_MARK), 0, np.where(high, 1, 2))
    ends = _ends(np.frombuffer(padded, "<u4"), first + np.array(sizes)[hits[:, 1]]) & (case != 0)
    # One sort makes distinct: by phrase, then passage, then case.
    seen = np.sort((owner_of * passages_ + passage) * 3 + case)
    seen = seen[np.append(True, seen[1:] != seen[:-1])]
    owners_seen, cases = seen // (3 * passages_), seen % 3
    anew = np.append(True, seen[1:] // 3 != seen[:-1] // 3)
    chosen = (owner_of, owners_seen[anew], *(owners_seen[cases == one] for one in (0, 1, 2)))
    plain = (owner_of[case != 0], owner_of[ends])
    columns = [np.bincount(one, minlength=len(signs)).tolist() for one in (*chosen, *plain)]
    for sign, *figures in zip(signs.values(), *columns, strict=True):
        sign.times, sign.passages, sign.code, sign.capital, sign.small = figures[:5]
        sign.closing = figures[6] / max(1, figures[5])


def _ends(chars: NDArray[np.uint32], behind: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell of each place behind a word whether a phrase ends there: a mark stands there, or a small word comes."""
    import numpy as np

    ends: NDArray[np.bool_] = np.isin(chars[behind], [ord(mark) for mark in ".,;:)!?"])
    spaced = np.isin(chars[behind], (ord(" "), ord("\n")))
    for size in range(2, _LONGEST_SMALL + 1):
        after = chars[behind[:, None] + np.arange(1, size + 2)].astype(np.int64)
        words = [f"{word} " for word in _SMALL.split() if len(word) == size]
        weights = 128 ** np.arange(size + 1)
        known = [
            sum(ord(char) * int(weight) for char, weight in zip(word, weights, strict=True)) for word in words
        ]
        ends |= spaced & np.isin((np.minimum(after, 127) * weights).sum(axis=1), known)
    return ends
