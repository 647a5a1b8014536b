"""Nobody who asks says where a request goes, and no answer sends it, or its key, elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from scrubjay.config.settings import ProxySettings
from scrubjay.errors import InputError, ProviderError
from scrubjay.llm.http import Endpoint, post_json
from scrubjay.server.proxy.app import ADAPTERS
from scrubjay.server.proxy.upstream import Upstream

KEY = "k-3f9a7c"


class _Host:
    """A host that counts what it is asked, and where it sends who asks."""

    def __init__(self, to: str = "") -> None:
        self.asked: list[dict[str, str]] = []
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                host.asked.append(dict(self.headers))
                self.rfile.read(int(self.headers.get("content-length", 0)))
                self.send_response(307 if to else 200)
                if to:
                    self.send_header("location", to)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def running(host: _Host) -> Iterator[_Host]:
    thread = threading.Thread(target=host.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield host
    finally:
        host.server.shutdown()
        thread.join()
        host.server.server_close()


def test_a_provider_that_answers_with_a_redirect_is_an_error_and_the_key_goes_nowhere_else() -> None:
    with running(_Host()) as other, running(_Host(other.url + "/v1/embeddings")) as named:
        with pytest.raises(ProviderError):
            post_json(
                Endpoint(named.url, KEY, backoff=0.0), "/v1/embeddings", {"input": ["a"]}, "Nothing was made."
            )
        assert named.asked[0]["Authorization"] == f"Bearer {KEY}"
        assert other.asked == []


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/v1", "/../../admin", "/%2e%2e/admin", "/v1/%2E%2e%2fadmin", "/..%5cadmin", "/v1/./x",
        "/v1\\..\\admin",
    ],
)  # fmt: skip
def test_a_path_of_a_request_stays_below_the_upstream_that_the_settings_name(path: str) -> None:
    settings = ProxySettings(openai="https://model.example/v1", anthropic="https://model.example")
    upstream = Upstream(settings)
    for wire in ADAPTERS:
        base = getattr(settings, wire.name)
        try:
            url = upstream.url(wire, (wire.base + path).encode(), b"host=evil.example")
        except InputError:
            continue
        assert url.startswith(base.encode() + b"/")
        assert path == "//evil.example/v1"  # a path with an empty step, still of the named host


@pytest.mark.parametrize("path", ["/v2/chat", "https://evil.example/v1", "@evil.example/"])
def test_what_does_not_begin_with_the_prefix_goes_nowhere(path: str) -> None:
    upstream = Upstream(ProxySettings(openai="https://model.example/v1", anthropic="https://model.example"))
    for wire in ADAPTERS:
        with pytest.raises(InputError):
            upstream.url(wire, path.encode(), b"")
