"""Ask: a verb and its arguments -> what a resident answers, or None, and the caller goes on without one.

Standard library alone, and little of it: this is what a warm hook consists of.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping

from scrubjay.resident.place import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_ANSWER = 16_000_000
"""Bytes of an answer that are read."""


def ask(
    path: str | None, fingerprint: str, verb: str, arguments: Mapping[str, Any], seconds: float
) -> dict[str, Any] | None:
    """Ask the resident of a place.

    Args:
        path: Its socket; None where there can be none.
        fingerprint: The mark of the caller's settings; a resident with others refuses.
        verb: What is asked.
        arguments: Of the verb.
        seconds: How long to wait.

    Returns:
        What the verb answers; None where nobody answers in time, or refuses, or the verb failed.
    """
    if path is None or not safe(path):
        return None
    request = {"settings": fingerprint, "verb": verb, "arguments": arguments}
    try:
        told = _exchanged(path, json.dumps(request).encode("ascii") + b"\n", time.monotonic() + seconds)
        answer = json.loads(told)["answer"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _exchanged(path: str, request: bytes, end: float) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(_left(end))
        line.connect(path)
        line.sendall(request)
        parts: list[bytes] = []
        size = 0
        while not parts or not parts[-1].endswith(b"\n"):
            line.settimeout(_left(end))
            part = line.recv(262_144)
            size += len(part)
            if not part or size > MOST_ANSWER:
                raise ConnectionError(f"no whole answer, {size} bytes")
            parts.append(part)
        return b"".join(parts)


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is up")
    return left
