"""Instructions for agents: a skill, and a few lines for a file that is always in context."""

from __future__ import annotations

from pathlib import Path


def skill() -> str:
    return _read("SKILL.md")


def block() -> str:
    """Return the lines for an agent's own instruction file, without a trailing line end."""
    return _read("block.md").rstrip("\n")


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")
