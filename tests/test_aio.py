import asyncio
import inspect
from pathlib import Path

import pytest

from scrubjay.async_memory import AsyncCategories, AsyncConcepts, AsyncMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError
from scrubjay.memory import Memory
from scrubjay.services.dictionary import Categories, Concepts


def opened(path: Path) -> Memory:
    return Memory.open(path / "memory.db", user="ann", embedders=[HashEmbedder()])


@pytest.mark.parametrize(
    ("core", "awaited"),
    [(Memory, AsyncMemory), (Concepts, AsyncConcepts), (Categories, AsyncCategories)],
)
def test_every_call_of_the_facade_can_be_awaited_with_the_same_arguments(core: type, awaited: type) -> None:
    every = {name: value for kind in reversed(core.__mro__[:-1]) for name, value in vars(kind).items()}
    public = {name for name in every if not name.startswith("_")}
    assert public == {name for name in vars(awaited) if not name.startswith("_")}
    parts = {name for name in public if isinstance(every[name], property)}
    assert parts == ({"concepts", "categories"} if core is Memory else set())
    for name in public - parts - {"open", "close"}:
        assert inspect.signature(getattr(awaited, name)) == inspect.signature(getattr(core, name))
        assert inspect.iscoroutinefunction(getattr(awaited, name))


def test_concepts_categories_and_links_can_be_awaited(tmp_path: Path) -> None:
    async def run() -> None:
        async with AsyncMemory(opened(tmp_path)) as memory:
            one, other = [await memory.add(f"the kayak number {n} leaks") for n in range(2)]
            assert (await memory.concepts.add("kayak")).linked == 2
            assert [known.name for known in await memory.concepts.list(query="KAY")] == ["kayak"]
            assert await memory.categories.list(kind="topic") == ()
            await memory.link(one.id, other.id, "supersedes")
            assert [link.kind for link in await memory.links(other.id) if link.given] == ["supersedes"]

    asyncio.run(run())


def test_another_user_of_the_same_store_sees_and_writes_their_own(tmp_path: Path) -> None:
    async def run() -> None:
        async with AsyncMemory(opened(tmp_path)) as memory:
            other = await memory.seen_by("bob")
            await asyncio.gather(memory.add("the kayak leaks"), other.add("the sauna is warm"))
            assert [len((await one.search("kayak sauna")).results) for one in (memory, other)] == [1, 1]

    asyncio.run(run())


def test_searches_and_additions_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    async def run() -> set[str]:
        async with AsyncMemory(opened(tmp_path)) as memory:
            added = await asyncio.gather(*(memory.add(f"note number {n} about jays") for n in range(12)))
            answers = await asyncio.gather(*(memory.search("jays", limit=20) for _ in range(6)))
            assert all(len(answer.results) == 12 for answer in answers)
            return {one.id for one in added}

    assert len(asyncio.run(run())) == 12


def test_the_event_loop_goes_on_while_a_call_works(tmp_path: Path) -> None:
    async def run() -> bool:
        async with AsyncMemory(opened(tmp_path)) as memory:
            task = asyncio.ensure_future(memory.add("a note"))
            await asyncio.wait(
                [task, asyncio.ensure_future(asyncio.sleep(0))], return_when=asyncio.FIRST_COMPLETED
            )
            ran_meanwhile = not task.done()
            await task
            return ran_meanwhile

    assert asyncio.run(run())


def test_errors_reach_the_one_who_awaits(tmp_path: Path) -> None:
    async def run() -> None:
        async with AsyncMemory(opened(tmp_path)) as memory:
            await memory.add("")

    with pytest.raises(InputError, match="empty"):
        asyncio.run(run())


def test_an_opening_that_nobody_awaited_says_how_to_open() -> None:
    opening = AsyncMemory.open("memory://")
    with pytest.raises(AttributeError, match=r"not open yet.*'add'.*await AsyncMemory\.open"):
        opening.add("x")
