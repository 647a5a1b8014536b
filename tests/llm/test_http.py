"""Post: a call ends at its deadline wherever the server dawdles, and leaves neither a socket nor a thread."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from scrubjay.errors import ProviderError
from scrubjay.llm.http import THREAD_NAME, CallLimits, Endpoint, post_json

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + b"Content-Length: 2\r\n\r\n{}"
DAWDLING = {
    "headers": (b"", HEAD + b"X-Much: " + b"x" * 50_000),
    "body": (HEAD + b"Content-Length: 50000\r\n\r\n", b" " * 50_000),
    "body without an end": (HEAD + b"\r\n", b" " * 50_000),
}
"""What is sent at once, and what a byte at a time."""


class Service:
    """Answers on the loopback: some bytes at once, the others one every hundredth second."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.at_once, self.slowly = WHOLE, b""
        self.connections = 0
        self.ended = threading.Semaphore(0)
        """Released for each connection that the caller has closed."""
        self.over = threading.Event()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _asked(self, connection: socket.socket) -> bool:
        """Whether another whole request came; its head and its body, always ``{}``, may come apart."""
        held = b""
        while not held.endswith(b"\r\n\r\n{}"):
            if not (part := connection.recv(65_536)):
                return False
            held += part
        return True

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                while self._asked(connection):
                    connection.sendall(self.at_once)
                    for byte in self.slowly:
                        if self.over.wait(0.01):
                            return
                        connection.sendall(bytes([byte]))
            except OSError:
                pass  # who asked has had enough
        self.ended.release()


@contextmanager
def serving() -> Iterator[Service]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        service = Service(listening)
        thread = threading.Thread(target=service.run, daemon=True)
        thread.start()
        try:
            yield service
        finally:
            service.over.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


def left_behind() -> list[threading.Thread]:
    """Threads of calls, once those that are ending had time to."""
    running = [thread for thread in threading.enumerate() if thread.name == THREAD_NAME]
    for thread in running:
        thread.join(60)
    return [thread for thread in running if thread.is_alive()]


@pytest.mark.parametrize("where", DAWDLING)
def test_a_server_that_drips_is_left_at_the_deadline_and_nothing_is_leaked(
    service: Service, where: str
) -> None:
    # A byte comes every hundredth second, so no wait for one ever times out; all of them take eight minutes.
    service.at_once, service.slowly = DAWDLING[where]
    endpoint = Endpoint(service.url)
    with pytest.raises(ProviderError, match=r"did not answer within 1 s\. Nothing was done\."):
        post_json(endpoint, "/x", {}, "Nothing was done.", CallLimits(deadline=1))
    assert left_behind() == []
    assert service.ended.acquire(timeout=60), "the connection is still open"
    assert service.connections == 1
    service.at_once, service.slowly = WHOLE, b""
    assert post_json(endpoint, "/x", {}, "Nothing was done.", CallLimits(deadline=60)) == {}


def test_one_connection_serves_calls_that_follow_each_other_and_ends_with_the_endpoint(
    service: Service,
) -> None:
    endpoint = Endpoint(service.url)
    for _ in range(3):
        assert post_json(endpoint, "/x", {}, "Nothing was done.") == {}
    assert service.connections == 1
    assert not service.ended.acquire(blocking=False)
    del endpoint
    gc.collect()
    assert service.ended.acquire(timeout=60)
    assert left_behind() == []


def test_calls_at_once_do_not_cut_each_other(service: Service) -> None:
    endpoint = Endpoint(service.url)
    service.at_once, service.slowly = HEAD + b"Content-Length: 42\r\n\r\n", b'{"answer": ' + b" " * 30 + b"}"
    service.slowly = service.slowly.replace(b"  }", b"7 }")
    came: list[object] = []

    def ask(deadline: float) -> None:
        try:
            came.append(post_json(endpoint, "/x", {}, "Nothing was done.", CallLimits(deadline=deadline)))
        except ProviderError as error:
            came.append(str(error))

    threads = [threading.Thread(target=ask, args=(deadline,)) for deadline in (0.1, 60.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {"answer": 7} in came
    assert any("within 0.1 s" in str(one) for one in came)
    assert left_behind() == []


def test_what_no_service_is_to_blame_for_is_raised_where_it_was_asked_for(service: Service) -> None:
    with pytest.raises(httpx.InvalidURL):
        post_json(Endpoint(service.url), "/\0", {}, "Nothing was done.")
    assert left_behind() == []
