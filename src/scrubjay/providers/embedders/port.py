"""Embedder: the port every embedding model answers to.

Knows nothing of stores, caches or schedules; see ``open.py`` for how one is made from the settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.memory.models import Model

Kind = Literal["passage", "query"]


class Embedder(Protocol):
    """Turns texts into unit vectors of one model.

    An implementation is deterministic in its input: the vectors of a text do not depend on the texts
    that came with it, nor on earlier calls (up to the last bits of a float where a runtime or a remote
    service batches). It may be called from several threads.
    """

    @property
    def model(self) -> Model:
        """The model that is stamped on every vector made here."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Kind = "passage") -> list[NDArray[np.float32]]:
        """Embed each text, all of them or none.

        A text longer than the model's window is cut into ``ceil(tokens / window)`` windows of equal
        length without overlap; every token is in exactly one of them and nothing is cut off.

        Args:
            texts: The texts; any length, any Unicode. A lone surrogate is read as "?".
            kind: ``query`` for a question put to the store, ``passage`` for what is stored. Models
                that do not tell them apart ignore it.

        Returns:
            One float32 array of shape (windows, dimensions) a text, in the order given, at least one
            row each. Rows have length 1, except that a text without a token (empty, or for most models
            blanks only) has a single row of zeros: it is similar to nothing. Never NaN or infinite.

        Raises:
            ProviderError: The model is missing or damaged, or the service failed; no vector of this
                call is returned.
            ModelMismatchError: A vector came back with a length that is not the model's.
        """
        ...
