"""Plan: Request -> Plan (what each channel is asked, and what each weighs)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scrubjay.errors import NotFoundError
from scrubjay.memory.dates import moment
from scrubjay.memory.records import ANY, Where
from scrubjay.memory.sources import named
from scrubjay.memory.tree import below
from scrubjay.recall.anchored import anchored
from scrubjay.recall.fusion import fused_by
from scrubjay.recall.query import Query, read_query
from scrubjay.recall.reach import NOWHERE, Reach
from scrubjay.recall.request import Pool, Request
from scrubjay.recall.understand import NOTHING, Question, understand
from scrubjay.store.base import Reader
from scrubjay.text.languages import function_words, language
from scrubjay.text.telling import ASKING
from scrubjay.text.telling import named as named_words
from scrubjay.text.tokens import TermGroup, groups

MOST_GROUPS: Final = 64
"""Query words that are looked up: the rarest. A pasted page says no more with the rest."""
MOST_UNKNOWN: Final = 16
"""Query words that nobody holds and that are respelled: each costs a look at the vocabulary, and what has more
of them is a pasted page, not a slip."""
MOST_POSTINGS: Final = 400_000
"""Postings read for one query. Below, every word counts; beyond, the commonest are dropped while rarer
ones remain, since they cost the most and say the least."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A query made ready for the channels.

    Attributes:
        query: The query taken apart.
        groups: Its words, rarest first where some were dropped, else in its order.
        where: Filters.
        limit: Results wanted.
        depth: Hits each channel is asked for.
        fusion: ``auto``, ``rrf``, ``weighted`` or ``raw``.
        weights: Channel to weight, for all but ``auto``.
        channels: Channels that take part.
        models: Names of the models that take part; None for every active one.
        stages: Optional stages that take part.
        notes: What was decided, for explain.
        question: What is understood of the query beside its words.
        as_of: UTC microseconds of the time as of which it is answered; None for now.
        as_asked: Whether the caller set that time, and not a word of the query.
        true_at: When what is shown must be true, UTC microseconds; None where the caller chose statuses.
        pool: What tiers weigh, how sure an answer must be, the project the caller is in.
        reach: How far the search looks beyond what the channels found.
    """

    query: Query
    groups: tuple[TermGroup, ...]
    where: Where
    limit: int
    depth: int
    fusion: str
    weights: Mapping[str, float]
    channels: tuple[str, ...]
    models: tuple[str, ...] | None
    stages: tuple[str, ...]
    notes: tuple[str, ...]
    reach: Reach = NOWHERE
    question: Question = NOTHING
    pool: Pool = field(default_factory=Pool)
    as_of: int | None = None
    as_asked: bool = False
    true_at: int | None = None

    @property
    def shown_as_of(self) -> str | None:
        """``as_of`` as ISO text."""
        return moment(self.as_of).isoformat(timespec="seconds") if self.as_of is not None else None


USUAL: Final = ANY.statuses
"""Statuses of memories that are searched where the caller named none."""
LEAST_DEPTH: Final = 50
"""Hits a channel gives at least: as good as all of them; 24 cost LoCoMo .02 of R@10 (bench/LOG.md)."""
VERIFIED_DEPTH: Final = 400
"""Hits a channel gives when phrases, exclusions or another time will throw some away."""


def plan(request: Request, reader: Reader) -> Plan:
    """Make a query ready.

    Raises:
        InputError: A fusion, preset, channel or weight is unknown or out of range.
        NotFoundError: A source or a model is not registered.
    """
    fusion, weights = fused_by(request)
    _registered(request.models or (), reader)
    query = read_query(request.query)
    if request.meant:
        query = replace(query, text=f"{query.text} {request.meant}".strip())
    notes = [f"Read as: {request.meant}"] if request.meant else []
    if not query.text:
        notes.append("The query names nothing to look for.")
    question = understand(query, request.now, request.zone)
    languages = sorted({*reader.languages(), language(query.text), "en"})
    if fusion == "auto" and "dated" in request.stages:
        asked = question.as_of if request.as_of is None else request.as_of
        question = anchored(question, query, reader, languages, (request.zone, asked))
    notes += question.notes
    as_of = question.as_of if request.as_of is None else request.as_of
    where = resolved(_within(request), reader)
    # Words name nothing of such a time: what lies in it is found by the models.
    able = {"dated", "vector"} <= {*request.stages, *request.channels}
    if question.alone and able and where.since is None and where.until is None:
        since, until = question.window
        where = replace(where, since=since, until=until)
        notes.append("It names a time and nothing else: what happened then is looked for.")
    else:
        question = replace(question, alone=False)
    if as_of is not None and where.statuses == USUAL:
        where = replace(where, statuses=(*USUAL, "superseded"))
    found = _telling(groups(query.text, languages), query.text, reader.languages())
    kept = found
    if "bm25" in request.channels or "ngram" in request.channels:
        kept, dropped = _prune(found, reader) if "prune" in request.stages else (found, ())
        if dropped:
            notes.append(f"Common words left out: {', '.join(group.word for group in dropped)}.")
    depth = max(request.limit * request.multiplier, LEAST_DEPTH)
    if query.phrases or query.excluded or as_of is not None:
        depth = max(depth, VERIFIED_DEPTH)
    return Plan(
        query=query,
        groups=kept,
        where=where,
        limit=request.limit,
        depth=depth,
        fusion=fusion,
        weights=weights,
        channels=request.channels,
        models=request.models,
        stages=request.stages,
        notes=tuple(notes),
        question=question,
        as_of=as_of,
        as_asked=request.as_of is not None,
        true_at=request.now if as_of is None and where.statuses == USUAL else as_of,
        pool=request.pool,
        reach=request.reach,
    )


def _telling(found: Sequence[TermGroup], text: str, stored: Collection[str]) -> tuple[TermGroup, ...]:
    """Return the words without function words, where there are others; what is written as a name is none.

    In a store of a few hundred memories "why" is rarer than most names, and would find all that asks why. "die" and
    "door" are function words in German and Dutch alone, and so only where such texts are stored and it is asked so.
    """
    names, asked = named_words(text), {language(text), "en"}
    empty = ASKING.union(*(function_words(code) for code in asked & {*stored, "en"}))
    return tuple(g for g in found if g.word in names or g.word not in empty) or tuple(found)


def _within(request: Request) -> Where:
    """Return the filters; the tiers that answer by default where the caller names none."""
    where = request.where
    return where if where.tiers or not request.pool.tiers else replace(where, tiers=request.pool.tiers)


def _registered(models: Sequence[str], reader: Reader) -> None:
    known = [state.model.name for state in reader.models()] if models else []
    for name in models:
        if name not in known:
            raise NotFoundError(
                f"No model {name} is registered in this store; there are: {', '.join(known) or 'none'}.",
                hint="`scrubjay models list` shows them",
            )


def resolved(where: Where, reader: Reader) -> Where:
    """Return filters with sources and categories by id."""
    if where.sources:
        known = reader.sources()
        where = replace(where, sources=tuple(named(known, name).id for name in where.sources))
    if where.categories:
        where = replace(where, categories=below(reader.categories(), where.categories))
    return where


def _prune(found: Sequence[TermGroup], reader: Reader) -> tuple[tuple[TermGroup, ...], tuple[TermGroup, ...]]:
    """Return the words to look up, and the known ones that are left out.

    Words that nobody holds take no place from those that somebody does; a few are kept to be respelled.
    """
    frequencies = dict(zip(found, reader.frequencies(found), strict=True))
    known = [group for group in found if frequencies[group]]
    kept = set([group for group in found if not frequencies[group]][:MOST_UNKNOWN])
    looked_up: set[TermGroup] = set()
    read = 0
    for group in sorted(known, key=lambda group: (frequencies[group], group.word)):
        read += frequencies[group]
        if len(looked_up) < MOST_GROUPS and (read <= MOST_POSTINGS or not looked_up):
            looked_up.add(group)
    kept |= looked_up
    return tuple(g for g in found if g in kept), tuple(g for g in known if g not in kept)
