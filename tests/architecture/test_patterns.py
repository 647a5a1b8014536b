"""Regular expressions mean the same on every Python that is promised."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tree import modules

_SIGNS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""An escaped character, and a set of characters: what stands in them is no bracket and no quantifier."""
_POSSESSIVE = re.compile(r"(?:\)|\\\d)(?:[*+?]|\{[\d,]+\})\+")


def possessive_groups(pattern: str) -> list[str]:
    """Quantifiers that give nothing back and stand behind a group or what refers to one."""
    plain = _SIGNS.sub(lambda found: found[0] if found[0][1:].isdigit() else "x", pattern)
    return [found[0] for found in _POSSESSIVE.finditer(plain)]


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.lineno, node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def test_no_group_is_repeated_possessively() -> None:
    # Before Python 3.11.5 `(?:ab?c)*+` matches what `(?:ab?c)*` does not (github.com/python/cpython/issues/106052,
    # and 100061), and before 3.12.8 one with groups in it can end in a SystemError (101955). `(?>(?:ab?c)*)` says
    # the same and is right everywhere; a single character or a set of them may be followed by `*+`.
    found = [
        f"{path}:{line} {quantifier}"
        for path, tree in modules().items()
        for line, text in texts(tree)
        for quantifier in possessive_groups(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"(?:ab?c)*+", [")*+"]),
        (r"(a){2,}+|(?:b)?+", ["){2,}+", ")?+"]),
        (r"(a)\1++", [r"\1++"]),
        (r"(?>(?:ab?c)*)", []),
        (r"[^)]*+\)++[.,()*+]", []),
        (r"[])*+]\w++(a+)", []),
    ],
)
def test_what_counts_as_such_a_group(pattern: str, found: list[str]) -> None:
    re.compile(pattern)
    assert possessive_groups(pattern) == found
