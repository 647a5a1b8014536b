"""Compare: Claim, Claim -> Difference. What two statements share, and what only one of them says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from scrubjay.ingest.change.claim import Claim, Word
from scrubjay.ingest.change.days import HALF_DAY, Day, agree
from scrubjay.ingest.change.meanings import alike, opposed
from scrubjay.ingest.change.piece import Number
from scrubjay.ingest.change.words import MOVES

_T = TypeVar("_T")
LOOKED_AT: Final = 12
"""Words left over on a side up to which spellings are compared one by one; longer texts differ in more than those."""
LONG: Final = 6
"""Letters of the shortest word in which one wrong letter is a slip; shorter ones are too often other words."""
PREFIXES: Final = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis")
"""Beginnings that turn a word into its opposite, where the other statement has the word without it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What parts a new claim from an old one.

    Attributes:
        old: The old claim.
        new: The new claim.
        shared: Keys of the content words of both.
        dropped: Words that only the old one has.
        added: Words that only the new one has.
        numbers: Numbers of the old one alone, and of the new one alone.
        days: Dates of the old one alone, and of the new one alone.
        denied: Whether one denies what the other says.
        turned: Whether the same words stand in other places: who does it, what is the more, what is rejected.
        split: Whether a denial and an opposite fell on different words, so that both can hold.
        names_old: Whether the new one rejects what the old one says, by name.
    """

    old: Claim
    new: Claim
    shared: frozenset[str]
    dropped: tuple[Word, ...]
    added: tuple[Word, ...]
    numbers: tuple[tuple[Number, ...], tuple[Number, ...]]
    days: tuple[tuple[Day, ...], tuple[Day, ...]]
    denied: bool
    turned: bool
    split: bool
    names_old: bool


def compare(old: Claim, new: Claim) -> Difference:
    """Return what differs between two claims."""
    ours, theirs = {word.key: word for word in old.words}, {word.key: word for word in new.words}
    dropped = [word for key, word in ours.items() if key not in theirs]
    added = [word for key, word in theirs.items() if key not in ours]
    odd = (old.odd != new.odd) ^ (
        sum(ours[key].opposite != theirs[key].opposite for key in ours.keys() & theirs.keys()) % 2 == 1
    )
    if dropped and added and len(dropped) <= LOOKED_AT and len(added) <= LOOKED_AT:
        odd ^= _paired(dropped, added)
    shared = ours.keys() & theirs.keys()
    days, numbers = _days(old.days, new.days), _numbers(old.numbers, new.numbers)
    days, numbers = _hours(days, numbers)
    denied = {key for key in shared if ours[key].denied != theirs[key].denied}
    opposed = {key for key in shared if ours[key].opposite != theirs[key].opposite}
    split = not odd and bool(denied & opposed) and bool(denied - opposed)
    turned = not odd and not split and (len(denied) > 1 or _turned(old, new, shared))
    names = any(theirs[key].aside and theirs[key].denied and not ours[key].denied for key in shared)
    dropped = [word for word in dropped if word.key not in MOVES]
    added = [word for word in added if word.key not in MOVES]
    return Difference(
        old, new, frozenset(shared), tuple(dropped), tuple(added), numbers, days, odd, turned, split, names
    )


def _paired(dropped: list[Word], added: list[Word]) -> bool:
    """Take out of both what is one word written twice; return whether an odd number of them were opposites."""
    odd = False
    for word in list(dropped):
        for other in added:
            ours, theirs = word.raw.lower(), other.raw.lower()
            if _spelt_alike(ours, theirs) or (
                not (word.name and other.name) and alike(word.stem, other.stem)
            ):
                odd ^= word.opposite != other.opposite
            elif (
                _prefixed(ours, theirs) or _prefixed(word.stem, other.stem) or opposed(word.stem, other.stem)
            ):
                odd = not odd
            else:
                continue
            dropped.remove(word)
            added.remove(other)
            break
    _joined(dropped, added)
    _joined(added, dropped)
    return odd


def _joined(one: list[Word], other: list[Word]) -> None:
    """Take out words that stand in one piece on the other side: joined, or as their first letters."""
    for word in list(other):
        whole = word.raw.lower().replace(".", "")
        for at in range(len(one)):
            for end in range(at + 2, min(at + 5, len(one)) + 1):
                raws = [part.raw.lower() for part in one[at:end]]
                initials = "".join(raw[:1] for raw in raws)
                if whole == "".join(raws) or (word.raw.isupper() and whole == initials):
                    del one[at:end]
                    other.remove(word)
                    return


def _prefixed(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) > 2 and any(long == prefix + short for prefix in PREFIXES)


def _spelt_alike(one: str, other: str) -> bool:
    """Return whether two long words differ by one slip of a finger."""
    if one == other:
        return True
    if min(len(one), len(other)) < LONG or abs(len(one) - len(other)) > 1 or one[0] != other[0]:
        return False
    if not (one.isalpha() and other.isalpha()):
        return False
    at = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    if len(one) == len(other):
        return (
            one[at + 1 :] == other[at + 1 :]
            or one[at + 2 :] == other[at + 2 :]
            and one[at : at + 2] == other[at : at + 2][::-1]
        )
    short, long = sorted((one, other), key=len)
    return short[at:] == long[at + 1 :]


def _numbers(
    old: tuple[Number, ...], new: tuple[Number, ...]
) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    left, right = [], list(new)
    for number in old:
        same = next((other for other in right if _same(number, other)), None)
        if same is None:
            left.append(number)
        else:
            right.remove(same)
    return tuple(left), tuple(right)


def _same(one: Number, other: Number) -> bool:
    if one.unit and other.unit:
        return one.unit == other.unit and one.key == other.key
    return one.count == other.count and "version" not in (one.unit, other.unit)


def _days(old: tuple[Day, ...], new: tuple[Day, ...]) -> tuple[tuple[Day, ...], tuple[Day, ...]]:
    left, right = [], list(new)
    for day in old:
        same = next((other for other in right if agree(day, other)), None)
        if same is None:
            left.append(day)
        else:
            right.remove(same)
    return tuple(left), tuple(right)


def _hours(
    days: tuple[tuple[Day, ...], tuple[Day, ...]], numbers: tuple[tuple[Number, ...], tuple[Number, ...]]
) -> tuple[tuple[tuple[Day, ...], tuple[Day, ...]], tuple[tuple[Number, ...], tuple[Number, ...]]]:
    """Take a bare number and a clock that says the same hour ("at six", "6pm") for one."""
    (days_old, days_new), (old, new) = days, numbers
    for number in old:
        for day in days_new:
            if _is_hour(number, day):
                return (days_old, _without(days_new, day)), (_without(old, number), new)
    for number in new:
        for day in days_old:
            if _is_hour(number, day):
                return (_without(days_old, day), days_new), (old, _without(new, number))
    return days, numbers


def _without(items: tuple[_T, ...], gone: _T) -> tuple[_T, ...]:
    return tuple(item for item in items if item is not gone)


def _is_hour(number: Number, day: Day) -> bool:
    if number.unit or day.minute is None or not number.key.isdecimal() or int(number.key) > 24:
        return False
    return (day.minute - int(number.key) * 60) % HALF_DAY == 0


def _turned(old: Claim, new: Claim, shared: set[str]) -> bool:
    """Return whether words of both changed places around a word that orders, or around the verb."""
    for order, key in old.sides.items():
        other = new.sides.get(order)
        if other and other != key and key in shared and other in shared:
            return True
    if old.verb.key != new.verb.key or old.verb.key in ("be", "") or old.verb.key in MOVES:
        return False
    before = {word.key for word in old.words if word.early}
    after = {word.key for word in new.words if word.early}
    return bool(
        before
        and after
        and not before & after
        and before <= shared
        and after <= shared
        and old.passive == new.passive
    )
