"""Order: two claims of the same words -> whether they say something else, since the words stand in other places."""

from __future__ import annotations

from collections.abc import Collection

from scrubjay.ingest.change.claim import Claim, Word
from scrubjay.ingest.change.levels import level
from scrubjay.ingest.change.words import MOVES


def exchanged(old: Claim, new: Claim) -> bool:
    """Return whether denials, opposites or numbers changed places: "three cats, two dogs", "two cats, three dogs"."""
    theirs = {word.key: word for word in new.words}
    at = [
        n for n, word in enumerate(old.words) if word.key in theirs and theirs[word.key].denied != word.denied
    ]
    if len(at) > 1 and (at[-1] - at[0] > 1 or any(_aside(old.words[n], theirs) for n in at)):
        return True  # "not X but Y" / "not Y but X"; a denial said of a verb or of what is beside it is one denial
    if [word.key for word in old.words] != [word.key for word in new.words]:
        return _recounted(old, new)
    if len(theirs) < len(new.words) and [w.denied for w in old.words] != [w.denied for w in new.words]:
        return True
    numbers, days = [number.key for number in old.numbers], [day.parts for day in old.days]
    others, dates = [number.key for number in new.numbers], [day.parts for day in new.days]
    return (numbers != others and sorted(numbers) == sorted(others)) or (
        days != dates and len(days) == len(dates) and all(day in dates for day in days)
    )


def _aside(word: Word, theirs: dict[str, Word]) -> bool:
    return word.aside or theirs[word.key].aside


def _recounted(old: Claim, new: Claim) -> bool:
    """Return whether a number that both have counts things of the other's other numbers."""
    if len(old.numbers) < 2 or len(new.numbers) < 2:
        return False
    ours = {(number.key, level(number.near[1], "en").key) for number in old.numbers}
    theirs = {(number.key, level(number.near[1], "en").key) for number in new.numbers}
    return (
        ours != theirs
        and {key for key, _ in ours} == {key for key, _ in theirs}
        and {n for _, n in ours} == {n for _, n in theirs}
    )


def reversed_sides(old: Claim, new: Claim, shared: Collection[str]) -> bool:
    """Return whether words of both changed places around a word that orders ("than", "over"), or around the verb."""
    for order, key in old.sides.items():
        other = new.sides.get(order)
        if other and other != key and key in shared and other in shared:
            return True
    if old.verb.key != new.verb.key or old.verb.key in ("be", "") or old.verb.key in MOVES:
        return False
    before = {word.key for word in old.words if word.early}
    after = {word.key for word in new.words if word.early}
    if not before or not after or before & after or old.passive != new.passive:
        return False
    return all(key in shared for key in before | after)
