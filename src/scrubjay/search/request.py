"""Search request: the options of one search, their limits and defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from typing import Final

from scrubjay.errors import InputError
from scrubjay.models.dates import load_zone, local_micros, now_micros, parse_when, to_local
from scrubjay.models.records import STATUSES, TIERS, EventTime, RecordFilter
from scrubjay.models.results import MAX_NEIGHBOURS, MAX_RESULTS, RESULT_KINDS

MAX_LINK_HOPS: Final = 5
"""Hops over links: each looks at up to ten links of each of up to fifty memories, both ways."""
MAX_LEVELS: Final = 10
"""Levels of categories: folders and headings are seldom deeper."""


@dataclass(frozen=True, slots=True)
class ExpansionOptions:
    """How far a search goes on from what it found.

    Attributes:
        links: Hops over links; 0 for none.
        hierarchy: Whether categories are descended.
        depth: Levels of categories.
        alpha: What a memory's own score weighs beside its category's, 0..1.
        threshold: Least score of a result, for a fusion whose scores have a fixed unit (``raw``); None for none.
    """

    links: int = 0
    hierarchy: bool = False
    depth: int = 3
    alpha: float = 0.5
    threshold: float | None = None

    def checked(self) -> ExpansionOptions:
        """Return itself.

        Raises:
            InputError: A number is out of range.
        """
        for name, value, low, most in (
            ("links", self.links, 0, MAX_LINK_HOPS),
            ("depth", self.depth, 1, MAX_LEVELS),
            ("alpha", self.alpha, 0, 1),
            ("threshold", self.threshold or 0, 0, 1),
        ):
            if not low <= value <= most:
                raise InputError(f"{name} is {value}; it must lie between {low} and {most}.")
        return self


NO_EXPANSION: Final = ExpansionOptions()
"""Nothing beyond what the channels found."""


CHANNELS: Final = ("bm25", "vector", "ngram", "graph")
STAGES: Final = (
    *("prune", "lost", "evidence", "neighbours", "session", "life", "dated", "tiers", "descend", "follow"),
    *("fold", "match", "rerank", "diversify", "mmr", "caps", "admit", "recency"),
)
"""Stages that can be left out, each to be measured alone."""
FUSIONS: Final = ("auto", "rrf", "weighted", "raw")
AUTO: Final = "auto"
"""Instead of a least relevance: an empty answer where nothing is likely to answer, else all of it."""
MAX_SNIPPET: Final = 20_000
MAX_WEIGHT: Final = 1_000
CONFIDENCE_FLOOR: Final = 0.3
"""What is less sure than this is a guess, and no default result: the floor of agentmemory, whose tiers these are."""

Moment = str | datetime | None


@dataclass(frozen=True, slots=True)
class Filters:
    """What a caller narrows a search to, as it was given; the fields are those of `Memory.search`."""

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


@dataclass(frozen=True, slots=True)
class Clock:
    """When a question is asked, and of which time, as a caller gives it; the fields are those of `Memory.search`."""

    now: Moment = None
    tz: str | None = None
    as_of: Moment = None


DEFAULT_CLOCK: Final = Clock()


@dataclass(frozen=True, slots=True)
class TierOptions:
    """What makes one pool of all tiers.

    Attributes:
        tiers: Tiers that answer where a caller names none; empty for all.
        weights: Tier to weight; one that is not named weighs 1, and 0 leaves it out.
        floor: Confidence below which a memory does not answer, 0 for none.
        here: Name of the project that the caller is in, whose memories are preferred; None for no project.
    """

    tiers: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    floor: float = CONFIDENCE_FLOOR
    here: str | None = None

    def checked(self) -> TierOptions:
        """Return itself.

        Raises:
            InputError: A tier is none, or a number is out of range.
        """
        _check_choices("Tier", (*self.tiers, *self.weights), TIERS)
        for tier, weight in self.weights.items():
            if not 0 <= weight <= MAX_WEIGHT:
                raise InputError(f"Weight {weight} of tier {tier} is not between 0 and {MAX_WEIGHT:,}.")
        if not 0 <= self.floor <= 1:
            raise InputError(f"confidence_floor is {self.floor}; it must lie between 0 and 1.")
        return self


@dataclass(frozen=True, slots=True)
class ResultCaps:
    """Most results that stand before others, 0 for any number: of one conversation, of one document."""

    session: int = 0
    document: int = 0


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search, checked.

    Attributes:
        query: The query as it was typed.
        where: Filters; ``where.sources`` holds ids or paths and ``where.categories`` ids or names as they were
            given.
        fusion: ``auto``, ``rrf``, ``weighted`` or ``raw``.
        weights: Channel to weight, None for the fusion's own.
        preset: Another system's fusion, or None.
        channels: Channels that take part.
        models: Names of the models that take part, None for all.
        stages: Optional stages that take part.
        limit: Most results.
        multiplier: Hits a channel gives for each result wanted.
        snippet: Most characters of a snippet.
        explain: Whether to return the parts of each score.
        now: UTC microseconds of the question: how old everything is to it.
        meant: What the query means after what was said before it, or an empty text; it is searched, too.
        zone: Whose midnight ends a day; None is this machine's zone.
        as_of: Last moment of the time as of which it is to be answered, UTC microseconds; None for now.
        min_relevance: Relevance that each result must have, or None for an empty answer where nothing is likely
            to answer.
        pool: What tiers weigh, how sure an answer must be, the project the caller is in.
        reach: How far it looks beyond what its channels found.
        by: What a result is: a ``memory``, or a ``session``, ranked from its turns.
        neighbours: Turns of its conversation to show on either side of a result.
        caps: How many results one conversation or document may have before others.
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
    meant: str = ""
    zone: tzinfo | None = None
    as_of: int | None = None
    min_relevance: float | None = 0.0
    pool: TierOptions = field(default_factory=TierOptions)
    reach: ExpansionOptions = NO_EXPANSION
    by: str = "memory"
    neighbours: int = 0
    caps: ResultCaps = ResultCaps()


def build_request(
    query: str,
    *,
    filters: Filters,
    fusion: tuple[str, Mapping[str, float] | None, str | None],
    parts: tuple[Sequence[str] | None, Sequence[str] | None, Sequence[str] | None],
    sizes: tuple[int, int, int],
    explain: bool,
    clock: Clock = DEFAULT_CLOCK,
) -> SearchRequest:
    """Check what a caller asked for.

    Raises:
        InputError: Something has a value it cannot have.
    """
    if not isinstance(query, str):
        raise InputError(f"The query is a {type(query).__name__}, not a text.")
    channels, models, stages = parts
    limit, multiplier, snippet = sizes
    _check_choices("Tier", filters.tiers, TIERS)
    _check_choices("Status", filters.statuses, STATUSES)
    _check_choices("Channel", channels or (), CHANNELS)
    _check_choices("Stage", stages or (), STAGES)
    _check_choices("Fusion", (fusion[0],), FUSIONS)
    named = ("tags", "sources", "projects", "agents", "sessions", "categories")
    for what, given in (("models", models), *((name, getattr(filters, name)) for name in named)):
        if isinstance(given, str):
            raise InputError(f"{what} is {given!r}, one text; give a list of them.")
    _check_range("limit", limit, 1, MAX_RESULTS)
    _check_range("snippet", snippet, 1, MAX_SNIPPET)
    place = load_zone(clock.tz)
    asked, then = parse_when(clock.now, place), parse_when(clock.as_of, place)
    at = asked.start if asked is not None else now_micros()
    since, until = _time_range(filters, place, at)
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
        fusion=fusion[0],
        weights=fusion[1],
        preset=fusion[2],
        channels=tuple(channels) if channels is not None else CHANNELS,
        models=tuple(models) if models is not None else None,
        stages=tuple(stages) if stages is not None else STAGES,
        limit=limit,
        multiplier=multiplier,
        snippet=snippet,
        explain=explain,
        now=at,
        zone=place,
        as_of=(then.start if then.precision == "second" else then.end - 1) if then is not None else None,
    )


def listing_request(filters: Filters, limit: int) -> SearchRequest:
    """Check what a caller asked for who searches for nothing: what passes the filters, so many of it.

    Raises:
        InputError: Something has a value it cannot have.
    """
    fusion, parts = ("auto", None, None), (None, None, None)
    return build_request("", filters=filters, fusion=fusion, parts=parts, sizes=(limit, 1, 1), explain=False)


def _parse_time(value: str | date | None, place: tzinfo | None, now: int) -> EventTime | None:
    """Return when a date is, or what people call it: ``yesterday``, ``last week``, ``gestern``.

    Raises:
        InputError: It is neither.
    """
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
    """Return the first moment that is kept, and the first after them.

    Raises:
        InputError: No moment is kept.
    """
    first, last = _parse_time(filters.since, place, now), _parse_time(filters.until, place, now)
    since = first.start if first is not None else None
    until = (last.end if last.precision != "second" else last.start) if last is not None else None
    if since is not None and until is not None and until <= since:
        raise InputError(
            f"since is {filters.since} and until is {filters.until}, which is before it: nothing could be found.",
            hint="exchange them, or leave one out",
        )
    return since, until


def parse_min_relevance(given: float | str, filters: Filters) -> float | None:
    """Return a least relevance as a `SearchRequest` holds it: None for ``auto``, 0 where a part is named to look in.

    Who names a file, a tag or a time asks for the best of it; how likely that is was measured on whole stores.

    Raises:
        InputError: It is neither that nor a number from 0 to 1.
    """
    if given == AUTO:
        within = (filters.tiers, filters.tags, filters.path, filters.sources, filters.since, filters.until)
        return 0.0 if any((*within, filters.sessions, filters.categories)) else None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InputError(f"min_relevance is {given!r}; it must be {AUTO} or a number from 0 to 1.")
    return float(given)


def with_result_shape(
    made: SearchRequest, by: str, neighbours: int, caps: ResultCaps = ResultCaps(), *, variety: bool = True
) -> SearchRequest:
    """Say what a result is to be, and how different results are.

    Who asks for some conversations or for a path wants those: their cap is off.

    Raises:
        InputError: There is no such kind of result, or neighbours are out of range.
    """
    _check_choices("Kind", (by,), RESULT_KINDS)
    _check_range("neighbours", neighbours, 0, MAX_NEIGHBOURS)
    caps = ResultCaps(0 if made.where.sessions else caps.session, 0 if made.where.path else caps.document)
    stages = tuple(stage for stage in made.stages if variety or stage != "mmr")
    return replace(made, by=by, neighbours=neighbours, caps=caps, stages=stages)


def _check_choices(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    if isinstance(given, str):
        raise InputError(f"{what}s are {given!r}, one text; give a list of them.")
    for name in given:
        if name not in known:
            raise InputError(f"{what} {name!r} is not one of {', '.join(known)}.")


def _check_range(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(f"{what} is {value}; it must lie between {least} and {most}.")
