"""Conversation: the messages of a request -> what was said in it, and what is asked now."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from scrubjay.ingest.echo import echo
from scrubjay.ingest.sources.transcripts.tags import without
from scrubjay.surfaces.proxy.places import Placed
from scrubjay.text.idle import idle

NOISE: Final = frozenset({"system-reminder"})
"""What agents put into a person's message in words of their own."""
SPEAKERS: Final = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: who said what, and which of the turns of its request it is, from 0."""

    role: str
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a request says.

    Attributes:
        said: All turns that say something in words, in their order.
        fresh: What the person said since the model's last answer.
        asked: The last of that; empty where the model is only given what a tool returned, or nothing.
        question: What the person said last, whenever that was.
        beginning: What the person said first that says something; empty where they did not yet.
        place: Place of the person's last message in the request's text; None where there is none.
    """

    said: tuple[Said, ...]
    fresh: tuple[Said, ...]
    asked: str
    question: str
    beginning: str
    place: int | None

    @property
    def before(self) -> tuple[Said, ...]:
        """What was said before the question."""
        own = [one.number for one in self.said if one.role == "user"]
        return tuple(one for one in self.said if own and one.number < own[-1])

    @property
    def name(self) -> str:
        """A name that the conversation has as long as it begins so; empty where it has not begun."""
        digest = hashlib.sha256(self.beginning.encode("utf-8", "replace")).hexdigest()
        return f"proxy-{digest[:24]}" if self.beginning else ""


def conversation(messages: Sequence[Placed]) -> Conversation:
    """Return what messages say, of either interface; what is no message is passed over.

    An answer that the client begins for the model, the last message, is part of what the model is about to say.
    """
    held = [one for one in messages if isinstance(one.value, dict)]
    while held and held[-1].value.get("role") == "assistant":
        held.pop()
    said: list[Said] = []
    fresh: list[Said] = []
    place = None
    asked = ""
    for one in held:
        role, text = one.value.get("role"), words(one.value.get("content"))
        if role == "user":
            place = one.start if text or place is None else place
        if role in SPEAKERS and text:
            said.append(Said(str(role), text, len(said)))
        if role == "assistant":
            fresh = []
        elif role == "user" and text:
            fresh.append(said[-1])
        asked = text if role == "user" else ("" if role in ("assistant", "tool", "function") else asked)
    own = [one.text for one in said if one.role == "user"]
    beginning = next((text for text in own if not idle(text)), "")
    return Conversation(tuple(said), tuple(fresh), asked, own[-1] if own else "", beginning, place)


def words(content: Any) -> str:
    """Return what a message says in words, without what was recalled into it; of images and tools nothing."""
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        text = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    else:
        return ""
    return without(echo(text).text, NOISE).strip()
