"""A process that forks a worker whenever it is asked to, so that a kill costs milliseconds and not a start.

It reads lines ``WORK FOLDER SEED`` and answers ``pid N``; then come the worker's own lines, a number for each step
that it did, ``done`` if there is no more to do, and ``ended`` when it is dead. A worker never ends by itself:
whoever asked for it kills it.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path

from works import WORKS, Round, warm


def say(what: object) -> None:
    os.write(1, f"{what}\n".encode())


def work(name: str, folder: str, seed: str) -> None:
    try:
        WORKS[name].run(Round(Path(folder), int(seed)), say)
        say("done")
    except BaseException:  # noqa: BLE001 - told to whoever asked, and so a failure of the test
        say("failed " + traceback.format_exc().replace("\n", " | "))
    while True:
        signal.pause()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        warm(Path(folder))
    say("ready")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            work(*line.rstrip("\n").split("\t"))
        say(f"pid {pid}")
        os.waitpid(pid, 0)
        say("ended")


if __name__ == "__main__":
    main()
