"""A heading that names a day dates the passages below it, so that the later entry of a log is known as the later."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay import Memory

LOG = """\
# Decisions

Owner: Mara.

## 2026-06-03 D-01 queue
Scan events go through RabbitMQ.

### Why
Everybody knew RabbitMQ's scan queue.

## 2026-11-11 D-11 queue (replaces D-01)
Scan events go through NATS.
"""


@pytest.fixture
def log(memory: Memory, tmp_path: Path) -> Path:
    path = tmp_path / "notes" / "decisions.md"
    path.parent.mkdir()
    path.write_text(LOG)
    memory.sync(path.parent)
    return path


def dates(memory: Memory, query: str, **options: object) -> dict[str, str | None]:
    found = memory.search(query, min_relevance=0, **options)  # type: ignore[arg-type]
    return {one.snippet.splitlines()[-1].strip(): one.date for one in found.results}


def test_an_entry_of_a_log_has_the_day_of_its_heading_or_of_the_one_above(memory: Memory, log: Path) -> None:
    found = dates(memory, "queue of scan events, owner Mara")
    assert found["Scan events go through NATS."] == "2026-11-11"
    assert found["Everybody knew RabbitMQ's scan queue."] == "2026-06-03"
    assert found["Owner: Mara."] is None


def test_the_later_entry_of_a_log_is_the_first_answer(memory: Memory, log: Path) -> None:
    found = memory.search("which queue do scan events go through?").results
    assert "NATS" in found[0].snippet


def test_a_time_range_reads_the_headings_of_a_log(memory: Memory, log: Path) -> None:
    before = {"Scan events go through RabbitMQ.", "Everybody knew RabbitMQ's scan queue."}
    for early in ({"until": "2026-06-30"}, {"as_of": "2026-07-01"}):
        found = dates(memory, "queue that scan events go through", **early)
        assert before <= found.keys()
        assert "Scan events go through NATS." not in found


def test_an_edited_heading_gives_its_entry_another_day(memory: Memory, log: Path) -> None:
    log.write_text(LOG.replace("2026-11-11", "2026-11-12"))
    memory.sync(log.parent)
    assert dates(memory, "queue NATS")["Scan events go through NATS."] == "2026-11-12"
    memory.rebuild()
    assert dates(memory, "queue NATS")["Scan events go through NATS."] == "2026-11-12"


@pytest.mark.parametrize(
    ("heading", "day"),
    [
        ("09.11.2026: Besuch", "2026-11-09"),
        ("Mo, 9.11.2026", "2026-11-09"),
        ("Monday, 9 March 2026", "2026-03-09"),
        ("[[2026-03-01]] call with Kea", "2026-03-01"),
        ("2026-03-01: moved to 2026-04-01", "2026-03-01"),
        ("Moved from 2026-03-01 to 2026-04-01", None),
        ("9 March", None),
        ("Since 2026-03-01", None),
        ("Plans for March 2026", None),
        ("Anna Berger, born 1985-04-03", None),
        ("Passport, expires 12 May 2031", None),
        ("Contract ends 2027-03-01", None),
        ("TÜV fällig 01.06.2027", None),
        ("Due by 1 May 2027", None),
        ("Version 2.10.3 of 9/11/2026", None),
    ],
)
def test_a_heading_dates_its_text_only_if_it_names_one_whole_day(
    memory: Memory, tmp_path: Path, heading: str, day: str | None
) -> None:
    (tmp_path / "log.md").write_text(f"# Log\n\n## {heading}\nThe heron nests on the boathouse.\n")
    memory.sync(tmp_path / "log.md")
    assert set(dates(memory, "where does the heron nest?").values()) == {day}


def test_a_file_named_by_a_day_with_dots_has_that_day(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "09.11.2026.md").write_text("The heron nests on the boathouse.\n")
    memory.sync(tmp_path / "09.11.2026.md")
    assert set(dates(memory, "where does the heron nest?").values()) == {"2026-11-09"}
