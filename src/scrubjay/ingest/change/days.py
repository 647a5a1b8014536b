"""Days: dates, weekdays and times of day in one spelling, however they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MONTHS: Final = (
    "january jan januar jänner janvier enero janeiro gennaio",
    "february feb februar février febrero fevereiro febbraio",
    "march mar märz mars marzo março",
    "april apr avril abril aprile",
    "may mai mayo maio maggio",
    "june jun juni juin junio junho giugno",
    "july jul juli juillet julio julho luglio",
    "august aug août agosto",
    "september sep sept septembre septiembre setembro settembre",
    "october oct oktober octobre octubre outubro ottobre",
    "november nov novembre noviembre novembro",
    "december dec dezember décembre diciembre dezembro dicembre",
)
_WEEKDAYS: Final = (
    "monday mon montag lundi lunes segunda-feira lunedì",
    "tuesday tue tues dienstag mardi martes terça-feira terça martedì",
    "wednesday wed mittwoch mercredi miércoles quarta-feira mercoledì",
    "thursday thu thurs donnerstag jeudi jueves quinta-feira giovedì",
    "friday fri freitag vendredi viernes sexta-feira sexta venerdì",
    "saturday sat samstag sonnabend samedi sábado sabato",
    "sunday sun sonntag dimanche domingo domenica",
)
MONTHS: Final = {word: at for at, words in enumerate(_MONTHS, 1) for word in words.split()}
WEEKDAYS: Final = {word: at for at, words in enumerate(_WEEKDAYS) for word in words.split()}
SPOKEN: Final = frozenset(
    ("may", "march", "mar", "sun", "sat", "mon", "wed", "sexta", "terça", "dec", "mars", "mai")
)
"""Spellings that are other words too: only a capital or a number beside them makes them dates."""
PLURALS: Final = {f"{word}s": at for word, at in WEEKDAYS.items() if word.endswith("day")}
HALF_DAY: Final = 720
"""Minutes after which a clock without am or pm says the same again."""
_CLOCK = re.compile(r"(\d{1,2})(?:(?:[:.h]|uhr)(\d{2}))?\s?(?:([ap])\.?m\.?|uhr|h)?")


@dataclass(frozen=True, slots=True)
class Day:
    """A date or a time of day, as much of it as is written; None where nothing is.

    Attributes:
        year: Four digits.
        month: 1 to 12.
        day: 1 to 31.
        weekday: 0 for Monday.
        minute: Minutes after midnight.
        vague: Whether ``minute`` may as well be twelve hours later.
        early: Whether it stands before the verb.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    minute: int | None = None
    vague: bool = False
    early: bool = False

    @property
    def parts(self) -> tuple[int | None, ...]:
        """Return what is compared part by part."""
        return self.year, self.month, self.day, self.weekday, self.minute


def clock(text: str) -> tuple[int, bool] | None:
    """Return the minutes after midnight that a clock says, and whether they may be of either half of the day.

    >>> clock("5pm"), clock("17:00"), clock("14h30"), clock("5:30"), clock("12am"), clock("25:00")
    ((1020, False), (1020, False), (870, False), (330, True), (0, False), None)
    """
    match = _CLOCK.fullmatch(text)
    if not match:
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if hour > 24 or minute > 59 or (half and hour > 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour % 24 * 60 + minute, not half and 0 < hour <= 12 and "h" not in text


def numeric(text: str) -> Day | None:
    """Return the date that digits write: year first, or day and month, whichever can be.

    Where both could be the month, the day stands first, as in most of the world; two dates written alike are
    then compared alike.

    >>> numeric("2026-05-03") == numeric("3.5.2026") == numeric("2026/05/03"), numeric("5/23/2026").month
    (True, 5)
    """
    parts = [int(part) for part in re.split(r"[-/.]", text) if part.isdigit()]
    if len(parts) == 2 and parts[0] > 31:
        return Day(parts[0], parts[1]) if 1 <= parts[1] <= 12 else None
    if len(parts) == 2 and parts[1] > 31:
        return Day(parts[1], parts[0]) if 1 <= parts[0] <= 12 else None
    if len(parts) == 3 and parts[0] > 31:
        year, month, day = parts
    elif len(parts) == 3:
        day, month, year = parts
        if month > 12:
            day, month = month, day
    else:
        return None
    year += 2000 if year < 100 else 0
    return Day(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def agree(one: Day, other: Day) -> bool:
    """Return whether two dates can be the same: what both of them say is equal, and both say some of it."""
    shared = False
    for name, ours, theirs in zip(("y", "m", "d", "w", "t"), one.parts, other.parts, strict=True):
        if ours is None or theirs is None:
            continue
        shared = True
        if ours == theirs or (name == "t" and (one.vague or other.vague) and (ours - theirs) % HALF_DAY == 0):
            continue
        return False
    return shared
