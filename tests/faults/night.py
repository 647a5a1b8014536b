"""A process that consolidates a store; it tells each transaction it committed, and whether it was the only one.

Usage: night.py run PATH | hold PATH
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from old_talks import NOW

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.reports import Progress


def opened(path: Path) -> Memory:
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(path.parent / "none")}
    environ["SCRUBJAY_SYNC_LOOK_SECONDS"] = "60"
    settings = replace(load_settings(environ=environ), cache_dir=path.parent / "cache")
    return Memory.open(path, user="ann", settings=settings, embedders=[HashEmbedder(64)])


def run(path: Path, *, hold: bool) -> None:
    """Consolidate; with ``hold``, wait for a line of input after each transaction."""

    def told(progress: Progress) -> None:
        print(progress.done, flush=True)
        if hold:
            sys.stdin.readline()

    with opened(path) as memory:
        done = memory.consolidate(now=NOW, archive=os.environ.get("NIGHT_ARCHIVE"), progress=told)
    print(done.passed or "done", len(done.interrupted), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", path]:
            run(Path(path), hold=False)
        case ["hold", path]:
            run(Path(path), hold=True)
        case _:
            sys.exit(__doc__)
