"""Worker processes that answer queries, so that searches use every processor.

A search is work for the interpreter, of which a process has one. Each reader opens the store for itself, as any other
process would, and sees what is committed. One that dies is replaced, and what it was asked is asked once more, for
questions change nothing. When the server dies, however that happens, its readers end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from scrubjay.api.queries import run_query
from scrubjay.errors import StoreError
from scrubjay.server.session import background_work

if TYPE_CHECKING:
    from scrubjay.api.auth import Principal
    from scrubjay.config.settings import Settings
    from scrubjay.server.session import PrincipalMemories


SHUTDOWN_SECONDS: Final = 2.0
"""Seconds that a reader has to end by itself. Who asked has been answered, or has gone, before it is told to."""

_START_LOCK: Final = threading.Lock()
"""Held while a process starts, so that two that start at once do not take each other's program for the main one."""

_memories: PrincipalMemories | None = None
"""What this process reads, where it is a reader."""


class WorkerPool:
    """Processes that read.

    Args:
        settings: Who owns the server, and where the store is.
        count: How many.

    Attributes:
        count: The same.
    """

    def __init__(self, settings: Settings, count: int) -> None:
        self._settings = settings
        self.count = count
        self._guard = threading.Lock()
        self._context = _WorkerContext()
        self._pool = self._made()

    def ask(
        self, who: Principal, verb: str, arguments: Mapping[str, Any], *, warming: bool = False
    ) -> Future[bytes]:
        """Return what will be the answer to a question, as JSON.

        Args:
            who: Whose memory.
            verb: What is asked.
            arguments: And how.
            warming: Whether nobody asks it but the server, to be warm.

        Raises:
            StoreError: The readers died, and those that took their place did as well.
        """
        with self._guard:
            try:
                return self._pool.submit(_run_query, who, verb, dict(arguments), warming)
            except BrokenProcessPool:
                self._pool = self._made()
            try:
                return self._pool.submit(_run_query, who, verb, dict(arguments), warming)
            except BrokenProcessPool as error:
                raise StoreError("Reader workers crash on startup; see the log.") from error

    def warm(self) -> list[Future[None]]:
        """Start all of them; what is returned is done when each has the store open, which may be never."""
        with self._guard:
            return [self._pool.submit(_open_store) for _ in range(self.count)]

    def close(self) -> None:
        """Let what is being answered come to its end; kill what does not, be it that it never began."""
        with self._guard:
            running = self._context.running()
        late = threading.Timer(SHUTDOWN_SECONDS, _kill_all, [running])
        late.start()
        try:
            self._pool.shutdown(wait=True, cancel_futures=True)
        finally:
            late.cancel()

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.count, mp_context=self._context, initializer=_init_worker, initargs=(self._settings,)
        )


class _WorkerContext(SpawnContext):
    """Starts processes anew, as a fork would copy threads' locks and the store's connections; and knows them."""

    def __init__(self) -> None:
        super().__init__()
        self._started: WeakSet[SpawnProcess] = WeakSet()

    def Process(self, *args: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]
        """Return a process that is to be started."""
        made = _WorkerProcess(*args, **options)
        self._started.add(made)
        return made

    def running(self) -> list[SpawnProcess]:
        """Return those that a pool still holds."""
        return list(self._started)


class _WorkerProcess(SpawnProcess):
    """A process that begins with nothing of the program that starts it.

    A spawned process runs the main program's file first. Where that file does not look whether it is the main
    program, a reader would become one more server, and never answer.
    """

    def start(self) -> None:
        """Start it, with an empty program as the main one for as long as that takes."""
        with _START_LOCK:
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = main


def _kill_all(processes: list[SpawnProcess]) -> None:
    for each in processes:
        each.kill()


def _init_worker(settings: Settings) -> None:
    """Make this process a reader."""
    from scrubjay.gc_tuning import raise_gc_threshold
    from scrubjay.server.session import PrincipalMemories

    global _memories
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its readers
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with_parent, args=(parent.sentinel,), daemon=True).start()
    raise_gc_threshold()
    _memories = PrincipalMemories(settings)


def _exit_with_parent(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def _open_store() -> None:
    assert _memories is not None
    _memories.of(_memories.owner)


def _run_query(who: Principal, verb: str, arguments: dict[str, Any], warming: bool) -> bytes:
    assert _memories is not None
    with background_work(warming):
        return run_query(_memories.of(who), verb, arguments)
