"""Search request: every option of a search, declared once, and the validated request that the stages read.

Command line, HTTP forms, the model's tool and the daemon take their options from the declarations here. A new option
is a field of `SearchOptions`, a parameter of `Memory.search`, and, where a stage reads it, a field of `SearchRequest`:
every step of the pipeline has that as `RetrievalState.request`. A filter on stored fields is a `RecordFilter` too, with
a mask in `storage/table.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, field, fields, replace
from datetime import date, datetime, tzinfo
from typing import Any, Final

from scrubjay.errors import InputError
from scrubjay.frozen import frozen
from scrubjay.models.dates import (
    load_zone,
    local_micros,
    now_micros,
    parse_when,
    stored_day,
    to_local,
)
from scrubjay.models.options import check_choices, check_options, option, options_of
from scrubjay.models.records import NO_FILTER, STATUSES, TIERS, EventTime, RecordFilter
from scrubjay.models.results import FUSIONS, MAX_NEIGHBOURS, MAX_RESULTS, RERANKER_KINDS, RESULT_KINDS

MAX_LINK_HOPS: Final = 5
"""Maximum number of hops over links: each follows up to ten links of each of up to fifty memories, both ways."""
MAX_LEVELS: Final = 10
"""Maximum number of levels of categories: folders and headings are seldom deeper."""
CHANNELS: Final = ("bm25", "vector", "ngram", "graph")
STAGES: Final = (
    "prune", "fallback", "evidence", "neighbours", "session", "decay", "dated", "tiers", "hierarchy", "links",
    "fold", "match", "rerank", "deduplicate", "mmr", "caps", "abstain", "recency",
)  # fmt: skip
"""Stages that can be left out, each to be measured alone."""
RENAMED_STAGES: Final = {
    "lost": "fallback", "life": "decay", "descend": "hierarchy", "follow": "links", "diversify": "deduplicate",
    "admit": "abstain",
}  # fmt: skip
"""Names of version 0.2, accepted with a warning until the next release."""
PRESET_NAMES: Final = ("kit", "openclaw", "router")
"""Keys of `search.plan.PRESETS`, which the command line does not load."""
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

    tiers: Sequence[str] = option(
        (),
        "--tier",
        noun="Tier",
        choices=TIERS,
        tool="tier",
        tool_help=", ".join(TIERS),
        help="Only this tier; repeatable.",
    )
    tags: Sequence[str] = option(
        (), "--tag", tool="tags", help="Only memories with this tag; repeat to require several."
    )
    path: str = option(
        "",
        "--path",
        tool="path",
        tool_help="folder or glob",
        help="Only at or below this path in its source, or matching this glob.",
    )
    sources: Sequence[str] = option((), "--source", help="Only from this source, by id or path.")
    projects: Sequence[str] = option(
        (),
        "--project",
        project=True,
        tool="project",
        tool_help="name; all by default",
        help="Only this project: a name, a suffix of one, or a path.",
    )
    agents: Sequence[str] = option((), "--agent", tool="agent", help="Only memories recorded by this agent.")
    sessions: Sequence[str] = option((), "--session", tool="session", help="Only this conversation.")
    categories: Sequence[str] = option(
        (), "--category", tool="category", help="Only this category and its descendants, by id or name."
    )
    since: Moment = option(
        None,
        "--since",
        metavar="DATE",
        tool="since",
        tool_help="ISO date, or words: yesterday, last week, June",
        help="Only on or after this date: 2026-03-01, 2026-03, yesterday, last week, June. A note without a date "
        "counts by its file's last change.",
    )
    until: Moment = option(
        None,
        "--until",
        metavar="DATE",
        tool="until",
        tool_help="as since",
        help="Only up to the end of this date.",
    )
    statuses: Sequence[str] = option(
        (),
        "--status",
        noun="Status",
        choices=STATUSES,
        tool="status",
        tool_help="active, archived, superseded; default: active, else archived",
        help="Only this status; repeatable.",
    )


@frozen
class Clock:
    """The time of a question and the time it asks about, as a caller gives them; see `Memory.search`."""

    now: Moment = option(
        None, "--now", metavar="DATE", help="Current time, from which ages are computed.  [default: now]"
    )
    as_of: Moment = option(
        None,
        "--as-of",
        metavar="DATE",
        help="Return what was true at this date (not what was stored then).  [default: now]",
    )
    tz: str | None = option(
        None, "--tz", metavar="ZONE", setting="recall.tz", help="Time zone of dates, such as Europe/Berlin."
    )


@frozen
class ExpansionOptions:
    """Expansion of a search from its hits.

    Attributes:
        links: Hops over links; 0 for none, None for the setting.
        hierarchy: Whether categories are descended; None for the setting.
        depth: Levels of categories.
        alpha: Weight of a memory's own score, 0..1; the rest is its category's.
        threshold: Minimum score of a result, for fusion ``raw``; None for none.
    """

    links: int | None = option(
        None,
        "--links",
        metavar="N",
        bounds=(0, MAX_LINK_HOPS),
        setting="recall.links",
        help="Follow links up to N hops.",
    )
    hierarchy: bool | None = option(
        None,
        "--hierarchy/--no-hierarchy",
        setting="recall.hierarchy",
        help="Descend into matching categories.",
    )
    depth: int = option(3, bounds=(1, MAX_LEVELS))
    alpha: float = option(0.5, bounds=(0, 1))
    threshold: float | None = option(
        None, "--threshold", metavar="S", bounds=(0, 1), help="Minimum score, 0 to 1; needs --fusion raw."
    )


NO_FILTERS: Final = Filters()
DEFAULT_CLOCK: Final = Clock()
NO_EXPANSION: Final = ExpansionOptions(links=0, hierarchy=False)


@frozen
class SearchOptions:
    """Every option of `Memory.search`, as the caller gives it and in the order of ``scrubjay search --help``.

    A stage reads an option from `SearchRequest`, where defaults and texts are resolved.
    """

    _: KW_ONLY
    limit: int | None = option(
        None,
        "--limit",
        "-n",
        metavar="N",
        bounds=(1, MAX_RESULTS),
        setting="recall.limit",
        tool="limit",
        help="Maximum number of results.",
    )
    filters: Filters = NO_FILTERS
    preset: str | None = option(
        None, "--preset", choices=PRESET_NAMES, help="Rank with the formula of another tool."
    )
    fusion: str | None = option(
        None,
        "--fusion",
        noun="Fusion",
        choices=FUSIONS,
        setting="recall.fusion",
        help="How channel scores are fused.",
    )
    weights: Mapping[str, float] | None = option(
        None, "--weights", metavar="LIST", help="Channel weights, such as bm25=.3,vector=.7."
    )
    rerank: str | None = option(
        None, "--rerank", choices=RERANKER_KINDS, setting="rerank.kind", help="Reranker of the top results."
    )
    deep: bool = option(
        False,
        "--deep",
        tool="deep",
        tool_help="slower, better order",
        help="Rerank with a cross-encoder, unless another reranker is set; takes up to 1.5 seconds.",
    )
    expansion: ExpansionOptions = ExpansionOptions()
    clock: Clock = DEFAULT_CLOCK
    here: str | None = option(
        None,
        "--here",
        metavar="PROJECT",
        flag_default=".",
        project=True,
        help="Prefer this project, by name or path; empty for none.  [default: .]",
    )
    confidence_floor: float | None = option(
        None,
        "--confidence-floor",
        metavar="N",
        bounds=(0, 1),
        setting="recall.confidence_floor",
        help="Minimum confidence.",
    )
    history: Sequence[str] = option(
        (),
        "--history",
        metavar="FILE",
        help="File with the conversation so far, one turn per line; - reads standard input (llm.rewrite).",
    )
    min_relevance: float | str | None = option(
        None,
        "--min-relevance",
        metavar="auto|N",
        choices=(AUTO,),
        bounds=(0, 1),
        setting="recall.min_relevance",
        help="Minimum relevance, 0 to 1 (0 keeps all); auto returns nothing if no result is likely to answer.",
    )
    by: str = option(
        "memory", "--by", noun="Kind", choices=RESULT_KINDS, help="Return memories or whole conversations."
    )
    neighbours: int = option(
        0,
        "--neighbours",
        metavar="N",
        bounds=(0, MAX_NEIGHBOURS),
        help="Conversation turns to show around each result.",
    )
    channels: Sequence[str] | None = option(None, noun="Channel", choices=CHANNELS)
    models: Sequence[str] | None = option(None)
    stages: Sequence[str] | None = option(None, noun="Stage", choices=STAGES)
    snippet: int | None = option(None, bounds=(1, MAX_SNIPPET), setting="recall.snippet")
    explain: bool = option(False, "--explain", help="Show how each score was computed.")


DEFAULT_OPTIONS: Final = SearchOptions()
RECALL_DEFAULTS: Final = tuple(
    item.name
    for item in fields(SearchOptions)
    if "option" in item.metadata and item.metadata["option"].setting == f"recall.{item.name}"
)
"""Options that take the setting of the same name in ``[recall]`` where they are None."""


@frozen
class ThreadOptions:
    """Every option of `Memory.thread`, as `SearchOptions`.

    Attributes:
        hops: Hops from a seed.
        fan_out: Edges of a kind followed from one memory or entity.
    """

    _: KW_ONLY
    limit: int = option(
        12, "--limit", "-n", metavar="N", bounds=(1, 100), help="Maximum number of memories.  [default: 12]"
    )
    hops: int = option(
        2, "--hops", metavar="N", bounds=(0, 4), help="Hops from the memories the search finds.  [default: 2]"
    )
    fan_out: int = option(
        8, "--fan-out", metavar="N", bounds=(1, 50), help="Edges to follow from each memory.  [default: 8]"
    )
    deep: bool = option(
        False, "--deep", help="Rerank what the search finds with a cross-encoder; takes up to 1.5 seconds."
    )
    filters: Filters = Filters(statuses=("active", "superseded"))
    clock: Clock = DEFAULT_CLOCK
    snippet: int | None = option(None, bounds=(1, MAX_SNIPPET), setting="recall.snippet")


@frozen
class TierOptions:
    """Preferences between memories of all tiers.

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


DEFAULT_TIERS: Final = TierOptions()


@frozen
class ResultCaps:
    """Maximum number of results of one conversation and of one document that come before others; 0 for no cap."""

    session: int = 0
    document: int = 0


NO_CAPS: Final = ResultCaps()


@frozen
class SearchRequest:
    """A validated search, as the stages read it; fields without a line here are those of `SearchOptions`.

    Attributes:
        where: Filters; sources are ids or paths, categories ids or names, as given.
        weights: Channel to weight, None for the fusion's own.
        stages: Optional stages that take part.
        multiplier: Hits fetched per channel per result.
        now: UTC microseconds of the question, from which ages are counted.
        chose_statuses: Whether the caller chose statuses, so that no others may answer.
        rewritten: The self-contained rewriting of a follow-up question, searched as well; or empty.
        zone: Time zone for day boundaries; None for this machine's.
        as_of: UTC microseconds, the last moment of the time to answer as of; None for now.
        min_relevance: Minimum relevance of each result; None for no results where none is likely to answer.
        user: Who asks; results name the owner of what others shared.
    """

    query: str
    _: KW_ONLY
    where: RecordFilter = NO_FILTER
    preset: str | None = None
    fusion: str = "auto"
    weights: Mapping[str, float] | None = None
    expansion: ExpansionOptions = NO_EXPANSION
    by: str = "memory"
    neighbours: int = 0
    channels: tuple[str, ...] = CHANNELS
    models: tuple[str, ...] | None = None
    stages: tuple[str, ...] = STAGES
    limit: int = 6
    multiplier: int = 4
    snippet: int = 700
    explain: bool = False
    now: int = field(default_factory=now_micros)
    chose_statuses: bool = False
    rewritten: str = ""
    zone: tzinfo | None = None
    as_of: int | None = None
    min_relevance: float | None = 0.0
    tier_options: TierOptions = DEFAULT_TIERS
    caps: ResultCaps = NO_CAPS
    user: str = ""


def build_request(
    query: str,
    options: SearchOptions = DEFAULT_OPTIONS,
    *,
    multiplier: int = 4,
    tier_options: TierOptions = DEFAULT_TIERS,
    caps: ResultCaps = NO_CAPS,
    variety: bool = True,
    user: str = "",
) -> SearchRequest:
    """Return a validated request; an option that is None takes the default of `SearchRequest`.

    ``variety`` turns on stage ``mmr``. A cap is off where the caller names conversations or a path.

    Raises:
        InputError: An option has a value it cannot have.
    """
    if not isinstance(query, str):
        raise InputError(f"The query is a {type(query).__name__}, not a text.")
    options = _rename_stages(options)
    check_options(options)
    filters, clock = options.filters, options.clock
    check_choices("Tier", (*tier_options.tiers, *tier_options.weights), TIERS)
    for tier, weight in tier_options.weights.items():
        if not 0 <= weight <= MAX_WEIGHT:
            raise InputError(f"Weight {weight} of tier {tier} is not between 0 and {MAX_WEIGHT:,}.")
    zone = load_zone(clock.tz)
    present = now_micros()
    asked = _parse_time(clock.now, zone, present)
    now = asked.start if asked is not None else present
    as_of = _parse_time(clock.as_of, zone, now)
    since = until = None
    if filters.since is not None or filters.until is not None:
        since, until = _time_range(filters, zone, now)
    filter_values: dict[str, Any] = {one.name: getattr(filters, one.name) for one in fields(Filters)}
    filter_values |= {one.name: tuple(filter_values[one.name]) for one in options_of(Filters) if one.several}
    filter_values |= {"tags": tuple(tag.lower() for tag in filters.tags), "since": since, "until": until}
    filter_values |= {"since_day": stored_day(since, zone), "until_day": stored_day(until, zone)}
    where = RecordFilter(**filter_values | {"statuses": filter_values["statuses"] or ("active",)})
    values: dict[str, Any] = {one.name: getattr(options, one.name, None) for one in fields(SearchRequest)}
    values = {name: value for name, value in values.items() if value is not None}
    for name in ("channels", "models", "stages"):
        if name in values:
            values[name] = tuple(values[name])
    if not variety:
        values["stages"] = tuple(one for one in values.get("stages", STAGES) if one != "mmr")
    values["min_relevance"] = _least_relevance(values.get("min_relevance", 0.0), filters)
    return SearchRequest(
        query,
        **values,
        where=where,
        chose_statuses=bool(filters.statuses),
        multiplier=multiplier,
        now=now,
        zone=zone,
        as_of=(as_of.start if as_of.precision == "second" else as_of.end - 1) if as_of is not None else None,
        tier_options=tier_options,
        caps=ResultCaps(0 if where.sessions else caps.session, 0 if where.path else caps.document),
        user=user,
    )


def _rename_stages(options: SearchOptions) -> SearchOptions:
    """Return the options with the current names of stages."""
    stages = options.stages if isinstance(options.stages, list | tuple) else ()
    for old in RENAMED_STAGES.keys() & stages:
        new = RENAMED_STAGES[old]
        message = f"Stage {old!r} is called {new!r} now; the old name works until the next release."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        options = replace(options, stages=[new if one == old else one for one in options.stages or ()])
    return options


def _least_relevance(min_relevance: float | str, filters: Filters) -> float | None:
    """Return ``SearchRequest.min_relevance``: None for ``auto``, but 0 where the caller names a part to search.

    The usual threshold was fitted on whole stores; whoever names a file, a tag or a time asks for the best of it.
    Projects and agents are whole stores in small: a project is often named for the caller, not by a person.
    """
    if min_relevance == AUTO:
        narrowing = (filters.tiers, filters.tags, filters.path, filters.sources, filters.since, filters.until)
        return 0.0 if any((*narrowing, filters.sessions, filters.categories)) else None
    if (
        isinstance(min_relevance, bool)
        or not isinstance(min_relevance, int | float)
        or not 0 <= min_relevance <= 1
    ):
        raise InputError(f"min_relevance is {min_relevance!r}; it must be {AUTO} or a number from 0 to 1.")
    return float(min_relevance)


def _parse_time(value: str | date | None, place: tzinfo | None, now: int) -> EventTime | None:
    try:
        return parse_when(value, place)
    except InputError as error:
        from scrubjay.text.temporal import find_times

        text = value.strip() if isinstance(value, str) else ""
        at = to_local(now, place)
        times = find_times(text, at) or (find_times(text := f"in {text}", at) if text.isalpha() else ())
        if len(times) != 1 or (times[0].first, times[0].last) != (0, len(text)):
            raise InputError(
                str(error), hint="write 2026-03-01, 2026-03-01T10:00:00Z, yesterday or last week"
            ) from error
        span = times[0]
        return EventTime(local_micros(span.start, place), local_micros(span.end, place), span.precision)


def _time_range(filters: Filters, place: tzinfo | None, now: int) -> tuple[int | None, int | None]:
    first, last = _parse_time(filters.since, place, now), _parse_time(filters.until, place, now)
    since = first.start if first is not None else None
    until = (last.end if last.precision != "second" else last.start) if last is not None else None
    if since is not None and until is not None and until <= since:
        raise InputError(
            f"since is {filters.since} and until is {filters.until}, which is before it: nothing could be found.",
            hint="swap them or omit one",
        )
    return since, until
