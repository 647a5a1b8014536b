"""Sessions: candidates that are turns -> conversations, each ranked from its turns, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.records import Record
from scrubjay.recall.grouped import Group

SHARE: Final = 0.5
"""What the second best turn of a conversation adds of its score. LoCoMo hit@1 .632 with the best turn alone, .645
with half of the second, .632 with all of it, nDCG .745, .749, .739; LongMemEval .945, .946, .933; more turns, sums
that fall off as 1/n and log-sum-exp are no better or worse (bench/LOG.md)."""
INSIDE: Final = 3
"""Turns of a conversation that are shown: its best, and two more."""


def sessions(candidates: Sequence[Candidate], records: Mapping[str, Record]) -> list[Group]:
    """Rank conversations by their best turn and half of the second.

    A second turn with a score below 0 takes nothing away: nobody is less of an answer for having said more.

    Args:
        candidates: Best first; what belongs to no conversation is passed over.
        records: The record of each.
    """
    turns: dict[str, list[Candidate]] = {}
    for one in candidates:
        session = records[one.id].session
        if session is not None:
            turns.setdefault(session, []).append(one)
    found = []
    for own in turns.values():
        lead = own[0]
        second = own[1].score if len(own) > 1 else 0.0
        if second > 0:
            part = Contribution("second turn", second, second, SHARE)
            lead = replace(lead, contributions=(*lead.contributions, part))
        found.append(Group(lead, tuple(own[1:INSIDE])))
    return sorted(found, key=lambda group: (-group.lead.score, group.lead.id))
