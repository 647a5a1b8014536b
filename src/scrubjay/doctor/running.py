"""Running: what runs behind the person's back, what is paused, and what dead processes left in the way."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from scrubjay.config_start import fingerprint, runtime_folder, switched_off
from scrubjay.doctor.case import Case
from scrubjay.memory.checks import Check, ok, problem, warning
from scrubjay.pauses import EVERY, Pauses
from scrubjay.resident import keep
from scrubjay.resident.place import place, safe
from scrubjay.verbs.errands import Errands, locked

LONG: Final = 600.0
"""Seconds after which what a hook left to be done should be done: a first look at years of talks takes minutes."""

STARTING: Final = 20.0
"""Seconds that a resident has to answer, since it loads its models first, or to be gone."""


def check(case: Case) -> Iterator[Check]:
    """Yield what is found of pauses, of the resident, of dead ones' sockets and of what hooks left to be done."""
    yield _paused(case)
    yield _resident(case)
    yield from _dead(case)
    yield from _undone(case)


def off(case: Case, agent: str) -> str:
    """Return why the hooks of an agent do nothing now, an empty string where they work."""
    if switched_off(case.home.env):
        return "SCRUBJAY_OFF is set here"
    until = Pauses(str(case.home.data)).until(agent)
    return "" if until is None else f"paused {_told(until)}"


@contextmanager
def as_in_a_session(case: Case) -> Iterator[None]:
    """Have a resident, as a session of an agent has one, which starts it; one that was started here is stopped."""
    mark = fingerprint(case.home.env)
    path = place(runtime_folder(case.home.env), mark)
    if path is None or not case.settings.resident.auto or case.settings.store.startswith("memory:"):
        yield
        return
    ours = keep.state(path, mark) is None
    try:
        if ours:
            _started(path, mark, case)
        yield
    finally:
        if ours:
            keep.stop(path, mark)
            _wait(path, mark, there=False)


def _started(path: str, mark: str, case: Case) -> None:
    """Start one and wait until it answers; where it does not, what is looked at next says how it goes without."""
    with contextlib.suppress(OSError):
        keep.detach(["resident", "serve"], case.home.env)
        _wait(path, mark, there=True)


def _wait(path: str, mark: str, *, there: bool) -> None:
    end = time.monotonic() + STARTING
    while (keep.state(path, mark) is not None) != there and time.monotonic() < end:
        time.sleep(0.1)


def _paused(case: Case) -> Check:
    if switched_off(case.home.env):
        return warning("pause", "SCRUBJAY_OFF is set here: hooks do nothing", "unset SCRUBJAY_OFF")
    running = Pauses(str(case.home.data)).running()
    if not running:
        return ok("pause", "none: hooks work")
    told = ", ".join(
        f"{'all agents' if who == EVERY else who} {_told(until)}" for who, until in running.items()
    )
    return warning("pause", f"hooks do nothing: {told}", "scrubjay resume")


def _told(until: float) -> str:
    if until == float("inf"):
        return "until `scrubjay resume`"
    return f"until {time.strftime('%Y-%m-%d %H:%M', time.localtime(until))}"


def _resident(case: Case) -> Check:
    mark = fingerprint(case.home.env)
    path = place(runtime_folder(case.home.env), mark)
    if path is None:
        return ok("resident", "there can be none here; everything works without")
    folder = Path(path).parent
    if folder.is_dir() and not safe(path):
        return problem("resident", f"{folder} is not yours alone, so none is asked", f"chmod 700 {folder}")
    state = keep.state(path, mark)
    if state is None:
        return ok("resident", "none runs now; a session of an agent starts one, and everything works without")
    host = "" if state["host"] == "resident" else f" in `scrubjay {state['host']}`"
    return ok("resident", f"runs{host}, process {state['pid']}, {state['requests']:,} requests")


def _dead(case: Case) -> Iterator[Check]:
    """Sockets whose owner died: the lock beside each is free."""
    folder = Path(runtime_folder(case.home.env))
    if not safe(str(folder / "any")):
        return
    found = [path for path in sorted(folder.glob("*.sock")) if _free(path, remove=case.mend)]
    if found and case.mend:
        yield ok("sockets", f"{len(found)} of dead processes taken away", mended=True)
    elif found:
        yield warning("sockets", f"{len(found)} of dead processes in {folder}", "scrubjay doctor --fix")


def _free(path: Path, *, remove: bool) -> bool:
    """Whether nobody owns a socket. It is removed with the lock held, so that no new owner loses its own."""
    try:
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return False
    try:
        free = locked(descriptor)
        if free and remove:
            path.unlink(missing_ok=True)
        return free
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _undone(case: Case) -> Iterator[Check]:
    errands = Errands(str(case.home.data), fingerprint(case.home.env))
    folder = Path(errands.folder)
    if not folder.is_dir() or not errands.waiting() or errands.busy():
        return
    oldest = min(
        (path.stat().st_mtime for path in folder.iterdir() if path.name != "lock"), default=time.time()
    )
    if time.time() - oldest > LONG:
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(oldest))
        yield warning("errands", f"what hooks left to be done waits since {since}", "scrubjay hook --errands")
