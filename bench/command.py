"""A command of `python -m bench`: its options, what it measures, and the rows it adds to the log."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = tuple[str, str, str]
"""What was measured, its figures, and the state of the store."""


class HollowError(Exception):
    """A run that measured nothing: no documents, no hits, a state not reached, another scope's memory."""


@dataclass(frozen=True, slots=True)
class Command:
    """One measurement.

    Attributes:
        about: The text of its `--help`.
        run: Measures and prints; returns the figures for `--json`.
        options: Adds its own options.
        rows: Returns rows of LOG.md for `--log`; commands without it have no such option.
    """

    about: str | None
    run: Callable[[argparse.Namespace], Mapping[str, Any]]
    options: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    rows: Callable[[Mapping[str, Any]], Sequence[Row]] | None = None

    def parser(self, name: str) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(
            prog=f"python -m bench {name}",
            description=self.about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.options(parser)
        parser.add_argument("--json", type=Path, help="file for the figures")
        if self.rows is not None:
            parser.add_argument("--log", action="store_true", help="put the figures on top of bench/LOG.md")
        return parser


def set_options(parser: argparse.ArgumentParser, *, sets: str = "", state: str = "embed") -> None:
    """Add the options of commands that read sets of judged queries."""
    parser.add_argument("--data", type=Path, required=True, help="folder of sets, or one set")
    parser.add_argument("--sets", default=sets, help="names, separated by commas; all when left out")
    parser.add_argument("--state", choices=("sync", "embed"), default=state, help="of the store")
    parser.add_argument(
        "--cache", type=Path, help="SQLite file that keeps the windows of bge-small between runs"
    )


def listed(text: str) -> list[str]:
    """The parts of an option, which are separated by commas.

    >>> listed("a,b"), listed("")
    (['a', 'b'], [])
    """
    return [part for part in text.split(",") if part]


def in_line(figures: Mapping[str, Any]) -> str:
    """Names and values in one line, as rows of the log have them."""
    return ", ".join(f"{name} {value}" for name, value in figures.items())
