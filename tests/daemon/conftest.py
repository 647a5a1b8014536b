"""The machine of `tests/agents/hooking.py`, with a resident on it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))

from hooking import Machine, cache, here

__all__ = ["cache", "here"]


@pytest.fixture
def warm(here: Machine) -> Machine:
    here.run("add", "Our staging database is called heron and lives in Lisbon.")
    assert here.run("resident", "start").code == 0
    return here
