"""The server of the store is down, and back: each surface says so with a way out, and works again without a restart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from http_here import SCOPES, asking, bearer, good, refused
from test_mcp_stdio import Wire, tool

from scrubjay.api.auth import Principal, TokenStore

if TYPE_CHECKING:
    from store_contract.postgres_server import PostgresServer

BOAT = "The hull was painted blue by Ann Lee."
ASKED = "who painted the hull?"


@pytest.fixture
def served(postgres_server: PostgresServer, environ: dict[str, str], cli: Any) -> PostgresServer:
    environ["SCRUBJAY_STORE"] = postgres_server.url
    cli.patch.setenv("SCRUBJAY_STORE", postgres_server.url)
    return postgres_server


@contextmanager
def down(server: PostgresServer) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


def test_commands_end_with_4_and_the_way_out_while_it_is_down(
    cli: Any, served: PostgresServer, tmp_path: Path
) -> None:
    cli.patch.setenv("HOME", str(tmp_path))
    memory = cli("add", BOAT, "--json").json["id"]
    with down(served):
        for command in (
            ("search", ASKED), ("add", "New."), ("status",), ("context", ASKED), ("get", memory), ("sync",),
            ("embed",), ("consolidate",), ("forget", "--yes", memory), ("audit",), ("models",),
        ):  # fmt: skip
            done = cli(*command)
            assert done.code == 4, (command, done)
            assert "cannot be reached" in done.err
            assert "hint: check that the server runs" in done.err
        assert cli("search", ASKED, "--json").json["error"]["exit_code"] == 4
        found = cli("doctor")
        assert found.code == 1
        assert "cannot be reached" in found.out
        assert "fix: check that the server runs" in found.out
    assert cli("search", ASKED, "--json").json["results"][0]["id"] == memory
    assert cli("status").code == 0


def test_the_http_server_answers_503_while_it_is_down_and_goes_on_when_it_is_back(
    environ: dict[str, str], served: PostgresServer
) -> None:
    with asking(environ) as client:
        memory = good(client.post("/v1/memories", json={"content": BOAT}), 201)["id"]
        search = {"query": ASKED}
        assert good(client.post("/v1/search", json=search))["results"][0]["id"] == memory
        for _ in range(2):
            with down(served):
                assert good(client.get("/healthz")) == {"status": "ok"}
                # Connections that it has from before are found dead, and new ones are not to be had.
                for said in (
                    client.get("/readyz"),
                    client.post("/v1/search", json=search),
                    client.post("/v1/memories", json={"content": "New."}),
                    client.get("/v1/status"),
                    client.get(f"/v1/memories/{memory}"),
                    client.delete(f"/v1/memories/{memory}"),
                ):
                    assert "cannot be reached" in refused(said, 503)
                    assert "check that the server runs" in said.json()["error"]["hint"]
                    assert said.headers["retry-after"] == "1"
            assert good(client.get("/readyz")) == {"status": "ready"}
            assert good(client.post("/v1/search", json=search))["results"][0]["id"] == memory
        assert good(client.get("/v1/status"))["memories"] == 1
        assert good(client.post("/v1/memories", json={"content": "New."}), 201)


def test_without_admin_nobody_learns_host_user_and_database(
    environ: dict[str, str], served: PostgresServer, tokens: TokenStore
) -> None:
    reader = bearer(tokens, "reader", Principal("default", "bo", scopes=SCOPES["read"]))
    with down(served), asking(environ, open_here=False) as client:
        for said in (client.get("/readyz"), client.post("/v1/search", json={"query": ASKED}, headers=reader)):
            assert refused(said, 503) == "The store cannot be reached. Nothing more was written."
            assert said.headers["retry-after"] == "1"


def test_the_mcp_server_says_it_while_it_is_down_and_goes_on_when_it_is_back(
    environ: dict[str, str], served: PostgresServer
) -> None:
    """Also one that was started while there was no server to be reached."""
    served.stop()
    wire = Wire(environ)
    with wire.process:
        try:
            wire.greet()
            _failed(wire, 1)
            served.start()
            wire.send(tool(2, "memory_add", content=BOAT))
            assert not wire.read()["result"]["isError"]
            with down(served):
                _failed(wire, 3)
            wire.send(tool(4, "memory_search", query=ASKED))
            assert BOAT in json.dumps(wire.read()["result"]["content"])
            wire.end()
        finally:
            wire.process.kill()


def _failed(wire: Wire, number: int) -> None:
    for name, given in (("memory_search", {"query": ASKED}), ("memory_add", {"content": "New."})):
        wire.send(tool(number, name, **given))
        said = wire.read()["result"]
        assert said["isError"]
        assert "cannot be reached" in said["content"][0]["text"]
        assert "hint: check that the server runs" in said["content"][0]["text"]


def test_a_server_of_a_database_that_is_read_only_answers_searches_and_says_so(
    environ: dict[str, str], served: PostgresServer, cli: Any
) -> None:
    with asking(environ) as client:
        assert good(client.get("/readyz")) == {"status": "ready"}
        memory = good(client.post("/v1/memories", json={"content": BOAT}), 201)["id"]
    mark = "&" if "?" in served.url else "?"
    cli.patch.setenv("SCRUBJAY_STORE", f"{served.url}{mark}options=-c%20default_transaction_read_only%3Don")
    with asking(environ) as client:
        assert good(client.get("/readyz")) == {"status": "read-only"}
        assert good(client.post("/v1/search", json={"query": ASKED}))["results"][0]["id"] == memory
        assert "is read-only" in refused(client.post("/v1/memories", json={"content": "New."}), 503)
    doctor = cli("doctor")
    assert doctor.code == 1
    assert "problem  writes" in doctor.out
    assert "is read-only" in doctor.out
