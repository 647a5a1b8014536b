"""Bound: a piece of work -> done in a time that grows no faster than what it was given, or `TooSlow`."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

BASE: Final = 1.0
"""Processor seconds that any input may take; a fuzzer's counting makes Python several times slower."""
EACH: Final = 200e-6
"""Processor seconds for each byte: ten times what the slowest stage takes of sound text under a fuzzer's counting."""


class TooSlowError(AssertionError):
    """An input took more time than one of its size may take."""


@contextmanager
def bound(size: int, *, timed: bool) -> Iterator[None]:
    """Measure what is done inside by the processor's time, so that other programs do not count."""
    if not timed:
        yield
        return
    began, swept = time.process_time(), gc.get_stats()[2]["collections"]
    yield
    took = time.process_time() - began
    if took > BASE + EACH * size and gc.get_stats()[2]["collections"] == swept:
        raise TooSlowError(f"{size:,} bytes took {took:.2f} s; at most {BASE + EACH * size:.2f} are given")
