"""A day is a day: notes, additions and filters agree on it, whatever the zones of the search and of the machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import Settings

NOTES = {
    "2026-03-01": "Painted the crane.",
    "2026-03-02": "Repaired the winch.",
    "2026-03-03": "Sold the boat.",
}
ROPES = "Ordered new ropes."
OF_THE_SECOND = {NOTES["2026-03-02"], ROPES}


@pytest.fixture(params=["UTC", "Europe/Berlin", "America/New_York"])
def machine_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def memory(machine_zone: str, opened: Callable[..., Memory], tmp_path: Path) -> Memory:
    for day, text in NOTES.items():
        (tmp_path / f"{day}.md").write_text(f"# Log\n\n{text}\n")
    memory = opened()
    memory.sync(tmp_path)
    memory.add(ROPES, date="2026-03-02")
    return memory


ZONES = pytest.mark.parametrize("tz", ["UTC", "America/New_York", "Asia/Tokyo", "Pacific/Auckland"])


def found(memory: Memory, query: str, **options: object) -> set[str]:
    results = memory.search(query, now="2026-03-10", limit=9, min_relevance=0, **options).results  # type: ignore[arg-type]
    return {text for text in (*NOTES.values(), ROPES) for one in results if text in one.snippet}


@ZONES
def test_a_filter_in_days_finds_the_memories_of_these_days(memory: Memory, tz: str) -> None:
    query = "crane winch boat ropes"
    assert found(memory, query, tz=tz, since="2026-03-02", until="2026-03-02") == OF_THE_SECOND
    assert found(memory, query, tz=tz, since="2026-03-02") == {*OF_THE_SECOND, NOTES["2026-03-03"]}
    assert found(memory, query, tz=tz, until="2026-03-02") == {*OF_THE_SECOND, NOTES["2026-03-01"]}


@ZONES
def test_a_question_about_a_day_finds_the_memories_of_that_day(memory: Memory, tz: str) -> None:
    assert found(memory, "what did we do on 2 March 2026?", tz=tz) == OF_THE_SECOND


def test_a_timeline_and_a_page_filter_in_the_zone_of_the_settings(
    machine_zone: str, opened: Callable[..., Memory], settings: Settings
) -> None:
    recall = replace(settings.recall, tz="America/New_York")
    memory = opened(settings=replace(settings, recall=recall))
    evening = "2026-03-03T03:00:00Z"  # of 2 March in New York
    memory.add("Closed the sluice gate.", date=evening)
    memory.add(ROPES, date="2026-03-02")
    for day, count in (("2026-03-02", 2), ("2026-03-03", 0)):
        assert len(memory.timeline(since=day, until=day).memories) == count
        assert len(memory.page(since=day, until=day).records) == count
