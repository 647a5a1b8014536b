"""The plot of growth shows what was measured and nothing else, and says what it lacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plot_growth import lines, main
from plots import PlotError

RUN = {
    "what": "growth",
    "sizes": [{"memories": 10, "search_p50": 1.0, "search_p99": None}, {"memories": 100, "search_p50": 2.0}],
    "slopes": {"search_p50": 0.3},
}


def test_a_line_is_named_with_its_slope_and_one_that_was_not_measured_is_left_out() -> None:
    drawn = lines(RUN, [("search_p50", "median"), ("search_p99", "99th")])
    assert drawn == [("median (slope 0.3)", [(10, 1.0), (100, 2.0)])]


def test_a_run_without_any_figure_of_a_square_is_refused() -> None:
    with pytest.raises(PlotError, match="none of disk_mb"):
        lines(RUN, [("disk_mb", "disk")])


def test_a_file_of_another_bench_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.json").write_text(json.dumps({"what": "speed"}))
    assert main([str(tmp_path / "other.json"), "--out", str(tmp_path)]) == 1
    assert "is not a result of growth.py but of speed" in capsys.readouterr().err
