"""Match: numbers and dates of two claims -> those that only one of them has."""

from __future__ import annotations

from scrubjay.ingest.change.days import HALF_DAY, Day, agree
from scrubjay.ingest.change.piece import Number

Numbers = tuple[tuple[Number, ...], tuple[Number, ...]]
Days = tuple[tuple[Day, ...], tuple[Day, ...]]


def match_numbers(old: tuple[Number, ...], new: tuple[Number, ...]) -> Numbers:
    """Return the numbers that only the old, and that only the new claim has."""
    left, right = [], list(new)
    for number in old:
        same = next((other for other in right if _same(number, other)), None)
        if same is None:
            left.append(number)
        else:
            right.remove(same)
    return _told(left, right), _told(right, left)


def _told(numbers: list[Number], others: list[Number]) -> tuple[Number, ...]:
    """Return numbers without a mere one, which "weekly" says as well as "once a week", where no other stands for it."""
    return tuple(one for one in numbers if others or one.unit or one.key != "1")


def match_days(old: tuple[Day, ...], new: tuple[Day, ...]) -> tuple[Days, bool]:
    """Return the dates that only the old, and that only the new has, and whether a common one is finer in the new."""
    left, right, finer = [], list(new), False
    for day in old:
        same = next((other for other in right if agree(day, other)), None)
        if same is None:
            left.append(day)
            continue
        right.remove(same)
        finer |= any(
            ours is None and theirs is not None for ours, theirs in zip(day.parts, same.parts, strict=True)
        )
    return (tuple(left), tuple(right)), finer


def match_hours(days: Days, numbers: Numbers) -> tuple[Days, Numbers]:
    """Take a bare number and a clock that says the same hour ("at six", "6pm") for one."""
    (days_old, days_new), (old, new) = days, numbers
    for number in old:
        for day in days_new:
            if _is_hour(number, day):
                days_new = tuple(other for other in days_new if other is not day)
                return (days_old, days_new), (tuple(other for other in old if other is not number), new)
    for number in new:
        for day in days_old:
            if _is_hour(number, day):
                days_old = tuple(other for other in days_old if other is not day)
                return (days_old, days_new), (old, tuple(other for other in new if other is not number))
    return days, numbers


def _same(one: Number, other: Number) -> bool:
    if one.unit and other.unit:
        return one.unit == other.unit and one.key == other.key
    return one.count == other.count and "version" not in (one.unit, other.unit)


def _is_hour(number: Number, day: Day) -> bool:
    if number.unit or day.minute is None or not number.key.isdecimal() or int(number.key) > 24:
        return False
    return (day.minute - int(number.key) * 60) % HALF_DAY == 0
