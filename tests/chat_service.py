"""A language model on the loopback that speaks the published wire of ``/chat/completions`` and refuses anything else.

What it answers is a function of the request's two messages; it can also be told to answer something else entirely.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, bytes]
HANG = "hang"
DRIP = "drip"
FIELDS = {"model", "messages", "stream", "temperature", "max_completion_tokens", "response_format"}


def wrapped(content: object) -> bytes:
    """A documented answer that holds this text."""
    message = {"role": "assistant", "content": content, "refusal": None}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**body, "choices": choices, "usage": usage}).encode()


def facts(*items: tuple[str, str], kind: str = "fact") -> Callable[[Any], object]:
    """Answer with these (quote, statement), each for the first turn that holds the quote, else for the first."""

    def answer(turns: Any) -> object:
        found = []
        for quote, statement in items:
            turn = next((one["turn"] for one in turns if quote in one["text"]), 0)
            found.append({"turn": turn, "quote": quote, "kind": kind, "statement": statement})
        return found

    return answer


@dataclass
class Chat:
    """One running service.

    Attributes:
        facts: What it answers to turns, given the parsed request; a reply, ``HANG`` or ``DRIP`` instead.
        digests: The same for digests.
        questions: The same for questions to be rewritten.
        asked: Requests for any of them, parsed.
        tried: Requests that came in.
    """

    url: str = ""
    key: str = ""
    facts: Callable[[Any], object] | Reply | str = field(default=lambda _: [])
    digests: Callable[[Any], object] | Reply | str = field(
        default=lambda lines: [line["text"] for line in lines]
    )
    questions: Callable[[Any], object] | Reply | str = field(default=lambda given: given["question"])
    asked: list[tuple[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    tried: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def reply(self, path: str, headers: dict[str, str], raw: bytes) -> Reply | str:
        self.tried += 1
        self.headers.append(headers)
        body = json.loads(raw)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            said = {"error": {"message": f"Incorrect API key provided: {headers.get('authorization')}"}}
            return 401, json.dumps(said).encode()
        roles = [message["role"] for message in body.get("messages", ())]
        if path != "/v1/chat/completions" or not set(body) <= FIELDS or roles != ["system", "user"]:
            return 400, json.dumps({"error": {"message": f"wire: {path} {sorted(body)} {roles}"}}).encode()
        given = json.loads(body["messages"][1]["content"])
        task = body["messages"][0]["content"]
        which = "facts" if "lasting statements" in task else "digests"
        which = "questions" if "follow-up question" in task else which
        self.asked.append((which, given))
        answer = getattr(self, which)
        if not callable(answer):
            return answer
        made = answer(given)
        return 200, wrapped(made if isinstance(made, str) else json.dumps(made))


def _handler(chat: Chat) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            reply = chat.reply(self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
            if reply == HANG:
                chat.over.wait(20)
                self.close_connection = True
                return
            status, content = (200, b" " * (1 << 20)) if isinstance(reply, str) else reply
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            try:
                if reply == DRIP:
                    for at in range(len(content)):
                        self.wfile.write(content[at : at + 1])
                        if chat.over.wait(0.02):
                            break
                else:
                    self.wfile.write(content)
            except OSError:
                self.close_connection = True  # who asked has had enough

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output free of one line a request."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hangs up is what some tests are about."""


@contextmanager
def serving() -> Iterator[Chat]:
    """Run a service for as long as the block lasts."""
    chat = Chat()
    server = _Server(("127.0.0.1", 0), _handler(chat))
    chat.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        chat.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
