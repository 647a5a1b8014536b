"""A large body is worked on beside the event loop: others are answered meanwhile."""

from __future__ import annotations

import asyncio
import time

import httpx2
import pytest
from http_here import held

from scrubjay import Memory
from scrubjay.config import load
from scrubjay.surfaces.http.app import application
from scrubjay.surfaces.serve.session import Session
from scrubjay.testing.hash_embedder import HashEmbedder

SHARE = 0.4
"""Of a request's processor time, what the loop's own thread may take of it."""


def here() -> Session:
    settings = load()
    return Session(settings, lambda: Memory.open(settings=settings, embedders=[HashEmbedder(64)]))


@pytest.mark.parametrize("body", ['{"query": "' + "\\ud83d " * 500_000 + '"}'], ids=["halves of emoji"])
def test_a_body_of_megabytes_is_mended_beside_the_loop(environ: dict[str, str], body: str) -> None:
    async def asked() -> tuple[float, float]:
        with here() as session:
            app = application(session, held(environ), open_here=True)
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                await client.post("/v1/search", json={"query": "what is loaded first"})
                own, all_of_it = time.thread_time(), time.process_time()
                said = await client.post(
                    "/v1/search", content=body.encode(), headers={"content-type": "application/json"}
                )
                assert said.status_code == 200, said.text
                return time.thread_time() - own, time.process_time() - all_of_it

    own, all_of_it = asyncio.run(asked())
    assert own < SHARE * all_of_it, (own, all_of_it)
