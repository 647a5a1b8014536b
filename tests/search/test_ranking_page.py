"""The worked example of docs/ranking.md is what a search with all bundled models in fact computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.cli.sync import DEMO_NOTES

PAGE = (Path(__file__).parents[2] / "docs" / "ranking.md").read_text("utf-8")
EXACT = 0.001
"""The page has three decimals."""
CLOSE = {"vector:bge-small-en-v1.5": 0.02, "late:answerai-colbert-small-v1": 0.1}
"""What int8 models may differ by: a processor without VNNI gives late interaction 2.691 for 2.637, and so relevance
.432 for .41."""


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_every_part_of_the_worked_example_is_what_the_search_computes(tmp_path: Path) -> None:
    found = re.search(r"<!-- example: (.+?) -->\n(.*?)\n\n", PAGE, re.DOTALL)
    assert found is not None
    question, table = found.groups()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    with Memory.open(tmp_path / "notes.db", user="ann") as memory:
        memory.sync(DEMO_NOTES)
        memory.embed()
        answer = memory.search(question, limit=2, explain=True, now="2026-04-20", min_relevance=0)
    assert [result.title for result in answer.results] == head[1:]
    for place, result in enumerate(answer.results, 1):
        assert result.explanation is not None
        parts = {part.channel: part for part in result.explanation.contributions}
        assert set(parts) == {row[0] for row in rows[:-1]}
        for row in rows[:-1]:
            part, least = parts[row[0]], CLOSE.get(row[0], EXACT)
            weight, value, product = re.split(r" [×=] ", row[place])
            assert abs(number(weight)) == pytest.approx(part.weight, abs=EXACT)
            assert number(value) == pytest.approx(abs(part.value), abs=least)
            assert number(product) == pytest.approx(part.weight * part.value, abs=least)
        assert number(rows[-1][place].strip("*")) == pytest.approx(result.score, abs=sum(CLOSE.values()))
        assert result.relevance is not None
    told = re.search(r"`relevance`: (0\.\d+) for the first, (0\.\d+) for the second", PAGE)
    assert told is not None
    assert [result.relevance for result in answer.results] == pytest.approx(
        [*map(float, told.groups())], abs=0.03
    )
