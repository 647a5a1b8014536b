"""Sweep: Reader -> the traits of all active memories, and numbers by which copies are found.

The memories are read a page at a time; their texts are not kept. What is kept of a hundred thousand notes of two
hundred words is about 60 MB of traits and 60 MB of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.audit.trait import Trait, trait
from scrubjay.consolidate.audit.words import Numbers, digest, levelled, runs, winnowed
from scrubjay.memory.records import ANY, Record
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAGE: Final = 1_000
"""Memories in hand at once."""
MOST_WORDS: Final = 4_000
"""Words of a memory that are looked at for copies: passages have 400, a book added whole is no copy of a memory."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What is kept of all active memories that a reader sees.

    Attributes:
        traits: In the order of the ids' digits.
        prints: Numbers of their runs of words, winnowed, mixed with their visibility keys; uint64, shape (n,).
        owners: Whose each is: places in ``traits``, uint32, shape (n,).
    """

    traits: tuple[Trait, ...]
    prints: NDArray[np.uint64]
    owners: NDArray[np.uint32]


def sweep(reader: Reader) -> Swept:
    """Read every active memory once."""
    import numpy as np

    numbers = Numbers()
    traits: list[Trait] = []
    prints = [np.empty(0, np.uint64)]
    owners = [np.empty(0, np.uint32)]
    salts: dict[str, np.uint64] = {}
    for record in paged(reader):
        words = levelled(record.content)
        numbered = numbers.of(words)
        key = salts.setdefault(record.key, np.uint64(digest(record.key.encode())))
        own = winnowed(runs(numbered[:MOST_WORDS])) ^ key
        prints.append(own)
        owners.append(np.full(len(own), len(traits), np.uint32))
        traits.append(trait(record, words, numbered))
    return Swept(tuple(traits), np.concatenate(prints), np.concatenate(owners))


def paged(reader: Reader) -> Iterator[Record]:
    """Yield every visible active memory, in the order of the ids' digits."""
    after = ""
    while page := reader.page(after, PAGE, ANY):
        yield from page
        after = page[-1].id
