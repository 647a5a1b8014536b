"""Daemon client: find the daemon's socket, send a request, start and stop it.

The socket has mode 0600, in the user's folder of mode 0700, and is named by the settings' fingerprint; its owner holds
a lock beside it, so that a dead owner's socket is recognised. Windows has no such sockets in Python, and no daemon.

It imports only a little of the standard library, since a warm hook runs nothing else.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Mapping, Sequence

TYPE_CHECKING = False

if TYPE_CHECKING:
    import socket
    from typing import Any


MAX_PATH_BYTES = 100
"""Maximum length of a socket's path on every system."""
FINGERPRINT_DIGITS = 24
"""Digits of the fingerprint in the socket's name; requests are compared with all of it."""


def socket_path(folder: str, fingerprint: str) -> str | None:
    """Return the path of the socket, or None if there can be none."""
    if sys.platform == "win32":
        return None
    path = os.path.join(folder, f"{fingerprint[:FINGERPRINT_DIGITS]}.sock")
    return path if len(os.fsencode(path)) <= MAX_PATH_BYTES else None


def is_private_folder(path: str) -> bool:
    """Return whether the folder of a socket belongs to the user alone, so that nobody else made the socket."""
    if sys.platform == "win32":
        return False
    try:
        info = os.lstat(os.path.dirname(path))
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o077


def make_private_folder(path: str) -> bool:
    """Create the folder of a socket, and return whether it belongs to the user alone."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except OSError:
        return False
    return is_private_folder(path)


MAX_ANSWER_BYTES = 16_000_000
"""Maximum bytes of an answer."""


def ask_daemon(
    path: str | None, fingerprint: str, verb: str, arguments: Mapping[str, Any], seconds: float
) -> dict[str, Any] | None:
    """Return the daemon's answer; None if it does not answer in time, refuses, or fails.

    A daemon whose settings have another ``fingerprint`` refuses; ``seconds`` is the longest wait.
    """
    if path is None or not is_private_folder(path):
        return None
    request = {"settings": fingerprint, "verb": verb, "arguments": arguments}
    try:
        reply = _exchange(path, json.dumps(request).encode("ascii") + b"\n", time.monotonic() + seconds)
        answer = json.loads(reply)["answer"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _exchange(path: str, request: bytes, deadline: float) -> bytes:
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_seconds_left(deadline))
        connection.connect(path)
        connection.sendall(request)
        return receive_line(connection, MAX_ANSWER_BYTES, deadline)


def receive_line(connection: socket.socket, max_bytes: int, deadline: float) -> bytes:
    """Return a line of at most ``max_bytes``; raises OSError if it is incomplete at ``deadline`` (`time.monotonic`)."""
    parts: list[bytes] = []
    size = 0
    while not parts or not parts[-1].endswith(b"\n"):
        connection.settimeout(_seconds_left(deadline))
        part = connection.recv(262_144)
        size += len(part)
        if not part or size > max_bytes:
            raise ConnectionError(f"no whole line, {size} bytes")
        parts.append(part)
    return b"".join(parts)


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left


STATE_TIMEOUT = 10.0
"""Seconds to wait for a daemon's state."""


def daemon_state(path: str | None, fingerprint: str) -> dict[str, Any] | None:
    return ask_daemon(path, fingerprint, "state", {}, STATE_TIMEOUT)


def stop_daemon(path: str | None, fingerprint: str) -> dict[str, Any] | None:
    """End a daemon and return its last state; None if there is none."""
    return ask_daemon(path, fingerprint, "stop", {}, STATE_TIMEOUT)


def spawn_detached(arguments: Sequence[str], env: Mapping[str, str]) -> None:
    """Start scrubjay with these arguments in a session of its own, without this process's streams and folder."""
    # -P: a file in the current folder must not shadow a module.
    command = [sys.executable, "-P", "-m", "scrubjay", *arguments]
    if hasattr(os, "posix_spawn") and sys.platform == "linux":  # a tenth of the time that subprocess takes
        to_devnull = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        os.posix_spawn(command[0], command, dict(env), file_actions=to_devnull, setsid=True)
        return
    import subprocess

    flags = 0x00000208 if sys.platform == "win32" else 0  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
    subprocess.Popen(
        command, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, cwd=os.path.abspath(os.sep), creationflags=flags,
    )  # fmt: skip
