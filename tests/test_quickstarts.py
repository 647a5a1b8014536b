"""The quickstart of each agent in docs/reference/agents.md is carried out in a home folder of its own and ends with
a memory that works.

Two things are not as a person does it: scrubjay is installed already, where the page says `pip install .`, and
nobody is asked (`--yes`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrubjay.agents.base import AGENTS

DOCS = Path(__file__).parents[1] / "docs"
SECTIONS = dict(
    re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", (DOCS / "reference/agents.md").read_text("utf-8"), re.M | re.S)
)
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


SHARED = "VS Code, Cline, Zed, Windsurf, Hermes"
"""The section of clients that are rows of one table; the one whose file is YAML is carried out for them."""
OWN = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "cursor": "Cursor",
    "openclaw": "OpenClaw",
}
"""Agents with a section of their own, and its heading."""


def commands(heading: str) -> list[str]:
    """The commands of a section's first block of console lines."""
    found = BLOCK.search(SECTIONS[heading])
    assert found is not None, heading
    return [line.removeprefix("$ ") for line in found[1].splitlines() if line.startswith("$ ")]


def environ(home: Path) -> dict[str, str]:
    """A person's environment: scrubjay on the PATH, and no folder of the tester's."""
    program = Path(sys.executable).parent
    return {
        "HOME": str(home),
        "PATH": f"{program}{os.pathsep}{os.defpath}",
        "XDG_RUNTIME_DIR": str(home.parent),
        "LANG": "C.UTF-8",
        # A machine that runs many tests at once is no measure of a hook's time.
        "SCRUBJAY_HOOKS_BUDGET_MS": "8000",
        "SCRUBJAY_RESIDENT_AUTO": "false",
        "SCRUBJAY_MODELS_BACKGROUND": "never",
    }


def run(command: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, cwd=home, env=environ(home), capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    kept = (".local", ".cache")
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        name: path.read_bytes()
        for path in found
        if not (name := path.relative_to(folder).as_posix()).startswith(kept)
    }


def test_every_agent_has_a_section_and_the_page_on_agents_names_all_of_them() -> None:
    assert set(OWN) == {name for name, module in AGENTS.items() if not module.startswith("mcp_clients")}
    assert set(SECTIONS) == {*OWN.values(), SHARED}
    page = (DOCS / "coding-agents.md").read_text("utf-8")
    for heading in SECTIONS:
        anchor = heading.lower().replace(",", "").replace(" ", "-")
        assert f"[{heading}](reference/agents.md#{anchor})" in page
    shared = [f"scrubjay install {name}" for name in AGENTS if name not in OWN]
    assert commands(SHARED) == ["pip install .", *shared]


@pytest.mark.parametrize("name", sorted([*OWN, "hermes"]))
def test_a_quickstart_ends_with_a_memory_that_works_and_can_be_taken_back(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    first, *others = commands(OWN.get(name, SHARED))
    assert first == "pip install ."
    if name not in OWN:
        others = [command for command in others if command.endswith(f" {name}")]
    assert others[0] == f"scrubjay install {name}"
    for command in others:
        done = run(f"{command} --yes" if " install " in command else command, home)
        assert done.returncode == 0, done.stdout + done.stderr
    assert files(home)
    looked = run(f"scrubjay doctor {name} --json", home)
    checks = json.loads(looked.stdout)["checks"]
    proven = {check["about"]: check["state"] for check in checks if check["about"].startswith(f"{name} ")}
    # Trust in its hooks is given in Codex, by no command of the page.
    assert proven.pop("codex trust", "") == ("warning" if name == "codex" else "")
    assert set(proven.values()) == {"ok"}, checks
    assert {f"{name} search", f"{name} forget"} <= set(proven)
    back = run(f"scrubjay uninstall {name} --yes", home)
    assert back.returncode == 0, back.stderr
    assert files(home) == {}
