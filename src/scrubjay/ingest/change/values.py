"""Values: questions about a difference that the rules ask: whose it is, where, when, and whether it can be but one."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.change.claim import Claim, Word
from scrubjay.ingest.change.compare import Difference
from scrubjay.ingest.change.words import ADDITIVE, KIN, MOVES, ONCE, STATIC

FEW: Final = 3
"""Words a value may have; where more differ on both sides, another thing is spoken of."""


def changed(d: Difference) -> bool:
    """Return whether the new statement says that something took the place of something."""
    return (
        "changed" in d.new.signals
        and "changed" not in d.old.signals
        or "changed" in d.new.signals
        and bool(d.added)
    )


def over(d: Difference) -> bool:
    """Return whether the new statement says that what was so is so no more."""
    return "over" in d.new.signals and "over" not in d.old.signals


def other_subject(d: Difference) -> bool:
    """Return whether both have a subject, and each one's has a word that the other statement lacks."""
    old, new = d.old, d.new
    if {old.person, new.person} == {"i", "they"} or {old.person, new.person} == {"you", "they"}:
        return True
    ours, theirs = _alone(d.dropped), _alone(d.added)
    if _numbered(d):
        return True
    if ours and theirs:
        return not _inverted(d)
    if (old.person == "i" and theirs and not ours) or (new.person == "i" and ours and not theirs):
        return not changed(d)
    head, other = _head(old), _head(new)
    return bool(
        head
        and other
        and head.key != other.key
        and (other in theirs or head in ours)
        and not (other or head).name
        and _owned(d)
    )


def _alone(words: tuple[Word, ...]) -> list[Word]:
    return [word for word in words if word.early]


def _numbered(d: Difference) -> bool:
    return any(number.early for number in d.numbers[0]) and any(number.early for number in d.numbers[1])


def _head(claim: Claim) -> Word | None:
    return next((word for word in reversed(claim.words) if word.early), None)


def _owned(d: Difference) -> bool:
    """Return whether one subject holds the other and goes on: "my brother", "my brother's dog"."""
    old, new = ([word.key for word in claim.words if word.early] for claim in (d.old, d.new))
    short, long = sorted((old, new), key=len)
    return long[: len(short)] == short


def _inverted(d: Difference) -> bool:
    """Return whether the value stands first: "Ana is our lead" / "Ben is our lead"."""
    if d.old.verb.key != "be" or d.new.verb.key != "be" or not d.shared:
        return False
    late = [word for word in d.new.words if not word.early]
    return (
        bool(late)
        and all(word.key in d.shared for word in late)
        and _definite(d)
        and not any(w.key in KIN for w in late)
    )


def _definite(d: Difference) -> bool:
    return d.new.definite and d.old.definite


def other_place(d: Difference) -> bool:
    """Return whether one kind of circumstance has other names in each."""
    for kind in d.old.settings.keys() & d.new.settings.keys():
        old, new = d.old.settings[kind], d.new.settings[kind]
        if old != new and not (old < new or new < old):
            return True
    one_sided = d.old.settings.keys() ^ d.new.settings.keys()
    return bool(one_sided & {"stage", "system"}) and (
        d.denied or bool(value_parts(d)) or bool(d.added and d.dropped)
    )


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
    return "ongoing" in d.old.signals and "past" in d.new.signals and late


def other_count(d: Difference) -> bool:
    """Return whether the numbers count things of other names: "seats 30 people", "has 2 projectors"."""
    for old in d.numbers[0]:
        for new in d.numbers[1]:
            nouns = {old.near[1], new.near[1]}
            if old.unit == new.unit == "" and len(nouns) == 2 and "" not in nouns:
                dropped, added = {w.raw.lower() for w in d.dropped}, {w.raw.lower() for w in d.added}
                if old.near[1] in dropped and new.near[1] in added:
                    return True
    return False


def value_parts(d: Difference) -> bool:
    """Return whether each has a number or a date that the other lacks."""
    return bool((d.numbers[0] and d.numbers[1]) or (d.days[0] and d.days[1]))


def other_value(d: Difference) -> bool:
    """Return whether each says a word of substance that the other does not."""
    return bool(_substance(d.dropped, d.old) and _substance(d.added, d.new))


def _substance(words: tuple[Word, ...], claim: Claim) -> list[Word]:
    return [word for word in words if word.key != claim.verb.key and word.key not in MOVES]


def stands_in(d: Difference) -> bool:
    """Return whether the new value can stand where the old one stood: no other attribute is spoken of."""
    if value_parts(d):
        units = {number.unit for number in d.numbers[0]}, {number.unit for number in d.numbers[1]}
        if units[0] and units[1] and not units[0] & units[1] and "" not in units[0] | units[1]:
            return False
        return not other_count(d) and (not other_value(d) or (changed(d) and bool(d.shared)))
    return len(_substance(d.added, d.new)) <= FEW


def exclusive(d: Difference) -> bool:
    """Return whether what differs is a value of which there is but one."""
    verb = d.old.verb.key
    static = verb in STATIC and d.new.verb.key in STATIC
    if not verb or not (static or verb == d.new.verb.key) or not (d.dropped and d.added):
        return False
    if any(word.early for word in (*d.dropped, *d.added)) and not _inverted(d):
        return False
    if "past" in d.new.signals and verb not in ONCE and verb != "be":
        return False
    if verb in ADDITIVE and not _placed(d):
        return False
    if len(d.added) > FEW or len(d.dropped) > FEW:
        return False
    named = any(word.name for word in d.added) and any(word.name for word in d.dropped)
    if static:
        return bool([word for word in d.old.words if word.early]) or named
    return True


def _placed(d: Difference) -> bool:
    """Return whether only the place or the means differs, of the same done to the same."""
    kept = any(not word.early and word.key in d.shared and word.key != d.old.verb.key for word in d.old.words)
    return kept and d.dropped[0].placed and d.added[0].placed


def says_less(d: Difference) -> bool:
    """Return whether the new one says nothing that the old one did not, in no other tense."""
    if d.added or d.numbers[1] or d.days[1] or d.denied or d.turned or d.old.rest != d.new.rest:
        return False
    if d.new.settings.keys() - d.old.settings.keys() or (d.dropped and changed(d)):
        return False
    return (
        d.shared != frozenset() and _tenses(d) or not (d.dropped or d.numbers[0] or d.days[0]) and _tenses(d)
    )


def _tenses(d: Difference) -> bool:
    time = {"past", "planned", "over"}
    return d.old.signals & time == d.new.signals & time


def says_more(d: Difference) -> bool:
    """Return whether the new one says all that the old one did, and more."""
    grown = bool(d.added or d.numbers[1] or d.days[1] or d.new.settings.keys() - d.old.settings.keys())
    return grown and not (d.dropped or d.numbers[0] or d.days[0] or d.denied)
