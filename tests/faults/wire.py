"""A wire to a PostgreSQL server that is cut at a chosen request: before that is passed on, or before its answer is.

The second is what makes a commit's outcome unknown: the server has done it, and nobody is told.
"""

from __future__ import annotations

import select
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PORT = ".s.PGSQL.5432"
REQUESTS = (b"Q", b"S")
"""First letters of the messages after which a client waits for an answer: a simple statement, the end of others."""
READY = b"Z"


class Cut(Exception):
    """The wire is cut here."""


class Messages:
    """Bytes of one direction -> whole messages."""

    def __init__(self, *, greeting: bool) -> None:
        self._rest = b""
        self._greeting = greeting

    def read(self, more: bytes) -> list[bytes]:
        """Take more bytes, and return the messages that are whole by now; a client's first one has no letter."""
        self._rest += more
        found = []
        while True:
            start = 0 if self._greeting else 1
            if len(self._rest) < start + 4:
                return found
            size = start + int.from_bytes(self._rest[start : start + 4])
            if len(self._rest) < size:
                return found
            found.append(b"\0" + self._rest[:size] if self._greeting else self._rest[:size])
            self._rest, self._greeting = self._rest[size:], False


class Wire:
    """A socket in a folder of its own, behind which is that of a server.

    Attributes:
        folder: Where its socket lies.
        asked: Requests that were passed on since the last `arm`.
        cuts: How often it was cut.
    """

    def __init__(self, folder: Path, server: Path) -> None:
        self.folder = folder
        self._server = str(server / PORT)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / PORT))
        self._listening.listen(64)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._ending = False
        self.cuts = 0
        self.asked = 0
        self._at: int | None = None
        self._answered = False
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def arm(self, at: int | None, *, answered: bool = False) -> None:
        """Count from here, and cut at a request, counted from 1; ``answered``: the server does it all the same."""
        with self._lock:
            self.asked, self._at, self._answered = 0, at, answered

    def through(self, url: str) -> str:
        """Return the URL by which a database of the server is reached over the wire."""
        return f"{url.partition('host=')[0]}host={self.folder}"

    def close(self) -> None:
        self._ending = True
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join(30)
        for thread in self._threads:
            thread.join(30)
        self._listening.close()

    def _accept(self) -> None:
        while not self._ending:
            try:
                client, _ = self._listening.accept()
            except OSError:  # it was closed
                return
            thread = threading.Thread(target=self._carry, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            try:
                server.connect(self._server)
                self._pass_on(client, server)
            except (Cut, OSError):
                return

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        said, answered = Messages(greeting=True), Messages(greeting=False)
        while True:
            ready = select.select([client, server], [], [])[0]
            if server in ready:
                more = server.recv(65_536)
                if not more:
                    return
                answered.read(more)
                client.sendall(more)
            if client in ready:
                more = client.recv(65_536)
                if not more:
                    return
                for message in said.read(more):
                    self._ask(message, server, answered)

    def _ask(self, message: bytes, server: socket.socket, answered: Messages) -> None:
        """Pass a message on, or cut the wire."""
        cut = False
        if message[:1] in REQUESTS:
            with self._lock:
                self.asked += 1
                cut = self.asked == self._at
                self.cuts += cut
        if cut and not self._answered:
            raise Cut
        server.sendall(message[1:] if message[:1] == b"\0" else message)
        while cut:
            more = server.recv(65_536)
            if not more or any(one[:1] == READY for one in answered.read(more)):
                raise Cut


@contextmanager
def wired(url: str) -> Iterator[Wire]:
    """Put a wire before the server of a database, for as long as a block."""
    with tempfile.TemporaryDirectory(prefix="sj-wire-") as folder:
        made = Wire(Path(folder), Path(url.partition("host=")[2]))
        try:
            yield made
        finally:
            made.close()
