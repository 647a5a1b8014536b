"""The viewer's pages without a socket: requests go into the application, answers are read as HTML."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
from http_here import LOCAL

from scrubjay import Memory
from scrubjay.api.auth import TokenStore
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.server.app import create_app
from scrubjay.server.middleware import RootPathMiddleware
from scrubjay.server.session import Session

HERE = "http://127.0.0.1:8765"


class Read(HTMLParser):
    """What of a page could run, load or lead somewhere, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]

    def faults(self) -> list[str]:
        """What runs, is styled or comes from somewhere else than this server's own files."""
        found = []
        for tag, attrs in self.tags:
            found += [f"{tag} {name}" for name in attrs if name.startswith("on") or name == "style"]
            for name in ("src", "href", "action", "formaction", "hx-get", "data-web"):
                link = attrs.get(name) or "/"
                if tag == "a" and name == "href" and _leads_elsewhere_openly(attrs):
                    continue
                if urlsplit(link).scheme or urlsplit(link).netloc or not link.startswith(("/", "#")):
                    found.append(f"{tag} {name}={link}")
            script = tag == "script" and not (attrs.get("src") or "").startswith(
                ("/assets/", "/memory/assets/")
            )
            if script or tag in ("style", "iframe", "object", "embed", "img", "base"):
                found.append(tag)
        return found


def _leads_elsewhere_openly(attrs: dict[str, str | None]) -> bool:
    """Whether a link is one of a memory's text: to the web, marked, and without a way back."""
    web = urlsplit(attrs.get("href") or "").scheme in ("http", "https", "mailto")
    alone = (attrs.get("rel") or "").split() == ["noopener", "noreferrer", "nofollow"]
    return web and alone and (attrs.get("class"), attrs.get("target")) == ("external", "_blank")


class Pages:
    """Asks for pages as a browser does: no redirect is followed unseen."""

    def __init__(
        self, client: httpx2.AsyncClient, runner: asyncio.Runner, memory: Memory, state: Any
    ) -> None:
        self.client, self.runner, self.memory, self.state = client, runner, memory, state

    def get(self, path: str, code: int = 200, **options: Any) -> Read:
        said = self.runner.run(self.client.get(path, **options))
        assert said.status_code == code, said.text
        assert said.headers["content-type"].startswith("text/html")
        assert "script-src 'self'" in said.headers["content-security-policy"]
        read = Read(said.text)
        assert read.faults() == []
        return read

    def post(self, path: str, fields: dict[str, str] | None = None, **options: Any) -> httpx2.Response:
        options["headers"] = {
            "content-type": "application/x-www-form-urlencoded",
            "sec-fetch-site": "same-origin",
            **options.get("headers", {}),
        }
        return self.runner.run(self.client.post(path, content=urlencode(fields or {}), **options))

    def ended(self, task: asyncio.Task[None] | None) -> None:
        """Wait for what goes on behind a page."""

        async def wait() -> None:
            assert task is not None
            await task

        self.runner.run(wait())


@contextmanager
def pages(
    settings: Settings,
    tokens: TokenStore,
    *,
    open_here: bool = True,
    headers: dict[str, str] | None = None,
    under: str = "",
    own_models: bool = False,
) -> Iterator[Pages]:
    def opening() -> Memory:
        if own_models:
            return Memory.open(settings=settings)
        return Memory.open(settings=settings, embedders=[HashEmbedder(64)])

    with asyncio.Runner() as runner, Session(settings, opening) as session:
        app: Any = create_app(session, tokens, tokenless=LOCAL if open_here else None)
        transport = httpx2.ASGITransport(app=RootPathMiddleware(app, under))
        client = httpx2.AsyncClient(
            transport=transport, base_url=HERE, headers={"accept": "text/html", **(headers or {})}
        )
        yield Pages(client, runner, session.memory(), app.app.state)
        runner.run(client.aclose())


def settings_of(environ: dict[str, str]) -> Settings:
    return replace(load_settings(), cache_dir=Path(environ["SCRUBJAY_CACHE_DIR"]))
