"""Concepts: the dictionary of one principal, to be read and edited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, NotFoundError, SourceError
from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.ingest.dictionary import Terms
    from scrubjay.memory.looks import Web
    from scrubjay.memory.webs import ConceptPage, Known, Learned

MOST_IN_WEB: Final = 2_000
"""Concepts of one picture: more can neither be drawn nor seen."""


class Concepts:
    """What memories call things: names with their aliases, found in texts or given by a person.

    A concept is named by its name, an alias, in any case, or by its id (its shortest unique beginning).

    Example:
        >>> from scrubjay import Memory
        >>> from scrubjay.testing.hash_embedder import HashEmbedder
        >>> with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        ...     _ = memory.add("We moved the shop to k8s.")
        ...     memory.concepts.add("Kubernetes", ["k8s"]).linked
        1
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def list(self, *, query: str = "", limit: int | None = None) -> tuple[Known, ...]:
        """Return the concepts, those that most memories refer to first.

        Args:
            query: Only those with this in their name or in an alias, in any case.
            limit: Most concepts; None for all.

        Raises:
            InputError: The limit is below 1.
        """
        from scrubjay.recall.webs import concepts

        if limit is not None and limit < 1:
            raise InputError(f"limit is {limit}; it must be at least 1.")
        with self._desk.store.reader(self._desk.scope) as reader:
            return tuple(concepts(reader, query)[:limit])

    def show(self, name: str) -> ConceptPage:
        """Return one concept with the concepts related to it and some of its memories.

        Raises:
            NotFoundError: There is none.
        """
        from scrubjay.recall.webs import concept_page

        with self._desk.store.reader(self._desk.scope) as reader:
            return concept_page(reader, name)

    def web(self, *, query: str = "", limit: int = 150) -> Web:
        """Return the concepts that most memories refer to, and which of them are referred to together.

        Args:
            query: Only those with this in their name or in an alias, in any case.
            limit: Most concepts, 1 to 2,000.

        Raises:
            InputError: The limit is out of range.
        """
        from scrubjay.recall.ties import ties

        if not 1 <= limit <= MOST_IN_WEB:
            raise InputError(f"limit is {limit}; it must lie between 1 and {MOST_IN_WEB:,}.")
        with self._desk.store.reader(self._desk.scope) as reader:
            return ties(reader, limit, query)

    def add(
        self, name: str, aliases: Sequence[str] = (), *, visibility: str = "user", group: str | None = None
    ) -> Learned:
        """Add a concept to the dictionary, or aliases to one that is there, and link the memories of before.

        Args:
            name: What to call it; a known name or alias means that concept.
            aliases: Other names that mean it.
            visibility: Who shall know it: ``user``, ``group`` or ``public``.
            group: The group, with visibility ``group``.

        Raises:
            InputError: A name cannot be a concept's (it says why), or the visibility is not the caller's.
        """
        from scrubjay.ingest.dictionary import check, given

        if isinstance(aliases, str):
            raise InputError(f"aliases is {aliases!r}, one text; give a list of them. Nothing was written.")
        terms = given([[name, *aliases]])
        for each in (terms[0].name, *terms[0].aliases):
            check(each)
        return self._teach(terms, visibility, group)

    def add_many(
        self,
        rows: Iterable[str | Sequence[str]],
        *,
        visibility: str = "user",
        group: str | None = None,
    ) -> Learned:
        """Add many concepts: of each a name, or a list of a name and its aliases.

        What cannot be a name is left out and told in ``refused``; the rest is taken.

        Raises:
            InputError: A row is neither, or the visibility is not the caller's; nothing was written.
        """
        from scrubjay.ingest.dictionary import given

        return self._teach(given(rows), visibility, group)

    def add_file(self, file: str | Path, *, visibility: str = "user", group: str | None = None) -> Learned:
        """Add the concepts of a dictionary file: UTF-8, a concept a line, ``name, alias, alias`` as CSV.

        A line that cannot be read is left out and told in ``refused`` with its number; the rest is taken.

        Raises:
            SourceError: The file cannot be read; nothing was written.
            InputError: The visibility is not the caller's.
        """
        from scrubjay.ingest.dictionary import dictionary

        try:
            data = Path(file).expanduser().read_bytes()
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}. Nothing was written.") from error
        terms, broken = dictionary(data)
        done = self._teach(terms, visibility, group)
        return replace(done, refused=(*broken, *done.refused))

    def _teach(self, terms: Sequence[Terms], visibility: str, group: str | None) -> Learned:
        from scrubjay.ingest.teach import teach

        desk = self._desk
        if group is not None and visibility != "group":
            raise InputError(
                f"Group {group!r} is named, but visibility is {visibility!r}. Nothing was written.",
                hint="set visibility to group, or leave the group out",
            )
        return teach(desk.store, desk.scope, terms, desk.scope.key(visibility, group), desk.lexicons)

    def merge(self, name: str, into: str) -> Known:
        """Make one concept part of another: its names become aliases, what referred to it refers to the other.

        Returns:
            The other concept as it is now.

        Raises:
            NotFoundError: One of them is not there.
            InputError: Both are the same.
        """
        from scrubjay.ingest.reshape import merge

        one, other = self._id(name), self._id(into)
        if one == other:
            raise InputError(f"{name} and {into} are one concept already, {one}. Nothing was written.")
        merge(self._desk.store, self._desk.scope, one, other)
        return self._known(other)

    def rename(self, name: str, to: str) -> Known:
        """Call a concept something else; its id stays, and its old name still means it.

        Raises:
            NotFoundError: It is not there.
            InputError: The new name cannot be one, or means another concept.
        """
        from scrubjay.ingest.reshape import rename

        concept = self._id(name)
        rename(self._desk.store, self._desk.scope, concept, to, self._desk.lexicons)
        return self._known(concept)

    def remove(self, name: str) -> Known:
        """Take a concept out of the dictionary; nothing refers to it any more, and it is not found again.

        Returns:
            The concept as it was.

        Raises:
            NotFoundError: It is not there.
        """
        from scrubjay.ingest.reshape import remove
        from scrubjay.recall.webs import removed

        desk = self._desk
        try:
            gone = self._known(self._id(name))
        except NotFoundError:
            # A removal that was stopped midway has refused the name, and goes on here.
            with desk.store.reader(desk.scope) as reader:
                left = removed(reader, name)
            if left is None or not left.memories:
                raise
            gone = left
        remove(desk.store, desk.scope, gone.id)
        return gone

    def _id(self, name: str) -> str:
        from scrubjay.recall.webs import concept

        with self._desk.store.reader(self._desk.scope) as reader:
            return concept(reader, name).id

    def _known(self, concept: str) -> Known:
        from scrubjay.recall.webs import known

        with self._desk.store.reader(self._desk.scope) as reader:
            return known(reader, concept)
