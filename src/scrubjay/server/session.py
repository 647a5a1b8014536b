"""Session: one open store for all principals of a server, with a fair queue of reads and writes.

Whoever waits is a principal, however many threads and tokens it has: a free slot goes to the next principal, and to its
oldest call. Places to wait are nobody's in particular: one who is alone may have all. When all are taken, a principal
with fewer takes the place of the newest call of the one with most, so that none is turned away by another's crowd.

Reads run beside one another, up to `MAX_CONCURRENT_READS`; writes run one after another; and what takes long (a sync, a rebuild) one
after another beside those, so that an addition does not wait for it. Embeddings of texts that nobody stores, which
keep all processors busy, run one after another too. Principals that wait take turns (`turns`). What is cancelled while
it waits is never begun. A read that is cancelled while it runs is left to end unheard; a write is
waited for, so that it either happened or did not. A call too many is refused at once. The store is opened by the first
call, not at the start: one that cannot be opened is then an answer that the agent can read, not a server that dies
unseen.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from scrubjay.api.auth import Principal
from scrubjay.api.queries import run_query
from scrubjay.config.paths import data_folder, environment
from scrubjay.config.settings import LogSettings
from scrubjay.errors import StoreBusyError, StoreError
from scrubjay.log import Log

if TYPE_CHECKING:
    from scrubjay.config.settings import Settings
    from scrubjay.memory import Memory
    from scrubjay.server.workers import WorkerPool


Value = TypeVar("Value")


@dataclass(eq=False, slots=True)
class Lane:
    """One kind of work.

    Attributes:
        free: Slots that nothing runs in.
        waiting: Calls of each principal, the next principal first.
    """

    free: int
    waiting: OrderedDict[Hashable, deque[_QueuedCall[Any]]] = field(default_factory=OrderedDict)


@dataclass(eq=False, slots=True)
class _QueuedCall(Generic[Value]):
    lane: Lane
    who: Hashable
    start: Callable[[], Future[Value]]
    future: Future[Value] = field(default_factory=Future)


class FairQueue:
    """The calls of a server that run or wait, in all lanes.

    Args:
        most: How many may wait.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[Hashable, list[_QueuedCall[Any]]] = {}
        self._closed = False
        self._guard = threading.Lock()

    def submit(self, lane: Lane, who: Hashable, start: Callable[[], Future[Value]]) -> Future[Value]:
        """Return what will come of a call; cancelled while it waits, it is never begun.

        Args:
            lane: The kind of work.
            who: Whose call it is.
            start: Begins it, and returns what will come of it.

        Raises:
            StoreBusyError: Too many wait already, and nobody holds more places than this one.
        """
        call = _QueuedCall(lane, who, start)
        given_up: _QueuedCall[Any] | None = None
        with self._guard:
            if self._closed:
                raise StoreError("The server ends. Nothing was done.", hint="ask again")
            if not lane.free:
                given_up = self._room(who)
            refusal = self._busy(given_up.who) if given_up is not None else None
            lane.waiting.setdefault(who, deque()).append(call)
            self._waiting.setdefault(who, []).append(call)
        call.future.add_done_callback(partial(self._left, call))
        if given_up is not None and given_up.future.set_running_or_notify_cancel():
            given_up.future.set_exception(refusal)
        self._advance(lane)
        return call.future

    def close(self) -> None:
        """Begin nothing any more; what waits is cancelled."""
        with self._guard:
            self._closed = True
            left = [call for calls in self._waiting.values() for call in calls]
        for call in left:
            call.future.cancel()

    def _room(self, who: Hashable) -> _QueuedCall[Any] | None:
        """Return the call that gives its place away; None where there is a free one."""
        if sum(map(len, self._waiting.values())) < self._most:
            return None
        longest = max(self._waiting.values(), key=len, default=[])
        if len(longest) <= len(self._waiting.get(who, ())) + 1:
            raise self._busy(who)
        given_up = longest[-1]
        self._take(given_up)
        return given_up

    def _busy(self, who: Hashable) -> StoreBusyError:
        total, own = sum(map(len, self._waiting.values())), len(self._waiting.get(who, ()))
        return StoreBusyError(
            f"{total} requests wait for their turn already, {own} of them yours. Nothing was done.",
            hint="ask again in a second; [server] most_waiting says how many may wait",
        )

    def _advance(self, lane: Lane) -> None:
        """Begin what can begin."""
        while (call := self._next(lane)) is not None:
            if not call.future.set_running_or_notify_cancel():
                self._free(lane)
                continue
            try:
                running = call.start()
            except BaseException as error:  # noqa: BLE001 whoever waits for it is told
                self._free(lane)
                call.future.set_exception(error)
                continue
            running.add_done_callback(partial(self._ended, call))

    def _next(self, lane: Lane) -> _QueuedCall[Any] | None:
        with self._guard:
            if self._closed or not lane.free or not lane.waiting:
                return None
            who, calls = next(iter(lane.waiting.items()))
            call = calls[0]
            self._take(call)
            if calls:
                lane.waiting.move_to_end(who)
            lane.free -= 1
            return call

    def _ended(self, call: _QueuedCall[Value], running: Future[Value]) -> None:
        self._free(call.lane)
        if running.cancelled():
            call.future.set_exception(StoreError("The server ends. Nothing was answered.", hint="ask again"))
        elif (error := running.exception()) is not None:
            call.future.set_exception(error)
        else:
            call.future.set_result(running.result())
        self._advance(call.lane)

    def _left(self, call: _QueuedCall[Any], _done: Future[Any]) -> None:
        """Take out a call that was cancelled while it waited."""
        with self._guard:
            if call in self._waiting.get(call.who, ()):
                self._take(call)

    def _take(self, call: _QueuedCall[Any]) -> None:
        """Take a call out of those that wait; the guard is held."""
        for held in (call.lane.waiting, self._waiting):
            calls = held[call.who]
            calls.remove(call)
            if not calls:
                del held[call.who]

    def _free(self, lane: Lane) -> None:
        with self._guard:
            lane.free += 1


_BACKGROUND: Final[ContextVar[bool]] = ContextVar("unasked", default=False)


@contextmanager
def background_work(warming: bool) -> Iterator[None]:
    """Say whether nobody asks for what this thread does in the block: the server is only warming itself."""
    before = _BACKGROUND.set(warming)
    try:
        yield
    finally:
        _BACKGROUND.reset(before)


class RequestLog(Log):
    """A log that is told of what somebody asked for, and of errors."""

    def __init__(self, settings: LogSettings, folder: str) -> None:
        """Args: the section ``[log]``, and the data folder."""
        super().__init__(folder, settings.level, settings.most_kb * 1000)

    def write(self, level: str, event: str, ms: float | None = None, **facts: str | float | bool) -> None:
        """Write one line, unless nobody asked."""
        if level == "error" or not _BACKGROUND.get():
            super().write(level, event, ms, **facts)


MAX_PRINCIPALS: Final = 256
"""Principals whose desks are kept; one that comes back after that many others finds names anew."""


class PrincipalMemories:
    """One open store, as each principal sees it.

    Args:
        settings: Who owns the process, and where the store is.
        opening: What opens it; None for the facade.

    Attributes:
        log: Where what goes wrong is told, besides to the client.
    """

    def __init__(self, settings: Settings, opening: Callable[[], Memory] | None = None) -> None:
        self.settings = settings
        self.log = RequestLog(settings.log, data_folder(environment()))
        self._opening = opening or self._open
        self._memory: Memory | None = None
        self._seen: OrderedDict[Principal, Memory] = OrderedDict()
        self._guard = threading.Lock()

    @property
    def owner(self) -> Principal:
        """Who the settings say this is."""
        return Principal(self.settings.tenant, self.settings.user, tuple(self.settings.groups))

    def of(self, who: Principal) -> Memory:
        """Return what somebody sees."""
        with self._guard:
            if self._memory is None:
                self._memory = self._opening()
            owner = (who.tenant, who.user, who.groups) == (
                self.owner.tenant,
                self.owner.user,
                self.owner.groups,
            )
            if owner and who.curates:
                return self._memory
            if who not in self._seen:
                self._seen[who] = self._memory.seen_by(
                    who.user, groups=who.groups, tenant=who.tenant, curate=who.curates
                )
                while len(self._seen) > MAX_PRINCIPALS:
                    self._seen.popitem(last=False)
            self._seen.move_to_end(who)
            return self._seen[who]

    def close(self) -> None:
        """Close the store, if it was opened."""
        if self._memory is not None:
            self._memory.close()

    def _open(self) -> Memory:
        from scrubjay.memory import Memory

        # Of the process: standard error, where a person finds that texts went to a service.
        say = logging.getLogger("scrubjay").warning
        return Memory.open(settings=self.settings, announce=say, log=self.log)


MAX_CONCURRENT_READS: Final = 8
"""Searches at the same time. More would share the same processors, and each keeps a connection to the store."""

QUERIES_PER_WORKER: Final = 2
"""Questions asked ahead for each process that reads: one that is quick may take two of them."""
WORKER_ATTEMPTS: Final = 2
"""Times that a question is asked of the processes that read: the first may have died of somebody else's question."""


class Session:
    """One open store for all calls of a process; a context manager.

    Args:
        settings: Who owns the process, and where the store is.
        opening: What opens it; None for the facade.
        readers: Processes that answer questions; None for the threads of this one.

    Attributes:
        log: Where what goes wrong is told, besides to the client.
    """

    def __init__(
        self,
        settings: Settings,
        opening: Callable[[], Memory] | None = None,
        readers: WorkerPool | None = None,
    ) -> None:
        self._store = PrincipalMemories(settings, opening)
        self.settings = settings
        self.log = self._store.log
        self._processes = readers
        self._readers = ThreadPoolExecutor(MAX_CONCURRENT_READS, thread_name_prefix="scrubjay-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-write")
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-keep")
        self._embedder = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-embed")
        self._prober = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-probe")
        self._probe: Future[Any] | None = None
        self._turns = FairQueue(settings.server.most_waiting)
        self._reads, self._writes, self._keeps, self._embeds = (
            Lane(MAX_CONCURRENT_READS),
            Lane(1),
            Lane(1),
            Lane(1),
        )
        self._asks = Lane(QUERIES_PER_WORKER * readers.count if readers is not None else 0)
        self._ending = threading.Event()

    @property
    def owner(self) -> Principal:
        """Who the settings say this is."""
        return self._store.owner

    async def do(
        self,
        who: Principal,
        work: Callable[[Memory], Value],
        *,
        writes: bool = False,
        at_length: bool = False,
        embeds: bool = False,
    ) -> Value:
        """Return what comes of ``work`` on the memory that a principal sees.

        Args:
            who: Whose memory.
            work: What is done.
            writes: Whether it writes.
            at_length: Whether it may take minutes, so that nobody should wait behind it.
            embeds: Whether it is a read that only embeds texts: one runs at a time, and no other read waits for it.

        Raises:
            StoreBusyError: Too many calls wait already.
        """
        import anyio

        lane, pool = (self._embeds, self._embedder) if embeds else (self._reads, self._readers)
        if at_length or writes:
            lane, pool = (self._keeps, self._keeper) if at_length else (self._writes, self._writer)
        start = partial(pool.submit, lambda: work(self._store.of(who)))
        future: Future[Value] = self._turns.submit(lane, _queue_key(who), start)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if (writes or at_length) and not future.cancelled():
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(_wait_for, future)
            raise

    async def ask(
        self, who: Principal, verb: str, arguments: Mapping[str, Any], *, warming: bool = False
    ) -> bytes:
        """Return what a question (`verbs/reads.py`) is answered, as JSON.

        Args:
            who: Whose memory.
            verb: What is asked.
            arguments: And how.
            warming: Whether nobody asks it but the server, to be warm: then the log is not told that it was slow.

        Raises:
            StoreBusyError: Too many calls wait already.
            StoreError: The processes that read die of it.
            ScrubjayError: As the facade says.
        """
        if self._processes is None:
            return await self.do(who, partial(_run_query, verb=verb, arguments=arguments, warming=warming))
        for _ in range(WORKER_ATTEMPTS):
            start = partial(self._processes.ask, who, verb, arguments, warming=warming)
            asked = self._turns.submit(self._asks, _queue_key(who), start)
            with suppress(BrokenProcessPool):
                return await asyncio.wrap_future(asked)
            self.log.write("error", "reader died", verb=verb)
        raise StoreError("The process that read the store for this died, twice. Nothing was answered.")

    async def ready(self) -> None:
        """Return when the store can be read: before any queue, and once for all who ask at the same time.

        Raises:
            ScrubjayError: It cannot.
        """
        if self._probe is None or self._probe.done():
            self._probe = self._prober.submit(lambda: self._store.of(self.owner).models())
        probe = asyncio.wrap_future(self._probe)
        probe.add_done_callback(_consume_exception)  # who asked may have gone
        await asyncio.wait([probe])
        probe.result()

    def going_on(self) -> None:
        """Raise where the server ends: what takes long asks after each step, and is found whole when it is stopped.

        Raises:
            StoreError: It ends.
        """
        if self._ending.is_set():
            raise StoreError(
                "The server ends. What was done is stored, and the rest was not begun.", hint="ask again"
            )

    async def warm(self, verb: str, arguments: Mapping[str, Any]) -> None:
        """Open the store ahead and ask it something, in all processes that read where there are any.

        Raises:
            ScrubjayError: It cannot be opened; whoever asks next is told the same.
        """
        count = 1
        if self._processes is not None:
            # Only the starting is a thread's, for the loop waits for threads when it ends.
            starting = await asyncio.to_thread(self._processes.warm)
            await asyncio.gather(*map(asyncio.wrap_future, starting))
            count = QUERIES_PER_WORKER * self._processes.count
        await asyncio.gather(*(self.ask(self.owner, verb, arguments, warming=True) for _ in range(count)))

    def memory(self) -> Memory:
        """Return the owner's memory, opened now if nobody has needed it yet."""
        return self._store.of(self.owner)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        """Let what runs come to its end, what takes long at its next step; drop what waits, and close the store."""
        self._ending.set()
        self._turns.close()
        for pool in (self._readers, self._writer, self._keeper, self._embedder, self._prober):
            pool.shutdown(wait=True, cancel_futures=True)
        if self._processes is not None:
            self._processes.close()
        self._store.close()


def _queue_key(who: Principal) -> tuple[str, str]:
    """Return whose turn it is: one person has one, however many tokens they hold."""
    return who.tenant, who.user


def _consume_exception(done: asyncio.Future[Any]) -> None:
    if not done.cancelled():
        done.exception()


def _run_query(memory: Memory, verb: str, arguments: Mapping[str, Any], warming: bool) -> bytes:
    with background_work(warming):
        return run_query(memory, verb, arguments)


def _wait_for(future: Future[Value]) -> None:
    """Wait for a call whose answer nobody wants any more; its failure is nobody's either."""
    with suppress(Exception):
        future.exception()
