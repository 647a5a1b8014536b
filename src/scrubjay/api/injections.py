"""Injection log: what hooks put into each session of an agent, for the session's next hook and for the viewer.

A session has one file of JSON lines below the data folder. A line holds ids and sizes and no text, so that a forgotten
memory leaves nothing here. Little of the standard library is imported: every hook reads its session's file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from scrubjay.config.paths import make_private

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


MAX_SESSIONS = 1_000
"""Sessions whose files are kept, the latest."""
MAX_FILE_BYTES = 1_000_000
"""Bytes that are read of a session's file, its last: days of work."""
SUFFIX = ".jsonl"


class Injection:
    """What one hook put into a session.

    Attributes:
        at: Seconds since the epoch.
        agent: Agent name, ``claude-code``.
        session: The agent's id of the session.
        event: ``session-start``, ``prompt``, or ``late``: a fresh session's start that was not answered in time.
        folder: The working directory, empty if unknown.
        fresh: Whether the model's context was empty before: what was put in earlier counts no more.
        tokens: Size of the text.
        memories: Of each memory ``id``, ``part`` of the text, ``tokens``, and ``relevance`` (0 to 1) where it
            answered a question.
    """

    __slots__ = ("agent", "at", "event", "folder", "fresh", "memories", "session", "tokens")

    def __init__(
        self,
        agent: str,
        session: str,
        event: str,
        *,
        at: float,
        folder: str = "",
        fresh: bool = False,
        tokens: int = 0,
        memories: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.agent, self.session, self.event = agent, session, event
        self.at, self.folder, self.fresh = at, folder, fresh
        self.tokens, self.memories = tokens, tuple(memories)


def in_context(injections: Iterable[Injection]) -> list[Injection]:
    """Return those in the context of a session's model: the last fresh one and all after it.

    ``injections`` are those of one session, the earliest first.
    """
    visible: list[Injection] = []
    for injection in injections:
        if injection.fresh:
            visible.clear()
        visible.append(injection)
    return visible


def times_in_context(injections: Iterable[Injection]) -> dict[str, float]:
    """Return the ids of the memories in the context of a session's model, in the order they came.

    With each is the time at which it came last, in seconds since 1970. ``injections`` are those of one session, the
    earliest first.
    """
    return {
        str(memory["id"]): injection.at
        for injection in in_context(injections)
        for memory in injection.memories
    }


class InjectionLog:
    """The injections of one data folder."""

    def __init__(self, data: str) -> None:
        self.folder = os.path.join(data, "injections")

    def append(self, injection: Injection) -> None:
        """Write one injection; raises OSError if it cannot be written."""
        import json

        fields = {name: getattr(injection, name) for name in Injection.__slots__}
        line = json.dumps(fields, ensure_ascii=True).encode("ascii") + b"\n"
        make_private(self.folder)
        path = self._path(injection.agent, injection.session)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def session(self, agent: str, session: str) -> list[Injection]:
        """Return the injections of a session, the earliest first; none if there are none or they cannot be read."""
        return self._read(self._path(agent, session))

    def remove(self, agent: str, session: str) -> None:
        """Remove the injections of a session; raises OSError if they cannot be removed."""
        try:
            os.unlink(self._path(agent, session))
        except FileNotFoundError:
            return

    def sessions(self, limit: int) -> list[list[Injection]]:
        """Return the injections of each session, the latest session first, at most ``limit``."""
        sessions = (self._read(path) for path in self._paths()[:limit])
        return [injections for injections in sessions if injections]

    def tidy(self) -> None:
        """Remove the files of all but the latest `MAX_SESSIONS`."""
        for path in self._paths()[MAX_SESSIONS:]:
            os.unlink(path)

    def _path(self, agent: str, session: str) -> str:
        import hashlib

        name = hashlib.sha256(f"{agent}\0{session}".encode("utf-8", "replace")).hexdigest()[:32]
        return os.path.join(self.folder, name + SUFFIX)

    def _paths(self) -> list[str]:
        """Return the sessions' files, the latest first."""
        try:
            files = [entry for entry in os.scandir(self.folder) if entry.name.endswith(SUFFIX)]
        except OSError:
            return []
        files.sort(key=lambda entry: (entry.stat().st_mtime, entry.name), reverse=True)
        return [entry.path for entry in files]

    @staticmethod
    def _read(path: str) -> list[Injection]:
        """Return a file's injections; a line that was cut by a full disk or by the limit is left out."""
        import json

        try:
            with open(path, "rb") as file:
                file.seek(max(os.fstat(file.fileno()).st_size - MAX_FILE_BYTES, 0))
                lines = file.read().splitlines()
        except OSError:
            return []
        injections = []
        for line in lines:
            try:
                injections.append(Injection(**json.loads(line)))
            except (ValueError, TypeError):
                continue
        return injections
