"""Bad and slow clients, crowds, two servers on one store, a reverse proxy in front."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from http_here import asking, bearer, good, held, refused
from http_server import serving
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.auth import Principal
from scrubjay.config.loader import load_settings
from scrubjay.errors import StoreError
from scrubjay.server.middleware import MAX_SILENT_CONNECTIONS
from scrubjay.server.session import MAX_CONCURRENT_READS, Session

JSON = {"content-type": "application/json"}
BYTES = {"content-type": "application/octet-stream"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 100_000, 400),
        (b'{"query":' * 25_000, 400),
        (b'{"query": "x", "weights": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}", 422),
        (b'{"query": ' + b"9" * 5_000 + b"}", 400),
        (b'{"query": "x", "limit": 1e999}', 422),
        (b'{"query": "x", "alpha": NaN}', 422),
        (b'{"query": "\xff"}', 400),
        (b'{"query": "x"', 400),
        (b"", 422),
        (b"null", 422),
        (b"x" * 5_000_000, 413),
    ],
    ids=lambda each: str(each)[:20],
)
def test_what_is_no_sound_request_is_refused(client: TestClient, body: bytes, status: int) -> None:
    refused(client.post("/v1/search", content=body, headers=JSON), status)
    assert good(client.get("/healthz")) == {"status": "ok"}


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain; charset=utf-8", ""])
def test_json_that_does_not_come_as_json_is_told_so(
    environ: dict[str, str], client: TestClient, kind: str
) -> None:
    """What `curl -d` sends unless it is told otherwise; it reads well, so nobody would look at its header."""
    headers = {"content-type": kind} if kind else {}
    token = bearer(held(environ), "ann", Principal("default", "ann"))
    for shown, status in (({}, 415), (token, 422)):
        said = client.post("/v1/search", content=b'{"query": "x"}', headers=headers | shown)
        assert kind.partition(";")[0] in refused(said, status)
        assert "content-type: application/json" in said.json()["error"]["hint"]


def test_who_watches_a_server_may_ask_for_the_head_alone(client: TestClient) -> None:
    assert [client.head(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_odd_texts_are_taken_or_refused_and_never_break_an_answer(client: TestClient) -> None:
    for text in (
        "\x00",
        "a\x00b",
        "\ud83d",
        "\u202e\ufeff",
        "😀" * 50,
        "'; drop table memories; --",
        "NEAR(* OR",
        "%",
    ):
        body = json.dumps({"query": text}).encode()
        assert client.post("/v1/search", content=body, headers=JSON).status_code == 200, text
        body = json.dumps({"content": f"odd {text}", "tags": [text], "title": text, "session": text}).encode()
        said = client.post("/v1/memories", content=body, headers=JSON)
        assert said.status_code in (200, 201, 422), said.text
    for path in (
        "/v1/memories/%00",
        "/v1/memories/%ff",
        "/v1/concepts/%2e%2e%2f",
        "/v1/categories/%F0%9F",
        "/v1/memories/a%2Fb",
    ):
        refused(client.get(path), 404)


def host(url: str) -> str:
    """The Host that a client of a server names."""
    return httpx2.URL(url).netloc.decode()


def raw(url: str, sent: str) -> bytes:
    """What a server says to a client that sends this much and waits."""
    place = httpx2.URL(url)
    with socket.create_connection((place.host, place.port), timeout=30) as wire:
        wire.sendall(sent.encode())
        said = b""
        while piece := wire.recv(65_536):
            said += piece
        return said


def test_slow_clients_are_not_waited_for(environ: dict[str, str]) -> None:
    with serving(environ | {"SCRUBJAY_SERVER_PATIENCE_SECONDS": "0.5"}) as url:
        head = f"POST /v1/search HTTP/1.1\r\nHost: {host(url)}\r\nContent-Type: application/json\r\n"
        assert raw(url, "") == b""
        assert raw(url, head) == b""
        late = raw(url, f'{head}Content-Length: 99\r\n\r\n{{"query":')
        assert late.startswith(b"HTTP/1.1 408")
        assert b"did not arrive within 0.5 seconds" in late
        upload = raw(url, f"{head.replace('search', 'import')}Content-Length: 99\r\n\r\n{{")
        assert upload.startswith(b"HTTP/1.1 408")
        with httpx2.Client(base_url=url, timeout=60) as client:
            assert good(client.post("/v1/search", json={"query": "x"}))["results"] == []


def test_who_sends_too_much_reads_why_even_if_it_reads_only_when_all_is_sent(
    environ: dict[str, str],
) -> None:
    """As a reverse proxy does: it would answer 502 for a connection that breaks while it sends."""
    with serving(environ) as url:
        head = f"POST /v1/search HTTP/1.1\r\nHost: {host(url)}\r\nContent-Type: application/json\r\n"
        said = raw(url, f"{head}Content-Length: 100000000\r\n\r\n{'x' * 100_000_000}")
        assert said.startswith(b"HTTP/1.1 413")
        assert b"connection: close" in said
        assert b"more than 262,144 bytes" in said


def test_who_never_stops_to_send_is_cut_off(environ: dict[str, str]) -> None:
    with serving(environ) as url:
        place = httpx2.URL(url)
        with socket.create_connection((place.host, place.port), timeout=30) as wire:
            head = f"POST /v1/search HTTP/1.1\r\nHost: {host(url)}\r\nContent-Type: application/json\r\n"
            wire.sendall(f"{head}Content-Length: 9999999999\r\n\r\n".encode())
            with pytest.raises(ConnectionError):
                wire.sendall(b"x" * 400_000_000)
    with serving(environ | {"SCRUBJAY_SERVER_PATIENCE_SECONDS": "0.5"}) as url:
        head = f"POST /v1/search HTTP/1.1\r\nHost: {host(url)}\r\nContent-Type: application/json\r\n"
        # A part that the system takes at once: how long the server has to read it is not up to the machine then.
        assert raw(url, f"{head}Content-Length: 9999999\r\n\r\n{'x' * 50_000}").startswith(b"HTTP/1.1 413")


def test_an_address_that_opens_connections_without_end_keeps_its_newest(environ: dict[str, str]) -> None:
    """A process has a thousand of them, often; whoever takes all shuts everybody out."""
    with serving(environ) as url, ExitStack() as stack:
        place = httpx2.URL(url)
        wires = [
            stack.enter_context(socket.create_connection((place.host, place.port), timeout=20))
            for _ in range(MAX_SILENT_CONNECTIONS + 20)
        ]
        assert {wire.recv(1) for wire in wires[:20]} == {b""}
        wires[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert wires[-1].recv(12) == b"HTTP/1.1 200"
        wires[20].sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert wires[20].recv(12) == b"HTTP/1.1 200"


def test_a_file_larger_than_settings_allow_is_not_imported(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRUBJAY_SERVER_IMPORT_MB", "1")
    with asking(environ) as client:
        line = json.dumps({"content": "x" * 1_000_000}).encode() + b"\n"
        assert "1,000,000 bytes" in refused(client.post("/v1/import", content=line, headers=BYTES), 413)
        assert good(client.get("/v1/status"))["memories"] == 0


class Gated:
    """A model that answers when it is let."""

    def __init__(self) -> None:
        from scrubjay.embeddings.hash_embedder import HashEmbedder

        self._inner = HashEmbedder(64)
        self.model = self._inner.model
        self.open = threading.Event()

    def embed(self, texts: Any, *, kind: Any = "passage") -> Any:
        assert self.open.wait(60)
        return self._inner.embed(texts, kind=kind)


def test_a_crowd_is_told_to_come_again(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_SERVER_MOST_WAITING", "2")

    model = Gated()
    model.open.set()
    with asking(environ, embedder=model) as client, ThreadPoolExecutor(MAX_CONCURRENT_READS + 5) as crowd:
        good(client.post("/v1/memories", json={"content": "The kayak leaks."}), 201)
        model.open.clear()
        asked = [
            crowd.submit(client.get, f"/v1/search?query=kayak+{n}") for n in range(MAX_CONCURRENT_READS + 5)
        ]
        try:
            # Nothing is answered before the model is let: those that are ended are those too many.
            early = [
                each.result() for _, each in zip(range(3), as_completed(asked, timeout=60), strict=False)
            ]
            for said in early:
                assert "requests are already waiting" in refused(said, 503)
                assert int(said.headers["retry-after"]) >= 1
            assert good(client.get("/healthz")) == {"status": "ok"}
        finally:
            model.open.set()
        assert (
            sorted(each.result().status_code for each in asked)
            == [200] * (MAX_CONCURRENT_READS + 2) + [503] * 3
        )
        assert len(good(client.get("/v1/memories"))["memories"]) == 1


def test_a_client_that_goes_away_during_a_search_is_no_error(environ: dict[str, str]) -> None:
    with Memory.open(environ["SCRUBJAY_STORE"], user="ann") as memory:
        memory.add("The kayak leaks.")
    with serving(environ) as url:  # which looks for a traceback at its end
        place = httpx2.URL(url)
        for _ in range(10):
            with socket.create_connection((place.host, place.port)) as wire:
                wire.sendall(f"GET /v1/search?query=kayak HTTP/1.1\r\nHost: {host(url)}\r\n\r\n".encode())
        with httpx2.Client(base_url=url, timeout=60) as client:
            assert len(good(client.get("/v1/search?query=kayak"))["results"]) == 1


def test_two_servers_on_one_store_see_what_the_other_writes(environ: dict[str, str]) -> None:
    with asking(environ) as one, asking(environ) as other, ThreadPoolExecutor(4) as both:
        for server in (one, other):
            # FastAPI builds its routes at the first request, of models that these two, and no two processes, share.
            good(server.get("/v1/memories"))
        done = [
            both.submit(server.post, "/v1/memories", json={"content": f"Kayak number {n} leaks."})
            for n, server in enumerate([one, other] * 10)
        ]
        ids = {good(each.result(), 201)["id"] for each in done}
        for server in (one, other):
            assert {each["id"] for each in good(server.get("/v1/memories"))["memories"]} == ids
            assert len(good(server.get("/v1/search?query=kayak&limit=50"))["results"]) == 20


def test_a_reverse_proxy_hands_on_a_path_with_its_prefix_or_without(
    environ: dict[str, str], cli: Any
) -> None:
    wrong = cli("serve", "127.0.0.1:0", "--root-path", "no path")
    assert (wrong.code, "is not a valid URL path prefix" in wrong.err) == (2, True)
    with (
        serving(environ, "--root-path", "/memory/", "--open") as url,
        httpx2.Client(base_url=url, timeout=60) as client,
    ):
        for path in ("/memory", ""):
            assert good(client.get(f"{path}/healthz")) == {"status": "ok"}
            assert good(client.post(f"{path}/v1/search", json={"query": "x"}))["results"] == []
            body = {"name": "TCP/IP"}
            assert client.post(f"{path}/v1/concepts", json=body).status_code == 200
            assert good(client.get(f"{path}/v1/concepts/TCP%2FIP"))["concept"]["name"] == "TCP/IP"
        refused(client.get("/memoryless/healthz"), 404)
        told = good(client.get("/memory/openapi.json"))
        assert told["servers"] == [{"url": "/memory"}]
        forwarded = client.get("/memory/v1/status", headers={"x-forwarded-for": "203.0.113.9"})
        assert "forwarded" in refused(forwarded, 401)


class Broken(Gated):
    """A model that fails as nobody expects."""

    def embed(self, texts: Any, *, kind: Any = "passage") -> Any:
        raise ZeroDivisionError("the engine is a Volvo")


def test_what_nobody_expected_is_told_without_what_is_inside(environ: dict[str, str]) -> None:
    with asking(environ, embedder=Broken()) as client:
        body = {"model": Broken().model.name, "input": "The engine is a Volvo."}
        said = client.post("/v1/embeddings", json=body)
        assert "Unexpected error" in refused(said, 500)
        assert "Volvo" not in said.text
        assert good(client.get("/healthz")) == {"status": "ok"}


def test_what_takes_long_ends_at_its_next_step_when_the_server_ends(environ: dict[str, str]) -> None:
    begun = threading.Event()

    def work(_memory: Memory) -> None:
        begun.set()
        while True:
            session.check_running()

    with ThreadPoolExecutor(1) as other:
        with Session(load_settings(), lambda: Memory.open("memory://", user="ann")) as session:
            doing = other.submit(asyncio.run, session.run_long(session.owner, work))
            assert begun.wait(60)
        with pytest.raises(StoreError, match="The server is shutting down"):
            doing.result(60)
