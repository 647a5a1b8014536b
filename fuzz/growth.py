"""Growth: something that takes a text -> whether the time that it takes grows no faster than the text.

Processor time is compared at two sizes in one run, by turns, the best of a few: what else the machine does slows
both. A pattern that does not come back at all is stopped.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

STEEPEST: Final = 9.0
"""Times that four times the text may take; what is linear takes four, what is quadratic sixteen."""
LEAST: Final = 0.06
"""Processor seconds at the greater size below which nothing is judged."""
LONGEST: Final = 10.0
"""Processor seconds after which something is stopped."""
ROUNDS: Final = 3
"""Times that both sizes are taken."""


class StoppedError(Exception):
    """Something took longer than it may."""


@dataclass(frozen=True, slots=True)
class Steep:
    """What grows too fast.

    Attributes:
        name: What it is.
        shape: The text's shape.
        times: Characters to processor seconds; infinite where it was stopped.
    """

    name: str
    shape: str
    times: Mapping[int, float]

    def __str__(self) -> str:
        """Say so in one line."""
        took = ", ".join(f"{size:,}: {seconds:.3f} s" for size, seconds in self.times.items())
        return f"{self.name} on {self.shape}: {took}"


def grown(
    name: str, work: Callable[[str], object], texts: Mapping[int, Mapping[str, str]], first: float
) -> Steep | None:
    """Return for which shape something grows too fast; shapes that are quick at the first size are passed over.

    Args:
        name: What takes the texts.
        work: The same, to call.
        texts: Two sizes, the second four times the first, each with its texts by the name of their shape.
        first: Processor seconds at the first size from which a shape is looked at.
    """
    short, long = texts.values()
    looked_at = (steep(name, work, shape, short[shape], long[shape]) for shape in slow(work, short, first))
    return next((one for one in looked_at if one is not None), None)


def seconds(work: Callable[[str], object], text: str) -> float:
    """Return the processor time that a piece of work takes, infinite where it was stopped."""
    began = time.process_time()
    try:
        with _stopped():
            work(text)
    except StoppedError:
        return math.inf
    return time.process_time() - began


def steep(
    name: str, work: Callable[[str], object], shape: str, short: str, long: str, least: float = LEAST
) -> Steep | None:
    """Return what grows too fast between a text and one of the same shape that is four times as long.

    Args:
        name: What takes it.
        work: The same, to call.
        shape: Name of the shape.
        short: The text.
        long: The longer one.
        least: Seconds of the longer one below which nothing is judged.
    """
    took = seconds(work, long)
    if took < least:
        return None
    if took == math.inf and seconds(work, short) == math.inf:
        return Steep(name, shape, {len(short): math.inf, len(long): math.inf})
    once, often = math.inf, took
    for _ in range(ROUNDS):
        once = min(once, seconds(work, short))
        if often <= STEEPEST * once:
            return None
        if often < math.inf:
            often = min(often, seconds(work, long))
    return Steep(name, shape, {len(short): once, len(long): often}) if often > STEEPEST * once else None


def slow(work: Callable[[str], object], texts: Mapping[str, str], least: float) -> list[str]:
    """Return the shapes of which a text takes so many processor seconds; all that are left once it is stopped."""
    found: list[str] = []
    left = list(texts)
    try:
        with _stopped():
            while left:
                began = time.process_time()
                work(texts[left[0]])
                took = time.process_time() - began
                shape = left.pop(0)
                if took >= least:
                    found.append(shape)
    except StoppedError:
        return found + left
    return found


@contextmanager
def _stopped() -> Iterator[None]:
    """Stop what takes too long: patterns look for signals while they match."""

    def stop(_signal: int, _frame: Any) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
