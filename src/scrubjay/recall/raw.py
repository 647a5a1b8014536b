"""Raw: rankings -> candidates, each channel on its own scale from 0 to 1, as vLLM's semantic-router adds them.

    score = w_vector · cosine + w_bm25 · x / (x + 1) + w_ngram · Jaccard

with x the BM25 score and Jaccard that of the texts' character trigrams. A score means the same in every answer, so a
threshold can be named; but how near the unrelated are to each other by a model, and how much a rare word weighs in a
store, is not taken out of it as z-scores do. A model that has not embedded a memory yet is foretold by the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.recall.channels.ranking import Ranking, Weight
from scrubjay.recall.plan import Plan
from scrubjay.store.base import Reader
from scrubjay.text.grams import similarity

Letters: TypeAlias = tuple[float, str, Callable[[Sequence[str]], Mapping[str, str]]]
"""What trigrams weigh, the query, and what reads the texts of memories."""


def raw(
    rankings: Sequence[Ranking],
    ids: Sequence[str],
    weights: Mapping[str, Weight],
    by_letters: Letters | None = None,
) -> list[Candidate]:
    """Add up what each channel says of each memory by itself.

    Args:
        rankings: The channels' answers; respelled words are left out, trigrams of the whole texts stand for them.
        ids: Memories to score.
        weights: Channel to weight.
        by_letters: What trigrams weigh, the query, and what reads the memories' texts; None without them.
    """
    found: dict[str, list[Contribution]] = {memory: [] for memory in ids}
    base: dict[str, float] = {}
    for ranking in rankings:
        if ranking.kind == "ngram":
            continue
        weight = weights.get(ranking.channel, Weight(0.0, 0.0)).passage
        for memory, score in zip(ids, ranking.scored.of(ids), strict=True):
            if score is not None:
                value = score / (score + 1.0) if ranking.kind == "bm25" else score
                found[memory].append(Contribution(ranking.channel, score, value, weight))
                if ranking.kind == "vector":
                    base.setdefault(memory, score)
            elif memory in base:
                known = base[memory]
                found[memory].append(Contribution(f"{ranking.channel} (foretold)", known, known, weight))
    if by_letters is not None and by_letters[0] > 0:
        weight, query, texts = by_letters
        for memory, text in texts(list(ids)).items():
            alike = similarity(query, text)
            found[memory].append(Contribution("ngram", alike, alike, weight))
    return [Candidate(memory, tuple(parts)) for memory, parts in found.items()]


def letters(made: Plan, reader: Reader) -> Letters | None:
    """Return what compares the query's trigrams with the memories', where the caller wants that channel."""
    if "ngram" not in made.channels:
        return None

    def texts(ids: Sequence[str]) -> dict[str, str]:
        return {memory: record.content for memory, record in reader.get(ids).items()}

    return made.weights.get("ngram", 0.0), made.query.text, texts
