"""Subjects: a difference -> whether another thing, person or place is spoken of."""

from __future__ import annotations

from scrubjay.ingest.change.claim import Word
from scrubjay.ingest.change.compare import Difference
from scrubjay.ingest.change.values import changed, inverted, value_parts


def other_subject(d: Difference) -> bool:
    """Return whether both have a subject, and each one's has a word that the other statement lacks."""
    old, new = d.old, d.new
    if {old.person, new.person} == {"i", "they"} or {old.person, new.person} == {"you", "they"}:
        return True
    ours, theirs = _alone(d.dropped), _alone(d.added)
    if _numbered(d):
        return True
    if ours and theirs:
        return not inverted(d)
    if (old.person == "i" and theirs and not ours) or (new.person == "i" and ours and not theirs):
        spoken_of = any(word.early and word.key in d.shared for word in (*old.words, *new.words))
        return not changed(d) and not spoken_of
    return False


def _alone(words: tuple[Word, ...]) -> list[Word]:
    return [word for word in words if word.early]


def _numbered(d: Difference) -> bool:
    return any(number.early for number in d.numbers[0]) and any(number.early for number in d.numbers[1])


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
