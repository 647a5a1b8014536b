"""Rerankers: the protocol, and the query that passages are scored against.

A reranker knows nothing of memories, of earlier scores, or of its weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from scrubjay.frozen import frozen
from scrubjay.text.tokenizer import TermGroup


@frozen
class RerankQuery:
    """The query that passages are scored against.

    Attributes:
        text: The query without exclusions and quote marks.
        groups: Its words.
        rarity: The idf of each word among visible memories; never sent away.
    """

    text: str
    groups: tuple[TermGroup, ...] = ()
    rarity: tuple[float, ...] = ()


class Reranker(Protocol):
    """Scores how well each of a few passages answers a query. It may be slow, wrong, absent or hostile."""

    @property
    def name(self) -> str:
        """Its name in an answer's ``partial``."""
        ...

    @property
    def host(self) -> str:
        """Host and port that passages are sent to; empty where they stay on this machine."""
        ...

    def scores(
        self, question: RerankQuery, passages: Sequence[str], *, deadline: float
    ) -> Sequence[float | None]:
        """Score passages.

        ``deadline`` is the seconds of the whole call, tries included; loading a model for the first time is not
        counted.

        Returns:
            A number each, in their order, larger for better answers, in the reranker's own unit; None for no opinion,
            or for a passage that the time did not suffice for.

        Raises:
            ProviderError: It was not reached, took too long, or did not answer as documented.
        """
        ...
