"""HTTP servers of tests: on the loopback, for as long as a block lasts, and silent."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, bytes]
HANG = "hang"
DRIP = "drip"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output free of one line a request."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hangs up is what some tests are about."""


def free_port() -> int:
    """Return a port for a program that must be told one, none of those that a system hands out by itself.

    Of those another process could be given it before the program listens.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def eventually(true: Callable[[], object]) -> None:
    """Wait for what a thread of a server does."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextmanager
def listening(handler: type[Handler]) -> Iterator[str]:
    """Run a server and yield its URL."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def answering(reply: Callable[[str, dict[str, str], bytes], Reply | str]) -> Iterator[str]:
    """Run a server whose answers are a function of path, headers, and body: a reply, or ``HANG`` or ``DRIP``."""
    over = threading.Event()

    class Answering(Handler):
        def do_POST(self) -> None:
            said = reply(self.path, {k.lower(): v for k, v in self.headers.items()}, self.body())
            if said == HANG:
                over.wait(20)
                self.close_connection = True
                return
            status, content = (200, b" " * (1 << 20)) if isinstance(said, str) else said
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            try:
                if said == DRIP:
                    for at in range(len(content)):
                        self.wfile.write(content[at : at + 1])
                        if over.wait(0.02):
                            break
                else:
                    self.wfile.write(content)
            except OSError:
                self.close_connection = True  # who asked has had enough

    with listening(Answering) as url:
        try:
            yield url
        finally:
            over.set()
