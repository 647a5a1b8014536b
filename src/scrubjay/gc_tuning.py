"""Garbage collector tuning for our own processes; a program that imports scrubjay keeps its own threshold.

A command makes a hundred thousand values, hardly any of which are in a cycle. Looking for cycles every 700 of them, as
Python does, takes a sixth of a cold search.
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG_THRESHOLD: Final = 100_000
"""Values that may come to life before they are looked through: a megabyte or two, were all of them dead."""


def raise_gc_threshold() -> None:
    """Raise the threshold of the young generation, unless it is higher or the collector is off."""
    young, *others = gc.get_threshold()
    if 0 < young < YOUNG_THRESHOLD:  # 0: somebody has switched it off
        gc.set_threshold(YOUNG_THRESHOLD, *others)
