"""What the written-out reference holds; that it is in step with the code is tested in architecture/."""

from __future__ import annotations

from pathlib import Path

from scrubjay.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]


def test_every_command_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert all(f"### scrubjay {name}\n" in page for name in COMMANDS)
