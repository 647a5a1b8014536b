"""Grow: texts of growing length -> what takes time that grows faster than they do.

    python -m fuzz.grow            every pattern and every step, over every hostile shape
    python -m fuzz.grow TARGET     a target, over every input of its corpus, said over and over

What is quadratic shows in a long text, not in the short ones that a fuzzer tries: so each input that reached a
place of its own is repeated to three lengths and timed, without the fuzzer's counting.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from fuzz.growth import Steep, slow, steep
from fuzz.patterns import patterns
from fuzz.shapes import shapes
from fuzz.steps import documents, questions
from fuzz.targets import kept, opened

LENGTHS: Final = (4_096, 16_384, 65_536)
"""Bytes; each four times the one before."""
STEEPEST: Final = 8.0
"""Times that four times the text may take; what is linear takes four, what is quadratic sixteen."""
LEAST: Final = 0.15
"""Processor seconds below which growth is noise."""


DOCUMENT: Final = (4_096, 16_384, 65_536, 262_144)
QUESTION: Final = (4_096, 16_384, 65_536)
"""Characters of what is tried of every shape; each four times the one before."""
SLOW: Final = 0.000_2
"""Processor seconds from which the next size is tried: what takes less takes no second of the greatest, even where it
is quadratic."""


def everything() -> int:
    """Time each pattern and each step on each shape, print those that grow too fast; return the exit code."""
    texts = {size: shapes(size) for size in DOCUMENT}
    found: list[Steep] = []
    every = patterns()
    for name, pattern in every.items():
        found += _grown(name, pattern.run, {size: texts[size] for size in DOCUMENT})
    with documents() as of_documents, questions() as of_questions:
        for steps, sizes in ((of_documents, DOCUMENT), (of_questions, QUESTION)):
            for name, step in steps.items():
                step("A first text, with which everything is loaded.")
                found += _grown(name, step, {size: texts[size] for size in sizes})
        steps_in_all = len(of_documents) + len(of_questions)
    print(
        f"{len(every)} patterns and {steps_in_all} steps on {len(texts[DOCUMENT[0]])} shapes: "
        f"{len(found)} pairs of sizes between which the time grows too fast"
    )
    return int(bool(found))


def _grown(name: str, work: Callable[[str], object], texts: Mapping[int, Mapping[str, str]]) -> list[Steep]:
    """Try each pair of sizes as long as what is tried takes a time that can be measured."""
    sizes, found = list(texts), []
    left = slow(work, texts[sizes[0]], SLOW)
    for short, long in pairwise(sizes):
        for shape in left:
            one = steep(name, work, shape, texts[short][shape], texts[long][shape])
            if one is not None:
                print(one, flush=True)
                found.append(one)
        left = [shape for shape in left if shape not in {one.shape for one in found}]
    return found


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
    sys.exit(main(sys.argv[1]) if len(sys.argv) > 1 else everything())
