"""Picked: a query that was put to the channels -> what its answer is made of.

rank > descend > follow > fold > match > rerank > valid > verify > diversify > vary > caps
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from scrubjay.providers.rerankers.port import Question
from scrubjay.recall.around import grouped
from scrubjay.recall.beyond import Shelved, beyond
from scrubjay.recall.channelled import Heard, deeper
from scrubjay.recall.chosen import Chosen, chosen, varied
from scrubjay.recall.folded import folded
from scrubjay.recall.grouped import Group
from scrubjay.recall.judged import Ranked, rank, scored
from scrubjay.recall.plan import Plan
from scrubjay.recall.relevance import Sign
from scrubjay.recall.request import Request
from scrubjay.recall.rerank import NOT_LOOKED, Looked, Reranking, look, rerank
from scrubjay.recall.sessions import sessions
from scrubjay.recall.slate import ordered
from scrubjay.recall.turn_order import order_turns
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    from scrubjay.memory.ranking import Candidate

DEEPER: Final = 8
"""Times as many hits are asked for again, where those that there are leave an answer short."""
DEEPEST: Final = 3_200
"""Hits of a channel beyond which nothing else is looked for, however many copies there are: so the work is bounded."""
BESIDE: Final = 3
"""Candidates read for each result where those beside a better one join it: so many of them mostly do."""
SESSION_DEPTH: Final = 400
"""Hits of a channel from which conversations are ranked: of each, more than its best turn is wanted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that was put to the channels: what an answer is made of, and what any memory can be measured by.

    Attributes:
        plan: The query made ready.
        heard: What the channels said.
        back: Archived memories that are wanted back.
        shelves: The categories and what each scores, or None where they are not descended.
    """

    plan: Plan
    heard: Heard
    back: frozenset[str]
    shelves: Shelved | None = None


@dataclass(frozen=True, slots=True)
class Picked:
    """What an answer is made of.

    Attributes:
        pool: What was ranked, how many were too unsure to be, and by which ways some were come to.
        ranked: The same, folded and looked at again, best first.
        into: Turn to the statements that it stands for.
        chosen: Those that were read, verified, and said once.
        groups: What is a result, best first.
        looked: What a second look said.
        told: What speaks for each that was ranked, as far as that was looked at.
    """

    pool: Ranked
    ranked: list[Candidate]
    into: Mapping[str, tuple[str, ...]]
    chosen: Chosen
    groups: list[Group]
    looked: Looked
    told: Mapping[str, Sign] = field(default_factory=dict)


def pick(asked: Asked, reader: Reader, request: Request, again: Reranking | None) -> Picked:
    """Rank and choose; where copies or the turns of few conversations leave the answer short, among more hits."""
    made, heard, depth = asked.plan, asked.heard, asked.plan.depth
    looked = None if again is not None and made.fusion == "auto" and "rerank" in made.stages else NOT_LOOKED
    by_session, wanted = request.by == "session", made.limit
    if by_session:  # what was said in two conversations was said in both
        made = replace(made, stages=tuple(s for s in made.stages if s != "diversify"))
        depth, wanted = max(depth, SESSION_DEPTH), DEEPEST
        heard = deeper(heard, depth)
    elif request.neighbours:
        wanted = min(wanted * BESIDE, DEEPEST)
    told: Mapping[str, Sign] = {}
    while True:
        pool = rank(made, heard, reader, request.now)
        of = partial(scored, made, heard, reader, request.now)
        ranked, into = folded(beyond(pool.candidates, made, reader, of, asked.shelves), made, reader)
        if made.fusion == "auto" and "match" in made.stages and not (by_session or made.question.alone):
            done = order_turns(ranked, made, heard, reader)
            ranked, told = done.candidates, done.told
        if looked is None and again is not None:
            question = Question(made.query.text, made.groups, tuple(heard.rarity))
            looked = look(ranked, question, reader, again)  # once, however deep one has to go
        looked = looked or NOT_LOOKED
        ranked = ordered(rerank(ranked, looked.parts)) if looked.parts else ranked
        read = chosen(ranked, made, reader, asked.back, wanted)
        if by_session:
            groups = sessions(read.candidates, read.records)
        else:
            read = varied(read, made, request.caps)
            groups = grouped(read.candidates, read.records, request.neighbours)
        short = len(groups) < asked.plan.limit and (by_session or read.copies or request.neighbours)
        more = any(len(ranking.hits) >= depth for ranking in heard.rankings)
        if not short or not more or depth >= DEEPEST:
            return Picked(pool, ranked, into, read, groups, looked, told)
        depth = min(depth * DEEPER, DEEPEST)
        heard = deeper(heard, depth)
