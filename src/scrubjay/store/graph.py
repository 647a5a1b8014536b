"""Ports of the graph: what every store answers of concepts, categories, edges, chains, sessions and projects.

The same rules hold as for memories (`scrubjay.store.base`): a reader sees what its scope's keys see and
nothing else is returned, counted or felt. An edge is seen by who sees its own key and both of its ends, of
whatever status the memories are; of a concept, any row of it. What several visible keys say of one source,
kind and end is one edge (`GraphReader.edges`). Numbers count what the reader sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from scrubjay.memory.records import ANY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.memory.categories import Category
    from scrubjay.memory.concepts import Concept, Row
    from scrubjay.memory.edges import Edge
    from scrubjay.memory.ranking import Hit
    from scrubjay.memory.records import Record, Where
    from scrubjay.store.changes import Codes


class GraphReader(Protocol):
    """What connects memories, as one scope sees it."""

    def concepts(self, ids: Sequence[str] | None = None) -> list[Concept]:
        """Return visible rows of concepts, all or those of these ids, by id and key."""
        ...

    def concept_rows(self) -> list[Row]:
        """Return all that `concepts` would, in any order, without an object for each."""
        ...

    def concept_mark(self) -> int:
        """Return a number that differs whenever `concepts` would, within one store and one scope.

        It grows by one with each row of a visible key that is put, and never falls.
        """
        ...

    def categories(self) -> list[Category]:
        """Return the visible categories, by id."""
        ...

    def edges(
        self,
        ids: Sequence[str],
        kinds: Sequence[str],
        *,
        inward: bool = False,
        limit: int | None = None,
    ) -> list[Edge]:
        """Return visible stored edges that leave these ids, or with ``inward`` those that lead to them.

        Args:
            ids: Memories, concepts or categories; unknown ones have no edges.
            kinds: Any of `scrubjay.memory.edges.STORED`.
            inward: Those that lead to ``ids``.
            limit: Most edges of each id and kind, the heaviest first, then the smaller other end.

        Returns:
            By the id asked for (in the order given), kind, falling weight, other end. Of several visible edges
            with one source, kind and end (of several keys) a given one before a found one, then the heaviest,
            then that of the smaller key, stands for all; `degrees` and `meetings` count them once.
        """
        ...

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        """Return how many visible edges of a kind lead to each id (to any, without ``ids``); 0 is left out."""
        ...

    def meetings(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        """Return how often other concepts are referred to by the memories that refer to one.

        Args:
            concept: Its id.
            limit: Most memories looked at: those whose id's digits are greatest, so that the choice does not
                depend on when they came.

        Returns:
            Other concept to number of memories, and how many memories were looked at. Visible edges only.
        """
        ...

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        """Return the ``follows`` edges, later to earlier, that begin or end in these visible memories.

        Of three chains, told by ``rule``; each edge has weight 1, the later one's key, and as ``at`` the
        earlier one's time (event start, else recorded):

        * ``session``: memories of one session whose turns differ by one.
        * ``document``: passages of one document, without a session, whose ordinals differ by one.
        * ``project``: neighbours in (time, id) among a project's heads. A head is a memory with a project
          that is turn 0 of a session, or without session and turn stands first (ordinal 0) in its document,
          or stands in none.

        Pieces of one turn share it: each follows every piece of the turn before. Edges are ``found``, and of
        memories of whatever status.

        Returns:
            Each edge once, by rule, source, end.
        """
        ...

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        """Return a session's visible turns from ``first`` to ``last`` (inclusive), by turn, ordinal, id.

        What stands in no document comes before the pieces of the same turn that do.
        """
        ...

    def last_turn(self, session: str) -> int | None:
        """Return the greatest turn of a session's visible memories, None where it has none."""
        ...

    def page(self, after: str, limit: int, where: Where | None = None) -> list[Record]:
        """Return visible memories whose id's digits come after those of ``after`` (all when empty), in that order.

        The order is that of the hash alone, whatever the tier; ``after`` may be an id that is gone. Without
        ``where`` all are returned, of whatever status.

        Raises:
            InputError: ``after`` is neither empty nor an id of a memory.
        """
        ...

    def latest(self, where: Where, limit: int, skip: int = 0) -> list[Record]:
        """Return the visible memories that pass a filter and happened last (event start, else recorded), last first.

        Of one time, the order is that of `page`; then that of the tiers. The first ``skip`` are passed over.
        """
        ...

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, Codes]:
        """Return the windows that visible memories have of a model; those without are left out.

        Raises:
            NotFoundError: The model is not registered.
        """
        ...

    def alike(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: Where = ANY,
    ) -> list[list[Hit]]:
        """Return, for each query, the visible memories nearest to it by the best window; active ones, by default.

        The answer is that of ``nearest(fingerprint, query, where).top(limit)`` with scores below ``floor``
        left out, for all queries at once.

        Args:
            fingerprint: The model.
            queries: float32, shape (queries, dimensions), unit rows.
            limit: Most memories a query.
            floor: Least cosine.
            where: Which memories may be returned.

        Raises:
            NotFoundError: The model is not registered.
            ModelMismatchError: The queries' length is not the model's dimensions.
        """
        ...

    def projects(self) -> dict[str, str]:
        """Return place to project name, as the scope's keys know them (the smaller key wins)."""
        ...
