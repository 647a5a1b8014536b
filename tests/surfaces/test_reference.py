"""The pages that are written from the code are what the code says now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from scrubjay.surfaces.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "generate_docs.py"


def test_the_reference_is_in_step_with_the_code() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_every_command_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert all(f"### scrubjay {name}\n" in page for name in COMMANDS)
