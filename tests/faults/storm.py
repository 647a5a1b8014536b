"""Storm: what befalls a server while others work with it; each of it is over when its function returns."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

import psycopg


class Restarting(Protocol):
    """A server that can be stopped and started."""

    @property
    def url(self) -> str: ...

    def restart(self, how: str) -> None: ...

    def stop(self) -> None: ...

    def start(self) -> None: ...


OTHERS: Final = (
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() "
    "ORDER BY pid"
)
LOST: Final = (psycopg.OperationalError, psycopg.InterfaceError)


def ask(server: Restarting, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Ask the server something from a connection of our own, as soon as it answers."""
    while True:
        try:
            with psycopg.connect(server.url, autocommit=True) as db:
                return db.execute(statement, values).fetchall()
        except LOST:  # it recovers from a crash
            continue


def some(server: Restarting, chance: random.Random) -> None:
    """End some of the sessions."""
    pids = [pid for (pid,) in ask(server, OTHERS)]
    chosen = [pid for pid in pids if chance.random() < 0.5] or pids[:1]
    ask(server, "SELECT pg_terminate_backend(pid, 30000) FROM unnest(%s::int[]) pid", chosen)


def every(server: Restarting, _: random.Random) -> None:
    """End all of the sessions."""
    pids = [pid for (pid,) in ask(server, OTHERS)]
    ask(server, "SELECT pg_terminate_backend(pid, 30000) FROM unnest(%s::int[]) pid", pids)


def cancelled(server: Restarting, _: random.Random) -> None:
    """Stop what each session is doing; the sessions stay."""
    pids = [pid for (pid,) in ask(server, OTHERS)]
    ask(server, "SELECT pg_cancel_backend(pid) FROM unnest(%s::int[]) pid", pids)


def crashed(server: Restarting, chance: random.Random) -> None:
    """Kill one backend: the server ends all of them, and recovers by itself."""
    with suppress(psycopg.OperationalError), psycopg.connect(server.url, autocommit=True) as watch:
        pids = [pid for (pid,) in watch.execute(OTHERS).fetchall()] or [watch.info.backend_pid]
        with suppress(ProcessLookupError):  # its client went meanwhile
            os.kill(chance.choice(pids), signal.SIGKILL)
            while True:
                watch.execute("SELECT 1")
    ask(server, "SELECT 1")


def fast(server: Restarting, _: random.Random) -> None:
    """Restart the server in order."""
    server.restart("fast")


def immediate(server: Restarting, _: random.Random) -> None:
    """Restart the server as after a loss of power."""
    server.restart("immediate")


def down(server: Restarting, _: random.Random) -> None:
    """Stop the server, and start it again."""
    server.stop()
    server.start()


FAULTS: Final[dict[str, Callable[[Restarting, random.Random], None]]] = {
    fault.__name__: fault for fault in (some, every, cancelled, crashed, fast, immediate, down)
}
