"""The machine of `tests/agents/hooking.py`, with a resident on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))

from hooking import Machine, machine


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def here(tmp_path: Path, cache: Path) -> Iterator[Machine]:
    with machine(tmp_path, cache) as found:
        yield found


@pytest.fixture
def warm(here: Machine) -> Machine:
    here.run("add", "Our staging database is called heron and lives in Lisbon.")
    assert here.run("resident", "start").code == 0
    return here
