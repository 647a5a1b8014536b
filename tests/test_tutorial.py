"""The tutorial is carried out from its first command to its last, and what it shows is what the commands print.

Two things are not as a person does it: scrubjay is installed already, where the page says `pip install .`, and nobody
is asked (`--yes`). Between lines of a page that are only an ellipsis, other lines may be printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(console|sh)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
CHANGING = re.compile(r"\b(obs_[0-9a-f]{16}|\d[\d.,]* (m?s|[kM]?B))\b")
"""Ids, which every store makes its own, times and sizes."""
ELLIPSIS = "…"


def run(script: str, home: Path) -> str:
    environ = {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
        "XDG_RUNTIME_DIR": str(home),
        "LANG": "C.UTF-8",
        # A machine that runs many tests at once is no measure of a hook's or a look's time.
        "SCRUBJAY_HOOKS_BUDGET_MS": "8000",
        "SCRUBJAY_SYNC_LOOK_SECONDS": "60",
        "SCRUBJAY_RESIDENT_AUTO": "false",
        "SCRUBJAY_MODELS_BACKGROUND": "never",
    }
    done = subprocess.run(
        ["bash", "-ec", script], cwd=home, env=environ, capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip
    assert done.returncode == 0, script + done.stdout + done.stderr
    return done.stdout.replace(str(home), "/ann")


def shown_parts(shown: str) -> list[list[str]]:
    """The lines of a page, cut at those that are an ellipsis alone."""
    parts: list[list[str]] = [[]]
    for line in shown.splitlines():
        if line == ELLIPSIS:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def matches(printed: list[str], parts: list[list[str]]) -> bool:
    """Whether the parts stand in the output, in order, the first at its start and the last at its end."""

    def equal(line: str, expected: str) -> bool:
        start, cut, _ = expected.partition(ELLIPSIS)
        return line.startswith(start) if cut else CHANGING.sub("", line) == CHANGING.sub("", expected)

    at = 0
    for number, part in enumerate(parts):
        last = len(printed) - len(part)
        places = [at] if number == 0 else [last] if number == len(parts) - 1 and part else range(at, last + 1)
        found = [
            place for place in places
            if at <= place <= last and all(map(equal, printed[place : place + len(part)], part))
        ]  # fmt: skip
        if not found:
            return False
        at = found[0] + len(part)
    return len(parts) > 1 or at == len(printed)


def test_every_command_of_the_tutorial_prints_what_the_page_shows(tmp_path: Path) -> None:
    home = tmp_path / "ann"
    home.mkdir()
    asked = 0
    for kind, block in BLOCKS:
        if kind == "sh":
            run(block, home)
            continue
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if command == "pip install .":
                continue
            asked += 1
            ask = re.match(r"scrubjay (un)?install ", command)
            printed = run(f"{command} --yes" if ask else command, home).splitlines()
            assert matches(printed, shown_parts(shown)), command + "\n" + "\n".join(printed)
    assert asked == PAGE.count("\n$ ") - 1
    kept = [path for path in sorted(home.rglob("*")) if path.is_file() and ".cache" not in path.parts]
    assert kept == []  # what the tutorial made is gone, Claude Code's files included
