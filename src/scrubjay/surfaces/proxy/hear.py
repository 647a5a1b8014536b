"""Hear: the bytes of an answer, piece by piece -> what the model said, and whether it has said all.

It never changes, delays or refuses a byte: what cannot be understood is not heard, and that is all.
"""

from __future__ import annotations

import json
from typing import Final

from scrubjay.surfaces.proxy.wire import Hearing

MOST_LINE: Final = 8 * 1024 * 1024
"""Bytes of one line of a stream; a longer one is no event of these interfaces."""
MOST_WHOLE: Final = 32 * 1024 * 1024
"""Bytes of an answer that is no stream and still heard."""


class Ear:
    """Hears one answer.

    Args:
        hearing: What understands its events.
        streamed: Whether it is a stream of events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    """

    def __init__(self, hearing: Hearing, *, streamed: bool) -> None:
        self.hearing = hearing
        self._streamed = streamed
        self._held = bytearray()
        self._data: list[bytes] = []
        self._deaf = False

    def feed(self, piece: bytes) -> None:
        """Hear one piece, wherever it was cut."""
        if self._deaf:
            return
        self._held += piece
        if self._streamed and b"\n" in piece:
            self._lines()
        if len(self._held) > (MOST_LINE if self._streamed else MOST_WHOLE):
            self._deaf = True
            self._held.clear()

    def end(self) -> None:
        """Hear what is left once there is no more."""
        if self._streamed:
            self.feed(b"\n\n")
        elif not self._deaf:
            self._said(bytes(self._held), whole=True)

    def _lines(self) -> None:
        *lines, rest = self._held.replace(b"\r\n", b"\n").split(b"\n")
        if not lines:
            return
        self._held = bytearray(rest)
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(bytes(line[5:].removeprefix(b" ")))
            elif not line.strip(b"\r") and self._data:
                self._said(b"\n".join(self._data), whole=False)
                self._data = []

    def _said(self, data: bytes, *, whole: bool) -> None:
        if data.strip() == b"[DONE]":
            self.hearing.event(None)
            return
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            return
        (self.hearing.whole if whole else self.hearing.event)(found)
