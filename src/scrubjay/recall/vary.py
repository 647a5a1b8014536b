"""Vary: candidates and their records -> candidates in an order in which what is alike does not crowd together.

Maximal marginal relevance (Carbonell and Goldstein, 1998), in the unit of the scores: what shares more than half of its
words with a better one loses up to a deviation. So near equals give way to what is different, and nothing gives way
to what answers much less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.records import Record
from scrubjay.text.said import said

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
    words = {one.id: frozenset(said(records[one.id].content)) for one in near}
    counts = Counter(word for own in words.values() for word in own)
    weight = {word: math.log(1 + len(near) / count) for word, count in counts.items()}
    total = {memory: math.fsum(weight[word] for word in own) for memory, own in words.items()}
    alike = dict.fromkeys(words, 0.0)
    chosen: list[Candidate] = []
    while near:
        best = min(near, key=lambda one: (ALIKE * _taken(alike[one.id]) - one.score, one.id))
        near.remove(best)
        share = alike[best.id]
        if _taken(share) > 0:
            part = Contribution("alike", share, -_taken(share), ALIKE)
            best = replace(best, contributions=(*best.contributions, part))
        chosen.append(best)
        for one in near:
            both = words[one.id] & words[best.id]
            if 2 * len(both) > min(len(words[one.id]), len(words[best.id])):
                common = math.fsum(weight[word] for word in both)
                of_all = total[one.id] + total[best.id] - common
                alike[one.id] = max(alike[one.id], common / of_all)
    return chosen + rest


def _taken(share: float) -> float:
    return max(0.0, share - FLOOR) / (1.0 - FLOOR)
