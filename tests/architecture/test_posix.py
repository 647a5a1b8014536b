"""Windows lacks some of what POSIX has: it is used in few places, each behind a look at the system.

Windows itself is not tried. What can be had here is tried instead: command lines run with its branches, and without
the modules and names that it lacks.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tree import ROOT, imported, modules

SCRIPT = ROOT / "tests" / "windows_script.py"
POSIX_MODULES = frozenset({"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"})
IMPORTERS = {
    "atomic_files.py": "lock_file and try_lock; msvcrt on Windows",
    "config/settings.py": "the name of the account; ImportError is caught",
    "ingest/documents/worker.py": "the limit of memory; none on Windows",
    "storage/sqlite/lock.py": "the turn of writers; none on Windows",
}
USERS = {
    "agents/installation.py": {"os.chown", "os.getgid", "os.getuid"},
    "cli/entry.py": {"os.nice"},
    "config/paths.py": {"os.getuid", "os.pread"},
    "config/settings.py": {"os.getuid"},
    "agents/setup.py": {"os.getuid"},
    "daemon/client.py": {"os.getuid", "os.posix_spawn", "socket.AF_UNIX"},
    "daemon/embedding.py": {"os.getloadavg", "os.nice", "os.uname"},
    "daemon/server.py": {"os.getuid", "socket.AF_UNIX", "socket.SO_PEERCRED"},
    "doctor/agent_proof.py": {"os.killpg", "signal.SIGKILL"},
    "ingest/files.py": {"os.O_DIRECTORY", "os.O_NOFOLLOW", "os.fchmod", "os.fchown"},
    "server/auth.py": {"os.geteuid"},
}
"""Module to the names of POSIX alone that it uses; each is reached only where the system has it."""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("windows_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_modules_of_posix_alone_are_imported_in_few_places() -> None:
    found = {path for path, tree in modules().items() if POSIX_MODULES & {*imported(tree)}}
    assert found == set(IMPORTERS)


def test_names_of_posix_alone_are_used_in_few_places(script: ModuleType) -> None:
    names = {f"os.{name}" for name in script.OS_NAMES}
    names |= {"os.kill", "os.getpgid", "signal.SIGKILL", "signal.SIGHUP", "signal.SIGUSR1", "signal.SIGALRM"}
    names |= {"socket.AF_UNIX", "socket.SO_PEERCRED"}
    found = {
        path: used
        for path, tree in modules().items()
        if (used := {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & names)
    }
    assert found == USERS


def test_core_and_command_line_work_without_what_windows_lacks(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "kettle.md").write_text("# Kettle\n\nThe kettle of Mara is blue.\n")
    (tmp_path / "config.toml").write_text("")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("model = 'x'\n")
    lines = [
        ["sync", str(notes)], ["search", "which colour is the kettle?", "--json"], ["add", "The lamp is red."],
        ["context", "the kettle"], ["embed"], ["status"], ["sources"], ["config"], ["doctor"],
        ["token", "create", "ann"], ["token", "revoke", "ann"], ["export", str(tmp_path / "all.jsonl")],
        ["import", str(tmp_path / "all.jsonl")], ["backup", str(tmp_path / "copy.db")], ["rebuild"], ["consolidate"],
        ["install", "codex", "--yes"], ["uninstall", "codex", "--yes"], ["pause"], ["resume"], ["resident", "status"],
    ]  # fmt: skip
    around = {name: value for name, value in os.environ.items() if not name.startswith(("SCRUBJAY_", "XDG_"))}
    around |= {
        "HOME": str(tmp_path),
        "CODEX_HOME": str(tmp_path / ".codex"),
        "SCRUBJAY_STORE": str(tmp_path / "memory.db"),
        "SCRUBJAY_CACHE_DIR": str(tmp_path / "cache"),
        "SCRUBJAY_CONFIG": str(tmp_path / "config.toml"),
        "SCRUBJAY_MODELS_BACKGROUND": "never",
        "SCRUBJAY_RESIDENT_AUTO": "false",
    }
    command = [sys.executable, str(SCRIPT), json.dumps(lines)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=around, cwd=tmp_path, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    codes = json.loads(done.stderr.splitlines()[-1])
    assert dict(zip(map(" ".join, lines), codes, strict=True)) == dict.fromkeys(map(" ".join, lines), 0), (
        done.stderr
    )
    assert '"snippet": "# Kettle' in done.stdout
    assert "The daemon needs private sockets" in done.stdout
    assert (tmp_path / ".codex" / "config.toml").read_text() == "model = 'x'\n"
