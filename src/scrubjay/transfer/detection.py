"""Format detection: which tool wrote the memories at a path.

Folders of OpenClaw (2026.9.6, "Memory overview") and Claude Code (2.1, "Manage Claude's memory") are still written by
their tools, so they become synced sources instead of being copied.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any, Final

from scrubjay.errors import InputError, SourceError
from scrubjay.transfer.formats import FormatReader, SyncedFolder

OPENCLAW_FILES: Final = ("/MEMORY.md", "/memory.md", "/USER.md", "/DREAMS.md", "/memory/**/*.md")
CLAUDE_HOME: Final = ("/CLAUDE.md", "/rules/**/*.md", "/projects/*/memory/**/*.md")
CLAUDE_PROJECT: Final = ("/CLAUDE.md", "/CLAUDE.local.md", "/.claude/CLAUDE.md", "/.claude/rules/**/*.md")


def openclaw_folder(path: Path) -> SyncedFolder | None:
    """Return what to sync of an OpenClaw workspace, or of its parent folder."""
    if path.is_file():
        return SyncedFolder(path, (), "OpenClaw's memory") if path.name == "MEMORY.md" else None
    if not _any(path, ("MEMORY.md", "memory.md", "memory/*.md")):
        path = path / "workspace"
    if not _any(path, ("MEMORY.md", "memory.md", "memory/*.md")):
        return None
    return SyncedFolder(path, OPENCLAW_FILES, "OpenClaw's memory")


def claude_code_folder(path: Path) -> SyncedFolder | None:
    """Return what to sync of Claude Code's folder, or of a project's."""
    text = "Claude Code's memory"
    if path.is_file():
        return SyncedFolder(path, (), text) if path.name in ("CLAUDE.md", "CLAUDE.local.md") else None
    if path.name == "memory" and path.parent.parent.name == "projects" and _any(path, ("*.md",)):
        return SyncedFolder(path, (), text)
    if _any(path, ("projects/*/memory/*.md",)):
        return SyncedFolder(path, CLAUDE_HOME, text)
    if _any(path, ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md")):
        return SyncedFolder(path, CLAUDE_HOME if path.name == ".claude" else CLAUDE_PROJECT, text)
    return None


def _any(folder: Path, patterns: tuple[str, ...]) -> bool:
    return folder.is_dir() and any(next(folder.glob(pattern), None) is not None for pattern in patterns)


HEAD_BYTES: Final = 64 * 1024
MAX_NOTES: Final = 50
IMPORT_FORMATS: Final = (
    "auto", "scrubjay", "openclaw", "claude-code", "basic-memory", "mem0", "agentmemory", "mcp-memory", "jsonl",
)  # fmt: skip
FOLDER_FORMATS: Final = {"openclaw": openclaw_folder, "claude-code": claude_code_folder}
_PERMALINK = re.compile(r"\A\ufeff?---\s*\n(?:.*\n)*?permalink:", re.MULTILINE)
_LOOKED_FOR: Final = (
    "an export of scrubjay, of agentmemory (version, sessions, observations) or of mem0 (results with memory), "
    "a graph of the MCP memory server (entities, relations), lines with content, notes of Basic Memory "
    "(permalink), CLAUDE.md or projects/*/memory of Claude Code, MEMORY.md or memory/ of OpenClaw"
)


def detect_format(path: Path) -> str:
    """Return the format of a file or folder.

    Raises:
        SourceError: It cannot be read.
        InputError: Its format is unknown.
    """
    try:
        found = _folder(path) if path.is_dir() else _file(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}. Nothing was imported.") from error
    if found is None:
        raise InputError(
            f"{path} has an unknown format. Looked for: {_LOOKED_FOR}. Nothing was imported.",
            hint="name it with --format; `scrubjay sync` ingests plain notes and conversations",
        )
    return found


def synced_folder(path: Path, format: str) -> SyncedFolder:
    """Return what to sync of a folder of Markdown.

    Raises:
        InputError: The tool keeps nothing there.
    """
    found = FOLDER_FORMATS[format](path)
    if found is None:
        raise InputError(
            f"{path} holds no memory of {format}. Nothing was imported.",
            hint="docs/import.md lists what it looks for",
        )
    return found


def format_reader(format: str) -> FormatReader:
    from scrubjay.transfer import formats

    return {
        "agentmemory": formats.read_agentmemory,
        "basic-memory": formats.read_basic_memory,
        "jsonl": formats.read_jsonl,
        "mcp-memory": formats.read_mcp_memory,
        "mem0": formats.read_mem0,
    }[format]


def _folder(path: Path) -> str | None:
    if claude_code_folder(path) is not None:
        return "claude-code"
    notes = islice((file for file in path.rglob("*.md") if file.is_file()), MAX_NOTES)
    if any(_PERMALINK.match(_head(file).decode("utf-8", "replace")) for file in notes):
        return "basic-memory"
    return "openclaw" if openclaw_folder(path) is not None else None


def _file(path: Path) -> str | None:
    head = _head(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    if path.suffix.lower() in (".md", ".markdown"):
        if claude_code_folder(path) is not None:
            return "claude-code"
        if _PERMALINK.match(head.decode("utf-8", "replace").replace("\r\n", "\n")):
            return "basic-memory"
        return "openclaw" if openclaw_folder(path) is not None else None
    for line in head.split(b"\n"):
        value = _json_object(line)
        found = _record(value) if value is not None else None
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
    results = value.get("results")
    if "memory" in value or (
        isinstance(results, list)
        and (not results or (isinstance(results[0], dict) and "memory" in results[0]))
    ):
        return "mem0"
    return "jsonl" if isinstance(value.get("content", value.get("text")), str) else None


def _json_object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, dict) else None


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(HEAD_BYTES)
