"""The proxy before a scripted model, served in a thread of the test's process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvicorn
from scripted_model import Model

from scrubjay import Memory
from scrubjay.api.auth import TokenStore
from scrubjay.config.loader import load_settings
from scrubjay.models.records import Record
from scrubjay.server.auth import AuthMiddleware, TokenlessAccess
from scrubjay.server.proxy.app import ERROR_FORMATS, Proxy, create_proxy
from scrubjay.server.run import Address
from scrubjay.server.session import Session


@dataclass
class Proxied:
    """A running proxy."""

    url: str
    model: Model
    passing: Proxy
    session: Session
    loop: asyncio.AbstractEventLoop
    log: Path

    @property
    def openai(self) -> str:
        return f"{self.url}/openai/v1"

    @property
    def anthropic(self) -> str:
        return f"{self.url}/anthropic"

    def rested(self) -> None:
        """Wait until what passed is remembered."""
        assert self.passing.worker is not None
        asyncio.run_coroutine_threadsafe(self.passing.worker.wait_until_drained(), self.loop).result(30)

    def turns(self, user: str | None = None) -> list[Record]:
        """What was remembered of conversations, as it was said."""
        self.rested()
        memory = self.session.memory()
        memory = memory.seen_by(user) if user else memory
        return turns_of(memory)

    def injected(self) -> str:
        """What the model was given of memory last; empty for nothing."""
        found = [one for one in texts(self.model.last.json) if one.startswith("<scrubjay-memories>")]
        assert len(found) <= 1
        return found[0] if found else ""


def turns_of(memory: Memory) -> list[Record]:
    """All turns in a store, in the order in which they were said."""
    from scrubjay.models.records import RecordFilter

    desk = memory.workspace
    with desk.store.reader(desk.scope) as reader:
        held = reader.latest(RecordFilter(tiers=("observation",)), 1_000)
    return sorted(
        held, key=lambda one: (one.session or "", one.turn or 0, one.event.start if one.event else 0)
    )


def texts(body: Any) -> list[str]:
    """All texts that a request gives the model, in whatever form."""
    found: list[str] = []
    system = body.get("system", [])
    messages = [one["content"] for one in body["messages"]]
    for content in [system, *messages]:
        if isinstance(content, str):
            found.append(content)
        else:
            found += [part["text"] for part in content or [] if part.get("type") == "text"]
    return found


class _Server(uvicorn.Server):
    """Tells when it has begun."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.begun = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.loop = asyncio.get_running_loop()
        self.begun.set()


@contextmanager
def proxying(
    environ: Mapping[str, str],
    model: Model,
    *,
    open_here: bool = True,
    llm: Any = None,
    opening: Any = None,
    **settings: Any,
) -> Iterator[Proxied]:
    """Run the proxy for as long as the block lasts."""
    known = load_settings(environ={})
    found = load_settings()
    base = {"openai": f"{model.url}/v1", "anthropic": model.url, "budget_ms": 30_000}
    found = replace(found, proxy=replace(known.proxy, **(base | settings)), llm=llm or found.llm)
    tokens = TokenStore(Path(environ["XDG_CONFIG_HOME"]) / "scrubjay" / "tokens.json")
    address = Address("127.0.0.1", 0)
    with Session(found, opening) as session:
        passing = Proxy(session)
        held = address.bind()
        app = AuthMiddleware(
            create_proxy(passing),
            tokens,
            session.owner,
            TokenlessAccess(always=True) if open_here else None,
            foreign=ERROR_FORMATS,
        )
        config = uvicorn.Config(
            app,
            log_level="critical",
            ws="none",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=2,
        )
        server = _Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [held]})
        thread.start()
        server.begun.wait(30)
        log = Path(environ["XDG_DATA_HOME"]) / "scrubjay" / "log"
        try:
            yield Proxied(address.url(held), model, passing, session, server.loop, log)
        finally:
            server.should_exit = True
            thread.join(30)
            held.close()
        assert not thread.is_alive()
