"""Reranker: the port that everything answers to that looks at a question and a few passages together.

It knows nothing of memories, of scores before it, nor of what its scores weigh; see ``open.py`` for how one is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from scrubjay.text.tokens import TermGroup


@dataclass(frozen=True, slots=True)
class Question:
    """What passages are held against.

    Attributes:
        text: What is asked, quotes and exclusions taken out of their marks.
        groups: Its words.
        rarity: The idf of each word, among what who asks may see; a reranker that sends anything away leaves it out.
    """

    text: str
    groups: tuple[TermGroup, ...] = ()
    rarity: tuple[float, ...] = ()


class Reranker(Protocol):
    """Says how well each of a few passages answers a question. It may be slow, wrong, away or hostile."""

    @property
    def name(self) -> str:
        """What it is called in an answer's ``partial``: the model's name, or what it does."""
        ...

    @property
    def host(self) -> str:
        """Host and port that passages are sent to; empty where they stay on this machine."""
        ...

    def scores(
        self, question: Question, passages: Sequence[str], *, deadline: float
    ) -> Sequence[float | None]:
        """Score passages, all of them or none.

        Args:
            question: What is asked.
            passages: Texts, of any length.
            deadline: Seconds for the whole call, tries included; loading a model for the first time is not counted.

        Returns:
            A number each, in their order, larger for what answers better; their unit is the reranker's own. None for a
            passage of which it has no opinion.

        Raises:
            ProviderError: It was not reached, took too long, or did not answer as documented; no score is returned.
        """
        ...
