"""Pipeline: the read path in one screen.

plan > lost > channels > weigh > fuse > evidence > session > neighbours > life > dated > tiers > graph
> descend > follow > fold > match > rerank > valid > verify > diversify > vary > caps > admit > recency
> assemble
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrubjay.memory.answers import Result
from scrubjay.memory.ranking import Candidate
from scrubjay.recall.admit import FIRST, Admitted, admit
from scrubjay.recall.around import around
from scrubjay.recall.assemble import Joined, assemble
from scrubjay.recall.beyond import shelved
from scrubjay.recall.channelled import channelled
from scrubjay.recall.folded import evidence_of
from scrubjay.recall.judged import scored
from scrubjay.recall.lent import leads, lent
from scrubjay.recall.life import outlived
from scrubjay.recall.lost import lost, may_return
from scrubjay.recall.picked import Asked, Picked, pick
from scrubjay.recall.plan import plan
from scrubjay.recall.recency import newer_equals
from scrubjay.recall.relevance import Sign, signs
from scrubjay.recall.request import Request
from scrubjay.recall.rerank import Reranking
from scrubjay.recall.tiers import kept_out
from scrubjay.recall.valid import newer, newest_first
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, what it went without, what the plan decided, what age alone kept out, why nothing was."""

    results: tuple[Result, ...]
    partial: tuple[str, ...]
    notes: tuple[str, ...]
    hidden: int = 0
    silence: str = ""
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What may answer a query: what was picked, what speaks for the first of it, which of these are admitted."""

    picked: Picked
    told: Mapping[str, Sign]
    admitted: Admitted


def search(
    reader: Reader, embedders: Sequence[Embedder], request: Request, again: Reranking | None = None
) -> Found:
    """Answer one query from one consistent view, whose best are looked at ``again`` where that is wanted.

    Where nothing active answers, the archive is asked by the same gate: what is stored is not said to be missing.
    """
    asked = ask(reader, embedders, request)
    found = answered(reader, asked, request, again)
    if found.results or not may_return(asked.plan):
        return found
    away = replace(request, where=replace(request.where, statuses=("archived",)))
    asked_again = ask(reader, embedders, away)
    still_true = replace(asked_again.plan, true_at=asked.plan.true_at)
    archived = answered(reader, replace(asked_again, plan=still_true), away, again)
    if not archived.results:
        return found
    return replace(archived, notes=(*archived.notes, "nothing active answers; the archive does"))


def ask(reader: Reader, embedders: Sequence[Embedder], request: Request) -> Asked:
    """Put a query to the channels."""
    made = plan(request, reader)
    back = lost(made, reader)
    if back:
        made = replace(made, where=replace(made.where, statuses=("active", "archived")))
    heard = channelled(made, reader, embedders)
    return Asked(made, heard, back, shelved(made, heard.rankings, reader, embedders))


def measured(reader: Reader, asked: Asked, ids: Sequence[str], now: int) -> list[Candidate]:
    """Return what memories would score that the channels may not have found, best first (fusion ``auto``)."""
    return scored(asked.plan, asked.heard, reader, now, ids) if asked.heard.rankings else []


def judge(reader: Reader, asked: Asked, request: Request, again: Reranking | None = None) -> Judgement:
    """Choose what may answer a query that was put to the channels: a search and a context go by this alike."""
    made, heard = asked.plan, asked.heard
    picked = pick(asked, reader, request, again)
    records = picked.chosen.records
    first = [group.lead for group in picked.groups[: max(made.limit, FIRST)]]
    turns_of = {one.id: records[one.id].turn is not None for one in first}
    led = leads(turns_of, picked.ranked, picked.pool.ways)
    beside = sorted({memory for by in led.values() for memory in by} - turns_of.keys())
    turns_of |= {memory: head.turn for memory, head in (reader.heads(beside) if beside else {}).items()}
    missing = {memory: turn for memory, turn in turns_of.items() if memory not in picked.told}
    found = signs(made, heard.words, heard.rankings, missing)
    told = lent({memory: picked.told.get(memory) or found[memory] for memory in turns_of}, led)
    admitted = admit(first, told, request.min_relevance if "admit" in made.stages else 0.0)
    if not first and made.question.alone:
        admitted = Admitted((), "Nothing stored is of the time that is asked about.")
    return Judgement(picked, told, admitted)


def answered(reader: Reader, asked: Asked, request: Request, again: Reranking | None = None) -> Found:
    """Return the answer to a query that was put to the channels."""
    made, heard = asked.plan, asked.heard
    found = judge(reader, asked, request, again)
    picked, admitted, records = found.picked, found.admitted, found.picked.chosen.records
    kept = {one.id for one in admitted.candidates}
    groups = [group for group in picked.groups if group.lead.id in kept]
    at = request.now if made.true_at is None else made.true_at
    first = [group.lead.id for group in groups]
    later = newer(reader, {memory: records[memory] for memory in first}, at)
    of_now = made.as_of is None and not made.question.times and not picked.looked.parts
    bounded = "recency" in made.stages and made.fusion == "auto" and request.by == "memory" and of_now
    best = [group.lead for group in groups[:FIRST]] if bounded else []
    equal = newer_equals(best, records, found.told, made, heard.words)
    groups = newest_first(newest_first(groups, equal), later)[: made.limit]
    shown = [group.lead for group in groups]
    sources = {source.id: source for source in reader.sources()}
    rests = evidence_of(reader, [one.id for one in shown if records[one.id].origin == "derived"])
    turns = around(reader, groups, records, request.neighbours, made.groups)
    joined = Joined(rests, picked.into, picked.chosen.copies, picked.pool.ways, turns, later)
    results = assemble(shown, records, sources, (made, heard.words, found.told), request, joined)
    aged = outlived(picked.ranked, made.limit) if request.by == "memory" and not admitted.silence else 0
    notes = made.notes + heard.notes + kept_out(picked.pool.unsure, made.pool.floor)
    partial = heard.partial + picked.looked.partial
    return Found(results, partial, notes, aged, admitted.silence, made.shown_as_of)
