"""A wrong argument, and a call after `close`, is answered with a clear error and changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scrubjay import AsyncMemory, Memory, NewMemory
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError, NotFoundError


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder()])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda m: m.search(5), r"search\(\): query is an int, not a text: 5\. Nothing was done\."),
        (lambda m: m.search("x", limit="6"), r"limit is a str, not a whole number: '6'"),
        (lambda m: m.search("x", limit=True), "not a whole number"),
        (lambda m: m.search("x", since=5), "not a text or a date"),
        (lambda m: m.search("x", explain="yes"), "not True or False"),
        (lambda m: m.get(5), r"ids is an int, not a text or a list of texts"),
        (lambda m: m.forget(5), "not a text or a list of texts"),
        (lambda m: m.sync(5), "not a text or a path"),
        (lambda m: m.context(5), "not a text"),
        (lambda m: m.thread("x", limit="4"), "not a whole number"),
        (lambda m: m.history(5), "not a text"),
        (lambda m: m.consolidate(after_days="two"), "not a whole number"),
        (lambda m: Memory.open(5), r"open\(\): url is an int, not a text or a path"),
    ],
)
def test_an_argument_of_a_wrong_type_is_named_with_what_it_must_be(
    memory: Memory, call: Callable[[Any], object], told: str
) -> None:
    with memory, pytest.raises(InputError, match=told):
        call(memory)


def test_a_closed_memory_refuses_every_call_and_is_closed_twice_without_harm(
    memory: Memory, tmp_path: Path
) -> None:
    other = memory.seen_by("bob")
    memory.add("the kayak leaks")
    memory.close()
    for call in (
        lambda: memory.search("kayak"),
        lambda: memory.add("the sauna is warm"),
        memory.status,
        lambda: memory.concepts,
        memory.__enter__,
        lambda: other.search("kayak"),
    ):
        with pytest.raises(InputError, match=r"was closed\. Nothing was done") as told:
            call()
        assert "Memory.open" in told.value.hint
    memory.close()
    with Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder()]) as again:
        assert again.status().memories == 1


def test_an_asynchronous_memory_is_opened_in_an_async_with_or_awaited(tmp_path: Path) -> None:
    async def run() -> None:
        async with AsyncMemory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder()]) as memory:
            await memory.add("the kayak leaks")
        with pytest.raises(InputError, match="was closed"):
            await memory.search("kayak")
        memory = await AsyncMemory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder()])
        assert len((await memory.search("kayak")).results) == 1
        await memory.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda m: m.seen_by(""), r"seen_by\(\): user is empty"),
        (lambda m: m.seen_by(" "), r"seen_by\(\): user is empty"),
        (lambda m: m.seen_by("bo", tenant=""), r"seen_by\(\): tenant is empty"),
        (lambda m: m.seen_by("bo", groups=["crew", ""]), r"seen_by\(\): a group is empty"),
        (lambda m: m.seen_by("bo", groups="crew"), r"seen_by\(\): groups is one text, 'crew'"),
        (lambda m: asyncio.run(AsyncMemory(m).seen_by("")), "user is empty"),
        (lambda m: Memory.open("memory://", user=""), r"open\(\): user is empty"),
        (lambda m: Memory.open("memory://", settings=Settings(user="")), r"open\(\): user is empty"),
        (lambda m: Memory.open("memory://", tenant=""), r"open\(\): tenant is empty"),
        (lambda m: Memory.open("memory://", groups=[""]), r"open\(\): a group is empty"),
    ],
)
def test_no_principal_has_an_empty_name(memory: Memory, call: Callable[[Any], object], told: str) -> None:
    with memory, pytest.raises(InputError, match=told):
        call(memory)


def test_a_block_closes_only_what_it_opened(memory: Memory) -> None:
    async def run() -> None:
        async with AsyncMemory(memory.seen_by("bo")) as bo, await bo.seen_by("eve") as eve:
            assert not (await eve.conflicts())
        everyone = AsyncMemory(memory)
        async with await everyone.seen_by("bo") as bo:
            await bo.add("the kayak leaks")
        assert (await everyone.status()).memories == 0

    with memory:
        with memory.seen_by("bo") as bo:
            bo.add("the sauna is warm")
        assert memory.status().memories == 0
        asyncio.run(run())
        assert bo.search("sauna").results
    with pytest.raises(InputError, match="was closed"):
        bo.search("sauna")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["text"], r"add_many\(\): memories\[0\] is a str, not a NewMemory: 'text'"),
        ([NewMemory("the kayak leaks"), {"content": "x"}], r"memories\[1\] is a dict, not a NewMemory"),
        (NewMemory("the kayak leaks"), r"memories is a NewMemory, not a list of NewMemory"),
        ("text", r"memories is a str, not a list of NewMemory"),
        (None, r"memories is a NoneType, not a list of NewMemory"),
    ],
)
def test_add_many_names_the_item_that_is_no_new_memory(memory: Memory, given: Any, told: str) -> None:
    with memory:
        for call in (memory.add_many, lambda some: asyncio.run(AsyncMemory(memory).add_many(some))):
            with pytest.raises(InputError, match=told):
                call(given)
        assert memory.status().memories == 0


def test_a_store_of_a_mistyped_path_is_not_created_with_all_its_folders(tmp_path: Path) -> None:
    wrong = tmp_path / "typo" / "agents" / "memory.db"
    for url in (wrong, str(wrong), f"sqlite:///{wrong}"):
        with pytest.raises(NotFoundError, match=r"There is no folder .*/typo\b.* Nothing was created"):
            Memory.open(url, user="ann", embedders=[HashEmbedder()])
    assert not (tmp_path / "typo").exists()
    with Memory.open(tmp_path / "agents" / "memory.db", user="ann", embedders=[HashEmbedder()]) as memory:
        assert memory.status().memories == 0
