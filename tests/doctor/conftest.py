"""An installation of the test's own: a home folder, a store, and what a check is told of them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fork_server import PROGRAM, start
from scrubjay.agents.base import Home
from scrubjay.config.loader import load_settings
from scrubjay.doctor.checks import Installation


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A folder for sockets, whose paths must be short."""
    with tempfile.TemporaryDirectory(prefix="sj-") as folder:
        yield Path(folder)


@pytest.fixture
def environ(tmp_path: Path, cache: Path, runtime: Path) -> dict[str, str]:
    """The environment of a person to whom all of this belongs; no folder is the machine's own."""
    root = tmp_path / "home"
    root.mkdir()
    found = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"):
        found.pop(name, None)
    return found | {
        "HOME": str(root),
        "PATH": os.defpath,
        "XDG_CONFIG_HOME": str(root / ".config"),
        "XDG_DATA_HOME": str(root / ".local" / "share"),
        "XDG_RUNTIME_DIR": str(runtime),
        "SCRUBJAY_CACHE_DIR": str(cache),
        "SCRUBJAY_STORE": str(root / ".local" / "share" / "scrubjay" / "memory.db"),
        "SCRUBJAY_USER": "ann",
        "SCRUBJAY_RESIDENT_AUTO": "false",
        "SCRUBJAY_MODELS_BACKGROUND": "never",
    }


@pytest.fixture(scope="session")
def program() -> str:
    """The program `scrubjay`, ready: a first hook that waited for its imports would be late."""
    start()
    subprocess.run([PROGRAM, "--version"], check=True, capture_output=True)
    return str(PROGRAM)


@pytest.fixture
def make(environ: dict[str, str], program: str) -> Callable[..., Installation]:
    """Makes a case; settings by their dotted names, and what else a case is told."""

    def made(settings: dict[str, Any] | None = None, **told: Any) -> Installation:
        home = Home(
            Path(environ["HOME"]),
            environ,
            (program,),
            Path(environ["XDG_DATA_HOME"]) / "scrubjay",
        )
        return Installation(load_settings(environ=environ, overrides=settings or {}), home, **told)

    return made
