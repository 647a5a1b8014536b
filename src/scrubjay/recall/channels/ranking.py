"""Ranking: what one channel says of every visible memory, its best hits, and what it weighs."""

from __future__ import annotations

from dataclasses import dataclass

from scrubjay.memory.ranking import Hit
from scrubjay.store.base import Scored, WordsScored
from scrubjay.text.tokens import TermGroup


@dataclass(frozen=True, slots=True)
class Ranking:
    """One channel's answer.

    Attributes:
        channel: ``bm25``, ``graph``, ``ngram`` or ``vector:<model name>``.
        kind: ``bm25``, ``graph``, ``ngram`` or ``vector``: what weights are given by.
        hits: Its best, best first.
        scored: Its score of any memory, with mean and deviation over the visible.
    """

    channel: str
    kind: str
    hits: tuple[Hit, ...]
    scored: Scored


@dataclass(frozen=True, slots=True)
class WordsRanking(Ranking):
    """Words' answer, with what each word gave.

    Attributes:
        words: The score of any memory, word by word.
        groups: The words that were asked for, in the order of their parts.
    """

    words: WordsScored
    groups: tuple[TermGroup, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """What a channel weighs: for passages, and for turns of a conversation."""

    passage: float
    turn: float
