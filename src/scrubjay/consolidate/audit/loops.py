"""Loops: traits, their prints, Reader -> memories that repeat an older one, captured again after it was recalled.

A copy in a turn, or saved by an agent, is told by its runs of words. An edit is none: wherever a word in the
middle differs, or a few at the end of what is quoted, the later memory says something of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.audit.fault import Fault
from scrubjay.consolidate.audit.sweep import Swept
from scrubjay.consolidate.audit.trait import Trait
from scrubjay.consolidate.audit.words import RUN, levelled
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REPEATED: Final = 0.8
"""Share of a memory's runs that stand in the older one."""
LEAST_WORDS: Final = 14
"""Words below which people say the same by chance. Four fifths of its runs always leave a common print."""
NOMINATED: Final = 0.25
"""Share of its prints that must stand in the older one before the two are read: prints at the edges differ."""
TAKEN_BACK: Final = frozenset(
    {
        "actually", "but", "cancelled", "changed", "except", "false", "instead", "longer", "never",
        "no", "not", "now", "obsolete", "only", "outdated", "since", "superseded", "t", "unless",
        "until", "update", "updated", "wrong", "nicht", "kein", "nie", "mehr", "ne", "pas", "plus",
        "jamais", "non", "falso", "nunca", "ya",
    }
)  # fmt: skip
"""Words around a quotation that may say something of it ("it isn't so that", "cancelled"), in a few languages."""
PAGE: Final = 500
"""Pairs whose texts are in hand at once."""


def loops(reader: Reader, swept: Swept) -> Iterator[Fault]:
    """Yield what was captured again."""
    pairs = [(later, older) for later, older in _nominated(swept) if _apart(later, older)]
    for first in range(0, len(pairs), PAGE):
        some = pairs[first : first + PAGE]
        held = reader.get(sorted({one.id for pair in some for one in pair}))
        for later, older in some:
            share = repeats(held[later.id].content, held[older.id].content)
            if share >= REPEATED:
                why = f"{share:.0%} of it repeats an older memory"
                yield Fault(later.id, why, "captured again", share, "archived", older.id)


def _apart(later: Trait, older: Trait) -> bool:
    """Tell whether the later one may be a capture of the older one at all.

    What a file says is no capture, and what was made from others is meant to repeat them. To save what was said
    is no loop either, but to hear it again in another conversation is.
    """
    if later.kind == "passage" or later.derived or later.pinned or later.words < LEAST_WORDS:
        return False
    if later.kind == "turn" and older.kind == "turn":
        return later.session != older.session
    if older.kind == "turn":
        return False
    return later.origin != older.origin or later.session != older.session


def _nominated(swept: Swept) -> Iterator[tuple[Trait, Trait]]:
    """Yield each memory with the one that was there first of those it shares most prints with."""
    import numpy as np

    traits = swept.traits
    if not len(swept.prints):
        return
    age = np.empty(len(traits), np.int64)
    age[sorted(range(len(traits)), key=lambda place: (traits[place].recorded, traits[place].id))] = np.arange(
        len(traits)
    )
    order = np.lexsort((age[swept.owners], swept.prints))
    prints, owners = swept.prints[order], swept.owners[order]
    begins = np.flatnonzero(np.concatenate(([True], prints[1:] != prints[:-1])))
    first = np.repeat(owners[begins], np.diff(np.append(begins, len(prints))))
    amount = np.bincount(swept.owners, minlength=len(traits))
    chosen: dict[int, tuple[int, int]] = {}
    for later, older, count in _votes(owners, first, amount).tolist():
        if count > chosen.get(later, (0, 0))[1]:
            chosen[later] = (older, count)
    for later, (older, _) in chosen.items():
        yield traits[later], traits[older]


def _votes(
    owners: NDArray[np.uint32], first: NDArray[np.uint32], amount: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return (later, older, common prints) a row, where they are enough to read the two."""
    import numpy as np

    size = len(amount)
    joined, counts = np.unique(owners.astype(np.int64) * size + first, return_counts=True)
    later, older = joined // size, joined % size
    enough = (later != older) & (counts >= NOMINATED * amount[later])
    return np.stack((later[enough], older[enough], counts[enough]), axis=1)


def repeats(later: str, older: str) -> float:
    """Return which share of a text's runs of words an older one holds, 0 where the later one is an edit of it.

    >>> said = "the retention of the archive is thirty days and the backup runs at noon every day"
    >>> repeats(f"From memory: {said}", said), repeats(said.replace("thirty", "ninety"), said)
    (0.8571428571428571, 0.0)
    """
    words, known = levelled(later), levelled(older)
    places = {run: place for place, run in reversed(list(enumerate(_runs(known))))}
    own = _runs(words)
    shared = [place for place, run in enumerate(own) if run in places]
    if not shared or shared[-1] - shared[0] + 1 != len(shared):
        return 0.0
    before, after = shared[0], len(own) - 1 - shared[-1]
    left = places[own[shared[0]]]
    right = len(known) - RUN - places[own[shared[-1]]]
    if (before and 0 < left < RUN) or (after and 0 < right < RUN):
        return 0.0
    ends = {*words[: shared[0]], *words[shared[-1] + RUN :]}
    if not TAKEN_BACK.isdisjoint(ends):
        return 0.0
    return len(shared) / len(own)


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[place : place + RUN]) for place in range(len(words) - RUN + 1)]
