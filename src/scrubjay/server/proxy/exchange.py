"""Exchange: one completion request, with memories injected before it and its turns queued after it.

gate > rewrite > retrieve > inject > forward > remember
"""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.server.proxy.adapters import CompletionRequest, ResponseReader
from scrubjay.server.proxy.request import Utterance, object_members, parse_conversation
from scrubjay.server.proxy.upstream import Header, forwarded_headers

if TYPE_CHECKING:
    import httpx
    from starlette.types import Send

    from scrubjay.api.auth import Principal
    from scrubjay.server.proxy.adapters import ProviderAdapter
    from scrubjay.server.proxy.app import Proxy
    from scrubjay.server.proxy.request import MemoryOptions


MEMORIES_HEADER: Final = b"x-scrubjay-memories"
"""Response header with the number of injected memories."""


@dataclass
class Exchange:
    """One completion request and its response."""

    proxy: Proxy
    adapter: ProviderAdapter
    who: Principal
    options: MemoryOptions
    _request: CompletionRequest | None = None
    _memories: int = 0
    _reader: ResponseReader | None = None
    _queued: bool = False

    async def prepare(self, body: bytes, *, readable: bool) -> bytes:
        """Return the body to send: with memories injected, or unchanged."""
        if not readable or not (self.options.reads or self.options.writes):
            return body
        self._request = await asyncio.to_thread(parse_request, body)
        if self._request is None or not self.options.reads:
            return body
        context = await self.proxy.retriever.retrieve(self.who, self.options, self._request.conversation)
        if not context.text:
            return body
        role = self.proxy.settings.role
        changed = await asyncio.to_thread(self.adapter.inject, self._request, context.text, role)
        if changed is None:
            return body
        self._memories = context.memories
        return await asyncio.to_thread(changed.encode, "utf-8")

    @property
    def stores_answer(self) -> bool:
        return self._request is not None and self.options.writes

    async def respond(self, response: httpx.Response, send: Send) -> None:
        """Stream the response to the client; its turns are queued before its end."""
        headers = [
            *forwarded_headers(response.headers.raw),
            (MEMORIES_HEADER, str(self._memories).encode()),
        ]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        if self.stores_answer and response.is_success and not _is_compressed(headers):
            streamed = response.headers.get("content-type", "").lower().startswith("text/event-stream")
            self._reader = ResponseReader(self.adapter.parser(), streamed=streamed)
        length, size = int(response.headers.get("content-length") or -1), 0
        async for piece in self.proxy.upstream.stream(response):
            size += len(piece)
            if self._reader is not None:
                self._reader.feed(piece)
                if size == length:
                    await asyncio.to_thread(self._reader.end)
                if self._reader.parser.ended:
                    await asyncio.to_thread(self.queue_turns)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if self._reader is not None and not self._queued:
            await asyncio.to_thread(self._reader.end)
            await asyncio.to_thread(self.queue_turns)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def queue_turns(self) -> None:
        """Queue the user's turns and the part of the answer that has passed, once."""
        if self._reader is None or self._request is None or self._queued:
            return
        self._queued = True
        parser, conversation = self._reader.parser, self._request.conversation
        session = self.options.session or conversation.name
        if not session or parser.failed or not parser.started:
            return
        turns = list(conversation.fresh)
        if answer := parser.text.strip():
            turns.append(Utterance("assistant", answer, len(conversation.turns)))
        before = conversation.turns[: len(conversation.turns) - len(conversation.fresh)]
        try:
            written, dropped = self.proxy.queue.put(self.who, self.options, session, turns, before)
        except (OSError, sqlite3.Error) as error:
            self.proxy.drops.record(len(turns), "unwritten", type(error).__name__)
            return
        if dropped:
            self.proxy.drops.record(dropped, "full", "the queue is full")
        if written:
            self.proxy.wake()


def parse_request(body: bytes) -> CompletionRequest | None:
    """Parse a request; None if it cannot be understood or repeats a key, and so is forwarded unchanged."""
    try:
        text = body.decode("utf-8")
        members = object_members(text, "messages")
    except (ValueError, RecursionError):
        return None
    if any(len(members.get(name, [])) > 1 for name in ("messages", "system")) or "messages" not in members:
        return None
    single = {name: values[-1] for name, values in members.items()}
    messages = single["messages"].items
    return CompletionRequest(text, single, parse_conversation(messages)) if messages else None


def uncompressed_headers(headers: list[Header]) -> list[Header]:
    return [
        *(header for header in headers if header[0].lower() != b"accept-encoding"),
        (b"accept-encoding", b"identity"),
    ]


def _is_compressed(headers: list[Header]) -> bool:
    return any(key.lower() == b"content-encoding" and value.lower() != b"identity" for key, value in headers)
