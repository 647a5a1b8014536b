"""The MCP server as a client meets it: a process of its own, spoken to through the SDK."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from scrubjay.verbs.tools import INSTRUCTIONS, TOOLS

Use = Callable[[Client], Awaitable[None]]


@pytest.fixture
def server(environ) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "scrubjay.surfaces.cli", "mcp", "--store", environ["SCRUBJAY_STORE"]],
        env={**os.environ, **environ},
    )


def talk(server: StdioServerParameters, use: Use, *others: Use) -> None:
    """Have clients, each with a server process of its own, use it at the same time."""

    async def one(each: Use) -> None:
        async with Client(stdio_client(server)) as client:
            await each(client)

    async def all_of_them() -> None:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for each in (use, *others):
                    group.start_soon(one, each)

    anyio.run(all_of_them)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    done = await client.call_tool(tool, arguments)
    assert not done.is_error, done.content
    (text,) = done.content
    assert json.loads(text.text) == done.structured_content
    return done.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    done = await client.call_tool(tool, arguments)
    assert done.is_error
    return done.structured_content["error"]


def test_the_tools_are_three_and_cost_little(server) -> None:
    async def use(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["memory_search", "memory_get", "memory_add"]
        text = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in listed])
        # A token is four characters or so; eight tools together may have 1,500.
        assert len(text + INSTRUCTIONS) / 4 < 620
        wanted = ("prior work", "decisions", "dates", "people", "preferences", "to-dos")
        assert all(each in listed[0].description for each in wanted)
        assert client.instructions == INSTRUCTIONS

    talk(server, use)


def test_a_search_returns_data_with_citation_and_date_and_get_reads_on(cli, notes, server) -> None:
    cli("sync", notes)

    async def use(client: Client) -> None:
        found = await call(client, "memory_search", query="who painted the hull?", limit=2)
        best = found["results"][0]
        assert best["citation"].startswith(f"{notes / 'boats.md'}:")
        assert best["date"]
        assert best["relevance"] is None
        assert len(found["results"]) <= 2
        whole = await call(client, "memory_get", ids=[best["id"]], neighbours=1)
        assert "painted blue" in whole["memories"][0]["content"]
        assert whole["memories"][0]["origin"] == "owner"
        lines = await call(client, "memory_get", path=str(notes / "boats.md"), lines=[7, 9])
        assert "Volvo" in lines["memories"][-1]["content"]
        filtered = await call(client, "memory_search", query="pasta hull", tags=["food"], path="*.md")
        assert [each["title"] for each in filtered["results"]] == ["Pasta"]
        dated = await call(client, "memory_search", query="sailed", since="2026-03", until="2026-03")
        assert dated["results"][0]["date"] == "2026-03-01"

    talk(server, use)


def test_what_an_agent_adds_is_found_at_once_and_is_the_agents(server) -> None:
    async def use(client: Client) -> None:
        new = {"content": "Ann prefers tea.", "tier": "semantic", "tags": ["people"], "date": "2026-01-02"}
        added = await call(client, "memory_add", **new)
        assert added["existed"] is False
        again = await call(client, "memory_add", **new)
        assert (again["id"], again["existed"]) == (added["id"], True)
        found = await call(client, "memory_search", query="what does Ann prefer?", tier="semantic")
        assert found["results"][0]["id"] == added["id"]
        (kept,) = (await call(client, "memory_get", ids=[added["id"]]))["memories"]
        assert (kept["origin"], kept["date"]) == ("agent", "2026-01-02")

    talk(server, use)


def test_hostile_queries_are_answered_and_unknown_ids_listed(cli, notes, server) -> None:
    cli("sync", notes)

    async def use(client: Client) -> None:
        for query in (
            '"' * 501,
            "\0hull\0",
            "'; DROP TABLE memory; --",
            "AND OR NOT NEAR(",
            "",
            "🐦" * 999,
            "hull\n\r\t",
        ):
            await call(client, "memory_search", query=query)
        assert (await call(client, "memory_search", query="\0hull\0"))["results"]
        found = await call(client, "memory_get", ids=["obs_0000000000000000", "x"])
        assert (found["memories"], found["unknown"]) == ([], ["obs_0000000000000000", "x"])

    talk(server, use)


def test_wrong_calls_are_tool_errors_with_a_hint_and_the_server_goes_on(server) -> None:
    async def use(client: Client) -> None:
        assert "needs query" in (await refusal(client, "memory_search"))["message"]
        assert "takes no max" in (await refusal(client, "memory_search", query="x", max=3))["message"]
        assert "limit is -1" in (await refusal(client, "memory_search", query="x", limit=-1))["message"]
        assert "is 'x', but takes a list" in (await refusal(client, "memory_get", ids="x"))["message"]
        assert (
            "not one of crystal" in (await refusal(client, "memory_add", content="x", tier="fact"))["message"]
        )
        assert "2026-03-01" in (await refusal(client, "memory_search", query="x", since="soon"))["hint"]
        assert "takes 2" in (await refusal(client, "memory_get", path="a.md", lines=[1]))["message"]
        assert (await refusal(client, "memory_get"))["type"] == "InputError"
        assert "memory_search" in (await refusal(client, "memory_drop"))["hint"]
        assert (await call(client, "memory_search", query="x"))["results"] == []

    talk(server, use)


def test_a_store_that_cannot_be_opened_is_an_answer_not_a_dead_server(environ, server) -> None:
    Path(environ["SCRUBJAY_STORE"]).write_bytes(b"no database" * 1000)

    async def use(client: Client) -> None:
        for _ in range(2):
            error = await refusal(client, "memory_search", query="x")
            assert error["exit_code"] == 4
        assert len((await client.list_tools()).tools) == 3

    talk(server, use)


def test_two_clients_work_on_one_store_at_once(server) -> None:
    def writer(name: str) -> Use:
        async def use(client: Client) -> None:
            async with anyio.create_task_group() as group:
                for number in range(8):
                    group.start_soon(_add_and_find, client, f"{name} saw bird number {number}")

        return use

    talk(server, writer("Ann"), writer("Bob"))

    async def count(client: Client) -> None:
        found = await call(client, "memory_search", query="saw bird number", limit=50)
        assert len(found["results"]) == 16

    talk(server, count)


async def _add_and_find(client: Client, text: str) -> None:
    added = await call(client, "memory_add", content=text)
    found = await call(client, "memory_get", ids=[added["id"]])
    assert found["memories"][0]["content"] == text


def test_nothing_but_the_protocol_is_on_standard_output(server) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    wish = {"name": "memory_add", "arguments": {"content": "x y"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": wish},
    ]
    process = subprocess.Popen(
        [server.command, *server.args],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=server.env, text=True,
    )  # fmt: skip
    with process:
        process.stdin.write("".join(json.dumps(each) + "\n" for each in messages))
        process.stdin.write("this is no JSON\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert {each["id"] for each in answers} >= {2} or 2 in [
        json.loads(each).get("id") for each in rest.splitlines()
    ]
    assert all(json.loads(each)["jsonrpc"] == "2.0" for each in rest.splitlines())
    assert "Traceback" not in err


def test_each_tool_says_whether_it_writes() -> None:
    assert {tool.name: tool.writes for tool in TOOLS} == {
        "memory_search": False, "memory_get": False, "memory_add": True,
    }  # fmt: skip
