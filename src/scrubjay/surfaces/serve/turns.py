"""Turns: a call that would wait -> its turn, or at once the answer that too many wait already."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

from scrubjay.errors import StoreBusyError


class Turns:
    """How many calls are under way.

    Args:
        most: How many may be, running or waiting.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._guard = threading.Lock()

    def take(self) -> None:
        """Take a turn, which `give` gives back.

        Raises:
            StoreBusyError: There is none.
        """
        with self._guard:
            if self._taken >= self._most:
                raise StoreBusyError(
                    f"{self._taken} requests run or wait for their turn already. Nothing was done.",
                    hint="ask again in a second; [server] most_waiting says how many may wait",
                )
            self._taken += 1

    def give(self, _done: Future[Any] | None = None) -> None:
        """Give a turn back."""
        with self._guard:
            self._taken -= 1
