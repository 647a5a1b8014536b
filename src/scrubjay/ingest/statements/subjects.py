"""Subjects: words of a clause -> the same clause with a plain subject: "both my kids are" -> "my kids are"."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.things import BARE_KIN, KIN
from scrubjay.ingest.statements.words import NUMBERS, bag

NEAR: Final = 6
"""Words within which "my wife and I" is said."""

_SHARES: Final = bag("both all some half most many neither none one each either any") | NUMBERS
_DENYING: Final = bag("neither none")


def plain(words: list[str], at: int, last: int) -> list[str] | None:
    """Return the words of the clause with a plain subject; None where it has one already.

    >>> plain("me and my wife teach".split(), 0, 5)
    ['we', 'teach']
    >>> plain("both my kids are coeliac".split(), 0, 5)
    ['my', 'kids', 'are', 'coeliac']
    """
    word = words[at]
    if word in _SHARES or word.isdigit():
        return _shared(words, at, last)
    if word == "me" and words[at + 1 : at + 2] == ["and"]:
        return _paired(words, at + 2, last)
    for near in range(at + 1, min(at + NEAR, last - 1)):
        if words[near] == "and":
            if words[near + 1] in ("i", "me", "myself"):
                return ["we", *words[near + 2 : last]]
            return None
    return None


def _shared(words: list[str], at: int, last: int) -> list[str] | None:
    on = at + 1 + (words[at + 1 : at + 2] == ["of"])
    if on + 1 >= last:
        return None
    if words[on] in ("us", "ours"):
        denied = ["never"] if words[at] in _DENYING else []
        return ["we", *denied, *_bared(words[on + 1 : last])]
    return words[on:last] if words[on] in ("my", "our") and words[at] not in _DENYING else None


def _paired(words: list[str], on: int, last: int) -> list[str] | None:
    """Return what "me and my wife" or "me and Sam" do."""
    for end in range(on, min(on + NEAR, last - 1)):
        if words[end] in KIN or words[end] in BARE_KIN or words[on] not in ("my", "our", "the"):
            return ["we", *words[end + 1 : last]]
    return None


def _bared(said: list[str]) -> list[str]:
    """Return what is said as "we" say it: "drives" becomes "drive"."""
    verb = said[0]
    known = {"is": "are", "has": "have", "does": "do", "was": "were"}
    if verb in known:
        return [known[verb], *said[1:]]
    return [verb[:-1] if verb[-1:] == "s" and verb[-2:] != "ss" else verb, *said[1:]]
