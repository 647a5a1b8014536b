"""Categories: nodes in a hierarchy of topics or places. A rebuildable index over memories, never a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KINDS: Final = ("topic", "path")
"""Found in the content (clusters of vectors), or in folders and headings."""


@dataclass(frozen=True, slots=True)
class Category:
    """One node, made of the memories of one visibility key alone.

    Attributes:
        id: ``cat_`` and a keyed hash of its key, kind, parent and the name it was born with.
        key: Visibility key of all of its memories.
        kind: One of ``KINDS``.
        name: How it is shown; a topic's distinctive terms, a folder's or heading's name.
        parent: Id of the category above, or None at the top.
        abstract: L0: one phrase of what it holds.
        overview: L1: a paragraph of what it holds.
        model: Fingerprint of the model of ``centroid``, empty without one.
        centroid: Direction of its members' mean vector as int8 codes, one byte a dimension; empty for paths.
        at: UTC microseconds when it was last written.
        built: Memories that its key held when its hierarchy was last built in full; 0 for paths.
    """

    id: str
    key: str
    kind: str
    name: str
    parent: str | None = None
    abstract: str = ""
    overview: str = ""
    model: str = ""
    centroid: bytes = b""
    at: int = 0
    built: int = 0
