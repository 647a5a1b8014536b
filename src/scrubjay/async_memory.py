"""AsyncMemory: the public API for programs with an event loop; the synchronous core runs in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from scrubjay.errors import InputError
from scrubjay.memory import Memory
from scrubjay.services.dictionary import Categories, Concepts

if TYPE_CHECKING:
    from types import TracebackType


P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

MAX_THREADS: Final = 4
"""Calls that run at the same time; more would wait for the interpreter and for the store's one writer."""


class _Threaded(Generic[T]):
    def __init__(self, twin: T, threads: ThreadPoolExecutor) -> None:
        self._twin = twin
        self._threads = threads


def _in_thread(
    method: Callable[Concatenate[T, P], R],
) -> Callable[Concatenate[_Threaded[T], P], Coroutine[Any, Any, R]]:
    @wraps(method)
    async def call(self: _Threaded[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        try:
            done = loop.run_in_executor(self._threads, partial(method, self._twin, *args, **kwargs))
        except RuntimeError as error:  # the threads were shut down
            raise InputError(
                "This AsyncMemory was closed. Nothing was done.", hint="open it again"
            ) from error
        return await done

    return call


class AsyncConcepts(_Threaded[Concepts]):
    """`Concepts` whose calls can be awaited."""

    list = _in_thread(Concepts.list)
    show = _in_thread(Concepts.show)
    web = _in_thread(Concepts.web)
    add = _in_thread(Concepts.add)
    add_many = _in_thread(Concepts.add_many)
    add_file = _in_thread(Concepts.add_file)
    merge = _in_thread(Concepts.merge)
    rename = _in_thread(Concepts.rename)
    remove = _in_thread(Concepts.remove)


class AsyncCategories(_Threaded[Categories]):
    """`Categories` whose calls can be awaited."""

    list = _in_thread(Categories.list)
    show = _in_thread(Categories.show)


M = TypeVar("M", bound="AsyncMemory")


class AsyncOpening(Generic[M]):
    """A store being opened: await it for the memory, or use it as an asynchronous context manager."""

    def __init__(self, opened: Callable[[], Coroutine[Any, Any, M]]) -> None:
        self._opened = opened
        self._memory: M | None = None

    def __await__(self) -> Generator[Any, Any, M]:
        return self._opened().__await__()

    if not TYPE_CHECKING:  # a type checker finds the mistake by itself

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"The memory is not open yet, so it has no {name!r}. Write `memory = await AsyncMemory.open(...)`, "
                "or `async with AsyncMemory.open(...) as memory:`, which also closes it.",
                name=name,
                obj=self,
            )

    async def __aenter__(self) -> M:
        self._memory = await self._opened()
        return self._memory

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._memory is not None:
            await self._memory.close()


class AsyncMemory(_Threaded[Memory]):
    """`Memory` whose calls can be awaited.

    Cancelling a call only stops waiting: what began in its thread is finished, so a write is done or not done.

    Example:
        >>> from scrubjay.embeddings.hash_embedder import HashEmbedder
        >>> async def remember() -> str:
        ...     async with AsyncMemory.open("memory://", user="ann", embedders=[HashEmbedder()]) as memory:
        ...         await memory.add("The launch code is blue bunny.")
        ...         return (await memory.search("launch code")).results[0].snippet
        >>> asyncio.run(remember())
        'The launch code is blue bunny.'
    """

    def __init__(self, memory: Memory, threads: ThreadPoolExecutor | None = None) -> None:
        super().__init__(memory, threads or ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="scrubjay"))
        self._borrowed = threads is not None

    @classmethod
    def open(cls, *args: Any, **options: Any) -> AsyncOpening[Self]:
        """Open a store; the arguments are those of `Memory.open`.

        Either ``async with AsyncMemory.open(…) as memory``, which closes it in the end, or
        ``memory = await AsyncMemory.open(…)``.
        """

        async def opened() -> Self:
            return cls(await asyncio.to_thread(partial(Memory.open, *args, **options)))

        return AsyncOpening(opened)

    async def seen_by(
        self, user: str, *, groups: Sequence[str] = (), tenant: str | None = None, curate: bool = False
    ) -> Self:
        """Return the same store, models and threads for another principal, as `Memory.seen_by`."""
        return type(self)(
            self._twin.seen_by(user, groups=groups, tenant=tenant, curate=curate), self._threads
        )

    sync = _in_thread(Memory.sync)
    sources = _in_thread(Memory.sources)
    redactions = _in_thread(Memory.redactions)
    remove_source = _in_thread(Memory.remove_source)
    watch = _in_thread(Memory.watch)
    search = _in_thread(Memory.search)
    thread = _in_thread(Memory.thread)
    look = _in_thread(Memory.look)
    records = _in_thread(Memory.records)
    timeline = _in_thread(Memory.timeline)
    conversations = _in_thread(Memory.conversations)
    conversation = _in_thread(Memory.conversation)
    conflicts = _in_thread(Memory.conflicts)
    context = _in_thread(Memory.context)
    page = _in_thread(Memory.page)
    vectors = _in_thread(Memory.vectors)
    get = _in_thread(Memory.get)
    add = _in_thread(Memory.add)
    add_many = _in_thread(Memory.add_many)
    forget = _in_thread(Memory.forget)
    forget_everything = _in_thread(Memory.forget_everything)
    update = _in_thread(Memory.update)
    rewrite = _in_thread(Memory.rewrite)
    archive = _in_thread(Memory.archive)
    restore = _in_thread(Memory.restore)
    feedback = _in_thread(Memory.feedback)
    history = _in_thread(Memory.history)
    skills = _in_thread(Memory.skills)
    audit = _in_thread(Memory.audit)
    undo_audit = _in_thread(Memory.undo_audit)
    retain = _in_thread(Memory.retain)
    consolidate = _in_thread(Memory.consolidate)
    restore_consolidated = _in_thread(Memory.restore_consolidated)
    undo = _in_thread(Memory.undo)
    links = _in_thread(Memory.links)
    link = _in_thread(Memory.link)
    unlink = _in_thread(Memory.unlink)
    export = _in_thread(Memory.export)
    import_ = _in_thread(Memory.import_)
    backup = _in_thread(Memory.backup)
    copy = _in_thread(Memory.copy)
    embed = _in_thread(Memory.embed)
    enrich = _in_thread(Memory.enrich)
    rebuild = _in_thread(Memory.rebuild)
    build_index = _in_thread(Memory.build_index)
    drop_index = _in_thread(Memory.drop_index)
    models = _in_thread(Memory.models)
    add_model = _in_thread(Memory.add_model)
    use_model = _in_thread(Memory.use_model)
    drop_model = _in_thread(Memory.drop_model)
    status = _in_thread(Memory.status)

    @property
    def concepts(self) -> AsyncConcepts:
        """The dictionary, as `Memory.concepts`."""
        return AsyncConcepts(self._twin.concepts, self._threads)

    @property
    def categories(self) -> AsyncCategories:
        """The hierarchy of topics and folders, as `Memory.categories`."""
        return AsyncCategories(self._twin.categories, self._threads)

    async def close(self) -> None:
        """Wait for running calls, then close the store."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._twin.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._borrowed:
            await asyncio.to_thread(self._threads.shutdown)
            await asyncio.to_thread(self._twin.__exit__, kind, error, trace)
