"""Garbage: a process of ours looks for cycles seldom, and keeps to what somebody has set."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from scrubjay.gc_tuning import YOUNG_THRESHOLD, raise_gc_threshold


@pytest.fixture
def threshold() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("before", "after"), [(700, YOUNG_THRESHOLD), (YOUNG_THRESHOLD + 1, YOUNG_THRESHOLD + 1), (0, 0)]
)
def test_it_looks_seldom_but_not_sooner_than_it_was_told_to(
    threshold: tuple[int, int, int], before: int, after: int
) -> None:
    gc.set_threshold(before, *threshold[1:])
    raise_gc_threshold()
    assert gc.get_threshold() == (after, *threshold[1:])


def test_the_command_line_looks_seldom_and_the_library_leaves_it_to_its_process() -> None:
    told = "import atexit, gc, sys; atexit.register(lambda: print(gc.get_threshold()[0])); sys.argv[1:] = ['-h'];"
    command = f"{told} from scrubjay.cli.entry import main; main()"
    library = f"{told} from scrubjay import Memory; Memory.open('memory://').close()"
    ends = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()[-1]
        for program in (command, library)
    ]
    assert ends == [str(YOUNG_THRESHOLD), str(gc.get_threshold()[0])]
