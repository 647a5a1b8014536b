"""Statements: str -> tuple[Statement, ...] of what a person says in earnest that will matter in a month.

No model: ``prose`` leaves out what others wrote, ``clauses`` cuts, ``veto`` drops what is asked, supposed, told,
played or over tomorrow, and ``rules`` name what remains. What no rule knows is not kept: a missed fact still
stands in its turn, a wrong one would be handed out as knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.statements.clauses import Clause, clauses, sentences
from scrubjay.ingest.statements.prose import prose
from scrubjay.ingest.statements.rules import kind, lasting, righted, steps
from scrubjay.ingest.statements.veto import doubted, earnest, passing, told, unreal, unsaid

LEAST: Final = 8
"""Characters of the shortest statement: "I'm vegan"."""
MOST: Final = 400
"""Characters of the longest: nobody says one thing at such length."""
_HINT = re.compile(r"\b(?:i|i'm|im|ive|i've|my|we|we're|we've|our|always|never|ever|let's|lets|from now on|going forward|to \w+|me|before|after|this|the|no|not|actually)\b")
_SPACE = re.compile(r"\s+")
_DURABLE: Final = frozenset(("did", "decided", "got", "did once", "has done", "righted", "not but", "kin", "name", "will use", "will now"))
"""Rules whose statements outlive the day they speak of."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A stretch of a turn that says one thing worth keeping.

    Attributes:
        start: Where it begins, in code points of the turn.
        end: Where it ends.
        kind: ``preference``, ``decision``, ``fact``, ``correction`` or ``howto``.
        text: What stands there, whitespace as one space.
        rule: Name of the rule that found it.
    """

    start: int
    end: int
    kind: str
    text: str
    rule: str


def statements(text: str) -> tuple[Statement, ...]:
    """Return the lasting statements of a person's turn in order; they do not overlap.

    Args:
        text: The turn as written. An assistant's turn is not for this function.

    >>> [(found.kind, found.text) for found in statements("My sister Ana lives in Porto, what should I see there?")]
    [('fact', 'My sister Ana lives in Porto')]
    """
    plain = prose(text)
    if not _HINT.search(plain):
        return ()
    found: list[Statement] = []
    for start, end in sentences(plain, earnest(plain)):
        if unsaid(plain, start, end) and found:
            found.pop()
        if _HINT.search(plain, start, end):
            found += _of_sentence(text, plain, start, end)
    return tuple(found)


def _of_sentence(text: str, plain: str, start: int, end: int) -> Iterator[Statement]:
    parts = clauses(plain, start, end)
    open_end = next((clause.start for clause in parts if clause.asked), end)
    if open_end == start or unreal(plain, start, open_end):
        return
    asked = open_end < end
    whole = None if asked or told(plain, start, end) else steps(plain, start, end)
    if not whole and not asked and not told(plain, start, end) and not doubted(plain, start, end):
        whole = righted(plain, start, end)
    if whole:
        yield from _made(text, start, end, whole)
        return
    for clause in parts:
        if clause.asked:
            break
        if told(plain, clause.start, clause.end):
            break
        rule = _rule(plain, clause)
        if rule:
            yield from _made(text, clause.start, clause.end, rule)


def _rule(plain: str, clause: Clause) -> str | None:
    if doubted(plain, clause.start, clause.end):
        return None
    rule = lasting(plain, clause.start, clause.end)
    return None if rule and rule not in _DURABLE and passing(plain, clause.start, clause.end) else rule


def _made(text: str, start: int, end: int, rule: str) -> Iterator[Statement]:
    piece = text[start:end]
    start, end = start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
    if LEAST <= end - start <= MOST:
        yield Statement(start, end, kind(rule), _SPACE.sub(" ", text[start:end]), rule)
