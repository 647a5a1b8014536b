"""Quantise: float32 unit rows <-> int8 rows with a scale each, as the store keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.errors import ProviderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = 127
"""Largest magnitude of an int8 used; -128 is left out so that a row and its negative mirror each other."""


@dataclass(frozen=True, slots=True)
class Quantised:
    """Rows of vectors at a quarter of their float32 size; ``data * scales[:, None]`` is about the rows.

    Attributes:
        data: int8 array of shape (n, dimensions), within -127..127.
        scales: float32 array of shape (n,), not negative; 0 for a row of zeros.
    """

    data: NDArray[np.int8]
    scales: NDArray[np.float32]


def quantise(rows: NDArray[np.float32]) -> Quantised:
    """Round each row to 255 steps, symmetric around 0: ``scale = max|row| / 127``.

    No element moves by more than half a step. The same row gives the same bytes on every machine and
    in every batch: only elementwise float32 operations are used.

    Args:
        rows: Finite float32 array of shape (n, dimensions).

    Raises:
        ProviderError: An element is NaN or infinite.
    """
    rows = np.asarray(rows, dtype=np.float32)
    if not np.isfinite(rows).all():
        broken = int((~np.isfinite(rows)).any(axis=1).argmax())
        raise ProviderError(f"Vector {broken} of {len(rows)} holds NaN or infinity; none was quantised.")
    scales = np.abs(rows).max(axis=1, initial=0.0) / np.float32(STEPS)
    # A row of denormals can have a scale that rounds to 0; it is as good as zero.
    steps = np.where(scales == 0.0, np.float32(1.0), scales)
    data = np.clip(np.rint(rows / steps[:, None]), -STEPS, STEPS).astype(np.int8)
    data[scales == 0.0] = 0
    return Quantised(data, scales.astype(np.float32))


def restore(quantised: Quantised) -> NDArray[np.float32]:
    """The float32 rows again, each element within half a step of what was quantised."""
    return quantised.data.astype(np.float32) * quantised.scales[:, None]
