"""Within: a call that waits for a socket, and seconds -> what it came to, or None when they are over.

It knows no protocol. The call runs in a thread of its own, since nothing else ends a wait whose every step is short
enough: a server that sends a byte a second, a name whose every address is silent. When the seconds are over the
caller goes on at once; the socket is shut down, so that the thread ends, too, and closes what it held.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
NAME = "scrubjay-post"
"""What the threads are called."""


class Wire:
    """The socket that is waited for, known to the thread that waits and to the one that may end that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._cut = False

    def holds(self, connection: socket.socket) -> None:
        """Say which socket is waited for from now on; after a cut that one is shut down as well."""
        with self._lock:
            self._socket = connection
            if self._cut:
                _shut(connection)

    def cut(self) -> None:
        """End the wait, now and for whatever is waited for later."""
        with self._lock:
            self._cut = True
            if self._socket is not None:
                _shut(self._socket)


def _shut(connection: socket.socket) -> None:
    # Of an `SSLSocket` the plain method: its own takes the session away from under the thread that reads.
    with contextlib.suppress(OSError):  # closed already, or never connected
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


def within(seconds: float, call: Callable[[], T], wire: Wire, drop: Callable[[], None]) -> T | None:
    """Return what a call returns, or raise what it raises; None if it takes longer, and then its wire is cut.

    Args:
        seconds: How long the caller waits; also an interrupt ends that.
        call: What is called, in a thread of its own that ends with the process at the latest.
        wire: What the call waits for.
        drop: Called by that thread when the call has ended in an error, or when nobody waits for it any more.
    """
    from concurrent.futures import Future

    came: Future[T] = Future()
    over, lock, ended, left = threading.Event(), threading.Lock(), False, False

    def run() -> None:
        nonlocal ended
        failed = False
        try:
            came.set_result(call())
        except BaseException as error:  # noqa: BLE001 it is raised by the thread that asked
            came.set_exception(error)
            failed = True
        with lock:
            ended = True
        over.set()
        if left or failed:
            drop()

    threading.Thread(target=run, name=NAME, daemon=True).start()
    try:
        over.wait(seconds)
    finally:
        with lock:
            left = not ended
        if left:
            wire.cut()
    return None if left else came.result()
