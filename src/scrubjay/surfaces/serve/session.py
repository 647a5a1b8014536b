"""Session: a principal and something to do with their memory -> it is done, in a thread that no reader waits for.

Reads run beside one another, up to `READERS`; writes run one after another. What is cancelled while it waits its
turn is never begun. A read that is cancelled while it runs is left to end unheard; a write is waited for, so that it
either happened or did not. The store is opened by the first call, not at the start: one that cannot be opened is
then an answer that the agent can read, not a server that dies unseen.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from scrubjay.config_start import data_folder, environment
from scrubjay.verbs.tokens import Principal

if TYPE_CHECKING:
    from scrubjay.config import Settings
    from scrubjay.engine import Memory

READERS: Final = 8
"""Searches at the same time. More would share the same processors, and each keeps a connection to the store."""
MOST_PRINCIPALS: Final = 256
"""Principals whose desks are kept; one that comes back after that many others finds names anew."""

Value = TypeVar("Value")


class Session:
    """One open store for all calls of a process; a context manager.

    Args:
        settings: Who owns the process, and where the store is.
        opening: What opens it; None for the facade.

    Attributes:
        log: Where what goes wrong is told, besides to the client.
    """

    def __init__(self, settings: Settings, opening: Callable[[], Memory] | None = None) -> None:
        self.settings = settings
        self.log = settings.log.open(data_folder(environment()))
        self._opening = opening or self._open
        self._memory: Memory | None = None
        self._seen: OrderedDict[Principal, Memory] = OrderedDict()
        self._guard = threading.Lock()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="scrubjay-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="scrubjay-write")

    @property
    def owner(self) -> Principal:
        """Who the settings say this is."""
        return Principal(self.settings.tenant, self.settings.user, tuple(self.settings.groups))

    async def do(self, who: Principal, work: Callable[[Memory], Value], *, writes: bool = False) -> Value:
        """Return what comes of ``work`` on the memory that a principal sees."""
        import anyio

        pool = self._writer if writes else self._readers
        future: Future[Value] = pool.submit(lambda: work(self._of(who)))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if writes and not future.cancelled():
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(_ended, future)
            raise

    def memory(self) -> Memory:
        """Return the owner's memory, opened now if nobody has needed it yet."""
        return self._of(self.owner)

    def _of(self, who: Principal) -> Memory:
        with self._guard:
            if self._memory is None:
                self._memory = self._opening()
            if (who.tenant, who.user, who.groups) == (self.owner.tenant, self.owner.user, self.owner.groups):
                return self._memory
            if who not in self._seen:
                self._seen[who] = self._memory.seen_by(who.user, groups=who.groups, tenant=who.tenant)
                while len(self._seen) > MOST_PRINCIPALS:
                    self._seen.popitem(last=False)
            self._seen.move_to_end(who)
            return self._seen[who]

    def _open(self) -> Memory:
        from scrubjay.engine import Memory

        # Of the process: standard error, where a person finds that texts went to a service.
        say = logging.getLogger("scrubjay").warning
        return Memory.open(settings=self.settings, announce=say, log=self.log)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        """Let what runs come to its end, drop what waits, and close the store."""
        for pool in (self._readers, self._writer):
            pool.shutdown(wait=True, cancel_futures=True)
        if self._memory is not None:
            self._memory.close()


def _ended(future: Future[Value]) -> None:
    """Wait for a call whose answer nobody wants any more; its failure is nobody's either."""
    with suppress(Exception):
        future.exception()
