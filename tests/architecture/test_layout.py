"""What a person meets when opening a file: its size, first line and names, and links that lead somewhere."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tree import PACKAGE, ROOT, modules

STAGE_LINES = 200
LINES = 300
MOST_LINES = 500

STAGES = (
    *(f"ingest/{name}.py" for name in ("chunk", "extract", "scrub", "label", "embed", "write")),
    *(f"ingest/{name}.py" for name in ("add", "backfill", "forget", "fresh", "read", "rebuild", "register")),
    *(f"recall/{name}.py" for name in ("plan", "fuse", "weigh", "verify", "diversify", "assemble", "get")),
    *(f"recall/{name}.py" for name in ("evidence", "neighbours", "fold", "life", "lost")),
    *(f"recall/{name}.py" for name in ("spread", "story", "standing", "unique", "room", "inject")),
    *(f"recall/{name}.py" for name in ("relevance", "admit")),
    *(f"consolidate/{name}.py" for name in ("select", "group", "distil")),
    *(f"recall/channels/{name}.py" for name in ("words", "vectors", "ngrams")),
)  # fmt: skip
LONGER = {
    "config.py": "every setting, its range and its sentence stand once, here",
    "engine.py": "two thirds are the docstrings of the public facade",
    "ingest/extract.py": "one place a document speaks in, after the other; nothing to take apart",
    "store/base.py": "the ports: nearly all of it is the contract in words",
    "store/changes.py": "every change that a store can be asked for, in one view; nearly all of it is words",
    "testing/store_history.py": "one random life of a store, each kind of change a method",
    "testing/store_reading.py": "one suite: what words, vectors and filters must answer",
    "text/markdown.py": "one scan over lines; its steps share the place they have come to",
}
"""Why a module may pass its limit, up to 500 lines."""
PATHS = ("ingest/pipeline.py", "recall/pipeline.py")
MACHINE_PATHS = re.compile(r"(?<![\w./])/(?:work|home|root|Users|tmp|var|opt)/[\w.]")
TEXT = ("*.py", "*.md", "*.toml", "Makefile", ".ci/*", "*.yaml", "NOTICE")


def lines(path: str) -> int:
    return len((PACKAGE / path).read_text("utf-8").splitlines())


def tracked(*patterns: str) -> list[Path]:
    """Files of the project, by git where it is one, so that what lies about untracked is not judged."""
    done = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def test_files_stay_small_enough_to_be_read() -> None:
    over = {
        path: count
        for path in modules()
        if (count := lines(path)) > (STAGE_LINES if path in STAGES else LINES) and path not in LONGER
    }
    assert over == {}
    assert {path: lines(path) for path in modules() if lines(path) > MOST_LINES} == {}


def test_no_reason_is_kept_for_a_file_that_became_small() -> None:
    assert [path for path in LONGER if lines(path) <= (STAGE_LINES if path in STAGES else LINES)] == []


def test_no_test_file_is_longer_than_five_hundred_lines() -> None:
    long = [path for path in tracked("tests/*.py") if len(path.read_text("utf-8").splitlines()) > MOST_LINES]
    assert long == []


@pytest.mark.parametrize("path", [path for path in STAGES if path in modules()])
def test_the_first_line_of_a_stage_is_its_arrow(path: str) -> None:
    first = (ast.get_docstring(modules()[path]) or "").splitlines()[0]
    verb = Path(path).stem.capitalize()
    assert re.fullmatch(rf"{verb}: .+ -> .+", first), first


@pytest.mark.parametrize("path", PATHS)
def test_a_path_stands_on_one_screen(path: str) -> None:
    doc = ast.get_docstring(modules()[path]) or ""
    assert doc.startswith("Pipeline: the ")
    assert " > " in doc
    assert lines(path) <= STAGE_LINES + 20


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    bare = [path for path, tree in modules().items() if not (ast.get_docstring(tree) or "").splitlines()]
    assert bare == []


def test_no_file_names_a_place_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked(*TEXT)
        if not path.is_relative_to(ROOT / "tests")
        for match in MACHINE_PATHS.finditer(path.read_text("utf-8"))
    ]
    assert found == []


def test_the_public_names_are_these() -> None:
    import scrubjay

    assert scrubjay.__all__ == ["AsyncMemory", "Memory", "NewMemory", "ScrubjayError", "__version__"]
    assert all(getattr(scrubjay, name) is not None for name in scrubjay.__all__)
    assert not hasattr(scrubjay, "no_such_name")


def test_the_version_stands_in_one_place_only_twice_said() -> None:
    import tomllib

    import scrubjay

    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
        == scrubjay.__version__
    )


def test_every_command_that_is_named_exists() -> None:
    from scrubjay.surfaces.cli.main import COMMANDS

    named = {
        (path.relative_to(ROOT).as_posix(), command)
        for path in [*PACKAGE.rglob("*.py"), *tracked("*.md")]
        for command in re.findall(
            r"(?:`|^\$ |hint=f?\")scrubjay ([a-z]+)", path.read_text("utf-8"), re.MULTILINE
        )
    }
    assert sorted(pair for pair in named if pair[1] not in COMMANDS) == []


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_links_in_pages_lead_somewhere() -> None:
    dead = []
    for page in tracked("*.md"):
        if "demo_notes" in page.parts:
            continue
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name) if name else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert dead == []


@pytest.mark.parametrize("script", ["generate_docs.py", "generate_parts.py"])
def test_generated_pages_are_in_step_with_the_code(script: str) -> None:
    command = [sys.executable, str(ROOT / "scripts" / script), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
