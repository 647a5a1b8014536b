"""Categories: the hierarchy of topics and places that one principal's memories stand in, to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InputError
from scrubjay.memory.categories import KINDS
from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.memory.webs import Shelf, ShelfPage


class Categories:
    """Topics, found in what memories say, and paths: the folders and headings that they stand under.

    A category is named by its name, by a path of names (``Handbook > Leave``), or by its id.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def list(self, *, kind: str | None = None, depth: int | None = None) -> tuple[Shelf, ...]:
        """Return the categories as a tree read from top to bottom, each before those below it.

        Args:
            kind: ``topic`` or ``path``; None for both.
            depth: Levels from the top; None for all.

        Raises:
            InputError: The kind is unknown, or the depth is below 1.
        """
        from scrubjay.recall.webs import categories

        if kind is not None and kind not in KINDS:
            raise InputError(f"Kind {kind!r} is not one of {', '.join(KINDS)}.")
        if depth is not None and depth < 1:
            raise InputError(f"depth is {depth}; it must be at least 1.")
        with self._desk.store.reader(self._desk.scope) as reader:
            shelves = categories(reader)
        return tuple(
            shelf
            for shelf in shelves
            if kind in (None, shelf.kind) and (depth is None or shelf.depth < depth)
        )

    def show(self, name: str) -> ShelfPage:
        """Return one category with those right below it and some of its memories.

        Raises:
            NotFoundError: There is none.
        """
        from scrubjay.recall.webs import category_page

        with self._desk.store.reader(self._desk.scope) as reader:
            return category_page(reader, name)
