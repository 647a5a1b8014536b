"""Query plan: fusion and weights, filters by id, the terms to look up, and the time as of which to answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import timedelta
from typing import Final

from scrubjay.errors import InputError, NotFoundError
from scrubjay.frozen import frozen
from scrubjay.models.dates import DAY, stored_day, to_local
from scrubjay.models.graph import category_ids_below
from scrubjay.models.records import NO_FILTER, Record, RecordFilter
from scrubjay.models.sources import find_source
from scrubjay.search.query import (
    NO_MEANING,
    ParsedQuery,
    QueryMeaning,
    interpret_query,
    parse_query,
    resolve_anchors,
)
from scrubjay.search.request import CHANNELS, ExpansionOptions, SearchRequest, TierOptions
from scrubjay.storage.interface import Reader
from scrubjay.text.language import QUESTION_WORDS, function_words, named_words, question_language
from scrubjay.text.temporal import looks_back, month_names, written_days
from scrubjay.text.tokenizer import TermGroup, query_groups

PRESETS: Final[Mapping[str, tuple[str, Mapping[str, float]]]] = {
    "kit": ("rrf", {"vector": 1.0, "bm25": 1.0, "graph": 0.5}),
    "openclaw": ("weighted", {"vector": 0.7, "bm25": 0.3}),
    "router": ("raw", {"vector": 0.7, "bm25": 0.2, "ngram": 0.1}),
}
"""Fusions of other systems, with the weights they publish (docs/ranking.md)."""
WEIGHTED_DEFAULTS: Final[Mapping[str, float]] = {"bm25": 0.3, "vector": 0.7, "ngram": 0.1}
"""Fixed weights on z-scores: the best over eight sets (.749 mean recall)."""
DEFAULT_WEIGHTS: Final[Mapping[str, Mapping[str, float]]] = {
    "rrf": {"bm25": 1.0, "vector": 1.0, "ngram": 0.5},
    "raw": PRESETS["router"][1],
}
"""Weights of the other fusions where none are given."""


def resolve_fusion(request: SearchRequest) -> tuple[str, Mapping[str, float]]:
    """Return the fusion, and the weight of each channel.

    Raises:
        InputError: A fusion, preset, channel or weight is unknown or out of range, or another option needs scores of a
            kind that the fusion does not give.
    """
    fusion, weights = request.fusion, DEFAULT_WEIGHTS.get(request.fusion, WEIGHTED_DEFAULTS)
    if request.preset is not None:
        if request.preset not in PRESETS:
            raise InputError(f"Preset {request.preset!r} is not one of {', '.join(PRESETS)}.")
        if request.weights is not None or fusion != "auto":
            raise InputError("A preset sets fusion and weights itself.", hint="leave out one or the other")
        fusion, weights = PRESETS[request.preset]
    elif request.weights is not None:
        for channel, weight in request.weights.items():
            if channel not in CHANNELS:
                raise InputError(f"Weight names {channel!r}, which is not one of {', '.join(CHANNELS)}.")
            if not 0 <= weight <= 1_000:
                raise InputError(f"Weight {weight} of {channel} is not between 0 and 1000.")
        fusion = "weighted" if fusion == "auto" else fusion
        weights = {channel: request.weights.get(channel, 0.0) for channel in CHANNELS}
    if request.expansion.threshold is not None and fusion != "raw":
        raise InputError(
            f"A threshold requires fusion raw; the scores of fusion {fusion} have no fixed unit.",
            hint="use fusion raw or preset router",
        )
    if request.expansion.hierarchy and fusion == "rrf":
        raise InputError(
            "Hierarchical retrieval needs scores; fusion rrf has only ranks.",
            hint="use auto, weighted or raw",
        )
    return fusion, weights


MAX_GROUPS: Final = 64
"""Maximum number of query words that are looked up, the rarest: a pasted page says no more with the rest."""
MAX_UNKNOWN: Final = 16
"""Maximum number of unknown words that are respelled: each costs a vocabulary look-up, and more of them are a pasted
page."""
MAX_POSTINGS: Final = 400_000
"""Maximum number of postings read for one query; beyond, the commonest words are dropped while rarer ones remain."""


@frozen
class QueryPlan:
    """A query as the channels look it up, and the fusion of their rankings.

    Attributes:
        groups: The query's words, rarest first where some were dropped, else in its order.
        depth: Hits each channel is asked for.
        weights: Channel to weight, for all fusions but ``auto``.
        models: Names of the models that take part; None for every active one.
        as_of: UTC microseconds to answer as of; None for now.
        as_asked: Whether the caller set that time, not the query's words.
        true_at: UTC microseconds at which results must be true; None where the caller chose other statuses.
        tier_options: None without stage ``tiers``.
    """

    query: ParsedQuery
    groups: tuple[TermGroup, ...]
    where: RecordFilter
    chose_statuses: bool
    limit: int
    depth: int
    fusion: str
    weights: Mapping[str, float]
    channels: tuple[str, ...]
    models: tuple[str, ...] | None
    stages: tuple[str, ...]
    notes: tuple[str, ...]
    expansion: ExpansionOptions = field(default_factory=ExpansionOptions)
    question: QueryMeaning = NO_MEANING
    tier_options: TierOptions | None = None
    as_of: int | None = None
    as_asked: bool = False
    true_at: int | None = None

    @property
    def timeless(self) -> bool:
        """Whether neither the question nor the caller names a time."""
        return self.as_of is None and not self.question.times

    @property
    def trigram_weight(self) -> float:
        """Weight of the trigrams of whole texts, which fusion ``raw`` compares; 0 without that channel."""
        return self.weights.get("ngram", 0.0) if "ngram" in self.channels else 0.0


DEFAULT_STATUSES: Final = NO_FILTER.statuses
MIN_DEPTH: Final = 50
"""Minimum number of hits of a channel: as good as all of them; 24 costs LoCoMo .02 of R@10 (bench/LOG.md)."""
VERIFIED_DEPTH: Final = 400
"""Minimum number of hits of a channel where phrases, exclusions or another time will remove some."""


def build_plan(request: SearchRequest, reader: Reader) -> QueryPlan:
    """Plan a query.

    Raises:
        InputError: A fusion, preset, channel or weight is unknown or out of range.
        NotFoundError: A source or a model is not registered.
    """
    fusion, weights = resolve_fusion(request)
    model_names = [state.model.name for state in reader.models()] if request.models else []
    for name in request.models or ():
        if name not in model_names:
            raise NotFoundError(
                f"No model {name} is registered in this store; there are: {', '.join(model_names) or 'none'}.",
                hint="`scrubjay models list` shows them",
            )
    query = parse_query(request.query)
    if request.rewritten:
        query = replace(query, text=f"{query.text} {request.rewritten}".strip())
    notes = [f"Read as: {request.rewritten}"] if request.rewritten else []
    if not query.text:
        notes.append("The query names nothing to look for.")
    question = interpret_query(query, request.now, request.zone)
    languages = sorted({*reader.languages(), question_language(query.text), "en"})
    if fusion == "auto" and "dated" in request.stages:
        moment = question.as_of if request.as_of is None else request.as_of
        question = resolve_anchors(question, query, reader, languages, request.zone, moment)
    notes += question.notes
    as_of = question.as_of if request.as_of is None else request.as_of
    where = resolve_filters(request.where, reader)
    if request.tier_options.tiers and not where.tiers:
        where = replace(where, tiers=request.tier_options.tiers)
    # The words of the query only name a time, so the models find what lies in it.
    by_time = {"dated", "vector"} <= {*request.stages, *request.channels}
    time_only = question.time_only and by_time and where.since is None and where.until is None
    by_date = False
    naming_days: tuple[str, ...] = ()
    if time_only:
        naming_days = _memories_naming_days(question, query, reader, where, languages, request)
        since, until = question.window
        if question.ahead:  # earlier turns of that day are not plans
            since = max(since or request.now, request.now)
        first, after = stored_day(since, request.zone), stored_day(until, request.zone)
        in_window = replace(where, since=since, until=until, since_day=first, until_day=after)
        # Texts may mention a day that is asked for in figures in more ways: "from 3 to 6 December".
        in_figures = any(map(str.isdigit, "".join(period.words for period in question.times)))
        described = bool(naming_days) and not in_figures
        time_only = described or not question.names_date or bool(reader.latest(in_window, 1))
        if time_only:
            where = in_window
            notes.append("The question names only a time: memories from that time are searched.")
        else:
            by_date = True
            notes.append(
                "None of the memories searched is from that time: those that mention the date are searched."
            )
    question = replace(question, time_only=time_only, naming_days=naming_days)
    if as_of is not None and where.statuses == DEFAULT_STATUSES and not request.chose_statuses:
        where = replace(where, statuses=(*DEFAULT_STATUSES, "superseded"))
    groups = _informative_groups(query_groups(query.text, languages), query.text, reader.languages())
    if by_date:
        groups = tuple(_with_month_names(group, languages) for group in groups)
    if "prune" in request.stages and ("bm25" in request.channels or "ngram" in request.channels):
        groups, dropped = _prune_groups(groups, reader)
        if dropped:
            notes.append(f"Common words left out: {', '.join(group.word for group in dropped)}.")
    depth = max(request.limit * request.multiplier, MIN_DEPTH)
    if query.phrases or query.excluded or as_of is not None:
        depth = max(depth, VERIFIED_DEPTH)
    return QueryPlan(
        query=query,
        groups=groups,
        where=where,
        chose_statuses=request.chose_statuses,
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
        true_at=request.now if as_of is None and where.statuses == DEFAULT_STATUSES else as_of,
        tier_options=request.tier_options if "tiers" in request.stages else None,
        expansion=request.expansion,
    )


MAX_NAMED_DAYS: Final = 14
"""Days of a time up to which memories that name one of its days are looked for."""
MAX_NAMING: Final = 200
"""Memories in which the days are looked for, those with the most words of them."""
_YEAR: Final = re.compile(r"\d{4}")
_SAID_WITHIN: Final = 183 * DAY
"""How long before a day without a year a dated memory names it."""


def _memories_naming_days(
    question: QueryMeaning,
    query: ParsedQuery,
    reader: Reader,
    where: RecordFilter,
    languages: Sequence[str],
    request: SearchRequest,
) -> tuple[str, ...]:
    """Return the memories whose texts name a present or coming day of the time that a question names."""
    since, until = question.window
    if since is None or until is None or until <= request.now or looks_back(query.text):
        return ()
    first, last = (to_local(at, request.zone).date() for at in (max(since, request.now), until - 1))
    if (last - first).days >= MAX_NAMED_DAYS:
        return ()
    words, pattern = written_days([first + timedelta(days=n) for n in range((last - first).days + 1)])
    hits = [hit.id for hit in reader.words(query_groups(words, languages), where).top(MAX_NAMING)]
    records = reader.get(hits)

    def names_day(record: Record) -> bool:
        recent = record.event is None or until - record.event.start < _SAID_WITHIN
        text = f"{record.title}\n{record.content}"
        return any(recent or _YEAR.search(match[0]) for match in pattern.finditer(text))

    return tuple(memory for memory in hits if memory in records and names_day(records[memory]))


def _with_month_names(group: TermGroup, languages: Sequence[str]) -> TermGroup:
    """Return a group that also finds the other names of its month: "Dec", "Dezember"."""
    names = " ".join(month_names(group.word))
    others = (form for other in query_groups(names, languages) for form in other.forms)
    return TermGroup(group.word, tuple(dict.fromkeys((*group.forms, *others))))


def _informative_groups(
    groups: Sequence[TermGroup], text: str, stored_languages: Collection[str]
) -> tuple[TermGroup, ...]:
    """Return the words without function words, where there are others; names are kept.

    In a store of a few hundred memories "why" is rarer than most names, and would match every question. "die" and
    "door" are function words in German and Dutch alone, so languages are those of the stored texts and the query.
    """
    names, languages = named_words(text), {question_language(text), "en"} & {*stored_languages, "en"}
    uninformative = {
        word for code in languages for word in QUESTION_WORDS.get(code, frozenset()) | function_words(code)
    }
    informative = tuple(group for group in groups if group.word in names or group.word not in uninformative)
    return informative or tuple(groups)


def resolve_filters(where: RecordFilter, reader: Reader) -> RecordFilter:
    """Return filters with sources and categories by id."""
    if where.sources:
        sources = reader.sources()
        where = replace(where, sources=tuple(find_source(sources, name).id for name in where.sources))
    if where.categories:
        where = replace(where, categories=category_ids_below(reader.categories(), where.categories))
    return where


def _prune_groups(
    groups: Sequence[TermGroup], reader: Reader
) -> tuple[tuple[TermGroup, ...], tuple[TermGroup, ...]]:
    """Return the words to look up, and the known ones left out; a few unknown ones are kept to be respelled."""
    frequencies = dict(zip(groups, reader.frequencies(groups), strict=True))
    known = [group for group in groups if frequencies[group]]
    unknown = [group for group in groups if not frequencies[group]]
    looked_up: set[TermGroup] = set()
    postings = 0
    for group in sorted(known, key=lambda group: (frequencies[group], group.word)):
        postings += frequencies[group]
        if len(looked_up) < MAX_GROUPS and (postings <= MAX_POSTINGS or not looked_up):
            looked_up.add(group)
    remaining = looked_up.union(unknown[:MAX_UNKNOWN])
    return (
        tuple(group for group in groups if group in remaining),
        tuple(group for group in known if group not in remaining),
    )
