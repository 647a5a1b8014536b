"""Telling: how long a question took, what a sync met -> a line in the log, without anybody's words unless wanted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from scrubjay.errors import ScrubjayError
from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.memory.reports import Summary

MOST_QUERY: Final = 2_000
"""Characters of a question that are written down where the settings want them."""


class Laps:
    """The times of one question, each part under its name.

    Attributes:
        parts: Name to milliseconds.
    """

    def __init__(self) -> None:
        self._begun = self._last = time.perf_counter()
        self.parts: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End a part, or a piece of it."""
        now = time.perf_counter()
        self.parts[name] = round(self.parts.get(name, 0.0) + (now - self._last) * 1000, 1)
        self._last = now

    @property
    def ms(self) -> float:
        """Milliseconds from the beginning to the end of the last part."""
        return round((self._last - self._begun) * 1000, 3)


def answered(desk: Desk, kind: str, query: str | None, laps: Laps, results: int, models: list[str]) -> None:
    """Tell of a question that took longer than ``[log] slow_ms``: where the time went, and over how much.

    Args:
        desk: Where it was asked.
        kind: ``search``, ``thread`` or ``context``.
        query: The question, if any; it is written down only where ``[log] queries`` says so.
        laps: Its times.
        results: How many memories it found.
        models: Names of the models that ranked.
    """
    settings = desk.settings.log
    if desk.log is None or laps.ms < settings.slow_ms:
        return
    with desk.store.reader(desk.scope) as reader:
        memories = sum(map(reader.amount, desk.scope.keys))
    facts: dict[str, str | float | bool] = {f"{name}_ms": took for name, took in laps.parts.items()}
    facts |= {"memories": memories, "results": results, "models": ",".join(models)}
    facts |= {"words": len((query or "").split())}
    if settings.queries and query:
        facts["query"] = query[:MOST_QUERY]
    desk.log.write("warning", f"slow {kind}", laps.ms, **facts)


def synced(desk: Desk, done: Summary) -> None:
    """Tell how many files a sync could not read, and how much it decided by itself; its summary says what."""
    if desk.log is not None and done.problems:
        desk.log.write(
            "warning", "sync problems", done.seconds * 1000, problems=len(done.problems), files=done.files
        )
    if desk.log is not None and done.notices:
        desk.log.write("warning", "sync notices", done.seconds * 1000, notices=len(done.notices))


def ended(desk: Desk, what: str, error: ScrubjayError) -> None:
    """Tell that something that should go on has ended."""
    if desk.log is not None:
        desk.log.write("error", f"{what} ended", error=type(error).__name__)
