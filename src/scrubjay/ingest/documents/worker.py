"""Worker: reads documents in a process of its own, one after the other, until its input ends.

A hostile or damaged file may crash a parser, fill the memory or keep it busy for ever; then only this process ends.
Each request is a line of JSON with ``suffix`` and ``size``, and so many bytes; each reply a line of JSON.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable
from typing import Final

from scrubjay.ingest.documents.limits import MAX_MEMORY, UnreadableDocumentError

STACK_BYTES: Final = 64 * 1024 * 1024
RECURSION_LIMIT: Final = 20_000
"""Levels of nesting that a library which recurses may reach; the stack has room for them."""


def _reader_for(suffix: str) -> Callable[[bytes], tuple[str, str, list[str]]]:
    if suffix == ".pdf":
        from scrubjay.ingest.documents.pdf import read_pdf

        return read_pdf
    if suffix == ".docx":
        from scrubjay.ingest.documents.archives import read_docx

        return read_docx
    if suffix == ".epub":
        from scrubjay.ingest.documents.archives import read_epub

        return read_epub
    from scrubjay.ingest.documents.html import read_html

    return read_html


def convert(suffix: str, data: bytes) -> dict[str, object]:
    """Return a document's text, title and problems, or an error and a hint."""
    try:
        text, title, problems = _reader_for(suffix)(data)
    except UnreadableDocumentError as error:
        return {"error": str(error), "hint": error.hint}
    except RecursionError:
        return {"error": "is nested deeper than is read.", "hint": ""}
    except MemoryError:
        return {
            "error": f"needs more than the {MAX_MEMORY:,} bytes of memory that it may take.",
            "hint": "split it",
        }
    return {"text": text, "title": title, "problems": problems}


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MAX_MEMORY if hard == resource.RLIM_INFINITY else min(MAX_MEMORY, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ValueError, OSError):  # macOS refuses some values
        return


def _serve() -> None:
    with open(0, "rb") as requests, open(1, "wb") as replies:
        while line := requests.readline():
            request = json.loads(line)
            data = requests.read(request["size"])
            replies.write(json.dumps(convert(request["suffix"], data)).encode() + b"\n")
            replies.flush()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the sync, which then closes the input
    _limit_memory()
    sys.setrecursionlimit(RECURSION_LIMIT)
    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=_serve)
    thread.start()
    thread.join()


if __name__ == "__main__":
    main()
