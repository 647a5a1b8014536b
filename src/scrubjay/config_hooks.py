"""Hooks: the sections of the settings that say what happens while an agent works, and what is written down of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from scrubjay.config_keys import number, whole, word
from scrubjay.log import LEVELS, Log

EVENTS: Final = ("session-start", "prompt", "stop", "pre-compact", "session-end", "heartbeat")


@dataclass(frozen=True, slots=True)
class Hooks:
    """[hooks]: what happens while an agent works."""

    events: tuple[str, ...] = field(
        default=EVENTS,
        metadata=word("At which events something is done.", kind="list", choices=EVENTS),
    )
    budget_ms: int = field(
        default=300,
        metadata=whole("Milliseconds after which an agent goes on without an answer.", 20, 60_000),
    )
    start_tokens: int = field(
        default=1_500, metadata=whole("Most tokens put into a session that begins.", 50, 100_000)
    )
    prompt_tokens: int = field(default=600, metadata=whole("Most tokens put before a prompt.", 50, 100_000))
    own_project: bool = field(
        default=True,
        metadata=word(
            "Whether only memories of the project that the agent works in, and of none, are put in.",
            kind="switch",
        ),
    )


@dataclass(frozen=True, slots=True)
class Resident:
    """[resident]: the process that stays, with its models loaded, and answers fast."""

    auto: bool = field(
        default=True, metadata=word("Whether a session that begins starts one.", kind="switch")
    )
    idle_minutes: float = field(
        default=30.0, metadata=number("Minutes without a question after which it ends.", 0.01, 10_000)
    )


@dataclass(frozen=True, slots=True)
class Logging:
    """[log]: the log of what happens behind an agent's back."""

    level: str = field(default="info", metadata=word("The least that is written.", choices=LEVELS))
    most_kb: int = field(
        default=1_000, metadata=whole("Size at which it is put aside as `log.1`, in kB.", 1, 1_000_000)
    )
    slow_ms: int = field(
        default=1_000,
        metadata=whole(
            "Milliseconds from which a question is told of, with where they went; 0: every one.", 0, 3_600_000
        ),
    )
    queries: bool = field(
        default=False, metadata=word("Whether such a question's words are written too.", kind="switch")
    )

    def open(self, folder: str) -> Log:
        """Return the log of a data folder."""
        return Log(folder, self.level, self.most_kb * 1000)
