"""The quickstarts of the page on HTTP are carried out, each in a home folder of its own, with a server of its own.

What is not as a person does it: the port is one that is free here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopback import free_port

PAGE = (Path(__file__).parents[1] / "docs" / "server.md").read_text("utf-8")
PROGRAM = Path(sys.executable).parent


def block(name: str) -> str:
    """The block of code after the mark of a name."""
    found = re.search(rf"<!-- quickstart: {name} -->\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[1]


@pytest.fixture
def port() -> int:
    return free_port()


def run(home: Path, port: int, commands: str, *programs: str) -> str:
    """Run commands as a person would type them, then programs of Python; return what all of them said."""
    assert shutil.which("curl"), "the quickstarts ask with curl"
    lines = [line.removeprefix("$ ") for line in commands.splitlines() if line.startswith("$ ")]
    for number, program in enumerate(programs):
        (home / f"{number}.py").write_text(program.replace("8765", str(port)))
        lines.append(f"{sys.executable} {number}.py")
    script = "\n".join(["set -e", "trap 'kill $(jobs -p); wait' EXIT", *lines]).replace("8765", str(port))
    environ = {
        "HOME": str(home),
        "PATH": f"{PROGRAM}{os.pathsep}{os.defpath}",
        "XDG_RUNTIME_DIR": str(home.parent),
        "LANG": "C.UTF-8",
        "SCRUBJAY_MODELS_BACKGROUND": "never",
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=home, env=environ, capture_output=True, text=True, timeout=180, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_builder_adds_and_asks_with_curl_and_with_python(tmp_path: Path, port: int) -> None:
    said = run(tmp_path, port, block("builder"), block("python"), block("openai") + "print(len(vector))\n")
    assert '"snippet":"The launch moved to 3 May."' in said
    assert "Ann is on call in May." in said
    assert said.rstrip().endswith("384")


def test_in_a_team_one_finds_what_another_added_for_the_group(tmp_path: Path, port: int) -> None:
    said = run(tmp_path, port, block("team"))
    assert '"snippet":"The spare key hangs in the boathouse."' in said
