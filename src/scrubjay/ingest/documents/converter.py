"""Converter: reads documents with the worker process, and accepts only text within limits."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from scrubjay.ingest.documents.limits import MAX_SECONDS
from scrubjay.ingest.files import FileBytes, FileText, UnconvertibleError
from scrubjay.ingest.scanner import document_suffix

KEPT: Final = "What was stored of it before is kept."
IGNORE_HINT: Final = "leave it out by a line in .scrubjayignore"


class DocumentConverter:
    """Converts documents; the process is started for the first one, and again after a crash."""

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._end(self._process)

    def convert(self, path: str, file: FileBytes) -> FileText:
        """Return a document's text.

        Raises:
            UnconvertibleError: It is encrypted, damaged, without text, or larger than the limits.
        """
        reply = self._ask(path, file.data)
        if "error" in reply:
            raise UnconvertibleError(f"{path} {reply['error']} {KEPT}", hint=reply["hint"] or IGNORE_HINT)
        return FileText(
            reply["text"].replace("\0", "\ufffd"),
            file.content_hash,
            file.mtime_ns,
            file.size,
            title=reply["title"],
            problems=tuple(reply["problems"]),
            converted=True,
        )

    def _ask(self, path: str, data: bytes) -> Mapping[str, Any]:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        timed_out = threading.Event()

        def end_process() -> None:
            timed_out.set()
            process.kill()

        timer = threading.Timer(self._seconds, end_process)
        timer.start()
        try:
            head = json.dumps({"suffix": document_suffix(path), "size": len(data)})
            process.stdin.write(head.encode() + b"\n" + data)
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:  # it ended before it read everything
            line = b""
        finally:
            timer.cancel()
        if timed_out.is_set() or not line.endswith(b"\n"):
            self._end(process)
        if line.endswith(b"\n"):
            reply: Mapping[str, Any] = json.loads(line)
            return reply
        if timed_out.is_set():
            return {"error": f"was not read within {self._seconds:g} seconds.", "hint": "split it"}
        return {
            "error": "ended the program that reads documents: it is damaged, or needs too much memory.",
            "hint": "",
        }

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "scrubjay.ingest.documents.worker"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        return self._process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._process = None
        process.kill()
        assert process.stdin is not None
        with suppress(OSError):  # bytes that it did not read
            process.stdin.close()
        with process:  # closes the other pipe, and waits
            pass
