"""Bodies that do not end, that drip, that are too large or too many, over real sockets."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from http_here import good, held
from http_server import COMMAND, serving
from mcp_clients import running
from scripted_model import Model

from scrubjay.api.auth import SCOPES, Principal
from scrubjay.server.middleware import MAX_UNFINISHED

MB = 1_000_000
PROXIED = "/anthropic/v1/messages"
JSON = "application/json"


def head(url: str, path: str, length: int, kind: str = JSON, **headers: str) -> bytes:
    named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    host = httpx2.URL(url).netloc.decode()
    first = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
    return f"{first}{named}\r\n".encode()


def connected(url: str) -> socket.socket:
    place = httpx2.URL(url)
    return socket.create_connection((place.host, place.port), timeout=60)


def answered(wire: socket.socket) -> bytes:
    """All that the server says until it closes; of a client that still sends the connection is reset."""
    said = b""
    with suppress(ConnectionResetError):
        while piece := wire.recv(65_536):
            said += piece
    return said


def drip(wire: socket.socket) -> bytes:
    """Send a byte whenever nothing has come for a moment, and return what the server says at last, or nothing."""
    wire.settimeout(0.1)
    for _ in range(200):
        try:
            said = wire.recv(65_536)
            wire.settimeout(60)
            return said + answered(wire)
        except TimeoutError:
            wire.sendall(b" ")
    return b""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/login", "application/x-www-form-urlencoded"),
        ("/v1/search", JSON),
        ("/v1/memories", JSON),
        ("/v1/import", "application/octet-stream"),
        ("/memories/obs_1/edit", "application/x-www-form-urlencoded"),
        ("/mcp", JSON),
        (PROXIED, JSON),
        ("/openai/v1/files", "application/octet-stream"),
    ],
)
def test_a_body_that_drips_ends_everywhere_at_the_same_time(
    environ: dict[str, str], patient: str, path: str, kind: str
) -> None:
    with connected(patient) as wire:
        asked = {"accept": "application/json, text/event-stream", "origin": patient}
        wire.sendall(head(patient, path, 2_000, kind, **asked) + b"{")
        said = drip(wire)
    assert said.startswith(b"HTTP/1.1 408"), said
    assert b"did not arrive within 0.5 seconds" in said


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose patience is short, before an upstream that answers nobody."""
    folder = tmp_path_factory.mktemp("patient")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        nobody.listen()
        nowhere = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        environ = {
            "SCRUBJAY_STORE": str(folder / "memory.db"),
            "SCRUBJAY_USER": "ann",
            "SCRUBJAY_SERVER_PATIENCE_SECONDS": "0.5",
            "SCRUBJAY_PROXY_OPENAI": f"{nowhere}/v1",
            "SCRUBJAY_PROXY_ANTHROPIC": nowhere,
            "XDG_CONFIG_HOME": str(folder / "configuration"),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        with serving(environ) as url:
            yield url


def test_the_server_for_mcp_alone_has_the_patience_of_the_settings(environ: dict[str, str]) -> None:
    with running(environ | {"SCRUBJAY_SERVER_PATIENCE_SECONDS": "0.5"}) as url, connected(url) as wire:
        wire.sendall(head(url, "/mcp", 2_000) + b"{")
        assert drip(wire).startswith(b"HTTP/1.1 408")


def test_a_large_body_over_a_slow_line_has_a_second_more_for_each_128_kb(
    environ: dict[str, str], patient: str
) -> None:
    """Two megabytes that came are worth 15 seconds more than the patience of half a second."""
    body = b" " * 2_000_000 + json.dumps({"content": "slow " * 50_000}).encode()
    with connected(patient) as wire:
        wire.sendall(head(patient, "/v1/memories", len(body)) + body[:2_000_000])
        wire.settimeout(0.8)
        with pytest.raises(TimeoutError):
            wire.recv(1)
        wire.settimeout(60)
        wire.sendall(body[2_000_000:])
        assert wire.recv(12) == b"HTTP/1.1 201"


@pytest.mark.parametrize(
    ("path", "credential", "status"),
    [("/v1/sync", "Bearer wrong", b"401"), ("/v1/import?format=nonsense", "", b"422")],
)
def test_who_sends_a_small_body_after_a_refusal_reads_all_of_it(
    environ: dict[str, str], path: str, credential: str, status: bytes
) -> None:
    """As nginx does, which asks for the connection to be closed: one closed with bytes unread is reset."""
    shown = {"authorization": credential} if credential else {}
    with serving(environ) as url, connected(url) as wire:
        wire.sendall(head(url, path, 20_000, connection="close", **shown))
        said = wire.recv(65_536)
        wire.sendall(b" " * 20_000)
        while piece := wire.recv(65_536):  # raises if the connection was reset
            said += piece
    assert said.startswith(b"HTTP/1.1 " + status), said
    assert said.endswith(b"}")


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/login", 4_096),
        ("/logout", 4_096),
        ("/v1/search", 262_144),
        ("/v1/context", 262_144),
        ("/v1/forget", 262_144),
        ("/audit/fix", 262_144),
        ("/v1/memories", 4_194_304),
        ("/v1/memories/batch", 4_194_304),
        ("/v1/embeddings", 4_194_304),
        ("/memories/obs_1/edit", 4_194_304),
        ("/mcp", 4_194_304),
        (PROXIED, 67_108_864),
        ("/openai/v1/chat/completions", 67_108_864),
        ("/v1/import", 1_000_000_000),
    ],
)
def test_what_is_too_large_is_refused_by_what_its_head_says(patient: str, path: str, most: int) -> None:
    """Before a byte of the body was sent; a path that takes it waits for the body, and gives up."""
    with connected(patient) as wire:
        wire.sendall(head(patient, path, most + 1))
        said = wire.recv(65_536)
        assert said.startswith(b"HTTP/1.1 413"), said
        assert f"more than {most:,} bytes".encode() in said + answered(wire)
    with connected(patient) as wire:
        wire.sendall(head(patient, path, most))
        assert wire.recv(65_536).startswith(b"HTTP/1.1 408")


def test_unfinished_bodies_of_one_client_take_a_bounded_memory_and_nobody_elses_turn(
    environ: dict[str, str], model: Model
) -> None:
    tokens = held(environ)
    eve, bob = (
        tokens.create(name, Principal("default", name, scopes=SCOPES), None) for name in ("eve", "bob")
    )
    environ = environ | {"SCRUBJAY_PROXY_ANTHROPIC": model.url, "SCRUBJAY_SERVER_PATIENCE_SECONDS": "60"}
    with measured(environ, "--require-token", "--readers", "0") as (url, peak), ExitStack() as stack:
        client = stack.enter_context(httpx2.Client(base_url=url, timeout=60))
        shown = {"authorization": f"Bearer {bob}"}
        good(client.get("/v1/search?query=warm", headers=shown))
        before = peak()
        refused = []
        for _ in range(5):
            wire = stack.enter_context(connected(url))
            wire.sendall(head(url, PROXIED, 60 * MB, x_scrubjay_token=eve))
            wire.sendall(b"x" * (50 * MB))
            wire.setblocking(False)
            refused.append(wire)
        # A busy server closes some of these before it reads their heads, and hears of the others one after the other.
        for _ in range(4):
            for _ in range(MAX_UNFINISHED):
                login = stack.enter_context(connected(url))
                login.sendall(head(url, "/login", 4_000, "application/x-www-form-urlencoded") + b"x" * 3_900)
            one_more = (_whole_login(url) for _ in range(MAX_UNFINISHED))
            if any(b"of your requests are incomplete" in said for said in one_more):
                break
        else:
            pytest.fail("any number of unfinished requests was taken")
        # Others are answered meanwhile, also where their own request is large; and who only asks how it is.
        good(client.get("/readyz"))
        text = "The kayak leaks. " * 60_000
        good(client.post("/v1/memories", json={"content": text[:900_000]}, headers=shown), 201)
        said = [answer for wire in refused if (answer := came(wire))]
        assert len(said) >= 2
        for answer in said:
            assert answer.startswith(b"HTTP/1.1 503")
            assert b"retry-after: 1" in answer.lower()
            assert b"of them yours" in answer
        assert peak() - before < 225 * MB, f"{(peak() - before) / MB:.0f} MB"


def _whole_login(url: str) -> bytes:
    """What is said to a form that is sent to its end."""
    with connected(url) as wire:
        wire.sendall(
            head(url, "/login", 4_000, "application/x-www-form-urlencoded", connection="close") + b"x" * 4_000
        )
        return answered(wire)


def came(wire: socket.socket) -> bytes:
    try:
        return wire.recv(65_536)
    except BlockingIOError:
        return b""


@contextmanager
def measured(environ: dict[str, str], *options: str) -> Iterator[tuple[str, Any]]:
    """Run a server, and yield its URL and what tells the most memory that it has had, bytes."""
    process = subprocess.Popen(
        [*COMMAND, "127.0.0.1:0", *options],
        stderr=subprocess.PIPE,
        env={**os.environ, **environ},
        text=True,
    )
    assert process.stderr is not None
    with process:
        try:
            said = process.stderr.readline()
            found = re.search(r"Serving at (\S+);", said)
            assert found, said

            def peak() -> int:
                status = Path(f"/proc/{process.pid}/status").read_text()
                return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024

            yield found[1], peak
        finally:
            process.kill()
