"""Sent: what statements a store sends, as the server's log has them, and as its sources say they may be."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from scrubjay.storage import postgres as package
from scrubjay.storage.postgres.connection import postgres_sql

FOLDER = Path(package.__path__[0])
SHARED = (FOLDER.parent / "reader.py", FOLDER.parent / "writer.py")
"""Modules whose statements both stores send."""
SENDING = ("execute", "executemany", "_all", "_many", "_query", "_batches")
"""What is called with a statement as its first argument."""
APART = ("schema", "connection", "__init__")
"""Modules that make tables, or begin and end transactions, before any tenant."""
ENTRY = re.compile(r"^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] (\w+):  (.*(?:\n\t.*)*)", re.MULTILINE)
DECLARED = re.compile(r'^DECLARE "\w+" (?:\w+ )*?CURSOR (?:\w+ )*?FOR ')
"""What stands before a statement whose rows are fetched in pieces."""
SAID = re.compile(r"(?:statement|execute [^:]+): (.*)", re.DOTALL)
ANY = "\x00"
"""Stands for a part that is only known when the statement is sent."""


def plain(statement: str) -> str:
    """Return a statement with its white space made single."""
    return " ".join(statement.split())


def logged(log: str) -> set[str]:
    """Return the statements in a part of a server's log."""
    found = (SAID.fullmatch(text) for level, text in ENTRY.findall(log) if level == "LOG")
    return {DECLARED.sub("", plain(match[1])) for match in found if match is not None}


def written() -> dict[str, re.Pattern[str]]:
    """Return, by the place in the sources, what each statement that is sent there looks like."""
    found = {}
    for path in (*sorted(FOLDER.glob("*.py")), *SHARED):
        if path.stem in APART:
            continue
        parent = package.__name__ if path.parent == FOLDER else package.__name__.rpartition(".")[0]
        module = importlib.import_module(f"{parent}.{path.stem}")
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.name not in SENDING:
                for call in _sending(function):
                    text = _text(call.args[0], function, module)
                    found[f"{path.parent.stem}.{path.stem}.{function.name}:{call.lineno}"] = _pattern(text)
    return found


def _sending(function: ast.FunctionDef) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SENDING:
            yield node


def _text(node: ast.expr, function: ast.FunctionDef, module: ModuleType) -> str:
    """Return what an expression says, with `ANY` for what it takes from elsewhere."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(_text(part, function, module) for part in parts)
        case ast.FormattedValue(value):
            return _text(value, function, module)
        case ast.Call(ast.Attribute(text, "format")):
            return re.sub(r"\{\w*\}", ANY, _text(text, function, module))
        case ast.Name(name) if name not in vars(module):
            assigned = [
                one.value
                for one in ast.walk(function)
                if isinstance(one, ast.Assign) and [ast.unparse(target) for target in one.targets] == [name]
            ]
            return _text(assigned[0], function, module) if len(assigned) == 1 else ANY
        case ast.Name() | ast.Attribute():
            value = vars(module)
            for name in ast.unparse(node).split("."):
                value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
            return re.sub(r"\{\w*\}", ANY, value) if isinstance(value, str) else ANY
    return ANY


def _pattern(text: str) -> re.Pattern[str]:
    assert plain(text.replace(ANY, "")), "a statement of which nothing is known"
    parts = re.split(rf"(%s|%\(\w+\)s|{ANY})", postgres_sql(plain(text)))
    said = (".*" if part == ANY else r"\$\d+" if part.startswith("%") else re.escape(part) for part in parts)
    return re.compile("".join(said))
