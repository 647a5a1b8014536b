"""Grow: every input of a target's corpus, said over and over -> those whose time grows faster than their length.

    python -m fuzz.grow TARGET

What is quadratic shows in a long text, not in the short ones that a fuzzer tries: so each input that reached a
place of its own is repeated to three lengths and timed, without the fuzzer's counting.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fuzz.targets import kept, opened

LENGTHS: Final = (4_096, 16_384, 65_536)
"""Bytes; each four times the one before."""
STEEPEST: Final = 8.0
"""Times that four times the text may take; what is linear takes four, what is quadratic sixteen."""
LEAST: Final = 0.15
"""Processor seconds below which growth is noise."""


def main(name: str) -> int:
    """Time each input, print those that grow too fast; return the exit code."""
    found = [*kept(name), *(Path("build/fuzz") / name / "corpus").glob("*")]
    steep = 0
    with opened(name, timed=False) as check:
        for path in found:
            data = path.read_bytes()
            for mark in (b"", b"\n"):
                took = timed(check, data[:1], data[1:] + mark)
                if took:
                    steep += 1
                    print(
                        f"{path}: {', '.join(f'{one:.2f}' for one in took)} s at {LENGTHS} bytes", flush=True
                    )
                    break
    print(f"{name}: {len(found):,} inputs, {steep} of them grow too fast")
    return int(steep > 0)


def timed(check: Callable[[bytes], None], switch: bytes, piece: bytes) -> list[float]:
    """Return the times, where they grow too fast both times that they are taken; else nothing."""
    if not piece:
        return []
    for _ in range(2):
        took: list[float] = []
        for length in LENGTHS:
            began = time.process_time()
            check(switch + piece * (length // len(piece) + 1))
            took.append(time.process_time() - began)
        if took[-1] < LEAST or took[-1] < STEEPEST * took[-2] or took[-2] < STEEPEST / 2 * took[-3]:
            return []
    return took


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
