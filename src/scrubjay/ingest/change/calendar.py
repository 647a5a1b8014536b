"""Spoken: tokens at a place -> the date said there in words: "3 May 2026", "the 3rd of May", "on Monday"."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.change.days import HALF_DAY, MONTHS, PLURALS, SPOKEN, WEEKDAYS, Day
from scrubjay.ingest.change.figures import numerals
from scrubjay.ingest.change.piece import Piece, Token
from scrubjay.ingest.change.words import listed

_NOON: Final = {
    "noon": HALF_DAY,
    "midday": HALF_DAY,
    "midnight": 0,
    "mittags": HALF_DAY,
    "midi": HALF_DAY,
    "minuit": 0,
}
_BEFORE: Final = listed(
    "in since until till by of last next this every from before after on early late mid around"
)
_BETWEEN: Final = frozenset((",", "of", "the", "de", "."))
_PAST: Final = {"past": 1, "after": 1, "to": -1, "before": -1}
_PARTS: Final = {"half": 30, "quarter": 15}
_HOURS: Final = numerals("en")
_DAYS: Final = range(1, 32)
_YEARS: Final = range(1900, 2101)
_YEAR_AFTER: Final = listed(
    "in since until by from year till before after early late mid summer winter spring autumn im seit"
    " en em nel dal depuis desde bis dès"
)
_ORDERED: Final = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINAL_WORDS: Final = {word: at for at, word in enumerate(_ORDERED.split(), 1)}

OPENERS: Final = frozenset((*_NOON, *_PARTS, *_ORDINAL_WORDS, *MONTHS, *WEEKDAYS, *PLURALS))
"""Words that a date or a time of day begins with."""


def spoken(read: list[Token], at: int) -> tuple[list[Piece], int] | None:
    """Return the date that begins at a token, and how many tokens it takes; None where none does."""
    kind, low, raw = read[at]
    if kind == "digits":
        return _from_day(read, at) or _year(read, at)
    if low in _NOON:
        return [Piece("", raw, day=Day(minute=_NOON[low]))], 1
    if low in _PARTS:
        return _clock(read, at)
    if low in _ORDINAL_WORDS:
        return _from_day(read, at)
    if _month(read, at):
        return _from_month(read, at)
    weekday = WEEKDAYS.get(low, PLURALS.get(low))
    if weekday is not None and (low not in SPOKEN or raw[:1].isupper()):
        return [Piece("", raw, day=Day(weekday=weekday))], 1
    return None


def _month(read: list[Token], at: int) -> int | None:
    """Return the month a word names; a word that is also another needs a capital and a neighbour of dates."""
    low, raw = read[at][1:]
    month = MONTHS.get(low)
    if month is None or low not in SPOKEN:
        return month
    beside = {read[at - 1][1] if at else "", read[at - 1][0] if at else ""}
    after = read[at + 1][0] if at + 1 < len(read) else ""
    return (
        month
        if "digits" in beside or (raw[:1].isupper() and (after == "digits" or beside & _BEFORE))
        else None
    )


def _day(token: Token) -> int | None:
    low = token[1].rstrip(".").removesuffix("st").removesuffix("nd").removesuffix("rd").removesuffix("th")
    day = int(low) if low.isdecimal() and len(low) < 3 else _ORDINAL_WORDS.get(token[1])
    return day if day in _DAYS else None


def _from_day(read: list[Token], at: int) -> tuple[list[Piece], int] | None:
    day, month_at = _day(read[at]), at + 1
    while month_at < len(read) and read[month_at][1] in _BETWEEN and month_at - at < 3:
        month_at += 1
    if day is None or month_at >= len(read) or read[month_at][0] != "word":
        return None
    month = MONTHS.get(read[month_at][1])
    if month is None:
        return None
    year, used = _year_at(read, month_at + 1)
    return [Piece("", read[month_at][2], day=Day(year, month, day))], month_at + 1 + used - at


def _from_month(read: list[Token], at: int) -> tuple[list[Piece], int]:
    day_at = at + 1
    if day_at < len(read) and read[day_at][1] in _BETWEEN:
        day_at += 1
    day = _day(read[day_at]) if day_at < len(read) and read[day_at][0] == "digits" else None
    end = day_at + 1 if day else at + 1
    year, used = _year_at(read, end)
    return [Piece("", read[at][2], day=Day(year, _month(read, at), day))], end + used - at


def _year_at(read: list[Token], at: int) -> tuple[int | None, int]:
    used = 1
    if at < len(read) and read[at][1] in _BETWEEN:
        at, used = at + 1, 2
    low = read[at][1] if at < len(read) else ""
    return (int(low), used) if low.isdecimal() and len(low) == 4 and int(low) in _YEARS else (None, 0)


def _year(read: list[Token], at: int) -> tuple[list[Piece], int] | None:
    year, _ = _year_at(read, at)
    if year is None or not at or read[at - 1][1] not in _YEAR_AFTER:
        return None
    return [Piece("", read[at][2], day=Day(year))], 1


def _clock(read: list[Token], at: int) -> tuple[list[Piece], int] | None:
    """Return "half past four" and its like as a time of day."""
    if at + 2 >= len(read) or read[at + 1][1] not in _PAST:
        return None
    low = read[at + 2][1]
    hour = int(low) if low.isdecimal() and len(low) < 3 else _HOURS.get(low)
    if hour is None or not 0 < hour <= 24:
        return None
    minute = hour * 60 + _PAST[read[at + 1][1]] * _PARTS[read[at][1]]
    return [Piece("", read[at][2], day=Day(minute=minute % (2 * HALF_DAY), vague=hour <= 12))], 3
