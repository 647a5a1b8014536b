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


class _ThreadedProxy(Generic[T]):
    def __init__(self, target: T, threads: ThreadPoolExecutor) -> None:
        self._target = target
        self._threads = threads


def _run_in_thread(
    method: Callable[Concatenate[T, P], R],
) -> Callable[Concatenate[_ThreadedProxy[T], P], Coroutine[Any, Any, R]]:
    @wraps(method)
    async def call(self: _ThreadedProxy[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        try:
            pending = loop.run_in_executor(self._threads, partial(method, self._target, *args, **kwargs))
        except RuntimeError as error:  # the threads were shut down
            raise InputError(
                "This AsyncMemory was closed. Nothing was done.", hint="open it again"
            ) from error
        return await pending

    return call


class AsyncConcepts(_ThreadedProxy[Concepts]):
    """`Concepts` whose calls can be awaited."""

    list = _run_in_thread(Concepts.list)
    show = _run_in_thread(Concepts.show)
    network = _run_in_thread(Concepts.network)
    web = _run_in_thread(Concepts.web)
    add = _run_in_thread(Concepts.add)
    add_many = _run_in_thread(Concepts.add_many)
    add_file = _run_in_thread(Concepts.add_file)
    merge = _run_in_thread(Concepts.merge)
    rename = _run_in_thread(Concepts.rename)
    remove = _run_in_thread(Concepts.remove)


class AsyncCategories(_ThreadedProxy[Categories]):
    """`Categories` whose calls can be awaited."""

    list = _run_in_thread(Categories.list)
    show = _run_in_thread(Categories.show)


M = TypeVar("M", bound="AsyncMemory")


class AsyncOpening(Generic[M]):
    """A store being opened: await it for the memory, or use it as an asynchronous context manager."""

    def __init__(self, open_memory: Callable[[], Coroutine[Any, Any, M]]) -> None:
        self._open_memory = open_memory
        self._memory: M | None = None

    def __await__(self) -> Generator[Any, Any, M]:
        return self._open_memory().__await__()

    if not TYPE_CHECKING:  # a type checker finds the mistake by itself

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"The memory is not open yet, so it has no {name!r}. Write `memory = await AsyncMemory.open(...)`, "
                "or `async with AsyncMemory.open(...) as memory:`, which also closes it.",
                name=name,
                obj=self,
            )

    async def __aenter__(self) -> M:
        self._memory = await self._open_memory()
        return self._memory

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._memory is not None:
            await self._memory.close()


class AsyncMemory(_ThreadedProxy[Memory]):
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
            self._target.seen_by(user, groups=groups, tenant=tenant, curate=curate), self._threads
        )

    sync = _run_in_thread(Memory.sync)
    sources = _run_in_thread(Memory.sources)
    redactions = _run_in_thread(Memory.redactions)
    remove_source = _run_in_thread(Memory.remove_source)
    watch = _run_in_thread(Memory.watch)
    search = _run_in_thread(Memory.search)
    thread = _run_in_thread(Memory.thread)
    look = _run_in_thread(Memory.look)
    records = _run_in_thread(Memory.records)
    timeline = _run_in_thread(Memory.timeline)
    conversations = _run_in_thread(Memory.conversations)
    conversation = _run_in_thread(Memory.conversation)
    conflicts = _run_in_thread(Memory.conflicts)
    context = _run_in_thread(Memory.context)
    page = _run_in_thread(Memory.page)
    vectors = _run_in_thread(Memory.vectors)
    get = _run_in_thread(Memory.get)
    add = _run_in_thread(Memory.add)
    add_many = _run_in_thread(Memory.add_many)
    forget = _run_in_thread(Memory.forget)
    forget_everything = _run_in_thread(Memory.forget_everything)
    update = _run_in_thread(Memory.update)
    rewrite = _run_in_thread(Memory.rewrite)
    archive = _run_in_thread(Memory.archive)
    restore = _run_in_thread(Memory.restore)
    feedback = _run_in_thread(Memory.feedback)
    history = _run_in_thread(Memory.history)
    skills = _run_in_thread(Memory.skills)
    audit = _run_in_thread(Memory.audit)
    undo_audit = _run_in_thread(Memory.undo_audit)
    retain = _run_in_thread(Memory.retain)
    consolidate = _run_in_thread(Memory.consolidate)
    restore_consolidated = _run_in_thread(Memory.restore_consolidated)
    undo = _run_in_thread(Memory.undo)
    links = _run_in_thread(Memory.links)
    link = _run_in_thread(Memory.link)
    unlink = _run_in_thread(Memory.unlink)
    export = _run_in_thread(Memory.export)
    import_ = _run_in_thread(Memory.import_)
    backup = _run_in_thread(Memory.backup)
    copy = _run_in_thread(Memory.copy)
    embed = _run_in_thread(Memory.embed)
    enrich = _run_in_thread(Memory.enrich)
    rebuild = _run_in_thread(Memory.rebuild)
    build_index = _run_in_thread(Memory.build_index)
    drop_index = _run_in_thread(Memory.drop_index)
    models = _run_in_thread(Memory.models)
    add_model = _run_in_thread(Memory.add_model)
    use_model = _run_in_thread(Memory.use_model)
    drop_model = _run_in_thread(Memory.drop_model)
    status = _run_in_thread(Memory.status)

    @property
    def concepts(self) -> AsyncConcepts:
        """The dictionary, as `Memory.concepts`."""
        return AsyncConcepts(self._target.concepts, self._threads)

    @property
    def categories(self) -> AsyncCategories:
        """The hierarchy of topics and folders, as `Memory.categories`."""
        return AsyncCategories(self._target.categories, self._threads)

    async def close(self) -> None:
        """Wait for running calls, then close the store."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._target.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._borrowed:
            await asyncio.to_thread(self._threads.shutdown)
            await asyncio.to_thread(self._target.__exit__, kind, error, trace)
