"""Stretches: (rule, its numbers, now) -> from when until when, on the wall clock.

What a rule of `text.time_words` comes to. Weeks begin on Monday; spring begins in March; a winter has the year in which
it begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Final

from scrubjay.text.time_words import DAY, HOUR, MINUTE, MONTH, QUARTER, WEEK, YEAR

_ISO: Final = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d)(?:[Tt]\d\d:\d\d\S{0,20})?)?", re.ASCII)
_YEAR_FIRST: Final = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)", re.ASCII)
_DOTTED: Final = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})", re.ASCII)
_SLASHED: Final = re.compile(r"(\d\d?)/(\d\d?)/(\d{4})", re.ASCII)

Stretch = tuple[datetime, datetime, str]
"""First moment, first moment after it, precision."""
Numbers = Mapping[str, int]
"""Class to number, of the words that a rule matched."""


def stretch(rule: str, values: Numbers, word: str, now: datetime) -> Stretch | None:
    """Work a rule out; None where a calendar lacks what it comes to."""
    try:
        if rule == "given":
            return written(word)
        return _RULES[rule](values, now)
    except (ValueError, OverflowError):
        return None


def written(word: str) -> Stretch | None:
    """Return a date that is written in digits; None for what a calendar lacks, or what could be two dates."""
    try:
        if match := _ISO.fullmatch(word):
            year, month = int(match[1]), int(match[2])
            return _day(date(year, month, int(match[3]))) if match[3] else _month(year, month)
        if match := _YEAR_FIRST.fullmatch(word):
            return _day(date(int(match[1]), int(match[2]), int(match[3])))
        if match := _DOTTED.fullmatch(word):
            return _day(date(int(match[3]), int(match[2]), int(match[1])))
        if match := _SLASHED.fullmatch(word):
            one, other, year = int(match[1]), int(match[2]), int(match[3])
            if one > 12 or one == other:
                return _day(date(year, other, one))
            return _day(date(year, one, other)) if other > 12 else None
    except (ValueError, OverflowError):
        pass
    return None


def _day(day: date, days: int = 1, precision: str = "day") -> Stretch:
    start = datetime.combine(day, time())
    return start, start + timedelta(days=days), precision


def _month(year: int, month: int, months: int = 1, precision: str = "month") -> Stretch:
    later = year * 12 + month - 1 + months
    end = date(later // 12, later % 12 + 1, 1)
    return datetime.combine(date(year, month, 1), time()), datetime.combine(end, time()), precision


def _year(year: int) -> Stretch:
    return _month(year, 1, 12, "year")


def _latest(values: Numbers, now: datetime, name: str) -> Stretch:
    """Return the latest month, quarter or season that began by now."""
    month, length, precision = _CYCLES[name](values[name])
    year = now.year if (now.year, now.month) >= (now.year, month) else now.year - 1
    return _month(year, month, length, precision)


_CYCLES: Final[Mapping[str, Callable[[int], tuple[int, int, str]]]] = {
    "month": lambda number: (number, 1, "month"),
    "quarter": lambda number: (3 * number - 2, 3, "quarter"),
    "season": lambda number: (3 * number + 3, 3, "season"),
}


def _part(stretch: Stretch, values: Numbers) -> Stretch:
    """Return the first, middle or last third where a word asks for it."""
    if "third" not in values:
        return stretch
    start, end, _ = stretch
    third = timedelta(days=(end - start).days // 3)
    begin = start + third * values["third"]
    return begin, end if values["third"] == 2 else begin + third, "range"


def _which(name: str, values: Numbers, now: datetime) -> Stretch:
    """Return the last (wholly over), this or the next month or season of a name."""
    latest = _latest(values, now, name)
    step = values["which"]
    if step < 0 and latest[1] > now:
        step = -1
    elif step < 0:
        step = 0
    return _month(latest[0].year + step, latest[0].month, _CYCLES[name](1)[1], latest[2])


def _unit(unit: int, step: int, now: datetime) -> Stretch | None:
    """Return the calendar week, month, quarter or year that lies some steps from now."""
    today = now.date()
    if unit == WEEK:
        return _day(today - timedelta(days=today.weekday() - 7 * step), 7, "week")
    if unit == YEAR:
        return _year(today.year + step)
    if unit == QUARTER:
        months = (today.year * 4 + (today.month - 1) // 3 + step) * 3
        return _month(months // 12, months % 12 + 1, 3, "quarter")
    if unit == MONTH:
        months = today.year * 12 + today.month - 1 + step
        return _month(months // 12, months % 12 + 1)
    return None


def _back(now: datetime, number: int, unit: int) -> datetime:
    """Return the moment some units before now; of a shorter month, its last day."""
    if unit in (MONTH, QUARTER, YEAR):
        months = now.year * 12 + now.month - 1 - number * {MONTH: 1, QUARTER: 3, YEAR: 12}[unit]
        first = now.replace(year=months // 12, month=months % 12 + 1, day=1)
        length = (_month(first.year, first.month)[1] - _month(first.year, first.month)[0]).days
        return first.replace(day=min(now.day, length))
    return now - number * _LENGTHS[unit]


_LENGTHS: Final = {
    MINUTE: timedelta(minutes=1), HOUR: timedelta(hours=1), DAY: timedelta(days=1), WEEK: timedelta(weeks=1),
}  # fmt: skip


def _ago(values: Numbers, now: datetime) -> Stretch:
    """Return what lies around a moment ago: its day, the week, month or year around it, half an hour each way."""
    unit, number = values["unit"], values["number"]
    then = _back(now, number, unit)
    if unit in (HOUR, MINUTE):
        return then - timedelta(minutes=30), then + timedelta(minutes=30), "hour"
    if unit == YEAR:
        return _year(then.year)
    around, name = {DAY: (0, "day"), WEEK: (3, "week"), MONTH: (15, "month"), QUARTER: (45, "quarter")}[unit]
    return _day(then.date() - timedelta(days=around), 2 * around + 1, name)


def _rolling(values: Numbers, now: datetime) -> Stretch:
    """Return the time from some units before now until the end of today."""
    unit, number = values["unit"], values.get("number", 1)
    then = _back(now, number, unit)
    if unit in (HOUR, MINUTE):
        return then, now + timedelta(minutes=1), "hour"
    return datetime.combine(then.date(), time()), _day(now.date())[1], "range"


def _date(values: Numbers, now: datetime) -> Stretch:
    month, number = values["month"], values.get("daynum", values.get("daydot", 1))
    if "year" in values:
        return _day(date(values["year"], month, number))
    for year in range(now.year, now.year - 9, -1):  # the 29th of February is in one year of four, or of eight
        if (month, number) == (2, 29) and (year % 4 or (year % 100 == 0 and year % 400)):
            continue
        found = _day(date(year, month, number))
        if found[0] <= now:
            return found
    raise ValueError("no such day")


def _weekday(values: Numbers, now: datetime) -> Stretch:
    """Return the last one before today, the one of this week, the next after today; without a word, the latest."""
    today, day = now.date(), values["weekday"]
    back = (today.weekday() - day) % 7
    which = values.get("which")
    if which == 0:
        return _day(today + timedelta(days=day - today.weekday()))
    if which == 1:
        return _day(today + timedelta(days=7 - back))
    return _day(today - timedelta(days=back or (7 if which == -1 else 0)))


def _weekend(values: Numbers, now: datetime) -> Stretch:
    """Return the last one that is over, this week's, the next week's; without a word, the latest that began."""
    today = now.date()
    saturday = today + timedelta(days=5 - today.weekday())
    which = values.get("which")
    if which is None:
        which = 0 if today.weekday() >= 5 else -1
    return _day(saturday + timedelta(days=7 * which), 2, "range")


def _dayword(values: Numbers, now: datetime) -> Stretch:
    return _day(now.date() + timedelta(days=values["dayword"]))


def _beside(step: int, values: Numbers, now: datetime) -> Stretch | None:
    if values["unit"] != DAY:
        return None
    return _day(now.date() + timedelta(days=values["dayword"] + step))


def _day_part(values: Numbers, now: datetime) -> Stretch | None:
    """Return today for "this morning"; last night begins yesterday at six and ends today at six."""
    if values["which"] == 0:
        return _day(now.date())
    if values["which"] == -1 and values["part_of_day"] == 3:
        start = datetime.combine(now.date(), time()) - timedelta(hours=6)
        return start, start + timedelta(hours=12), "hour"
    return None


_RULES: Final[Mapping[str, Callable[[Numbers, datetime], Stretch | None]]] = {
    "day": _date,
    "month": lambda v, now: _part(_month(v["year"], v["month"]), v),
    "lone_month": lambda v, now: _part(_latest(v, now, "month"), v),
    "lone_year": lambda v, now: _part(_year(v["year"]), v),
    "which_unit": lambda v, now: _unit(v["unit"], v["which"], now),
    "which_month": lambda v, now: _which("month", v, now),
    "which_weekday": _weekday,
    "lone_weekday": _weekday,
    "which_season": lambda v, now: _which("season", v, now),
    "season": lambda v, now: _month(v["year"], *_CYCLES["season"](v["season"])),
    "lone_season": lambda v, now: _latest(v, now, "season"),
    "ago": _ago,
    "fortnight": lambda v, now: _ago({"number": 2 * v["number"], "unit": WEEK}, now),
    "rolling": _rolling,
    "past": _rolling,
    "weekend": _weekend,
    "lone_weekend": _weekend,
    "quarter": lambda v, now: _month(v["year"], *_CYCLES["quarter"](v["quarter"])),
    "lone_quarter": lambda v, now: _latest(v, now, "quarter"),
    "dayword": _dayword,
    "eve": lambda v, now: _beside(-1, v, now),
    "morrow": lambda v, now: _beside(1, v, now),
    "part_of_day": _day_part,
}
"""How each rule is worked out: the numbers of its classes and now -> a stretch of time, or None."""
