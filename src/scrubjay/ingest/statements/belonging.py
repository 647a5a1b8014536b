"""Belonging: what goes on for years in two words ("look after", "come from") -> the rule that keeps it, or None."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.said import Said, points
from scrubjay.ingest.statements.words import HABIT, LIVE, POINTERS, bag

_SELDOM: Final = bag("mostly usually mainly only never always primarily exclusively generally")
_MANNER: Final = HABIT | LIVE
_PAIRS: Final = {
    "look": bag("after"),
    "come": bag("from"),
    "stem": bag("from"),
    "hail": bag("from"),
    "descend": bag("from"),
    "suffer": bag("from"),
    "care": bag("for about"),
    "go": bag("for without"),
    "take": bag("care"),
    "live": bag("off"),
    "answer": bag("to"),
    "sign": bag("off"),
    "deal": bag("in"),
    "bank": bag("with"),
    "believe": bag("in"),
    "lean": bag("towards toward"),
    "opt": bag("for"),
    "get": bag("by up"),
    "stick": bag("to with"),
    "swear": bag("by"),
    "work": bag("best"),
    "focus": bag("best"),
    "learn": bag("best"),
    "sleep": bag("best"),
    "double": bag("as"),
    "moonlight": bag("as"),
    "depend": bag("on"),
    "rely": bag("on"),
}


def belongs(said: Said) -> str | None:
    """Tell what one does for years in a verb and a little word: "look after", "come from"."""
    verb, rest = said.verb, said.rest
    if not rest or said.aux:
        return None
    if verb in _MANNER and rest[0] in _SELDOM and len(rest) > 1 and rest[1] not in POINTERS:
        return "always does"
    return "does" if rest[0] in _PAIRS.get(verb, ()) and len(rest) > 1 and not points(rest[1:]) else None
