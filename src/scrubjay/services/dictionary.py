"""Dictionary service: read and edit a principal's entities, and browse the category tree."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, NotFoundError, SourceError
from scrubjay.models.graph import CATEGORY_KINDS
from scrubjay.search import browse
from scrubjay.services.workspace import Workspace
from scrubjay.storage.interface import retry_conflicts

if TYPE_CHECKING:
    from scrubjay.entities import edits
    from scrubjay.models.views import (
        CategoryPage,
        CategorySummary,
        DictionaryReport,
        EntityNetwork,
        EntityPage,
        EntitySummary,
    )


MAX_NETWORK_CONCEPTS: Final = 2_000
"""Maximum concepts of one network."""


class Concepts:
    """The concepts that memories mention: names with their aliases, found in texts or added by hand.

    A concept is identified by its name, an alias, in any case, or by its id (its shortest unique prefix).

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
        """Return the concepts, most mentioned first.

        Args:
            query: Only those with this in their name or in an alias, in any case.
            limit: Maximum number of concepts; None for all.

        Raises:
            InputError: The limit is below 1.
        """
        if limit is not None and limit < 1:
            raise InputError(f"limit is {limit}; it must be at least 1.")
        with self._workspace.reader() as reader:
            return tuple(browse.list_entities(reader, query)[:limit])

    def show(self, name: str) -> EntityPage:
        """Return one concept with its related concepts and some of its memories.

        Raises:
            NotFoundError: There is no such concept.
        """
        with self._workspace.reader() as reader:
            return browse.entity_page(reader, name)

    def network(self, *, query: str = "", limit: int = 150) -> EntityNetwork:
        """Return the most mentioned concepts, and which of them are mentioned together.

        Args:
            query: Only those with this in their name or in an alias, in any case.
            limit: Maximum number of concepts, 1 to 2,000.

        Raises:
            InputError: The limit is out of range.
        """
        if not 1 <= limit <= MAX_NETWORK_CONCEPTS:
            raise InputError(f"limit is {limit}; it must lie between 1 and {MAX_NETWORK_CONCEPTS:,}.")
        with self._workspace.reader() as reader:
            return browse.entity_network(reader, limit, query)

    def web(self, *, query: str = "", limit: int = 150) -> EntityNetwork:
        """The former name of `network`."""
        message = "concepts.web is called concepts.network now; the old name works until the next release."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.network(query=query, limit=limit)

    def add(
        self, name: str, aliases: Sequence[str] = (), *, visibility: str = "user", group: str | None = None
    ) -> DictionaryReport:
        """Add a concept, or aliases to an existing one, and link the memories that mention it.

        Args:
            name: Its name; a known name or alias means that concept.
            aliases: Other names for it.
            visibility: Who sees it: ``user``, ``group`` or ``public``.
            group: The group, with visibility ``group``.

        Raises:
            InputError: A name is not allowed (the message says why), or the visibility is not the caller's.
        """
        from scrubjay.entities import edits

        if isinstance(aliases, str):
            raise InputError(f"aliases is {aliases!r}, one text; give a list of them. Nothing was written.")
        terms = edits.parse_names([[name, *aliases]])
        for each in (terms[0].name, *terms[0].aliases):
            edits.check_names(each)
        return self._add_names(terms, visibility, group)

    def add_many(
        self,
        rows: Iterable[str | Sequence[str]],
        *,
        visibility: str = "user",
        group: str | None = None,
    ) -> DictionaryReport:
        """Add many concepts, each a name, or a list of a name and its aliases.

        Names that are not allowed are listed in ``refused``; the rest is added.

        Raises:
            InputError: A row is neither, or the visibility is not the caller's; nothing was written.
        """
        from scrubjay.entities import edits

        return self._add_names(edits.parse_names(rows), visibility, group)

    def add_file(
        self, file: str | Path, *, visibility: str = "user", group: str | None = None
    ) -> DictionaryReport:
        """Add the concepts of a dictionary file: UTF-8 CSV, ``name, alias, alias`` on each line.

        Invalid lines are listed in ``refused`` with their number; the rest is added.

        Raises:
            SourceError: The file cannot be read; nothing was written.
            InputError: The visibility is not the caller's.
        """
        from scrubjay.entities import edits

        try:
            data = Path(file).expanduser().read_bytes()
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}. Nothing was written.") from error
        terms, broken = edits.parse_dictionary(data)
        done = self._add_names(terms, visibility, group)
        return replace(done, refused=(*broken, *done.refused))

    def _add_names(
        self, terms: Sequence[edits.EntityNames], visibility: str, group: str | None
    ) -> DictionaryReport:
        from scrubjay.entities import edits

        workspace = self._workspace
        if group is not None and visibility != "group":
            raise InputError(
                f"Group {group!r} is named, but visibility is {visibility!r}. Nothing was written.",
                hint="set visibility to group, or leave the group out",
            )
        key = workspace.scope.key(visibility, group)
        return retry_conflicts(
            lambda: edits.teach_names(workspace.store, workspace.scope, terms, key, workspace.dictionaries)
        )

    def merge(self, name: str, into: str) -> EntitySummary:
        """Merge one concept into another, and return the other: names become aliases, mentions are moved.

        Raises:
            NotFoundError: One of them does not exist.
            InputError: Both are the same.
        """
        return retry_conflicts(lambda: self._merge(name, into))

    def _merge(self, name: str, into: str) -> EntitySummary:
        from scrubjay.entities import edits

        one, other = self._id(name), self._id(into)
        if one == other:
            raise InputError(f"{name} and {into} are one concept already, {one}. Nothing was written.")
        edits.merge_entity(self._workspace.store, self._workspace.scope, one, other)
        return self._summary(other)

    def rename(self, name: str, to: str) -> EntitySummary:
        """Rename a concept; its id stays, and the old name becomes an alias.

        Raises:
            NotFoundError: It does not exist.
            InputError: The new name is not allowed, or means another concept.
        """
        return retry_conflicts(lambda: self._rename(name, to))

    def _rename(self, name: str, to: str) -> EntitySummary:
        from scrubjay.entities import edits

        concept = self._id(name)
        edits.rename_entity(
            self._workspace.store, self._workspace.scope, concept, to, self._workspace.dictionaries
        )
        return self._summary(concept)

    def remove(self, name: str) -> EntitySummary:
        """Remove a concept from the dictionary, and return it; it is not detected again.

        Raises:
            NotFoundError: It does not exist.
        """
        return retry_conflicts(lambda: self._remove(name))

    def _remove(self, name: str) -> EntitySummary:
        from scrubjay.entities import edits

        workspace = self._workspace
        try:
            removed = self._summary(self._id(name))
        except NotFoundError:
            # An interrupted removal has already refused the name; continue it.
            with workspace.reader() as reader:
                interrupted = browse.removed_entity(reader, name)
            if interrupted is None or not interrupted.memories:
                raise
            removed = interrupted
        edits.remove_entity(workspace.store, workspace.scope, removed.id)
        return removed

    def _id(self, name: str) -> str:
        with self._workspace.reader() as reader:
            return browse.find_entity(reader, name).id

    def _summary(self, concept: str) -> EntitySummary:
        with self._workspace.reader() as reader:
            return browse.entity_by_id(reader, concept)


class Categories:
    """Topics, found in the texts of memories, and paths: their folders and headings.

    A category is identified by its name, by a path of names (``Handbook > Leave``), or by its id.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, *, kind: str | None = None, depth: int | None = None) -> tuple[CategorySummary, ...]:
        """Return the categories as a tree in reading order, each before its children.

        Args:
            kind: ``topic`` or ``path``; None for both.
            depth: Levels from the top; None for all.

        Raises:
            InputError: The kind is unknown, or the depth is below 1.
        """
        if kind is not None and kind not in CATEGORY_KINDS:
            raise InputError(f"Kind {kind!r} is not one of {', '.join(CATEGORY_KINDS)}.")
        if depth is not None and depth < 1:
            raise InputError(f"depth is {depth}; it must be at least 1.")
        with self._workspace.reader() as reader:
            categories = browse.category_tree(reader)
        return tuple(
            category
            for category in categories
            if kind in (None, category.kind) and (depth is None or category.depth < depth)
        )

    def show(self, name: str) -> CategoryPage:
        """Return one category with its children and some of its memories.

        Raises:
            NotFoundError: There is no such category.
        """
        with self._workspace.reader() as reader:
            return browse.category_page(reader, name)
