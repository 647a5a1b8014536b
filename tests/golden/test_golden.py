"""The same store answers the same questions as ever, whichever kind of store it is.

Where a change means to answer otherwise, `make golden` writes the answers anew and CHANGELOG.md says why.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from answering import ANSWERS, LOOK, answers, asked, differences

SHOWN = 20
"""Differences that a failure lists."""


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("SCRUBJAY_")]:
        monkeypatch.delenv(name)
    for name, value in {**LOOK, "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)


def compare(url: str, tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "files"
    folder.mkdir()
    with asked(url, folder) as memory:
        found = json.loads(json.dumps(answers(memory, folder)))
    wanted = json.loads(ANSWERS.read_text("utf-8"))
    wrong = {name: differences(wanted.get(name), found.get(name)) for name in {**wanted, **found}}
    lines = [f"{name} {line}" for name, each in wrong.items() for line in each]
    if lines:
        questions = sum(bool(each) for each in wrong.values())
        more = [f"... and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        head = f"{questions} of {len(wanted)} golden answers differ; if on purpose: make golden, and CHANGELOG.md"
        pytest.fail("\n".join([head, *lines[:SHOWN], *more]), pytrace=False)


def test_sqlite_answers_three_hundred_questions_as_ever(tmp_path: Path) -> None:
    compare(f"{tmp_path}/memory.db", tmp_path)


def test_postgresql_answers_three_hundred_questions_as_ever(database: str, tmp_path: Path) -> None:
    compare(database, tmp_path)
