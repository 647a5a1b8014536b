"""Run: a target, fed by atheris until so many inputs were tried or one fails.

    python -m fuzz.run TARGET [-runs=N] [libFuzzer's other options]

What is found interesting on the way is kept beside the build, not in the corpus that is committed.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["scrubjay"]):
    from fuzz.targets import CORPUS, opened

LONGEST = 2_048
"""Bytes of an input: a target says them over and over where it wants a long one."""
SLOWEST = 90
"""Seconds after which an input hangs."""


def main(name: str, options: list[str]) -> None:
    """Feed a target; does not return, libFuzzer ends the process."""
    # A name of another module that is imported later is counted too: the readers import each other late.
    with atheris.instrument_imports(include=["scrubjay"]), ExitStack() as stack:
        check = stack.enter_context(opened(name, timed=True))
        work = Path("build/fuzz") / name
        for folder in (work / "corpus", work / "found"):
            folder.mkdir(parents=True, exist_ok=True)
        given = [
            f"-max_len={LONGEST}",
            f"-timeout={SLOWEST}",
            f"-artifact_prefix={work / 'found'}/",
            *options,
        ]
        folders = [str(work / "corpus"), str(CORPUS / name)]
        atheris.Setup([f"fuzz {name}", *given, *folders], check)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
