"""Weighed: the signs of a clause -> whether they speak for a lasting statement."""

from __future__ import annotations

from functools import cache
from typing import Final

from scrubjay.ingest.statements.signs import BITS
from scrubjay.ingest.statements.weights import BIAS, BY_SUBJECT, WEIGHTS

ENOUGH: Final = 2.5
"""Log odds from which a clause is kept: fitted without it, all that is learned of one labelled set and .93 of another
is right (bench/LOG.md). What is kept for ever should rather be missed than be junk."""
NEVER: Final = BITS["foreign"] | BITS["of you"] | BITS["no verb"]
"""Signs that nothing outweighs: no small word of a known language or no verb in it, or said of the assistant."""
GROUPS: Final = {
    "of i": "I",
    "of we": "I",
    "of my": "mine",
    "of our": "mine",
    "of the": "the",
    "of it": "the",
    "of a": "the",
    "of he": "they",
    "of they": "they",
    "of order": "order",
}
"""Subjects whose predicates are weighed alike; all others are "other"."""
_SUBJECTS: Final = (1 << sum(name.startswith("of ") for name in BITS if name != "of today")) - 1


def kept(signs: int) -> bool:
    """Tell whether a clause with these signs is kept."""
    return not signs & NEVER and weight(signs) >= ENOUGH


def weight(signs: int) -> float:
    """Return the log odds that a clause with these signs says something lasting.

    >>> weight(BITS["of our"] | BITS["named"]) > weight(BITS["of order"] | BITS["number"])
    True
    """
    table, total = _table(signs & _SUBJECTS), BIAS
    while signs:
        bit = signs & -signs
        total += table.get(bit, 0)
        signs ^= bit
    return total


@cache
def _table(subject: int) -> dict[int, float]:
    """Return the weight of each bit in clauses with this subject."""
    group = next((group for name, group in GROUPS.items() if subject & BITS[name]), "other")
    own = BY_SUBJECT.get(group, {})
    return {BITS[name]: WEIGHTS.get(name, 0) + own.get(name, 0) for name in BITS}
