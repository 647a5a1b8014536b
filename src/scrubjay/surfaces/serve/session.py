"""Session: a principal and something to do with their memory -> it is done, in a thread that no reader waits for.

Reads run beside one another, up to `READERS`; writes run one after another; and what takes long (a sync, a rebuild) one
after another beside those, so that an addition does not wait for it. Embeddings of texts that nobody stores, which
keep all processors busy, run one after another too. Principals that wait take turns (`turns`). What is cancelled while
it waits is never begun. A read that is cancelled while it runs is left to end unheard; a write is
waited for, so that it either happened or did not. A call too many is refused at once. The store is opened by the first
call, not at the start: one that cannot be opened is then an answer that the agent can read, not a server that dies
unseen.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrubjay.errors import StoreError
from scrubjay.surfaces.serve.seen import Seen
from scrubjay.surfaces.serve.turns import Lane, Turns
from scrubjay.surfaces.serve.unasked import unasked
from scrubjay.verbs.reads import read

if TYPE_CHECKING:
    from scrubjay.config import Settings
    from scrubjay.engine import Memory
    from scrubjay.surfaces.serve.readers import Readers
    from scrubjay.verbs.tokens import Principal

READERS: Final = 8
"""Searches at the same time. More would share the same processors, and each keeps a connection to the store."""

EACH: Final = 2
"""Questions asked ahead for each process that reads: one that is quick may take two of them."""
TRIES: Final = 2
"""Times that a question is asked of the processes that read: the first may have died of somebody else's question."""

Value = TypeVar("Value")


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
        readers: Readers | None = None,
    ) -> None:
        self._store = Seen(settings, opening)
        self.settings = settings
        self.log = self._store.log
        self._processes = readers
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="scrubjay-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-write")
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-keep")
        self._embedder = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-embed")
        self._prober = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-probe")
        self._probe: Future[Any] | None = None
        self._turns = Turns(settings.server.most_waiting)
        self._reads, self._writes, self._keeps, self._embeds = Lane(READERS), Lane(1), Lane(1), Lane(1)
        self._asks = Lane(EACH * readers.count if readers is not None else 0)
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
        future: Future[Value] = self._turns.submit(lane, _person(who), start)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if (writes or at_length) and not future.cancelled():
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(_ended, future)
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
            return await self.do(who, partial(_read, verb=verb, arguments=arguments, warming=warming))
        for _ in range(TRIES):
            start = partial(self._processes.ask, who, verb, arguments, warming=warming)
            asked = self._turns.submit(self._asks, _person(who), start)
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
        probe.add_done_callback(_looked_at)  # who asked may have gone
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
            count = EACH * self._processes.count
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


def _person(who: Principal) -> tuple[str, str]:
    """Return whose turn it is: one person has one, however many tokens they hold."""
    return who.tenant, who.user


def _looked_at(done: asyncio.Future[Any]) -> None:
    if not done.cancelled():
        done.exception()


def _read(memory: Memory, verb: str, arguments: Mapping[str, Any], warming: bool) -> bytes:
    with unasked(warming):
        return read(memory, verb, arguments)


def _ended(future: Future[Value]) -> None:
    """Wait for a call whose answer nobody wants any more; its failure is nobody's either."""
    with suppress(Exception):
        future.exception()
