"""Diversity: maximal marginal relevance, and caps per conversation and document.

Maximal marginal relevance (Carbonell and Goldstein, 1998) on the scale of the scores: a candidate that shares more
than half of its words with a better one loses up to a deviation. Candidates over a cap only move behind the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
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


_BY_RANK: Final = attrgetter("standing")


def maximal_marginal_relevance(
    candidates: Sequence[Candidate], records: Mapping[str, Record]
) -> list[Candidate]:
    """Demote candidates that repeat better ones, by the idf of shared words over the idf of all their words."""
    near, rest = list(candidates[:MAX_REORDERED]), list(candidates[MAX_REORDERED:])
    texts = [_MMRText(one, records[one.id].content) for one in near]
    weights = _WordWeights([text.words for text in texts])
    for text, bits in zip(texts, _word_bits([text.words for text in texts]), strict=True):
        text.bits = bits
    chosen: list[Candidate] = []
    while texts:
        best = min(texts, key=_BY_RANK)
        texts.remove(best)
        chosen.append(best.penalized())
        bits, size = best.bits, best.size
        for one in texts:
            both = 2 * (one.bits & bits).bit_count()
            if both > size or both > one.size:
                one.compare(weights.share(one, best))
    return chosen + rest


class _MMRText:
    """A candidate, its words (also as a bit set), their weight, and its greatest similarity to a better candidate."""

    __slots__ = ("alike", "bits", "candidate", "score", "size", "standing", "weight", "words")

    def __init__(self, candidate: Candidate, content: str) -> None:
        self.candidate, self.score = candidate, candidate.score
        self.words = content_vocabulary(content)
        self.bits, self.size, self.alike = 0, len(self.words), 0.0
        self.standing = (-self.score, candidate.id)
        self.weight: float | None = None

    def compare(self, share: float) -> None:
        if share > self.alike:
            self.alike = share
            self.standing = (SIMILARITY_WEIGHT * _penalty(share) - self.score, self.candidate.id)

    def penalized(self) -> Candidate:
        penalty = _penalty(self.alike)
        if penalty <= 0:
            return self.candidate
        return self.candidate.plus(Contribution("alike", self.alike, -penalty, SIMILARITY_WEIGHT))


def _word_bits(texts: Sequence[Set[str]]) -> list[int]:
    bits: dict[str, int] = {}
    for words in texts:
        for word in words:
            if word not in bits:
                bits[word] = 1 << len(bits)
    return [sum(map(bits.__getitem__, words)) for words in texts]


class _WordWeights:
    def __init__(self, texts: Sequence[Set[str]]) -> None:
        self._texts = texts
        self._weights: dict[str, float] = {}

    def share(self, one: _MMRText, other: _MMRText) -> float:
        common = self._of(one.words & other.words)
        return common / (self._whole(one) + self._whole(other) - common)

    def _whole(self, text: _MMRText) -> float:
        if text.weight is None:
            text.weight = self._of(text.words)
        return text.weight

    def _of(self, words: Set[str]) -> float:
        if not self._weights:
            counts = Counter(chain.from_iterable(self._texts))
            idf = {count: math.log(1 + len(self._texts) / count) for count in set(counts.values())}
            self._weights = {word: idf[count] for word, count in counts.items()}
        return math.fsum(map(self._weights.__getitem__, words))


def _penalty(share: float) -> float:
    return max(0.0, share - MIN_SIMILARITY) / (1.0 - MIN_SIMILARITY)


def apply_caps(
    candidates: Sequence[Candidate], records: Mapping[str, Record], most: ResultCaps
) -> list[Candidate]:
    """Move candidates over a cap behind all others, each group in its order."""
    counted: Counter[tuple[str, ...]] = Counter()
    kept: list[Candidate] = []
    over: list[tuple[Candidate, int]] = []
    for one in candidates:
        group, cap = _cap_group(records[one.id], most)
        if cap:
            counted[group] += 1
        if cap and counted[group] > cap:
            over.append((one, counted[group]))
        else:
            kept.append(one)
    if not over or not kept:
        return list(candidates)
    # One amount for all of them keeps their order, and brings the best of them just below the last that is not over.
    lower = max(0.0, over[0][0].score - kept[-1].score + 1 / MICRO)
    return kept + [one.plus(Contribution("cap", float(place), -lower, 1.0)) for one, place in over]


def _cap_group(record: Record, most: ResultCaps) -> tuple[tuple[str, ...], int]:
    """Return the group a memory is counted in, and its cap; 0 for none."""
    if record.pinned or record.tier != "observation":
        return (), 0
    if record.session is not None and record.turn is not None:
        return ("session", record.session), most.session
    if record.place is not None:
        return ("document", record.place.source, record.place.path), most.document
    return (), 0
