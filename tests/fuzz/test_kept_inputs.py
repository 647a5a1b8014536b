"""What the fuzzer began with and what it found goes through its targets again, without it and without its clock."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzz.bound import BASE, TooSlowError, bound
from fuzz.targets import CORPUS, TARGETS, kept, opened


@pytest.mark.parametrize("name", TARGETS)
def test_each_kept_input_keeps_what_its_target_promises(name: str) -> None:
    inputs = kept(name)
    assert len(inputs) >= 10
    with opened(name, timed=False) as check:
        for path in inputs:
            try:
                check(path.read_bytes())
            except BaseException as error:
                error.add_note(f"input: {path}")
                raise


def test_no_input_is_kept_for_a_target_that_is_not_there() -> None:
    assert sorted(path.name for path in CORPUS.iterdir()) == sorted(TARGETS)


def test_what_takes_longer_than_its_size_allows_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, BASE + 1, 0.0, BASE / 2])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    with pytest.raises(TooSlowError, match="10 bytes took"), bound(10, timed=True):
        pass
    with bound(10, timed=True):
        pass
