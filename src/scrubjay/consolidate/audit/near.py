"""Near: statements of one matter, Reader -> pairs whose directions almost agree.

Likeness only nominates; it does not know what the statements say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.audit.trait import Trait
from scrubjay.ingest.directions import directions
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR: Final = 0.97
"""Least cosine of the base model: nearly the same words. "Cannot use AWS" and "can use AWS" have .956."""
NEAREST: Final = 4
"""Pairs that one statement makes with later ones: of a form filled in a thousand times each is near to all."""
BLOCK: Final = 1_024
"""Statements compared with as many at once: 4 MB of products."""
TWICE: Final = 2
"""Times as many words as another has, above which a statement says more than that one."""
PAGE: Final = 1_000
"""Statements whose vectors are read at once."""


def near(
    reader: Reader, fingerprint: str, statements: Sequence[Trait]
) -> Iterator[tuple[float, Trait, Trait]]:
    """Yield pairs of statements that are near to each other, with their cosine.

    Args:
        reader: What the caller sees.
        fingerprint: The base model, which must be registered.
        statements: Those of different ``matter`` or with different figures are never compared.
    """
    matters: defaultdict[tuple[int, int], list[Trait]] = defaultdict(list)
    for one in statements:
        matters[one.matter, one.digits].append(one)
    several = [
        sorted(same, key=lambda one: (one.words, one.id)) for same in matters.values() if len(same) > 1
    ]
    flat = [one for same in several for one in same]
    rows = _rows(reader, fingerprint, flat)
    first = 0
    for same in several:
        yield from _pairs(same, rows[first : first + len(same)])
        first += len(same)


def _rows(reader: Reader, fingerprint: str, statements: Sequence[Trait]) -> NDArray[np.float16]:
    """Return a unit row a statement; half precision, for a hundred thousand rows are held."""
    import numpy as np

    found = [np.empty((0, 0), np.float16)]
    for first in range(0, len(statements), PAGE):
        ids = [one.id for one in statements[first : first + PAGE]]
        codes = reader.vectors(fingerprint, ids)
        width = next((held.data.shape[1] for held in codes.values()), 1)
        found.append(directions([codes.get(memory) for memory in ids], width).astype(np.float16))
    wide = max(rows.shape[1] for rows in found)
    return np.concatenate(
        [rows if rows.shape[1] == wide else np.zeros((len(rows), wide), np.float16) for rows in found]
    )


def _pairs(same: Sequence[Trait], rows: NDArray[np.float16]) -> Iterator[tuple[float, Trait, Trait]]:
    import numpy as np

    for top in range(0, len(same), BLOCK):
        left = rows[top : top + BLOCK].astype(np.float32)
        made: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
        longest = same[top + len(left) - 1].words
        for start in range(top, len(same), BLOCK):
            if same[start].words > TWICE * longest:
                break
            right = rows[start : start + BLOCK].astype(np.float32)
            scores = left @ right.T
            if start == top:
                scores[np.tril_indices(len(left))] = 0
            close = scores >= NEAR
            for row in np.flatnonzero(close.any(axis=1)).tolist():
                columns = np.flatnonzero(close[row])
                nearest = columns[np.argsort(-scores[row, columns], kind="stable")[:NEAREST]].tolist()
                made[row] += [(float(scores[row, column]), start + column) for column in nearest]
        for row, others in made.items():
            for score, column in sorted(others, key=lambda pair: (-pair[0], pair[1]))[:NEAREST]:
                yield score, same[top + row], same[column]
