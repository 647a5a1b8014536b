"""A home folder of the test's own, as an installer is told of it; makes `installing` and `hooking` importable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scrubjay.agents.base import Home

sys.path.insert(0, str(Path(__file__).parent))

from hooking import cache, here

__all__ = ["cache", "here"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    root = tmp_path / "home"
    root.mkdir()
    return Home(root, {"PATH": ""}, ("/opt/scrubjay/bin/scrubjay",), tmp_path / "data")


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is built of the plugins to be published elsewhere."""
    folder = tmp_path_factory.mktemp("packages")
    script = Path(__file__).parents[2] / "scripts" / "generate_plugins.py"
    subprocess.run([sys.executable, str(script), "--packages", str(folder)], check=True)
    return folder
