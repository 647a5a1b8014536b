"""A reranker on the loopback that speaks the published wire of ``/rerank`` and refuses anything else.

By default a document scores the share of the query's words that stand in it. It can be told to answer anything instead,
to hang, or to drip.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, bytes]
HANG = "hang"
DRIP = "drip"
FIELDS = {"model", "query", "documents"}


def share(query: str, document: str) -> float:
    asked = query.lower().split()
    return sum(word in document.lower() for word in asked) / max(len(asked), 1)


def results(scores: Sequence[float]) -> list[dict[str, Any]]:
    """Results as the services send them: best first."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [{"index": place, "relevance_score": scores[place]} for place in order]


@dataclass
class Reranks:
    """One running service.

    Attributes:
        key: What it wants as a key, or empty for none.
        style: ``results`` (Cohere, Jina) or ``data`` (Voyage): the name of what an answer holds.
        answer: The parsed request -> what the list of results is; or a reply, ``HANG`` or ``DRIP``.
        asked: Requests, parsed.
        headers: Their headers.
    """

    url: str = ""
    key: str = ""
    style: str = "results"
    answer: Callable[[Any], object] | Reply | str = field(
        default=lambda body: results([share(body["query"], text) for text in body["documents"]])
    )
    asked: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def reply(self, path: str, headers: dict[str, str], raw: bytes) -> Reply | str:
        self.headers.append(headers)
        body = json.loads(raw)
        self.asked.append(body)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            return 401, json.dumps({"message": f"invalid api token {headers.get('authorization')}"}).encode()
        texts = body.get("documents")
        kinds = isinstance(texts, list) and texts and all(isinstance(text, str) and text for text in texts)
        if path != "/v1/rerank" or set(body) != FIELDS or not kinds or not body["query"]:
            return 400, json.dumps({"message": f"wire: {path} {sorted(body)}"}).encode()
        if not callable(self.answer):
            return self.answer
        told = {
            "id": "r",
            "model": body["model"],
            self.style: self.answer(body),
            "usage": {"total_tokens": 9},
        }
        return 200, json.dumps(told).encode()


def _handler(service: Reranks) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            reply = service.reply(self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
            if reply == HANG:
                service.over.wait(20)
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
                        if service.over.wait(0.02):
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
def serving() -> Iterator[Reranks]:
    """Run a service for as long as the block lasts."""
    service = Reranks()
    server = _Server(("127.0.0.1", 0), _handler(service))
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
