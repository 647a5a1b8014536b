"""Admit: memories, best first, and what speaks for each -> those that may answer, or why there is no answer.

By default an answer is left alone as soon as one of its first memories is likely enough to answer: what follows it
costs nothing, and an order that is better than this estimate stays whole. Only where none is, all of it is left out. A
number that a caller names is asked of each memory by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.memory.ranking import Candidate
from scrubjay.recall.relevance import Sign

FIRST: Final = 5
"""Memories of an answer of which one must be likely enough: how much was asked for must not decide it."""

CLOSE: Final = 0.1
"""Share of the best relevance from which on a memory is evidence beside it: a context of a mixed store takes 629 tokens
instead of 769 and loses none of 55 answers of 60; at .15 528 tokens and 51 answers (bench/LOG.md)."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """What may answer.

    Attributes:
        candidates: Best first.
        silence: One sentence, where nothing may; else empty.
    """

    candidates: tuple[Candidate, ...]
    silence: str = ""


def admit(candidates: Sequence[Candidate], signs: Mapping[str, Sign], least: float | None) -> Admitted:
    """Leave out what does not answer.

    Memories of which nothing can be told stay, since nothing speaks against them.

    Args:
        candidates: Best first.
        signs: What speaks for each of them.
        least: Relevance that each must have, or None for silence where none of the first has what is usual.
    """
    every = tuple(candidates)
    first = [signs[one.id] for one in every[:FIRST]]
    if least is None:
        if not first or any(sign.enough or not sign.told for sign in first):
            return Admitted(every)
        kept: tuple[Candidate, ...] = ()
    else:
        kept = tuple(one for one in every if _passes(signs[one.id], least))
    if kept or not every:
        return Admitted(kept)
    nearest = max(signs[one.id].relevance for one in every)
    return Admitted(
        (),
        f"Nothing stored answers this: the nearest memory has relevance {nearest:.3f}; "
        "min_relevance=0 shows it.",
    )


def told_unasked(admitted: Admitted, signs: Mapping[str, Sign]) -> list[Candidate]:
    """Return those of an answer that are told to somebody who asked for no memories.

    Each is likely enough by itself, and not far less likely than the likeliest: an answer needs its evidence, and not
    all that has a word in common with the question.

    Where there is an answer because one of its first memories is likely enough, that one is among them; where nothing
    can be told of relevance, it goes by what is known: a guess costs who did not ask more than silence.

    Args:
        admitted: What a search would answer.
        signs: What speaks for each.
    """
    best = max((signs[one.id].relevance for one in admitted.candidates), default=0.0)
    return [one for one in admitted.candidates if signs[one.id].enough and close(signs[one.id], best)]


def close(sign: Sign, best: float) -> bool:
    """Return whether a memory is close to the likeliest of an answer, or an exact hit."""
    return sign.exact or sign.relevance >= CLOSE * best


def _passes(sign: Sign, least: float) -> bool:
    return sign.exact or not sign.told or sign.relevance >= least
