"""Slate: memories side by side while they are judged, each with the parts of its score as plain values.

A search judges hundreds of memories and shows ten: only those that were found become candidates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from scrubjay.memory.ranking import Candidate, Contribution, rounded

if TYPE_CHECKING:
    from scrubjay.store.base import Head

Part: TypeAlias = "tuple[str, float, float, float]"
"""What a `Contribution` is made of: channel, raw, value, weight."""


class Row(NamedTuple):
    """One memory that is judged.

    Attributes:
        id: The memory.
        head: What is known of it without its text; None where nothing is.
        parts: What speaks for it so far; each stage adds its own.
    """

    id: str
    head: Head | None
    parts: list[Part]

    @property
    def score(self) -> float:
        """The sum of the parts, as `Candidate.score` tells it."""
        return rounded(math.fsum([weight * value for _, _, value, weight in self.parts]))


Slate: TypeAlias = "list[Row]"
T = TypeVar("T", Row, Candidate)
_FIRST: Final = itemgetter(0, 1)


def slate(ids: Sequence[str], parts: Sequence[list[Part]], heads: Mapping[str, Head]) -> Slate:
    """Lay memories side by side.

    Args:
        ids: The memories.
        parts: What speaks for each.
        heads: What is known of those of which anything is.
    """
    return [Row(memory, heads.get(memory), own) for memory, own in zip(ids, parts, strict=True)]


def ordered(found: Iterable[T]) -> list[T]:
    """Return memories that have a score best first, ties to the smaller id."""
    return [one for _, _, one in sorted([(-one.score, one.id, one) for one in found], key=_FIRST)]


def as_candidates(rows: Slate) -> list[Candidate]:
    """Return memories as the later stages and the answer take them."""
    return [Candidate(row.id, tuple([Contribution(*part) for part in row.parts])) for row in rows]
