"""Diversity: maximal marginal relevance, and caps per conversation and document.

Maximal marginal relevance (Carbonell and Goldstein, 1998) on the scale of the scores: a candidate that shares more
than half of its words with a better one loses up to a deviation. Candidates over a cap only move behind the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Final

from scrubjay.models.records import Record
from scrubjay.models.results import MICRO, Candidate, Contribution
from scrubjay.search.request import ResultCaps
from scrubjay.text.paraphrase import content_vocabulary

SIMILARITY_WEIGHT: Final = 1.0
"""Deviations that a candidate with the same words as a better one loses. With .2, .5, 1 and 2 no set loses anything;
MuSiQue's R@5 gains .008 from 1 on (bench/LOG.md)."""
MIN_SIMILARITY: Final = 0.5
"""Similarity up to which nothing is lost. Without it LongMemEval loses .025 of R@5 and HotpotQA .005 of R@10: all
answers to one question share words."""
MAX_REORDERED: Final = 60
"""Candidates that are compared with each other, the best ones."""


@dataclass(slots=True, eq=False)
class _Text:
    candidate: Candidate
    words: Set[str]
    bits: int
    rank: tuple[float, str]
    alike: float = 0.0
    """Greatest similarity to a better candidate."""
    weight: float | None = None


def maximal_marginal_relevance(
    candidates: Sequence[Candidate], records: Mapping[str, Record]
) -> list[Candidate]:
    """Demote candidates that repeat better ones, by the idf of shared words over the idf of all their words."""
    texts: list[_Text] = []
    bits: dict[str, int] = {}
    for one in candidates[:MAX_REORDERED]:
        words = content_vocabulary(records[one.id].content)
        for word in words:
            if word not in bits:
                bits[word] = 1 << len(bits)
        texts.append(_Text(one, words, sum(map(bits.__getitem__, words)), (-one.score, one.id)))
    every = list(texts)
    idf: dict[str, float] = {}

    def weigh(words: Set[str]) -> float:
        if not idf:  # only where two texts have enough in common
            counts = Counter(chain.from_iterable(text.words for text in every))
            idf.update({word: math.log(1 + len(every) / count) for word, count in counts.items()})
        return math.fsum(map(idf.__getitem__, words))

    chosen: list[Candidate] = []
    while texts:
        best = min(texts, key=attrgetter("rank"))
        texts.remove(best)
        penalty = _penalty(best.alike)
        part = Contribution("alike", best.alike, -penalty, SIMILARITY_WEIGHT)
        chosen.append(best.candidate.plus(part) if penalty > 0 else best.candidate)
        size = len(best.words)
        for other in texts:
            shared = 2 * (other.bits & best.bits).bit_count()
            if shared <= size and shared <= len(other.words):
                continue
            for text in (other, best):
                if text.weight is None:
                    text.weight = weigh(text.words)
            common = weigh(other.words & best.words)
            share = common / ((other.weight or 0.0) + (best.weight or 0.0) - common)
            if share > other.alike:
                other.alike = share
                loss = SIMILARITY_WEIGHT * _penalty(share)
                other.rank = (loss - other.candidate.score, other.candidate.id)
    return chosen + list(candidates[MAX_REORDERED:])


def _penalty(share: float) -> float:
    return max(0.0, share - MIN_SIMILARITY) / (1.0 - MIN_SIMILARITY)


def apply_caps(
    candidates: Sequence[Candidate], records: Mapping[str, Record], most: ResultCaps
) -> list[Candidate]:
    """Move candidates over a cap behind all others, each group in its order."""
    counted: Counter[tuple[str, ...]] = Counter()
    within: list[Candidate] = []
    above: list[tuple[Candidate, int]] = []
    for one in candidates:
        group, cap = _cap_group(records[one.id], most)
        if cap:
            counted[group] += 1
        if cap and counted[group] > cap:
            above.append((one, counted[group]))
        else:
            within.append(one)
    if not above or not within:
        return list(candidates)
    # One amount for all of them keeps their order, and brings the best of them just below the last that is not over.
    lower = max(0.0, above[0][0].score - within[-1].score + 1 / MICRO)
    return within + [one.plus(Contribution("cap", float(place), -lower, 1.0)) for one, place in above]


def _cap_group(record: Record, most: ResultCaps) -> tuple[tuple[str, ...], int]:
    """Return the group a memory is counted in, and its cap; 0 for none."""
    if record.pinned or record.tier != "observation":
        return (), 0
    if record.session is not None and record.turn is not None:
        return ("session", record.session), most.session
    if record.place is not None:
        return ("document", record.place.source, record.place.path), most.document
    return (), 0
