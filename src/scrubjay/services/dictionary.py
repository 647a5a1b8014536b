"""Dictionary service: read and edit a principal's entities, and browse the category tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, NotFoundError, SourceError
from scrubjay.models.graph import CATEGORY_KINDS
from scrubjay.services.workspace import Workspace

if TYPE_CHECKING:
    from scrubjay.entities.edits import EntityNames
    from scrubjay.models.views import (
        CategoryPage,
        CategorySummary,
        DictionaryReport,
        EntityNetwork,
        EntityPage,
        EntitySummary,
    )


MAX_WEB_CONCEPTS: Final = 2_000
"""Concepts of one picture: more can neither be drawn nor seen."""


class Concepts:
    """What memories call things: names with their aliases, found in texts or given by a person.

    A concept is named by its name, an alias, in any case, or by its id (its shortest unique beginning).

    Example:
        >>> from scrubjay import Memory
        >>> from scrubjay.embeddings.hash_embedder import HashEmbedder
        >>> with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        ...     _ = memory.add("We moved the shop to k8s.")
        ...     memory.concepts.add("Kubernetes", ["k8s"]).linked
        1
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, *, query: str = "", limit: int | None = None) -> tuple[EntitySummary, ...]:
        """Return the concepts, those that most memories refer to first.

        Args:
            query: Only those with this in their name or in an alias, in any case.
            limit: Most concepts; None for all.

        Raises:
            InputError: The limit is below 1.
        """
        from scrubjay.search.browse import list_entities

        if limit is not None and limit < 1:
            raise InputError(f"limit is {limit}; it must be at least 1.")
        with self._workspace.store.reader(self._workspace.scope) as reader:
            return tuple(list_entities(reader, query)[:limit])

    def show(self, name: str) -> EntityPage:
        """Return one concept with the concepts related to it and some of its memories.

        Raises:
            NotFoundError: There is none.
        """
        from scrubjay.search.browse import entity_page

        with self._workspace.store.reader(self._workspace.scope) as reader:
            return entity_page(reader, name)

    def web(self, *, query: str = "", limit: int = 150) -> EntityNetwork:
        """Return the concepts that most memories refer to, and which of them are referred to together.

        Args:
            query: Only those with this in their name or in an alias, in any case.
            limit: Most concepts, 1 to 2,000.

        Raises:
            InputError: The limit is out of range.
        """
        from scrubjay.search.browse import entity_network

        if not 1 <= limit <= MAX_WEB_CONCEPTS:
            raise InputError(f"limit is {limit}; it must lie between 1 and {MAX_WEB_CONCEPTS:,}.")
        with self._workspace.store.reader(self._workspace.scope) as reader:
            return entity_network(reader, limit, query)

    def add(
        self, name: str, aliases: Sequence[str] = (), *, visibility: str = "user", group: str | None = None
    ) -> DictionaryReport:
        """Add a concept to the dictionary, or aliases to one that is there, and link the memories of before.

        Args:
            name: What to call it; a known name or alias means that concept.
            aliases: Other names that mean it.
            visibility: Who shall know it: ``user``, ``group`` or ``public``.
            group: The group, with visibility ``group``.

        Raises:
            InputError: A name cannot be a concept's (it says why), or the visibility is not the caller's.
        """
        from scrubjay.entities.edits import check_names, parse_names

        if isinstance(aliases, str):
            raise InputError(f"aliases is {aliases!r}, one text; give a list of them. Nothing was written.")
        terms = parse_names([[name, *aliases]])
        for each in (terms[0].name, *terms[0].aliases):
            check_names(each)
        return self._teach(terms, visibility, group)

    def add_many(
        self,
        rows: Iterable[str | Sequence[str]],
        *,
        visibility: str = "user",
        group: str | None = None,
    ) -> DictionaryReport:
        """Add many concepts: of each a name, or a list of a name and its aliases.

        What cannot be a name is left out and told in ``refused``; the rest is taken.

        Raises:
            InputError: A row is neither, or the visibility is not the caller's; nothing was written.
        """
        from scrubjay.entities.edits import parse_names

        return self._teach(parse_names(rows), visibility, group)

    def add_file(
        self, file: str | Path, *, visibility: str = "user", group: str | None = None
    ) -> DictionaryReport:
        """Add the concepts of a dictionary file: UTF-8, a concept a line, ``name, alias, alias`` as CSV.

        A line that cannot be read is left out and told in ``refused`` with its number; the rest is taken.

        Raises:
            SourceError: The file cannot be read; nothing was written.
            InputError: The visibility is not the caller's.
        """
        from scrubjay.entities.edits import parse_dictionary

        try:
            data = Path(file).expanduser().read_bytes()
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}. Nothing was written.") from error
        terms, broken = parse_dictionary(data)
        done = self._teach(terms, visibility, group)
        return replace(done, refused=(*broken, *done.refused))

    def _teach(self, terms: Sequence[EntityNames], visibility: str, group: str | None) -> DictionaryReport:
        from scrubjay.entities.edits import teach_names

        workspace = self._workspace
        if group is not None and visibility != "group":
            raise InputError(
                f"Group {group!r} is named, but visibility is {visibility!r}. Nothing was written.",
                hint="set visibility to group, or leave the group out",
            )
        return teach_names(
            workspace.store,
            workspace.scope,
            terms,
            workspace.scope.key(visibility, group),
            workspace.dictionaries,
        )

    def merge(self, name: str, into: str) -> EntitySummary:
        """Make one concept part of another: its names become aliases, what referred to it refers to the other.

        Returns:
            The other concept as it is now.

        Raises:
            NotFoundError: One of them is not there.
            InputError: Both are the same.
        """
        from scrubjay.entities.edits import merge_entity

        one, other = self._id(name), self._id(into)
        if one == other:
            raise InputError(f"{name} and {into} are one concept already, {one}. Nothing was written.")
        merge_entity(self._workspace.store, self._workspace.scope, one, other)
        return self._known(other)

    def rename(self, name: str, to: str) -> EntitySummary:
        """Call a concept something else; its id stays, and its old name still means it.

        Raises:
            NotFoundError: It is not there.
            InputError: The new name cannot be one, or means another concept.
        """
        from scrubjay.entities.edits import rename_entity

        concept = self._id(name)
        rename_entity(self._workspace.store, self._workspace.scope, concept, to, self._workspace.dictionaries)
        return self._known(concept)

    def remove(self, name: str) -> EntitySummary:
        """Take a concept out of the dictionary; nothing refers to it any more, and it is not found again.

        Returns:
            The concept as it was.

        Raises:
            NotFoundError: It is not there.
        """
        from scrubjay.entities.edits import remove_entity
        from scrubjay.search.browse import removed_entity

        workspace = self._workspace
        try:
            gone = self._known(self._id(name))
        except NotFoundError:
            # A removal that was stopped midway has refused the name, and goes on here.
            with workspace.store.reader(workspace.scope) as reader:
                left = removed_entity(reader, name)
            if left is None or not left.memories:
                raise
            gone = left
        remove_entity(workspace.store, workspace.scope, gone.id)
        return gone

    def _id(self, name: str) -> str:
        from scrubjay.search.browse import find_entity

        with self._workspace.store.reader(self._workspace.scope) as reader:
            return find_entity(reader, name).id

    def _known(self, concept: str) -> EntitySummary:
        from scrubjay.search.browse import entity_by_id

        with self._workspace.store.reader(self._workspace.scope) as reader:
            return entity_by_id(reader, concept)


class Categories:
    """Topics, found in what memories say, and paths: the folders and headings that they stand under.

    A category is named by its name, by a path of names (``Handbook > Leave``), or by its id.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, *, kind: str | None = None, depth: int | None = None) -> tuple[CategorySummary, ...]:
        """Return the categories as a tree read from top to bottom, each before those below it.

        Args:
            kind: ``topic`` or ``path``; None for both.
            depth: Levels from the top; None for all.

        Raises:
            InputError: The kind is unknown, or the depth is below 1.
        """
        from scrubjay.search.browse import category_tree

        if kind is not None and kind not in CATEGORY_KINDS:
            raise InputError(f"Kind {kind!r} is not one of {', '.join(CATEGORY_KINDS)}.")
        if depth is not None and depth < 1:
            raise InputError(f"depth is {depth}; it must be at least 1.")
        with self._workspace.store.reader(self._workspace.scope) as reader:
            shelves = category_tree(reader)
        return tuple(
            shelf
            for shelf in shelves
            if kind in (None, shelf.kind) and (depth is None or shelf.depth < depth)
        )

    def show(self, name: str) -> CategoryPage:
        """Return one category with those right below it and some of its memories.

        Raises:
            NotFoundError: There is none.
        """
        from scrubjay.search.browse import category_page

        with self._workspace.store.reader(self._workspace.scope) as reader:
            return category_page(reader, name)
