"""resident: the process that stays and answers fast: started, shown, stopped."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from scrubjay.config import load
from scrubjay.config_start import data_folder, environment, fingerprint, runtime_folder
from scrubjay.errors import StoreError
from scrubjay.resident import keep
from scrubjay.resident.place import place
from scrubjay.store.open import file_of
from scrubjay.surfaces.cli.command import Call, Group, command
from scrubjay.surfaces.cli.output import duration, write, write_json

if TYPE_CHECKING:
    from scrubjay.config import Settings

STARTING: Final = 20.0
"""Seconds that one that was started has to answer: it loads its models first."""
NOWHERE: Final = (
    "Python has no sockets of one user on Windows, so no resident can run. All commands work without."
)


@click.group("resident", cls=Group)
def resident() -> None:
    """Start, show or stop the process that stays with its models loaded, so that hooks and searches answer fast.

    A session of an agent starts one by itself (resident.auto); `scrubjay mcp` and `scrubjay watch` are one as
    long as they run. It ends when nobody has asked for a while. Nothing depends on it.
    """


def where(call: Call) -> tuple[str | None, str, dict[str, str]]:
    """Return the socket of this call's settings, their mark, and the environment that makes them."""
    around = environment(call.store, call.user)
    mark = fingerprint(around)
    return place(runtime_folder(around), mark), mark, around


@command("start")
def start(call: Call) -> None:
    """Start one, unless there is one."""
    load(overrides={"store": call.store, "user": call.user})  # what is wrong is told here, not in a log
    path, mark, around = where(call)
    if path is None:
        raise StoreError(NOWHERE)
    found = keep.state(path, mark)
    if found is None:
        keep.detach(["resident", "serve"], around)
        end = time.monotonic() + STARTING
        while found is None and time.monotonic() < end:
            time.sleep(0.05)
            found = keep.state(path, mark)
    if found is None:
        raise StoreError(
            f"The resident did not answer within {STARTING:.0f} seconds. Every command works without it.",
            hint="the file `log` in the data folder says why",
        )
    _tell(call, found)


@command("stop")
def stop(call: Call) -> None:
    """Stop it; one that is part of another command only stops answering."""
    path, mark, _ = where(call)
    found = keep.stop(path, mark)
    if call.json:
        write_json({"stopped": found is not None})
        return
    if found is None:
        write("No resident runs.")
    elif found["host"] == "resident":
        write(f"Stopped (process {found['pid']}).")
    else:
        write(
            f"`scrubjay {found['host']}` (process {found['pid']}) runs on, and answers nobody else any more."
        )


@command("status")
def status(call: Call) -> None:
    """Show whether one runs."""
    path, mark, _ = where(call)
    _tell(call, keep.state(path, mark))


@command("serve", hidden=True)
@click.option("--if-wanted", is_flag=True, help="Only where resident.auto is true.")
def serve(call: Call, if_wanted: bool) -> None:
    """Be one, until nobody has asked for a while."""
    around = environment(call.store, call.user)
    settings = load(environ=around)
    if settings.resident.auto or not if_wanted:
        run(settings, around)


def run(settings: Settings, around: Mapping[str, str]) -> None:
    """Answer until it is over."""
    from scrubjay.engine import Memory
    from scrubjay.resident.host import prepared

    os.chdir(os.sep)
    opened: list[Memory] = []
    found = prepared(settings, lambda: opened[0], around, "resident")
    if found is None or not found[0].take():  # before anything is loaded: several may be started at once
        return
    one, answering = found
    with Memory.open(settings=settings, log=settings.log.open(data_folder(around))) as memory:
        opened.append(memory)
        answering.warm()
        if not one.open():
            return
        before = [signal.signal(each, _end) for each in (signal.SIGINT, signal.SIGTERM)]
        try:
            mark = fingerprint(around)
            one.wait(settings.resident.idle_minutes * 60, lambda: over(settings, around, mark))
        except _Ended:
            pass
        finally:
            for each, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
                signal.signal(each, handler)
            one.close()
            answering.close()


class _Ended(Exception):
    """Somebody told the process to end."""


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise _Ended


def over(settings: Settings, around: Mapping[str, str], mark: str) -> str:
    """Return why a resident must end: its store is gone, or a caller's settings would be others now."""
    file = file_of(settings.store)
    if file is not None and not file.exists():
        return "its store is gone"
    return "" if fingerprint(around) == mark else "its settings changed"


def _tell(call: Call, found: Mapping[str, Any] | None) -> None:
    if call.json:
        write_json({"running": found is not None, **(found or {})})
        return
    write(line_of(found))


def line_of(found: Mapping[str, Any] | None) -> str:
    """Return what is told of a resident on one line.

    >>> line_of(None)
    'no resident runs'
    """
    if found is None:
        return "no resident runs" if sys.platform != "win32" else NOWHERE
    host = "" if found["host"] == "resident" else f" in `scrubjay {found['host']}`"
    return (
        f"runs{host}, process {found['pid']}, {found['requests']:,} requests, "
        f"the last {duration(found['idle_seconds'])} ago"
    )


for each in (start, stop, status, serve):
    resident.add_command(each)
