"""Earned: Difference, str -> bool. Whether a new statement speaks of the same attribute of the same thing as the old.

What is superseded is hidden, so a likeness is not enough: nearly all that both say, beside the value that changed,
must be said by both; and of two things that happened neither takes the place of the other.
"""

from __future__ import annotations

import itertools
from typing import Final

from scrubjay.ingest.change.claim import Claim, Word
from scrubjay.ingest.change.compare import Difference
from scrubjay.ingest.change.days import Day
from scrubjay.ingest.change.likeness import KINDS
from scrubjay.ingest.change.values import changed, inverted, placed, value_parts
from scrubjay.ingest.change.words import FOR, LIGHT, MOVES, ONCE, SINGLE, STATIC, WEAK

_PARTIES: Final = ({"i", "you"}, {"i", "they"}, {"you", "they"})
HALF: Final = 0.5
"""Share of the words of both that makes a denial one of the same."""
TOLD: Final = 4
"""Words of substance by which two tell of one event, not of two."""
MOST: Final = 0.6
"""Share of what the old statement says, beside its value, that the new one says too."""
SOME: Final = 0.4
"""Share of the new statement that is of the old one where it says that something changed."""
WIDEST: Final = 4
"""Words a value has."""
NEARLY_ALL: Final = 0.75
"""Share that two statements have in common beside a number or a date that differs."""


def earned(d: Difference, rule: str) -> bool:
    """Return whether the rule that says "supersedes" may hide the old statement."""
    if {d.old.person, d.new.person} in _PARTIES:
        return False
    old, new = share(d.old, d), share(d.new, d)
    if rule == "turned round":
        return True
    if rule == "instead of the old":
        return old >= HALF or any(word.key in d.shared and word.aside for word in d.new.words[-1:])
    if occasions(d):
        return rule == "more details" and len(kept(d)) >= TOLD
    if rule == "more details":
        return _elaborated(d)
    if old == 1 and {"over", "changed"} <= d.new.signals:  # "no longer", "not anymore"
        return bool(d.shared)
    if rule in ("over", "denied", "other place"):
        return (old >= MOST and new >= HALF) or (new > MOST and old >= HALF)
    if rule == "came true":
        done = d.new.verb.key in d.shared | {"", "find", "get", "have", "be"}
        return old >= MOST and (new >= HALF or (old == 1 and done))
    if value_parts(d):
        return _measured(d, old, new)
    return _valued(d, old, new)


def kept(d: Difference) -> set[str]:
    """Return the keys of the words of substance that both have."""
    return {key for key in d.shared if key not in LIGHT}


def share(claim: Claim, d: Difference) -> float:
    """Return the share of a claim's words of substance that the other one has."""
    moved = d.new.verb.key in MOVES  # "moved" stands for whatever verb the old one had
    idle = LIGHT | MOVES | ({d.old.verb.key} if moved else set())
    words = {word.key for word in claim.words if word.key not in idle}
    alone = {word.key for word in (d.dropped if claim is d.old else d.added)} & words
    alone |= (d.old.settings.keys() ^ d.new.settings.keys()) & claim.settings.keys()
    total = len(words | alone)
    return 1 - len(alone) / total if total else 1.0


def related(d: Difference) -> bool:
    """Return whether enough is said by both for one to deny the other."""
    return share(d.old, d) >= HALF and share(d.new, d) >= HALF


def occasions(d: Difference) -> bool:
    """Return whether both tell what happened: what was seen, met, bought or joined stays so."""
    if not ("past" in d.old.signals and "past" in d.new.signals):
        return False
    return not all(claim.verb.key in ONCE | MOVES | {"be"} for claim in (d.old, d.new))


def _elaborated(d: Difference) -> bool:
    """Return whether the same is said of the same, with more words."""
    if changed(d) or "over" in d.new.signals or d.new.verb.key in MOVES:
        return bool(kept(d))
    said = {word.key for word in d.new.words} if not d.old.person else set()
    static = d.old.verb.key in STATIC and d.new.verb.key in STATIC
    if d.old.person != d.new.person or not (static or d.old.verb.key in said | {d.new.verb.key, ""}):
        return False
    return len(kept(d)) > 1 or not _personal(d.old)


def _measured(d: Difference, old: float, new: float) -> bool:
    """Return whether the same thing is measured or dated."""
    if (
        d.days[0]
        and d.days[1]
        and not any(_of_a_kind(one, other) for one in d.days[0] for other in d.days[1])
    ):
        return False
    if not kept(d):
        return False
    if d.numbers[0] and d.numbers[1] and d.days[0] and d.days[1] and not changed(d):
        return False  # as much, then; so much, at another time
    if any(number.names for number in (*d.numbers[0], *d.numbers[1])) and not changed(d):
        return False
    moved = changed(d) or d.new.verb.key in MOVES
    if not moved and d.new.verb.key not in {d.old.verb.key, ""} | WEAK | LIGHT:
        return False  # when it leaves, and when it arrives
    if old == 1 and (moved or not _personal(d.old)) and not _narrowed(d):
        return True
    return min(old, new) >= (MOST if moved else NEARLY_ALL) and (moved or 1 in (old, new))


def _narrowed(d: Difference) -> bool:
    """Return whether a word of the new one alone tells which: a budget, the holiday budget."""
    alone = {word.key for word in d.added} - LIGHT
    words = d.new.words
    return any(
        word.key in alone and after.key in d.shared and after.key != d.new.verb.key
        for word, after in itertools.pairwise(words)
    )


def _of_a_kind(one: Day, other: Day) -> bool:
    """Return whether two dates say the same of a time: both a weekday, both a month, both an hour."""
    return any(a is not None and b is not None for a, b in zip(one.parts, other.parts, strict=True))


def _valued(d: Difference, old: float, new: float) -> bool:
    """Return whether the words that differ are two values of what has but one."""
    if _personal(d.new) and not changed(d) and ("planned" in d.old.signals or d.old.verb.key == "plan"):
        return False  # who plans one thing plans others
    if {KINDS[word.key] for word in d.dropped if word.key in KINDS} & {
        KINDS.get(word.key) for word in d.added
    }:
        return bool(kept(d)) or d.old.verb.key == d.new.verb.key == "be"
    lost, gained = slot(d.old, d.dropped), slot(d.new, d.added)
    if lost is None or gained is None:
        return changed(d) and old >= MOST and new >= SOME and bool(kept(d))
    if d.new.verb.key in MOVES and changed(d):
        return old >= MOST or (d.old.verb.key in SINGLE and _same_subject(d))
    if inverted(d):
        return True
    if _personal(d.old) or _personal(d.new):
        if d.old.verb.key == "be":
            return bool(d.dropped and d.added) and d.dropped[0].placed and d.added[0].placed
        other = {word.key for word in d.old.words if not word.early and word.key != d.old.verb.key} & kept(d)
        return d.old.verb.key in SINGLE - FOR or (d.old.verb.key in FOR and bool(other)) or placed(d)
    if (
        d.old.verb.key == "be"
        and _bare(d.old)
        and not (changed(d) or _named(d.dropped, d.added) or placed(d))
    ):
        return False  # a car is red and is fast
    return _same_subject(d) and bool(kept(d))


def slot(claim: Claim, words: tuple[Word, ...]) -> list[Word] | None:
    """Return the words of one claim alone if they stand side by side, else None."""
    alone = [word for word in words if word.key not in LIGHT]
    at = [n for n, word in enumerate(claim.words) if word in alone]
    between = [word for word in claim.words[at[0] : at[-1]] if word not in alone] if at else []
    return alone if all(word.key in LIGHT for word in between) and len(alone) <= WIDEST else None


def _same_subject(d: Difference) -> bool:
    return d.old.person == d.new.person and not any(word.early for word in (*d.dropped, *d.added))


def _named(*sides: tuple[Word, ...]) -> bool:
    return all(any(word.raw[:1].isupper() for word in words) for words in sides)


def _bare(claim: Claim) -> bool:
    """Return whether a thing is the subject, not an attribute of one: "the car", not "the car's colour"."""
    return sum(word.early for word in claim.words) == 1


def _personal(claim: Claim) -> bool:
    """Return whether somebody, by pronoun or by name, is the subject; people do many things at once."""
    early = [word for word in claim.words if word.early]
    return bool(claim.person) or (len(early) == 1 and early[0].raw.istitle())
