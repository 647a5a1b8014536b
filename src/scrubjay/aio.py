"""Async: `Memory` for programs with an event loop. The core stays synchronous; work is done in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from scrubjay.engine import Memory

P = ParamSpec("P")
R = TypeVar("R")

THREADS: Final = 4
"""Calls that run at the same time; more would wait for the interpreter and for the store's one writer."""


def _in_thread(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    """Return a method of `Memory` as a coroutine with the same arguments, result, errors and documentation."""

    @wraps(method)
    async def call(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(method, self._memory, *args, **kwargs))

    return call


class AsyncMemory:
    """`Memory` whose calls can be awaited.

    A cancelled call stops being waited for; what it began in its thread is finished, so a write is done or not
    done, never half.

    Example:
        >>> from scrubjay.testing.hash_embedder import HashEmbedder
        >>> async def remember() -> str:
        ...     async with await AsyncMemory.open("memory://", user="ann", embedders=[HashEmbedder()]) as memory:
        ...         await memory.add("The launch code is blue bunny.")
        ...         return (await memory.search("launch code")).results[0].snippet
        >>> asyncio.run(remember())
        'The launch code is blue bunny.'
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="scrubjay")

    @classmethod
    async def open(cls, *args: Any, **options: Any) -> Self:
        """Open a store; the arguments are those of `Memory.open`."""
        return cls(await asyncio.to_thread(partial(Memory.open, *args, **options)))

    sync = _in_thread(Memory.sync)
    sources = _in_thread(Memory.sources)
    remove_source = _in_thread(Memory.remove_source)
    watch = _in_thread(Memory.watch)
    search = _in_thread(Memory.search)
    get = _in_thread(Memory.get)
    add = _in_thread(Memory.add)
    add_many = _in_thread(Memory.add_many)
    forget = _in_thread(Memory.forget)
    embed = _in_thread(Memory.embed)
    rebuild = _in_thread(Memory.rebuild)
    models = _in_thread(Memory.models)
    add_model = _in_thread(Memory.add_model)
    use_model = _in_thread(Memory.use_model)
    drop_model = _in_thread(Memory.drop_model)
    status = _in_thread(Memory.status)

    async def close(self) -> None:
        """Wait for the calls that run, then let go of the store."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
