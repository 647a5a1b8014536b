"""Change: (str, str) -> Verdict. What becomes of a new statement beside an old one that is like it.

Likeness only nominates: "timeout 30 seconds" and "timeout 90 seconds" are as like as two statements can be. What
decides is what differs. It is read rule by rule; the first rule that holds gives its verdict. What the rules say is
then weighed with all other signs, since a rule is narrow and says "new" of what it does not know. Neither knows
what is stored, nor when anything was said but that the new statement came later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.change.claims import claim
from scrubjay.ingest.change.compare import Difference, compare
from scrubjay.ingest.change.earned import earned, related
from scrubjay.ingest.change.guards import against
from scrubjay.ingest.change.rules import RULES
from scrubjay.ingest.change.settle import settle
from scrubjay.ingest.change.signs import Seen, signs
from scrubjay.ingest.change.tokens import tokens
from scrubjay.ingest.change.tongues import tongue
from scrubjay.ingest.change.weighed import weigh

VERDICTS: Final = ("duplicate", "supersedes", "contradicts", "new")
_BUT: Final = {"denied": "denied", "number": "another number", "another": "another one", "bounded": "bounded"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a new statement is to an old one.

    Attributes:
        verdict: One of ``VERDICTS``.
        rule: Name of the rule that decided, or "weighed" where all signs together say otherwise.
    """

    verdict: str
    rule: str


def change(old: str, new: str) -> Verdict:
    """Return what a statement said later is to one said before, which a search found to be like it.

    Args:
        old: The statement that is remembered.
        new: The statement that was said later.

    >>> change("The timeout is 30 seconds.", "The timeout is 90 seconds.")
    Verdict(verdict='supersedes', rule='another number')
    >>> change("The production database is full.", "The staging database is full.").verdict
    'new'
    """
    if old.split() == new.split():
        return Verdict("duplicate", "the same text")
    seen = look(old, new)
    told = signs(seen)
    found = settle(seen, told, weigh(told))
    return Verdict(found, seen.rule if found == seen.verdict else "weighed")


def look(old: str, new: str) -> Seen:
    """Return all that is found out about two texts before it is weighed."""
    language = tongue(old, new)
    difference = compare(claim(old, language), claim(new, language))
    reason = against(old, new, language)
    ours, theirs = (tuple(token[1] for token in tokens(text, language)[0]) for text in (old, new))
    verdict, rule = _ruled(difference, reason)
    return Seen(difference, ours, theirs, language, reason, verdict, rule)


def _ruled(difference: Difference, reason: str) -> tuple[str, str]:
    """Return what the rules say, and which of them."""
    for rule in RULES:
        verdict = rule.verdict(difference)
        if verdict == "duplicate" and reason:
            verdict = "contradicts" if reason == "denied" and related(difference) else "new"
            return verdict, f"{rule.name}, but {_BUT[reason]}"
        if verdict == "contradicts" and not related(difference):
            continue
        if verdict == "supersedes" and not earned(difference, rule.name):
            return "new", f"{rule.name}, of another thing"
        if verdict:
            return verdict, rule.name
    return "new", "nothing in common"
