"""Weighed: the signs of a clause that no rule knows -> whether they speak for a lasting statement."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.signs import BITS

ENOUGH: Final = 1.2
"""Weight from which a clause is kept: in six-fold cross-validation over both dev sets eight to nine of
ten such clauses that no rule knew were labelled at .9; lower takes in more of what is said in passing, and what is
kept for ever should rather be missed than be junk."""
_BIAS: Final = 0.07
_WEIGHTS: Final = {
    "long turn": -1.90,
    "doubt": -1.56,
    "of order": -1.55,
    "fleeting": -1.39,
    "at hand": -1.27,
    "fault": -1.16,
    "under 5": -0.99,
    "moment": -0.98,
    "of today": -0.97,
    "now": -0.96,
    "pasted": -0.90,
    "of a": -0.89,
    "others": -0.81,
    "under 3": -0.72,
    "passes": -0.71,
    "coming": -0.57,
    "of other": -0.56,
    "no verb": -0.49,
    "wish": -0.40,
    "short turn": -0.39,
    "past": -0.36,
    "talks": -0.33,
    "of they": -0.30,
    "of the": -0.28,
    "first": -0.26,
    "of asks": -0.26,
    "appraises": -0.12,
    "begs": 0.03,
    "of it": 0.19,
    "of i": 0.22,
    "kin": 0.22,
    "of he": 0.32,
    "number": 0.33,
    "code": 0.37,
    "own": 0.42,
    "of name": 0.44,
    "world": 0.46,
    "habit": 0.50,
    "lived": 0.53,
    "rather": 0.69,
    "denies": 0.71,
    "of our": 0.72,
    "of my": 0.72,
    "time": 0.79,
    "over 12": 1.00,
    "named": 1.18,
    "of we": 1.24,
    "trait": 1.24,
}
"""Fitted by ``bench/weigh.py`` to the clauses of both dev sets and to sentences written for it: log odds of a sign."""
_BY_BIT: Final = {BITS[name]: weight for name, weight in _WEIGHTS.items()}


NEVER: Final = BITS["foreign"] | BITS["of you"]
"""Signs that nothing outweighs: no English word in it, or said of the assistant or read off a screen."""


def weight(signs: int) -> float:
    """Return the log odds that a clause with these signs says something lasting.

    >>> weight(BITS["of our"] | BITS["named"]) > ENOUGH > weight(BITS["of order"] | BITS["number"])
    True
    """
    if signs & NEVER:
        return -ENOUGH
    total = _BIAS
    while signs:
        bit = signs & -signs
        total += _BY_BIT.get(bit, 0)
        signs ^= bit
    return total
