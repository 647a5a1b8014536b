"""Wire: what is alike in the interfaces that are proxied: where they lie, what is read of a request and an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

from scrubjay.surfaces.proxy.conversation import Conversation
from scrubjay.surfaces.proxy.places import Placed


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for an answer, as its client wrote it.

    Attributes:
        text: Its body.
        members: The members of its body, each once.
        conversation: What is said in it.
    """

    text: str
    members: dict[str, Placed]
    conversation: Conversation


class Hearing(ABC):
    """Listens to an answer.

    Attributes:
        begun: Whether there was anything that this interface knows.
        ended: Whether the model is known to have said all.
        failed: Whether the upstream said that it failed.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.begun = self.ended = self.failed = False

    @property
    def text(self) -> str:
        """What the model said so far."""
        return "".join(self._parts)

    @abstractmethod
    def event(self, data: Any) -> None:
        """Hear one event of a stream."""

    @abstractmethod
    def whole(self, data: Any) -> None:
        """Hear an answer that is no stream."""


class Wire(Protocol):
    """One interface.

    Attributes:
        name: ``openai`` or ``anthropic``, as in the settings.
        prefix: What paths begin with here that belong to it.
        base: What of that does not stand in the upstream's URL.
        talk: The path, after the prefix, of requests that memories are put into.
    """

    name: str
    prefix: str
    base: str
    talk: str

    def injected(self, asked: Asked, memories: str, role: str) -> str | None:
        """Return the body with memories in it; None where there is no place for them."""

    def hearing(self) -> Hearing:
        """Return what listens to an answer."""

    def key(self, key: str, shown: str) -> tuple[str, str]:
        """Return the header that shows a key, where the client showed a token of ours in this one, if in any."""

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error of ours in the upstream's form."""
