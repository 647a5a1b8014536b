"""Odd dates, endless talks, circles, clocks that step back: what is there is taken, and nothing falls over."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError
from scrubjay.models.dates import now_micros

LONG_AGO = 1_700_000_000
FAR = ("0001-01-01", "0001", "0999-12", "2999-12-31", "9999-12-31", "9999-12", "9999")
"""Days, months and years at the ends of the calendar; the last ones end after it."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder(32)]) as opened:
        yield opened


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def write(file: Path, text: str, second: float = LONG_AGO) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    os.utime(file, (second, second))
    return file


def said(folder: Path, *turns: tuple[str, object], second: float = LONG_AGO) -> Path:
    lines = [
        json.dumps({"role": "user", "content": text, "session": "s", "id": number, "time": at}) + "\n"
        for number, (text, at) in enumerate(turns)
    ]
    return write(folder / "talk.jsonl", "".join(lines), second)


@pytest.fixture(params=["UTC", "Pacific/Kiritimati", "Etc/GMT+12"])
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in zones whose days begin at the two ends of the world's."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("date", FAR)
def test_a_note_of_any_year_is_stored_found_and_shown_with_its_date_or_told(
    memory: Memory, notes: Path, date: str
) -> None:
    write(notes / "a.md", f"---\ndate: {date}\n---\n# Eclipse\n\nThe sun went dark over the harbour.\n")
    summary = memory.sync(notes)
    (found,) = memory.search("sun went dark", explain=True).results
    assert found.date is None if summary.problems else found.date.startswith(date)
    near = memory.search("sun", since="1990", until="2024").results
    assert bool(near) == bool(summary.problems), "without a date that can be read its file's is taken"
    assert memory.get(path=notes / "a.md").records[0].title == "Eclipse"


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("date", [*FAR, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_an_addition_of_any_year_is_stored_or_refused_whole(memory: Memory, date: str) -> None:
    text = "The sun went dark over the harbour."
    if date.startswith(("9999", "0001")):  # in some zone they end, or begin, outside of the calendar
        with pytest.raises(InputError, match=re.escape(date)):
            memory.add(text, date=date)
        assert memory.status().memories == 0
        return
    added = memory.add(text, date=date, valid_from=date)
    then = date if date > "2100" else None  # what is to be true is not so yet
    (found,) = memory.search("sun went dark", since="1000" if date > "1000" else None, as_of=then).results
    assert (found.id, found.date) == (added.id, date)


@pytest.mark.parametrize(
    "at",
    [
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "2999-01-01T00:00:00Z",
        1e18,
        -1e18,
        1e300,
        10**30,
        -1,
        "soon",
    ],
)
def test_a_turn_of_any_time_is_taken(memory: Memory, tmp_path: Path, at: object) -> None:
    said(
        tmp_path / "logs", ("When is the eclipse?", at), ("The eclipse is on Friday.", "2026-03-01T10:00:00Z")
    )
    memory.sync(tmp_path / "logs")
    found = memory.search("eclipse", sessions=["s"]).results
    assert len(found) == 2
    assert "2026-03-01T10:00:00+00:00" in {result.date for result in found}
    (first,) = (result for result in found if result.snippet.startswith("When"))
    record = memory.get(first.id, neighbours=1).records
    assert [one.turn for one in record] == [0, 1]
    assert all(one.recorded_at <= now_micros() for one in record), "nothing was written down in the future"


def test_turns_that_go_back_in_time_stay_in_the_order_in_which_they_were_said(
    memory: Memory, tmp_path: Path
) -> None:
    turns = [(f"word{number}", f"2026-03-01T{10 - number:02d}:00:00Z") for number in range(5)]
    said(tmp_path / "logs", *turns)
    memory.sync(tmp_path / "logs")
    (found,) = memory.search("word2").results[:1]
    around = memory.get(found.id, neighbours=9).records
    assert [record.content for record in around] == [f"word{number}" for number in range(5)]


def test_five_thousand_one_word_turns_are_one_conversation(
    memory: Memory, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    words = ["yes", "no", "ok", "harbour", "lantern", "quince"]
    said(tmp_path / "logs", *((words[n % 6] if n != 3_456 else "zygomatic", None) for n in range(5_000)))
    started = time.perf_counter()
    summary = memory.sync(tmp_path / "logs")
    record_property("turns_a_second", round(5_000 / (time.perf_counter() - started)))
    assert (summary.added, summary.problems) == (5_000, ())
    (found, *_) = memory.search("zygomatic").results
    around = memory.get(found.id, neighbours=1).records
    assert [record.turn for record in around] == [3_455, 3_456, 3_457]
    assert memory.sync(tmp_path / "logs").added == 0


def test_the_is_no_concept_however_it_is_written(memory: Memory, notes: Path) -> None:
    write(
        notes / "the.md",
        "---\ntags: [the, and]\n---\n# The\n\nThe [[the]] and `the` **The** harbour. In The.\n\n## THE\n\nThe.\n",
    )
    memory.sync(notes)
    memory.add("The The The. In The. Of The.", title="The", tags=["the"])
    known = {name.casefold() for one in memory.concepts.list() for name in (one.name, *one.aliases)}
    assert known.isdisjoint({"the", "and"})
    with pytest.raises(InputError, match='"the"'):
        memory.concepts.add("the")


def test_notes_that_link_in_circles_are_joined_and_answer(memory: Memory, notes: Path) -> None:
    for one, other in ("ab", "bc", "ca"):
        write(
            notes / f"{one}.md",
            f"# Page {one}\n\nThe {one} harbour: [[{other}]] and [[{one}]] and [me]({one}.md).\n",
        )
    memory.sync(notes)
    ids = {name: memory.get(path=notes / f"{name}.md").records[0].id for name in "abc"}
    joined = {name: {(link.id, link.direction) for link in memory.links(ids[name])} for name in "abc"}
    assert joined == {
        name: {(ids[after], "to"), (ids[before], "from")} for before, name, after in ("abc", "bca", "cab")
    }
    for one, other in ("ab", "bc", "ca"):
        memory.link(ids[one], ids[other], "derived_from")
    assert len(memory.search("harbour").results) == 3
    memory.rebuild()
    assert {(link.id, link.direction) for link in memory.links(ids["a"]) if link.kind == "links"} == joined[
        "a"
    ]
    memory.forget(ids["b"])
    assert {link.id for link in memory.links(ids["a"])} == {ids["c"]}


def test_a_file_whose_clock_stepped_back_is_read_again(memory: Memory, notes: Path) -> None:
    file = write(notes / "a.md", "# Tides\n\nHigh water at noon.\n", LONG_AGO)
    memory.sync(notes)
    write(file, "# Tides\n\nHigh water at dusk.\n", LONG_AGO - 86_400)
    assert memory.sync(notes).updated == 1
    assert memory.search("dusk").results
    assert not memory.search("noon", channels=["bm25"]).results


def test_a_log_whose_clock_stepped_back_is_read_on_from_its_cursor(memory: Memory, tmp_path: Path) -> None:
    turns = [(f"word{number}", f"2026-03-0{number + 1}T10:00:00Z") for number in range(4)]
    said(tmp_path / "logs", *turns[:2])
    memory.sync(tmp_path / "logs")
    said(tmp_path / "logs", *turns, second=LONG_AGO - 86_400)
    assert memory.sync(tmp_path / "logs").added == 2
    assert [r.content for r in memory.get(memory.search("word3").results[0].id, neighbours=9).records] == [
        text for text, _ in turns
    ]


def test_a_file_of_tomorrow_was_not_written_down_tomorrow(memory: Memory, notes: Path) -> None:
    tomorrow = time.time() + 86_400
    file = write(notes / "a.md", "# Tides\n\nHigh water at noon.\n", tomorrow)
    memory.sync(notes)
    (record,) = memory.get(path=file).records
    assert record.recorded_at <= now_micros()
    assert memory.search("noon").results[0].date is None
    write(file, "# Tides\n\nHigh water at dusk.\n", tomorrow - 3_600)
    assert memory.sync(notes).updated == 1
    assert memory.sync(notes).updated == 0


def test_a_path_with_a_nul_character_is_one_that_is_not_there(memory: Memory) -> None:
    path = "~\0x"
    assert memory.get(path=path).unknown == (path,)
    assert memory.context(project=path).memories == ()
    assert memory.search("heron", projects=[path], here=path).results == ()
    with pytest.raises(InputError, match="does not exist"):
        memory.sync(path)
