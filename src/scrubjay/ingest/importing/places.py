"""Places: folders of Markdown that agents keep as their memory -> what of them is synced.

They go on living: the agent writes into them tomorrow. So they become sources, kept in step and cited by
lines, and are not copied.

OpenClaw (2026.9.6, its page "Memory overview")
    A workspace: ``MEMORY.md``, ``USER.md``, ``DREAMS.md`` and ``memory/``. Its SQLite index is made of these
    files and holds nothing that they do not, so it is not read.
Claude Code (2.1, its page "Manage Claude's memory")
    Its folder (``~/.claude``): ``CLAUDE.md``, ``rules/`` and each project's ``projects/*/memory/``. A
    project's folder: ``CLAUDE.md``, ``CLAUDE.local.md``, ``.claude/CLAUDE.md`` and ``.claude/rules/``, as far
    as ``.gitignore`` lets them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scrubjay.ingest.importing.item import Folder

OPENCLAW: Final = ("/MEMORY.md", "/memory.md", "/USER.md", "/DREAMS.md", "/memory/**/*.md")
CLAUDE_HOME: Final = ("/CLAUDE.md", "/rules/**/*.md", "/projects/*/memory/**/*.md")
CLAUDE_PROJECT: Final = ("/CLAUDE.md", "/CLAUDE.local.md", "/.claude/CLAUDE.md", "/.claude/rules/**/*.md")


def openclaw(path: Path) -> Folder | None:
    """Return what of an OpenClaw workspace, or of its folder, is synced; None where it is none."""
    if path.is_file():
        return Folder(path, (), "OpenClaw's memory") if path.name == "MEMORY.md" else None
    if not _any(path, ("MEMORY.md", "memory.md", "memory/*.md")):
        path = path / "workspace"
    if not _any(path, ("MEMORY.md", "memory.md", "memory/*.md")):
        return None
    return Folder(path, OPENCLAW, "OpenClaw's memory")


def claude_code(path: Path) -> Folder | None:
    """Return what of Claude Code's folder, or of a project's, is synced; None where there is nothing of it."""
    text = "Claude Code's memory"
    if path.is_file():
        return Folder(path, (), text) if path.name in ("CLAUDE.md", "CLAUDE.local.md") else None
    if path.name == "memory" and path.parent.parent.name == "projects" and _any(path, ("*.md",)):
        return Folder(path, (), text)
    if _any(path, ("projects/*/memory/*.md",)):
        return Folder(path, CLAUDE_HOME, text)
    if _any(path, ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md")):
        return Folder(path, CLAUDE_HOME if path.name == ".claude" else CLAUDE_PROJECT, text)
    return None


def _any(folder: Path, patterns: tuple[str, ...]) -> bool:
    return folder.is_dir() and any(next(folder.glob(pattern), None) is not None for pattern in patterns)
