"""Order of turns among passages: no turn stands before a passage that is likelier to answer.

Turns and passages differ in length, in titles and in what their neighbours lend them, so that their scores order each
among themselves and do not compare. The estimate of how likely each is to answer does: it was fitted over both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.records import Record
from scrubjay.recall.channelled import Heard
from scrubjay.recall.plan import Plan
from scrubjay.recall.relevance import Sign, signs
from scrubjay.recall.slate import ordered
from scrubjay.recall.telling import held_by, weighed
from scrubjay.store.base import Reader
from scrubjay.text.languages import language
from scrubjay.text.questions import unasked, unknowing
from scrubjay.text.telling import says_nothing
from scrubjay.text.tokens import emitted, terms

FIRST: Final = 5
"""Passages, the best by score, that a turn is compared with: what a deeper one is likelier by is chance."""
READ: Final = 50
"""Turns, the best, that are read to see whether they only ask: as many as a reranker looks at."""
ASKING: Final = 0.5
"""Share of its words that a turn holds outside of its questions, below which it asks."""
OWN: Final = 3
"""Words of its own up to which a question asks the same: what holds more tells details, and of BEAM's evidence half is
such questions (R@5 .548, .286 where every question counts; bench/LOG.md)."""
BEHIND: Final = 1e-5
"""What a turn stays behind a memory that goes before it, at least."""


@dataclass(frozen=True, slots=True)
class TurnOrder:
    """Candidates, best first, and what speaks for each."""

    candidates: list[Candidate]
    told: Mapping[str, Sign]


def order_turns(candidates: Sequence[Candidate], made: Plan, heard: Heard, reader: Reader) -> TurnOrder:
    """Put each turn behind those of the first passages that are likelier to answer, and questions behind answers.

    Passages stand among themselves by score, and so do turns.

    Args:
        candidates: Best first, of fusion ``auto``.
        made: The query made ready.
        heard: What the channels said.
        reader: Where turns are read.
    """
    heads = reader.heads([one.id for one in candidates])
    turns = {one.id: one.id in heads and heads[one.id].turn for one in candidates}
    if not any(turns.values()):
        return TurnOrder(list(candidates), {})
    told = signs(made, heard.words, heard.rankings, turns)
    read = [one.id for one in candidates if turns[one.id]][:READ]
    told |= asked_and_replied(told, reader.get(read) if read else {}, made, heard)
    asking = {memory for memory, sign in told.items() if sign.answering < ASKING}
    passages = [one for one in candidates if not turns[one.id]]
    stating = behind([one for one in candidates if turns[one.id] and one.id not in asking], passages, told)
    answers = [one for one in (*passages[:FIRST], *stating[:FIRST]) if told[one.id].enough]
    asked = behind([one for one in candidates if one.id in asking], answers, told, len(answers))
    return TurnOrder(ordered([*passages, *stating, *asked]), told)


def behind(
    turns: Sequence[Candidate], others: Sequence[Candidate], told: Mapping[str, Sign], first: int = FIRST
) -> list[Candidate]:
    """Return turns, none before one of the first others that is likelier to answer, in their own order.

    Args:
        turns: Best first.
        others: Best first.
        told: What speaks for each of both.
        first: Others that are looked at.
    """
    found = []
    able = [(one.score, told[one.id].relevance) for one in others[:first]]
    for place, one in enumerate(turns, start=1):
        likely = told[one.id].relevance
        least = min((score for score, relevance in able if relevance > likely), default=math.inf)
        if one.score >= least:
            one = one.plus(Contribution("behind", least, least - BEHIND * place - one.score, 1.0))
        found.append(one)
    return ordered(found)


def asked_and_replied(
    told: Mapping[str, Sign], records: Mapping[str, Record], made: Plan, heard: Heard
) -> dict[str, Sign]:
    """Return what speaks for turns that only ask, and for the replies to them.

    Who asked the same before does not answer it; who was asked does, unless they say that they do not know.

    Args:
        told: What speaks for each turn by itself.
        records: Turns.
        made: The query made ready.
        heard: What the channels said.
    """
    found = {
        memory: replace(told[memory], answering=share)
        for memory, share in answering(records, made, heard).items()
    }
    beside = {(record.session, record.turn): record for record in records.values() if record.turn is not None}
    for memory, sign in list(found.items()):
        asking = records[memory]
        reply = beside.get((asking.session, (asking.turn or 0) + 1))
        if sign.answering >= ASKING or reply is None or reply.role == asking.role:
            continue
        if not unknowing(reply.content):
            own = found.get(reply.id, told[reply.id])
            found[reply.id] = replace(own, lent=max(own.lent, told[memory].relevance))
    return found


def answering(records: Mapping[str, Record], made: Plan, heard: Heard) -> dict[str, float]:
    """Return of turns that ask the same how much of the query's words they hold beside that, 0 to 1.

    A question with details of its own ("can I fly to Lisbon on Tuesday, from gate 4?") says something, and is none.

    Args:
        records: Memories; those that are no turns are left out.
        made: The query made ready.
        heard: What the channels said.
    """
    weights = weighed(made, heard.words)
    forms = {group.word: group.forms for group in made.groups}
    wanted = {form for every in forms.values() for form in every}

    def repeats(question: str) -> bool:
        said = [every for every in emitted(question) if not any(says_nothing(form) for form in every)]
        return sum(wanted.isdisjoint(every) for every in said) <= OWN

    ids = [memory for memory, record in records.items() if record.turn is not None]
    found = {}
    for memory, words in zip(ids, held_by(heard.words, ids), strict=True):
        text = records[memory].content
        rest = unasked(text, repeats)
        if rest is text:
            continue
        there = terms(rest, language(rest)).counts
        held = [word for word in weights if word in words]
        whole = math.fsum(weights[word] for word in held)
        own = math.fsum(weights[word] for word in held if any(form in there for form in forms[word]))
        found[memory] = own / whole if whole else float(bool(rest))
    return found
