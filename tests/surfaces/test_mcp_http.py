"""The MCP server over HTTP: who is let in, and what each of them sees."""

from __future__ import annotations

import json
import os
import socket
import stat
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_clients import ACCEPT, HELLO, call, over_http, refusal, running, short, talk

from scrubjay import Memory
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.server.mcp.http import MAX_SESSIONS_PER_CLIENT
from scrubjay.server.run import Address


def hello(url: str, **headers: str) -> httpx2.Response:
    return httpx2.post(
        url, json=HELLO, headers=ACCEPT | {k.replace("_", "-"): v for k, v in headers.items()}, timeout=60
    )


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_two_tokens_are_two_principals_and_nothing_leaks_between_them(
    environ, tokens: TokenStore, mode: str
) -> None:
    ann = tokens.create("ann", Principal("default", "ann", ("crew",), "claude"), None)
    eve = tokens.create("eve", Principal("default", "eve"), None)
    far = tokens.create("far", Principal("elsewhere", "ann", ("crew",)), None)
    with Memory.open(environ["SCRUBJAY_STORE"], user="ann", groups=["crew"]) as memory:
        shared = memory.add("The crew meets at the zeppelin hangar.", visibility="group", group="crew").id
    found: dict[str, Any] = {}

    with running(environ, "--require-token") as url:

        async def writes(client: Client) -> None:
            found["id"] = (await call(client, "memory_add", content="The zeppelin code is 4711."))["id"]
            seen = await call(client, "memory_search", query="zeppelin")
            assert {each["id"] for each in seen["results"]} == {short(found["id"]), short(shared)}
            (kept,) = (await call(client, "memory_get", ids=[found["id"]]))["memories"]
            assert kept["place"] == "agent claude"

        async def spies(client: Client) -> None:
            mine = found["id"]
            assert (await call(client, "memory_search", query="zeppelin code 4711"))["results"] == []
            assert (await call(client, "memory_get", ids=[mine, shared]))["unknown"] == [mine, shared]
            assert (await call(client, "memory_thread", query="zeppelin"))["memories"] == []
            told = await call(client, "memory_context", query="zeppelin code")
            assert told["text"] == "No relevant memories."
            few = [short(mine), short(shared)]
            assert (await call(client, "memory_get", ids=few))["unknown"] == few
            assert mine in (await refusal(client, "memory_forget", ids=[mine]))["message"]
            assert (await call(client, "memory_feedback", ids=[mine], verdict="wrong"))["unknown"] == [mine]
            assert mine in (await refusal(client, "memory_update", id=mine, content="x"))["message"]
            with pytest.raises(MCPError, match="No memory"):
                await client.read_resource(f"scrubjay://memory/{mine}")
            status = json.loads((await client.read_resource("scrubjay://status")).contents[0].text)
            assert status["memories"] == 0
            assert "store" not in status

        talk(over_http(url, ann, mode), writes)
        talk(over_http(url, eve, mode), spies)
        talk(over_http(url, far, mode), spies)

        async def still_there(client: Client) -> None:
            assert len((await call(client, "memory_search", query="zeppelin"))["results"]) == 2

        talk(over_http(url, ann, mode), still_there)


def test_nothing_in_a_request_widens_what_its_token_may_see(environ, tokens: TokenStore) -> None:
    eve = tokens.create("eve", Principal("default", "eve"), None)
    with running(environ, "--require-token") as url:

        async def use(client: Client) -> None:
            for name in ("user", "groups", "tenant", "visibility", "group", "agent", "scope", "origin"):
                error = await refusal(client, "memory_add", content="x y z", **{name: "ann"})
                assert f"takes no {name!r}" in error["message"]
            for place in (".", "/etc", "~/x", "../x"):
                error = await refusal(client, "memory_search", query="x", project=place)
                assert "a path, which cannot be resolved" in error["message"]

        talk(over_http(url, eve), use)


def test_a_session_belongs_to_the_token_that_began_it(environ, tokens: TokenStore) -> None:
    ann = tokens.create("ann", Principal("default", "ann"), None)
    eve = tokens.create("eve", Principal("default", "eve"), None)
    with running(environ, "--require-token") as url:
        session = hello(url, Authorization=f"Bearer {ann}").headers["mcp-session-id"]
        wish = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        headers = ACCEPT | {"mcp-session-id": session}
        stolen = httpx2.post(url, json=wish, headers=headers | {"Authorization": f"Bearer {eve}"}, timeout=60)
        assert stolen.status_code == 404
        own = httpx2.post(url, json=wish, headers=headers | {"Authorization": f"Bearer {ann}"}, timeout=60)
        assert own.status_code == 200


def test_an_unknown_an_expired_and_a_revoked_token_open_nothing(environ, tokens: TokenStore) -> None:
    good = tokens.create("good", Principal("default", "ann"), 3_600)
    old = tokens.create("old", Principal("default", "ann"), -1)
    # On this machine one may go without a token, but not with a wrong one.
    for options in (("--open",), ("--require-token",)):
        with running(environ, *options) as url:
            assert hello(url, Authorization=f"Bearer {good}").status_code == 200
            wrong = (
                "Bearer x",
                "Bearer",
                f"Bearer {old}",
                f"Bearer {good}x",
                f"Basic {good}",
                "Bearer " + "ä" * 9,
            )
            for each in wrong:
                refused = hello(url, Authorization=each.encode("latin-1"))
                assert refused.status_code == 401, each
                assert "scrubjay token create" in refused.json()["error"]["hint"]
                assert refused.headers["www-authenticate"].startswith("Bearer")
            assert hello(url).status_code == (200 if "--open" in options else 401)
    with running(environ) as url:
        tokens.revoke("good")
        assert hello(url, Authorization=f"Bearer {good}").status_code == 401


def test_without_a_token_only_this_machines_names_are_let_in(environ) -> None:
    with running(environ) as url:
        port = httpx2.URL(url).port
        assert hello(url, Host=f"localhost:{port}", Origin=f"http://localhost:{port}").status_code == 200
        assert hello(url, Host="localhost").status_code == 421
        assert hello(url, Origin=f"http://localhost:{port + 1}").status_code == 403
        assert hello(url, Host=f"rebound.example:{port}").status_code == 421
        assert hello(url, Origin="http://rebound.example").status_code == 403
        assert hello(url, Origin="null").status_code == 403


def test_half_an_emoji_is_taken_as_a_replaced_character(environ) -> None:
    with running(environ) as url:
        headers = ACCEPT | {"mcp-session-id": hello(url).headers["mcp-session-id"]}
        wish = (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_add",'
            b'"arguments":{"content":"Ann likes birds \\ud83d"}}}'
        )
        assert '"existed":false' in httpx2.post(url, content=wish, headers=headers, timeout=60).text.replace(
            " ", ""
        )

        async def use(client: Client) -> None:
            found = await call(client, "memory_search", query="birds")
            assert found["results"][0]["snippet"] == "Ann likes birds \ufffd"

        talk(over_http(url), use)


def test_clients_that_go_away_in_the_middle_leave_the_server_well(environ) -> None:
    with running(environ) as url:
        place = httpx2.URL(url)
        wish = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "x"}},
        }  # fmt: skip
        body = json.dumps(wish)
        head = "".join(f"{name}: {value}\r\n" for name, value in {**ACCEPT, "Host": place.host}.items())
        for sent in ("POST", "", body[:9], body):
            for _ in range(5):
                with socket.create_connection((place.host, place.port)) as raw:
                    length = f"Content-Length: {len(body)}\r\n\r\n"
                    raw.sendall(f"POST /mcp HTTP/1.1\r\n{head}{length}{sent}".encode())
        assert hello(url).status_code == 200


def test_an_address_that_others_reach_needs_a_token_to_start_and_to_be_used(cli, environ, tokens) -> None:
    said = cli.process("mcp", "--http", "0.0.0.0:0")
    assert (said.code, "scrubjay token create NAME" in said.err) == (2, True)
    secret = tokens.create("ann", Principal("default", "ann"), None)
    with running(environ, address="0.0.0.0:0") as url:
        here = url.replace("0.0.0.0", "127.0.0.1")
        assert hello(here).status_code == 401
        assert hello(here, Authorization=f"Bearer {secret}", Host="memory.example").status_code == 200


def test_a_file_of_tokens_that_others_may_read_lets_nobody_in(environ, tokens: TokenStore) -> None:
    secret = tokens.create("ann", Principal("default", "ann"), None)
    assert stat.S_IMODE(tokens.file.stat().st_mode) == 0o600
    with running(environ) as url:
        os.chmod(tokens.file, 0o644)
        refused = hello(url, Authorization=f"Bearer {secret}")
        assert refused.status_code == 503
        assert str(tokens.file) not in refused.text
        os.chmod(tokens.file, 0o600)
        assert hello(url, Authorization=f"Bearer {secret}").status_code == 200


def test_a_message_of_ten_megabytes_and_one_that_is_none_are_refused_and_the_server_goes_on(environ) -> None:
    with running(environ) as url:
        large = httpx2.post(url, content=b"x" * 10_000_000, headers=ACCEPT, timeout=60)
        assert (large.status_code, "4,194,304 bytes. Nothing was done" in large.text) == (413, True)
        for garbage in (b"", b"[", b"\xff\xfe", b"[1]", b'{"jsonrpc":"2.0"}', b'"\\ud83d"', b"[" * 100_000):
            assert 400 <= httpx2.post(url, content=garbage, headers=ACCEPT, timeout=60).status_code < 500, (
                garbage[:20]
            )
        assert hello(url).status_code == 200


def test_a_token_that_begins_sessions_without_end_keeps_its_newest_and_others_get_in(
    environ, tokens: TokenStore
) -> None:
    eve, bob = (tokens.create(name, Principal("default", name), None) for name in ("eve", "bob"))
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    with running(environ, "--require-token") as url, httpx2.Client(timeout=60, headers=ACCEPT) as client:

        def begun(token: str) -> httpx2.Response:
            return client.post(url, json=HELLO, headers={"Authorization": f"Bearer {token}"})

        def pinged(token: str, session: str) -> int:
            shown = {"Authorization": f"Bearer {token}", "mcp-session-id": session}
            return client.post(url, json=ping, headers=shown).status_code

        first = begun(bob).headers["mcp-session-id"]
        mine = [begun(eve).headers["mcp-session-id"] for _ in range(MAX_SESSIONS_PER_CLIENT + 5)]
        assert [pinged(eve, each) for each in mine[:6]] == [404] * 5 + [200]
        assert (pinged(eve, mine[-1]), pinged(bob, first)) == (200, 200)
        # The one just used is not the one that is idle longest.
        assert begun(eve).status_code == 200
        assert [pinged(eve, each) for each in mine[5:7]] == [200, 404]


def test_who_uses_all_sessions_that_one_may_have_is_told_so_and_others_get_in(
    environ, tokens: TokenStore
) -> None:
    eve, bob = (tokens.create(name, Principal("default", name), None) for name in ("eve", "bob"))
    with running(environ, "--require-token") as url, ExitStack() as stack:
        client = stack.enter_context(httpx2.Client(timeout=60, headers=ACCEPT, limits=httpx2.Limits()))
        shown = {"Authorization": f"Bearer {eve}"}
        for _ in range(MAX_SESSIONS_PER_CLIENT):
            session = client.post(url, json=HELLO, headers=shown).headers["mcp-session-id"]
            listening = client.stream("GET", url, headers={**shown, "mcp-session-id": session})
            assert stack.enter_context(listening).status_code == 200
        refused = client.post(url, json=HELLO, headers=shown)
        assert refused.status_code == 503
        assert f"{MAX_SESSIONS_PER_CLIENT} of your sessions" in refused.json()["error"]["message"]
        assert client.post(url, json=HELLO, headers={"Authorization": f"Bearer {bob}"}).status_code == 200


def test_answers_do_not_wait_for_acknowledgements() -> None:
    # asyncio turns Nagle's algorithm off for sockets whose protocol is named, and no others: 40 ms a call.
    with Address("127.0.0.1", 0).bind() as held:
        assert held.proto == socket.IPPROTO_TCP


def test_an_address_that_is_taken_or_is_none_is_an_error(cli, environ) -> None:
    with running(environ) as url:
        taken = cli.process("mcp", "--http", f"127.0.0.1:{httpx2.URL(url).port}")
        assert (taken.code, "Cannot listen on" in taken.err) == (4, True)
    for wrong in ("8765", "here:x", ":80", "127.0.0.1:70000"):
        assert cli("mcp", "--http", wrong).code == 2
    assert "needs --http" in cli("mcp", "--require-token").err
