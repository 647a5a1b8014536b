"""Garbage collector tuning for our own processes; a host program that imports scrubjay keeps its own threshold.

A search makes some thousand small values, which die by themselves and are in no cycle. Looking through the young ones
at each seven hundred, as Python does unless told otherwise, is 6 % of a search (bench/LOG.md). Whoever uses us as a
library has a process of their own: it is theirs to set.
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG_THRESHOLD: Final = 100_000
"""Values that may come to life before they are looked through: a megabyte or two, were all of them dead."""


def raise_gc_threshold() -> None:
    """Let this process look for garbage as seldom as its work allows; not sooner than it was told to before."""
    young, *others = gc.get_threshold()
    if 0 < young < YOUNG_THRESHOLD:  # 0: somebody has switched it off
        gc.set_threshold(YOUNG_THRESHOLD, *others)
