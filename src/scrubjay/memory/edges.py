"""Edges: what connects one memory to another, to a concept, to a category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KINDS: Final = (
    "belongs",
    "contradicts",
    "derived_from",
    "follows",
    "links",
    "references",
    "related_to",
    "similar",
    "supersedes",
)
"""``references`` leads to a concept, ``belongs`` to a category, ``related_to`` from concept to concept, all
others from memory to memory. ``follows`` (later to earlier) and ``related_to`` are read off what is stored
and never stored themselves, so that they are always in step and never tell of what a reader may not see."""

STORED: Final = tuple(kind for kind in KINDS if kind not in ("follows", "related_to"))
"""Kinds that a store keeps, in the order of their codes."""

EDITED: Final = "edited"
"""Rule of an edge ``supersedes`` from a memory to the text that it had before somebody changed it."""

NEWER: Final = "newer"
"""Rule of an edge ``similar`` to a statement that may be out of date, from the later one that may have changed it."""

ORIGINS: Final = ("found", "given")
"""Who made an edge: the write path, from text and vectors, or a caller. What is found again replaces what was
found before; what was given stays until it is taken away."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One typed, weighted connection, told by its source, kind, end and key.

    The key is part of its name: what a person adds for themselves between two shared memories neither
    replaces nor hides what another added, or what the shared text itself says.

    Attributes:
        src: Id of a memory (of a concept for ``related_to``).
        kind: One of ``KINDS``.
        dst: Id of a memory, a concept or a category.
        key: Visibility key of the edge itself. It is seen by who sees this key and both of its ends.
        weight: 0..1.
        at: UTC microseconds when it was made; of ``follows``, when the earlier one happened.
        origin: One of ``ORIGINS``.
        rule: What made it: ``wikilink``, ``markdown``, ``session``, ``dictionary``, … or an empty string.
        run: Run of a consolidation that made it, or None.
    """

    src: str
    kind: str
    dst: str
    key: str
    weight: float = 1.0
    at: int = 0
    origin: str = "found"
    rule: str = ""
    run: str | None = None
