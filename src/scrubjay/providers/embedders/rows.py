"""Unit: rows of any length -> rows of length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unit(rows: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Scale each row to length 1; a row of zeros stays as it is, for it has no direction.

    Args:
        rows: Float array of shape (n, dimensions), finite.

    Returns:
        A new float32 array of the same shape.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return np.asarray(rows / np.where(lengths == 0.0, 1.0, lengths)[:, None], dtype=np.float32)
