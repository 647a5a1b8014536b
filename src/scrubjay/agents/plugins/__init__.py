"""Plugins: what is written in an agent's own language because its configuration alone cannot say it."""

from __future__ import annotations

from pathlib import Path


def files(agent: str) -> dict[str, bytes]:
    """Return an agent's plugin: name to content of each file as it is shipped."""
    folder = Path(__file__).with_name(agent)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
