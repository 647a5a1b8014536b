"""Directions: windows as they are kept -> one unit row a memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.store.changes import Codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def directions(codes: Sequence[Codes | None], dimensions: int) -> NDArray[np.float32]:
    """Return the direction of each memory's windows together, as unit rows; zeros for one without vectors."""
    import numpy as np

    rows = np.zeros((len(codes), dimensions), np.float32)
    for place, windows in enumerate(codes):
        if windows is not None:
            rows[place] = (windows.data.astype(np.float32) * windows.scales[:, None]).sum(0)
    return unit(rows)


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows at unit length; rows of zeros stay.

    Args:
        rows: (n, d).
    """
    import numpy as np

    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1), dtype=np.float32)
