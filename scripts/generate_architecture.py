"""Write the tree of modules in ARCHITECTURE.md from the first lines of their docstrings, or check it.

    python scripts/generate_architecture.py            write
    python scripts/generate_architecture.py --check    exit 1 when the page is out of step
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "scrubjay"
PAGE = ROOT / "ARCHITECTURE.md"
START, END = "<!-- tree: make docs -->", "<!-- end of tree -->"
COLUMN = 38
"""Where the sentences begin: behind the longest name in its place."""


def tree(folder: Path = PACKAGE, depth: int = 0) -> Iterator[str]:
    """Yield one line for each folder and module, a folder before what it holds."""
    yield line(f"{folder.name}/", folder / "__init__.py", depth)
    for module in sorted(folder.glob("*.py")):
        if module.name != "__init__.py":
            yield line(module.name, module, depth + 1)
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield from tree(inner, depth + 1)


def line(name: str, module: Path, depth: int) -> str:
    """Return a module's name, in its place, with the first line of its docstring."""
    doc = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return f"{'  ' * depth + name:<{COLUMN}}{doc.splitlines()[0] if doc else ''}".rstrip()


def page(text: str) -> str:
    """Return a page with the tree between its marks made anew.

    Raises:
        SystemExit: The page does not hold both marks.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise SystemExit(f"{PAGE.name} does not hold {START} and {END}.")
    return before + START + "\n```text\n" + "\n".join(tree()) + "\n```\n" + END + after


def main() -> int:
    old = PAGE.read_text("utf-8")
    new = page(old)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new, "utf-8")
        return 0
    if old == new:
        return 0
    had, have = set(old.splitlines()), set(new.splitlines())
    for each in sorted(had ^ have):
        print(f"{'+' if each in have else '-'} {each}")
    print("ARCHITECTURE.md is out of step with the modules; run: make docs")
    return 1


if __name__ == "__main__":
    sys.exit(main())
