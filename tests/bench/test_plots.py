import builtins
import json
from pathlib import Path

import pytest

from bench import plots
from bench.__main__ import main
from bench.plots import PlotError, changes, latencies, lines, reliabilities

RESULTS = Path(__file__).parents[2] / "bench" / "results"


def told(mean: float, width: float) -> dict[str, dict[str, object]]:
    own = {"mean": mean, "low": mean - width, "high": mean + width, "queries": 10}
    return {"recall@5": {"mean": 0.5, "low": 0.4, "high": 0.6, "queries": 10, "against_default": own}}


def ablated(**tasks: dict[str, dict[str, tuple[float, float]]]) -> dict[str, object]:
    """Sets to tasks to configurations to (change, half of its interval)."""
    sets = {
        name: {"search_ms": {"default": 3.0}}
        | {task: {part: told(*given) for part, given in own.items()} for task, own in found.items()}
        for name, found in tasks.items()
    }
    return {"what": "ablate", "state": "sync", "date": "2026-11-22T10:00:00", "commit": "abc", "sets": sets}


def scale(memories: int, p50: float, model: str = "wordllama") -> dict[str, object]:
    return {
        "memories": memories,
        "model": model,
        "search_ms": {"p50": p50, "p95": 2 * p50},
        "fts5": {"search_ms": {"p50": 3 * p50, "p95": 4 * p50}},
    }


def sped(date: str, *scales: dict[str, object]) -> dict[str, object]:
    return {"what": "speed", "date": date, "commit": "abc", "scales": list(scales)}


def test_a_part_that_is_missed_more_stands_before_one_that_is_missed_less():
    found = changes(
        ablated(
            one={
                "documents": {
                    "default": (0, 0),
                    "without graph": (-0.04, 0.01),
                    "without decay": (0.02, 0.03),
                }
            },
            two={"documents": {"default": (0, 0), "without graph": (0.0, 0.01), "without decay": (0.0, 0.0)}},
        ),
        "recall@5",
    )
    assert [(one.part, one.stage) for one in found] == [("graph", False), ("decay", True)]
    graph = found[0]
    assert graph.mean == pytest.approx(-0.02)
    assert graph.tasks == ((-0.04, True), (0.0, False))


def test_intervals_of_sets_add_up_as_squares_and_those_of_tasks_of_one_set_as_they_are():
    part = {"without decay": (0.0, 0.03)}
    (apart,) = changes(ablated(one={"documents": part}, two={"documents": part}), "recall@5")
    (together,) = changes(ablated(one={"documents": part, "session": part}), "recall@5")
    assert (apart.low, apart.high) == pytest.approx((-(0.03 * 2**0.5) / 2, (0.03 * 2**0.5) / 2))
    assert (together.low, together.high) == pytest.approx((-0.03, 0.03))


def test_an_ablation_that_left_nothing_out_or_lacks_the_metric_is_refused():
    whole = ablated(one={"documents": {"default": (0, 0), "fusion rrf": (-0.1, 0.01)}})
    with pytest.raises(PlotError, match="no run without"):
        changes(whole, "recall@5")
    with pytest.raises(PlotError, match=r"ndcg@10"):
        changes(ablated(one={"documents": {"without decay": (0, 0)}}), "ndcg@10")


def test_bins_without_results_are_left_out_and_few_results_are_less_certain():
    bins = [
        {"said": 0.1, "was": 0.1, "share": 0.9, "results": 900},
        {"said": 0.0, "was": 0.0, "share": 0.0, "results": 0},
        {"said": 0.9, "was": 1.0, "share": 0.1, "results": 9},
    ]
    held = {"results": 909, "ece": 0.01, "bins": bins}
    (family,) = reliabilities({"families": {"words": {"held_out": held}}})
    assert [one.said for one in family.bins] == [0.1, 0.9]
    many, few = family.bins
    assert many.low < 0.1 < many.high < 0.13
    assert few.low < 0.75
    assert few.high == pytest.approx(1.0)
    with pytest.raises(PlotError, match="no results"):
        reliabilities({"families": {"words": {"held_out": held | {"bins": [bins[1]]}}}})


def test_runs_are_joined_by_scale_and_the_later_one_counts():
    early = sped("2026-11-01T00:00:00", scale(10_000, 4.0), scale(1_000, 1.0))
    late = sped("2026-11-02T00:00:00", scale(1_000, 2.0), scale(1_000_000, 90.0, "synthetic-384"))
    found = latencies([late, early])
    assert [(one.memories, one.p50) for one in found] == [(1_000, 2.0), (10_000, 4.0), (1_000_000, 90.0)]
    assert found == latencies([early, late])
    assert [one.synthetic for one in found] == [False, False, True]
    assert (found[0].p95, found[0].fts5_p50, found[0].fts5_p95) == (4.0, 6.0, 8.0)
    with pytest.raises(PlotError, match="No run has a scale"):
        latencies([sped("2026-11-01T00:00:00")])


def test_the_committed_results_have_the_shape_that_is_drawn():
    families = reliabilities(json.loads((RESULTS / "silence.json").read_text("utf-8")))
    assert [one.family for one in families] == ["words", "base", "both"]
    assert all(len(one.bins) <= 15 for one in families)
    speeds = [json.loads(file.read_text("utf-8")) for file in sorted(RESULTS.glob("speed-*.json"))]
    assert len(latencies(speeds)) >= 2


def test_a_file_of_another_bench_is_named_and_nothing_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(plots, "pyplot", lambda: None)
    assert (
        main(["plots", "--silence", str(next(RESULTS.glob("speed-*.json"))), "--out", str(tmp_path / "out")])
        == 1
    )
    assert "is not a result of silence but of speed." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_matplotlib_the_way_to_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    usual = builtins.__import__

    def without(name: str, *given: object, **options: object) -> object:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return usual(name, *given, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["plots", "--silence", str(RESULTS / "silence.json"), "--out", str(tmp_path / "out")]) == 1
    assert "pip install --group plots, or make plots" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_nothing_named_is_an_error(capsys: pytest.CaptureFixture[str]):
    assert main(["plots"]) == 1
    assert "--ablate, --silence, --speed or --growth" in capsys.readouterr().err


def test_the_same_figures_are_drawn_to_the_same_bytes(tmp_path: Path):
    pytest.importorskip("matplotlib")
    ablation = tmp_path / "ablate.json"
    found = ablated(one={"documents": {"without graph": (-0.04, 0.01), "without decay": (0.02, 0.03)}})
    ablation.write_text(json.dumps(found), encoding="utf-8")
    speeds = [part for file in sorted(RESULTS.glob("speed-*.json")) for part in ("--speed", str(file))]
    given = ["--ablate", str(ablation), "--silence", str(RESULTS / "silence.json"), *speeds]
    for name in ("first", "second"):
        assert main(["plots", *given, "--out", str(tmp_path / name)]) == 0
    made = sorted(file.name for file in (tmp_path / "first").iterdir())
    assert made == ["calibration.svg", "contribution.svg", "latency.svg"]
    for name in made:
        text = (tmp_path / "first" / name).read_text("utf-8")
        assert text == (tmp_path / "second" / name).read_text("utf-8")
        assert "dc:date" not in text
        assert len(text) < 100_000


GROWTH = {
    "what": "growth",
    "sizes": [{"memories": 10, "search_p50": 1.0, "search_p99": None}, {"memories": 100, "search_p50": 2.0}],
    "slopes": {"search_p50": 0.3},
}


def test_a_line_is_named_with_its_slope_and_one_that_was_not_measured_is_left_out() -> None:
    drawn = lines(GROWTH, [("search_p50", "median"), ("search_p99", "99th")])
    assert drawn == [("median (slope 0.3)", [(10, 1.0), (100, 2.0)])]


def test_a_run_without_any_figure_of_a_square_is_refused() -> None:
    with pytest.raises(PlotError, match="none of disk_mb"):
        lines(GROWTH, [("disk_mb", "disk")])
