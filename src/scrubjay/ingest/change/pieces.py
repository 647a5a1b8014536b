"""Pieces: str -> list[Piece]. A statement as words, numbers and dates, each in one spelling."""

from __future__ import annotations

from functools import cache

from scrubjay.ingest.change.amounts import OPENERS as NUMBER_OPENERS
from scrubjay.ingest.change.amounts import amount
from scrubjay.ingest.change.calendar import OPENERS as DATE_OPENERS
from scrubjay.ingest.change.calendar import spoken
from scrubjay.ingest.change.days import Day, clock, numeric
from scrubjay.ingest.change.figures import numerals
from scrubjay.ingest.change.piece import Piece
from scrubjay.ingest.change.tokens import tokens


def pieces(text: str, tongue: str) -> tuple[list[Piece], str]:
    """Return the pieces of a statement in its language, and the text that was not read for its length."""
    every, rest = tokens(text, tongue)
    read = list(every)
    out: list[Piece] = []
    openers = _openers(tongue)
    at = 0
    while at < len(read):
        kind, low, raw = read[at]
        if kind == "word" and low not in openers and not (low[0] == "v" and low[1:2].isdigit()):
            out.append(Piece(low, raw))
        elif kind == "mark":
            out.append(Piece(low))
        elif kind == "date" and (day := numeric(low)):
            out.append(Piece("", raw, day=day))
        elif (
            kind == "clock"
            and not (tongue in ("en", "de") and "h" in low and "u" not in low)
            and (said := clock(low))
        ):
            out.append(Piece("", raw, day=Day(minute=said[0], vague=said[1])))
        elif found := spoken(read, at) or amount(read, at, tongue):
            out += found[0]
            at += found[1] - 1
        else:
            out.append(Piece(low, raw))
        at += 1
    return out, rest


@cache
def _openers(tongue: str) -> frozenset[str]:
    """Return the words that a number or a date can begin with; most words are none of them."""
    return DATE_OPENERS | NUMBER_OPENERS | frozenset(numerals(tongue))
