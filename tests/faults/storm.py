"""Storm: what befalls a server while others work with it; each of it is over when its function returns."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import psycopg

if TYPE_CHECKING:
    from scrubjay.testing.postgres_server import Server

OTHERS: Final = (
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() "
    "ORDER BY pid"
)
LOST: Final = (psycopg.OperationalError, psycopg.InterfaceError)


def ask(server: Server, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Ask the server something from a connection of our own, as soon as it answers."""
    while True:
        try:
            with psycopg.connect(server.url, autocommit=True) as db:
                return db.execute(statement, values).fetchall()
        except LOST:  # it recovers from a crash
            continue


def some(server: Server, chance: random.Random) -> None:
    """End some of the sessions."""
    pids = [pid for (pid,) in ask(server, OTHERS)]
    chosen = [pid for pid in pids if chance.random() < 0.5] or pids[:1]
    ask(server, "SELECT pg_terminate_backend(pid, 30000) FROM unnest(%s::int[]) pid", chosen)


def every(server: Server, _: random.Random) -> None:
    """End all of the sessions."""
    pids = [pid for (pid,) in ask(server, OTHERS)]
    ask(server, "SELECT pg_terminate_backend(pid, 30000) FROM unnest(%s::int[]) pid", pids)


def cancelled(server: Server, _: random.Random) -> None:
    """Stop what each session is doing; the sessions stay."""
    pids = [pid for (pid,) in ask(server, OTHERS)]
    ask(server, "SELECT pg_cancel_backend(pid) FROM unnest(%s::int[]) pid", pids)


def crashed(server: Server, chance: random.Random) -> None:
    """Kill one backend: the server ends all of them, and recovers by itself."""
    with suppress(psycopg.OperationalError), psycopg.connect(server.url, autocommit=True) as watch:
        pids = [pid for (pid,) in watch.execute(OTHERS).fetchall()] or [watch.info.backend_pid]
        with suppress(ProcessLookupError):  # its client went meanwhile
            os.kill(chance.choice(pids), signal.SIGKILL)
            while True:
                watch.execute("SELECT 1")
    ask(server, "SELECT 1")


def fast(server: Server, _: random.Random) -> None:
    """Restart the server in order."""
    server.restart("fast")


def immediate(server: Server, _: random.Random) -> None:
    """Restart the server as after a loss of power."""
    server.restart("immediate")


def down(server: Server, _: random.Random) -> None:
    """Stop the server, and start it again."""
    server.stop()
    server.start()


FAULTS: Final[dict[str, Callable[[Server, random.Random], None]]] = {
    fault.__name__: fault for fault in (some, every, cancelled, crashed, fast, immediate, down)
}
