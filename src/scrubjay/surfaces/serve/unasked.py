"""Unasked: what a server does of its own accord -> done as ever, and nobody is told in the log how long it took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from scrubjay.config_hooks import Logging
from scrubjay.log import Log

_UNASKED: Final[ContextVar[bool]] = ContextVar("unasked", default=False)


@contextmanager
def unasked(warming: bool) -> Iterator[None]:
    """Say whether nobody asks for what this thread does in the block: the server is only warming itself."""
    before = _UNASKED.set(warming)
    try:
        yield
    finally:
        _UNASKED.reset(before)


class Asked(Log):
    """A log that is told of what somebody asked for, and of errors."""

    def __init__(self, settings: Logging, folder: str) -> None:
        """Args: the section ``[log]``, and the data folder."""
        super().__init__(folder, settings.level, settings.most_kb * 1000)

    def write(self, level: str, event: str, ms: float | None = None, **facts: str | float | bool) -> None:
        """Write one line, unless nobody asked."""
        if level == "error" or not _UNASKED.get():
            super().write(level, event, ms, **facts)
