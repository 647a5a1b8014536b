"""Turns: one message of a conversation, as a transcript's reader found it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PERSON: Final = frozenset(("user", "human"))
"""Roles of the people in a conversation; all others are programs."""
GENERIC: Final = PERSON | {"ai", "assistant", "developer", "function", "model", "system", "tool"}
"""Roles that are no names: a question with such a word in it rarely asks who said something."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, before it is scrubbed, cut and given an id.

    Attributes:
        key: What names it in its tool for ever (a message's uuid, else session and place): a copy of it in
            another file has the same key and is the same turn.
        role: ``user``, ``assistant`` or the name that the log gives the speaker.
        text: What was said, tool noise left out; never blank.
        session: The conversation, as the tool names it. A sidechain or an abandoned branch is one of its own.
        line: Line of the file it stands on, from 1; of a format without lines, the message's place from 1.
        start: First byte of its record in the file (first byte of the file, where records have none).
        end: First byte after it.
        at: UTC microseconds when it was said, or None.
        cwd: Directory it was said in, as the log gives it, or None.
        remote: URL of the repository it was said in, or None.
        agent: Name of the agent program: ``claude-code``, ``codex``, …
        origin: One of ``tiers.ORIGINS``: ``owner`` for a person's words, ``agent`` for the model's.
        title: What the log calls the conversation, or an empty string.
    """

    key: str
    role: str
    text: str
    session: str
    line: int
    start: int
    end: int
    at: int | None = None
    cwd: str | None = None
    remote: str | None = None
    agent: str = ""
    origin: str = "owner"
    title: str = ""
