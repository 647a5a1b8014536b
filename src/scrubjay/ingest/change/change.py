"""Change: (str, str) -> Verdict. What becomes of a new statement beside an old one that is like it.

Likeness only nominates: "timeout 30 seconds" and "timeout 90 seconds" are as like as two statements can be. What
decides is what differs, read rule by rule; the first rule that holds gives the verdict and its name. The rules do
not know what is stored, nor when anything was said but that the new statement came later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.change.claims import claim
from scrubjay.ingest.change.compare import compare
from scrubjay.ingest.change.earned import earned, related
from scrubjay.ingest.change.guards import against
from scrubjay.ingest.change.rules import RULES
from scrubjay.ingest.change.tongues import tongue

VERDICTS: Final = ("duplicate", "supersedes", "contradicts", "new")
_BUT: Final = {"denied": "denied", "number": "another number", "another": "another one"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a new statement is to an old one.

    Attributes:
        verdict: One of ``VERDICTS``.
        rule: Name of the rule that decided.
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
    language = tongue(old, new)
    difference = compare(claim(old, language), claim(new, language))
    for rule in RULES:
        verdict = rule.verdict(difference)
        if verdict == "duplicate" and (reason := against(old, new, language)):
            verdict = "contradicts" if reason == "denied" and related(difference) else "new"
            return Verdict(verdict, f"{rule.name}, but {_BUT[reason]}")
        if verdict == "contradicts" and not related(difference):
            continue
        if verdict == "supersedes" and not earned(difference, rule.name):
            return Verdict("new", f"{rule.name}, of another thing")
        if verdict:
            return Verdict(verdict, rule.name)
    return Verdict("new", "nothing in common")
