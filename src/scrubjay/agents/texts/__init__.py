"""Texts: what an agent is told about its memory: a skill, and a few lines for a file that it always reads."""

from __future__ import annotations

from pathlib import Path


def skill() -> str:
    """Return the skill: when to search, follow, keep and forget, with examples."""
    return _read("SKILL.md")


def block() -> str:
    """Return the few lines that stand in an agent's own instructions; without a line end at the end."""
    return _read("block.md").rstrip("\n")


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")
