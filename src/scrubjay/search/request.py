"""Search request: the options of one search, their limits and defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date, datetime, tzinfo
from typing import Final

from scrubjay.errors import InputError
from scrubjay.frozen import frozen
from scrubjay.models.dates import load_zone, local_micros, now_micros, parse_when, to_local
from scrubjay.models.records import STATUSES, TIERS, EventTime, RecordFilter
from scrubjay.models.results import MAX_NEIGHBOURS, MAX_RESULTS, RESULT_KINDS

MAX_LINK_HOPS: Final = 5
"""Most hops over links: each follows up to ten links of each of up to fifty memories, both ways."""
MAX_LEVELS: Final = 10
"""Most levels of categories: folders and headings are seldom deeper."""


@frozen
class ExpansionOptions:
    """How far a search expands from its hits.

    Attributes:
        links: Hops over links; 0 for none.
        hierarchy: Whether categories are descended.
        depth: Levels of categories.
        alpha: Weight of a memory's own score, 0..1; the rest is its category's.
        threshold: Least score of a result, for fusion ``raw``; None for none.
    """

    links: int = 0
    hierarchy: bool = False
    depth: int = 3
    alpha: float = 0.5
    threshold: float | None = None


CHANNELS: Final = ("bm25", "vector", "ngram", "graph")
STAGES: Final = (
    *("prune", "lost", "evidence", "neighbours", "session", "life", "dated", "tiers", "descend", "follow"),
    *("fold", "match", "rerank", "diversify", "mmr", "caps", "admit", "recency"),
)
"""Stages that can be left out, each to be measured alone."""
FUSIONS: Final = ("auto", "rrf", "weighted", "raw")
AUTO: Final = "auto"
"""As ``min_relevance``: no results where none is likely to answer, else all."""
MAX_SNIPPET: Final = 20_000
MAX_WEIGHT: Final = 1_000
CONFIDENCE_FLOOR: Final = 0.3
"""Memories of less confidence are guesses and no results by default: the floor of agentmemory."""

Moment = str | datetime | None


@frozen
class Filters:
    """The filters of a search as a caller gives them; the fields are those of `Memory.search`."""

    tiers: Sequence[str] = ()
    tags: Sequence[str] = ()
    path: str = ""
    sources: Sequence[str] = ()
    since: Moment = None
    until: Moment = None
    statuses: Sequence[str] = ("active",)
    projects: Sequence[str] = ()
    agents: Sequence[str] = ()
    sessions: Sequence[str] = ()
    categories: Sequence[str] = ()


@frozen
class Clock:
    """The time of a question and the time it asks about, as a caller gives them; see `Memory.search`."""

    now: Moment = None
    tz: str | None = None
    as_of: Moment = None


DEFAULT_CLOCK: Final = Clock()


@frozen
class TierOptions:
    """How memories of all tiers compete.

    Attributes:
        tiers: Tiers to search where a caller names none; empty for all.
        weights: Tier to weight; the default is 1, and 0 leaves a tier out.
        floor: Confidence below which a memory is no result; 0 for none.
        here: The caller's project, whose memories are preferred; None for none.
    """

    tiers: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    floor: float = CONFIDENCE_FLOOR
    here: str | None = None


DEFAULT_POOL: Final = TierOptions()


@frozen
class ResultCaps:
    """Most results of one conversation and of one document that come before others; 0 for no cap."""

    session: int = 0
    document: int = 0


@frozen
class SearchRequest:
    """A validated search.

    Attributes:
        where: Filters; sources are ids or paths, categories ids or names, as given.
        weights: Channel to weight, None for the fusion's own.
        preset: Another system's fusion, or None.
        models: Names of the models that take part, None for all.
        stages: Optional stages that take part.
        multiplier: Hits of a channel for each result.
        snippet: Most characters of a snippet.
        now: UTC microseconds of the question, from which ages are counted.
        rewritten: The self-contained rewriting of a follow-up question, searched as well; or empty.
        zone: Whose midnight ends a day; None is this machine's zone.
        as_of: UTC microseconds, the last moment of the time to answer as of; None for now.
        min_relevance: Least relevance of each result; None for no results where none is likely to answer.
        by: What a result is: a ``memory``, or a ``session``, ranked from its turns.
        neighbours: Turns of the conversation to show on either side of a result.
    """

    query: str
    where: RecordFilter = field(default_factory=RecordFilter)
    fusion: str = "auto"
    weights: Mapping[str, float] | None = None
    preset: str | None = None
    channels: tuple[str, ...] = CHANNELS
    models: tuple[str, ...] | None = None
    stages: tuple[str, ...] = STAGES
    limit: int = 6
    multiplier: int = 4
    snippet: int = 700
    explain: bool = False
    now: int = field(default_factory=now_micros)
    rewritten: str = ""
    zone: tzinfo | None = None
    as_of: int | None = None
    min_relevance: float | None = 0.0
    pool: TierOptions = field(default_factory=TierOptions)
    reach: ExpansionOptions = ExpansionOptions()
    by: str = "memory"
    neighbours: int = 0
    caps: ResultCaps = ResultCaps()


NO_FILTERS: Final = Filters()
NO_CAPS: Final = ResultCaps()


def build_request(
    query: str,
    *,
    filters: Filters = NO_FILTERS,
    fusion: str = "auto",
    weights: Mapping[str, float] | None = None,
    preset: str | None = None,
    channels: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    stages: Sequence[str] | None = None,
    limit: int = 6,
    multiplier: int = 4,
    snippet: int = 700,
    explain: bool = False,
    clock: Clock = DEFAULT_CLOCK,
    min_relevance: float | str = 0.0,
    pool: TierOptions = TierOptions(),
    reach: ExpansionOptions = ExpansionOptions(),
    by: str = "memory",
    neighbours: int = 0,
    caps: ResultCaps = NO_CAPS,
    variety: bool = True,
) -> SearchRequest:
    """Return a validated request; see `SearchRequest`. ``variety`` turns on stage ``mmr``.

    A cap is off where the caller names conversations or a path.

    Raises:
        InputError: An option has a value it cannot have.
    """
    if not isinstance(query, str):
        raise InputError(f"The query is a {type(query).__name__}, not a text.")
    _check_choices("Tier", filters.tiers, TIERS)
    _check_choices("Status", filters.statuses, STATUSES)
    _check_choices("Channel", channels or (), CHANNELS)
    _check_choices("Stage", stages or (), STAGES)
    _check_choices("Fusion", (fusion,), FUSIONS)
    _check_choices("Kind", (by,), RESULT_KINDS)
    lists = ("tags", "sources", "projects", "agents", "sessions", "categories")
    for what, given in (("models", models), *((name, getattr(filters, name)) for name in lists)):
        if isinstance(given, str):
            raise InputError(f"{what} is {given!r}, one text; give a list of them.")
    _check_range("limit", limit, 1, MAX_RESULTS)
    _check_range("snippet", snippet, 1, MAX_SNIPPET)
    _check_range("neighbours", neighbours, 0, MAX_NEIGHBOURS)
    _check_range("links", reach.links, 0, MAX_LINK_HOPS)
    _check_range("depth", reach.depth, 1, MAX_LEVELS)
    _check_range("alpha", reach.alpha, 0, 1)
    _check_range("threshold", reach.threshold or 0, 0, 1)
    _check_range("confidence_floor", pool.floor, 0, 1)
    _check_choices("Tier", (*pool.tiers, *pool.weights), TIERS)
    for tier, weight in pool.weights.items():
        if not 0 <= weight <= MAX_WEIGHT:
            raise InputError(f"Weight {weight} of tier {tier} is not between 0 and {MAX_WEIGHT:,}.")
    zone = load_zone(clock.tz)
    asked, as_of = parse_when(clock.now, zone), parse_when(clock.as_of, zone)
    now = asked.start if asked is not None else now_micros()
    since = until = None
    if filters.since is not None or filters.until is not None:
        since, until = _time_range(filters, zone, now)
    where = RecordFilter(
        tiers=tuple(filters.tiers),
        tags=tuple(tag.lower() for tag in filters.tags),
        path=filters.path,
        sources=tuple(filters.sources),
        since=since,
        until=until,
        statuses=tuple(filters.statuses) or ("active",),
        projects=tuple(filters.projects),
        agents=tuple(filters.agents),
        sessions=tuple(filters.sessions),
        categories=tuple(filters.categories),
    )
    return SearchRequest(
        query=query,
        where=where,
        fusion=fusion,
        weights=weights,
        preset=preset,
        channels=tuple(channels) if channels is not None else CHANNELS,
        models=tuple(models) if models is not None else None,
        stages=tuple(one for one in (STAGES if stages is None else stages) if variety or one != "mmr"),
        limit=limit,
        multiplier=multiplier,
        snippet=snippet,
        explain=explain,
        now=now,
        zone=zone,
        as_of=(as_of.start if as_of.precision == "second" else as_of.end - 1) if as_of is not None else None,
        min_relevance=_least_relevance(min_relevance, filters),
        pool=pool,
        reach=reach,
        by=by,
        neighbours=neighbours,
        caps=ResultCaps(0 if where.sessions else caps.session, 0 if where.path else caps.document),
    )


def _least_relevance(given: float | str, filters: Filters) -> float | None:
    """Return ``SearchRequest.min_relevance``: None for ``auto``, but 0 where the caller names a part to search.

    The usual threshold was fitted on whole stores; whoever names a file, a tag or a time asks for the best of it.
    """
    if given == AUTO:
        within = (filters.tiers, filters.tags, filters.path, filters.sources, filters.since, filters.until)
        return 0.0 if any((*within, filters.sessions, filters.categories)) else None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InputError(f"min_relevance is {given!r}; it must be {AUTO} or a number from 0 to 1.")
    return float(given)


def _parse_time(value: str | date | None, place: tzinfo | None, now: int) -> EventTime | None:
    try:
        return parse_when(value, place)
    except InputError as error:
        from scrubjay.text.temporal import find_times

        text = value.strip() if isinstance(value, str) else ""
        found = find_times(text, to_local(now, place))
        if len(found) != 1 or (found[0].first, found[0].last) != (0, len(text)):
            raise InputError(
                str(error), hint="write 2026-03-01, 2026-03-01T10:00:00Z, yesterday or last week"
            ) from error
        span = found[0]
        return EventTime(local_micros(span.start, place), local_micros(span.end, place), span.precision)


def _time_range(filters: Filters, place: tzinfo | None, now: int) -> tuple[int | None, int | None]:
    first, last = _parse_time(filters.since, place, now), _parse_time(filters.until, place, now)
    since = first.start if first is not None else None
    until = (last.end if last.precision != "second" else last.start) if last is not None else None
    if since is not None and until is not None and until <= since:
        raise InputError(
            f"since is {filters.since} and until is {filters.until}, which is before it: nothing could be found.",
            hint="exchange them, or leave one out",
        )
    return since, until


def _check_choices(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    if isinstance(given, str):
        raise InputError(f"{what}s are {given!r}, one text; give a list of them.")
    for name in given:
        if name not in known:
            raise InputError(f"{what} {name!r} is not one of {', '.join(known)}.")


def _check_range(what: str, value: float, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(f"{what} is {value}; it must lie between {least} and {most}.")
