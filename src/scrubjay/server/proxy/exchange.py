"""Exchange: one completion request, with memories injected before it and its turns queued after it.

gate > rewrite > retrieve > inject > forward > remember
"""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.server.proxy.adapters import CompletionRequest, ResponseReader
from scrubjay.server.proxy.request import Utterance, object_members, parse_conversation
from scrubjay.server.proxy.retrieval import EMPTY_CONTEXT, RetrievedContext
from scrubjay.server.proxy.upstream import Header, forwarded_headers

if TYPE_CHECKING:
    import httpx
    from starlette.types import Send

    from scrubjay.api.auth import Principal
    from scrubjay.server.proxy.adapters import ProviderAdapter
    from scrubjay.server.proxy.app import Proxy
    from scrubjay.server.proxy.request import MemoryOptions


MEMORIES_HEADER: Final = b"x-scrubjay-memories"
"""Header of an answer that says how many memories were put into its request."""


@dataclass
class Exchange:
    """One completion request and its response."""

    passing: Proxy
    adapter: ProviderAdapter
    who: Principal
    wish: MemoryOptions
    recalled: RetrievedContext = EMPTY_CONTEXT
    _asked: CompletionRequest | None = None
    _reader: ResponseReader | None = None
    _queued: bool = field(default=False)

    async def prepared(self, body: bytes, *, readable: bool) -> bytes:
        """Return the body to send: with memories injected, or unchanged."""
        if not readable or not (self.wish.reads or self.wish.writes):
            return body
        self._asked = await asyncio.to_thread(parse_request, body)
        if self._asked is None or not self.wish.reads:
            return body
        recalled = await self.passing.retriever.recalled(self.who, self.wish, self._asked.conversation)
        if not recalled.text:
            return body
        role = self.passing.settings.role
        changed = await asyncio.to_thread(_inject, self.adapter, self._asked, recalled.text, role)
        if changed is None:
            return body
        self.recalled = recalled
        return changed

    @property
    def stores_answer(self) -> bool:
        """Whether the response is parsed and its turns are queued."""
        return self._asked is not None and self.wish.writes

    async def answered(self, response: httpx.Response, send: Send) -> None:
        """Stream the response to the client; its turns are queued before its end.

        Raises:
            UpstreamTruncatedError: It broke off; nothing of it is stored.
        """
        headers = [
            *forwarded_headers(response.headers.raw),
            (MEMORIES_HEADER, str(self.recalled.memories).encode()),
        ]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        if self.stores_answer and response.is_success and not _is_compressed(headers):
            streamed = response.headers.get("content-type", "").lower().startswith("text/event-stream")
            self._reader = ResponseReader(self.adapter.parser(), streamed=streamed)
        length, passed_by = int(response.headers.get("content-length") or -1), 0
        async for piece in self.passing.upstream.pieces(response):
            passed_by += len(piece)
            if self._reader is not None:
                self._reader.feed(piece)
                if passed_by == length:
                    await asyncio.to_thread(self._reader.end)
                if self._reader.parser.ended:
                    await asyncio.to_thread(self.keep)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if self._reader is not None and not self._queued:
            await asyncio.to_thread(self._last)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _last(self) -> None:
        if self._reader is not None:
            self._reader.end()
        self.keep()

    def keep(self) -> None:
        """Queue the user's turns and as much of the answer as has passed, once."""
        if self._reader is None or self._asked is None or self._queued:
            return
        self._queued = True
        parser, told = self._reader.parser, self._asked.conversation
        session = self.wish.session or told.name
        if not session or parser.failed or not parser.begun:
            return
        turns = list(told.fresh)
        if answer := parser.text.strip():
            turns.append(Utterance("assistant", answer, len(told.said)))
        try:
            before = told.said[: len(told.said) - len(told.fresh)]
            written, dropped = self.passing.queue.put(self.who, self.wish, session, turns, before)
        except (OSError, sqlite3.Error) as error:
            self.passing.drops.dropped(len(turns), "unwritten", type(error).__name__)
            return
        if dropped:
            self.passing.drops.dropped(dropped, "full", "the queue is full")
        if written:
            self.passing.wake()


def parse_request(body: bytes) -> CompletionRequest | None:
    """Parse a request; None if it cannot be understood (or has a key twice), and is forwarded unchanged."""
    try:
        text = body.decode("utf-8")
        found = object_members(text, "messages")
    except (ValueError, RecursionError):
        return None
    if any(len(found.get(name, [])) > 1 for name in ("messages", "system")) or "messages" not in found:
        return None
    single = {name: each[-1] for name, each in found.items()}
    if not single["messages"].items:
        return None
    return CompletionRequest(text, single, parse_conversation(single["messages"].items))


def _inject(adapter: ProviderAdapter, asked: CompletionRequest, memories: str, role: str) -> bytes | None:
    changed = adapter.injected(asked, memories, role)
    return None if changed is None else changed.encode("utf-8")


def uncompressed_headers(headers: list[Header]) -> list[Header]:
    """Return the headers with a request for an uncompressed response."""
    return [
        *(each for each in headers if each[0].lower() != b"accept-encoding"),
        (b"accept-encoding", b"identity"),
    ]


def _is_compressed(headers: list[Header]) -> bool:
    return any(key.lower() == b"content-encoding" and value.lower() != b"identity" for key, value in headers)
