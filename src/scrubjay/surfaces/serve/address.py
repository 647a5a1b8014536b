"""Address: ``HOST:PORT`` -> where to listen, and a socket that listens there."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import Final

from scrubjay.errors import InputError, StoreError

BACKLOG: Final = 256
"""Connections that may wait to be taken."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen.

    Attributes:
        host: A name or a number.
        port: 0 for any that is free.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address that ``HOST:PORT`` names.

        >>> Address.parse("[::1]:8080")
        Address(host='::1', port=8080)

        Raises:
            InputError: It names none.
        """
        host, colon, port = text.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65_535 or not host.strip("[]"):
            raise InputError(f"{text!r:.80} is no HOST:PORT.", hint="127.0.0.1:8765")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))

    @property
    def loopback(self) -> bool:
        """Whether nobody on another machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def url(self, held: socket.socket) -> str:
        """Return the URL of a socket that is bound to it.

        >>> with Address("127.0.0.1", 0).bound() as held:
        ...     Address("127.0.0.1", 0).url(held) == f"http://127.0.0.1:{held.getsockname()[1]}"
        True
        """
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{held.getsockname()[1]}"

    def bound(self) -> socket.socket:
        """Return a socket that listens there: from here on nobody is turned away who was told the address.

        Raises:
            StoreError: The address is taken, or not to be had.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # The protocol is named, or asyncio does not see that it is TCP, and each answer waits 40 ms for nothing.
        held = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((self.host, self.port))
            held.listen(BACKLOG)
        except OSError as error:
            held.close()
            raise StoreError(
                f"{self.host}:{self.port} cannot be listened on: {error.strerror}. Nothing was started.",
                hint="take another port, or 0 for any that is free",
            ) from error
        return held
