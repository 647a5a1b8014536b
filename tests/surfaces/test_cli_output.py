from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.cli.output import format_duration, highlight_matches, supports_colour, table, write_json
from scrubjay.cli.sync import EmbeddingPace, show_progress
from scrubjay.models.reports import Progress
from scrubjay.text.display import single_line, strip_control

SEEN_BUT_OBEYED = {*map(chr, range(32)), *map(chr, range(127, 160)), *"\u202a\u202e\u2066"} - {"\n", "\t"}


@settings(max_examples=100)
@given(st.text(st.characters(codec=None)))
def test_a_cleaned_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    assert not set(strip_control(text)) & SEEN_BUT_OBEYED
    strip_control(text).encode("utf-8")
    assert "\n" not in single_line(text)


@pytest.mark.parametrize("text", ["plain", "naïve café 日本語 🐦", "a\tb\nc", "- [x] *Markdown* `code`"])
def test_what_is_harmless_stays(text: str) -> None:
    assert strip_control(text) == text


@settings(max_examples=50)
@given(st.text(st.characters(codec=None)))
def test_json_is_one_printable_line_that_reads_back(text: str) -> None:
    kept = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", kept)
        write_json({"text": text})
    assert json.loads(kept.getvalue()) == {"text": text}
    kept.getvalue().encode("utf-8")
    assert not set(kept.getvalue()[:-1]) & (SEEN_BUT_OBEYED | {"\n", "\u2028"})


def test_emphasis_finds_other_forms_and_leaves_small_words(monkeypatch) -> None:
    assert highlight_matches("a b", "a b") == "a b"
    monkeypatch.setattr("scrubjay.cli.output.supports_colour", lambda _stream: True)
    lit = highlight_matches("We were running, he runs; the run of it.", "the running")
    assert lit.count("\x1b[1;33m") == 3
    assert "the" not in lit.split("\x1b[1;33m")[0]
    assert highlight_matches("is it", "is it").count("\x1b[1;33m") == 2


def test_a_stream_that_is_no_terminal_gets_no_colours() -> None:
    assert not supports_colour(io.StringIO())


def test_tables_line_up_whatever_the_cells_hold() -> None:
    assert table([("a\nb", "c"), ("long cell", "\x1b[1md")]) == ["a b        c", "long cell  d"]


def test_progress_off_a_terminal_is_one_line_a_stage(capsys) -> None:
    with show_progress() as (report, _):
        for done in range(6):
            report(Progress("write", done, 5, 0.1))
        report(Progress("write", 5, 5, 0.1))
    assert capsys.readouterr().err == "Reading: 5 of 5 files, 0.10 s\n"


def test_a_quiet_progress_shows_nothing_but_keeps_the_pace(capsys) -> None:
    with show_progress(quiet=True) as (report, pace):
        for done in range(100):
            report(Progress("embed", done, 100, 0.0))
    assert capsys.readouterr().err == ""
    assert pace.rate > 0
    assert EmbeddingPace().rate == 0.0


def test_durations_read_as_people_say_them() -> None:
    assert [format_duration(each) for each in (0, 9.99, 10, 119, 120, 146, 5_400)] == [
        "0.00 s", "9.99 s", "10 s", "119 s", "2 min", "2 min 26 s", "1.5 h",
    ]  # fmt: skip


def test_the_time_left_is_judged_by_bytes_and_not_by_files() -> None:
    report = Progress("write", 99, 100, 10.0, 1_000_000, 11_000_000)
    assert report.left == pytest.approx(100)
    assert Progress("embed", 20, 40, 10.0).left == pytest.approx(10)
    assert Progress("write", 0, 3, 1.0, 0, 5).left is None
