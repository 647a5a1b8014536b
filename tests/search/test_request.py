from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime
from typing import Any

import pytest

from scrubjay.errors import InputError
from scrubjay.models.dates import micros
from scrubjay.models.results import MAX_RESULTS
from scrubjay.search.request import (
    CHANNELS,
    MAX_SNIPPET,
    STAGES,
    Filters,
    SearchOptions,
    SearchRequest,
    build_request,
)

FILTERS = ("tiers", "tags", "sources", "projects", "agents", "sessions", "categories")


def asked(query: Any = "q", **changes: Any) -> SearchRequest:
    filters = {field.name: changes.pop(field.name) for field in fields(Filters) if field.name in changes}
    return build_request(query, SearchOptions(filters=Filters(**filters), **changes))


def test_what_is_not_asked_is_everything_that_is_active() -> None:
    found = asked()
    assert (found.channels, found.stages, found.models) == (CHANNELS, STAGES, None)
    assert found.where.statuses == ("active",)
    assert (found.where.since, found.where.until) == (None, None)


@pytest.mark.parametrize("name", [*FILTERS, "statuses", "channels", "models", "stages"])
def test_one_text_where_a_list_belongs_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"(?i){name[:5]}.*one text; give a list"):
        asked(**{name: "active"})


@pytest.mark.parametrize(
    ("wrong", "known"),
    [
        ({"tiers": ["memo"]}, "observation"),
        ({"statuses": ["gone"]}, "archived"),
        ({"channels": ["tarot"]}, "bm25"),
        ({"stages": ["magic"]}, "evidence"),
        ({"fusion": "sum"}, "weighted"),
    ],
)
def test_an_unknown_name_is_refused_with_those_there_are(wrong: dict[str, Any], known: str) -> None:
    with pytest.raises(InputError, match=f"is not one of .*{known}"):
        asked(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"limit": -1}, {"limit": MAX_RESULTS + 1}, {"snippet": 0}, {"snippet": MAX_SNIPPET + 1}],
)
def test_a_size_out_of_range_is_refused_with_the_range(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="must lie between 1 and"):
        asked(**wrong)


@pytest.mark.parametrize("floor", [-0.1, 1.5])
def test_a_confidence_floor_is_a_share(floor: float) -> None:
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        asked(confidence_floor=floor)


@pytest.mark.parametrize("query", [None, 5, b"bytes", ["list"]])
def test_a_query_is_a_text(query: object) -> None:
    with pytest.raises(InputError, match="not a text"):
        asked(query)


@pytest.mark.parametrize(
    ("until", "first_out"),
    [
        ("2026-03-01", datetime(2026, 3, 2)),
        ("2026-03", datetime(2026, 4, 1)),
        ("2026", datetime(2027, 1, 1)),
        (date(2026, 3, 1), datetime(2026, 3, 2)),
        ("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (datetime(2026, 3, 1, 10, tzinfo=UTC), datetime(2026, 3, 1, 10, tzinfo=UTC)),
    ],
)
def test_until_takes_in_the_whole_day_month_or_year_that_it_names(until: object, first_out: datetime) -> None:
    assert asked(until=until).where.until == micros(first_out)


@pytest.mark.parametrize("since", ["2026-03-01", "2026-03", date(2026, 3, 1)])
def test_since_begins_with_the_first_moment_of_what_it_names(since: object) -> None:
    assert asked(since=since).where.since == micros(datetime(2026, 3, 1))


@pytest.mark.parametrize("when", ["yesterdayish", "2026-13", "2026-02-30", "", 5.5])
def test_what_is_no_date_is_refused_with_an_example(when: object) -> None:
    with pytest.raises(InputError, match="is not a date") as caught:
        asked(since=when)
    assert "2026-03-01" in caught.value.hint


def test_tags_are_lower_cased_as_they_are_kept() -> None:
    assert asked(tags=["Sea", "TIDE"]).where.tags == ("sea", "tide")
