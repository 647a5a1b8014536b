"""Session: one open store for all principals of a server, with a fair queue of reads and writes.

Users take turns: a free slot goes to the next user and to their oldest waiting call, however many tokens they hold.
When the queue is full, a user with fewer waiting calls displaces the newest call of the user with most, so nobody is
refused because of somebody else's load. Reads run concurrently; writes run one at a time, and long writes (sync,
rebuild) and embeddings each one at a time beside them. A call that is cancelled while it waits never starts; a running
read is abandoned, a running write is awaited. The first call opens the store, so failing to open it is a response.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from scrubjay.api.auth import Principal
from scrubjay.api.queries import run_query
from scrubjay.config.paths import data_folder, environment
from scrubjay.config.settings import LogSettings
from scrubjay.daemon.embedding import EmbeddingJob
from scrubjay.errors import (
    ScrubjayError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnreachableError,
    StoreVersionError,
)
from scrubjay.log import Log
from scrubjay.text.display import single_line
from scrubjay.tracing import carry, current_context

if TYPE_CHECKING:
    from scrubjay.config.settings import Settings
    from scrubjay.memory import Memory
    from scrubjay.server.workers import WorkerPool


Value = TypeVar("Value")


class Lane:
    """Calls of one kind; ``free`` is how many more may run, ``waiting`` has the next user's calls first."""

    def __init__(self, slots: int) -> None:
        self.free = slots
        self.waiting: OrderedDict[Hashable, deque[_QueuedCall[Any]]] = OrderedDict()


class ThreadLane(Lane):
    def __init__(self, name: str, slots: int) -> None:
        super().__init__(slots)
        self.pool = ThreadPoolExecutor(slots, thread_name_prefix=f"scrubjay-{name}")


@dataclass(eq=False, slots=True)
class _QueuedCall(Generic[Value]):
    lane: Lane
    who: Hashable
    start: Callable[[], Future[Value]]
    future: Future[Value] = field(default_factory=Future)


class FairQueue:
    """Running and waiting calls of all lanes, at most ``max_waiting`` of them waiting."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._waiting: dict[Hashable, list[_QueuedCall[Any]]] = {}
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, lane: Lane, who: Hashable, start: Callable[[], Future[Value]]) -> Future[Value]:
        """Queue a call that ``start`` begins; cancelled while it waits, it never starts.

        Raises:
            StoreBusyError: Too many calls are waiting, and no user has more of them than this one.
            StoreError: The queue is closed.
        """
        call = _QueuedCall(lane, who, start)
        evicted: _QueuedCall[Any] | None = None
        with self._lock:
            if self._closed:
                raise StoreError("The server is shutting down. Nothing was done.", hint="ask again")
            if not lane.free:
                evicted = self._make_room(who)
            refusal = self._busy_error(evicted.who) if evicted is not None else None
            lane.waiting.setdefault(who, deque()).append(call)
            self._waiting.setdefault(who, []).append(call)
        call.future.add_done_callback(partial(self._remove_cancelled, call))
        if evicted is not None and evicted.future.set_running_or_notify_cancel():
            evicted.future.set_exception(refusal)
        self._advance(lane)
        return call.future

    def close(self) -> None:
        with self._lock:
            self._closed = True
            waiting = [call for calls in self._waiting.values() for call in calls]
        for call in waiting:
            call.future.cancel()

    def _make_room(self, who: Hashable) -> _QueuedCall[Any] | None:
        """Remove and return the call to displace; None if the queue has room."""
        if sum(map(len, self._waiting.values())) < self._max_waiting:
            return None
        most_waiting = max(self._waiting.values(), key=len, default=[])
        if len(most_waiting) <= len(self._waiting.get(who, ())) + 1:
            raise self._busy_error(who)
        evicted = most_waiting[-1]
        self._remove(evicted)
        return evicted

    def _busy_error(self, who: Hashable) -> StoreBusyError:
        total, own = sum(map(len, self._waiting.values())), len(self._waiting.get(who, ()))
        return StoreBusyError(
            f"{total} requests are already waiting, {own} of them yours. Nothing was done.",
            hint="retry in a second; [server] most_waiting sets how many may wait",
        )

    def _advance(self, lane: Lane) -> None:
        while (call := self._pop_next(lane)) is not None:
            if not call.future.set_running_or_notify_cancel():
                self._release(lane)
                continue
            try:
                running = call.start()
            except BaseException as error:  # noqa: BLE001 the waiting caller gets it
                self._release(lane)
                call.future.set_exception(error)
                continue
            running.add_done_callback(partial(self._finish, call))

    def _pop_next(self, lane: Lane) -> _QueuedCall[Any] | None:
        with self._lock:
            if self._closed or not lane.free or not lane.waiting:
                return None
            who, calls = next(iter(lane.waiting.items()))
            call = calls[0]
            self._remove(call)
            if calls:
                lane.waiting.move_to_end(who)
            lane.free -= 1
            return call

    def _finish(self, call: _QueuedCall[Value], running: Future[Value]) -> None:
        self._release(call.lane)
        if running.cancelled():
            call.future.set_exception(
                StoreError("The server is shutting down. The request was not answered.", hint="ask again")
            )
        elif (error := running.exception()) is not None:
            call.future.set_exception(error)
        else:
            call.future.set_result(running.result())
        self._advance(call.lane)

    def _remove_cancelled(self, call: _QueuedCall[Any], _done: Future[Any]) -> None:
        with self._lock:
            if call in self._waiting.get(call.who, ()):
                self._remove(call)

    def _remove(self, call: _QueuedCall[Any]) -> None:
        """Remove a waiting call; the caller holds the lock."""
        for queue in (call.lane.waiting, self._waiting):
            calls = queue[call.who]
            calls.remove(call)
            if not calls:
                del queue[call.who]

    def _release(self, lane: Lane) -> None:
        with self._lock:
            lane.free += 1


_BACKGROUND: Final[ContextVar[bool]] = ContextVar("unasked", default=False)


@contextmanager
def background_work(warming: bool) -> Iterator[None]:
    """Mark the work of this thread as the server's own warm-up, which `RequestLog` leaves out."""
    token = _BACKGROUND.set(warming)
    try:
        yield
    finally:
        _BACKGROUND.reset(token)


class RequestLog(Log):
    def __init__(self, settings: LogSettings, folder: str) -> None:
        super().__init__(folder, settings.level, settings.most_kb * 1000)

    def write(self, level: str, event: str, ms: float | None = None, **facts: str | float | bool) -> None:
        if level == "error" or not _BACKGROUND.get():
            super().write(level, event, ms, **facts)


MAX_PRINCIPALS: Final = 256


class PrincipalMemories:
    """One open store as each principal sees it, opened by the first use."""

    def __init__(self, settings: Settings, open_memory: Callable[[], Memory] | None = None) -> None:
        self.settings = settings
        self.owner = Principal(settings.tenant, settings.user, tuple(settings.groups))
        self.log = RequestLog(settings.log, data_folder(environment()))
        self._open_memory = open_memory or self._open
        self._memory: Memory | None = None
        self._views: OrderedDict[Principal, Memory] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, who: Principal) -> Memory:
        owner = self.owner
        with self._lock:
            if self._memory is None:
                self._memory = self._open_memory()
            is_owner = who.tenant == owner.tenant and who.user == owner.user and who.groups == owner.groups
            if is_owner and who.curates:
                return self._memory
            if who not in self._views:
                self._views[who] = self._memory.seen_by(
                    who.user, groups=who.groups, tenant=who.tenant, curate=who.curates
                )
                while len(self._views) > MAX_PRINCIPALS:
                    self._views.popitem(last=False)
            self._views.move_to_end(who)
            return self._views[who]

    def open_views(self) -> list[tuple[Principal, Memory]]:
        """Return the principals' views that are open, the owner's first."""
        with self._lock:
            own = [(self.owner, self._memory)] if self._memory is not None else []
            return [*own, *self._views.items()]

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()

    def _open(self) -> Memory:
        from scrubjay.memory import Memory

        # This reports on standard error that texts are sent to a service.
        warn = logging.getLogger("scrubjay").warning
        return Memory.open(settings=self.settings, announce=warn, log=self.log)


MAX_CONCURRENT_READS: Final = 8
"""More would compete for the same processors, and each holds a connection to the store."""

QUERIES_PER_WORKER: Final = 2
"""Queries queued per worker process, so that a fast one does not idle."""
WORKER_ATTEMPTS: Final = 2
"""Attempts per query: the first worker may have crashed on another client's query."""


_PLACE: Final = re.compile(r"(?<![\w/:])/\w|\w:\\|(sqlite|postgres|postgresql)://")
"""A path or a store's URL in a message."""
PUBLIC_MESSAGES: Final[tuple[tuple[type[StoreError], str], ...]] = (
    (StoreDamagedError, "The store is damaged or is not a store. Nothing was written."),
    (StoreFullError, "The disk that holds the store is full. Nothing of this write was stored."),
    (StoreReadOnlyError, "The store is read-only. Nothing was written."),
    (StoreUnreachableError, "The store cannot be reached. Nothing more was written."),
    (StoreBusyError, "The store is locked by another program. Nothing was written."),
    (StoreVersionError, "The store has a schema that this server does not know. Nothing was written."),
    (StoreError, "The store cannot be read or written now. Nothing was written."),
)
"""Messages for clients that may not know where the store is; the first match counts."""
PUBLIC_HINT: Final = "its operator finds the reason in the server's output, and by `scrubjay doctor`"


class ReaderStartError(StoreError):
    """No worker process can be started."""


class Session:
    """One open store for all calls of a process; a context manager.

    Without ``workers`` threads of this process answer queries.
    """

    def __init__(
        self,
        settings: Settings,
        open_memory: Callable[[], Memory] | None = None,
        workers: WorkerPool | None = None,
    ) -> None:
        self._store = PrincipalMemories(settings, open_memory)
        self.settings = settings
        self.owner = self._store.owner
        self.log = self._store.log
        self.job = EmbeddingJob(data_folder(environment()), settings.store)
        self._workers = workers
        self._logged_error = ""
        self._workers_answered = self._workers_crashed = False
        self._reads = ThreadLane("read", MAX_CONCURRENT_READS)
        self._writes = ThreadLane("write", 1)
        self._long_runs = ThreadLane("long", 1)
        self._embeds = ThreadLane("embed", 1)
        self._probe_pool = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-probe")
        self._probe: Future[str] | None = None
        self._queue = FairQueue(settings.server.most_waiting)
        self._queries = Lane(QUERIES_PER_WORKER * workers.count if workers is not None else 0)
        self._stopping = threading.Event()

    async def read(self, who: Principal, work: Callable[[Memory], Value]) -> Value:
        """Run ``work`` on a principal's memory, up to `MAX_CONCURRENT_READS` at once.

        Raises:
            StoreBusyError: Too many calls are waiting; also from `write`, `run_long`, `embed` and `ask`.
        """
        return await asyncio.wrap_future(self._submit(self._reads, who, work))

    async def embed(self, who: Principal, work: Callable[[Memory], Value]) -> Value:
        """Run a read that only embeds texts: one at a time, without delaying other reads."""
        return await asyncio.wrap_future(self._submit(self._embeds, who, work))

    async def write(self, who: Principal, work: Callable[[Memory], Value]) -> Value:
        """Run ``work`` as the only write, to its end even if the caller is cancelled."""
        return await self._await_completion(self._submit(self._writes, who, work))

    async def run_long(self, who: Principal, work: Callable[[Memory], Value]) -> Value:
        """Run a write that may take minutes beside the short ones, to its end even if the caller is cancelled."""
        return await self._await_completion(self._submit(self._long_runs, who, work))

    def _submit(self, lane: ThreadLane, who: Principal, work: Callable[[Memory], Value]) -> Future[Value]:
        start = partial(lane.pool.submit, carry(lambda: work(self._store.of(who))))
        return self._queue.submit(lane, (who.tenant, who.user), start)

    async def _await_completion(self, future: Future[Value]) -> Value:
        import anyio

        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancelled():
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(wait, [future])
            raise

    async def ask(
        self, who: Principal, verb: str, arguments: Mapping[str, Any], *, warming: bool = False
    ) -> bytes:
        """Run a query of `api.queries` and return JSON, in a worker process if there are any.

        ``warming`` marks the server's own warm-up, which the slow log leaves out.

        Raises:
            StoreError: The worker processes crash on it.
        """
        query = partial(_run_query, verb=verb, arguments=arguments, warming=warming)
        if self._workers is None:
            return await self.read(who, query)
        for _ in range(WORKER_ATTEMPTS):
            start = partial(self._workers.ask, who, verb, arguments, warming=warming, trace=current_context())
            result = self._queue.submit(self._queries, (who.tenant, who.user), start)
            try:
                reply = await asyncio.wrap_future(result)
            except BrokenProcessPool:
                self.log.write("error", "reader died", verb=verb)
            except ReaderStartError:
                break
            else:
                self._workers_answered, self._workers_crashed = True, False
                return reply
        if not self._workers_answered:
            self._disable_workers()
            return await self.read(who, query)
        self._workers_crashed = True
        raise StoreError("The reader worker of this request crashed twice. The request was not answered.")

    def _disable_workers(self) -> None:
        """Answer queries in this process from now on: no worker process has ever answered."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None
            self.log.write("error", "readers not started")
            logging.getLogger("scrubjay").warning(
                "warning: No reader process could be started with %s, so this process answers all searches itself. "
                "Check that its user may run that program, or start the server with --readers 0.",
                sys.executable,
            )

    async def ready(self) -> str:
        """Return "ready", or "read-only" if the store answers searches alone.

        Bypasses the queue; concurrent calls share one probe.

        Raises:
            StoreError: The store cannot be read or its disk is full, or the worker processes crash.
        """
        if self._probe is None or self._probe.done():
            self._probe = self._probe_pool.submit(self._check_ready)
        probe = asyncio.wrap_future(self._probe)
        probe.add_done_callback(_consume_exception)  # the caller may be gone
        await asyncio.wait([probe])
        return probe.result()

    def _check_ready(self) -> str:
        memory = self._store.of(self.owner)
        memory.models()
        state = "ready"
        try:
            memory.workspace.store.check_writable()
        except StoreReadOnlyError:
            state = "read-only"
        if self._workers is not None and self._workers_crashed:
            try:
                try:
                    self._workers.warm()[0].result()
                except BrokenProcessPool:  # of an earlier crash, noticed only now; the next pool is new
                    self._workers.warm()[0].result()
            except BrokenProcessPool as error:
                raise StoreError("The reader processes crash. Searches are not answered.") from error
            self._workers_crashed = False
        return state

    def public_error(self, error: ScrubjayError, who: Principal | None) -> ScrubjayError:
        """Return an error as a client may see it: only an admin learns where the store is.

        Another one gets an error of the same class; the server's output has the message.
        """
        if not isinstance(error, StoreError) or (who is not None and "admin" in who.scopes):
            return error
        if not _PLACE.search(f"{error} {error.hint}"):
            return error
        if str(error) != self._logged_error:
            self._logged_error = str(error)
            logging.getLogger("scrubjay").warning("%s hint: %s", single_line(str(error)), error.hint)
        text = next(text for kind, text in PUBLIC_MESSAGES if isinstance(error, kind))
        return type(error)(text, hint=PUBLIC_HINT)

    def is_owner(self, who: Principal) -> bool:
        return who.tenant == self.owner.tenant and who.user == self.owner.user

    def check_running(self) -> None:
        """Raise StoreError if the server is shutting down; long work calls it between two steps."""
        if self._stopping.is_set():
            raise StoreError(
                "The server is shutting down. Completed writes are saved; the rest was not started.",
                hint="ask again",
            )

    async def warm(self, verb: str, arguments: Mapping[str, Any]) -> None:
        """Open the store and run a query, in every worker process if there are any."""
        count = 1
        if self._workers is not None:
            # In a thread, which only starts them: the event loop waits for its threads when it ends.
            workers = self._workers
            try:
                await asyncio.gather(*map(asyncio.wrap_future, await asyncio.to_thread(workers.warm)))
                self._workers_answered = True
                count = QUERIES_PER_WORKER * workers.count
            except (BrokenProcessPool, ReaderStartError):
                self._disable_workers()
        await asyncio.gather(*(self.ask(self.owner, verb, arguments, warming=True) for _ in range(count)))

    def memory(self) -> Memory:
        return self._store.of(self.owner)

    def embeddable(
        self, env: Mapping[str, str], *, open_: bool = False
    ) -> list[tuple[dict[str, str], Memory]]:
        """Return the open memories for `keep_embedded`, each with the environment of a process for its principal.

        ``open_`` opens the store for its owner, if no request has yet.
        """
        if open_:
            self.memory()
        opened = []
        for who, memory in self._store.open_views():
            if any("," in group for group in who.groups):  # no variable can name it
                continue
            # An empty variable counts as not set; a comma alone is a list of none.
            names = {"TENANT": who.tenant, "USER": who.user, "GROUPS": ",".join(who.groups) or ","}
            override = {f"SCRUBJAY_{name}": value for name, value in names.items() if who != self.owner}
            opened.append(({**env, **override}, memory))
        return opened

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        """Finish running calls, long ones at their next step; cancel waiting ones and close the store."""
        self._stopping.set()
        self._queue.close()
        for lane in (self._reads, self._writes, self._long_runs, self._embeds):
            lane.pool.shutdown(wait=True, cancel_futures=True)
        self._probe_pool.shutdown(wait=True, cancel_futures=True)
        if self._workers is not None:
            self._workers.close()
        self._store.close()


def _consume_exception(done: asyncio.Future[Any]) -> None:
    if not done.cancelled():
        done.exception()


def _run_query(memory: Memory, verb: str, arguments: Mapping[str, Any], warming: bool) -> bytes:
    with background_work(warming):
        return run_query(memory, verb, arguments)
