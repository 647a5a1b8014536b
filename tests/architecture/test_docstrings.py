"""What a docstring refers to in `backticks` exists: a module, a file, or a name of the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tree import PACKAGE, ROOT, modules

REFERENCE = re.compile(r"(?<![`\w])`([A-Za-z_][\w./-]*)(?:\(\))?`(?!`)")


def names(trees: dict[Path, ast.Module]) -> set[str]:
    found = {part for path in trees for part in path.relative_to(PACKAGE).with_suffix("").parts}
    for tree in trees.values():
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    found.add(name)
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                    found.update(name.split("."))
                case ast.Constant(value=str(text)) if text.isidentifier():
                    found.add(text)
    return found


def test_every_name_that_a_docstring_refers_to_exists() -> None:
    trees = {PACKAGE / path: tree for path, tree in modules().items()}
    known = names(trees)
    dead = []
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            text = re.sub(r"^ *>>> .*$", "", ast.get_docstring(node) or "", flags=re.MULTILINE)
            for reference in REFERENCE.findall(text):
                places = (PACKAGE, path.parent, ROOT)
                if "/" in reference or reference.endswith((".py", ".md", ".json", ".toml")):
                    exists = any((place / reference).exists() for place in places)
                    exists = exists or any((place / f"{reference}.py").exists() for place in places)
                else:
                    exists = set(reference.split(".")) <= known
                if not exists:
                    dead.append(f"{path.relative_to(ROOT)}: `{reference}`")
    assert not dead, "\n".join(dead)
