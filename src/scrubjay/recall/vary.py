"""Vary: candidates and their records -> candidates in an order in which what is alike does not crowd together.

Maximal marginal relevance (Carbonell and Goldstein, 1998), in the unit of the scores: what shares more than half of its
words with a better one loses up to a deviation. So near equals give way to what is different, and nothing gives way
to what answers much less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
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


def vary(candidates: Sequence[Candidate], records: Mapping[str, Record]) -> list[Candidate]:
    """Take from each candidate what it repeats of those before it, best first again.

    Alike are two by the idf of the words that they share, of that of all their words; idf among the candidates.
    """
    near, rest = list(candidates[:MOST]), list(candidates[MOST:])
    texts = _Texts({one.id: vocabulary(records[one.id].content) for one in near})
    scores = {one.id: one.score for one in near}
    alike = dict.fromkeys(scores, 0.0)
    chosen: list[Candidate] = []
    while near:
        best = min(near, key=lambda one: (ALIKE * _taken(alike[one.id]) - scores[one.id], one.id))
        near.remove(best)
        share = alike[best.id]
        if _taken(share) > 0:
            part = Contribution("alike", share, -_taken(share), ALIKE)
            best = best.plus(part)
        chosen.append(best)
        own = texts.words[best.id]
        for one in near:
            both = texts.words[one.id] & own
            if 2 * len(both) > min(len(texts.words[one.id]), len(own)):
                alike[one.id] = max(alike[one.id], texts.share(both, one.id, best.id))
    return chosen + rest


@dataclass(slots=True)
class _Texts:
    """Candidates' words, and what each weighs: counted where two texts have enough in common to ask."""

    words: Mapping[str, Set[str]]
    _weights: dict[str, float] = field(default_factory=dict)

    def share(self, both: Set[str], one: str, other: str) -> float:
        """Return what the words that two have in common weigh of all of theirs."""
        if not self._weights:
            counts = Counter(chain.from_iterable(self.words.values()))
            idf = {count: math.log(1 + len(self.words) / count) for count in set(counts.values())}
            self._weights = {word: idf[count] for word, count in counts.items()}
        common, of_one, of_other = (
            math.fsum(map(self._weights.__getitem__, words))
            for words in (both, self.words[one], self.words[other])
        )
        return common / (of_one + of_other - common)


def _taken(share: float) -> float:
    return max(0.0, share - FLOOR) / (1.0 - FLOOR)
