"""Vary: candidates and their records -> candidates in an order in which what is alike does not crowd together.

Maximal marginal relevance (Carbonell and Goldstein, 1998), in the unit of the scores: what shares more than half of its
words with a better one loses up to a deviation. So near equals give way to what is different, and nothing gives way
to what answers much less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from operator import attrgetter
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.records import Record
from scrubjay.text.said import vocabulary

ALIKE: Final = 1.0
"""What the same words as a better candidate's take away, in deviations. Measured with .2, .5, 1 and 2: no set loses
anything, MuSiQue's recall@5 gains .008 from 1 on (bench/LOG.md)."""
FLOOR: Final = 0.5
"""Share of words in common up to which nothing is taken. Without a floor, LongMemEval loses .025 of recall@5 and
HotpotQA .005 of recall@10: what answers one question has words in common."""
MOST: Final = 60
"""Candidates that are compared, the best: each with each, and what stands further down is seldom read."""


_STANDING: Final = attrgetter("standing")


def vary(candidates: Sequence[Candidate], records: Mapping[str, Record]) -> list[Candidate]:
    """Take from each candidate what it repeats of those before it, best first again.

    Alike are two by the idf of the words that they share, of that of all their words; idf among the candidates.
    """
    near, rest = list(candidates[:MOST]), list(candidates[MOST:])
    texts = [_Text(one, records[one.id].content) for one in near]
    weigh = _Weights([text.words for text in texts])
    for text, bits in zip(texts, _as_bits([text.words for text in texts]), strict=True):
        text.bits = bits
    chosen: list[Candidate] = []
    while texts:
        best = min(texts, key=_STANDING)
        texts.remove(best)
        chosen.append(best.told())
        bits, size = best.bits, best.size
        for one in texts:
            both = 2 * (one.bits & bits).bit_count()
            if both > size or both > one.size:
                one.liken(weigh.share(one, best))
    return chosen + rest


class _Text:
    """A candidate, its words (as bits, too, which are counted at once), their weight, and how alike a better one is."""

    __slots__ = ("alike", "bits", "candidate", "score", "size", "standing", "weight", "words")

    def __init__(self, candidate: Candidate, content: str) -> None:
        self.candidate, self.score = candidate, candidate.score
        self.words = vocabulary(content)
        self.bits, self.size, self.alike = 0, len(self.words), 0.0
        self.standing = (-self.score, candidate.id)
        self.weight: float | None = None

    def liken(self, share: float) -> None:
        """Take in how alike a better one is."""
        if share > self.alike:
            self.alike = share
            self.standing = (ALIKE * _taken(share) - self.score, self.candidate.id)

    def told(self) -> Candidate:
        """Return the candidate with what is taken from it."""
        taken = _taken(self.alike)
        if taken <= 0:
            return self.candidate
        return self.candidate.plus(Contribution("alike", self.alike, -taken, ALIKE))


def _as_bits(texts: Sequence[Set[str]]) -> list[int]:
    """Return each text's words as a number, of which a bit is a word."""
    bits: dict[str, int] = {}
    for words in texts:
        for word in words:
            if word not in bits:
                bits[word] = 1 << len(bits)
    return [sum(map(bits.__getitem__, words)) for words in texts]


class _Weights:
    """What each word weighs among some texts: counted where two of them have enough in common to ask."""

    def __init__(self, texts: Sequence[Set[str]]) -> None:
        self._texts = texts
        self._weights: dict[str, float] = {}

    def share(self, one: _Text, other: _Text) -> float:
        """Return what the words that two texts have in common weigh of all of theirs."""
        common = self._of(one.words & other.words)
        return common / (self._whole(one) + self._whole(other) - common)

    def _whole(self, text: _Text) -> float:
        if text.weight is None:
            text.weight = self._of(text.words)
        return text.weight

    def _of(self, words: Set[str]) -> float:
        if not self._weights:
            counts = Counter(chain.from_iterable(self._texts))
            idf = {count: math.log(1 + len(self._texts) / count) for count in set(counts.values())}
            self._weights = {word: idf[count] for word, count in counts.items()}
        return math.fsum(map(self._weights.__getitem__, words))


def _taken(share: float) -> float:
    return max(0.0, share - FLOOR) / (1.0 - FLOOR)
