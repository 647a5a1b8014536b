"""Signs: Seen -> dict[str, float]. What of two statements tells what the one is to the other, as numbers to be weighed.

Each sign is of a kind that holds for statements about anything: how much of their words they share, whether one denies,
whether their numbers agree, what tells of time. None knows a word of a subject. ``weighed`` says what each is worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.change.claim import Claim, Word
from scrubjay.ingest.change.compare import Difference
from scrubjay.ingest.change.earned import occasions, share, slot
from scrubjay.ingest.change.guards import denials
from scrubjay.ingest.change.levels import level
from scrubjay.ingest.change.likeness import KINDS
from scrubjay.ingest.change.overlap import overlap
from scrubjay.ingest.change.subjects import other_place, other_subject
from scrubjay.ingest.change.valence import valence
from scrubjay.ingest.change.values import exclusive, value_parts
from scrubjay.ingest.change.words import ADDITIVE, LIGHT, SINGLE

MOST_ALONE: Final = 20.0
"""Weight of words of one side alone beyond which more make no difference."""
_TIMES: Final = ("changed", "over", "planned", "past", "ongoing", "also", "waited")

Signs = dict[str, float]


@dataclass(frozen=True, slots=True)
class Seen:
    """Two statements with all that was found out about them.

    Attributes:
        difference: What parts them.
        ours: Tokens of the old one.
        theirs: Tokens of the new one.
        tongue: Their language.
        reason: What stands against their saying the same (`guards.against`).
        verdict: What the rules say.
        rule: Name of the rule.
    """

    difference: Difference
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    tongue: str
    reason: str
    verdict: str
    rule: str


def signs(seen: Seen) -> Signs:
    """Return the signs of a pair by name, about from -1 to 2 each; those that are 0 may be left out."""
    d = seen.difference
    found = _words(d)
    least = found["least shared"]
    found |= (
        _denied(seen, least)
        | _values(d, least, found["old substance"])
        | _times(d, found["old shared"])
        | _things(d, least)
    )
    found |= _ruled(seen, least)
    oneself = float(d.old.person == d.new.person == "i")
    found |= {"of oneself": oneself, "of oneself, shared": oneself * least}
    found["long"] = math.log((len(seen.theirs) + len(seen.ours)) / 20 + 1)
    found["longer"] = math.log((len(seen.theirs) + 1) / (len(seen.ours) + 1))
    return found


def _words(d: Difference) -> Signs:
    old, alone_old, new, alone_new = overlap(d.old, d.new)
    least = min(old, new)
    gap_old, gap_new = slot(d.old, d.dropped), slot(d.new, d.added)
    return {
        "old shared": old,
        "new shared": new,
        "least shared": least,
        "most shared": max(old, new),
        "old alone": min(alone_old, MOST_ALONE) / 10,
        "new alone": min(alone_new, MOST_ALONE) / 10,
        "old substance": share(d.old, d),
        "new substance": share(d.new, d),
        "nothing dropped": float(not d.dropped),
        "nothing added": float(not d.added),
        "one for one": float(len(d.dropped) == 1 and len(d.added) == 1),
        "swapped, shared": least * bool(d.dropped and d.added),
        "one gap": float(bool(gap_old) and bool(gap_new)),
    }


def _denied(seen: Seen, least: float) -> Signs:
    d = seen.difference
    parity = (denials(seen.ours, seen.tongue) + denials(seen.theirs, seen.tongue)) % 2
    old, new = valence(d.dropped), valence(d.added)
    return {
        "denied": float(d.denied),
        "denied, shared": d.denied * least,
        "denials differ": float(parity),
        "against: denied": float(seen.reason == "denied"),
        "against: denied, shared": (seen.reason == "denied") * least,
        "against: number": float(seen.reason == "number"),
        "against: bounded": float(seen.reason == "bounded"),
        "against: another": float(seen.reason == "another"),
        "well and ill": float(old * new < 0),
        "well or ill": float((old != 0) != (new != 0)),
        "turned": float(d.turned),
        "split": float(d.split),
        "rejects the old": float(d.names_old),
    }


def _values(d: Difference, least: float, substance: float) -> Signs:
    other = value_parts(d)
    numbers = bool(d.old.numbers and d.new.numbers) and not any(d.numbers)
    days = bool(d.old.days and d.new.days) and not any(d.days)
    equal = (numbers or days) and not other
    return {
        "other value": float(other),
        "other value, shared": other * least,
        "other value, old substance": other * substance,
        "other value, nothing added": float(other and not d.added),
        "other value, words swapped": float(other and bool(d.added and d.dropped)),
        "other value, another subject": float(other and any(word.early for word in d.added)),
        "other value of a name": float(other and any(one.names for one in (*d.numbers[0], *d.numbers[1]))),
        "other value, now changed": float(other and "changed" in d.new.signals),
        "old number": float(bool(d.numbers[0])),
        "new number": float(bool(d.numbers[1])),
        "old day": float(bool(d.days[0])),
        "new day": float(bool(d.days[1])),
        "equal number of another": float(numbers and not _beside(d)),
        "equal values": float(equal),
        "equal values, shared": equal * least,
    }


def _beside(d: Difference) -> bool:
    """Return whether numbers of both stand beside a word of both, or measure: "Python 3", "3 workers" do neither."""
    ours, theirs = (
        {level(w.lower(), "en").key for one in claim.numbers for w in one.near if w}
        for claim in (d.old, d.new)
    )
    return bool(ours & theirs) or any(one.unit for one in d.old.numbers)


def _times(d: Difference, old_shared: float) -> Signs:
    old, new = d.old.signals, d.new.signals
    found = {f"now {name}": 1.0 for name in _TIMES if name in new and name not in old}
    found |= {f"no more {name}": 1.0 for name in _TIMES if name in old and name not in new}
    found["both past"] = float("past" in old and "past" in new)
    found["changed, shared"] = found.get("now changed", 0.0) * old_shared
    found["over, shared"] = found.get("now over", 0.0) * old_shared
    return found


def _things(d: Difference, least: float) -> Signs:
    old, new = d.old, d.new
    keys_old, keys_new = _keys(old.words), _keys(new.words)
    named_old, named_new = _names(old), _names(new)
    dropped, added = (any(word.early for word in words) for words in (d.dropped, d.added))
    kinds_old, kinds_new = ({KINDS.get(word.key, -1) for word in words} for words in (d.dropped, d.added))
    return {
        "old name": float(bool(named_old - keys_new)),
        "new name": float(bool(named_new - keys_old)),
        "other name": float(bool(named_old - keys_new) and bool(named_new - keys_old)),
        "same name": float(bool(named_old & named_new)),
        "other place": float(other_place(d)),
        "other subject": float(other_subject(d)),
        "other person": float(old.person != new.person),
        "same verb": float(old.verb.key == new.verb.key and old.verb.key not in ("", "be")),
        "verb of many": float(old.verb.key in ADDITIVE and new.verb.key in ADDITIVE),
        "verb of one": float(old.verb.key in SINGLE),
        "one kind": float(bool(kinds_old & kinds_new - {-1})),
        "old subject alone": float(dropped),
        "new subject alone": float(added),
        "subjects alone": float(dropped and added),
        "subjects alone, shared": (dropped and added) * least,
        "subject for subject": float(dropped and added and len(d.dropped) == 1 and len(d.added) == 1),
        "predicate for predicate": float(bool(d.dropped and d.added) and not dropped and not added),
        "same subject": float(bool(_early(old) & _early(new))),
        "same predicate": float(bool(_late(old) & _late(new))),
        "other verb": float(bool(old.verb.key and new.verb.key) and old.verb.key != new.verb.key),
        "exclusive": float(exclusive(d)),
        "occasions": float(occasions(d)),
    }


def _keys(words: Sequence[Word]) -> set[str]:
    return {word.key for word in words}


def _early(claim: Claim) -> set[str]:
    return {word.key for word in claim.words if word.early}


def _late(claim: Claim) -> set[str]:
    return {word.key for word in claim.words if not word.early and word.key not in LIGHT}


def _names(claim: Claim) -> set[str]:
    return {word.key for word in claim.words if word.name}


def _ruled(seen: Seen, least: float) -> Signs:
    found = {f"rules: {seen.verdict}": 1.0}
    nothing, subject = seen.rule == "nothing in common", seen.rule == "other subject"
    thing = seen.rule.endswith("of another thing")
    return found | {
        "rules: nothing": float(nothing),
        "rules: nothing, shared": nothing * least,
        "rules: subject": float(subject),
        "rules: subject, shared": subject * least,
        "rules: came true, of another thing": float(thing and seen.rule.startswith("came true")),
        "rules: over, of another thing": float(thing and seen.rule.startswith("over")),
        "rules: number, of another thing": float(thing and seen.rule.startswith("another number")),
        "rules: details, of another thing": float(thing and seen.rule.startswith("more")),
        "rules: thing": float(thing),
        "rules: thing, shared": thing * least,
        "rules: but": float(", but " in seen.rule),
    }
