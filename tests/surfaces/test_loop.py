"""A large body is worked on beside the event loop: others are answered meanwhile."""

from __future__ import annotations

import asyncio
import time

import httpx2
import pytest
from http_here import LOCAL, held

from fuzz.growth import steep
from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.server.app import create_app
from scrubjay.server.proxy.formats import OpenAIResponseParser, ResponseReader
from scrubjay.server.session import Session

SHARE = 0.4
"""Of a request's processor time, what the loop's own thread may take of it."""


def here() -> Session:
    settings = load_settings()
    return Session(settings, lambda: Memory.open(settings=settings, embedders=[HashEmbedder(64)]))


@pytest.mark.parametrize("body", ['{"unknown": "' + "\\ud83d " * 500_000 + '"}'], ids=["halves of emoji"])
def test_a_body_of_megabytes_is_mended_beside_the_loop(environ: dict[str, str], body: str) -> None:
    async def asked() -> tuple[float, float]:
        with here() as session:
            app = create_app(session, held(environ), tokenless=LOCAL)
            transport = httpx2.ASGITransport(app=app, client=("127.0.0.1", 50_000))
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
                await client.post("/v1/search", json={"query": "what is loaded first"})
                own, all_of_it = time.thread_time(), time.process_time()
                said = await client.post(
                    "/v1/memories", content=body.encode(), headers={"content-type": "application/json"}
                )
                assert said.status_code == 422, said.text
                return time.thread_time() - own, time.process_time() - all_of_it

    own, all_of_it = asyncio.run(asked())
    assert own < SHARE * all_of_it, (own, all_of_it)


def test_a_long_line_of_an_answer_that_comes_in_small_pieces_is_heard_in_linear_time() -> None:
    def hear(text: str) -> None:
        ear, line = ResponseReader(OpenAIResponseParser(), streamed=True), text.encode()
        for at in range(0, len(line), 512):
            ear.feed(line[at : at + 512])
        ear.end()

    assert (one := steep("hear", hear, "one line", "a" * 1_000_000, "a" * 4_000_000)) is None, str(one)
