"""Events: what happened to memories, without a word of what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OPS: Final = (
    "added",
    "archived",
    "changed",
    "contradicted",
    "derived",
    "pinned",
    "read",
    "reinforced",
    "restored",
    "superseded",
    "unpinned",
    "used",
    "useful",
    "wrong",
)
"""What can happen to a memory. That one was forgotten is no event: nothing of it is kept. What is ``read`` was read
by a language model."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one memory. It holds no text.

    Attributes:
        memory: Id of the memory.
        op: One of ``OPS``.
        at: UTC microseconds when it happened.
        key: Visibility key: that of the memory when it happened.
        run: Run of a consolidation that did it, or None.
        other: Id of another memory that had part in it, or None; of ``changed``, the one that keeps the text before.
        count: Of ``derived``, how many sources the memory had; else 0.
        before: Of a change of status, the status before; of what a run ``reinforced``, its confidence before, as
            `repr` writes a number; else an empty string.
        actor: User who did it; an empty string where nobody is known, as in the name of a run.
    """

    memory: str
    op: str
    at: int
    key: str
    run: str | None = None
    other: str | None = None
    count: int = 0
    before: str = ""
    actor: str = ""


def sure(before: str) -> float | None:
    """Return how sure a memory was before it was reinforced, None where that is not told.

    >>> sure(repr(0.7)), sure(""), sure("1.5"), sure("nan")
    (0.7, None, None, None)
    """
    try:
        found = float(before)
    except ValueError:
        return None
    return found if 0 <= found <= 1 and repr(found) == before else None
