"""Plot growth: what `growth.py` measured -> ``growth.svg``, each figure over the size, with its slope.

    python bench/plot_growth.py FILE [--out DIR]

Both axes are logarithmic, so that a power of the size is a straight line, and its slope the power.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from plots import COLOURS, GREY, PlotError, origin, pyplot, read, saved

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


def lines(
    run: Mapping[str, Any], figures: Sequence[tuple[str, str]]
) -> list[tuple[str, list[tuple[int, float]]]]:
    """Return the name, with its slope, and the points of each figure that was measured.

    >>> lines({"sizes": [{"memories": 10, "disk_mb": 2.0}], "slopes": {"disk_mb": 1.0}}, [("disk_mb", "disk")])
    [('disk (slope 1.0)', [(10, 2.0)])]

    Raises:
        PlotError: None was.
    """
    found = []
    for name, told in figures:
        points = [(one["memories"], one[name]) for one in run["sizes"] if one.get(name)]
        if points:
            slope = run["slopes"].get(name)
            found.append((told if slope is None else f"{told} (slope {slope})", points))
    if not found:
        raise PlotError(f"The run has none of {', '.join(name for name, _ in figures)}.")
    return found


def draw(plt: Any, run: Mapping[str, Any]) -> Any:
    """Draw a square for each unit."""
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, draw, write; return the exit code."""
    parser = argparse.ArgumentParser(description="Draw what growth.py measured.")
    parser.add_argument("file", type=Path, help="JSON of growth.py")
    parser.add_argument("--out", type=Path, default=Path("docs/plots"), help="folder of the plot")
    args = parser.parse_args(arguments)
    try:
        run = read(args.file, "growth")
        plt = pyplot()
        saved(plt, draw(plt, run), args.out / "growth.svg", "What a store costs as it grows")
    except PlotError as error:
        print(f"plot_growth: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
