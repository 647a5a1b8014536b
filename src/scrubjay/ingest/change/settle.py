"""Settle: Seen, Chances -> verdict. The likeliest verdict that nothing forbids.

A wrong "duplicate" loses what was said, a wrong "supersedes" hides what is true; a wrong "new" does neither.
So the first two need more than to be likeliest where the rules do not say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrubjay.ingest.change.compare import Difference
from scrubjay.ingest.change.earned import kept
from scrubjay.ingest.change.overlap import rooted
from scrubjay.ingest.change.piece import Number
from scrubjay.ingest.change.signs import Seen, Signs
from scrubjay.ingest.change.subjects import other_place
from scrubjay.ingest.change.values import value_parts
from scrubjay.ingest.change.weighed import Chances

SAID: Final = 0.55
"""Least chance by which a statement is dropped as said before where the rules do not say so."""
HIDDEN: Final = 0.7
"""Least chance by which a statement hides another where the rules do not say so."""

OPPOSED: Final = 0.5
"""Least chance by which it denies another where the rules do not say so."""
COVERED: Final = 0.5
"""Share of what a statement says, by the worth of its words, that the old one must say in words too."""

TOLD: Final = 2
"""Words of substance that both must have for the new one to be the old one in other words, unless it is
``CERTAIN``."""
CERTAIN: Final = 0.9
"""Chance by which it is, or by which it is although one speaks well or ill of a thing and the other does not."""


def settle(seen: Seen, signs: Signs, chances: Chances) -> str:
    """Return the verdict, the rules' own where it is as likely as any."""
    allowed = dict(zip(Chances._fields, chances, strict=True))
    if not _may_repeat(seen, signs, chances.duplicate):
        del allowed["duplicate"]
    if seen.verdict != "supersedes" and (chances.supersedes < HIDDEN or _of_other(seen.difference)):
        del allowed["supersedes"]
    if seen.verdict != "contradicts" and (chances.contradicts < OPPOSED or other_place(seen.difference)):
        del allowed["contradicts"]
    return max(allowed, key=lambda name: allowed[name])


def _may_repeat(seen: Seen, signs: Signs, chance: float) -> bool:
    """Return whether a new statement may be taken for said already."""
    if seen.verdict == "duplicate":
        return not _named(seen.difference)
    if chance < SAID or signs["new shared"] < COVERED or (seen.reason and seen.reason != "bounded"):
        return False
    d = seen.difference
    other = d.denied or d.turned or d.split or value_parts(d) or other_place(d) or d.old.rest != d.new.rest
    doubtful = (d.added and len(kept(d)) < TOLD) or signs["well or ill"] or signs["well and ill"]
    if doubtful and chance < CERTAIN:
        return False
    return not (other or _somebody_else(d) or _swapped(d) or _other_names(d) or _named(d))


def _of_other(d: Difference) -> bool:
    """Return whether a value is another thing's: the read timeout, the connect timeout."""
    if value_parts(d) and d.old.settings.keys() ^ d.new.settings.keys() and "changed" not in d.new.signals:
        return True
    early = [[word for word in words if word.early] for words in (d.dropped, d.added)]
    return bool(early[0] and early[1]) and value_parts(d) and "changed" not in d.new.signals


def _somebody_else(d: Difference) -> bool:
    """Return whether a person is the subject of one, and somebody or something else of the other."""
    if d.old.person == d.new.person:
        return False
    return bool(d.old.person and d.new.person) or any(word.early for word in (*d.dropped, *d.added))


def _swapped(d: Difference) -> bool:
    """Return whether other words stand in one place, and all else is the same: "drinks milk", "drinks red wine"."""
    ours, theirs = ([word.key for word in claim.words] for claim in (d.old, d.new))
    before = _alike(ours, theirs)
    behind = _alike(ours[before:][::-1], theirs[before:][::-1])
    gaps = len(ours) - before - behind, len(theirs) - before - behind
    return min(gaps) > 0 and before + behind >= max(gaps) and bool(d.dropped and d.added)


def _alike(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many first words are the same."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(ours), len(theirs)))


def _other_names(d: Difference) -> bool:
    """Return whether each has a name that the other has not, in no spelling."""
    ours, theirs = ([word.raw.lower() for word in words if word.name] for words in (d.dropped, d.added))
    return bool(ours and theirs) and not any(rooted(one, other) for one in ours for other in theirs)


def _named(d: Difference) -> bool:
    """Return whether a number of both is a part of a name in one of them alone: "Python 3", "3 workers"."""
    names = {
        (one.near[0].lower(), one.count) for claim in (d.old, d.new) for one in claim.numbers if _of_name(one)
    }
    sides = [{(one.near[0].lower(), one.count) for one in claim.numbers} for claim in (d.old, d.new)]
    return any(name not in side for name in names for side in sides)


def _of_name(number: Number) -> bool:
    return not number.unit and number.near[0][:1].isupper() and number.near[0] != "I"
