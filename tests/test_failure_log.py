"""A run that is stopped has already said which tests failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
import os
import pytest

@pytest.fixture
def broken(): raise ValueError("no store")

def test_passes(): pass
def test_fails(): assert 1 == 2, "too few"
def test_is_not_set_up(broken): pass
def test_ends_the_run(): os._exit(3)
"""


def test_each_failing_test_is_named_before_the_run_ends(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_stopped.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "test_stopped.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert [line for line in done.stdout.splitlines() if line.startswith("failed: ")] == [
        "failed: test_stopped.py::test_fails - AssertionError: too few",
        "failed: test_stopped.py::test_is_not_set_up - ValueError: no store",
    ]
