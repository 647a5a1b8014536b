"""Serve: a socket and somebody who answers -> requests answered, each on a thread of its own, until told to stop.

A request is one line of JSON, ``{"settings": MARK, "verb": NAME, "arguments": {...}}``; so is an answer, ``{"answer":
{...}}``, ``{"refused": WHY}`` or ``{"failed": KIND}``. The peer must be the same user, as the kernel says, and
have the same settings. The first process to lock a place owns it; what a dead owner left is taken over.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import ScrubjayError
from scrubjay.resident.place import made
from scrubjay.verbs.errands import locked

if TYPE_CHECKING:
    from scrubjay.log import Log

MOST_REQUEST: Final = 1_000_000
"""Bytes of a request."""
PATIENCE: Final = 10.0
"""Seconds that a peer has to say what it wants, and to read the answer."""
AT_ONCE: Final = 32
"""Requests that are answered at the same time; who comes then goes on without an answer."""
LOOK: Final = 1.0
"""Seconds between two looks at whether it should end."""

Answer = Callable[[str, Mapping[str, Any]], dict[str, Any]]


class Resident:
    """One process's end of a socket."""

    def __init__(self, path: str, fingerprint: str, answer: Answer, log: Log, *, host: str) -> None:
        """Args: the socket, the mark of the settings, who answers, the log, and which command lives here."""
        self._path = path
        self._fingerprint = fingerprint
        self._answer = answer
        self._log = log
        self._host = host
        self._started = time.time()
        self._asked = time.monotonic()
        self._count = 0
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._ended = threading.Event()
        self._socket: socket.socket | None = None
        self._lock = -1

    def take(self) -> bool:
        """Take the place without answering yet; False where another process has it, or it cannot be had."""
        if self._lock >= 0:
            return True
        try:
            if not made(self._path):
                return False
            self._lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return False
        if not locked(self._lock):
            self._release()
            return False
        return True

    def open(self) -> bool:
        """Take the place and answer from now on; False as `take`."""
        if not self.take():
            return False
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)  # of an owner that died: the lock was free
            self._socket = self._bound()
        except OSError:
            self._release()
            return False
        threading.Thread(target=self._accept, args=(self._socket,), name="resident", daemon=True).start()
        return True

    def _bound(self) -> socket.socket:
        found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Between bind and chmod the folder, which nobody else can enter, keeps it.
            found.bind(self._path)
            os.chmod(self._path, 0o600)
            found.listen(64)
        except OSError:
            found.close()
            raise
        return found

    def close(self) -> None:
        """Give the place up; requests that are being answered are answered."""
        self._ended.set()
        if self._socket is None:
            self._release()
            return
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._socket.close()
        self._socket = None
        for _ in range(AT_ONCE):
            self._slots.acquire(timeout=PATIENCE)
        self._release()

    def _release(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def wait(self, idle: float, over: Callable[[], str]) -> str:
        """Wait until somebody stops it, nobody asked for ``idle`` seconds, or it is ``over``; return why.

        Args:
            idle: Seconds without a request after which it ends.
            over: Returns why it must end now, or nothing.
        """
        while not self._ended.wait(min(LOOK, idle)):
            if time.monotonic() - self._asked > idle:
                return "idle"
            if not os.path.exists(self._path):
                return "its socket is gone"
            if why := over():
                return why
        return "stopped"

    def _accept(self, listening: socket.socket) -> None:
        while not self._ended.is_set():
            try:
                line, _ = listening.accept()
            except OSError:
                return
            if not self._slots.acquire(blocking=False):
                line.close()
                continue
            threading.Thread(target=self._served, args=(line,), name="request", daemon=True).start()

    def _served(self, line: socket.socket) -> None:
        try:
            with line:
                line.settimeout(PATIENCE)
                told = json.dumps(self._reply(line)).encode("ascii") + b"\n"
                line.sendall(told)
        except OSError:
            return  # the peer has gone: it went on without an answer
        finally:
            self._slots.release()

    def _reply(self, line: socket.socket) -> dict[str, Any]:
        if not own(line):
            return {"refused": "another user"}
        request = _read(line)
        if request is None:
            return {"refused": "no request"}
        if request.get("settings") != self._fingerprint:
            return {"refused": "other settings"}
        verb, arguments = request.get("verb"), request.get("arguments")
        if not isinstance(verb, str) or not isinstance(arguments, dict):
            return {"refused": "no request"}
        if verb == "state":
            return {"answer": self.state()}
        if verb == "stop":
            self._ended.set()
            return {"answer": self.state()}
        self._asked = time.monotonic()
        self._count += 1
        try:
            return {"answer": self._answer(verb, arguments)}
        except (ScrubjayError, TypeError, ValueError, KeyError) as error:
            self._log.write("warning", "resident request failed", error=type(error).__name__)
            return {"failed": type(error).__name__}
        finally:
            self._asked = time.monotonic()

    def state(self) -> dict[str, Any]:
        """Return what is told of it."""
        idle = time.monotonic() - self._asked
        return {
            "pid": os.getpid(),
            "host": self._host,
            "started": self._started,
            "requests": self._count,
            "idle_seconds": round(idle, 1),
        }


def _read(line: socket.socket) -> dict[str, Any] | None:
    """Return the one request of a line; None for what is none."""
    end = time.monotonic() + PATIENCE
    parts: list[bytes] = []
    size = 0
    while not parts or not parts[-1].endswith(b"\n"):
        part = line.recv(65_536)
        size += len(part)
        if not part or size > MOST_REQUEST or time.monotonic() > end:
            return None
        parts.append(part)
    try:
        found = json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def own(line: socket.socket) -> bool:
    """Return whether the process at the other end runs as the same user, as the kernel tells."""
    platform: str = sys.platform
    if platform == "linux":
        told = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", told)[1]) == os.getuid()
    if platform == "darwin" or "bsd" in platform:
        # struct xucred: version, uid, and groups; SOL_LOCAL is 0 and LOCAL_PEERCRED 1.
        told = line.getsockopt(0, 1, 76)
        return int(struct.unpack_from("II", told)[1]) == os.getuid()
    return False
