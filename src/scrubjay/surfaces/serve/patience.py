"""Patience: connections whose request does not come -> closed, so that slow clients hold no place for ever.

uvicorn ends connections that are idle after an answer, but waits without end for the first request and for the rest
of a head. Of one address only so many may wait: a process has a bounded number of connections, and one client could
take them all. What a body takes, `bodies` limits.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from scrubjay.surfaces.serve.bodies import network

MOST_SILENT: Final = 256
"""Connections of one address that bring no request; for one more, the one that has been silent longest is closed."""


def patient(seconds: float) -> type[H11Protocol]:
    """Return a protocol for uvicorn that waits so long for the whole head of each request."""
    silent: defaultdict[str, dict[H11Protocol, None]] = defaultdict(dict)

    class Patient(H11Protocol):
        """One connection."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._expect()

        def handle_events(self) -> None:
            super().handle_events()
            if self.cycle is not None and not self.cycle.response_complete:
                self._came()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.cycle.response_complete:  # else one that was sent ahead is being answered already
                self._expect()

        def connection_lost(self, exc: Exception | None) -> None:
            self._came()
            super().connection_lost(exc)

        def _expect(self) -> None:
            self._came()
            self._deadline = self.loop.call_later(seconds, self.timeout_keep_alive_handler)
            others = silent[self._address]
            others[self] = None
            if len(others) > MOST_SILENT:
                longest = next(iter(others))
                del others[longest]
                longest.timeout_keep_alive_handler()

        @property
        def _address(self) -> str:
            return network(self.client[0]) if self.client else ""

        def _came(self) -> None:
            silent[self._address].pop(self, None)
            if not silent[self._address]:
                del silent[self._address]
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Patient
