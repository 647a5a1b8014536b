"""Weighed: the rule and the signs of a clause -> whether they speak for a lasting statement."""

from __future__ import annotations

from functools import cache
from typing import Final

from scrubjay.ingest.statements.signs import BITS
from scrubjay.ingest.statements.weights import BIAS, BY_SUBJECT, WEIGHTS

ENOUGH: Final = 1.3
"""Log odds from which a clause is kept, its rule included: fitted without one of three labelled sets at a time,
91 % of what is kept of that set is right (``bench/weigh.py --cross``), of a fourth .81. What is kept for ever should
rather be missed than be junk."""
RULED: Final = 5.5
"""Log odds that a rule adds to its clause: nearly all that such rules find lasts, on blind turns too. Only the plainest
signs of the moment outweigh it."""
RULED_LOOSELY: Final = 1.0
"""The same of a rule that finds what passes as well: most of what was wrong on blind turns was theirs."""
_LOOSE: Final = frozenset(
    (
        "kin",
        "has",
        "name",
        "did so",
        "possession",
        "to me",
        "person",
        "of them",
        "is doing",
        "in general",
        "at large",
    )
)
NEVER: Final = BITS["foreign"] | BITS["of you"]
"""Signs that nothing but a rule outweighs: no English word in it, or said of the assistant or read off a screen."""
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


def kept(rule: str, signs: int, *, only: bool = False) -> bool:
    """Tell whether a clause is kept.

    Args:
        rule: The rule that knows it; "" for none.
        signs: Its signs.
        only: Whether the turn tells nothing else: "My pronouns are they/them." is said to be known.
    """
    if rule and (only or rule[:7] == "foreign"):
        return True
    if not rule and signs & NEVER:
        return False
    return weight(signs) + ruled(rule) >= ENOUGH


def ruled(rule: str) -> float:
    """Return the log odds that a rule adds; 0 for none."""
    return (RULED_LOOSELY if rule in _LOOSE else RULED) if rule else 0.0


def weight(signs: int) -> float:
    """Return the log odds that a clause with these signs says something lasting, its rule left out.

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
