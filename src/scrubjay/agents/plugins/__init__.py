"""Plugins in an agent's own language, for agents whose configuration is not enough."""

from __future__ import annotations

from pathlib import Path


def files(agent: str) -> dict[str, bytes]:
    """Return the files of an agent's plugin: name to content."""
    folder = Path(__file__).with_name(agent)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
