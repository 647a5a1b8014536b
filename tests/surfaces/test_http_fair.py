"""A crowd of one person's requests, and the others who ask meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

import pytest
from gated_model import Gated
from http_here import asking, bearer, good, held, refused
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.auth import Principal
from scrubjay.config.loader import load_settings
from scrubjay.server.session import MAX_CONCURRENT_READS, Session

ANN, BOB, EVE = (Principal("default", name) for name in ("ann", "bob", "eve"))

JSON = {"content-type": "application/json"}


@contextmanager
def shut(model: Gated) -> Iterator[None]:
    """Nothing is answered in this block; it ends when who asked in it may go on."""
    while model.entered.acquire(blocking=False):
        pass
    model.open.clear()
    try:
        yield
    finally:
        model.open.set()


def search(client: TestClient, shown: dict[str, str], query: str = "kayak") -> Any:
    return client.get("/v1/search", params={"query": query}, headers=shown)


def test_eighty_threads_of_one_token_turn_nobody_else_away(environ: dict[str, str]) -> None:
    tokens, model, crowd = held(environ), Gated(), 80
    eve, bob = (bearer(tokens, who.user, who) for who in (EVE, BOB))
    with asking(environ, embedder=model) as client, ThreadPoolExecutor(crowd + 1) as threads:
        good(client.post("/v1/memories", json={"content": "The kayak leaks.", "visibility": "public"}), 201)
        with shut(model):
            asked = [threads.submit(search, client, eve) for _ in range(crowd)]
            most = MAX_CONCURRENT_READS + load_settings().server.most_waiting
            early = [each.result() for _, each in zip(range(crowd - most), as_completed(asked), strict=False)]
            for said in early:
                assert "yours" in refused(said, 503)
                assert int(said.headers["retry-after"]) >= 1
            other = threads.submit(search, client, bob)
            # Who makes room for the other is the one who has most.
            left = [each for each in asked if not each.done()]
            assert next(as_completed([other, *left], timeout=60)) is not other
            assert good(client.get("/readyz")) == {"status": "ready"}
            assert good(client.get("/healthz")) == {"status": "ok"}
            assert not other.done()
        assert len(good(other.result(60))["results"]) == 1
        codes = [each.result(60).status_code for each in asked]
        assert set(codes) == {200, 503}
        assert codes.count(503) <= crowd - most + 2  # one for the other, one for what the server asks itself


@pytest.mark.parametrize("writes", [False, True], ids=["reads", "writes"])
def test_who_waits_takes_turns_with_the_others_who_wait(environ: dict[str, str], writes: bool) -> None:
    begun: list[str] = []
    gate, full = threading.Event(), threading.Semaphore(0)

    def holds(_memory: Memory) -> None:
        full.release()
        assert gate.wait(60)

    async def main(session: Session) -> None:
        do = session.write if writes else session.read
        slots = 1 if writes else MAX_CONCURRENT_READS
        crowd = [asyncio.ensure_future(do(EVE, holds)) for _ in range(slots)]
        for _ in range(slots):
            assert await asyncio.to_thread(full.acquire, timeout=60)
        for who in (EVE,) * 30 + (BOB,) * 3 + (ANN,) * 3:
            work = do(who, lambda _, name=who.user: begun.append(name))
            crowd.append(asyncio.ensure_future(work))
        await asyncio.sleep(0)  # all of them have asked
        gate.set()
        await asyncio.gather(*crowd)

    with Session(load_settings(), lambda: Memory.open("memory://", user="ann")) as session:
        asyncio.run(main(session))
    assert sorted(begun) == ["ann"] * 3 + ["bob"] * 3 + ["eve"] * 30
    if writes:  # one after the other: the order is known
        assert begun[:9] == ["eve", "bob", "ann"] * 3
    else:  # eight at once: nobody waits for more than a round of the others
        assert {"ann", "bob"} <= set(begun[: MAX_CONCURRENT_READS + 3])


def test_a_person_with_many_tokens_has_one_persons_places(environ: dict[str, str]) -> None:
    tokens, model = held(environ), Gated()
    of_eve = [bearer(tokens, f"eve{n}", EVE) for n in range(40)]
    bob = bearer(tokens, "bob", BOB)
    with asking(environ, embedder=model) as client, ThreadPoolExecutor(81) as threads:
        good(client.post("/v1/memories", json={"content": "The kayak leaks.", "visibility": "public"}), 201)
        with shut(model):
            asked = [threads.submit(search, client, shown) for shown in of_eve * 2]
            early = [each.result() for _, each in zip(range(8), as_completed(asked), strict=False)]
            assert {said.status_code for said in early} == {503}
            other = threads.submit(search, client, bob)
            left = [each for each in asked if not each.done()]
            assert next(as_completed([other, *left], timeout=60)) is not other
        assert other.result(60).status_code == 200


def test_a_probe_under_load_is_answered_once_for_all_who_ask(environ: dict[str, str]) -> None:
    model = Gated()
    with asking(environ, embedder=model) as client, ThreadPoolExecutor(MAX_CONCURRENT_READS + 20) as threads:
        good(client.post("/v1/memories", json={"content": "The kayak leaks."}), 201)
        with shut(model):
            asked = [threads.submit(search, client, {}) for _ in range(MAX_CONCURRENT_READS + 4)]
            for _ in range(MAX_CONCURRENT_READS):
                assert model.entered.acquire(timeout=60)
            probes = [threads.submit(client.get, "/readyz") for _ in range(16)]
            assert {each.result(60).status_code for each in probes} == {200}
        assert {each.result(60).status_code for each in asked} == {200}


def test_nobody_waits_for_embeddings_and_they_end_when_their_client_goes(environ: dict[str, str]) -> None:
    model, crowd = Gated(), MAX_CONCURRENT_READS + 2
    body = json.dumps({"model": model.model.name, "input": ["A kayak."] * 200}).encode()
    with asking(environ, embedder=model) as client, ThreadPoolExecutor(crowd) as threads:
        good(client.post("/v1/memories", json={"content": "The kayak leaks."}), 201)
        portal = client.portal
        assert portal is not None
        left = portal.call(asyncio.Event)
        with shut(model):
            asked = [threads.submit(portal.call, leaving, client.app, body, left) for _ in range(crowd)]
            assert model.entered.acquire(timeout=60)
            assert len(good(client.get("/v1/memories"))["memories"]) == 1
            portal.call(left.set)
        assert [each.result(60) for each in asked] == [499] * crowd
        further = 0
        while model.entered.acquire(blocking=False):
            further += 1
        assert further < crowd  # each of the crowd waited with its first batch at most
        assert len(good(client.post("/v1/embeddings", content=body, headers=JSON))["data"]) == 200


def test_embeddings_of_two_people_take_turns(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRUBJAY_SERVER_MOST_WAITING", "3")
    tokens, model = held(environ), Gated()
    eve, bob = (bearer(tokens, who.user, who) for who in (EVE, BOB))
    with asking(environ, embedder=model) as client, ThreadPoolExecutor(5) as threads:

        def embed(shown: dict[str, str], count: int) -> Any:
            wanted = {"model": model.model.name, "input": ["A kayak."] * count}
            return client.post("/v1/embeddings", json=wanted, headers=shown)

        with shut(model):
            large = [threads.submit(embed, eve, 2_048) for _ in range(4)]
            assert model.entered.acquire(timeout=60)
            small = threads.submit(embed, bob, 1)
            displaced = next(as_completed(large, timeout=60))  # by the small one, which waits from then on
            assert displaced.result().status_code == 503
        large.remove(displaced)
        assert next(as_completed([small, *large], timeout=60)) is small
        assert {each.result(60).status_code for each in [small, *large]} == {200}


async def leaving(app: Any, body: bytes, left: asyncio.Event) -> int:
    """Ask for embeddings, be gone when `left` is set, and return the status that nobody reads."""
    pieces = [{"type": "http.request", "body": body, "more_body": False}]
    statuses: list[int] = []

    async def receive() -> Any:
        if pieces:
            return pieces.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        statuses.extend([message["status"]] if message["type"] == "http.response.start" else [])

    head = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/v1/embeddings", "raw_path": b"/v1/embeddings", "root_path": "", "query_string": b"",
        "headers": [*head, (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 80), "state": {},
    }  # fmt: skip
    await app(scope, receive, send)
    return statuses[0]
