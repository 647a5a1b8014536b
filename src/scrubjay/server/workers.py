"""Worker processes that answer queries, so that searches use every processor.

Each worker opens the store for itself. A worker that dies is replaced and its query repeated, because queries change
nothing. Workers end with the server, however it dies.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakSet

from scrubjay.api.queries import run_query
from scrubjay.server.session import ReaderStartError, background_work
from scrubjay.tracing import Carrier, continued

if TYPE_CHECKING:
    from scrubjay.api.auth import Principal
    from scrubjay.config.settings import Settings
    from scrubjay.server.session import PrincipalMemories


Value = TypeVar("Value")

SHUTDOWN_SECONDS: Final = 2.0
"""Seconds that a worker has to end by itself."""

_START_LOCK: Final = threading.Lock()
"""Held while a process starts, which replaces ``__main__`` for that time."""

_memories: PrincipalMemories | None = None
"""The store of a worker process."""


class WorkerPool:
    def __init__(self, settings: Settings, count: int) -> None:
        self._settings = settings
        self.count = count
        self._lock = threading.Lock()
        self._context = _WorkerContext()
        self._pool: ProcessPoolExecutor | None = None

    def ask(
        self,
        who: Principal,
        verb: str,
        arguments: Mapping[str, Any],
        *,
        warming: bool = False,
        trace: Carrier,
    ) -> Future[bytes]:
        """Submit a query, of a trace; its result is JSON.

        Raises:
            ReaderStartError: No process can be started.
        """
        query = partial(_run_query, who, verb, dict(arguments), warming, trace)
        with self._lock:
            return self._submit(query)

    def warm(self) -> list[Future[None]]:
        """Start all workers; each future is done when its worker has the store open, which may be never.

        Raises:
            ReaderStartError: No process can be started.
        """
        with self._lock:
            return [self._submit(_open_store) for _ in range(self.count)]

    def _submit(self, work: Callable[[], Value]) -> Future[Value]:
        """Submit work to the pool, to a new one if there is none or it is broken; the lock is held."""
        try:
            if self._pool is None:
                self._pool = self._start_pool()
            return self._pool.submit(work)
        except (BrokenProcessPool, ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise ReaderStartError(f"No reader process can be started ({error.strerror}).") from error
        # The pool is broken. Python 3.11 may close its pipes just while a process is started with them: that is a
        # ValueError, or an OSError without a number.
        try:
            self._pool = self._start_pool()
            return self._pool.submit(work)
        except (BrokenProcessPool, ValueError, OSError) as error:
            raise ReaderStartError("No reader process can be started.") from error

    def close(self) -> None:
        """Let running queries finish, and kill workers that do not within `SHUTDOWN_SECONDS`."""
        with self._lock:
            processes = list(self._context.started)
            pool = self._pool
        if pool is None:
            return

        def kill() -> None:
            for process in processes:
                process.kill()

        timer = threading.Timer(SHUTDOWN_SECONDS, kill)
        timer.start()
        try:
            pool.shutdown(wait=True, cancel_futures=True)
        finally:
            timer.cancel()

    def _start_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.count, mp_context=self._context, initializer=_init_worker, initargs=(self._settings,)
        )


class _WorkerContext(SpawnContext):
    """Spawns processes, since a fork would copy locks and the store's connections, and keeps track of them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: WeakSet[SpawnProcess] = WeakSet()

    def Process(self, *args: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]
        process = _WorkerProcess(*args, **options)
        self.started.add(process)
        return process


class _WorkerProcess(SpawnProcess):
    """A process that does not import the program that starts it.

    A spawned process runs the main program's file first. Without a ``__main__`` guard in that file, a worker would
    become another server and never answer.
    """

    def start(self) -> None:
        with _START_LOCK:
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = main


def _init_worker(settings: Settings) -> None:
    from scrubjay.gc_tuning import raise_gc_threshold
    from scrubjay.server.session import PrincipalMemories

    global _memories
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    raise_gc_threshold()
    _memories = PrincipalMemories(settings)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _open_store() -> None:
    assert _memories is not None
    _memories.of(_memories.owner)


def _run_query(who: Principal, verb: str, arguments: dict[str, Any], warming: bool, trace: Carrier) -> bytes:
    assert _memories is not None
    memory = _memories.of(who)
    with background_work(warming), continued(trace):
        return run_query(memory, verb, arguments)
