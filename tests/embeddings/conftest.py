"""Services on the loopback that speak each provider's published wire format, and refuse anything else."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from loopback import Handler, listening
from scrubjay.embeddings.http import SERVICES

OPENAI_FIELDS = {"model", "input", "encoding_format", "dimensions", "user"}
VOYAGE_FIELDS = {
    "model",
    "input",
    "input_type",
    "truncation",
    "output_dimension",
    "output_dtype",
    "encoding_format",
}
GEMINI_FIELDS = {"model", "content", "taskType", "title", "outputDimensionality"}
GEMINI_TASKS = {
    "RETRIEVAL_QUERY",
    "RETRIEVAL_DOCUMENT",
    "SEMANTIC_SIMILARITY",
    "CLASSIFICATION",
    "CLUSTERING",
}
NATIVE = {"gemini-embedding-001": 3072, "voyage-3.5": 1024, "text-embedding-3-small": 1536}
HANG = "hang"
Reply = tuple[int, dict[str, str], bytes]


class WireError(Exception):
    """The request is not what the service's documentation allows."""


def vector(text: str, dimensions: int) -> list[float]:
    """Not of length 1, so that a test sees whether the client sees to that."""
    digest = hashlib.shake_128(text.encode()).digest(dimensions)
    return [byte / 64 - 1.99 for byte in digest]


def need(condition: bool, what: str) -> None:
    if not condition:
        raise WireError(what)


def texts_of(body: dict[str, Any], allowed: set[str]) -> list[str]:
    need(set(body) <= allowed, f"unknown fields {set(body) - allowed}")
    texts = body["input"]
    need(isinstance(texts, list) and 0 < len(texts) <= 2048, "input must be a list")
    need(all(isinstance(text, str) and text.strip() for text in texts), "input cannot be an empty string")
    return texts


def openai(path: str, body: dict[str, Any]) -> Any:
    need(path == "/v1/embeddings", path)
    texts = texts_of(body, OPENAI_FIELDS)
    size = body.get("dimensions") or NATIVE.get(body["model"], 8)
    data = [{"object": "embedding", "index": i, "embedding": vector(t, size)} for i, t in enumerate(texts)]
    # The documentation promises an index, not an order.
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}


def voyage(path: str, body: dict[str, Any]) -> Any:
    need(path == "/v1/embeddings", path)
    texts = texts_of(body, VOYAGE_FIELDS)
    need(
        body["input_type"] in ("query", "document") and body["truncation"] is False, "input_type, truncation"
    )
    size = body.get("output_dimension") or NATIVE.get(body["model"], 8)
    texts = [f"{body['input_type']}: {text}" for text in texts]
    data = [{"object": "embedding", "embedding": vector(t, size), "index": i} for i, t in enumerate(texts)]
    return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": len(texts)}}


def gemini(path: str, body: dict[str, Any]) -> Any:
    need(set(body) == {"requests"}, "requests")
    embeddings = []
    for request in body["requests"]:
        need(set(request) <= GEMINI_FIELDS, f"unknown fields {set(request) - GEMINI_FIELDS}")
        need(path == f"/v1/{request['model']}:batchEmbedContents", path)
        need(request["taskType"] in GEMINI_TASKS, "taskType")
        (part,) = request["content"]["parts"]
        need(bool(part["text"].strip()), "empty part")
        size = request.get("outputDimensionality") or NATIVE.get(request["model"].split("/")[1], 8)
        embeddings.append({"values": vector(f"{request['taskType']}: {part['text']}", size)})
    return {"embeddings": embeddings}


SPEAKS: dict[str, tuple[Callable[[str, dict[str, Any]], Any], str, str]] = {
    "openai": (openai, "authorization", "Bearer "),
    "openai-compatible": (openai, "authorization", "Bearer "),
    "voyage": (voyage, "authorization", "Bearer "),
    "gemini": (gemini, "x-goog-api-key", ""),
}


@dataclass
class Service:
    """One running service.

    ``script`` holds answers to give first, one a request; after that it answers as documented. An entry is a
    reply, ``HANG``, or a function of the documented answer.
    """

    provider: str
    url: str = ""
    key: str = "sk-secret-0123456789"
    script: list[Reply | str | Callable[[Any], Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0
    at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    def reply(self, path: str, headers: dict[str, str], raw: bytes) -> Reply | None:
        speak, header, prefix = SPEAKS[self.provider]
        body = json.loads(raw)
        with self.lock:
            self.requests.append(body)
            step = self.script.pop(0) if self.script else None
        if step == HANG:
            self.over.wait(20)
            return None
        if isinstance(step, tuple):
            return step
        if self.key and headers.get(header) != prefix + self.key:
            said = {"error": {"message": f"Incorrect API key provided: {headers.get(header)}"}}
            return 401, {}, json.dumps(said).encode()
        try:
            answer = speak(path, body)
        except (WireError, KeyError, TypeError) as exc:
            return 400, {}, json.dumps({"error": {"message": f"wire: {exc!r}"}}).encode()
        return 200, {}, json.dumps(step(answer) if callable(step) else answer).encode()


def handler(service: Service) -> type[Handler]:
    class Speaking(Handler):
        def do_POST(self) -> None:
            raw = self.body()
            with service.lock:
                service.at_once += 1
                service.most_at_once = max(service.most_at_once, service.at_once)
            reply = service.reply(self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
            with service.lock:
                service.at_once -= 1
            if reply is None:
                self.close_connection = True
                return
            status, headers, content = reply
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    return Speaking


@pytest.fixture(params=sorted(SERVICES))
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    running = Service(request.param)
    with listening(handler(running)) as url:
        running.url = f"{url}/v1"
        yield running
        running.over.set()
