import asyncio
import inspect
from pathlib import Path

import pytest

from scrubjay.aio import AsyncMemory
from scrubjay.engine import Memory
from scrubjay.errors import InputError
from scrubjay.testing.hash_embedder import HashEmbedder


def opened(path: Path) -> Memory:
    return Memory.open(path / "memory.db", user="ann", embedders=[HashEmbedder()])


def test_every_call_of_the_facade_can_be_awaited_with_the_same_arguments() -> None:
    public = {name for name in vars(Memory) if not name.startswith("_")}
    assert public == {name for name in vars(AsyncMemory) if not name.startswith("_")}
    for name in public - {"open", "close"}:
        assert inspect.signature(getattr(AsyncMemory, name)) == inspect.signature(getattr(Memory, name))
        assert inspect.iscoroutinefunction(getattr(AsyncMemory, name))


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
