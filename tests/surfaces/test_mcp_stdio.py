"""The MCP server over standard input and output: what a client may send, how a call and the server end."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_clients import COMMAND

from scrubjay.server.mcp.stdio import DRAIN_SECONDS, PendingRequests, _read_lines

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Wire:
    """A server process, spoken to in lines."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **environ},
        )  # fmt: skip

    def send(self, *messages: Any) -> None:
        for each in messages:
            self.raw(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def greet(self) -> None:
        self.send(request(0, "initialize", HELLO), {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert self.read()["id"] == 0

    def end(self) -> str:
        """Close standard input; the server must end by itself, well."""
        _, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err.decode()
        assert b"Traceback" not in err, err.decode()
        return err.decode()


def request(number: int, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method} | ({"params": params} if params else {})


def tool(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return request(number, "tools/call", {"name": name, "arguments": arguments})


@pytest.fixture
def wire(environ: dict[str, str]) -> Iterator[Wire]:
    made = Wire(environ)
    with made.process:
        try:
            yield made
        finally:
            made.process.kill()


def test_nothing_but_the_protocol_is_on_standard_output(wire: Wire) -> None:
    wire.greet()
    wire.send(tool(2, "memory_add", content="x y"))
    answer = wire.read()
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 2)
    wire.end()


@pytest.mark.parametrize(
    "garbage",
    [
        b"this is no JSON\n",
        b"\n\n",
        b"\xff\xfe\x00\n",
        b"[]\n",
        b"{}\n",
        b"[" * 200_000 + b"\n",
        b'{"a":' * 9_999 + b"\n",
    ],
)
def test_garbage_does_not_end_the_server(wire: Wire, garbage: bytes) -> None:
    wire.raw(garbage)
    wire.greet()
    wire.raw(garbage)
    wire.send(request(7, "tools/list"))
    answer = wire.read()
    while answer["id"] is None:  # garbage may be answered, to nobody
        answer = wire.read()
    assert len(answer["result"]["tools"]) == 8
    wire.end()


@pytest.mark.parametrize("order", ["id first", "id last"])
def test_a_message_of_ten_megabytes_is_refused_and_the_next_one_answered(wire: Wire, order: str) -> None:
    wire.greet()
    params = json.dumps({"name": "memory_add", "arguments": {"content": "x" * 10_000_000}})
    if order == "id first":
        wire.raw(f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}\n'.encode())
    else:
        wire.raw(f'{{"method":"tools/call","params":{params},"jsonrpc":"2.0","id":1}}\n'.encode())
    refused = wire.read()
    assert refused["id"] == 1
    assert "more than 4,194,304 bytes. Nothing was done." in refused["error"]["message"]
    wire.send(tool(2, "memory_search", query="x"))
    assert wire.read()["result"]["content"][0]["text"] == "Nothing was found."
    wire.end()


@pytest.mark.parametrize(
    "unsound",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []},
        {"jsonrpc": "2.0", "id": 1, "method": 7},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"id": 1, "method": "ping"},
    ],
)
def test_a_request_that_is_none_is_answered_with_what_is_wrong(wire: Wire, unsound: dict[str, Any]) -> None:
    wire.greet()
    wire.send(unsound, tool(2, "memory_search", query="x"))
    answers = {answer["id"]: answer for answer in (wire.read(), wire.read())}
    assert answers[1]["error"]["code"] == -32600
    assert "Nothing was done" in answers[1]["error"]["message"]
    assert answers[2]["result"]["content"][0]["text"] == "Nothing was found."
    wire.end()


def test_what_was_asked_before_the_input_ends_is_answered(wire: Wire) -> None:
    hello = request(0, "initialize", HELLO)
    asked = [
        tool(1, "memory_add", content="Ann prefers tea."),
        tool(2, "memory_search", query="x"),
        request(3, "ping"),
    ]
    lines = [hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *asked]
    out, err = wire.process.communicate(
        b"".join(json.dumps(line).encode() + b"\n" for line in lines), timeout=60
    )
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines()) if "id" in answer}
    assert sorted(answers) == [0, 1, 2, 3]
    assert all("result" in answer for answer in answers.values())
    assert (wire.process.returncode, b"Traceback" in err) == (0, False)


def test_a_call_that_is_called_off_keeps_nobody_waiting_at_the_end(wire: Wire) -> None:
    wire.greet()
    gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    wire.send(tool(1, "memory_search", query="x"), gone)
    begun = time.monotonic()
    wire.end()
    assert time.monotonic() - begun < DRAIN_SECONDS


def test_half_an_emoji_as_javascript_cuts_texts_is_taken_as_a_replaced_character(wire: Wire) -> None:
    wire.greet()
    wire.raw(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_add",'
        b'"arguments":{"content":"Ann likes birds \\ud83d"}}}\n'
    )
    added = wire.read()["result"]["structuredContent"]
    wire.send(tool(2, "memory_get", ids=[added["id"]]))
    assert "\n> Ann likes birds \ufffd\n" in wire.read()["result"]["content"][0]["text"]
    wire.end()


def test_the_end_of_input_ends_the_server_and_what_was_asked_before_is_done(wire: Wire, cli) -> None:
    wire.greet()
    wire.send(tool(1, "memory_add", content="Ann prefers tea."))
    wire.end()
    (found,) = cli("search", "tea", "--json").json["results"]
    assert found["snippet"] == "Ann prefers tea."


def test_a_client_that_dies_leaves_no_server_behind(wire: Wire) -> None:
    wire.greet()
    assert wire.process.stdout is not None
    wire.process.stdout.close()
    wire.send(*(request(number, "tools/list") for number in range(1, 4)))
    assert wire.process.wait(60) == 0
    assert wire.process.stderr is not None
    assert b"Traceback" not in wire.process.stderr.read()


def test_the_thread_that_reads_ends_silently_when_the_loop_is_cancelled() -> None:
    """Its next line is on its way then; pytest fails a test in which a thread ends with an exception."""
    reading, writing = os.pipe()
    os.write(writing, b'{"jsonrpc":"2.0","method":"a"}\n' * 3)

    async def take_one_line_and_cancel() -> None:
        lines = _read_lines(reading, PendingRequests())
        await anext(lines)
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        while not waiting:
            await asyncio.sleep(0)
            waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await lines.aclose()

    asyncio.run(take_one_line_and_cancel())
    for thread in threading.enumerate():
        if thread.name == "scrubjay-stdin":
            thread.join(10)


def test_an_interrupt_ends_a_server_that_waits_for_its_client(wire: Wire) -> None:
    import signal

    wire.greet()
    wire.process.send_signal(signal.SIGINT)
    assert wire.process.wait(60) in (0, 130)
