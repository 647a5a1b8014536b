"""The programs of examples/ run, and say what their readers are told they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
NOTES = ROOT / "src" / "scrubjay" / "cli" / "demo_notes"
SAYS = {
    "ask_your_notes.py": ((str(NOTES), "who takes over when Mara is away?"), r"people/mara\.md:\d+-\d+"),
    "remember_a_conversation.py": ((), r"user, 2026-03-02: .*invoices(.|\n)*already known"),
    "own_embedder.py": ((), r"^Stressed desserts\.$"),
}


def run(*arguments: str, home: Path) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    environ |= {"XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home), "XDG_DATA_HOME": str(home)}
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    environ["SCRUBJAY_SYNC_LOOK_SECONDS"] = "60"
    environ["SCRUBJAY_MODELS_BACKGROUND"] = "never"
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_runs_and_says_what_it_is_for(name: str, tmp_path: Path) -> None:
    arguments, expected = SAYS[name]
    assert re.search(expected, run(str(EXAMPLES / name), *arguments, home=tmp_path), re.MULTILINE)


@pytest.mark.parametrize("given", [(), ("notes",)])
def test_ask_your_notes_without_a_question_says_how_it_is_used(given: tuple[str, ...]) -> None:
    program = str(EXAMPLES / "ask_your_notes.py")
    done = subprocess.run(
        [sys.executable, program, *given], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (1, "usage: python examples/ask_your_notes.py FOLDER QUESTION\n")


def python_blocks() -> list[tuple[str, str]]:
    """The programs of the pages. Those that speak to a server are run by tests of their quickstarts; those below
    "Frameworks" in python.md are parts of examples that tests/frameworks runs.
    """
    return [
        (f"{page.name} {number}", block)
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
        for number, block in enumerate(
            re.findall(
                r"^```python\n(.*?)^```",
                page.read_text("utf-8").partition("\n## Frameworks\n")[0],
                re.S | re.M,
            ),
            1,
        )
        if "http://127.0.0.1" not in block
    ]


@pytest.mark.parametrize(
    ("name", "block"), python_blocks(), ids=lambda value: value if len(value) < 40 else ""
)
def test_python_in_the_pages_runs(name: str, block: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# MongoDB\n\nWe left it for transactions.\n")
    program = tmp_path / "program.py"
    program.write_text(
        block.replace("~/notes", str(notes))
        .replace('"notes.db"', repr(str(tmp_path / "notes.db")))
        .replace("/path/to/memory.db", str(tmp_path / "memory.db"))
    )
    run(str(program), home=tmp_path)
