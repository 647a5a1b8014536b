"""A reranker on the loopback that speaks the published wire of ``/rerank`` and refuses anything else.

By default a document scores the share of the query's words that stand in it. It can be told to answer anything instead,
to hang, or to drip.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from loopback import Reply, answering

FIELDS = {"model", "query", "documents"}


def share(query: str, document: str) -> float:
    asked = query.lower().split()
    return sum(word in document.lower() for word in asked) / max(len(asked), 1)


def results(scores: Sequence[float]) -> list[dict[str, Any]]:
    """Results as the services send them: best first."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [{"index": place, "relevance_score": scores[place]} for place in order]


@dataclass
class Reranks:
    """One running service.

    Attributes:
        key: What it wants as a key, or empty for none.
        style: ``results`` (Cohere, Jina) or ``data`` (Voyage): the name of what an answer holds.
        answer: The parsed request -> what the list of results is; or a reply, ``HANG`` or ``DRIP``.
        asked: Requests, parsed.
        headers: Their headers.
    """

    url: str = ""
    key: str = ""
    style: str = "results"
    answer: Callable[[Any], object] | Reply | str = field(
        default=lambda body: results([share(body["query"], text) for text in body["documents"]])
    )
    asked: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def reply(self, path: str, headers: dict[str, str], raw: bytes) -> Reply | str:
        self.headers.append(headers)
        body = json.loads(raw)
        self.asked.append(body)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            return 401, json.dumps({"message": f"invalid api token {headers.get('authorization')}"}).encode()
        texts = body.get("documents")
        kinds = isinstance(texts, list) and texts and all(isinstance(text, str) and text for text in texts)
        if path != "/v1/rerank" or set(body) != FIELDS or not kinds or not body["query"]:
            return 400, json.dumps({"message": f"wire: {path} {sorted(body)}"}).encode()
        if not callable(self.answer):
            return self.answer
        told = {
            "id": "r",
            "model": body["model"],
            self.style: self.answer(body),
            "usage": {"total_tokens": 9},
        }
        return 200, json.dumps(told).encode()


@contextmanager
def serving() -> Iterator[Reranks]:
    """Run a service for as long as the block lasts."""
    service = Reranks()
    with answering(service.reply) as url:
        service.url = f"{url}/v1"
        yield service
