"""Open servers: `--open` -> a file while the server runs, by which `scrubjay status` names it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

FOLDER: Final = "open-servers"
WARNING: Final = (
    "{url} runs with --open: without a token, every program of its account is {user}, and so is everybody behind a "
    "reverse proxy that does not say it is one"
)
"""Said at the start and by every `status`."""


@contextmanager
def registered(data: Path, url: str) -> Iterator[None]:
    """Keep a file with the URL of this process's server in the data folder, as long as the block lasts."""
    file = data / FOLDER / str(os.getpid())
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, url.encode())
        yield
    finally:
        os.close(descriptor)
        file.unlink(missing_ok=True)


def running(data: Path) -> list[str]:
    """Return the URLs of the servers that run with `--open`; the files of those that were killed are removed."""
    found = []
    for file in sorted((data / FOLDER).glob("*")):
        with file.open("rb") as held:
            if sys.platform != "win32":
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    pass
                else:
                    file.unlink(missing_ok=True)
                    continue
            found.append(held.read().decode())
    return found
