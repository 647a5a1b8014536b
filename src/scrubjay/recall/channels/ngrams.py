"""Ngrams: Plan -> Ranking by terms spelled like the query's unknown words."""

from __future__ import annotations

from scrubjay.recall.channels.ranking import WordsRanking
from scrubjay.recall.plan import Plan
from scrubjay.store.base import Reader
from scrubjay.text.tokens import TermGroup

SHORTEST = 5
"""Letters of a word that may be respelled: a shorter one is mostly a function word that the notes happen to lack,
and has too many neighbours (when: then, hen)."""
LONGEST = 100
"""Letters of one: nobody mistypes a longer word, and a store asks for each of its trigrams."""


def ngrams(
    plan: Plan, reader: Reader, frequencies: tuple[int, ...]
) -> tuple[WordsRanking | None, tuple[str, ...]]:
    """Rank by respelled words, when the visible memories lack some of the query's.

    A word that they hold needs no respelling, so the channel is silent, and free, for most queries.

    Returns:
        The ranking, None when no word was respelled; and a note for each respelling.
    """
    respelled: list[TermGroup] = []
    notes: list[str] = []
    for group, frequency in zip(plan.groups, frequencies, strict=True):
        if frequency or not SHORTEST <= len(group.word) <= LONGEST:
            continue
        near = reader.similar_terms(group.word)
        if near:
            forms = tuple(term for term, _ in near)
            respelled.append(TermGroup(group.word, forms))
            notes.append(f"{group.word} is not there; read as {', '.join(forms)}.")
    if not respelled:
        return None, ()
    scored = reader.words(respelled, plan.where)
    best = tuple(scored.top(plan.depth))
    return WordsRanking("ngram", "ngram", best, scored, scored, tuple(respelled)), tuple(notes)
