"""The package as syntax trees, read once for all tests of its architecture."""

from __future__ import annotations

import ast
import gc
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "scrubjay"


def tracked(*patterns: str) -> list[Path]:
    """Files of the project, by git where it is one, so that what lies about untracked is not judged."""
    done = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


@cache
def modules() -> dict[str, ast.Module]:
    """Path within src/scrubjay to its syntax tree."""
    gc.disable()  # trees stay: looking through them for garbage takes twice the time of parsing
    try:
        return {
            path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8"))
            for path in sorted(PACKAGE.rglob("*.py"))
        }
    finally:
        gc.freeze()
        gc.enable()


@cache
def imported_tops() -> dict[str, frozenset[str]]:
    """Path within src/scrubjay to the first parts of the names that it imports, wherever it does."""
    return {
        path: frozenset(name.partition(".")[0] for name in imported(tree)) for path, tree in modules().items()
    }


def imported(tree: ast.AST) -> Iterator[str]:
    """Names of all modules that a tree imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def imported_at_load(tree: ast.Module) -> Iterator[str]:
    """Names of the modules that are imported when the module is: not in a function, not for types alone."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from imported(node)
        else:
            for field in ("body", "orelse", "finalbody"):
                waiting += getattr(node, field, [])
            for handler in getattr(node, "handlers", []):
                waiting += handler.body
