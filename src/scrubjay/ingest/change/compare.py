"""Compare: Claim, Claim -> Difference. What two statements share, and what only one of them says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.change.claim import Claim, Word
from scrubjay.ingest.change.days import Day
from scrubjay.ingest.change.match import match_days, match_hours, match_numbers
from scrubjay.ingest.change.order import exchanged, reversed_sides
from scrubjay.ingest.change.piece import Number
from scrubjay.ingest.change.slips import initials, prefixed, slip
from scrubjay.ingest.change.words import MOVES, WEAK, WEIGHTLESS

LOOKED_AT: Final = 12
"""Words left over on a side up to which spellings are compared one by one; longer texts differ in more than those."""
JOINED: Final = 5
"""Most words that another one may be the first letters of."""


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
        finer: Whether a date of both is more exact in the new one.
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
    finer: bool
    denied: bool
    turned: bool
    split: bool
    names_old: bool


def compare(old: Claim, new: Claim) -> Difference:
    """Return what differs between two claims."""
    ours, theirs = {word.key: word for word in old.words}, {word.key: word for word in new.words}
    shared = ours.keys() & theirs.keys()
    dropped = [word for key, word in ours.items() if key not in theirs]
    added = [word for key, word in theirs.items() if key not in ours]
    contrary = {key for key in shared if ours[key].opposite != theirs[key].opposite}
    denied = {key for key in shared if ours[key].denied != theirs[key].denied}
    odd = (old.odd != new.odd) ^ (len(contrary) % 2 == 1)
    if dropped and added and len(dropped) <= LOOKED_AT and len(added) <= LOOKED_AT:
        odd ^= _paired(dropped, added)
    dropped = [
        word for word in dropped if word.key not in MOVES
    ]  # "moved" says that something changed, not what
    added = [word for word in added if word.key not in MOVES]
    if not old.odd ^ new.odd:
        dropped = [word for word in dropped if not _idle(word, old)]
        added = [word for word in added if not _idle(word, new)]
    days, finer = match_days(old.days, new.days)
    days, numbers = match_hours(days, match_numbers(old.numbers, new.numbers))
    split = not odd and bool(denied & contrary) and bool(denied - contrary)
    return Difference(
        old=old,
        new=new,
        shared=frozenset(shared),
        dropped=tuple(dropped),
        added=tuple(added),
        numbers=numbers,
        days=days,
        finer=finer,
        denied=odd,
        turned=not odd and not split and (exchanged(old, new) or reversed_sides(old, new, shared)),
        split=split,
        names_old=not any(word.aside and word.denied for word in old.words)
        and any(theirs[key].aside and theirs[key].denied and not ours[key].denied for key in shared),
    )


def _idle(word: Word, claim: Claim) -> bool:
    """Return whether a word tells nothing of its own, so that a paraphrase can do without it."""
    return word.key in WEIGHTLESS or (word.key == claim.verb.key and word.key in WEAK and claim.verb.at > 0)


def _paired(dropped: list[Word], added: list[Word]) -> bool:
    """Take out of both what is one word written twice; return whether an odd number of them were opposites."""
    odd = False
    for word in list(dropped):
        for other in added:
            said = _same(word, other)
            if said is not None:
                odd ^= said
                dropped.remove(word)
                added.remove(other)
                break
    _joined(dropped, added)
    _joined(added, dropped)
    return odd


def _same(word: Word, other: Word) -> bool | None:
    """Return False for two words of one meaning, True for opposites, None for words of other things."""
    one, two = word.raw.lower(), other.raw.lower()
    if one == two:
        return word.opposite != other.opposite
    if word.name and other.name:
        return None
    stems = word.stem, other.stem
    written = word.raw[:1].islower() or other.raw[:1].islower()  # Martin is not Marten
    if (written and slip(one, two)) or word.stem == other.stem:
        return word.opposite != other.opposite
    return True if prefixed(one, two) or prefixed(*stems) else None


def _joined(one: list[Word], other: list[Word]) -> None:
    """Take out words that stand in one piece on the other side: joined, or as their first letters."""
    for word in list(other):
        for at in range(len(one)):
            for end in range(at + 2, min(at + JOINED, len(one)) + 1):
                if initials(word.raw, [part.raw.lower() for part in one[at:end]]):
                    del one[at:end]
                    other.remove(word)
                    return
