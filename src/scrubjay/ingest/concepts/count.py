"""Count: Gathered -> None. In how many passages each phrase stands: with a capital, without, or as code.

All phrases are looked for in all passages at once; no token is looked at one by one.
"""

from __future__ import annotations

from itertools import chain

import ahocorasick

from scrubjay.ingest.concepts.evidence import BREAK, CODE_MARK, Gathered
from scrubjay.ingest.concepts.level import level
from scrubjay.ingest.concepts.plural import plural


def count(gathered: Gathered) -> None:
    """Write into the signs of all phrases how they stand in the passages."""
    import numpy as np

    signs, passages_ = gathered.signs, len(gathered.sizes)
    if not signs:
        return
    automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
    sizes: list[int] = []
    owners: list[int] = []
    for owner, (form, sign) in enumerate(signs.items()):
        for spelling in {form, plural(form), *sign.apart}:
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
    chars = np.frombuffer(gathered.prose.encode("utf-32-le", "surrogatepass"), "<u4")[first]
    high = np.isin(chars, [int(char) for char in np.unique(chars) if chr(char).isupper()])
    case = np.where(chars == ord(CODE_MARK), 0, np.where(high, 1, 2))
    # One sort makes distinct: by phrase, then passage, then case.
    seen = np.sort((owner_of * passages_ + passage) * 3 + case)
    seen = seen[np.append(True, seen[1:] != seen[:-1])]
    owners_seen, cases = seen // (3 * passages_), seen % 3
    anew = np.append(True, seen[1:] // 3 != seen[:-1] // 3)
    chosen = (owner_of, owners_seen[anew], *(owners_seen[cases == one] for one in (0, 1, 2)))
    columns = [np.bincount(one, minlength=len(signs)).tolist() for one in chosen]
    for sign, times, passages, code, capital, small in zip(signs.values(), *columns, strict=True):
        sign.times, sign.passages, sign.code, sign.capital, sign.small = times, passages, code, capital, small
