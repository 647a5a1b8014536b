"""The server's application, asked without a socket: real in everything but the wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.base import Embedder
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.server.app import create_app
from scrubjay.server.auth import TokenlessAccess
from scrubjay.server.session import Session

LOCAL = TokenlessAccess(always=True, own=lambda _scope: True)
"""A client without a socket is one of this account; tokens of a test take nothing from it."""
SCOPES = {"read": ("read",), "write": ("read", "write"), "admin": ("read", "write", "admin")}


@contextmanager
def asking(
    environ: dict[str, str], *, open_here: bool = True, embedder: Embedder | None = None
) -> Iterator[TestClient]:
    """Yield a client of this machine: the owner, unless it shows a token."""
    settings = load_settings()

    def opening() -> Memory:
        return Memory.open(settings=settings, embedders=[embedder or HashEmbedder(64)])

    with Session(settings, opening) as session:
        app = create_app(session, held(environ), tokenless=LOCAL if open_here else None)
        with TestClient(
            app, base_url="http://127.0.0.1", raise_server_exceptions=False, client=("127.0.0.1", 50_000)
        ) as client:
            yield client


def held(environ: dict[str, str]) -> TokenStore:
    """The tokens of the settings."""
    return TokenStore(Path(environ["XDG_CONFIG_HOME"]) / "scrubjay" / "tokens.json")


def bearer(tokens: TokenStore, name: str, who: Principal, expires: int | None = None) -> dict[str, str]:
    """Make a token and return the header that shows it."""
    return {"authorization": f"Bearer {tokens.create(name, who, expires)}"}


def good(said: httpx2.Response, status: int = 200) -> dict:
    """What a request was answered, which must have gone well."""
    assert said.status_code == status, said.text
    return said.json()


def refused(said: httpx2.Response, status: int) -> str:
    """What is wrong, told in the one shape that errors have."""
    assert said.status_code == status, said.text
    assert set(said.json()) == {"error"}
    assert set(said.json()["error"]) == {"type", "message", "hint", "exit_code"}
    return said.json()["error"]["message"]
