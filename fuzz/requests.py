"""Requests: bytes of an HTTP request -> the server's application, in this process: an answer in its shape, never a 500.

The first line is a method and a target, then come headers up to an empty line, then the body. Nothing here has to be
sound HTTP; a server has parsed a request before the application sees it, so what no server lets through is left out.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from fuzz.bound import bound
from fuzz.queries import SAID, SECRET
from scrubjay import Memory
from scrubjay.config import load
from scrubjay.surfaces.http.app import application
from scrubjay.surfaces.serve.session import Session
from scrubjay.testing.hash_embedder import HashEmbedder
from scrubjay.verbs.tokens import Principal, Tokens

RENEWED: Final = 400
"""Changes after which the store is made anew, so that the last request finds what the first one found."""
LONGEST_WAIT: Final = 20
"""Seconds that an answer may take to come at all."""
METHOD: Final = re.compile(rb"[A-Z]{1,10}")
HEADER: Final = re.compile(rb"([A-Za-z0-9-]{1,40}):[ \t]*([^\0\r\n]*)")
SHUT: Final = "http://127.0.0.1:9"
"""Upstream of the proxy: a port where nobody listens."""


@contextmanager
def target(*, timed: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes one input."""
    loop = asyncio.new_event_loop()
    held: list[_Server] = []

    def check(data: bytes) -> None:
        read = _request(data)
        if read is None:
            return
        if not held or held[0].changes > RENEWED:
            while held:
                held.pop().close()
            held.append(_Server(loop))
        with bound(len(data), timed=timed):
            held[0].ask(*read)

    try:
        # The first request imports most of the program, which takes long where each line of it is counted.
        held.append(_Server(loop))
        held[0].ask("GET", b"/v1/search?query=tea", [], b"")
        yield check
    finally:
        while held:
            held.pop().close()
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
        home = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        (home / "config.toml").write_text("")
        settings = load(
            home / "config.toml",
            {},
            {
                "store": str(home / "memory.db"), "cache_dir": str(home / "cache"), "user": "ann",
                "proxy.openai": SHUT, "proxy.anthropic": SHUT,
            },
        )  # fmt: skip
        self._home = home
        with Memory.open(settings=settings, user="bob", embedders=[HashEmbedder(64)]) as other:
            other.add(SECRET)
        with Memory.open(settings=settings, embedders=[HashEmbedder(64)]) as memory:
            for text in SAID:
                memory.add(text, date="2026-02-01")
        session = self._stack.enter_context(
            Session(settings, lambda: Memory.open(settings=settings, embedders=[HashEmbedder(64)]))
        )
        # Somebody who may read and write, and no administrator: they alone may name files of this machine.
        tokens = Tokens(home / "tokens.json")
        self._token = tokens.create(
            "fuzz", Principal("default", "ann", scopes=("read", "write")), None
        ).encode()
        self._app = application(session, tokens, open_here=False)
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
