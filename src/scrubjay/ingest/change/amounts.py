"""Amount: tokens at a place -> the number said there, with its unit: "30s", "two hours", "a dozen", "$1.2k"."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.change.figures import RATES, SCALES, UNITS, numerals, value
from scrubjay.ingest.change.piece import Number, Piece, Token
from scrubjay.ingest.change.words import listed

Found = tuple[list[Piece], int]

_DIGITS: Final = re.compile(r"([-−]?)([$€£]?)\s?(\d[\d.,']*)(-?)\s?(.*)")
_LENGTH: Final = re.compile(r"(\d{1,2})h(\d{2})")
"""Hours and minutes of how long, where the language writes a time of day with a colon."""
_VERSION: Final = re.compile(r"v\d[\w.]*")
_ORDINALS: Final = frozenset(("st", "nd", "rd", "th"))
_ARTICLES: Final = frozenset(("a", "an"))
_EACH: Final = frozenset(("per", "every", "each", "/"))
_LASTING: Final = listed(
    "for in within after takes take took lasts last lasted about around under over than than is was"
    " half only spend spends spent needs need of"
)
_WEAK: Final = frozenset(("one", "un", "uno", "um", "eins", "nove", "once", "single", "second"))
"""Number words that are other words as often; only a unit behind them makes them numbers."""
_HALVES: Final = {"half": 0.5, "quarter": 0.25}
_FEW: Final = 4
OPENERS: Final = frozenset((*SCALES, *_ARTICLES, *_EACH, *_HALVES, "version"))
"""Words besides the number words that a number begins with."""


def amount(read: list[Token], at: int, tongue: str) -> Found | None:
    """Return the pieces of the number that begins at a token, and how many tokens it takes."""
    kind, low, _ = read[at]
    lasting = _LENGTH.fullmatch(low) if kind == "clock" and tongue in ("en", "de") else None
    if lasting:
        seconds = _plain(int(lasting[1]) * 3600 + int(lasting[2]) * 60)
        return [Piece("", low, number=_number(read, at, at + 1, seconds, "s"))], 1
    if kind in ("digits", "clock", "date"):
        return _written(read, at, tongue)
    if _VERSION.fullmatch(low):
        return [Piece("", low, number=_number(read, at, at + 1, low[1:], "version"))], 1
    if tongue == "en":
        if low == "version" and at + 1 < len(read) and read[at + 1][0] == "digits":
            return [Piece("", low, number=_number(read, at, at + 2, read[at + 1][1], "version"))], 2
        if found := _rate(read, at) or _half(read, at):
            return found
    return _spelt(read, at, tongue)


def _written(read: list[Token], at: int, tongue: str) -> Found:
    low, raw = read[at][1:]
    match = _DIGITS.fullmatch(low)
    amount_of = value(match[3], tongue) if match else None
    if match is None or amount_of is None:
        return [Piece("", raw, number=_number(read, at, at + 1, low, ""))], 1
    minus, sign, _, dash, suffix = match.groups()
    amount_of = -amount_of if minus else amount_of
    if suffix in _ORDINALS:
        return [Piece("", raw, number=_number(read, at, at + 1, _plain(amount_of), "th"))], 1
    if suffix in SCALES or (suffix == "m" and sign):
        amount_of, suffix = amount_of * SCALES.get(suffix, 1_000_000), ""
    if sign or suffix in UNITS:
        unit, factor = UNITS[sign or suffix]
        return [
            Piece(
                "", raw, number=_number(read, at, at + 1, _plain(amount_of * factor), unit, _plain(amount_of))
            )
        ], 1
    if suffix and not dash:
        return [Piece(low, raw)], 1
    found, used = _measured(read, at, at + 1, amount_of) if not suffix else _measured(read, at, at, amount_of)
    return (found, used) if not suffix else ([*found, Piece(suffix, suffix)], 1)


def _spelt(read: list[Token], at: int, tongue: str) -> Found | None:
    known, end, total, part, seen = numerals(tongue), at, 0.0, 0.0, False
    if (
        read[at][1] == "a"
        and at + 1 < len(read)
        and read[at + 1][1] in ("dozen", "couple", "hundred", "thousand", "million")
    ):
        end += 1
    while end < len(read) and end < at + 9:
        low = read[end][1]
        if low in known and low != "dozen":
            part, seen = part + known[low], True
        elif low in SCALES and (
            seen or end > at or low in ("hundert", "tausend", "mil", "mille", "dozen", "cento")
        ):
            part = (part or 1) * SCALES[low]
            if SCALES[low] > 100:
                total, part = total + part, 0.0
            seen = True
        elif not (
            low == "and" and seen and end + 1 < len(read) and read[end + 1][1] in known and part >= 100
        ):
            break
        end += 1
    if not seen or (end == at + 1 and read[at][1] in _WEAK and not _counted(read, end)):
        return None
    return _measured(read, at, end, total + part)


def _counted(read: list[Token], end: int) -> bool:
    """Return whether a word that may be a number is one: a unit follows, or "and a half"."""
    following = [token[1] for token in read[end : end + 3]]
    often = read[end - 1][1] == "once" and len(following) > 1
    rate = often and following[0] in _EACH | _ARTICLES and following[1] in RATES
    return bool(following) and (rate or following[0] in UNITS or following == ["and", "a", "half"])


def _measured(read: list[Token], at: int, end: int, amount_of: float) -> Found:
    """Return a number with the unit behind it, and a half that follows."""
    amount_of, more = _pointed(read, end, amount_of)
    end += more
    low = read[end][1] if at < end < len(read) else ""
    if low in SCALES and low != "cent" and end < len(read):
        amount_of, end = amount_of * SCALES[low], end + 1
        low = read[end][1] if end < len(read) else ""
    if low not in UNITS or low == "in":
        return [
            Piece("", read[at][2], number=_number(read, at, max(end, at + 1), _plain(amount_of), ""))
        ], max(end - at, 1)
    unit, factor = UNITS[low]
    end += 1
    if [token[1] for token in read[end : end + 3]] == ["and", "a", "half"]:
        amount_of, end = amount_of + 0.5, end + 3
    number = _number(read, at, end, _plain(amount_of * factor), unit, _plain(amount_of))
    return [Piece("", read[at][2], number=number)], end - at


def _rate(read: list[Token], at: int) -> Found | None:
    """Return "a month", "per month", "every month" as one word, or as a length of time where it is one."""
    low, unit = read[at][1], read[at + 1][1] if at + 1 < len(read) else ""
    if low in _EACH and unit == "quarter" and (read[at + 2][1] if at + 2 < len(read) else "") == "of":
        return None
    if low in _EACH and unit in RATES:
        return [Piece(RATES[unit], unit)], 2
    if low not in _ARTICLES or unit not in RATES:
        return None
    before = read[at - 1] if at else ("", "", "")
    if unit == "quarter" and (read[at + 2][1] if at + 2 < len(read) else "") in ("of", "past", "to"):
        return None
    if before[1] in _LASTING and unit in UNITS:
        return _measured(read, at, at + 1, 1)
    return [Piece(RATES[unit], unit)], 2


def _pointed(read: list[Token], at: int, whole: float) -> tuple[float, int]:
    """Return a spoken number with what follows ("point five", "and a half", "quarters of"), and its tokens."""
    following = [token[1] for token in read[at : at + 3]]
    if following == ["and", "a", "half"]:
        return whole + 0.5, 3
    if following[:1] == ["quarters"]:
        return whole / 4, 1 + sum(token[1] in ("of", "an") for token in read[at + 1 : at + 3])
    digit = numerals("en").get(following[1]) if len(following) > 1 and following[0] == "point" else None
    return (whole + digit / 10, 2) if digit is not None and digit < 10 else (whole, 0)


def _half(read: list[Token], at: int) -> Found | None:
    part = _HALVES.get(read[at][1])
    for skip in range(1, _FEW) if part else ():
        low = read[at + skip][1] if at + skip < len(read) else ""
        if (low in UNITS or low in SCALES) and part:
            return _measured(read, at, at + skip, part)
        if low not in ("a", "an", "of"):
            break
    return None


def _number(read: list[Token], at: int, end: int, key: str, unit: str, count: str = "") -> Number:
    before = read[at - 1][2] if at and read[at - 1][0] == "word" else ""
    after = read[end][1] if end < len(read) and read[end][0] == "word" else ""
    return Number(key, unit, count or key, (before, after))


def _plain(amount_of: float) -> str:
    return format(amount_of, ".9g")
