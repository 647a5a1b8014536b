"""Patterns: every regular expression of the package, found by walking what its modules hold, and how it is used."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import scrubjay

_ANCHORED: Final = {"match", "fullmatch"}
"""Methods that begin at one place only."""
_METHODS: Final = _ANCHORED | {"search", "finditer", "findall", "sub", "subn", "split", "scanner"}


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern, and whether all calls of it begin at one place of a text (``match``) or look for one (``search``)."""

    pattern: re.Pattern[str]
    anchored: bool

    def run(self, text: str) -> None:
        """Use it on a text as the package does."""
        if self.anchored:
            self.pattern.match(text)
            self.pattern.fullmatch(text)
            return
        for _ in self.pattern.finditer(text):
            pass


def patterns() -> dict[str, Found]:
    """Name of a module and a place in it -> the pattern there, each once."""
    found: dict[str, Found] = {}
    seen: set[int] = set()
    for module in modules():
        for name, value in sorted(vars(module).items()):
            for place, pattern in _within(value, f"{module.__name__}.{name}", seen, module.__name__):
                if isinstance(pattern.pattern, str):
                    found[place] = Found(pattern, _anchored(module, name))
    return found


def modules() -> Iterator[Any]:
    """Every module that can be imported here; what needs an extra that is not installed is left out."""
    for info in sorted(pkgutil.walk_packages(scrubjay.__path__, "scrubjay."), key=lambda info: info.name):
        if info.name.rpartition(".")[2] == "__main__":
            continue
        try:
            yield importlib.import_module(info.name)
        except ImportError:
            continue


def _within(value: Any, place: str, seen: set[int], module: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, (str, bytes, int, float, type(None))) or id(value) in seen:
        return
    if isinstance(value, re.Pattern):
        seen.add(id(value))
        yield place, value
        return
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = [*((f"key {n}", key) for n, key in enumerate(value)), *value.items()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        items = list(enumerate(value))
    elif isinstance(value, type) and value.__module__ == module:
        items = [(name, each) for name, each in vars(value).items() if not name.startswith("__")]
    elif type(value).__module__.startswith("scrubjay."):
        items = list(getattr(value, "__dict__", {}).items())
        items += [(slot, getattr(value, slot, None)) for slot in getattr(type(value), "__slots__", ())]
    if items:
        seen.add(id(value))
    for name, each in items:
        yield from _within(each, f"{place}[{name}]", seen, module)


def _anchored(module: Any, name: str) -> bool:
    """Whether every use of what a name holds calls a method that begins at one place."""
    users = [module.__name__]
    if not name.startswith("_"):
        users += [other for other, used in _uses().items() if (module.__name__, name) in used.imported]
    methods: set[str] = set()
    for user in users:
        used = _uses()[user]
        own = used.methods.get(name, set())
        methods |= own - {""}
        if "" in own:
            methods |= used.looped.get(name) or used.local or {""}
    return bool(methods) and methods <= _ANCHORED


@dataclass(frozen=True, slots=True)
class _Uses:
    """What a module does with names.

    Attributes:
        imported: What it takes from other modules: the module and the name there.
        methods: Name to the methods that are called on it; ``""`` where it is used in another way.
        local: Methods of patterns that are called on anything but a name in capitals: a member of a table.
        looped: Name to the methods that loops call on the members of the one tuple that holds it, where nothing else
            uses that tuple, nor the name but by methods.
    """

    imported: frozenset[tuple[str | None, str]]
    methods: Mapping[str, set[str]]
    local: set[str]
    looped: Mapping[str, set[str]]


@functools.cache
def _uses() -> dict[str, _Uses]:
    """Name of a module -> what it does with names."""
    uses: dict[str, _Uses] = {}
    for module in modules():
        imported: set[tuple[str | None, str]] = set()
        methods: dict[str, set[str]] = {}
        local: set[str] = set()
        called: set[int] = set()
        tree = ast.parse(inspect.getsource(module))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                imported |= {(node.module, each.name) for each in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called.add(id(node.value))
                methods.setdefault(node.value.id, set()).add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
                methods.setdefault(node.id, set()).add("")
            if isinstance(node, ast.Attribute) and node.attr in _METHODS and not _constant(node.value):
                local.add(node.attr)
        uses[module.__name__] = _Uses(frozenset(imported), methods, local, _looped(tree))
    return uses


def _looped(tree: ast.Module) -> dict[str, set[str]]:
    """Name of a pattern in a tuple -> methods that are called on the members of the tuple by loops over it."""
    loads: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loads[node.id] = loads.get(node.id, 0) + 1
    loops: dict[str, list[set[str]]] = {}
    for node in ast.walk(tree):
        for loop in [node] if isinstance(node, ast.For) else getattr(node, "generators", []):
            if isinstance(loop.iter, ast.Name) and isinstance(loop.target, ast.Name):
                called = {
                    each.attr
                    for each in ast.walk(node)
                    if isinstance(each, ast.Attribute)
                    and isinstance(each.value, ast.Name)
                    and each.value.id == loop.target.id
                }
                loops.setdefault(loop.iter.id, []).append(called)
    found: dict[str, set[str]] = {}
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Tuple)
            and isinstance(node.targets[0], ast.Name)
        ):
            name = node.targets[0].id
            if len(loops.get(name, ())) == loads.get(name):
                for each in node.value.elts:
                    if isinstance(each, ast.Name):
                        found[each.id] = set().union(*loops[name])
    return found


def _constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and (node.id.isupper() or node.id == "re")
