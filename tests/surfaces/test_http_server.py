"""The server over HTTP: one address for the interface and for MCP, and who is let in."""

from __future__ import annotations

from typing import Any

import httpx2
from http_server import serving
from mcp.client import Client
from mcp_clients import call, over_http, talk

from scrubjay import Memory
from scrubjay.api.auth import Principal, TokenStore


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


def test_what_mcp_adds_http_finds_on_the_same_server(environ: dict[str, str]) -> None:
    with serving(environ) as url:

        async def adds(client: Client) -> None:
            await call(client, "memory_add", content="The zeppelin lands on platform nine.")

        talk(over_http(f"{url}/mcp"), adds)
        found = (
            httpx2.post(f"{url}/v1/search", json={"query": "zeppelin"}, timeout=60).raise_for_status().json()
        )
        assert [each["snippet"] for each in found["results"]] == ["The zeppelin lands on platform nine."]
        assert httpx2.get(f"{url}/healthz", timeout=60).json() == {"status": "ok"}
        assert httpx2.get(f"{url}/readyz", timeout=60).json() == {"status": "ready"}


def test_a_token_sees_what_its_principal_sees_and_does_what_its_scopes_allow(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    ann = tokens.create("ann", Principal("default", "ann"), None)
    eve = tokens.create("eve", Principal("default", "eve", scopes=("read",)), None)
    blind = tokens.create("blind", Principal("default", "ann", scopes=("write",)), None)
    with Memory.open(environ["SCRUBJAY_STORE"], user="ann") as memory:
        memory.add("The zeppelin code is 4711.")
    with serving(environ, "--require-token") as url:

        def ask(secret: str) -> Any:
            return httpx2.post(
                f"{url}/v1/search", json={"query": "zeppelin code"}, headers=bearer(secret), timeout=60
            )

        assert len(ask(ann).json()["results"]) == 1
        assert ask(eve).json()["results"] == []
        assert ask(blind).status_code == 403
        assert "lacks the `read` scope" in ask(blind).json()["error"]["message"]
        assert ask("scrubjay_unknown").status_code == 401
        assert httpx2.get(f"{url}/healthz", timeout=60).status_code == 200

        async def writes(client: Client) -> None:
            said = await client.call_tool("memory_add", {"content": "Eve was here."})
            assert said.is_error
            assert "lacks the `write` scope" in said.structured_content["error"]["message"]

        talk(over_http(f"{url}/mcp", eve), writes)


UNAUTHENTICATED = [
    ({"host": "evil.example"}, 421),
    ({"origin": "https://evil.example"}, 403),
    ({"origin": "null"}, 403),
    ({"x-forwarded-for": "203.0.113.9"}, 401),
    ({"forwarded": "for=203.0.113.9"}, 401),
    ({"authorization": "Basic YTpi"}, 401),
    ({"origin": "http://localhost:3000"}, 403),
    ({"sec-fetch-site": "same-site"}, 403),
    ({"sec-fetch-site": "none"}, 200),
    ({"content-type": "text/plain"}, 415),
    ({"x-forwarded-proto": "https"}, 401),
    ({"sec-fetch-site": "cross-site"}, 403),
    ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 403),
    ({"sec-fetch-site": "same-origin"}, 200),
]


def test_without_a_token_only_this_machine_is_the_owner(environ: dict[str, str]) -> None:
    with serving(environ) as url:
        for headers, status in UNAUTHENTICATED:
            response = httpx2.post(
                f"{url}/v1/search", json={"query": "anything"}, headers=headers, timeout=60
            )
            assert response.status_code == status, headers


def test_metrics_count_requests_by_route_and_tell_what_is_stored_in_the_callers_sight(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    eve = tokens.create("eve", Principal("default", "eve", scopes=("read",)), None)
    with Memory.open(environ["SCRUBJAY_STORE"], user="ann") as memory:
        memory.add("The zeppelin code is 4711.")
    with serving(environ | {"SCRUBJAY_USER": "ann"}, "--open") as url:
        for _ in range(3):
            httpx2.post(f"{url}/v1/search", json={"query": "zeppelin"}, timeout=60).raise_for_status()
        assert httpx2.get(f"{url}/secret-name", timeout=60).status_code == 404
        told = httpx2.get(f"{url}/metrics", timeout=60).text
        assert 'scrubjay_http_requests_total{method="POST",route="/v1/search",status="200"} 3.0' in told
        assert 'scrubjay_http_request_seconds_count{method="POST",route="/v1/search"} 3.0' in told
        assert 'scrubjay_memories{tier="observation"} 1.0' in told
        assert "scrubjay_store_bytes " in told
        assert "secret-name" not in told
        hers = httpx2.get(f"{url}/metrics", headers=bearer(eve), timeout=60).text
        assert 'scrubjay_memories{tier="observation"} 1.0' not in hers
        assert httpx2.get(f"{url}/metrics", headers=bearer("scrubjay_x"), timeout=60).status_code == 401
