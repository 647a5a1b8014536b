"""Pieces: str -> list[Piece]. A statement as words, numbers and dates, each in one spelling."""

from __future__ import annotations

from scrubjay.ingest.change.amounts import amount
from scrubjay.ingest.change.calendar import spoken
from scrubjay.ingest.change.days import Day, clock, numeric
from scrubjay.ingest.change.piece import Piece
from scrubjay.ingest.change.tokens import tokens


def pieces(text: str, tongue: str) -> tuple[list[Piece], str]:
    """Return the pieces of a statement in its language, and the text that was not read for its length."""
    read, rest = tokens(text, tongue)
    out: list[Piece] = []
    at = 0
    while at < len(read):
        kind, low, raw = read[at]
        if kind == "mark":
            out.append(Piece(low))
        elif kind == "date" and (day := numeric(low)):
            out.append(Piece("", raw, day=day))
        elif kind == "clock" and not (tongue in ("en", "de") and "h" in low and "u" not in low) and (said := clock(low)):
            out.append(Piece("", raw, day=Day(minute=said[0], vague=said[1])))
        elif found := spoken(read, at) or amount(read, at, tongue):
            out += found[0]
            at += found[1] - 1
        else:
            out.append(Piece(low, raw))
        at += 1
    return out, rest
