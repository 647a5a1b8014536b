"""A model on the loopback that says what it was told to say, in OpenAI's and in Anthropic's form, and keeps what came.

A reply is a status, headers and pieces. A piece may be an event to wait for; a reply may break off before its end.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from loopback import Handler, listening

PATIENCE = 30
"""Seconds that a stand-in waits for a test before it goes on all the same."""


@dataclass
class Reply:
    """What is answered.

    Attributes:
        pieces: Bytes, each written at once; an event is waited for.
        chunked: Whether it is sent in chunks; otherwise its length is told.
        cut: Whether the connection breaks off after the last piece.
    """

    pieces: Sequence[bytes | threading.Event]
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    chunked: bool = False
    cut: bool = False


@dataclass
class Request:
    """What came in."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


@dataclass
class Model:
    """One running service."""

    url: str = ""
    answer: Callable[[Request], Reply] = field(default=lambda request: fine(request))
    asked: list[Request] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def last(self) -> Request:
        return self.asked[-1]


def fine(request: Request) -> Reply:
    """An answer of one word, in the form that is asked for."""
    return (message if request.path.endswith("/messages") else completion)("Fine.")


def completion(text: str | None, **more: Any) -> Reply:
    """A chat completion that says this."""
    message = {"role": "assistant", "content": text, "refusal": None, **more}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Reply([json.dumps(body).encode()])


def event(data: Any, name: str = "") -> bytes:
    """One event of a stream."""
    told = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {told}\n\n".encode()


def chunk(text: str, finish: str | None = None) -> bytes:
    """One chunk of a streamed chat completion."""
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return event(body)


DONE = event("[DONE]")
STREAM = {"content-type": "text/event-stream; charset=utf-8"}


def streamed(*texts: str) -> Reply:
    """A streamed chat completion that says these, a chunk each."""
    return Reply([*map(chunk, texts), chunk("", "stop"), DONE], headers=STREAM, chunked=True)


def message(text: str) -> Reply:
    """A message that says this."""
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "stop_sequence": None, "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    return Reply([json.dumps(body).encode()])


def message_events(*texts: str) -> list[bytes]:
    """The events of a streamed message that says these, a delta each."""
    begun = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": None,
        "stop_sequence": None, "content": [], "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in texts
    ]
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return [event(one, str(one["type"])) for one in told]


def message_streamed(*texts: str) -> Reply:
    """A streamed message that says these."""
    return Reply(message_events(*texts), headers=STREAM, chunked=True)


class _Handler(Handler):
    model: Model

    def _do(self) -> None:
        request = Request(self.command, self.path, list(self.headers.items()), self._body())
        self.model.asked.append(request)
        try:
            self._reply(self.model.answer(request))
        except OSError:
            self.close_connection = True  # who asked has had enough

    do_GET = do_POST = do_DELETE = do_PUT = _do

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        held = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            held += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return held

    def _reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.chunked:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header(
                "content-length", str(sum(len(one) for one in reply.pieces if isinstance(one, bytes)))
            )
        self.end_headers()
        for piece in reply.pieces:
            if isinstance(piece, threading.Event):
                piece.wait(PATIENCE)
            else:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if reply.chunked else piece)
                self.wfile.flush()
        if reply.cut:
            self.close_connection = True
        elif reply.chunked:
            self.wfile.write(b"0\r\n\r\n")


@contextmanager
def modelling() -> Iterator[Model]:
    """Run a model for as long as the block lasts."""
    model = Model()
    with listening(type("Asked", (_Handler,), {"model": model})) as model.url:
        try:
            yield model
        finally:
            model.over.set()
