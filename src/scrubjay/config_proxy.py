"""Proxy: the section of the settings that says where the proxy passes requests on to, and what it adds and keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from scrubjay.config_keys import number, whole, word

MODES: Final = ("on", "read", "write", "off")
"""Both; only put memories in; only remember what passes; neither."""
ROLES: Final = ("auto", "system", "developer", "user")
PARTS: Final = ("pinned", "profile", "recent", "relevant")


@dataclass(frozen=True, slots=True)
class Proxy:
    """[proxy]: what stands in front of a model and remembers what passes."""

    openai: str = field(
        default="https://api.openai.com/v1",
        metadata=word("Where /openai/v1 leads: a service with OpenAI's interface."),
    )
    anthropic: str = field(
        default="https://api.anthropic.com",
        metadata=word("Where /anthropic leads: a service with Anthropic's interface."),
    )
    openai_key_env: str = field(
        default="",
        metadata=word(
            "Environment variable with the key for requests that show a token of scrubjay or no key; read only "
            "when named.",
            default="none",
        ),
    )
    anthropic_key_env: str = field(default="", metadata=word("The same for /anthropic.", default="none"))
    memory: str = field(
        default="on",
        metadata=word(
            "What is done where a request does not say: put memories in and remember (on), one of both, or neither.",
            choices=MODES,
        ),
    )
    tokens: int = field(default=800, metadata=whole("Most tokens put into a request.", 50, 100_000))
    parts: tuple[str, ...] = field(
        default=("pinned", "profile", "relevant"),
        metadata=word(
            "What is put in where something stored has to do with the question; of a profile only where somebody asks "
            "about themselves.",
            kind="list",
            choices=PARTS,
        ),
    )
    role: str = field(
        default="auto",
        metadata=word(
            "Role of the message that is put into a chat completion; auto is developer where the conversation has "
            "such a message, else system.",
            choices=ROLES,
        ),
    )
    budget_ms: int = field(
        default=250,
        metadata=whole("Milliseconds after which a request goes on without memories.", 1, 60_000),
    )
    connect_seconds: float = field(
        default=10.0, metadata=number("Seconds to reach the upstream.", 0.05, 3_600)
    )
    first_byte_seconds: float = field(
        default=600.0, metadata=number("Seconds from there to the first byte of its answer.", 0.05, 86_400)
    )
    idle_seconds: float = field(
        default=600.0, metadata=number("Seconds between two pieces of its answer.", 0.05, 86_400)
    )
    queue_mb: int = field(
        default=64,
        metadata=whole(
            "What may wait of one user to be remembered, in MB; what comes when it is full is dropped.",
            1,
            100_000,
        ),
    )
