"""Remember: the spool -> memories, by one worker behind everybody's back.

Of several servers on one store one does it. A turn is taken out of the spool when the store has it; what was written
by a process that was killed before that is written again by the next, and is the same memory, for its id is made of
what it says, of its turn and of its time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError, QuotaError
from scrubjay.verbs.errands import locked

if TYPE_CHECKING:
    from scrubjay.engine import Memory
    from scrubjay.memory.new import NewMemory
    from scrubjay.surfaces.proxy.losses import Losses
    from scrubjay.surfaces.proxy.spool import Spool, Waiting
    from scrubjay.surfaces.serve.session import Session

AT_ONCE: Final = 16
"""Turns of one write: others who write wait for it."""
LOOK: Final = 5.0
"""Seconds after which it is looked whether another server left something."""
LINGER: Final = 0.2
"""Seconds that a turn waits for others: a write of one costs what a write of sixteen does."""
LONGEST_REST: Final = 60.0
"""Seconds between two tries while the store cannot be written."""


class Worker:
    """Remembers what waits in a spool."""

    def __init__(self, session: Session, spool: Spool, losses: Losses) -> None:
        self._session = session
        self._spool = spool
        self._losses = losses
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._rest = 0.0

    def wake(self) -> None:
        """Tell that something waits."""
        self._idle.clear()
        self._wake.set()

    async def rested(self) -> None:
        """Return when all is remembered that was there when this was asked."""
        await self._idle.wait()

    async def run(self) -> None:
        """Remember what comes, until cancelled."""
        while True:
            try:
                await self.emptied()
                self._rest = 0.0
                if not self._wake.is_set():
                    self._idle.set()
            except Exception as error:  # noqa: BLE001 whatever it is, what waits is tried again, and the worker stays
                self._rest = min(max(1.0, self._rest * 2), LONGEST_REST)
                self._session.log.write("error", "proxy remember", error=type(error).__name__)
            if self._rest:
                await asyncio.sleep(self._rest)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._wake.wait()
            # What comes in a moment is written together, and not while the next question is being answered.
            await asyncio.sleep(LINGER)
            self._wake.clear()

    async def emptied(self) -> None:
        """Remember all that waits, unless another server does.

        Raises:
            ScrubjayError: The store does not take it now; it waits on.
            OSError: The spool cannot be read.
            sqlite3.Error: The same.
        """
        if not self._spool.path.exists():
            return
        descriptor = os.open(self._spool.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not locked(descriptor):
                return
            while batch := await asyncio.to_thread(self._spool.first, AT_ONCE):
                await self._batch(batch)
        finally:
            os.close(descriptor)

    async def _batch(self, batch: Sequence[Waiting]) -> None:
        try:
            await self._written(batch)
        except (InputError, QuotaError) as error:
            if len(batch) > 1:
                for one in batch:
                    await self._batch([one])
                return
            # It cannot be written: kept, it would keep all others from being remembered.
            if isinstance(error, QuotaError):
                self._losses.dropped(1, "quota", type(error).__name__)
            else:
                self._session.log.write("error", "proxy turn refused", error=type(error).__name__)
        await asyncio.to_thread(self._spool.done, batch)

    async def _written(self, batch: Sequence[Waiting]) -> None:
        def write(memory: Memory) -> Any:
            from scrubjay.engine import unnoted

            return unnoted(memory).add_many([new for one in batch for new in _pieces(one, self._session)])

        await self._session.do(batch[0].who, write, writes=True)


def _pieces(one: Waiting, session: Session) -> list[NewMemory]:
    """Return a turn as memories: a long one is several, as in a transcript."""
    from scrubjay.ingest.chunk import ChunkSettings, chunk
    from scrubjay.memory.new import NewMemory

    sizes = session.settings.chunk
    fields: dict[str, Any] = dict(one.said)
    text = str(fields.pop("content"))
    cuts = chunk(text, name="", settings=ChunkSettings(sizes.target, sizes.overlap, sizes.most))
    pieces = [text[each.start : each.end] for each in cuts]
    return [NewMemory(piece, **fields) for piece in pieces if piece.strip()]
