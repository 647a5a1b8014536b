"""Kinds: words of a statement -> whether it is a correction, preference, decision, how-to or fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrubjay.ingest.statements.signs import ORDERS
from scrubjay.ingest.statements.words import CHOOSING, CHOSE, LIKE, bag

_CORRECTS: Final = bag("no nope nah wrong actually correction nein non")
_PREFERS: Final = (LIKE - {"like"}) | bag("rather favourite favorite want")
_DECIDES: Final = (CHOSE - {"committed"}) | CHOOSING | bag("let's lets decision voted agree")
_LEADS: Final = bag("to before after when whenever once every each any if")
_NORMS: Final = bag("always never don't please pls only stop")


def kind(words: Sequence[str]) -> str:
    """Return the kind of a statement with these words, in small letters.

    >>> [kind(said.split()) for said in ("i prefer tabs", "we chose tabs", "no, it's tabs", "to deploy, run make")]
    ['preference', 'decision', 'correction', 'howto']
    """
    first, there = words[0].strip(",:"), frozenset(words)
    if first in _CORRECTS:
        return "correction"
    if not _PREFERS.isdisjoint(there) or (first in ("i", "i'm") and "like" in words[1:3]):
        return "preference"
    if not _DECIDES.isdisjoint(there) or ("with" in there and "went" in there):
        return "decision"
    if first in _LEADS:
        return "howto"
    if first in ORDERS or first in _NORMS:
        return "howto" if not _LEADS.isdisjoint(words[1:]) else "preference"
    return "correction" if "not" in there and any(word[-1:] == "," for word in words) else "fact"
