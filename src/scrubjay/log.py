"""JSON log: one object a line in a small file beside the store; it never holds a memory's text or a question.

Hooks write here, so only light modules are imported. Failures are ignored: a log must not end what it reports.
"""

from __future__ import annotations

import os
import time

LEVELS = ("debug", "info", "warning", "error")
MAX_BYTES = 1_000_000
"""Size at which the file is rotated to ``log.1``; the two never take more than twice that."""
FILE_NAME = "log"
OLD_FILE_NAME = "log.1"


class Log:
    """The log of one data folder, from a minimum level on."""

    def __init__(self, folder: str, level: str = "info", most_bytes: int = MAX_BYTES) -> None:
        self.path = os.path.join(folder, FILE_NAME)
        self._least = LEVELS.index(level)
        self._most = most_bytes

    def write(self, level: str, event: str, ms: float | None = None, **facts: str | float | bool) -> None:
        """Write one line.

        Args:
            level: One of ``LEVELS``.
            event: What happened, in a few constant words.
            ms: Duration in milliseconds.
            facts: Names, numbers, kinds of error; no memory, no question.
        """
        if LEVELS.index(level) < self._least:
            return
        import json

        at = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z"
        entry: dict[str, object] = {"time": stamp, "level": level, "event": event}
        if ms is not None:
            entry["ms"] = round(ms, 1)
        line = json.dumps(entry | {"pid": os.getpid()} | facts, ensure_ascii=True) + "\n"
        try:
            self._append(line.encode("ascii"))
        except OSError:
            return

    def _append(self, data: bytes) -> None:
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        descriptor = self._open()
        try:
            if os.fstat(descriptor).st_size + len(data) > self._most:
                os.close(descriptor)
                descriptor = -1
                self._rotate()
                descriptor = self._open()
            os.write(descriptor, data)  # one write: lines of two processes do not mix
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def _rotate(self) -> None:
        """Rename the file, unless another process has just done so."""
        if os.stat(self.path).st_size * 2 > self._most:
            os.replace(self.path, os.path.join(os.path.dirname(self.path), OLD_FILE_NAME))
