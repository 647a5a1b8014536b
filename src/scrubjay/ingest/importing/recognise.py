"""Recognise: a path -> which tool's memories these are, told by their content."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any, Final

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest.importing.item import Folder, Reader
from scrubjay.ingest.importing.places import claude_code, openclaw

HEAD: Final = 64 * 1024
"""Bytes of a file that are looked at."""
NOTES: Final = 50
"""Notes of a folder that are looked at."""
FORMATS: Final = (
    "auto", "scrubjay", "openclaw", "claude-code", "basic-memory", "mem0", "agentmemory", "mcp-memory", "jsonl",
)  # fmt: skip
PLACES: Final = {"openclaw": openclaw, "claude-code": claude_code}
_PERMALINK = re.compile(r"\A\ufeff?---\s*\n(?:.*\n)*?permalink:", re.MULTILINE)
_LOOKED_FOR: Final = (
    "an export of scrubjay, of agentmemory (version, sessions, observations) or of mem0 (results with memory), "
    "a graph of the MCP memory server (entities, relations), lines with content, notes of Basic Memory "
    "(permalink), CLAUDE.md or projects/*/memory of Claude Code, MEMORY.md or memory/ of OpenClaw"
)


def recognise(path: Path) -> str:
    """Return the format of a file or folder.

    Raises:
        SourceError: It cannot be read.
        InputError: It is none that is known; what was looked for is named.
    """
    try:
        found = _folder(path) if path.is_dir() else _file(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}. Nothing was imported.") from error
    if found is None:
        raise InputError(
            f"{path} is of no format that is known. Looked for: {_LOOKED_FOR}. Nothing was imported.",
            hint="name it with --format; plain notes and conversations are taken in by `scrubjay sync`",
        )
    return found


def place(path: Path, format: str) -> Folder:
    """Return what is synced of a folder of Markdown.

    Raises:
        InputError: The tool keeps nothing there.
    """
    found = PLACES[format](path)
    if found is None:
        raise InputError(
            f"{path} holds no memory of {format}. Nothing was imported.",
            hint="docs/import.md says what it looks for",
        )
    return found


def reader(format: str) -> Reader:
    """Return what reads a format, imported now."""
    from scrubjay.ingest.importing import agentmemory, basic_memory, jsonl, mcp_memory, mem0

    return {
        "agentmemory": agentmemory.read,
        "basic-memory": basic_memory.read,
        "jsonl": jsonl.read,
        "mcp-memory": mcp_memory.read,
        "mem0": mem0.read,
    }[format]


def _folder(path: Path) -> str | None:
    if claude_code(path) is not None:
        return "claude-code"
    notes = islice((file for file in path.rglob("*.md") if file.is_file()), NOTES)
    if any(_PERMALINK.match(_head(file).decode("utf-8", "replace")) for file in notes):
        return "basic-memory"
    return "openclaw" if openclaw(path) is not None else None


def _file(path: Path) -> str | None:
    head = _head(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    if path.suffix.lower() in (".md", ".markdown"):
        if claude_code(path) is not None:
            return "claude-code"
        if _PERMALINK.match(head.decode("utf-8", "replace").replace("\r\n", "\n")):
            return "basic-memory"
        return "openclaw" if openclaw(path) is not None else None
    for line in head.split(b"\n"):
        value = _value(line)
        if value is not None:
            found = _record(value)
            if found is not None:
                return found
    return _record(dict.fromkeys(re.findall(r'"(\w+)"\s*:', head.decode("utf-8", "replace"))))


def _record(value: dict[str, Any]) -> str | None:
    if value.get("format") == "scrubjay-export":
        return "scrubjay"
    if value.get("type") in ("entity", "relation") or "entityType" in value:
        return "mcp-memory"
    if {"entities", "relations"} <= value.keys():
        return "mcp-memory"
    if {"version", "exportedAt"} <= value.keys():
        return "agentmemory"
    if "memory" in value or (
        "results" in value and value["results"] is not None and _memories(value["results"])
    ):
        return "mem0"
    return "jsonl" if isinstance(value.get("content", value.get("text")), str) else None


def _memories(value: object) -> bool:
    return isinstance(value, list) and (not value or (isinstance(value[0], dict) and "memory" in value[0]))


def _value(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, dict) else None


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(HEAD)
