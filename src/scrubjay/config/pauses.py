"""Pauses: the periods and sessions in which hooks do nothing and whose turns a sync skips.

Transcripts also hold what was said during a pause, so each pause is remembered. The file is append-only, one JSON
object a line.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


FILE_NAME = "pauses"
ALL_AGENTS = ""
"""Used instead of an agent's name."""


class Pauses:
    """The pauses of one data folder, read when this is made; damaged lines are skipped.

    Attributes:
        spans: (agent or ``ALL_AGENTS``, from, until) of each pause, seconds since 1970; until may be infinite.
        sessions: Sessions that were begun with ``SCRUBJAY_OFF``.
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, FILE_NAME)
        self.spans: list[tuple[str, float, float]] = []
        self.sessions: set[str] = set()
        try:
            with open(self.path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except (OSError, ValueError):
            return
        import json

        for line in lines:
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError):
                continue

    def _take(self, change: dict[str, Any]) -> None:
        at, kind = float(change["at"]), change["do"]
        if kind == "pause":
            until = float("inf") if change["until"] is None else float(change["until"])
            self.spans.append((str(change["agent"]), at, until))
        elif kind == "resume":
            self.spans = [
                (agent, start, min(until, at) if change["agent"] in (ALL_AGENTS, agent) else until)
                for agent, start, until in self.spans
            ]
        elif kind == "off":
            self.sessions.add(str(change["session"]))

    def until(self, agent: str, at: float | None = None) -> float | None:
        """Return until when an agent's hooks do nothing, infinite for no end; None if they work."""
        at = time.time() if at is None else at
        ends = [
            until for who, start, until in self.spans if who in (ALL_AGENTS, agent) and start <= at < until
        ]
        return max(ends, default=None)

    def running(self) -> dict[str, float]:
        """Return the agents (or ``ALL_AGENTS``) paused now, and until when."""
        at = time.time()
        found: dict[str, float] = {}
        for who, start, until in self.spans:
            if start <= at < until:
                found[who] = max(until, found.get(who, until))
        return found

    def silent(self, agent: str, session: str, at: int | None) -> bool:
        """Return whether a turn belongs to a pause or an excluded session.

        Args:
            agent: The agent.
            session: The conversation; a branch of one is named ``session~branch``.
            at: Microseconds since 1970; None for unknown, which is in no pause.
        """
        if session in self.sessions or session.partition("~")[0] in self.sessions:
            return True
        return at is not None and bool(self.spans) and self.until(agent, at / 1e6) is not None

    def pause(self, agent: str = ALL_AGENTS, seconds: float | None = None) -> float | None:
        """Begin a pause, and return its end.

        Raises:
            OSError: It cannot be written; then there is no pause.
        """
        at = time.time()
        until = None if seconds is None else at + seconds
        self._append({"at": at, "do": "pause", "agent": agent, "until": until})
        return until

    def resume(self, agent: str = ALL_AGENTS) -> None:
        """End the pauses of an agent, or all.

        Raises:
            OSError: It cannot be written; then they go on.
        """
        self._append({"at": time.time(), "do": "resume", "agent": agent})

    def leave(self, session: str) -> None:
        """Exclude a session.

        Raises:
            OSError: It cannot be written.
        """
        if session and session not in self.sessions:
            self._append({"at": time.time(), "do": "off", "session": session})

    def _append(self, change: dict[str, Any]) -> None:
        import json

        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            end = os.fstat(descriptor).st_size
            torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n" if hasattr(os, "pread") else False
            os.write(descriptor, ("\n" * torn + json.dumps(change) + "\n").encode("ascii"))
        finally:
            os.close(descriptor)
        self._take(change)
