"""Rules: Difference -> verdict. In an order: whose, where and when first, then what is denied, then what is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.change.compare import Difference
from scrubjay.ingest.change.likeness import KINDS
from scrubjay.ingest.change.subjects import other_place, other_subject
from scrubjay.ingest.change.values import (
    came_true,
    changed,
    exclusive,
    happened,
    other_value,
    over,
    says_less,
    says_more,
    stands_in,
    value_parts,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A reason to decide.

    Attributes:
        name: What the rule is called in a verdict.
        verdict: The verdict it gives a difference, or None where it does not hold.
    """

    name: str
    verdict: Callable[[Difference], str | None]


def _other_subject(d: Difference) -> str | None:
    """What is said of another thing or person changes nothing of this one."""
    return "new" if other_subject(d) else None


def _names_old(d: Difference) -> str | None:
    """Who says "Y instead of X" says what became of X."""
    return "supersedes" if d.names_old and (d.added or changed(d)) else None


def _split(d: Difference) -> str | None:
    """Not to drive a manual, and to drive an automatic, go together."""
    return "new" if d.split else None


def _other_place(d: Difference) -> str | None:
    """The same thing in another environment is another thing, unless it went there."""
    if not other_place(d):
        return None
    return "supersedes" if changed(d) and not d.denied else "new"


def _turned(d: Difference) -> str | None:
    """The same words the other way round ("tea over coffee") cannot hold with the first way."""
    if not d.turned:
        return None
    return "supersedes" if changed(d) or over(d) else "contradicts"


def _another_time(d: Difference) -> str | None:
    """What happened on another day happened once more; and what is said of another year stands beside."""
    return "new" if happened(d) else None


def _over(d: Difference) -> str | None:
    """What stopped, was left or sold is no longer so."""
    if not over(d) or not (d.shared or d.old.verb.key == d.new.verb.key):
        return None
    return "supersedes"


def _denied(d: Difference) -> str | None:
    """A statement and its denial cannot both hold; where time passed, the later one does."""
    if not d.denied:
        return None
    if other_value(d):
        return "supersedes" if changed(d) and d.shared else "new"
    if value_parts(d):
        return "supersedes" if changed(d) else "new"
    return "supersedes" if changed(d) else "contradicts"


def _came_true(d: Difference) -> str | None:
    """A plan that came true, or the state before a plan."""
    return "supersedes" if came_true(d) else None


def _another_number(d: Difference) -> str | None:
    """The same attribute with another number or date."""
    if not value_parts(d):
        return None
    return "supersedes" if stands_in(d) else "new"


def _same(d: Difference) -> str | None:
    """Nothing is said but what was said."""
    return "duplicate" if not d.dropped and says_less(d) else None


def _less(d: Difference) -> str | None:
    """Fewer details than the old one has."""
    return "duplicate" if says_less(d) else None


def _more(d: Difference) -> str | None:
    """All that the old one says, and more."""
    return "supersedes" if says_more(d) else None


def _another_kind(d: Difference) -> str | None:
    """Two words of one kind that exclude each other: red, blue."""
    old, new = (
        {KINDS[w.key] for w in d.dropped if w.key in KINDS},
        {KINDS[w.key] for w in d.added if w.key in KINDS},
    )
    return "supersedes" if old & new and len(d.dropped) <= 2 and len(d.added) <= 4 else None


def _replaced(d: Difference) -> str | None:
    """Another value of what can have but one, or of anything where the speaker says that it changed."""
    if "also" in d.new.signals and "changed" not in d.new.signals:
        return "new"
    if changed(d):
        return "supersedes" if stands_in(d) else "new"
    return "supersedes" if exclusive(d) else None


RULES: Final = (
    Rule("instead of the old", _names_old),
    Rule("other subject", _other_subject),
    Rule("other place", _other_place),
    Rule("both hold", _split),
    Rule("turned round", _turned),
    Rule("another time", _another_time),
    Rule("over", _over),
    Rule("came true", _came_true),
    Rule("denied", _denied),
    Rule("another number", _another_number),
    Rule("the same words", _same),
    Rule("fewer details", _less),
    Rule("more details", _more),
    Rule("another of its kind", _another_kind),
    Rule("another value", _replaced),
)
"""The first that holds decides; where none does, the new statement is new."""
