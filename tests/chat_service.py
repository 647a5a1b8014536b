"""A language model on the loopback that speaks the published wire of ``/chat/completions`` and refuses anything else.

What it answers is a function of the request's two messages; it can also be told to answer something else entirely.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from loopback import Reply, answering

FIELDS = {"model", "messages", "stream", "temperature", "max_completion_tokens", "response_format"}


def wrapped(content: object) -> bytes:
    """A documented answer that holds this text."""
    message = {"role": "assistant", "content": content, "refusal": None}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**body, "choices": choices, "usage": usage}).encode()


def facts(*items: tuple[str, str], kind: str = "fact") -> Callable[[Any], object]:
    """Answer with these (quote, statement), each for the first turn that holds the quote, else for the first."""

    def answer(turns: Any) -> object:
        found = []
        for quote, statement in items:
            turn = next((one["turn"] for one in turns if quote in one["text"]), 0)
            found.append({"turn": turn, "quote": quote, "kind": kind, "statement": statement})
        return found

    return answer


@dataclass
class Chat:
    """One running service.

    Attributes:
        facts: What it answers to turns, given the parsed request; a reply, ``HANG`` or ``DRIP`` instead.
        digests: The same for digests.
        questions: The same for questions to be rewritten.
        asked: Requests for any of them, parsed.
        tried: Requests that came in.
    """

    url: str = ""
    key: str = ""
    facts: Callable[[Any], object] | Reply | str = field(default=lambda _: [])
    digests: Callable[[Any], object] | Reply | str = field(
        default=lambda lines: [line["text"] for line in lines]
    )
    questions: Callable[[Any], object] | Reply | str = field(default=lambda given: given["question"])
    asked: list[tuple[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    tried: int = 0

    def reply(self, path: str, headers: dict[str, str], raw: bytes) -> Reply | str:
        self.tried += 1
        self.headers.append(headers)
        body = json.loads(raw)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            said = {"error": {"message": f"Incorrect API key provided: {headers.get('authorization')}"}}
            return 401, json.dumps(said).encode()
        roles = [message["role"] for message in body.get("messages", ())]
        if path != "/v1/chat/completions" or not set(body) <= FIELDS or roles != ["system", "user"]:
            return 400, json.dumps({"error": {"message": f"wire: {path} {sorted(body)} {roles}"}}).encode()
        given = json.loads(body["messages"][1]["content"])
        task = body["messages"][0]["content"]
        which = "facts" if "lasting statements" in task else "digests"
        which = "questions" if "follow-up question" in task else which
        self.asked.append((which, given))
        answer = getattr(self, which)
        if not callable(answer):
            return answer
        made = answer(given)
        return 200, wrapped(made if isinstance(made, str) else json.dumps(made))


@contextmanager
def serving() -> Iterator[Chat]:
    """Run a service for as long as the block lasts."""
    chat = Chat()
    with answering(chat.reply) as url:
        chat.url = f"{url}/v1"
        yield chat
