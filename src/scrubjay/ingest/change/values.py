"""Values: questions about a difference that the rules ask: whose it is, where, when, and whether it can be but one."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.change.claim import Claim, Word
from scrubjay.ingest.change.compare import Difference
from scrubjay.ingest.change.words import ADDITIVE, KIN, LIGHT, MOVES, ONCE, STATIC

_OFTEN: Final = frozenset(("a", "per", "each", "every", "times"))
"""What follows on how often: who swims twice a week does not swim weekly."""
FEW: Final = 4
"""Words a value may have; where more differ on both sides, another thing is spoken of."""


def changed(d: Difference) -> bool:
    """Return whether the new statement says that something took the place of something."""
    if "changed" not in d.new.signals:
        return False
    return "changed" not in d.old.signals or bool(d.added)


def over(d: Difference) -> bool:
    """Return whether the new statement says that what was so is so no more."""
    return "over" in d.new.signals and "over" not in d.old.signals


def happened(d: Difference) -> bool:
    """Return whether both tell of something past, at other times."""
    old, new = d.days
    if not (old and new):
        return False
    if any(day.early for day in old) and any(day.early for day in new) and (d.added or d.dropped):
        return True
    past = "past" in d.old.signals and "past" in d.new.signals
    if not past or changed(d):
        return False
    if d.old.verb.key == "be":
        return bool(d.added and d.dropped)
    return d.old.verb.key not in ONCE or bool(d.numbers[0] and d.numbers[1]) or bool(d.added and d.dropped)


def came_true(d: Difference) -> bool:
    """Return whether what was planned, under way or not yet so has come about: the same thing, now past."""
    if d.denied and "waited" in d.old.signals and "past" in d.new.signals:
        return bool(d.shared)
    late = any(not word.early and word.key in d.shared for word in d.old.words)
    if d.denied or not d.shared or "planned" in d.new.signals or "ongoing" in d.new.signals:
        return False
    if "planned" in d.old.signals:
        return not other_value(d) or (late and "past" in d.new.signals)
    if d.new.verb.key == "begin":
        return False  # what is under way has begun
    return "ongoing" in d.old.signals and "past" in d.new.signals and late


def value_parts(d: Difference) -> bool:
    """Return whether each has a number or a date that the other lacks."""
    return bool((d.numbers[0] and d.numbers[1]) or (d.days[0] and d.days[1]) or _hours(d) or _hours(d, 1))


def _hours(d: Difference, side: int = 0) -> bool:
    """Return whether one says an hour as a bare number, and the other another time of day: "at 9", "at 9:30"."""
    bare = any(not number.unit for number in d.numbers[side])
    return bare and any(day.minute is not None for day in d.days[1 - side])


def other_value(d: Difference) -> bool:
    """Return whether each says a word of substance that the other does not."""
    return bool(_substance(d.dropped, d.old) and _substance(d.added, d.new))


def _substance(words: tuple[Word, ...], claim: Claim) -> list[Word]:
    return [word for word in words if word.key != claim.verb.key and word.key not in MOVES and not word.aside]


def stands_in(d: Difference) -> bool:
    """Return whether the new value can stand where the old one stood: no other attribute is spoken of."""
    if value_parts(d):
        units = {number.unit for number in d.numbers[0]}, {number.unit for number in d.numbers[1]}
        if units[0] and units[1] and not units[0] & units[1] and "" not in units[0] | units[1]:
            return False
        return not other_value(d) or (changed(d) and bool(d.shared))
    return len(_substance(d.added, d.new)) <= FEW


def exclusive(d: Difference) -> bool:
    """Return whether what differs is a value of which there is but one."""
    verb = d.old.verb.key
    static = verb in STATIC and d.new.verb.key in STATIC
    if not verb or not (static or verb == d.new.verb.key) or not (d.dropped and d.added):
        return False
    if any(word.early for word in (*d.dropped, *d.added)) and not inverted(d):
        return False
    if "past" in d.new.signals and verb not in ONCE and verb != "be":
        return False
    if bool(d.numbers[0]) != bool(d.numbers[1]):
        return False
    if verb in ADDITIVE and not placed(d):
        return False
    if len(_substance(d.added, d.new)) > FEW or len(_substance(d.dropped, d.old)) > FEW:
        return False
    named = any(word.name for word in d.added) and any(word.name for word in d.dropped)
    if static:
        return bool([word for word in d.old.words if word.early]) or named or (verb != "be" and placed(d))
    return True


def inverted(d: Difference) -> bool:
    """Return whether the value stands first: "Ana is our lead" / "Ben is our lead"."""
    if d.old.verb.key != "be" or d.new.verb.key != "be" or not d.shared:
        return False
    late = [word for word in d.new.words if not word.early]
    if not late or not (d.new.definite and d.old.definite):
        return False
    return all(word.key in d.shared and word.key not in KIN for word in late)


def placed(d: Difference) -> bool:
    """Return whether only the place or the means differs, of the same done to the same."""
    dated = bool(d.old.days) and not (d.days[0] or d.days[1])
    kept = dated or any(
        not word.early and word.key in d.shared and word.key != d.old.verb.key for word in d.old.words
    )
    return kept and bool(d.dropped and d.added) and d.dropped[0].placed and d.added[0].placed


def says_less(d: Difference) -> bool:
    """Return whether the new one says nothing that the old one did not, in no other tense."""
    if _grown(d) or d.denied or d.turned or d.old.rest != d.new.rest or not _same_time(d):
        return False
    if any(not number.unit and number.near[1] in _OFTEN for number in d.numbers[0]):
        return False
    if d.dropped or d.numbers[0] or d.days[0]:
        kept = d.shared - LIGHT
        if d.dropped and not _says_the_same_of_it(d):
            return False
        told = kept - {d.new.verb.key} or (kept and not d.dropped)
        return bool(told) and not changed(d)
    return True


def _says_the_same_of_it(d: Difference) -> bool:
    """Return whether the new verb is one of the old statement's: who plans a trip to a city does not live in it."""
    new = d.new.verb.key
    if new in ("", d.old.verb.key) or new in {word.key for word in d.old.words}:
        return True
    return not d.new.person


def says_more(d: Difference) -> bool:
    """Return whether the new one says all that the old one did, and more."""
    return _grown(d) and not (d.dropped or d.numbers[0] or d.days[0] or d.denied)


def _grown(d: Difference) -> bool:
    settings = d.new.settings.keys() - d.old.settings.keys()
    return bool(d.added or d.numbers[1] or d.days[1] or d.finer or settings)


def _same_time(d: Difference) -> bool:
    if not (d.old.verb.key and d.new.verb.key) or "noted" in d.old.signals | d.new.signals:
        return "over" not in d.new.signals - d.old.signals  # a note tells no time
    time = {"past", "planned", "over"}
    return d.old.signals & time == d.new.signals & time
