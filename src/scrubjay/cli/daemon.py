"""resident: start, stop and show the daemon."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from scrubjay.cli.main import Call, Group, command
from scrubjay.cli.output import format_duration, write
from scrubjay.config.loader import load_settings
from scrubjay.config.paths import data_folder, environment, runtime_folder, settings_fingerprint
from scrubjay.daemon import client
from scrubjay.daemon.client import socket_path
from scrubjay.errors import StoreError
from scrubjay.storage.urls import store_file

if TYPE_CHECKING:
    from scrubjay.config.settings import Settings


START_SECONDS: Final = 20.0
"""Seconds that a started daemon has to answer: it loads its models first."""
UNSUPPORTED: Final = (
    "The daemon needs private sockets, which Python lacks on Windows. All commands work without it."
)


@click.group("resident", cls=Group)
def resident() -> None:
    """Start, show or stop the daemon, which keeps models loaded so that hooks and searches answer fast.

    An agent's session starts it automatically (resident.auto); `scrubjay mcp` and `scrubjay watch` act as one while
    they run. It stops when idle. Nothing depends on it.
    """


def daemon_address(call: Call) -> tuple[str | None, str, dict[str, str]]:
    """Return the socket, the settings' fingerprint and the environment of this call."""
    env = environment(call.store, call.user)
    fingerprint = settings_fingerprint(env)
    return socket_path(runtime_folder(env), fingerprint), fingerprint, env


@command("start")
def start_daemon(call: Call) -> None:
    """Start the daemon unless it is running."""
    load_settings(overrides={"store": call.store, "user": call.user})  # errors appear here, not in a log
    path, fingerprint, env = daemon_address(call)
    if path is None:
        raise StoreError(UNSUPPORTED)
    found = client.daemon_state(path, fingerprint)
    if found is None:
        client.spawn_detached(["resident", "serve"], env)
        end = time.monotonic() + START_SECONDS
        while found is None and time.monotonic() < end:
            time.sleep(0.05)
            found = client.daemon_state(path, fingerprint)
    if found is None:
        raise StoreError(
            f"The daemon did not answer within {START_SECONDS:.0f} seconds. All commands work without it.",
            hint="see the file `log` in the data folder",
        )
    _print_state(call, found)


@command("stop")
def stop_daemon(call: Call) -> None:
    """Stop the daemon; one inside another command only stops answering."""
    path, fingerprint, _ = daemon_address(call)
    found = client.stop_daemon(path, fingerprint)
    if call.print_json({"stopped": found is not None}):
        return
    if found is None:
        write("The daemon is not running.")
    elif found["host"] == "resident":
        write(f"Stopped (process {found['pid']}).")
    else:
        write(
            f"`scrubjay {found['host']}` (process {found['pid']}) keeps running but no longer acts as the daemon."
        )


@command("status")
def daemon_status(call: Call) -> None:
    """Show whether the daemon is running."""
    path, fingerprint, _ = daemon_address(call)
    _print_state(call, client.daemon_state(path, fingerprint))


@command("serve", hidden=True)
@click.option("--if-wanted", is_flag=True, help="Only if resident.auto is true.")
def serve_daemon(call: Call, if_wanted: bool) -> None:
    """Run the daemon until it is idle for a while."""
    env = environment(call.store, call.user)
    settings = load_settings(environ=env)
    if settings.resident.auto or not if_wanted:
        run_daemon(settings, env)


def run_daemon(settings: Settings, env: Mapping[str, str]) -> None:
    from scrubjay.daemon.server import prepare_daemon
    from scrubjay.memory import Memory

    os.chdir(os.sep)
    opened: list[Memory] = []
    found = prepare_daemon(settings, lambda: opened[0], env, "resident")
    if found is None or not found[0].take():  # before loading: several may be started at once
        return
    one, answering = found
    with Memory.open(settings=settings, log=settings.log.open(data_folder(env))) as memory:
        opened.append(memory)
        answering.warm()
        if not one.open():
            return
        before = [signal.signal(each, _raise_stop) for each in (signal.SIGINT, signal.SIGTERM)]
        try:
            fingerprint = settings_fingerprint(env)
            one.wait(settings.resident.idle_minutes * 60, lambda: why_stop(settings, env, fingerprint))
        except _StopDaemon:
            pass
        finally:
            for each, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
                signal.signal(each, handler)
            one.close()
            answering.close()


class _StopDaemon(Exception):
    """The process was asked to end."""


def _raise_stop(_signal: int, _frame: FrameType | None) -> None:
    raise _StopDaemon


def why_stop(settings: Settings, env: Mapping[str, str], fingerprint: str) -> str:
    """Return why a daemon must end: its store is gone, or its settings changed."""
    file = store_file(settings.store)
    if file is not None and not file.exists():
        return "its store is gone"
    return "" if settings_fingerprint(env) == fingerprint else "its settings changed"


def _print_state(call: Call, found: Mapping[str, Any] | None) -> None:
    if call.print_json({"running": found is not None, **(found or {})}):
        return
    write(daemon_line(found))


def daemon_line(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "not running" if sys.platform != "win32" else UNSUPPORTED
    host = "" if found["host"] == "resident" else f" in `scrubjay {found['host']}`"
    return (
        f"running{host}, process {found['pid']}, {found['requests']:,} requests, "
        f"last {format_duration(found['idle_seconds'])} ago"
    )


for each in (start_daemon, stop_daemon, daemon_status, serve_daemon):
    resident.add_command(each)
