"""The page about frameworks shows lines of the examples that the other tests here run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "frameworks"
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8").partition("\n## Frameworks\n")[2]


def test_each_block_of_python_is_part_of_an_example_and_each_example_is_named() -> None:
    examples = {path.name: path.read_text("utf-8") for path in EXAMPLES.glob("*.py")}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 6
    for block in blocks:
        assert any(block in text for text in examples.values()), block
    assert {name for name in examples if f"[{name}](../examples/frameworks/{name})" in PAGE} == set(examples)


def test_the_versions_that_the_page_names_are_those_that_are_tested() -> None:
    pinned = (ROOT / "constraints.txt").read_text("utf-8") + (ROOT / "Makefile").read_text("utf-8")
    named = re.findall(r"\| ([a-z-]+) (\d+\.\d+\.\d+) \|$", PAGE, re.MULTILINE)
    assert len(named) == 6
    assert [name for name, number in named if f"{name}=={number}\n" not in pinned] == []
