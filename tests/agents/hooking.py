"""A person's machine in a folder, on which hooks run as processes of their own, as agents run them."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fork_server import SCRUBJAY, start
from scrubjay.config.paths import runtime_folder, settings_fingerprint
from scrubjay.daemon.client import socket_path

PATIENCE = 60.0
"""Seconds that a test waits for what happens in another process."""


@dataclass(frozen=True)
class Said:
    """What a process came to."""

    code: int
    out: bytes
    err: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def context(self) -> str:
        found: str = self.json["hookSpecificOutput"]["additionalContext"]
        return found


@dataclass(frozen=True)
class Machine:
    """Folders, an environment, and commands run in them."""

    root: Path
    env: Mapping[str, str]

    @property
    def store(self) -> Path:
        return Path(self.env["SCRUBJAY_STORE"])

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def data(self) -> Path:
        return self.root / "data" / "scrubjay"

    @property
    def socket(self) -> Path:
        path = socket_path(runtime_folder(self.env), self.mark)
        assert path is not None
        return Path(path)

    @property
    def mark(self) -> str:
        return settings_fingerprint(self.env)

    def run(self, *args: str, stdin: bytes = b"", **env: str) -> Said:
        command = [*SCRUBJAY, *args]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=PATIENCE,
            env={**self.env, **env},
            cwd=self.project,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def hook(
        self, event: str, agent: str = "claude-code", env: Mapping[str, str] | None = None, **said: Any
    ) -> Said:
        told = {"session_id": "now", "cwd": str(self.project), **said}
        return self.run("hook", agent, event, stdin=json.dumps(told).encode(), **(env or {}))

    def log(self) -> list[dict[str, Any]]:
        try:
            return [json.loads(line) for line in (self.data / "log").read_text().splitlines()]
        except FileNotFoundError:
            return []

    def events(self) -> list[str]:
        return [line["event"] for line in self.log()]

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.run("resident", "status", "--json").json
        return found

    def found(self, question: str) -> list[str]:
        done = self.run("search", "--json", question)
        return [one["snippet"] for one in done.json["results"]]

    def wait(self, until: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < end, self.log()
            time.sleep(0.05)

    def transcript(
        self, *said: tuple[str, str], name: str = "talk", at: str = "2026-03-01T10:00:00.000Z"
    ) -> Path:
        """Write what was said as Claude Code keeps it, (role, text) each."""
        folder = self.root / "home" / ".claude" / "projects" / "-project"
        folder.mkdir(parents=True, exist_ok=True)
        lines, before = [], None
        for number, (role, text) in enumerate(said):
            content: Any = text if role == "user" else [{"type": "text", "text": text}]
            line = {
                "parentUuid": before, "isSidechain": False, "userType": "external", "cwd": str(self.project),
                "sessionId": name, "version": "2.1.197", "gitBranch": "main", "type": role,
                "message": {"role": role, "content": content}, "uuid": f"{name}-{number}", "timestamp": at,
            }  # fmt: skip
            before = line["uuid"]
            lines.append(json.dumps(line) + "\n")
        path = folder / f"{name}.jsonl"
        path.write_text("".join(lines))
        return path


def beginning_with(folder: Path, code: str) -> dict[str, str]:
    """Return the environment of a Python that runs this code first."""
    (folder / "first").mkdir()
    (folder / "first" / "sitecustomize.py").write_text(code)
    return {
        "PYTHONPATH": os.pathsep.join([str(folder / "first"), *filter(None, [os.environ.get("PYTHONPATH")])])
    }


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def here(tmp_path: Path, cache: Path) -> Iterator[Machine]:
    start()
    with machine(tmp_path, cache) as found:
        yield found


@contextmanager
def machine(root: Path, cache: Path) -> Iterator[Machine]:
    """A machine that has nothing on it; what was left running on it is stopped at the end."""
    for name in ("home", "project", "data", "config"):
        (root / name).mkdir()
    with tempfile.TemporaryDirectory(prefix="sj-") as runtime:
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
        env = {
            **keep, "HOME": str(root / "home"), "XDG_DATA_HOME": str(root / "data"),
            "XDG_CONFIG_HOME": str(root / "config"), "XDG_CACHE_HOME": str(cache), "XDG_RUNTIME_DIR": runtime,
            "SCRUBJAY_STORE": str(root / "memory.db"), "SCRUBJAY_USER": "ann",
            "SCRUBJAY_HOOKS_BUDGET_MS": "30000", "SCRUBJAY_RESIDENT_AUTO": "false",
            "SCRUBJAY_MODELS_BACKGROUND": "never",
        }  # fmt: skip
        found = Machine(root, env)
        yield found
        found.run("resident", "stop")
        found.wait(lambda: not idle(found))


def idle(found: Machine) -> bool:
    """Whether errands are being done."""
    from scrubjay.api.jobs import JobQueue

    errands = JobQueue(str(found.data), found.mark)
    return Path(errands.folder).is_dir() and errands.busy()
