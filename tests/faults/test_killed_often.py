"""Whatever a process does when it is killed: what it had said was done is there, whole, and the store opens.

A hundred kills; `make torture N=10000 SEED=7` for more.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from works import WORKS, Round

NURSERY = Path(__file__).with_name("nursery.py")
KILLS = 100
"""Kills in all unless `--kills` asks for more."""
FRESH = 20
"""Rounds that go on from what the last one left; then all begins anew."""


class Nursery:
    """Workers that are started and killed."""

    def __init__(self) -> None:
        environ = os.environ | {
            "OPENBLAS_NUM_THREADS": "1"
        }  # a process with threads cannot be forked soundly
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", str(NURSERY)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environ,
        )
        self._rest = b""
        try:
            assert self._line(None) == "ready"
        except BaseException:
            self.close()
            raise

    def _line(self, end: float | None) -> str | None:
        """Return the next line, or None when there is none by then."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            left = None if end is None else max(end - time.monotonic(), 0)
            if not select.select([pipe], [], [], left)[0]:
                return None
            more = os.read(pipe, 65_536)
            assert more, "the nursery has ended"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        assert not line.startswith(b"failed"), line.decode().replace(" | ", "\n")
        return line.decode()

    def killed(self, name: str, round: Round, steps: int, seconds: float) -> int:
        """Let a worker do so many steps and so many seconds more, kill it, and return the last step it told."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name}\t{round.folder}\t{round.seed}\n".encode())
        self._process.stdin.flush()
        told, pid, end = 0, 0, None
        try:
            while (line := self._line(end)) is not None:
                if line.startswith("pid"):
                    pid = int(line[4:])
                elif line == "done":
                    end = time.monotonic()
                else:
                    told = int(line)
                if pid and end is None and told >= steps:
                    end = time.monotonic() + seconds
        finally:
            if pid:
                os.kill(pid, signal.SIGKILL)
        while (line := self._line(None)) != "ended":
            told = told if line in ("done", None) else int(line)
        return told

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


@pytest.mark.parametrize("name", WORKS)
def test_a_kill_at_any_moment_loses_nothing_that_was_told(
    nursery: Nursery, tmp_path: Path, name: str, kills: int | None, seed: int
) -> None:
    """Half of the kills fall right after a step was told, half at any time."""
    work = WORKS[name]
    chance = random.Random(f"{seed} {name}")
    rounds = -(-(kills or KILLS) * work.share // 100)
    reached = 0
    for number in range(rounds):
        if number % FRESH == 0:
            shutil.rmtree(tmp_path / "round", ignore_errors=True)
            (tmp_path / "round").mkdir()
            known = Round(tmp_path / "round", number)
            work.prepare(known)
        round = Round(known.folder, seed * 1_000_000 + number + 1, known.known)
        after = number % 2 == 0  # a slow machine may do no step in the time of the others
        steps = chance.randrange(1, work.steps + 1) if after else 0
        told = nursery.killed(name, round, steps, chance.random() * (0.003 if after else work.seconds))
        reached += told > 0
        try:
            work.check(round, told)
        except BaseException as error:
            error.add_note(f"{name}: round {number} of seed {seed}, after step {told}")
            raise
    assert reached > rounds // 4, "hardly a step was done: nothing was tried"
