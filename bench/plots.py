"""Draw the figures of other commands as SVG files for the pages. `make plots` draws those in bench/results.

``--ablate``: the contribution of each stage and channel (``contribution.svg``). ``--silence``: the calibration of
relevance (``calibration.svg``). ``--speed``: milliseconds of a search (``latency.svg``). ``--growth``: each figure over
the size with its slope, both axes logarithmic (``growth.svg``). The same files give the same bytes. Nothing is measured
here, and only drawing needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.command import Command, HollowError
from bench.metrics import NAMES
from scrubjay.search.request import STAGES

GREY: Final = "#808080"
"""Letters and lines: readable on white and on black."""
COLOURS: Final = ("#3b82c4", "#d97706", "#16a34a")
SETTINGS: Final[Mapping[str, Any]] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "scrubjay",
} | dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), GREY)
"""Letters stay letters, which is small, and nothing in a file is drawn by lot."""
PANELS: Final[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
    (
        "milliseconds",
        (
            ("search_p50", "search, median"),
            ("search_p99", "search, 99th"),
            ("first_search_ms", "first of a process"),
        ),
    ),
    ("megabytes of memory", (("five_private_mb", "five processes, private"), ("private_mb", "one process"))),
    ("megabytes of disk", (("disk_mb", "store and vectors"),)),
    ("milliseconds of a memory written", (("write_ms", "in a call of a thousand"),)),
)
"""What is drawn beside one another: a unit, and the figures with their names."""
CERTAIN: Final = 1.96
"""Deviations on either side of a share that hold it 95 times of a hundred."""
QUARTERS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
WITHOUT: Final = "without "


class PlotError(HollowError):
    """A file does not hold what a plot is made of, or there is nothing to draw with."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a metric changes by without a part: positive where the answers are better without it."""

    part: str
    stage: bool
    mean: float
    low: float
    high: float
    tasks: tuple[tuple[float, bool], ...]


@dataclass(frozen=True, slots=True)
class Bin:
    """Results of which about the same was said: what was said on average, how many did answer, how many they are."""

    said: float
    was: float
    low: float
    high: float
    results: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """One family of signs: its bins, and the expected calibration error over them."""

    family: str
    bins: tuple[Bin, ...]
    error: float
    results: int


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of a search among so many memories, and of bare FTS5 on the same texts."""

    memories: int
    p50: float
    p95: float
    fts5_p50: float
    fts5_p95: float
    synthetic: bool


def changes(ablated: Mapping[str, Any], metric: str) -> list[Change]:
    """Return what each part that was left out changes, what is missed most first.

    The interval of the mean is put together from the tasks' own. Tasks of one set share its questions, so their
    half-widths are added as they are; sets are independent, so theirs are added as squares.
    """
    tasks = [
        (name, own)
        for name, found in sorted(ablated["sets"].items())
        for task, own in sorted(found.items())
        if task != "search_ms"
    ]
    parts = sorted({part for _, own in tasks for part in own if part.startswith(WITHOUT)})
    if not parts:
        raise PlotError("The ablation holds no run without a stage or a channel.")
    found = []
    for part in parts:
        try:
            differences = [(name, own[part][metric]["against_default"]) for name, own in tasks]
        except KeyError as error:
            raise PlotError(f"The ablation does not hold {error} for every task.") from error
        lower, upper = (_half(differences, end) for end in ("low", "high"))
        mean = math.fsum(own["mean"] for _, own in differences) / len(differences)
        name = part.removeprefix(WITHOUT)
        dots = tuple((own["mean"], own["low"] > 0 or own["high"] < 0) for _, own in differences)
        found.append(Change(name, name in STAGES, mean, mean - lower, mean + upper, dots))
    return sorted(found, key=lambda one: (one.mean, one.part))


def _half(differences: Sequence[tuple[str, Mapping[str, float]]], end: str) -> float:
    """Return how far the mean over tasks may lie from where it is, towards one end."""
    by_set: dict[str, float] = {}
    for name, own in differences:
        by_set[name] = by_set.get(name, 0.0) + abs(own["mean"] - own[end])
    return math.sqrt(math.fsum(width**2 for width in by_set.values())) / len(differences)


def reliabilities(silence: Mapping[str, Any]) -> list[Reliability]:
    """Return each family's bins, of sets that its coefficients were not fitted on; empty bins are left out."""
    found = []
    for family, own in silence["families"].items():
        judged = own["held_out"]
        bins = tuple(
            Bin(one["said"], one["was"], *share_interval(one["was"], one["results"]), one["results"])
            for one in judged["bins"]
            if one["results"]
        )
        if not bins:
            raise PlotError(f"The family {family} has no results.")
        found.append(Reliability(family, bins, judged["ece"], judged["results"]))
    if not found:
        raise PlotError("There is no family of signs.")
    return found


def share_interval(share: float, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of so many.

    >>> [round(end, 3) for end in share_interval(0.5, 10)]
    [0.237, 0.763]
    """
    spread = CERTAIN**2 / of
    middle = (share + spread / 2) / (1 + spread)
    half = CERTAIN / (1 + spread) * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def latencies(speeds: Sequence[Mapping[str, Any]]) -> list[Latency]:
    """Return the points of all runs by their number of memories; of two runs of one number the later counts."""
    found: dict[int, Latency] = {}
    for run in sorted(speeds, key=lambda one: str(one["date"])):
        for own in run["scales"]:
            product, base = own["search_ms"], own["fts5"]["search_ms"]
            times = product["p50"], product["p95"], base["p50"], base["p95"]
            synthetic = own["model"].startswith("synthetic")
            found[own["memories"]] = Latency(own["memories"], *times, synthetic)
    if not found:
        raise PlotError("No run has a scale.")
    return [found[memories] for memories in sorted(found)]


def origin(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return where figures come from: day and commit of each run.

    >>> origin([{"date": "2026-11-22T01:11:15+00:00", "commit": "97668bda4922"}])
    '2026-11-22, 97668bda4922'
    """
    return "; ".join(dict.fromkeys(f"{run['date'][:10]}, {run['commit']}" for run in runs))


def draw_changes(plt: Any, found: Sequence[Change], metric: str, caption: str) -> Any:
    """Draw one line for each part: a dot for each task, filled where it is beyond chance, and the mean's interval."""
    figure, axes = plt.subplots(figsize=(7.2, 1.0 + 0.24 * len(found)))
    axes.set_ylim(-0.7, len(found) - 0.3)
    axes.axvline(0, color=GREY, linewidth=0.8)
    for place, one in enumerate(found):
        colour = COLOURS[0 if one.stage else 1]
        for certain in (False, True):
            dots = [change for change, beyond in one.tasks if beyond is certain]
            face = colour if certain else "none"
            axes.scatter(dots, [place] * len(dots), s=14, facecolor=face, edgecolor=colour, linewidth=0.6)
        axes.plot([one.low, one.high], [place, place], color=GREY, linewidth=2.4, solid_capstyle="butt")
        axes.plot([one.mean], [place], marker="|", color=GREY, markersize=13, markeredgewidth=2.4)
    axes.set_yticks(range(len(found)), [one.part for one in found])
    axes.invert_yaxis()
    axes.set_xlabel(f"change of {metric} without it (left of 0: it is missed)")
    for colour, name in zip(COLOURS, ("stage", "channel or model"), strict=False):
        axes.scatter([], [], s=14, color=colour, label=name)
    axes.plot([], [], color=GREY, linewidth=2.4, label="mean over tasks, 95 %")
    _finish(figure, [axes], caption)
    return figure


def draw_reliabilities(plt: Any, found: Sequence[Reliability], caption: str) -> Any:
    """Draw one square for each family: what was said against what was so."""
    figure, squares = plt.subplots(1, len(found), figsize=(2.9 * len(found), 3.4), sharey=True, squeeze=False)
    names = {"words": "words alone", "base": "with the base model", "both": "with MiniLM too"}
    for axes, one, colour in zip(squares[0], found, COLOURS, strict=False):
        most = max(own.results for own in one.bins)
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        said, was = [own.said for own in one.bins], [own.was for own in one.bins]
        low, high = [own.low for own in one.bins], [own.high for own in one.bins]
        axes.vlines(said, low, high, color=colour, linewidth=1)
        sizes = [6 + 60 * math.sqrt(own.results / most) for own in one.bins]
        axes.scatter(said, was, s=sizes, color=colour, zorder=3)
        name = names.get(one.family, one.family)
        axes.set_title(f"{name}\nerror {one.error:.3f}, {one.results:,} results", color=GREY, fontsize=9)
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal", xlabel="relevance said")
        axes.set(xticks=QUARTERS, yticks=QUARTERS)
    squares[0][0].set_ylabel("share that answers")
    _finish(figure, list(squares[0]), caption)
    return figure


def draw_latencies(plt: Any, found: Sequence[Latency], caption: str) -> Any:
    """Draw the median and the slowest of twenty, of the product and of bare FTS5, against the memories."""
    figure, axes = plt.subplots(figsize=(6.4, 3.8))
    memories = [one.memories for one in found]
    lines: tuple[tuple[str, Callable[[Latency], float], str, str], ...] = (
        ("scrubjay p50", lambda one: one.p50, COLOURS[0], "-"),
        ("scrubjay p95", lambda one: one.p95, COLOURS[0], "--"),
        ("FTS5 p50", lambda one: one.fts5_p50, COLOURS[1], "-"),
        ("FTS5 p95", lambda one: one.fts5_p95, COLOURS[1], "--"),
    )
    for name, value, colour, style in lines:
        axes.plot(memories, [value(one) for one in found], style, color=colour, linewidth=1.4, label=name)
    for one in found:
        face = "none" if one.synthetic else COLOURS[0]
        axes.scatter([one.memories] * 2, [one.p50, one.p95], s=22, facecolor=face, edgecolor=COLOURS[0])
    if any(one.synthetic for one in found):
        axes.scatter([], [], s=22, facecolor="none", edgecolor=COLOURS[0], label="made-up vectors")
    axes.set(xscale="log", yscale="log", xlabel="memories", ylabel="ms of a search")
    axes.set_xticks(memories, [f"{count:,}" for count in memories])
    axes.minorticks_off()
    axes.grid(visible=True, which="major", color=GREY, alpha=0.25, linewidth=0.6)
    _finish(figure, [axes], caption)
    return figure


def _finish(figure: Any, every: Sequence[Any], caption: str) -> None:
    for axes in every:
        axes.spines[["top", "right"]].set_visible(False)
    if every[0].get_legend_handles_labels()[0]:
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 5, "columnspacing": 1.2}
        every[0].legend(frameon=False, labelcolor=GREY, fontsize=8, **above)
    figure.text(0.9, -0.01, caption, ha="right", va="top", fontsize=6.5, color=GREY)


def save(plt: Any, figure: Any, file: Path, title: str) -> None:
    """Write a figure: the same bytes of the same figures, nothing behind it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None, "Creator": None, "Title": title}
    figure.savefig(file, format="svg", transparent=True, bbox_inches="tight", metadata=metadata)
    text = file.read_text("utf-8")
    file.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")
    plt.close(figure)
    print(file)


def pyplot() -> Any:
    """Return matplotlib, set up for these plots."""
    try:
        import matplotlib
    except ImportError as error:
        raise PlotError(
            "matplotlib is not installed; nothing was drawn.\nhint: pip install --group plots, or make plots"
        ) from error
    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    drawing: Any = plt
    drawing.rcdefaults()
    drawing.rcParams.update(SETTINGS)
    return drawing


def lines(
    run: Mapping[str, Any], figures: Sequence[tuple[str, str]]
) -> list[tuple[str, list[tuple[int, float]]]]:
    """Return the name, with its slope, and the points of each figure that was measured.

    >>> lines({"sizes": [{"memories": 10, "disk_mb": 2.0}], "slopes": {"disk_mb": 1.0}}, [("disk_mb", "disk")])
    [('disk (slope 1.0)', [(10, 2.0)])]
    """
    found = []
    for name, label in figures:
        points = [(one["memories"], one[name]) for one in run["sizes"] if one.get(name)]
        if points:
            slope = run["slopes"].get(name)
            found.append((label if slope is None else f"{label} (slope {slope})", points))
    if not found:
        raise PlotError(f"The run has none of {', '.join(name for name, _ in figures)}.")
    return found


def draw_growth(plt: Any, run: Mapping[str, Any]) -> Any:
    figure, squares = plt.subplots(2, 2, figsize=(8.4, 6.4), sharex=True)
    for axes, (unit, figures) in zip(squares.flat, PANELS, strict=True):
        for (name, points), colour in zip(lines(run, figures), COLOURS, strict=False):
            sizes, values = zip(*points, strict=True)
            axes.plot(sizes, values, marker="o", markersize=4, color=colour, linewidth=1.4, label=name)
        axes.set(xscale="log", yscale="log", ylabel=unit)
        axes.set_xticks(sizes, [f"{size / 1000:,.0f}k" for size in sizes])
        axes.minorticks_off()
        axes.grid(visible=True, which="major", color=GREY, alpha=0.25, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, labelcolor=GREY, fontsize=7.5)
    for axes in squares[1]:
        axes.set_xlabel("memories")
    figure.text(0.9, -0.01, origin([run]), ha="right", va="top", fontsize=6.5, color=GREY)
    return figure


def run(args: argparse.Namespace) -> dict[str, Any]:
    if not (args.ablate or args.silence or args.speed or args.growth):
        raise PlotError("Nothing to draw.\nhint: name a file with --ablate, --silence, --speed or --growth")
    plt = pyplot()
    if args.ablate:
        one = read(args.ablate, "ablate")
        figure = draw_changes(plt, changes(one, args.metric), args.metric, f"{origin([one])}, {one['state']}")
        save(plt, figure, args.out / "contribution.svg", "What each stage and channel contributes")
    if args.silence:
        one = read(args.silence, "silence")
        figure = draw_reliabilities(plt, reliabilities(one), origin([one]))
        save(plt, figure, args.out / "calibration.svg", "How far relevance can be believed")
    if args.speed:
        runs = [read(file, "speed") for file in args.speed]
        figure = draw_latencies(plt, latencies(runs), origin(runs))
        save(plt, figure, args.out / "latency.svg", "How long a search takes")
    if args.growth:
        figure = draw_growth(plt, read(args.growth, "growth"))
        save(plt, figure, args.out / "growth.svg", "What a store costs as it grows")
    return {}


def read(file: Path, what: str) -> dict[str, Any]:
    """Return a result file."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise PlotError(f"{file} cannot be read: {error}.") from error
    wrote = found.get("what") if isinstance(found, dict) else None
    if wrote != what:
        raise PlotError(f"{file} is not a result of {what} but of {wrote}.")
    return dict(found)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ablate", type=Path, help="JSON of ablate")
    parser.add_argument("--silence", type=Path, help="JSON of silence")
    parser.add_argument("--speed", type=Path, action="append", help="JSON of speed; may be repeated")
    parser.add_argument("--growth", type=Path, help="JSON of growth")
    parser.add_argument("--metric", choices=NAMES, default="recall@5", help="of the contribution")
    parser.add_argument("--out", type=Path, default=Path("docs/plots"), help="folder of the plots")


PLOTS = Command(__doc__, run, _options)
