"""Who is the owner without a token: a direct connection of this machine's person, until there are tokens."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Any

import httpx2
from http_here import refused
from http_server import COMMAND, serving, started

from scrubjay.api.auth import Principal, TokenStore

NOBODY = 65_534
"""The account that every system has for nobody."""
BECOMES_ANOTHER = hasattr(os, "getuid") and os.getuid() == 0 and sys.platform == "linux"
"""Only root becomes another account, and only Linux tells whose a connection is."""
QUICK = ("--readers", "0")


def sent(url: str, text: str) -> bytes:
    """What a server answers to bytes on a connection."""
    place = httpx2.URL(url)
    with socket.create_connection((place.host, place.port), timeout=60) as wire:
        wire.sendall(text.encode())
        return wire.makefile("rb").readline()


def test_nobody_but_this_account_is_the_owner_and_nobody_at_all_from_the_first_token_on(
    environ: dict[str, str], tokens: TokenStore
) -> None:
    with serving(environ, *QUICK) as url, httpx2.Client(base_url=url, timeout=60) as own:
        host = httpx2.URL(url).netloc.decode()
        # As the older nginx asks.
        for version, status in (("1.0", b"401"), ("1.1", b"200")):
            head = f"GET /v1/status HTTP/{version}\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            assert sent(url, head).split()[1] == status
        assert sent(url, f"GET /healthz HTTP/1.0\r\nHost: {host}\r\n\r\n").split()[1] == b"200"
        if BECOMES_ANOTHER:
            assert by_another_account(url, waits=True).split()[1:2] == ["401"]
            for _ in range(5):  # a closed socket is root's, say older kernels
                by_another_account(url, waits=False)
        assert own.get("/v1/status").json()["memories"] == 0
        assert own.post("/v1/memories", json={"content": "Mine."}).status_code == 201

        secret = tokens.create("far", Principal("default", "ann"), None)
        said = own.get("/v1/status")
        assert "this server has tokens" in refused(said, 401)
        assert "--open" in said.json()["error"]["hint"]
        assert own.get("/v1/status", headers={"authorization": f"Bearer {secret}"}).status_code == 200
        person = own.get("/", headers={"accept": "text/html"}, follow_redirects=True)
        assert (person.url.path, "scrubjay serve --open" in person.text) == ("/login", True)
        tokens.revoke("far")
        refused(own.get("/v1/status"), 401)
        assert own.get("/healthz").status_code == 200


def by_another_account(url: str, *, waits: bool) -> str:
    """Have another account add a memory; return the first line of the answer, if it waits for one."""
    place, body = httpx2.URL(url), '{"content": "Planted."}'
    head = (
        f"POST /v1/memories HTTP/1.1\r\nHost: {place.netloc.decode()}\r\nContent-Type: application/json\r\n"
    )
    head += f"Content-Length: {len(body)}\r\n\r\n{body}"
    wire = f'exec 3<>/dev/tcp/{place.host}/{place.port}; printf %s "$0" >&3' + "; head -n 1 <&3" * waits
    return subprocess.run(
        ["bash", "-c", wire, head], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/",
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip


def test_open_says_otherwise_and_is_warned_of_at_the_start_and_by_every_status(
    environ: dict[str, str], tokens: TokenStore, cli: Any
) -> None:
    far = tokens.create("far", Principal("default", "ann", scopes=("read",)), None)
    told = r"warning: (http://\S+) runs with --open[\s\S]*Serving at "
    with started([*COMMAND, "127.0.0.1:0", "--open", "--root-path", "/memory", *QUICK], environ, told) as url:
        with httpx2.Client(base_url=url, timeout=60) as own:
            assert f"{url}/memory runs with --open" in own.get("/v1/status").json()["warnings"][0]
            assert f"{url}/memory runs with --open" in own.get("/status").text
            assert own.get("/v1/status", headers={"x-scrubjay-token": far}).json()["warnings"] == []
            assert own.get("/v1/status", headers={"x-forwarded-for": "10.0.0.9"}).status_code == 401
        assert f"warning    {url} runs with --open" in cli("status").out
        assert cli("status", "--json").json["open_servers"] == [url]
    assert "--open" not in cli("status").out
    both = cli("serve", "--open", "--require-token")
    assert (both.code, "exclude each other" in both.err) == (2, True)
