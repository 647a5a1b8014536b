"""A home folder of the test's own, as an installer is told of it; makes `installing` importable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scrubjay.agents.agent import Home

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    root = tmp_path / "home"
    root.mkdir()
    return Home(root, {"PATH": ""}, ("/opt/scrubjay/bin/scrubjay",), tmp_path / "data")
