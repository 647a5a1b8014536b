"""Requests: bytes of an HTTP request -> the server's application, in this process: an answer in its shape, never a 500.

The first line is a method and a target, then come headers up to an empty line, then the body. Nothing here has to be
sound HTTP; a server has parsed a request before the application sees it, so what no server lets through is left out.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from fuzz.bound import bound
from fuzz.served import LONGEST_WAIT, WHO, Renewed, served
from scrubjay.api.auth import TokenStore
from scrubjay.server.app import create_app

METHOD: Final = re.compile(rb"[A-Z]{1,10}")
HEADER: Final = re.compile(rb"([A-Za-z0-9-]{1,40}):[ \t]*([^\0\r\n]*)")


@contextmanager
def target(*, timed: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes one input."""
    loop = asyncio.new_event_loop()
    held = Renewed(lambda: _Server(loop))

    def check(data: bytes) -> None:
        read = _request(data)
        if read is None:
            return
        server = held.now()
        with bound(len(data), timed=timed):
            server.ask(*read)

    try:
        # The first request imports most of the program, which takes long where each line of it is counted.
        held.now().ask("GET", b"/v1/search?query=tea", [], b"")
        yield check
    finally:
        held.close()
        # A stream of events has a watcher that goes on until its loop ends.
        for task in (left := asyncio.all_tasks(loop)):
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.close()


class _Server:
    """The application on a store and a home of its own, as a loopback server would have it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.changes = 0
        self._loop = loop
        self._stack = ExitStack()
        session, self._home = self._stack.enter_context(served())
        tokens = TokenStore(self._home / "tokens.json")
        self._token = tokens.create("fuzz", WHO, None).encode()
        self._app = create_app(session, tokens, tokenless=None)
        self._ends = asyncio.Event()
        self._life = loop.create_task(self._live())
        loop.run_until_complete(asyncio.sleep(0.05))

    async def _live(self) -> None:
        first = True

        async def receive() -> dict[str, Any]:
            nonlocal first
            if first:
                first = False
                return {"type": "lifespan.startup"}
            await self._ends.wait()
            return {"type": "lifespan.shutdown"}

        async def send(_message: Any) -> None:
            return

        await self._app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)

    def ask(self, method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        path, _, query = target.partition(b"?")
        if not any(name == b"authorization" for name, _ in headers):
            headers = [*headers, (b"authorization", b"Bearer " + self._token)]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote_to_bytes(path).decode("utf-8", "replace"), "raw_path": path, "query_string": query,
            "root_path": "", "headers": headers, "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 8080),
        }  # fmt: skip
        status, kind, answer = self._loop.run_until_complete(
            asyncio.wait_for(_answer(self._app, scope, body), LONGEST_WAIT)
        )
        if method not in ("GET", "HEAD") and status < 300:
            self.changes += 1
        _sound(status, kind, answer, str(self._home), method)

    def close(self) -> None:
        self._ends.set()
        self._loop.run_until_complete(self._life)
        self._stack.close()


async def _answer(app: Any, scope: dict[str, Any], body: bytes) -> tuple[int, str, bytes]:
    asked, status, kind = False, 0, ""
    parts: list[bytes] = []
    ended = asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": body, "more_body": False}
        await ended.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, kind
        if message["type"] == "http.response.start":
            assert not status, "two answers to one request"
            status = message["status"]
            kind = dict(message["headers"]).get(b"content-type", b"").decode()
            for name, value in message["headers"]:
                assert b"\n" not in value, "a header holds a line end"
                assert b"\r" not in name + value, "a header holds a line end"
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                ended.set()
            elif kind.startswith("text/event-stream"):
                ended.set()  # A stream of events goes on until its reader leaves: this one does.

    await app(scope, receive, send)
    return status, kind, b"".join(parts)


def _sound(status: int, kind: str, answer: bytes, home: str, method: str) -> None:
    assert 200 <= status < 600, f"{status} is no answer"
    assert status < 500 or status in (501, 502, 503, 504), f"{status}: {answer[:300]!r}"
    assert b"Traceback" not in answer, "a traceback"
    assert b"quagga" not in answer, "somebody else's memory"
    if kind.startswith("application/json") and method != "HEAD":
        told = json.loads(answer)
        if status >= 400 and isinstance(told, dict):
            assert set(told) & {"error", "detail", "type", "jsonrpc"}, f"an error in no shape: {told}"
    assert home.encode() not in answer or status < 400, f"an error tells where things lie: {answer[:300]!r}"


def _request(data: bytes) -> tuple[str, bytes, list[tuple[bytes, bytes]], bytes] | None:
    head, _, body = data.partition(b"\n\n")
    first, *rest = head.split(b"\n")
    words = first.split(b" ")
    if len(words) != 2 or not METHOD.fullmatch(words[0]) or not words[1].startswith(b"/"):
        return None
    if any(byte <= 32 or byte > 126 for byte in words[1]):
        return None
    headers = [(b"host", b"127.0.0.1:8080"), (b"content-length", b"%d" % len(body))]
    for line in rest:
        match = HEADER.fullmatch(line)
        if match is None:
            return None
        if match[1].lower() not in (b"host", b"content-length", b"transfer-encoding"):
            headers.append((match[1].lower(), match[2].strip()))
    if not any(name == b"content-type" for name, _ in headers):
        headers.append((b"content-type", b"application/json"))
    return words[0].decode(), words[1], headers, body
