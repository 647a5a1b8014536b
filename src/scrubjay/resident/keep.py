"""Keep: a resident started behind everybody's back, its state, its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from scrubjay.resident.ask import ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ASKING = 2.0
"""Seconds that a resident has to tell its state."""


def state(path: str | None, fingerprint: str, seconds: float = ASKING) -> dict[str, Any] | None:
    """Return what a resident tells of itself, None where there is none."""
    return ask(path, fingerprint, "state", {}, seconds)


def stop(path: str | None, fingerprint: str) -> dict[str, Any] | None:
    """End a resident, and return what it told of itself; None where there is none."""
    return ask(path, fingerprint, "stop", {}, ASKING)


def detach(arguments: Sequence[str], around: Mapping[str, str]) -> None:
    """Start scrubjay with these arguments in a session of its own, tied to nothing of this process.

    It holds neither this process's output, for whom an agent would wait, nor its folder.

    Raises:
        OSError: It cannot be started.
    """
    # -P: a file of the folder that somebody works in must not take the place of a module.
    command = [sys.executable, "-P", "-m", "scrubjay.surfaces.cli", *arguments]
    if hasattr(os, "posix_spawn") and sys.platform == "linux":  # a tenth of the time that subprocess takes
        nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        os.posix_spawn(command[0], command, dict(around), file_actions=nowhere, setsid=True)
        return
    import subprocess

    flags = 0x00000208 if sys.platform == "win32" else 0  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
    subprocess.Popen(
        command, env=dict(around), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, cwd=os.path.abspath(os.sep), creationflags=flags,
    )  # fmt: skip
