"""Clients of the revision 2026-07-28, which have no handshake and no session, beside those of 2025."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp_clients import ACCEPT, HELLO, call, over_http, running, short, talk
from test_mcp_stdio import Wire, wire  # noqa: F401 a fixture

from scrubjay.api.auth import Principal, TokenStore
from scrubjay.server.mcp.http import MAX_SESSIONS_PER_CLIENT

NEW = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "Heron CLI", "version": "1"},
}
"""What each request of that revision carries."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that needs no token of this machine."""
    root = tmp_path_factory.mktemp("shared")
    folders = {f"XDG_{name}_HOME": str(root / name.lower()) for name in ("CONFIG", "DATA", "CACHE")}
    with running(
        {"SCRUBJAY_STORE": str(root / "memory.db"), "SCRUBJAY_MODELS_BACKGROUND": "never", **folders}
    ) as at:
        yield at


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": ENVELOPE}}


def post(url: str, body: Any, token: str = "", **headers: str) -> httpx2.Response:
    """Send one request of that revision, by hand."""
    named = {"MCP-Protocol-Version": NEW, "Mcp-Method": body.get("method", "")}
    name = body.get("params", {}).get("name")
    named |= {"Mcp-Name": name} if name else {}
    shown = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.post(url, json=body, headers={**ACCEPT, **named, **shown, **headers}, timeout=60)


def found(answer: httpx2.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def test_clients_of_both_revisions_share_a_server_and_what_they_store(environ: dict[str, str]) -> None:
    added: dict[str, str] = {}

    def writes(revision: str) -> Any:
        async def use(client: Client) -> None:
            assert client.protocol_version == revision
            new = await call(client, "memory_add", content=f"The heron eats fish, says {revision}.")
            added[revision] = short(new["id"])

        return use

    async def reads(client: Client) -> None:
        told = await call(client, "memory_search", query="what does the heron eat?")
        assert {each["id"] for each in told["results"]} == {*added.values()}

    with running(environ) as url:
        old, new = over_http(url, mode="legacy"), over_http(url, mode=NEW)
        talk(old, writes("2025-11-25"))
        talk(new, writes(NEW))
        talk(old, reads)
        talk(new, reads, reads)


def test_a_request_without_a_session_is_answered_by_itself_and_opens_none(url: str) -> None:
    discovered = post(url, request("server/discover"))
    assert found(discovered)["supportedVersions"] == [NEW]
    assert "Search it before answering" in found(discovered)["instructions"]
    said = post(url, request("tools/call", name="memory_add", arguments={"content": "Ann likes tea."}))
    id = found(said)["structuredContent"]["id"]
    read = post(url, request("tools/call", name="memory_get", arguments={"ids": [id]}))
    assert "agent heron-cli\n> Ann likes tea." in found(read)["content"][0]["text"]
    assert not any("mcp-session-id" in each.headers for each in (discovered, said, read))


def test_a_client_may_keep_the_lists_and_asks_again_for_what_is_read_of_the_store(url: str) -> None:
    for method in (
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ):
        kept = found(post(url, request(method)))
        assert (kept["ttlMs"], kept["cacheScope"]) == (3_600_000, "public"), method
    uri = "scrubjay://status"
    status = found(post(url, request("resources/read", uri=uri), **{"Mcp-Name": uri}))
    assert (status.get("ttlMs", 0), status["cacheScope"]) == (0, "private")


def test_a_request_without_a_session_needs_a_token_and_sees_what_that_may_see(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    ann = tokens.create("ann", Principal("default", "ann"), None)
    eve = tokens.create("eve", Principal("default", "eve", scopes=("read",)), None)
    add = request("tools/call", name="memory_add", arguments={"content": "The zeppelin code is 4711."})
    search = request("tools/call", name="memory_search", arguments={"query": "zeppelin code"})
    with running(environ, "--require-token") as url:
        for token in ("", "wrong"):
            for body in (request("server/discover"), request("tools/list"), search):
                assert post(url, body, token).status_code == 401
        found(post(url, add, ann))
        assert "4711" in found(post(url, search, ann))["content"][0]["text"]
        assert found(post(url, search, eve))["content"][0]["text"] == "Nothing was found."
        refused = found(post(url, add, eve))
        assert (refused["isError"], refused["structuredContent"]["error"]["type"]) == (True, "ForbiddenError")


def test_a_request_without_a_session_is_answered_while_all_that_its_person_may_have_are_in_use(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    eve = tokens.create("eve", Principal("default", "eve"), None)
    with running(environ, "--require-token") as url, ExitStack() as stack:
        client = stack.enter_context(httpx2.Client(timeout=60, headers=ACCEPT, limits=httpx2.Limits()))
        shown = {"Authorization": f"Bearer {eve}"}
        for _ in range(MAX_SESSIONS_PER_CLIENT):
            session = client.post(url, json=HELLO, headers=shown).headers["mcp-session-id"]
            listening = client.stream("GET", url, headers={**shown, "mcp-session-id": session})
            assert stack.enter_context(listening).status_code == 200
        assert client.post(url, json=HELLO, headers=shown).status_code == 503
        assert len(found(post(url, request("tools/list"), eve))["tools"]) == 8


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("tools/list", {"Mcp-Method": "prompts/list"}, 400),
        ("tools/list", {"MCP-Protocol-Version": "2027-01-01"}, 400),
        ("initialize", {}, 404),
        ("nothing/such", {}, 404),
    ],
)
def test_a_request_whose_headers_and_body_disagree_or_that_nobody_serves_is_refused(
    url: str, method: str, headers: dict[str, str], status: int
) -> None:
    refused = post(url, request(method), **headers)
    assert refused.status_code == status
    assert refused.json()["error"]["message"]
    large = request("tools/call", name="memory_add", arguments={"content": "x" * 5_000_000})
    assert post(url, large).status_code == 413
    assert len(found(post(url, request("tools/list")))["tools"]) == 8


def test_over_stdio_what_is_too_large_or_no_request_is_refused_as_what_it_is(wire: Wire) -> None:  # noqa: F811
    wire.send(request("server/discover"))
    assert wire.read()["result"]["supportedVersions"] == [NEW]
    wire.send({**request("tools/call"), "id": 2, "params": "x"})
    wire.raw(json.dumps({**request("tools/call", text="x" * 5_000_000), "id": 3}).encode() + b"\n")
    wrong, large = wire.read(), wire.read()
    assert (wrong["id"], wrong["error"]["code"]) == (2, -32600)
    assert "Not a JSON-RPC 2.0 request" in wrong["error"]["message"]
    assert (large["id"], large["error"]["code"]) == (3, -32600)
    assert "more than 4,194,304 bytes" in large["error"]["message"]
    wire.end()
