"""Progress of long calls: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from scrubjay.cli.output import format_count, format_duration, write_error

if TYPE_CHECKING:
    from scrubjay.models.reports import Progress


LINE_SECONDS = 10.0
"""Seconds between two lines of one stage without a terminal: a log should stay short."""

STAGES = {
    "scan": ("Looking", "file"),
    "write": ("Reading", "file"),
    "connect": ("Connecting", "memory"),
    "distil": ("Consolidating", "group"),
    "embed": ("Embedding", "passage"),
    "export": ("Exporting", "memory"),
    "import": ("Importing", "memory"),
    "copy": ("Copying", "memory"),
    "verify": ("Comparing", "memory"),
    "words": ("Sorting words", "memory"),
    "vectors": ("Copying vectors", "vector"),
}
"""Stage to what it is called while it runs, and what it counts."""


@dataclass(slots=True)
class EmbeddingPace:
    """The speed of embedding, and the last report of the call."""

    report: Progress | None = None
    first: tuple[float, int] | None = None
    last: tuple[float, int] = (0.0, 0)

    def saw(self, done: int, at: float) -> None:
        if self.first is None:
            self.first = (at, done)
        self.last = (at, done)

    @property
    def rate(self) -> float:
        """Passages a second; 0 if nothing was embedded.

        >>> pace = EmbeddingPace(); pace.saw(0, 1.0); pace.saw(30, 3.0); pace.rate
        15.0
        """
        if self.first is None or self.last[0] <= self.first[0]:
            return 0.0
        return (self.last[1] - self.first[1]) / (self.last[0] - self.first[0])


@dataclass(slots=True)
class _PlainLines:
    """Plain lines on standard error: one at the end of each stage, and one now and then before it."""

    last_line: dict[str, float] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def __call__(self, report: Progress) -> None:
        now = time.monotonic()
        due = now - self.last_line.setdefault(report.stage, now) >= LINE_SECONDS
        ends = report.done >= report.total and report.stage not in self.ended
        if not (due or ends):
            return
        self.last_line[report.stage] = now
        if ends:
            self.ended.add(report.stage)
        doing, noun = _stage_name(report.stage)
        left = "" if ends or report.left is None else f", about {format_duration(report.left)} left"
        write_error(
            f"{doing}: {report.done:,} of {format_count(report.total, noun)}, {format_duration(report.seconds)}{left}"
        )


@contextmanager
def show_progress(*, quiet: bool = False) -> Iterator[tuple[Callable[[Progress], None], EmbeddingPace]]:
    """Yield the progress callback of a long call, and the pace it sees; ``quiet`` shows nothing."""
    pace = EmbeddingPace()

    def noting(show: Callable[[Progress], None]) -> Callable[[Progress], None]:
        def report(progress: Progress) -> None:
            pace.report = progress
            if progress.stage == "embed":
                pace.saw(progress.done, time.monotonic())
            show(progress)

        return report

    if quiet:
        yield noting(lambda _: None), pace
    elif sys.stderr.isatty():
        with _progress_bar() as show:
            yield noting(show), pace
    else:
        yield noting(_PlainLines()), pace


@contextmanager
def _progress_bar() -> Iterator[Callable[[Progress], None]]:
    from tqdm import tqdm

    bars: dict[str, tqdm[NoReturn]] = {}

    def show(report: Progress) -> None:
        doing, noun = _stage_name(report.stage)
        if report.stage not in bars:
            size = shutil.get_terminal_size()  # tqdm ignores a terminal without a size
            sized = report.all_bytes > 0
            layout = "{desc} {bar} {n_fmt}/{total_fmt} {rate_fmt} {remaining}" + (
                "{postfix}" if sized else ""
            )
            bars[report.stage] = tqdm(
                total=report.all_bytes if sized else report.total,
                desc=doing,
                unit="B" if sized else f" {noun}s",
                unit_scale=sized,
                smoothing=0,  # the mean rate since the stage began
                leave=False,
                bar_format=layout,
                file=sys.stderr,
                ncols=size.columns,
                nrows=size.lines,
            )
        bar = bars[report.stage]
        sized = report.all_bytes > 0
        bar.total = report.all_bytes if sized else report.total
        bar.update((report.bytes if sized else report.done) - bar.n)
        if sized:
            bar.set_postfix_str(f"{report.done:,} of {format_count(report.total, noun)}", refresh=False)
        bar.refresh()

    try:
        yield show
    finally:
        for bar in bars.values():
            bar.close()


def _stage_name(name: str) -> tuple[str, str]:
    return STAGES.get(name, (name, "item"))
