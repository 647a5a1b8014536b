"""What becomes of calls that run together, that last, and that are cancelled, before a model that waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from gated_model import Gated
from mcp.client import Client
from mcp_clients import call

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.server.mcp.server import build_server
from scrubjay.server.session import MAX_CONCURRENT_READS, Session


class Held(Gated):
    """A gated model that tests wait for."""

    async def reached(self, times: int = 1) -> None:
        """Wait until calls came to the model."""
        for _ in range(times):
            assert await anyio.to_thread.run_sync(lambda: self.entered.acquire(timeout=60))


@pytest.fixture
def model() -> Held:
    return Held()


@pytest.fixture
def session(tmp_path: Path, environ: dict[str, str], model: Held) -> Iterator[Session]:
    def opened() -> Memory:
        return Memory.open(tmp_path / "memory.db", user="ann", embedders=[model])

    with Session(load_settings(), opened) as made:
        yield made
        model.open.set()


def play(session: Session, use: Callable[[Client], Any], mode: str = "legacy", interval: float = 60) -> None:
    async def main() -> None:
        server = build_server(session, lambda _: session.owner, interval=interval)
        with anyio.fail_after(90):
            async with Client(server, mode=mode) as client:
                await use(client)

    anyio.run(main)


@contextmanager
def shut(model: Held) -> Iterator[None]:
    """What comes to the model in this block waits there, and goes on when the block ends."""
    while model.entered.acquire(blocking=False):
        pass
    model.open.clear()
    try:
        yield
    finally:
        model.open.set()


async def stored(client: Client) -> set[str]:
    found = await call(client, "memory_search", query="bird", limit=50)
    return {each["snippet"] for each in found["results"]}


def test_many_calls_at_once_are_all_answered(session: Session) -> None:
    async def use(client: Client) -> None:
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(lambda n=number: call(client, "memory_add", content=f"bird number {n}"))
                group.start_soon(lambda: call(client, "memory_search", query="bird"))
        assert await stored(client) == {f"bird number {n}" for n in range(20)}

    play(session, use)


def test_a_cancelled_search_stops_waiting_and_the_next_is_answered(session: Session, model: Held) -> None:
    async def use(client: Client) -> None:
        await call(client, "memory_add", content="bird one")
        async with anyio.create_task_group() as group:
            with shut(model):
                # More than there are readers: some run, the rest wait their turn.
                for _ in range(MAX_CONCURRENT_READS + 4):
                    group.start_soon(lambda: call(client, "memory_search", query="bird"))
                await model.reached(MAX_CONCURRENT_READS)
                group.cancel_scope.cancel()
        assert await stored(client) == {"bird one"}

    play(session, use)


def test_a_cancelled_write_that_has_not_begun_never_happens(session: Session, model: Held) -> None:
    async def use(client: Client) -> None:
        await call(client, "memory_add", content="bird zero")
        with shut(model):
            async with anyio.create_task_group() as first:
                first.start_soon(lambda: call(client, "memory_add", content="bird one"))
                await model.reached()
                async with anyio.create_task_group() as second:
                    second.start_soon(lambda: call(client, "memory_add", content="bird two"))
                    # The list is answered after the addition was read, so that one waits for its turn now.
                    await client.list_tools()
                    second.cancel_scope.cancel()
                await client.list_tools()
                model.open.set()
        assert await stored(client) == {"bird zero", "bird one"}

    play(session, use)


def test_a_cancelled_write_that_has_begun_is_whole(session: Session, model: Held) -> None:
    async def use(client: Client) -> None:
        await call(client, "memory_add", content="bird zero")
        with shut(model):
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: call(client, "memory_add", content="bird one"))
                await model.reached()
                group.cancel_scope.cancel()
        # A write comes after those before it, so the cancelled one has ended when this one has.
        await call(client, "memory_add", content="bird two")
        assert await stored(client) == {"bird zero", "bird one", "bird two"}

    play(session, use)


def test_a_session_that_ends_lets_a_write_that_has_begun_end_first(session: Session, model: Held) -> None:
    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: session.write(session.owner, lambda m: m.add("bird one")))
            await model.reached()
            group.cancel_scope.cancel()
            model.open.set()

    with shut(model):
        anyio.run(main)
    assert [each.snippet for each in session.memory().search("bird").results] == ["bird one"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_that_asked_for_progress_is_told_that_its_call_goes_on(
    session: Session, model: Held, mode: str
) -> None:
    async def use(client: Client) -> None:
        told: list[float] = []

        async def progress(done: float, _total: float | None, message: str | None) -> None:
            assert message == "memory_search is running"
            told.append(done)
            if len(told) == 3:
                model.open.set()

        session.memory().add(
            "bird one"
        )  # a search of an empty store asks no model, so that nothing would wait
        with shut(model):
            await client.call_tool("memory_search", {"query": "bird"}, progress_callback=progress)
            assert model.entered.acquire(blocking=False), "it never waited"
        assert told == sorted(told)
        assert len(told) >= 3

    play(session, use, mode, interval=0.001)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_error_is_data_for_a_client_that_asked_for_progress_too(session: Session, mode: str) -> None:
    async def progress(_done: float, _total: float | None, _message: str | None) -> None:
        raise AssertionError("it is over at once")

    async def use(client: Client) -> None:
        done = await client.call_tool("memory_search", {"query": 1}, progress_callback=progress)
        assert done.structured_content["error"]["type"] == "InputError"

    play(session, use, mode)


def test_a_store_that_fails_to_open_is_tried_again_by_the_next_call(environ: dict[str, str]) -> None:
    file = Path(environ["SCRUBJAY_STORE"])
    file.write_bytes(b"no database" * 1000)

    async def use(client: Client) -> None:
        broken = await client.call_tool("memory_search", {"query": "x"})
        assert broken.structured_content["error"]["exit_code"] == 4
        file.unlink()
        assert (await call(client, "memory_search", query="x"))["results"] == []

    with Session(load_settings()) as session:
        play(session, use)
